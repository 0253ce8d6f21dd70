//! The interface of an operation: the trait that every primitive implements, and the helper types of its rules.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, ValueId};
use umber_types::{BinaryKind, DType, Layout, Result, Shape, TernaryKind, UnaryKind, bail};

use crate::backend::Task;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, HostStorage, Specs, Storage};
use crate::primitives::control_flow::ControlFlow;
use crate::validation::Site;

/// An operation that nodes of the graph record. Everything the framework knows about a primitive is in its one `impl` block.
pub trait Primitive {
    /// The name users see in messages and graphs.
    fn name(&self) -> &'static str;

    /// Shapes and dtypes of the outputs, computed nowhere else.
    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs>;

    /// Check that the functions in `ops` could have recorded the operation on these inputs. Rules and kernels rely on the checks
    /// in `ops`, which a step from a file did not pass. Conditions checked by `infer` need not be repeated, but `infer` must not
    /// panic on inputs accepted here.
    fn validate(&self, site: &Site<'_>) -> Result<()>;

    /// The operation that the same function would have recorded for other lengths; `None` if its parameters are ambiguous.
    /// Operations without lengths in their parameters use `any_lengths!()`. If a parameter that is taken to be constant depends
    /// on a length, a trace with other lengths has another value there, which reveals the mistake.
    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized>;

    /// The new shape of a constant input that had `shape` next to another input whose shape changed from `old` to `new`; all have
    /// the same number of axes. By default the shapes of the inputs are independent.
    fn constant_shape(&self, shape: &Shape, _old: &Shape, _new: &Shape) -> Option<Shape> {
        Some(shape.clone())
    }

    /// Pull cotangents of the outputs back to the inputs that need one.
    ///
    /// For complex values the cotangent is multiplied by the conjugate of the derivative. Cotangents and tangents
    /// are always floating point or complex. If the operation computes in integers, `at` shows its values as float32, except for
    /// [`crate::primitives::cast::Cast`] and for inputs that are indices.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents>;

    /// Push tangents forward. Linear operations apply themselves; most others have it derived from `vjp`.
    fn jvp(&self, _at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        None
    }

    /// The same operation with a leading batch axis on some inputs. At least one input is batched.
    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>>;

    /// An equivalent graph of simpler nodes, for composites and other nodes that hold a graph.
    fn expand(&self, _inputs: &[Array]) -> Rule<Vec<Array>> {
        None
    }

    /// Whether this input only selects (indices, branches, random keys), so that no derivative passes through it.
    fn is_index(&self, _input: usize) -> bool {
        false
    }

    /// The role in fusion. An unfused operation computes the same result as in a region.
    fn fusion_role(&self) -> FusionRole {
        FusionRole::Alone
    }

    /// Whether it accepts float8 inputs, since it moves elements without interpreting them. Other operations receive float8
    /// inputs converted to float32.
    fn takes_float8(&self) -> bool {
        self.is_view() || self.forwards() || self.control_flow().is_some()
    }

    /// Whether its result is exact or correctly rounded, and elementwise. Then it is folded on constants before the program runs.
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether it only rearranges elements of its only input. Then it maps a constant to a constant.
    fn is_view(&self) -> bool {
        false
    }

    /// The layout of its result in the memory of its input, if no copy is needed.
    fn view(&self, _input: &Layout) -> Option<Layout> {
        None
    }

    /// Number of elements that the CPU reads for a small result, if the operation may run eagerly; zero if about as many as it
    /// writes. `None` means it is recorded, as are elementwise operations on float16 and bfloat16, whose intermediate values
    /// are not rounded in a plan.
    fn eager_reads(&self, inputs: &[&Array], specs: &[ArraySpec]) -> Option<usize> {
        let mut dtypes = inputs.iter().map(|input| input.dtype()).chain(specs.iter().map(|spec| spec.dtype));
        let is_elementwise = matches!(self.fusion_role(), FusionRole::Step(_));
        (is_elementwise && !dtypes.any(DType::is_half)).then_some(0)
    }

    /// Number of arithmetic operations, if it is known, for profiles. A function of one element counts as one operation.
    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        match self.fusion_role() {
            FusionRole::Step(_) => Some(outputs.iter().map(|output| output.shape.size() as u64).sum()),
            FusionRole::Reduction => Some(inputs.iter().map(|input| input.shape.size() as u64).sum()),
            FusionRole::Broadcast | FusionRole::Alias | FusionRole::Constant | FusionRole::Reshape => Some(0),
            FusionRole::Product | FusionRole::Alone => self.is_view().then_some(0),
        }
    }

    /// Whether its outputs are its last inputs. Such an operation only matters to transforms and does not run.
    fn forwards(&self) -> bool {
        false
    }

    /// The operation as control flow, if it runs nested programs.
    fn control_flow(&self) -> Option<ControlFlow<'_>> {
        None
    }

    /// Whether an axis of a result may be as long as several axes of the inputs together, so that two sets of input lengths can
    /// give the same result. Otherwise result lengths are input lengths or products of them.
    fn adds_lengths(&self) -> bool {
        false
    }

    /// Compute on the CPU: choose layouts, call `umber-kernels`. Operations that a plan always inlines have no kernel.
    fn eval_cpu(&self, _task: &mut CpuTask<'_>) -> Result<()> {
        bail!(Runtime(self.name()), "has no kernel: it runs only inside a fused region")
    }
}

/// The function that an elementwise operation applies at each index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementFunction {
    /// Of one input.
    Unary(UnaryKind),
    /// Of two inputs of one dtype.
    Binary(BinaryKind),
    /// Of three inputs of one dtype.
    Ternary(TernaryKind),
    /// The second or the third input, chosen by the first.
    Select,
    /// Conversion to another dtype.
    Cast(DType),
}

impl ElementFunction {
    /// The tape step that applies it to the first of these values, as many as it has arguments.
    pub fn step(self, [a, b, c]: [ValueId; 3]) -> Step {
        match self {
            ElementFunction::Unary(kind) => Step::Unary { kind, x: a },
            ElementFunction::Binary(kind) => Step::Binary { kind, a, b },
            ElementFunction::Ternary(kind) => Step::Ternary { kind, a, b, c },
            ElementFunction::Select => Step::Select { condition: a, a: b, b: c },
            ElementFunction::Cast(to) => Step::Cast { x: a, to },
        }
    }
}

/// The role of an operation in fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionRole {
    /// A step of a region: elementwise.
    Step(ElementFunction),
    /// The value of its input under a larger shape.
    Broadcast,
    /// Its input unchanged.
    Alias,
    /// A constant.
    Constant,
    /// Ends a region that computes its input (prologue fusion).
    Reduction,
    /// Begins a region that reads it (epilogue fusion).
    Product,
    /// Its input under another shape; part of a region only after a product.
    Reshape,
    /// Never part of a region.
    Alone,
}

/// `None` if there is no rule: the transform uses `expand`, or derives jvp from vjp.
pub type Rule<T> = Option<Result<T>>;

/// A rule whose body may use `?`.
pub fn rule<T>(body: impl FnOnce() -> Result<T>) -> Rule<T> {
    Some(body())
}

/// The point at which a rule is applied: inputs, outputs, and which inputs need a cotangent.
#[derive(Debug)]
pub struct Point<'a> {
    /// Inputs of the node.
    pub inputs: &'a [Array],
    /// Outputs of the node, which rules may use instead of computing them again.
    pub outputs: &'a [Array],
    /// Which inputs need a cotangent.
    pub needs_cotangent: &'a [bool],
}

impl Point<'_> {
    /// One cotangent for each input: `pull(i)` for those that need one.
    pub fn pull(&self, mut pull: impl FnMut(usize) -> Result<Option<Array>>) -> Result<Cotangents> {
        let needs_cotangent = self.needs_cotangent.iter().enumerate();
        needs_cotangent.map(|(i, &is_needed)| if is_needed { pull(i) } else { Ok(None) }).collect()
    }
}

/// One cotangent for each input; `None` means zero or not needed.
pub type Cotangents = SmallVec<[Option<Array>; 2]>;

/// One tangent for each input; `None` means zero.
pub type Tangents = [Option<Array>];

/// A value inside `vmap`, and whether it has a batch axis.
#[derive(Clone, Debug)]
pub struct Batched {
    /// The value, with the batch axis first if `batched`.
    pub array: Array,
    /// Whether it has a batch axis, so that it differs between batch elements.
    pub batched: bool,
}

impl Batched {
    /// A value with a leading batch axis.
    pub fn yes(array: Array) -> Batched {
        Batched { array, batched: true }
    }

    /// Several values, all batched.
    pub fn all(arrays: impl IntoIterator<Item = Array>) -> Vec<Batched> {
        arrays.into_iter().map(Batched::yes).collect()
    }

    /// Number of axes without the batch axis.
    pub fn ndim(&self) -> usize {
        self.array.ndim() - usize::from(self.batched)
    }

    /// Shape without the batch axis.
    pub fn shape(&self) -> &[usize] {
        &self.array.shape()[usize::from(self.batched)..]
    }
}

/// The batch size: the length of the batch axis.
///
/// # Panics
/// If no input is batched; `vmap` does not call rules in this case.
pub fn batch_size(inputs: &[Batched]) -> usize {
    let batched = inputs.iter().find(|input| input.batched).expect("vmap rules run with a batched input");
    batched.array.shape()[0]
}

/// The work of one step on the CPU: a task whose storage is in host memory.
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
    /// A task for the CPU. Reading inputs in memory of other devices panics.
    pub(crate) fn of<'t>(task: &'t mut Task<'a>) -> &'t mut CpuTask<'a> {
        // SAFETY: `CpuTask` is `repr(transparent)` over `Task`.
        unsafe { &mut *std::ptr::from_mut(task).cast::<CpuTask<'a>>() }
    }

    /// The elements of input `i`.
    pub fn view(&self, i: usize) -> View<'_> {
        self.host(i).view(self.dtypes[i])
    }

    /// Input `i` for reading on the host.
    pub fn host(&self, i: usize) -> HostStorage<'_> {
        self.inputs[i].on_host()
    }

    /// Allocate every output contiguously and run `kernel` with views of the inputs and the outputs.
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

    /// Set output 0 to a storage over existing memory.
    pub fn answer(&mut self, storage: Storage) {
        self.outputs[0] = Some(storage);
    }
}
