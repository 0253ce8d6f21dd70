//! Lowers a tape to a program: a block function and a register for each step.

use std::ops::Range;

use smallvec::SmallVec;
use umber_types::tape::{Step, Tape, ValueId, binary_dtype, unary_dtype};
use umber_types::{BinaryKind, DType, Result, Scalar, UnaryKind, bail, ensure};

use super::link::{Draft, LinkForm, Linker, Value};
use super::{supports_binary, supports_ternary, supports_unary};
use crate::elementwise::cast::Conversion;
use crate::elementwise::chain::{self, Chain, Link, TILE};
use crate::elementwise::{
    Entry, Kernel, LANES, binary, cast, compute_dtype, multiply_add, select, ternary, unary,
};

/// Bytes of one register.
pub(super) const REGISTER: usize = 2048;

/// A tape lowered for execution, with registers allocated and block functions selected.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) inputs: SmallVec<[DType; 4]>,
    pub(super) constants: SmallVec<[Constant; 2]>,
    /// The value and the dtype of each constant of the tape, in its order.
    tape_constants: SmallVec<[(u32, DType); 2]>,
    pub(super) instructions: SmallVec<[Instruction; 4]>,
    /// Replaces the instruction of a single-instruction program if outputs are written with non-temporal stores.
    pub(super) nontemporal: Option<Instruction>,
    /// The links of all chains.
    pub(super) links: Vec<Link>,
    pub(super) outputs: SmallVec<[Output; 2]>,
    /// For each input: are float16 or bfloat16 elements widened when they are loaded into its register?
    pub(super) widened: SmallVec<[bool; 4]>,
    /// Where the elements of each value are stored: inputs first, in order.
    pub(super) locations: SmallVec<[Location; 8]>,
    pub(super) register_count: usize,
    pub(super) local_count: usize,
    /// Elements per block: the widest value fills a register.
    pub(super) block: usize,
    /// Approximate cost per element, in units of an addition.
    pub(super) cost: usize,
    /// True if the single output is the square of the single input, possibly after a cast.
    pub(super) is_square: bool,
    /// True if the single output is a cast of the single input.
    pub(super) is_cast: bool,
}

/// A value that is the same for all elements.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) value: u32,
    pub(super) bytes: [u8; 16],
    pub(super) size: usize,
}

/// Where a value's elements are stored, unless they are in the memory of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A scratch buffer of one block.
    Register(u32),
    /// A scratch buffer of one tile of a chain.
    Local(u32),
    /// Nowhere: the accumulator passes it from one link to the next.
    Nowhere,
}

/// An instruction computes values from others.
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
    /// Several steps fused into one loop.
    Chain { run: Chain, links: Range<usize> },
}

/// A value to store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub(super) value: u32,
    pub(super) dtype: DType,
    /// Can the instruction that computes the value write directly to the output?
    pub(super) direct: bool,
    /// Can it use non-temporal stores?
    pub(super) streams: bool,
    /// Does the value hold float16 or bfloat16 elements of `dtype`, rather than float32 to be rounded?
    pub(super) is_narrow: bool,
}

impl Output {
    /// True if the value is rounded to float16 or bfloat16 when it is stored.
    pub(super) fn is_rounded(&self) -> bool {
        self.dtype.is_half() && !self.is_narrow
    }
}

impl Program {
    /// The scratch address of each value: registers of `register` bytes, one spare register, then the buffers for tiles.
    pub(super) fn addresses(&self, scratch: *mut u8, register: usize) -> impl Iterator<Item = *mut u8> {
        let locals = scratch.wrapping_add((self.register_count + 1) * register);
        self.locations.iter().map(move |&location| match location {
            Location::Register(i) => scratch.wrapping_add(i as usize * register),
            Location::Local(i) => locals.wrapping_add(i as usize * TILE),
            Location::Nowhere => std::ptr::null_mut(),
        })
    }

    /// The bytes of scratch that [`Program::addresses`] divides.
    pub(super) fn scratch(&self, register: usize) -> usize {
        (self.register_count + 1) * register + self.local_count * TILE
    }

    /// The program of the same tape with other constants, in the tape's order. No lowering decision depends on their values.
    #[must_use]
    pub fn with_constants(&self, values: impl IntoIterator<Item = Scalar>) -> Program {
        let mut program = self.clone();
        for (&(value, dtype), scalar) in self.tape_constants.iter().zip(values) {
            let (bytes, bits) = constant_bytes(scalar, dtype);
            for constant in program.constants.iter_mut().filter(|constant| constant.value == value) {
                constant.bytes = bytes;
            }
            for link in program.links.iter_mut().filter(|link| link.value == value) {
                link.constant = bits;
            }
        }
        program
    }

    /// True if the program is a single chain. It reads memory sequentially, which hardware prefetchers detect.
    pub(super) fn is_chain(&self) -> bool {
        matches!(self.instructions[..], [Instruction::Chain { .. }])
    }

    /// True for a single instruction that reads only inputs and writes only outputs.
    pub(super) fn is_in_place(&self) -> bool {
        self.instructions.len() == 1 && self.register_count == self.inputs.len() + self.outputs.len()
    }
}

impl Instruction {
    /// Compute the values of `count` elements; the lanes up to the next multiple of [`LANES`] may be computed as well.
    ///
    /// # Safety
    /// Each value has an address with memory for its elements rounded up to full lanes (for a tile, if it is local). Outputs of
    /// chains are cache-line aligned if they are written with non-temporal stores. No block function's output overlaps its
    /// inputs.
    pub(super) unsafe fn run(&self, program: &Program, values: &[*mut u8], count: usize, nontemporal: bool) {
        let padded = count.next_multiple_of(LANES);
        match *self {
            Instruction::Call { kernel, exact, value, arguments } => {
                let [a, b, c] = arguments.map(|value| values[value as usize].cast_const());
                let n = if exact { count } else { padded };
                // SAFETY: guaranteed by the caller of this function.
                unsafe { kernel(values[value as usize], a, b, c, n) };
            }
            Instruction::Chain { run, ref links } => {
                // SAFETY: guaranteed by the caller of this function; links name values of the program.
                unsafe { run(&program.links[links.clone()], values, padded, nontemporal) };
            }
        }
    }
}

impl Program {
    /// Select a block function for each step and a register for each value.
    ///
    /// Fails if a step's kind does not support the dtype of its operands, or the tape is malformed.
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

/// The bytes of a constant in its computing dtype, and the bits that a link reads.
fn constant_bytes(scalar: Scalar, dtype: DType) -> ([u8; 16], u64) {
    let bytes = scalar.cast(dtype).to_bytes(compute_dtype(dtype));
    (bytes, u64::from_le_bytes(bytes[..8].try_into().expect("eight of sixteen bytes")))
}

/// A value of the tape: its dtype there, and the program's value with its elements.
#[derive(Clone, Copy)]
struct TapeValue {
    dtype: DType,
    value: u32,
    /// Is it rounded to its dtype? Results in float16 or bfloat16 have excess precision until they are stored.
    is_rounded: bool,
}

struct Builder<'t> {
    tape: &'t Tape,
    tape_values: SmallVec<[TapeValue; 8]>,
    widest: usize,
    linker: Linker,
}

impl<'t> Builder<'t> {
    fn new(tape: &'t Tape) -> Builder<'t> {
        let program = Program {
            inputs: tape.inputs.iter().copied().collect(),
            constants: SmallVec::new(),
            tape_constants: SmallVec::new(),
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
        let mut builder = Builder { tape, tape_values: SmallVec::new(), widest: 4, linker };
        for &dtype in &tape.inputs {
            let value = builder.value(compute_dtype(dtype), Value::new(true, None));
            builder.tape_values.push(TapeValue { dtype, value, is_rounded: true });
        }
        builder
    }

    fn get(&self, id: ValueId) -> Result<TapeValue> {
        match self.tape_values.get(id as usize) {
            Some(&value) => Ok(value),
            None => bail!(Value("tape"), "value {id} is not defined; {} values are", self.tape_values.len()),
        }
    }

    fn value(&mut self, dtype: DType, value: Value) -> u32 {
        self.widest = self.widest.max(dtype.size());
        self.linker.values.push(value);
        self.linker.values.len() as u32 - 1
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        let tape_value = match *step {
            Step::Constant { value, dtype } => self.constant(value, dtype),
            Step::Unary { kind, x } => {
                let x = self.get(x)?;
                let Some(entry) = unary::entry(kind, compute_dtype(x.dtype)) else {
                    return unsupported_dtype(kind.name(), x.dtype, |dtype| supports_unary(kind, dtype));
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
                    return unsupported_dtype(kind.name(), a.dtype, |dtype| supports_binary(kind, dtype));
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
            Step::Ternary { kind, a, b, c } => {
                let (a, b, c) = (self.get(a)?, self.get(b)?, self.get(c)?);
                ensure!(
                    a.dtype == b.dtype && a.dtype == c.dtype,
                    Type(kind.name()),
                    "operand dtypes differ: {}, {} and {}",
                    a.dtype,
                    b.dtype,
                    c.dtype
                );
                let Some(entry) = ternary::entry(kind, compute_dtype(a.dtype)) else {
                    return unsupported_dtype(kind.name(), a.dtype, |dtype| supports_ternary(kind, dtype));
                };
                self.call(entry, &[a.value, b.value, c.value], a.dtype)
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
                let selected = self.call(entry, &[condition.value, a.value, b.value], a.dtype);
                TapeValue { is_rounded: a.is_rounded && b.is_rounded, ..selected }
            }
            Step::Cast { x, to } => {
                let x = self.get(x)?;
                self.cast(x, to)
            }
        };
        self.tape_values.push(tape_value);
        Ok(())
    }

    /// Add a step that only has a block function.
    fn call(&mut self, entry: Entry, operands: &[u32], dtype: DType) -> TapeValue {
        self.draft(entry, LinkForm::Call, dtype, operands, dtype)
    }

    /// Add a step from operands of dtype `from` to a value of dtype `to`.
    fn draft(
        &mut self,
        entry: impl Into<Option<Entry>>,
        form: LinkForm,
        from: DType,
        operands: &[u32],
        to: DType,
    ) -> TapeValue {
        let entry = entry.into();
        let mut arguments = [operands[0]; 3];
        arguments[..operands.len()].copy_from_slice(operands);
        let value = self.value(compute_dtype(to), Value::new(false, None));
        self.linker.program.cost += entry.map_or(1, |entry| entry.cost as usize);
        self.linker.drafts.push(Draft { entry, form, dtype: compute_dtype(from), value, arguments });
        TapeValue { dtype: to, value, is_rounded: !to.is_half() }
    }

    /// Fuse an addition with the preceding multiplication, if nothing else reads the product.
    fn multiply_add(&mut self, kind: BinaryKind, a: TapeValue, b: TapeValue) -> Option<TapeValue> {
        let entry = multiply_add::entry(kind, a.dtype)?;
        let product = self.linker.drafts.last()?.value;
        let addend = match (a.value == product, b.value == product) {
            (true, false) => b.value,
            (false, true) => a.value,
            _ => return None,
        };
        let inputs = self.tape.inputs.len();
        let mut ids = (inputs..self.tape_values.len()).filter(|&id| self.tape_values[id].value == product);
        let (id, other) = (ids.next()?, ids.next());
        let is_product =
            matches!(self.tape.steps[id - inputs], Step::Binary { kind: BinaryKind::Multiply, .. });
        let sum_step = self.tape_values.len() - inputs;
        let reads = |step: &Step| step.operands().contains(&(id as ValueId));
        let mut other_steps =
            self.tape.steps.iter().enumerate().skip(id - inputs + 1).filter(|&(at, _)| at != sum_step);
        if !is_product || other.is_some() || other_steps.any(|(_, step)| reads(step)) {
            return None;
        }
        if self.tape.outputs.contains(&(id as ValueId)) {
            return None;
        }
        let product = self.linker.drafts.pop()?;
        let [x, y, _] = product.arguments;
        Some(self.draft(entry, LinkForm::MultiplyAdd, a.dtype, &[x, y, addend], a.dtype))
    }

    fn constant(&mut self, scalar: Scalar, dtype: DType) -> TapeValue {
        let compute = compute_dtype(dtype);
        let (bytes, bits) = constant_bytes(scalar, dtype);
        let value = self.value(compute, Value::new(true, Some(bits)));
        self.linker.program.constants.push(Constant { value, bytes, size: compute.size() });
        self.linker.program.tape_constants.push((value, dtype));
        TapeValue { dtype, value, is_rounded: true }
    }

    fn cast(&mut self, x: TapeValue, to: DType) -> TapeValue {
        if x.dtype == to {
            return x;
        }
        let x = if x.is_rounded { x } else { self.rounded(x) };
        let (from, compute) = (compute_dtype(x.dtype), compute_dtype(to));
        if to.is_half() && from.is_complex() {
            let real = self.cast(x, x.dtype.real());
            return self.cast(real, to);
        }
        let y = match cast::before_float16(from).filter(|_| to.is_half()) {
            Some(entry) => self.call(entry, &[x.value], to),
            None => match cast::conversion(from, compute) {
                Conversion::Nothing => x,
                Conversion::Direct(entry) if (from, compute) == (DType::Int32, DType::Float32) => {
                    self.draft(entry, LinkForm::Convert, compute, &[x.value], to)
                }
                Conversion::Direct(entry) => self.call(entry, &[x.value], to),
                Conversion::Through(other) => {
                    let intermediate = self.cast(x, other);
                    self.cast(intermediate, to)
                }
            },
        };
        // A store rounds anyway, so only a value that steps read is rounded here.
        let id = self.tape_values.len() as ValueId;
        let is_read = self.tape.steps.iter().any(|step| step.operands().contains(&id));
        if !to.is_half() || !is_read {
            return TapeValue { dtype: to, value: y.value, is_rounded: !to.is_half() };
        }
        self.rounded(TapeValue { dtype: to, ..y })
    }

    /// Round a float16 or bfloat16 value to its dtype.
    fn rounded(&mut self, x: TapeValue) -> TapeValue {
        let y = self.call(cast::round_to_float16(x.dtype), &[x.value], x.dtype);
        TapeValue { is_rounded: true, ..y }
    }

    fn output(&mut self, id: ValueId) -> Result<()> {
        let TapeValue { dtype, mut value, .. } = self.get(id)?;
        let converts = |&input: &DType| input != dtype && (input.is_half() || dtype.is_half());
        if self.tape.inputs.get(value as usize).is_some_and(converts)
            && chain::chain(DType::Float32).is_some()
        {
            // A chain converts when it loads and stores.
            value = self.draft(None, LinkForm::Pass, dtype, &[value], dtype).value;
        }
        let is_computed = !self.linker.values[value as usize].is_live_out;
        let direct = is_computed && !dtype.is_half();
        let outputs = &mut self.linker.program.outputs;
        // A value of two outputs is computed into the first and copied to the second.
        let is_duplicate = outputs.iter().any(|output| output.value == value);
        outputs.push(Output {
            value,
            dtype,
            direct: direct && !is_duplicate,
            streams: false,
            is_narrow: false,
        });
        Ok(())
    }
}

/// True if the single output is the square of the single input, possibly after a cast.
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

/// True if the single output is a cast of the single input.
fn is_cast(tape: &Tape) -> bool {
    matches!(tape.steps[..], [Step::Cast { x: 0, .. }]) && tape.inputs.len() == 1 && tape.outputs[..] == [1]
}

fn unsupported_dtype(name: &str, got: DType, supports: impl Fn(DType) -> bool) -> Result<()> {
    let expected: SmallVec<[&str; 15]> =
        DType::COMPUTE.iter().filter(|&&dtype| supports(dtype)).map(|dtype| dtype.name()).collect();
    bail!(Type(name), "dtype {got} is not supported, expected one of {}", expected.join(", "))
}
