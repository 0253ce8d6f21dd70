//! Operations on a few elements that are there: a front end may have them computed as they are recorded, since keeping an
//! operation for later costs more than computing it.

use std::sync::{LazyLock, OnceLock};

use umber_kernels::tape::{Function, few};
use umber_kernels::{View, ViewMut};
use umber_types::{DType, Layout, Scalar, Shape};

use super::{Array, ArraySpec, Storage, tracing};
use crate::op::Op;

/// More elements than this are worth recording: they may share a pass over memory with what follows.
pub(crate) const MOST_MADE: usize = 1024;

/// Computes an operation whose inputs are there or constants; `None` for one that is recorded all the same.
type Compute = fn(&Op, &[&Array], &ArraySpec) -> Option<Storage>;

/// What this file does not compute by itself. Set by `eval`, where a front end asks for results at once.
static COMPUTE_HOOK: OnceLock<Compute> = OnceLock::new();

/// Where constants are read, which have no memory of their own.
static ONE: LazyLock<Layout> = LazyLock::new(|| Layout::contiguous(Shape::scalar()));

pub(crate) fn set_compute_hook(hook: Compute) {
    let _ = COMPUTE_HOOK.set(hook);
}

/// Is an operation with a result of this shape computed as it is recorded? Not where a transformation sees the operations of a
/// program.
#[inline]
pub(crate) fn is_at_once(shape: &Shape) -> bool {
    COMPUTE_HOOK.get().is_some() && shape.size() <= MOST_MADE && tracing::depth() == 0
}

/// What an operation reads.
pub(crate) enum Operand<'a> {
    /// An array that is there.
    There(View<'a>),
    /// The bytes of a constant.
    Constant([u8; 16], DType),
}

impl<'a> Operand<'a> {
    /// An array, if it is there in memory of ours that nobody else can write and that no transformation follows, or a constant.
    /// Of other memory, operations run when their owners were told.
    #[inline]
    pub(crate) fn of(array: &'a Array) -> Option<Operand<'a>> {
        match array.storage() {
            Some(storage)
                if !storage.buffer.is_owned() || storage.buffer.writers() > 0 || array.is_traced() =>
            {
                None
            }
            Some(storage) => Some(Operand::There(storage.view(array.dtype()))),
            None => Some(Operand::number(array.constant()?, array.dtype())),
        }
    }

    #[inline]
    pub(crate) fn number(value: Scalar, dtype: DType) -> Operand<'a> {
        Operand::Constant(value.to_bytes(dtype), dtype)
    }

    #[inline]
    fn view(&self) -> View<'_> {
        match self {
            Operand::There(view) => *view,
            // SAFETY: the one element that the layout reaches is in the bytes.
            Operand::Constant(bytes, dtype) => unsafe { View::new(bytes.as_ptr(), *dtype, &ONE) },
        }
    }
}

/// A function of operands that have as many elements as the result or one, where that is computed at once ([`is_at_once`]).
#[inline]
pub(crate) fn elementwise(
    function: Function,
    operands: &[Operand<'_>],
    shape: &Shape,
    dtype: DType,
) -> Option<Array> {
    // What is made of constants alone is folded where it is used; 16-bit floats are refused before there is memory for them.
    let is_made = operands.iter().any(|operand| matches!(operand, Operand::There(_)));
    if !is_made || operands.iter().any(|operand| operand.view().dtype().is_half()) {
        return None;
    }
    let made = Array::unwritten(shape, dtype).ok()?;
    let storage = made.storage()?;
    // SAFETY: a layout that was made for its buffer, which nobody else holds since it is new.
    let output = unsafe { ViewMut::new(storage.buffer.start().as_ptr(), dtype, &storage.layout) };
    let is_done = match operands {
        [a] => few(function, &[a.view()], &output),
        [a, b] => few(function, &[a.view(), b.view()], &output),
        [a, b, c] => few(function, &[a.view(), b.view(), c.view()], &output),
        _ => false,
    };
    is_done.then_some(made)
}

/// The result of an operation, if it has few elements and need not be recorded.
pub(super) fn computed(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Option<Array> {
    if !is_at_once(&spec.shape) {
        return None;
    }
    let made = match (op, inputs) {
        (Op::Unary(unary), [x]) => {
            elementwise(Function::Unary(unary.0), &[Operand::of(x)?], &spec.shape, spec.dtype)
        }
        (Op::Binary(binary), [a, b]) => {
            let operands = [Operand::of(a)?, Operand::of(b)?];
            elementwise(Function::Binary(binary.0), &operands, &spec.shape, spec.dtype)
        }
        (Op::Select(_), [condition, a, b]) => {
            let operands = [Operand::of(condition)?, Operand::of(a)?, Operand::of(b)?];
            elementwise(Function::Select, &operands, &spec.shape, spec.dtype)
        }
        _ => None,
    };
    if made.is_some() {
        return made;
    }
    let mut any_is_there = false;
    for input in inputs {
        any_is_there |= matches!(Operand::of(input)?, Operand::There(_));
    }
    if !any_is_there {
        return None;
    }
    let storage = COMPUTE_HOOK.get()?(op, inputs, spec)?;
    Some(Array::over(storage, spec.dtype))
}
