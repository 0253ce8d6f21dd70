//! What an operation must say: the trait every primitive implements, and the helper types of its rules.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, ValueId};
use umber_types::{BinaryKind, DType, Layout, Result, Shape, UnaryKind, bail};

use crate::backend::Task;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, HostStorage, Specs, Storage};
use crate::primitives::control_flow::ControlFlow;
use crate::validation::Site;

/// A kind of node. Everything the framework knows about it is in its one `impl` block.
pub trait Primitive {
    /// The name users see in messages and graphs.
    fn name(&self) -> &'static str;

    /// Shapes and dtypes of the outputs. The only place they are decided.
    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs>;

    /// Are these inputs that the functions in `ops` could have recorded it on? Rules and kernels trust what those checked, and
    /// a step that a file brought has not been there. What `infer` refuses need not be refused here, as long as this lets
    /// it be asked.
    fn validate(&self, site: &Site<'_>) -> Result<()>;

    /// The operation that the same function would have recorded at other lengths; `None` where what it was recorded with leaves
    /// several possibilities. Most say nothing of lengths: `any_lengths!()`. Where a number in one follows from a
    /// length, a trace at other lengths has another number there, and so shows that this one was wrong.
    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized>;

    /// The shape that a constant among the inputs has beside one that went from `old` to `new`, if it had `shape` with `old`,
    /// and as many axes. Most inputs do not depend on each other.
    fn constant_shape(&self, shape: &Shape, _old: &Shape, _new: &Shape) -> Option<Shape> {
        Some(shape.clone())
    }

    /// Pull cotangents of the outputs back to the inputs that ask for one.
    ///
    /// For complex values the cotangent is multiplied by the conjugate of the derivative. Cotangents and tangents
    /// are always floating point or complex; where the operation computes in integers, `at` shows it as it would
    /// compute in float32, except to [`crate::primitives::cast::Cast`] and for inputs that are indices.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents>;

    /// Push tangents forward. Linear operations answer with themselves; most others leave it to be derived.
    fn jvp(&self, _at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        None
    }

    /// The same operation with a batch axis, always in front, on some inputs. At least one input is batched.
    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>>;

    /// An equal graph of simpler nodes, for composites and other nodes that hold a graph.
    fn expand(&self, _inputs: &[Array]) -> Rule<Vec<Array>> {
        None
    }

    /// Does this input only choose (places, branches, random numbers)? Then no derivative passes through it.
    fn is_index(&self, _input: usize) -> bool {
        false
    }

    /// How fusion sees it. An operation that runs by itself is computed as it would be in a region.
    fn fusion_role(&self) -> FusionRole {
        FusionRole::Alone
    }

    /// Does it take floats of eight bits as they are, since it moves elements without looking at what they are? Others are
    /// given the float32 that these equal.
    fn takes_float8(&self) -> bool {
        self.is_view() || self.forwards() || self.control_flow().is_some()
    }

    /// Is its result exact or correctly rounded, and each element a function of the elements of the inputs at its place?
    /// Then it is computed of constants before the program runs.
    fn is_exact(&self) -> bool {
        false
    }

    /// Does it show elements of its only input, whatever their places? Then it shows a constant as a constant.
    fn is_view(&self) -> bool {
        false
    }

    /// The layout under which it shows the elements of its input, if it need not copy them.
    fn view(&self, _input: &Layout) -> Option<Layout> {
        None
    }

    /// How many elements the CPU reads for a few elements of the result, if it may compute them where the operation is
    /// written; zero where it reads about as many. Others are recorded, and so are elementwise operations on 16-bit floats,
    /// whose intermediate values keep their digits in a plan.
    fn eager_reads(&self, inputs: &[&Array], specs: &[ArraySpec]) -> Option<usize> {
        let mut dtypes = inputs.iter().map(|input| input.dtype()).chain(specs.iter().map(|spec| spec.dtype));
        let is_elementwise = matches!(self.fusion_role(), FusionRole::Step(_));
        (is_elementwise && !dtypes.any(DType::is_half)).then_some(0)
    }

    /// Are the outputs the last inputs? Such an operation matters to transforms only, and is not run.
    fn forwards(&self) -> bool {
        false
    }

    /// The operation as control flow, if it runs functions that it holds.
    fn control_flow(&self) -> Option<ControlFlow<'_>> {
        None
    }

    /// May an axis of a result be as long as several axes of the inputs together? Then two sets of lengths may give one
    /// result by chance. Other lengths are those of the inputs, or products of them.
    fn adds_lengths(&self) -> bool {
        false
    }

    /// Compute on the CPU: choose layouts, call `umber-kernels`. Operations that a plan inlines have no kernel of their own.
    fn eval_cpu(&self, _task: &mut CpuTask<'_>) -> Result<()> {
        bail!(Runtime(self.name()), "has no kernel: it runs only inside a fused region")
    }
}

/// What an elementwise operation computes of the elements at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementFunction {
    /// Of one element.
    Unary(UnaryKind),
    /// Of two elements of one dtype.
    Binary(BinaryKind),
    /// The second or the third element, as the first says.
    Select,
    /// The element in another dtype.
    Cast(DType),
}

impl ElementFunction {
    /// The step of a tape that computes it of these values, of which it reads as many as it has arguments.
    pub fn step(self, [a, b, c]: [ValueId; 3]) -> Step {
        match self {
            ElementFunction::Unary(kind) => Step::Unary { kind, x: a },
            ElementFunction::Binary(kind) => Step::Binary { kind, a, b },
            ElementFunction::Select => Step::Select { condition: a, a: b, b: c },
            ElementFunction::Cast(to) => Step::Cast { x: a, to },
        }
    }
}

/// How fusion sees an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionRole {
    /// A step of a region: each element is this function of the elements of the inputs at its place.
    Step(ElementFunction),
    /// The value of its input under a larger shape.
    Broadcast,
    /// The value of its input.
    Alias,
    /// A constant.
    Constant,
    /// Ends a region that computes its input.
    Reduction,
    /// Begins a region that reads it.
    Product,
    /// The value of its input under another shape, part of a region only behind a product.
    Reshape,
    /// Never part of a region.
    Alone,
}

/// `None`: no rule here. The transform uses `expand`, or (jvp) derives it from `vjp`.
pub type Rule<T> = Option<Result<T>>;

/// A rule whose body may use `?`.
pub fn rule<T>(body: impl FnOnce() -> Result<T>) -> Rule<T> {
    Some(body())
}

/// The node that a rule is applied to: its inputs, its outputs, and which inputs need a cotangent.
#[derive(Debug)]
pub struct Point<'a> {
    /// Inputs of the node.
    pub inputs: &'a [Array],
    /// Outputs of the node: rules may use their values instead of computing them again.
    pub outputs: &'a [Array],
    /// Which inputs need a cotangent.
    pub needs_cotangent: &'a [bool],
}

impl Point<'_> {
    /// One cotangent per input: `pull(i)` for inputs that need one.
    pub fn pull(&self, mut pull: impl FnMut(usize) -> Result<Option<Array>>) -> Result<Cotangents> {
        let needs_cotangent = self.needs_cotangent.iter().enumerate();
        needs_cotangent.map(|(i, &is_needed)| if is_needed { pull(i) } else { Ok(None) }).collect()
    }
}

/// One cotangent per input; `None` means zero or not needed.
pub type Cotangents = SmallVec<[Option<Array>; 2]>;

/// One tangent an input; `None` means zero.
pub type Tangents = [Option<Array>];

/// A value inside `vmap`: the array, and whether its first axis is the batch.
#[derive(Clone, Debug)]
pub struct Batched {
    /// The value, with the batch axis in front if `batched`.
    pub array: Array,
    /// Does it differ from lane to lane?
    pub batched: bool,
}

impl Batched {
    /// A value with the batch axis in front.
    pub fn yes(array: Array) -> Batched {
        Batched { array, batched: true }
    }

    /// Several values, all batched.
    pub fn all(arrays: impl IntoIterator<Item = Array>) -> Vec<Batched> {
        arrays.into_iter().map(Batched::yes).collect()
    }

    /// Number of axes of one lane.
    pub fn ndim(&self) -> usize {
        self.array.ndim() - usize::from(self.batched)
    }

    /// The shape of one lane.
    pub fn shape(&self) -> &[usize] {
        &self.array.shape()[usize::from(self.batched)..]
    }
}

/// Number of lanes: the length of the batch axis.
///
/// # Panics
/// If no input is batched; `vmap` never asks then.
pub fn batch_size(inputs: &[Batched]) -> usize {
    let batched = inputs.iter().find(|input| input.batched).expect("vmap rules run with a batched input");
    batched.array.shape()[0]
}

/// One step's work on the CPU: a task whose storage is the host's.
#[derive(Debug)]
#[repr(transparent)]
pub struct CpuTask<'a>(Task<'a>);

impl<'a> Deref for CpuTask<'a> {
    type Target = Task<'a>;

    fn deref(&self) -> &Task<'a> {
        &self.0
    }
}

impl<'a> DerefMut for CpuTask<'a> {
    fn deref_mut(&mut self) -> &mut Task<'a> {
        &mut self.0
    }
}

impl<'a> CpuTask<'a> {
    /// A task as the CPU's. Views of inputs in memory of other devices panic.
    pub(crate) fn of<'t>(task: &'t mut Task<'a>) -> &'t mut CpuTask<'a> {
        // SAFETY: a transparent wrapper has the layout of what it wraps.
        unsafe { &mut *std::ptr::from_mut(task).cast::<CpuTask<'a>>() }
    }

    /// The elements of input `i`.
    pub fn view(&self, i: usize) -> View<'_> {
        self.host(i).view(self.dtypes[i])
    }

    /// Input `i` as the host reads it.
    pub fn host(&self, i: usize) -> HostStorage<'_> {
        self.inputs[i].on_host()
    }

    /// Allocate every output densely and run `kernel` with views of the inputs and the outputs.
    pub fn run(&mut self, kernel: impl FnOnce(&[View<'_>], &mut [ViewMut<'_>]) -> Result<()>) -> Result<()> {
        let mut storages: SmallVec<[Storage; 1]> = SmallVec::new();
        for spec in &self.specs {
            storages.push(Storage::allocate(&spec.shape, spec.dtype)?);
        }
        {
            let inputs: SmallVec<[View<'_>; 3]> = (0..self.inputs.len()).map(|i| self.view(i)).collect();
            let mut outputs: SmallVec<[ViewMut<'_>; 1]> = storages
                .iter_mut()
                .zip(&self.specs)
                .map(|(storage, spec)| storage.view_mut(spec.dtype).expect("fresh storage is unique"))
                .collect();
            kernel(&inputs, &mut outputs)?;
        }
        self.outputs = storages.into_iter().map(Some).collect();
        Ok(())
    }

    /// As [`CpuTask::run`] for one output.
    pub fn run_one(&mut self, kernel: impl FnOnce(&[View<'_>], ViewMut<'_>) -> Result<()>) -> Result<()> {
        self.run(|inputs, outputs| kernel(inputs, outputs.first_mut().expect("one output").reborrow()))
    }

    /// Answer output 0 with storage over existing memory.
    pub fn answer(&mut self, storage: Storage) {
        self.outputs[0] = Some(storage);
    }
}
