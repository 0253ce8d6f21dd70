//! Region: elementwise steps fused into one kernel, optionally with a reduction as epilogue or a matrix product as prologue.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use umber_kernels::matmul::matmul_program;
use umber_kernels::reduce::reduce_tape;
use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, Tape, ValueId};
use umber_types::{DType, Layout, Result, Scalar, Shape};

use crate::backend::tape_cache::{Key, TapeCache};
use crate::graph::program::SourceLine;
use crate::graph::walk::AddressHasher;
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::cast::Cast;
use crate::primitives::matmul::MatMul;
use crate::primitives::reduce::Reduce;
use crate::primitives::rules::{broadcast, reshape};
use crate::primitives::select::Select;
use crate::primitives::ternary::Ternary;
use crate::primitives::unary::Unary;

thread_local! {
    static PROGRAMS: RefCell<TapeCache<Tape, Arc<Program>>> = const { RefCell::new(TapeCache::new()) };
}

impl Key for Tape {
    fn number(&self) -> usize {
        let mut hasher = AddressHasher::default();
        self.hash(&mut hasher);
        // The high bits depend on all others.
        (hasher.finish() >> 32) as usize
    }

    fn program(&self) -> Result<Program> {
        Program::new(self)
    }
}

/// The part of a fused kernel that is not elementwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// None: the region consists of elementwise steps only.
    Elementwise,
    /// A reduction of the single output of the tape.
    Reduction(Reduce),
    /// A matrix product of the first two inputs; the product is the first input of the tape.
    Product,
}

/// Elementwise nodes fused into one program, optionally with a reduction of its output or a matrix product as its first input.
#[derive(Debug)]
pub struct Region {
    /// The program.
    pub tape: Tape,
    /// The shape of every value in it.
    pub shape: Shape,
    /// A reduction or a product in the same kernel.
    pub kind: RegionKind,
    /// The line that recorded each step of the tape; empty if lines are not recorded.
    lines: Vec<SourceLine>,
    program: OnceLock<Arc<Program>>,
}

/// What a step of a tape defines.
pub(crate) enum TapeValue {
    /// A constant.
    Constant(Scalar, DType),
    /// The result of an operation on the step's operands.
    Result(Op),
}

impl TapeValue {
    pub(crate) fn of(step: &Step) -> TapeValue {
        match *step {
            Step::Constant { value, dtype } => TapeValue::Constant(value, dtype),
            Step::Unary { kind, .. } => TapeValue::Result(Unary(kind).into()),
            Step::Binary { kind, .. } => TapeValue::Result(Binary(kind).into()),
            Step::Ternary { kind, .. } => TapeValue::Result(Ternary(kind).into()),
            Step::Select { .. } => TapeValue::Result(Select.into()),
            Step::Cast { to, .. } => TapeValue::Result(Cast(to).into()),
        }
    }
}

impl Region {
    /// A region that computes `tape` at every index of `shape`, with the reduction or product of `kind`.
    pub fn new(tape: Tape, shape: Shape, kind: RegionKind) -> Region {
        Region { tape, shape, kind, lines: Vec::new(), program: OnceLock::new() }
    }

    /// The same region with the line that recorded each step of the tape.
    pub(crate) fn with_lines(self, lines: Vec<SourceLine>) -> Region {
        debug_assert!(lines.is_empty() || lines.len() == self.tape.steps.len());
        Region { lines, ..self }
    }

    /// The line that recorded a step of the tape, if lines are recorded.
    pub(crate) fn line(&self, step: usize) -> Option<&Arc<str>> {
        self.lines.get(step)?.0.as_ref()
    }

    /// The dtypes and values of the tape's constants, in order.
    pub(crate) fn constants(&self) -> impl Iterator<Item = (DType, Scalar)> {
        self.tape.steps.iter().filter_map(|step| {
            let Step::Constant { value, dtype } = step else { return None };
            Some((*dtype, *value))
        })
    }

    /// The same region with other constants, given in the tape's order.
    pub(crate) fn with_constants(&self, values: impl Iterator<Item = Scalar> + Clone) -> Result<Region> {
        let program = self.prepare()?.with_constants(values.clone());
        let mut tape = self.tape.clone();
        let constants = tape.steps.iter_mut().filter_map(|step| {
            let Step::Constant { value, .. } = step else { return None };
            Some(value)
        });
        constants.zip(values).for_each(|(constant, value)| *constant = value);
        Ok(Region {
            tape,
            shape: self.shape.clone(),
            kind: self.kind.clone(),
            lines: self.lines.clone(),
            program: OnceLock::from(Arc::new(program)),
        })
    }

    /// The name of the operation that computes its last output.
    pub fn name(&self) -> &'static str {
        match (&self.kind, self.tape.steps.last()) {
            (RegionKind::Reduction(reduction), _) => reduction.name(),
            (_, Some(Step::Unary { kind, .. })) => Unary(*kind).name(),
            (_, Some(Step::Binary { kind, .. })) => Binary(*kind).name(),
            (_, Some(Step::Ternary { kind, .. })) => Ternary(*kind).name(),
            (_, Some(Step::Select { .. })) => Select.name(),
            (_, Some(Step::Cast { to, .. })) => Cast(*to).name(),
            (_, Some(Step::Constant { .. }) | None) => "copy",
        }
    }

    /// The names of its operations, in order.
    pub fn names(&self) -> Vec<&'static str> {
        let product = (self.factors() > 0).then(|| MatMul.name());
        let elementwise = self.tape.steps.iter().filter_map(|step| match TapeValue::of(step) {
            TapeValue::Constant(..) => None,
            TapeValue::Result(op) => Some(op.name()),
        });
        let reduction = match &self.kind {
            RegionKind::Reduction(reduction) => Some(reduction.name()),
            RegionKind::Elementwise | RegionKind::Product => None,
        };
        product.into_iter().chain(elementwise).chain(reduction).collect()
    }

    /// How many leading inputs are factors of the product.
    pub fn factors(&self) -> usize {
        match self.kind {
            RegionKind::Product => 2,
            RegionKind::Elementwise | RegionKind::Reduction(_) => 0,
        }
    }

    /// The dtypes of the inputs that are not factors.
    pub fn elements(&self) -> &[DType] {
        &self.tape.inputs[self.factors() / 2..]
    }

    /// The layout of an input as [`Region::run`] takes it.
    pub fn broadcast_layout<'a>(&self, input: usize, layout: &'a Layout) -> Cow<'a, Layout> {
        if input < self.factors() { Cow::Borrowed(layout) } else { broadcast_layout(layout, &self.shape) }
    }

    /// May an output share memory with an input? Only where element `i` of the inputs is not read after output `i` is written.
    pub fn may_overwrite(&self) -> bool {
        self.kind == RegionKind::Elementwise
    }

    /// Shapes and dtypes of the outputs.
    pub fn specs(&self) -> Result<Specs> {
        let dtypes = self.tape.dtypes();
        let spec = |&value: &ValueId| ArraySpec { shape: self.shape.clone(), dtype: dtypes[value as usize] };
        let specs: Specs = self.tape.outputs.iter().map(spec).collect();
        match &self.kind {
            RegionKind::Reduction(reduction) => reduction.infer(&[&specs[0]]),
            RegionKind::Elementwise | RegionKind::Product => Ok(specs),
        }
    }

    /// The compiled program, built at the first call; fails if the tape is not well formed.
    pub fn prepare(&self) -> Result<&Program> {
        if let Some(program) = self.program.get() {
            return Ok(program);
        }
        let program = PROGRAMS.with_borrow_mut(|programs| programs.get(&self.tape))?;
        Ok(self.program.get_or_init(|| program))
    }

    /// Compute the outputs. Inputs have the region's shape, except the factors of a product.
    pub fn run(&self, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<()> {
        let program = self.prepare()?;
        match &self.kind {
            RegionKind::Reduction(Reduce { kind, axes }) => {
                let tape_and_program = (&self.tape, program);
                reduce_tape(*kind, tape_and_program, inputs, &self.shape, axes, outputs[0].reborrow());
            }
            RegionKind::Product => matmul_program(inputs[0], inputs[1], program, &inputs[2..], outputs),
            RegionKind::Elementwise => program.run(inputs, outputs),
        }
        Ok(())
    }

    /// The same computation as ordinary nodes on other inputs.
    pub fn replay(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let (factors, elements) = inputs.split_at(self.factors());
        let mut values: Vec<Array> = Vec::with_capacity(self.tape.inputs.len() + self.tape.steps.len());
        if let [a, b] = factors {
            values.push(reshape(&Array::record_one(MatMul, &[a, b])?, self.shape.clone())?);
        }
        for input in elements {
            values.push(broadcast(input, &self.shape)?);
        }
        for step in &self.tape.steps {
            let value = match TapeValue::of(step) {
                TapeValue::Constant(value, dtype) => Array::full(self.shape.clone(), value, dtype),
                TapeValue::Result(op) => {
                    let operands = step.operands();
                    let operands: SmallVec<[&Array; 3]> =
                        operands.iter().map(|&id| &values[id as usize]).collect();
                    Array::record_one(op, &operands)?
                }
            };
            values.push(value);
        }
        let outputs = self.tape.outputs.iter().map(|&id| &values[id as usize]);
        match &self.kind {
            RegionKind::Reduction(reduction) => {
                outputs.map(|value| Array::record_one(reduction.clone(), &[value])).collect()
            }
            RegionKind::Elementwise | RegionKind::Product => Ok(outputs.cloned().collect()),
        }
    }
}

/// `layout` broadcast to `shape`.
pub(crate) fn broadcast_layout<'a>(layout: &'a Layout, shape: &Shape) -> Cow<'a, Layout> {
    if layout.shape == *shape { Cow::Borrowed(layout) } else { Cow::Owned(layout.broadcast_to(shape)) }
}
