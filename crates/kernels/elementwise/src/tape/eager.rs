//! Eager elementwise functions of a few elements: one block function, called without a program.
//!
//! Results are identical to those of a program with this single step.

use umber_kernels_base::isa::level;
use umber_kernels_base::view::{View, ViewMut};
use umber_types::{BinaryKind, UnaryKind};

use super::blocks::splat;
use super::run::with_scratch;
use super::small::{copy, load};
use crate::elementwise::{LANES, binary, select, unary};

/// A function of one, two or three inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Of one input.
    Unary(UnaryKind),
    /// Of two inputs of one dtype.
    Binary(BinaryKind),
    /// `where`: of a bool and two inputs of one dtype.
    Select,
}

/// Compute a function of inputs that have as many elements as the output, or a single one. Returns false, without writing
/// anything, for float16 and bfloat16 (which are computed in float32), for unsupported dtypes and for layouts that are not dense.
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
    let padded = count.next_multiple_of(LANES);
    let computed = if entry.exact { count } else { padded };
    let widest = inputs.iter().map(|view| view.dtype().size()).fold(output.dtype().size(), usize::max);
    let register = padded * widest;
    with_scratch((inputs.len() + 1) * register, |scratch| {
        let mut arguments = [std::ptr::null::<u8>(); 3];
        for (i, (view, argument)) in inputs.iter().zip(&mut arguments).enumerate() {
            let (is_one, size) = (view.size() == 1, view.dtype().size());
            let to = scratch.wrapping_add((i + 1) * register);
            // SAFETY: the views' elements are readable, and each register has memory for `padded` elements. Padding lanes may
            // hold any bits.
            *argument = unsafe {
                if is_one && count == 1 {
                    copy(view.start(), to, size);
                    to
                } else if is_one {
                    splat(size, view.start(), to, padded);
                    to
                } else if computed == count && view.layout().is_contiguous() {
                    view.start()
                } else {
                    if load(view, to, count) == 1 {
                        splat(size, to, to, padded);
                    }
                    to
                }
            };
        }
        let [a, b, c] = order.map(|i| arguments[i]);
        let kernel = entry.kernels[level()];
        // SAFETY: each argument has at least `computed` elements, and the output or the scratch has memory for the results.
        unsafe {
            if computed == count {
                kernel(output.start(), a, b, c, computed);
            } else {
                kernel(scratch, a, b, c, computed);
                copy(scratch, output.start(), count * output.dtype().size());
            }
        }
    });
    true
}
