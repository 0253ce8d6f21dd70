//! From a tape to a program: a block function and a register for each step.

use smallvec::SmallVec;
use umber_types::tape::{Step, Tape, ValueId, binary_dtype, unary_dtype};
use umber_types::{BinaryKind, DType, Result, Scalar, UnaryKind, bail, ensure};

use super::{supports_binary, supports_unary};
use crate::elementwise::cast::Conversion;
use crate::elementwise::{Entry, Kernel, binary, cast, compute_dtype, multiply_add, select, unary};
use crate::isa::level;

/// Bytes of one register.
pub(super) const REGISTER: usize = 2048;

/// A tape made ready to run: registers allocated, block functions chosen.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) inputs: SmallVec<[DType; 4]>,
    pub(super) constants: SmallVec<[Constant; 2]>,
    pub(super) instructions: SmallVec<[Instruction; 4]>,
    pub(super) outputs: SmallVec<[Output; 2]>,
    /// The register of each value: the inputs have the first ones, in order.
    pub(super) registers: SmallVec<[u32; 8]>,
    pub(super) register_count: usize,
    /// Elements in a block: as many of the widest value as fill a register.
    pub(super) block: usize,
    /// About how long an element takes, in units of an addition.
    pub(super) cost: usize,
    /// Is the one output the square of the one input, in whatever dtype it has?
    pub(super) is_square: bool,
}

/// A value that is the same everywhere.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) value: u32,
    pub(super) bytes: [u8; 16],
    pub(super) size: usize,
}

/// One call of a block function, which makes a value from others.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) kernel: Kernel,
    /// Takes any number of elements (see [`Entry::exact`]).
    pub(super) exact: bool,
    pub(super) value: u32,
    pub(super) arguments: [u32; 3],
}

/// A value to store.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) value: u32,
    pub(super) dtype: DType,
    /// May the instruction that makes the value write it straight into the output?
    pub(super) direct: bool,
}

impl Program {
    /// Choose a block function for each step and a register for each value.
    ///
    /// Fails when a step's kind does not take the dtype of its operands, or the tape is not well formed.
    pub fn new(tape: &Tape) -> Result<Program> {
        let mut builder = Builder::new(tape);
        for step in &tape.steps {
            builder.step(step)?;
        }
        for &output in &tape.outputs {
            builder.output(output)?;
        }
        Ok(builder.finish())
    }
}

/// What the tape calls a value: its dtype there, and the value of the program that holds its elements.
#[derive(Clone, Copy)]
struct Named {
    dtype: DType,
    value: u32,
    /// Is it a number of its dtype? What a step makes of 16-bit floats has more digits until it is stored.
    is_rounded: bool,
}

/// A value of the program: inputs, constants and what instructions make.
struct Value {
    /// The last instruction that reads it.
    last_use: u32,
    /// Lives in a register of its own for the whole run.
    lasting: bool,
}

struct Builder<'t> {
    tape: &'t Tape,
    named: SmallVec<[Named; 8]>,
    values: SmallVec<[Value; 8]>,
    widest: usize,
    program: Program,
}

impl<'t> Builder<'t> {
    fn new(tape: &'t Tape) -> Builder<'t> {
        let mut builder = Builder {
            tape,
            named: SmallVec::new(),
            values: SmallVec::new(),
            widest: 4,
            program: Program {
                inputs: tape.inputs.iter().copied().collect(),
                constants: SmallVec::new(),
                instructions: SmallVec::new(),
                outputs: SmallVec::new(),
                registers: SmallVec::new(),
                register_count: 0,
                block: 0,
                cost: 1,
                is_square: is_square(tape),
            },
        };
        for &dtype in &tape.inputs {
            let value = builder.value(compute_dtype(dtype), true);
            builder.named.push(Named { dtype, value, is_rounded: true });
        }
        builder
    }

    fn get(&self, id: ValueId) -> Result<Named> {
        match self.named.get(id as usize) {
            Some(&named) => Ok(named),
            None => bail!(Value, "[tape] no such value yet, got {id}, expected below {}", self.named.len()),
        }
    }

    fn value(&mut self, held: DType, lasting: bool) -> u32 {
        self.widest = self.widest.max(held.size());
        self.values.push(Value { last_use: self.program.instructions.len() as u32, lasting });
        self.values.len() as u32 - 1
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        let named = match *step {
            Step::Constant { value, dtype } => self.constant(value, dtype),
            Step::Unary { kind, x } => {
                let x = self.get(x)?;
                let Some(entry) = unary::entry(kind, compute_dtype(x.dtype)) else {
                    return refuse(kind.name(), x.dtype, |dtype| supports_unary(kind, dtype));
                };
                self.call(entry, &[x.value], unary_dtype(kind, x.dtype))
            }
            Step::Binary { kind, a, b } => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                ensure!(
                    a.dtype == b.dtype,
                    Type,
                    "[{}] the operands differ, got {} and {}, expected one dtype",
                    kind.name(),
                    a.dtype,
                    b.dtype
                );
                let Some(entry) = binary::entry(kind, compute_dtype(a.dtype)) else {
                    return refuse(kind.name(), a.dtype, |dtype| supports_binary(kind, dtype));
                };
                if let Some(fused) = self.multiply_add(kind, a, b) {
                    fused
                } else {
                    let turned = matches!(kind, BinaryKind::Greater | BinaryKind::GreaterEqual);
                    let (first, second) = if turned { (b, a) } else { (a, b) };
                    self.call(entry, &[first.value, second.value], binary_dtype(kind, a.dtype))
                }
            }
            Step::Select { condition, a, b } => {
                let (condition, a, b) = (self.get(condition)?, self.get(a)?, self.get(b)?);
                ensure!(
                    condition.dtype == DType::Bool && a.dtype == b.dtype,
                    Type,
                    "[where] the operands do not match, got {}, {} and {}, expected bool and one dtype twice",
                    condition.dtype,
                    a.dtype,
                    b.dtype
                );
                let entry = select::entry(compute_dtype(a.dtype));
                let chosen = self.call(entry, &[condition.value, a.value, b.value], a.dtype);
                Named { is_rounded: a.is_rounded && b.is_rounded, ..chosen }
            }
            Step::Cast { x, to } => {
                let x = self.get(x)?;
                self.cast(x, to)
            }
        };
        self.named.push(named);
        Ok(())
    }

    /// Add an instruction.
    fn call(&mut self, entry: Entry, operands: &[u32], dtype: DType) -> Named {
        let at = self.program.instructions.len() as u32;
        let mut arguments = [operands[0]; 3];
        arguments[..operands.len()].copy_from_slice(operands);
        for &operand in operands {
            self.values[operand as usize].last_use = at;
        }
        let value = self.value(compute_dtype(dtype), false);
        let kernel = entry.kernels[level()];
        self.program.cost += entry.cost as usize;
        self.program.instructions.push(Instruction { kernel, exact: entry.exact, value, arguments });
        Named { dtype, value, is_rounded: !dtype.is_half() }
    }

    /// Replace the product just made by its sum with another value, if nothing else reads the product.
    fn multiply_add(&mut self, kind: BinaryKind, a: Named, b: Named) -> Option<Named> {
        let entry = multiply_add::entry(kind, a.dtype)?;
        let product = self.program.instructions.last()?.value;
        let addend = match (a.value == product, b.value == product) {
            (true, false) => b.value,
            (false, true) => a.value,
            _ => return None,
        };
        let inputs = self.tape.inputs.len();
        let mut names = (inputs..self.named.len()).filter(|&id| self.named[id].value == product);
        let (id, other) = (names.next()?, names.next());
        let is_product =
            matches!(self.tape.steps[id - inputs], Step::Binary { kind: BinaryKind::Multiply, .. });
        let this = self.named.len() - inputs;
        let reads = |step: &Step| step.operands().contains(&(id as ValueId));
        let mut others =
            self.tape.steps.iter().enumerate().skip(id - inputs + 1).filter(|&(at, _)| at != this);
        if !is_product || other.is_some() || others.any(|(_, step)| reads(step)) {
            return None;
        }
        if self.tape.outputs.contains(&(id as ValueId)) {
            return None;
        }
        let product = self.program.instructions.pop()?;
        let [x, y, _] = product.arguments;
        Some(self.call(entry, &[x, y, addend], a.dtype))
    }

    fn constant(&mut self, scalar: Scalar, dtype: DType) -> Named {
        let held = compute_dtype(dtype);
        let value = self.value(held, true);
        let bytes = scalar.cast(dtype).to_bytes(held);
        self.program.constants.push(Constant { value, bytes, size: held.size() });
        Named { dtype, value, is_rounded: true }
    }

    fn cast(&mut self, x: Named, to: DType) -> Named {
        if x.dtype == to {
            return x;
        }
        let x = if x.is_rounded { x } else { self.rounded(x) };
        let (from, held) = (compute_dtype(x.dtype), compute_dtype(to));
        if to.is_half() && from.is_complex() {
            let real = self.cast(x, x.dtype.real());
            return self.cast(real, to);
        }
        let y = match cast::before_half(from).filter(|_| to.is_half()) {
            Some(entry) => self.call(entry, &[x.value], to),
            None => match cast::conversion(from, held) {
                Conversion::Nothing => x,
                Conversion::Direct(entry) => self.call(entry, &[x.value], to),
                Conversion::Through(other) => {
                    let between = self.cast(x, other);
                    self.cast(between, to)
                }
            },
        };
        // A store rounds anyway; what steps read is rounded here.
        let id = self.named.len() as ValueId;
        let is_read = self.tape.steps.iter().any(|step| step.operands().contains(&id));
        if !to.is_half() || !is_read {
            return Named { dtype: to, value: y.value, is_rounded: !to.is_half() };
        }
        self.rounded(Named { dtype: to, ..y })
    }

    /// A 16-bit float with no more digits than it has in memory.
    fn rounded(&mut self, x: Named) -> Named {
        let y = self.call(cast::round_half(x.dtype), &[x.value], x.dtype);
        Named { is_rounded: true, ..y }
    }

    fn output(&mut self, id: ValueId) -> Result<()> {
        let Named { dtype, value, .. } = self.get(id)?;
        let made = !self.values[value as usize].lasting;
        let direct = made && !dtype.is_half();
        // A value that two outputs take is made in the first and copied to the second.
        let taken = self.program.outputs.iter().any(|output| output.value == value);
        self.program.outputs.push(Output { value, dtype, direct: direct && !taken });
        Ok(())
    }

    /// Give each value a register. No instruction writes a register that it also reads.
    fn finish(mut self) -> Program {
        for output in &self.program.outputs {
            self.values[output.value as usize].lasting = true;
        }
        let mut registers: SmallVec<[u32; 8]> = SmallVec::from_elem(0, self.values.len());
        let mut count = 0;
        let mut fresh = || {
            count += 1;
            count - 1
        };
        for (register, value) in registers.iter_mut().zip(&self.values) {
            if value.lasting {
                *register = fresh();
            }
        }
        let mut free: SmallVec<[u32; 8]> = SmallVec::new();
        for (at, instruction) in self.program.instructions.iter().enumerate() {
            let made = &self.values[instruction.value as usize];
            if !made.lasting {
                registers[instruction.value as usize] = free.pop().unwrap_or_else(&mut fresh);
            }
            let [a, b, c] = instruction.arguments;
            for (i, &argument) in [a, b, c, instruction.value].iter().enumerate() {
                let value = &self.values[argument as usize];
                let again = [a, b, c][..i.min(3)].contains(&argument);
                if !value.lasting && value.last_use <= at as u32 && !again {
                    free.push(registers[argument as usize]);
                }
            }
        }
        self.program.registers = registers;
        self.program.register_count = count as usize;
        self.program.block = REGISTER / self.widest;
        self.program
    }
}

/// Is the one output the square of the one input, which may have been cast before?
fn is_square(tape: &Tape) -> bool {
    let (x, square) = match &tape.steps[..] {
        [square] => (0, square),
        [Step::Cast { x: 0, .. }, square] => (1, square),
        _ => return false,
    };
    let squares = match *square {
        Step::Unary { kind, x: of } => kind == UnaryKind::Square && of == x,
        Step::Binary { kind, a, b } => kind == BinaryKind::Multiply && a == x && b == x,
        _ => false,
    };
    squares && tape.inputs.len() == 1 && tape.outputs[..] == [x + 1]
}

fn refuse(name: &str, got: DType, takes: impl Fn(DType) -> bool) -> Result<()> {
    let expected: SmallVec<[&str; 15]> =
        DType::COMPUTED.iter().filter(|&&dtype| takes(dtype)).map(|dtype| dtype.name()).collect();
    bail!(Type, "[{name}] does not take this dtype, got {got}, expected one of {}", expected.join(", "))
}
