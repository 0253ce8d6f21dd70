//! From a tape to a program: a block function and a register for each step.

use std::ops::Range;

use smallvec::SmallVec;
use umber_types::tape::{Step, Tape, ValueId, binary_dtype, unary_dtype};
use umber_types::{BinaryKind, DType, Result, Scalar, UnaryKind, bail, ensure};

use super::link::{Draft, LinkForm, Linker, Value};
use super::{supports_binary, supports_unary};
use crate::elementwise::cast::Conversion;
use crate::elementwise::chain::{self, Chain, Link, TILE};
use crate::elementwise::{Entry, Kernel, LANES, binary, cast, compute_dtype, multiply_add, select, unary};

/// Bytes of one register.
pub(super) const REGISTER: usize = 2048;

/// A tape made ready to run: registers allocated, block functions chosen.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) inputs: SmallVec<[DType; 4]>,
    pub(super) constants: SmallVec<[Constant; 2]>,
    /// The value that each constant of the tape is, in the tape's order, and its dtype.
    numbers: SmallVec<[(u32, DType); 2]>,
    pub(super) instructions: SmallVec<[Instruction; 4]>,
    /// What does the work of the only instruction, if there is just one, where outputs are written with non-temporal stores.
    pub(super) nontemporal: Option<Instruction>,
    /// The links of all chains.
    pub(super) links: Vec<Link>,
    pub(super) outputs: SmallVec<[Output; 2]>,
    /// Are the 16-bit floats of the input widened as they are brought to its register?
    pub(super) widened: SmallVec<[bool; 4]>,
    /// Where the elements of each value are kept: inputs first, in order.
    pub(super) locations: SmallVec<[Location; 8]>,
    pub(super) register_count: usize,
    pub(super) local_count: usize,
    /// Elements in a block: as many of the widest value as fill a register.
    pub(super) block: usize,
    /// About how long an element takes, in units of an addition.
    pub(super) cost: usize,
    /// Is the one output the square of the one input, in whatever dtype it has?
    pub(super) is_square: bool,
    /// Is the one output the one input in another dtype?
    pub(super) is_cast: bool,
}

/// A value that is the same everywhere.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) value: u32,
    pub(super) bytes: [u8; 16],
    pub(super) size: usize,
}

/// Where a value's elements are kept, unless they lie in the memory of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// Scratch for a block.
    Register(u32),
    /// Scratch for a tile of a chain.
    Local(u32),
    /// It goes from one link to the next.
    Nowhere,
}

/// What makes values from others.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// One call of a block function.
    Call {
        kernel: Kernel,
        /// Takes any number of elements (see [`Entry::exact`]).
        exact: bool,
        value: u32,
        arguments: [u32; 3],
    },
    /// Several steps in one loop.
    Chain { run: Chain, links: Range<usize> },
}

/// A value to store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub(super) value: u32,
    pub(super) dtype: DType,
    /// May the instruction that makes the value write it straight into the output?
    pub(super) direct: bool,
    /// With non-temporal stores?
    pub(super) streams: bool,
    /// Has the value the 16-bit floats of the dtype, rather than what is rounded to them?
    pub(super) is_narrow: bool,
}

impl Output {
    /// Is the value rounded to the 16-bit floats that the output has as it is stored?
    pub(super) fn is_rounded(&self) -> bool {
        self.dtype.is_half() && !self.is_narrow
    }
}

impl Program {
    /// Where scratch has each value: registers of so many bytes, one more of them, and rooms for tiles.
    pub(super) fn addresses(&self, scratch: *mut u8, register: usize) -> impl Iterator<Item = *mut u8> {
        let locals = scratch.wrapping_add((self.register_count + 1) * register);
        self.locations.iter().map(move |&home| match home {
            Location::Register(i) => scratch.wrapping_add(i as usize * register),
            Location::Local(i) => locals.wrapping_add(i as usize * TILE),
            Location::Nowhere => std::ptr::null_mut(),
        })
    }

    /// Bytes of scratch that [`Program::addresses`] lays out.
    pub(super) fn scratch(&self, register: usize) -> usize {
        (self.register_count + 1) * register + self.local_count * TILE
    }

    /// The program of the same tape with other constants, given in the tape's order: no step is chosen by what they are.
    #[must_use]
    pub fn with_constants(&self, values: impl IntoIterator<Item = Scalar>) -> Program {
        let mut program = self.clone();
        for (&(value, dtype), scalar) in self.numbers.iter().zip(values) {
            let (bytes, bits) = held_as(scalar, dtype);
            for constant in program.constants.iter_mut().filter(|constant| constant.value == value) {
                constant.bytes = bytes;
            }
            for link in program.links.iter_mut().filter(|link| link.value == value) {
                link.constant = bits;
            }
        }
        program
    }

    /// Is all of it one chain? That reads memory as it lies, which processors foresee.
    pub(super) fn is_chain(&self) -> bool {
        matches!(self.instructions[..], [Instruction::Chain { .. }])
    }

    /// Does one instruction find all that it reads in memory, and write nothing but what is stored?
    pub(super) fn is_in_place(&self) -> bool {
        self.instructions.len() == 1 && self.register_count == self.inputs.len() + self.outputs.len()
    }
}

impl Instruction {
    /// Make the values of `count` elements, or of all lanes that they begin.
    ///
    /// # Safety
    /// Each value has an address with space for whole lanes of its elements (for a tile, if it is local); the outputs of chains
    /// begin at whole lines if they are written with non-temporal stores; no block function writes where it reads.
    pub(super) unsafe fn run(&self, program: &Program, values: &[*mut u8], count: usize, nontemporal: bool) {
        let filled = count.next_multiple_of(LANES);
        match *self {
            Instruction::Call { kernel, exact, value, arguments } => {
                let [a, b, c] = arguments.map(|value| values[value as usize].cast_const());
                let n = if exact { count } else { filled };
                // SAFETY: guaranteed by the caller of this function.
                unsafe { kernel(values[value as usize], a, b, c, n) };
            }
            Instruction::Chain { run, ref links } => {
                // SAFETY: the caller's; links name values of the program.
                unsafe { run(&program.links[links.clone()], values, filled, nontemporal) };
            }
        }
    }
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
        let mut linker = builder.linker;
        linker.program.block = REGISTER / builder.widest;
        Ok(linker.finish())
    }
}

/// The bytes of a constant as it is held, and those that a link reads.
fn held_as(scalar: Scalar, dtype: DType) -> ([u8; 16], u64) {
    let bytes = scalar.cast(dtype).to_bytes(compute_dtype(dtype));
    (bytes, u64::from_le_bytes(bytes[..8].try_into().expect("there are sixteen")))
}

/// What the tape calls a value: its dtype there, and the value of the program that holds its elements.
#[derive(Clone, Copy)]
struct Named {
    dtype: DType,
    value: u32,
    /// Is it a number of its dtype? What a step makes of 16-bit floats has more digits until it is stored.
    is_rounded: bool,
}

struct Builder<'t> {
    tape: &'t Tape,
    named: SmallVec<[Named; 8]>,
    widest: usize,
    linker: Linker,
}

impl<'t> Builder<'t> {
    fn new(tape: &'t Tape) -> Builder<'t> {
        let program = Program {
            inputs: tape.inputs.iter().copied().collect(),
            constants: SmallVec::new(),
            numbers: SmallVec::new(),
            instructions: SmallVec::new(),
            nontemporal: None,
            links: Vec::new(),
            outputs: SmallVec::new(),
            widened: SmallVec::new(),
            locations: SmallVec::new(),
            register_count: 0,
            local_count: 0,
            block: 0,
            cost: 1,
            is_square: is_square(tape),
            is_cast: is_cast(tape),
        };
        let linker = Linker { drafts: SmallVec::new(), values: SmallVec::new(), program };
        let mut builder = Builder { tape, named: SmallVec::new(), widest: 4, linker };
        for &dtype in &tape.inputs {
            let value = builder.value(compute_dtype(dtype), Value::new(true, None));
            builder.named.push(Named { dtype, value, is_rounded: true });
        }
        builder
    }

    fn get(&self, id: ValueId) -> Result<Named> {
        match self.named.get(id as usize) {
            Some(&named) => Ok(named),
            None => bail!(Value("tape"), "value {id} is not defined; {} values are", self.named.len()),
        }
    }

    fn value(&mut self, held: DType, value: Value) -> u32 {
        self.widest = self.widest.max(held.size());
        self.linker.values.push(value);
        self.linker.values.len() as u32 - 1
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        let named = match *step {
            Step::Constant { value, dtype } => self.constant(value, dtype),
            Step::Unary { kind, x } => {
                let x = self.get(x)?;
                let Some(entry) = unary::entry(kind, compute_dtype(x.dtype)) else {
                    return refuse(kind.name(), x.dtype, |dtype| supports_unary(kind, dtype));
                };
                let form = chain::unary(kind, compute_dtype(x.dtype)).map_or(LinkForm::Call, LinkForm::Unary);
                self.draft(entry, form, x.dtype, &[x.value], unary_dtype(kind, x.dtype))
            }
            Step::Binary { kind, a, b } => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                ensure!(
                    a.dtype == b.dtype,
                    Type(kind.name()),
                    "operand dtypes differ: {} and {}",
                    a.dtype,
                    b.dtype
                );
                let Some(entry) = binary::entry(kind, compute_dtype(a.dtype)) else {
                    return refuse(kind.name(), a.dtype, |dtype| supports_binary(kind, dtype));
                };
                if let Some(fused) = self.multiply_add(kind, a, b) {
                    fused
                } else {
                    let (first, second) = if binary::swaps_operands(kind) { (b, a) } else { (a, b) };
                    let form =
                        chain::binary(kind, compute_dtype(a.dtype)).map_or(LinkForm::Call, LinkForm::Binary);
                    let operands = [first.value, second.value];
                    self.draft(entry, form, a.dtype, &operands, binary_dtype(kind, a.dtype))
                }
            }
            Step::Select { condition, a, b } => {
                let (condition, a, b) = (self.get(condition)?, self.get(a)?, self.get(b)?);
                ensure!(
                    condition.dtype == DType::Bool && a.dtype == b.dtype,
                    Type("where"),
                    "condition must be bool and x and y of equal dtype, got {}, {} and {}",
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

    /// Add a step that has a block function only.
    fn call(&mut self, entry: Entry, operands: &[u32], dtype: DType) -> Named {
        self.draft(entry, LinkForm::Call, dtype, operands, dtype)
    }

    /// Add a step: from operands of one dtype a value of another.
    fn draft(
        &mut self,
        entry: impl Into<Option<Entry>>,
        form: LinkForm,
        from: DType,
        operands: &[u32],
        to: DType,
    ) -> Named {
        let entry = entry.into();
        let mut arguments = [operands[0]; 3];
        arguments[..operands.len()].copy_from_slice(operands);
        let value = self.value(compute_dtype(to), Value::new(false, None));
        self.linker.program.cost += entry.map_or(1, |entry| entry.cost as usize);
        self.linker.drafts.push(Draft { entry, form, dtype: compute_dtype(from), value, arguments });
        Named { dtype: to, value, is_rounded: !to.is_half() }
    }

    /// Replace the product just made by its sum with another value, if nothing else reads the product.
    fn multiply_add(&mut self, kind: BinaryKind, a: Named, b: Named) -> Option<Named> {
        let entry = multiply_add::entry(kind, a.dtype)?;
        let product = self.linker.drafts.last()?.value;
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
        let product = self.linker.drafts.pop()?;
        let [x, y, _] = product.arguments;
        Some(self.draft(entry, LinkForm::MultiplyAdd, a.dtype, &[x, y, addend], a.dtype))
    }

    fn constant(&mut self, scalar: Scalar, dtype: DType) -> Named {
        let held = compute_dtype(dtype);
        let (bytes, bits) = held_as(scalar, dtype);
        let value = self.value(held, Value::new(true, Some(bits)));
        self.linker.program.constants.push(Constant { value, bytes, size: held.size() });
        self.linker.program.numbers.push((value, dtype));
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
        let y = match cast::before_float16(from).filter(|_| to.is_half()) {
            Some(entry) => self.call(entry, &[x.value], to),
            None => match cast::conversion(from, held) {
                Conversion::Nothing => x,
                Conversion::Direct(entry) if (from, held) == (DType::Int32, DType::Float32) => {
                    self.draft(entry, LinkForm::Convert, held, &[x.value], to)
                }
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
        let y = self.call(cast::round_to_float16(x.dtype), &[x.value], x.dtype);
        Named { is_rounded: true, ..y }
    }

    fn output(&mut self, id: ValueId) -> Result<()> {
        let Named { dtype, mut value, .. } = self.get(id)?;
        let converts = |&input: &DType| input != dtype && (input.is_half() || dtype.is_half());
        if self.tape.inputs.get(value as usize).is_some_and(converts)
            && chain::chain(DType::Float32).is_some()
        {
            // A chain converts as it loads and stores.
            value = self.draft(None, LinkForm::Pass, dtype, &[value], dtype).value;
        }
        let made = !self.linker.values[value as usize].is_live_out;
        let direct = made && !dtype.is_half();
        let outputs = &mut self.linker.program.outputs;
        // A value that two outputs take is made in the first and copied to the second.
        let taken = outputs.iter().any(|output| output.value == value);
        outputs.push(Output { value, dtype, direct: direct && !taken, streams: false, is_narrow: false });
        Ok(())
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

/// Is the one output the one input in another dtype?
fn is_cast(tape: &Tape) -> bool {
    matches!(tape.steps[..], [Step::Cast { x: 0, .. }]) && tape.inputs.len() == 1 && tape.outputs[..] == [1]
}

fn refuse(name: &str, got: DType, takes: impl Fn(DType) -> bool) -> Result<()> {
    let expected: SmallVec<[&str; 15]> =
        DType::COMPUTE.iter().filter(|&&dtype| takes(dtype)).map(|dtype| dtype.name()).collect();
    bail!(Type(name), "dtype {got} is not supported, expected one of {}", expected.join(", "))
}
