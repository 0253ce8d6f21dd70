//! Eager execution: an operation on a few evaluated elements runs immediately, since recording it would cost more.
//!
//! A front end turns it on ([`enable`]). It excludes operations while a transformation traces, operations on externally mutable
//! memory, and single operations on float16 and bfloat16, whose intermediate values are not rounded in a plan.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use smallvec::SmallVec;
use umber_kernels::tape::{Function, compute_eagerly};
use umber_kernels::{View, ViewMut};
use umber_types::{BinaryKind, DType, Device, Layout, Result, Scalar, Shape, Side, Stream, UnaryKind};

use crate::backend::{Backend, Cpu, Task};
use crate::device;
use crate::graph::{Array, ArraySpec, Storage, tracing};
use crate::observer::profile::record_eager;
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::fused::Fused;
use crate::primitives::region::{Region, RegionKind};
use crate::primitives::rules::broadcast;
use crate::primitives::unary::Unary;

/// Results with more elements are recorded: fusion may save them a pass over memory.
pub(crate) const MAX_ELEMENTS: usize = 1024;
/// Maximum number of elements read by one operation, and of element operations of a region.
const MAX_READ: usize = 8192;
const MAX_STEPS: usize = 4096;

/// Whether eager execution is [`ENABLED`], whether it is [`SUSPENDED`] by an observer of numbers, and whether it is [`PROFILED`].
static MODE: AtomicU8 = AtomicU8::new(0);
const ENABLED: u8 = 1;
const SUSPENDED: u8 = 2;
const PROFILED: u8 = 4;

/// The layout of a constant operand.
static ONE: LazyLock<Layout> = LazyLock::new(|| Layout::contiguous(Shape::scalar()));

/// Turn eager execution of operations on a few evaluated elements on or off. If off, every operation is recorded.
pub fn enable(is_enabled: bool) {
    set(ENABLED, is_enabled);
}

/// Record all operations while their results are searched for NaN; those that would have run eagerly are then evaluated immediately,
/// see [`is_due`].
pub(crate) fn suspend(is_suspended: bool) {
    set(SUSPENDED, is_suspended);
}

/// Record the operations that run eagerly in the active profiles. They then take the general path, not the shorter ones of
/// single functions.
pub(crate) fn observe(is_profiled: bool) {
    set(PROFILED, is_profiled);
}

fn set(flag: u8, is_set: bool) {
    if is_set {
        MODE.fetch_or(flag, Ordering::Relaxed)
    } else {
        MODE.fetch_and(!flag, Ordering::Relaxed)
    };
}

/// Whether an operation with a result of this shape may run eagerly.
#[inline]
pub(crate) fn applies(shape: &Shape) -> bool {
    MODE.load(Ordering::Relaxed) == ENABLED && is_in_reach(shape)
}

/// Whether a recorded operation is to be evaluated immediately, since it would have run eagerly were that not suspended.
pub(crate) fn is_due(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> bool {
    MODE.load(Ordering::Relaxed) & !PROFILED == ENABLED | SUSPENDED
        && is_in_reach(&spec.shape)
        && inputs.iter().all(|input| Operand::of(input).is_some())
        && op.eager_reads(inputs, std::slice::from_ref(spec)).is_some_and(|reads| reads <= MAX_READ)
}

#[inline]
fn is_in_reach(shape: &Shape) -> bool {
    shape.size() <= MAX_ELEMENTS && tracing::depth() == 0 && device::current_stream().device == Device::CPU
}

/// The bytes of one element, aligned for every dtype.
#[repr(align(16))]
struct Aligned([u8; 16]);

/// An input of an operation.
enum Operand<'a> {
    Evaluated(&'a Storage, DType),
    /// The bytes of a constant.
    Constant(Aligned, DType),
}

impl<'a> Operand<'a> {
    /// An untraced array evaluated in host memory that only this library owns and writes, or a constant. For other memory,
    /// operations must go through the plan, which synchronises with its owners.
    #[inline]
    fn of(array: &'a Array) -> Option<Operand<'a>> {
        match array.storage() {
            Some(storage)
                if !storage.buffer.is_host_owned() || storage.buffer.writers() > 0 || array.is_traced() =>
            {
                None
            }
            Some(storage) => Some(Operand::Evaluated(storage, array.dtype())),
            None => Some(Operand::number(array.constant()?, array.dtype())),
        }
    }

    #[inline]
    fn number(value: Scalar, dtype: DType) -> Operand<'a> {
        Operand::Constant(Aligned(value.to_bytes(dtype)), dtype)
    }

    #[inline]
    fn dtype(&self) -> DType {
        match self {
            Operand::Evaluated(_, dtype) | Operand::Constant(_, dtype) => *dtype,
        }
    }

    #[inline]
    fn layout(&self) -> &Layout {
        match self {
            Operand::Evaluated(storage, _) => &storage.layout,
            Operand::Constant(..) => &ONE,
        }
    }

    #[inline]
    fn view(&self) -> View<'_> {
        // SAFETY: the operand's own layout lies inside its memory.
        unsafe { self.view_as(self.layout()) }
    }

    /// The operand under a layout.
    ///
    /// # Safety
    /// `layout` must only reach elements of the operand's own layout.
    #[inline]
    unsafe fn view_as<'b>(&'b self, layout: &'b Layout) -> View<'b> {
        let (base, dtype) = match self {
            Operand::Evaluated(storage, dtype) => (storage.on_host().start().as_ptr().cast_const(), *dtype),
            Operand::Constant(Aligned(bytes), dtype) => (bytes.as_ptr(), *dtype),
        };
        // SAFETY: the memory holds all elements of the operand's own layout, and the caller guarantees that `layout` reaches no
        // others.
        unsafe { View::new(base, dtype, layout) }
    }
}

/// `kind(x)`, a result of this dtype.
#[inline]
pub(crate) fn unary(kind: UnaryKind, x: &Array, dtype: DType) -> Option<Array> {
    elementwise(Function::Unary(kind), &[Operand::of(x)?], x.shape(), dtype)
}

/// `kind(a, b)` of arrays that broadcast to `shape`.
#[inline]
pub(crate) fn binary(kind: BinaryKind, [a, b]: [&Array; 2], shape: &Shape, dtype: DType) -> Option<Array> {
    let operands = [Operand::of(a)?, Operand::of(b)?];
    let count = shape.size();
    let fits = |x: &Array| x.size() == count || x.size() == 1;
    if fits(a) && fits(b) {
        return elementwise(Function::Binary(kind), &operands, shape, dtype);
    }
    if a.dtype().is_half() {
        return None;
    }
    let (a, b) = (broadcast(a, shape).ok()?, broadcast(b, shape).ok()?);
    elementwise(Function::Binary(kind), &[Operand::of(&a)?, Operand::of(&b)?], shape, dtype)
}

/// [`binary`] of an array and a scalar of its dtype, the operand on `side`.
#[inline]
pub(crate) fn with_number(
    kind: BinaryKind,
    array: &Array,
    number: Scalar,
    side: Side,
    dtype: DType,
) -> Option<Array> {
    let (operand, constant) = (Operand::of(array)?, Operand::number(number, array.dtype()));
    let operands = match side {
        Side::Left => [constant, operand],
        Side::Right => [operand, constant],
    };
    elementwise(Function::Binary(kind), &operands, array.shape(), dtype)
}

/// An elementwise function of operands with one element or as many as the result, by a kernel that needs no tape.
#[inline]
fn elementwise(function: Function, operands: &[Operand<'_>], shape: &Shape, dtype: DType) -> Option<Array> {
    // Checked before memory is allocated.
    if operands.iter().any(|operand| operand.dtype().is_half()) {
        return None;
    }
    let result = Array::unwritten(shape, dtype).ok()?;
    let output = written(&result)?;
    let is_done = match operands {
        [a] => compute_eagerly(function, &[a.view()], &output),
        [a, b] => compute_eagerly(function, &[a.view(), b.view()], &output),
        [a, b, c] => compute_eagerly(function, &[a.view(), b.view(), c.view()], &output),
        _ => false,
    };
    is_done.then_some(result)
}

/// The result of an operation with one output; `None` if it has to be recorded or fails. Errors are reported on evaluation.
pub(crate) fn compute(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Option<Array> {
    if applies(&spec.shape) {
        return result_of(op, inputs, spec);
    }
    let specs = std::slice::from_ref(spec);
    is_profiled(specs).then(|| record_eager(op, inputs, specs, || result_of(op, inputs, spec)))?
}

/// Whether operations with these results run eagerly and are profiled.
#[inline]
fn is_profiled(specs: &[ArraySpec]) -> bool {
    MODE.load(Ordering::Relaxed) == ENABLED | PROFILED && specs.iter().all(|spec| is_in_reach(&spec.shape))
}

fn result_of(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Option<Array> {
    let by_function = match (op, inputs) {
        (Op::Unary(Unary(kind)), [x]) => unary(*kind, x, spec.dtype),
        (Op::Binary(Binary(kind)), [a, b]) => binary(*kind, [a, b], &spec.shape, spec.dtype),
        (Op::Select(_), [condition, a, b]) => {
            let operands = [Operand::of(condition)?, Operand::of(a)?, Operand::of(b)?];
            elementwise(Function::Select, &operands, &spec.shape, spec.dtype)
        }
        _ => None,
    };
    by_function.or_else(|| run(op, inputs, std::slice::from_ref(spec))?.pop())
}

/// The results of an operation of a compiled function.
pub(crate) fn compute_all(op: &Op, inputs: &[Array], specs: &[ArraySpec]) -> Option<SmallVec<[Array; 1]>> {
    if specs.iter().all(|spec| applies(&spec.shape)) {
        return results_of(op, inputs, specs);
    }
    if !is_profiled(specs) {
        return None;
    }
    let all: SmallVec<[&Array; 4]> = inputs.iter().collect();
    record_eager(op, &all, specs, || results_of(op, inputs, specs))
}

fn results_of(op: &Op, inputs: &[Array], specs: &[ArraySpec]) -> Option<SmallVec<[Array; 1]>> {
    if let Op::Fused(Fused(region)) = op {
        return fused(region, inputs, specs);
    }
    run(op, &inputs.iter().collect::<SmallVec<[&Array; 4]>>(), specs)
}

/// The results of a fused region.
fn fused(region: &Region, inputs: &[Array], specs: &[ArraySpec]) -> Option<SmallVec<[Array; 1]>> {
    if !is_small(region) {
        return None;
    }
    let operands: SmallVec<[Operand<'_>; 4]> = inputs.iter().map(Operand::of).collect::<Option<_>>()?;
    let layouts: SmallVec<[Cow<'_, Layout>; 4]> = operands
        .iter()
        .enumerate()
        .map(|(i, operand)| region.broadcast_layout(i, operand.layout()))
        .collect();
    let operands = operands.iter().zip(&layouts);
    // SAFETY: a broadcast layout reaches the same elements as the operand's own.
    let views: SmallVec<[View<'_>; 4]> =
        operands.map(|(operand, layout)| unsafe { operand.view_as(layout) }).collect();
    let results: SmallVec<[Array; 1]> =
        specs.iter().map(|spec| Array::unwritten(&spec.shape, spec.dtype).ok()).collect::<Option<_>>()?;
    let mut outputs: SmallVec<[ViewMut<'_>; 1]> = results.iter().map(written).collect::<Option<_>>()?;
    let is_done = catch_unwind(AssertUnwindSafe(|| region.run(&views, &mut outputs)));
    drop(outputs);
    matches!(is_done, Ok(Ok(()))).then_some(results)
}

/// A view for writing of a new array.
#[inline]
fn written(array: &Array) -> Option<ViewMut<'_>> {
    let storage = array.storage()?;
    // SAFETY: the array was just allocated with this layout, and no other reference to its buffer exists.
    Some(unsafe { ViewMut::new(storage.on_host().start().as_ptr(), array.dtype(), &storage.layout) })
}

/// The results of an operation computed by the CPU backend, if it is cheap enough.
fn run(op: &Op, inputs: &[&Array], specs: &[ArraySpec]) -> Option<SmallVec<[Array; 1]>> {
    for input in inputs {
        Operand::of(input)?;
    }
    op.eager_reads(inputs, specs).filter(|&reads| reads <= MAX_READ)?;
    let compute = || -> Result<SmallVec<[Option<Storage>; 1]>> {
        let storages = inputs.iter().map(|input| storage_of(input)).collect::<Result<_>>()?;
        let dtypes = inputs.iter().map(|input| input.dtype()).collect();
        let mut task = Task::new(Stream::CPU, storages, dtypes, specs.iter().collect());
        // SAFETY: `infer` gave the specs for these inputs.
        unsafe { Cpu.launch(op, &mut task) }?;
        Ok(task.outputs)
    };
    let outputs = catch_unwind(AssertUnwindSafe(compute)).ok()?.ok()?;
    outputs.into_iter().zip(specs).map(|(storage, spec)| Some(Array::over(storage?, spec.dtype))).collect()
}

/// The storage of an evaluated array or a constant.
fn storage_of(array: &Array) -> Result<Storage> {
    match array.constant() {
        Some(value) => Storage::splat(value, array.shape(), array.dtype()),
        None => Ok(array.storage().expect("an operand is evaluated or a constant").clone()),
    }
}

fn is_small(region: &Region) -> bool {
    let size = region.shape.size();
    let steps = size.saturating_mul(region.tape.steps.len());
    match region.kind {
        RegionKind::Elementwise => steps <= MAX_STEPS,
        RegionKind::Reduction(_) => size <= MAX_READ && steps <= MAX_READ,
        RegionKind::Product => false,
    }
}
