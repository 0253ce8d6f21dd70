//! Matrix products.
//!
//! [`split`] cuts a batch of products into jobs for the threads; [`epilogue`] computes one, to whose result a
//! [`fused_epilogue`] may be applied; [`multiply`] says how one thread multiplies each element type: float and complex numbers by the kernel that [`dispatch`]
//! chooses; 16-bit floats by [`half_gemv`] and, on processors that have them, by [`amx`] units, else block by block as float32;
//! integers and bools by [`blocked`]. [`low_rank`] is for products of little depth that write more than the caches hold.

#[cfg_attr(not(target_arch = "x86_64"), path = "no_amx.rs")]
mod amx;
mod blocked;
pub mod copy;
mod dispatch;
pub mod dot;
mod epilogue;
mod fused_epilogue;
pub mod gemm;
pub mod gemv;
mod half_gemv;
pub mod indexed;
mod low_rank;
pub mod micro_kernel;
pub mod multiply;
pub mod product;
mod segmented;
pub mod skinny;
mod small;
mod split;
mod widening_gemv;

pub use fused_epilogue::matmul_program;
pub use indexed::indexed;
pub use segmented::{segmented_rows, segmented_sums};

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::{View, ViewMut};

use multiply::Multiply;
use split::{BatchedGemm, OnBlock, Stack};

/// `out[..., m, n] = a[..., m, k] @ b[..., k, n]`, all of one dtype.
///
/// The batch axes of `a` and `b` are those of `out` (broadcast by strides of zero); strides are any; `out` is dense.
/// Sums over no terms are zero. Integers wrap, bools are *or* of *and*; 16-bit floats are summed in float32 and
/// rounded once.
///
/// # Panics
/// If dtypes or shapes are not as said.
pub fn matmul(a: View, b: View, out: ViewMut) {
    match_multiply!(a, b, out; T => run::<T>(a, b, None, out, None));
}

/// `out = alpha * (a @ b) + beta * c`, like [`matmul`]; `c` has the shape of `out` and any strides.
///
/// `c` is not read if `beta` is zero, nor are `a` and `b` if `alpha` is.
///
/// # Panics
/// If dtypes or shapes are not as said.
pub fn addmm(a: View, b: View, c: View, alpha: f64, beta: f64, out: ViewMut) {
    match_multiply!(a, b, c, out; T => run::<T>(a, b, Some((c, alpha, beta)), out, None));
}

/// Answers whether `on_block` was called, for every block of the output.
fn run<T: Multiply>(
    a: View,
    b: View,
    sum: Option<(View, f64, f64)>,
    out: ViewMut,
    on_block: Option<OnBlock<'_>>,
) -> bool {
    assert!(out.layout().is_contiguous(), "the output is dense");
    let &[ref batch @ .., m, n] = out.shape() else { panic!("a matrix has two axes") };
    let k = a.shape().last().copied().unwrap_or(0);
    assert!(is_stack(&a, batch, m, k), "the left operand fits the output");
    assert!(is_stack(&b, batch, k, n), "the right operand fits the others");
    if out.size() == 0 {
        return false;
    }
    let alpha = sum.map_or(1.0, |(_, alpha, _)| alpha);
    let addend = sum.filter(|&(_, _, beta)| beta != 0.0).map(|(c, _, beta)| {
        assert!(c.shape() == out.shape(), "the addend is like the output");
        (c, T::Acc::factor(beta))
    });
    // Nothing is multiplied by zero, not even an infinity.
    let k = if alpha == 0.0 { 0 } else { k };
    let gemm: BatchedGemm<T> = BatchedGemm {
        batch,
        m,
        n,
        k,
        a: Stack::of(&a),
        b: Stack::of(&b),
        c: addend.map(|(c, beta)| (Stack::of(&c), beta)),
        alpha: T::Acc::factor(alpha),
        out: out.start_as(),
    };
    match gemm.folded(&a, addend.as_ref().map(|(c, _)| c)) {
        Some(folded) => folded.run(on_block),
        None => gemm.run(on_block),
    }
}

/// Has the view the shape of a batch of matrices?
fn is_stack(view: &View, batch: &[usize], rows: usize, columns: usize) -> bool {
    matches!(view.shape(), [axes @ .., r, c] if axes == batch && *r == rows && *c == columns)
}
