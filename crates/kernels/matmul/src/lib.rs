//! Matrix products.
//!
//! `split` splits a batch of products into tasks for the threads; `epilogue` computes one, and a `fused_epilogue` may
//! follow. [`multiply`] defines how one thread multiplies each element type: float and complex numbers with the kernel that
//! `dispatch` selects; float16 and bfloat16 with `half_gemv`, on `amx` units where available, else block by block in
//! float32; integers and bools with `blocked`. `low_rank` is for products of small depth whose results exceed the caches.

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
/// The batch axes of `a` and `b` are those of `out` (broadcast by strides of zero); strides are arbitrary; `out` is dense.
/// Sums over no terms are zero. Integers wrap; for bools the sum is *or* and the product *and*; float16 and bfloat16 are
/// summed in float32 and rounded once.
///
/// # Panics
/// If dtypes or shapes do not match.
pub fn matmul(a: View, b: View, out: ViewMut) {
    match_multiply!(a, b, out; T => run::<T>(a, b, None, out, None));
}

/// `out = alpha * (a @ b) + beta * c`, like [`matmul`]; `c` has the shape of `out` and arbitrary strides.
///
/// `c` is not read if `beta` is zero, nor are `a` and `b` if `alpha` is.
///
/// # Panics
/// If dtypes or shapes do not match.
pub fn addmm(a: View, b: View, c: View, alpha: f64, beta: f64, out: ViewMut) {
    match_multiply!(a, b, c, out; T => run::<T>(a, b, Some((c, alpha, beta)), out, None));
}

/// Returns whether `on_block` was called, for all blocks of the output.
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
    assert!(is_stack(&a, batch, m, k), "the shape of the left operand matches the output");
    assert!(is_stack(&b, batch, k, n), "the shape of the right operand matches the others");
    if out.size() == 0 {
        return false;
    }
    let alpha = sum.map_or(1.0, |(_, alpha, _)| alpha);
    let addend = sum.filter(|&(_, _, beta)| beta != 0.0).map(|(c, _, beta)| {
        assert!(c.shape() == out.shape(), "the addend has the shape of the output");
        (c, T::Acc::factor(beta))
    });
    // With alpha zero nothing is multiplied, so that infinities and NaN do not count.
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

/// True if the view has the shape of a batch of matrices.
fn is_stack(view: &View, batch: &[usize], rows: usize, columns: usize) -> bool {
    matches!(view.shape(), [axes @ .., r, c] if axes == batch && *r == rows && *c == columns)
}
