//! Elementwise functions of a few elements: a block function or two, called without a program.
//!
//! Results are those of a program that has no more than this one step.

use umber_kernels_base::isa::level;
use umber_kernels_base::view::{View, ViewMut};
use umber_types::{BinaryKind, UnaryKind};

use super::blocks::splat;
use super::run::with_scratch;
use super::small::{copy, load};
use crate::elementwise::{LANES, binary, select, unary};

/// A function of one, two or three elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Of one.
    Unary(UnaryKind),
    /// Of two of one dtype.
    Binary(BinaryKind),
    /// Of a truth value and two of one dtype: the first or the second.
    Select,
}

/// Compute a function of inputs that have as many elements as the output, or one for all. Says whether it did: it does not for
/// 16-bit floats, which are computed in float32, nor for dtypes that the function is not defined for. Nothing is written then.
///
/// # Panics
/// If there are no inputs.
pub fn compute_eagerly(function: Function, inputs: &[View<'_>], output: &ViewMut<'_>) -> bool {
    let dtype = inputs[inputs.len() - 1].dtype();
    let (entry, order) = match function {
        _ if dtype.is_half() => return false,
        Function::Unary(kind) => (unary::entry(kind, dtype), [0, 0, 0]),
        Function::Binary(kind) if binary::swaps_operands(kind) => (binary::entry(kind, dtype), [1, 0, 0]),
        Function::Binary(kind) => (binary::entry(kind, dtype), [0, 1, 0]),
        Function::Select => (Some(select::entry(dtype)), [0, 1, 2]),
    };
    let (Some(entry), count) = (entry, output.size()) else { return false };
    let is_dense = count == 1 || output.layout().is_contiguous();
    if !is_dense || inputs.iter().any(|view| !matches!(view.size(), n if n == count || n == 1)) {
        return false;
    }
    if count == 0 {
        return true;
    }
    let filled = count.next_multiple_of(LANES);
    let taken = if entry.exact { count } else { filled };
    let widest = inputs.iter().map(|view| view.dtype().size()).fold(output.dtype().size(), usize::max);
    let room = filled * widest;
    with_scratch((inputs.len() + 1) * room, |scratch| {
        let mut places = [std::ptr::null::<u8>(); 3];
        for (i, (view, place)) in inputs.iter().zip(&mut places).enumerate() {
            let (is_one, size) = (view.size() == 1, view.dtype().size());
            let to = scratch.wrapping_add((i + 1) * room);
            // SAFETY: views promise their elements, and there is space for all lanes, of which those behind the elements hold
            // anything.
            *place = unsafe {
                if is_one && count == 1 {
                    copy(view.start(), to, size);
                    to
                } else if is_one {
                    splat(size, view.start(), to, filled);
                    to
                } else if taken == count && view.layout().is_contiguous() {
                    view.start()
                } else {
                    if load(view, to, count) == 1 {
                        splat(size, to, to, filled);
                    }
                    to
                }
            };
        }
        let [a, b, c] = order.map(|i| places[i]);
        let kernel = entry.kernels[level()];
        // SAFETY: as many elements as the function takes are at each place, and there is space for as many results.
        unsafe {
            if taken == count {
                kernel(output.start(), a, b, c, taken);
            } else {
                kernel(scratch, a, b, c, taken);
                copy(scratch, output.start(), count * output.dtype().size());
            }
        }
    });
    true
}
