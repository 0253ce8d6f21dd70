//! Products of float16 or bfloat16 matrices with few rows, or columns. They are bound by memory, so the large matrix is read in
//! place, once, and widened in registers.

use umber_kernels_base::lanes::Source;
use umber_kernels_base::scratch;

use super::copy::pack;
use super::multiply::{MAX_GEMV_ROWS, Multiply};
use super::product::{Beta, Matrix, Product};
use super::{dot, gemv, widening_gemv};

/// Maximum elements of the small matrix that are widened at a time; they stay in L1.
const MAX_WIDENED: usize = 8192;
/// Minimum depth of dot products; for a smaller one it is cheaper to add up rows.
const MIN_DEPTH: usize = 32;

/// Compute `a @ b`; returns `false` if this kernel does not apply.
pub(super) fn product<T: Multiply<Acc = f32> + Source<f32>>(product: &Product<T, f32>) -> bool {
    let Product { m, n, a, b, out, out_row, .. } = *product;
    if m <= MAX_GEMV_ROWS && rows(product) {
        return true;
    }
    if n > MAX_GEMV_ROWS {
        return false;
    }
    // The transposed product has few rows.
    let transposed =
        Product { m: n, n: m, a: b.transposed(), b: a.transposed(), out_row: m as isize, ..*product };
    if n == 1 && out_row == 1 {
        return rows(&transposed);
    }
    scratch::with(n * m, |sums: &mut [f32]| {
        let done = rows(&Product { out: sums.as_mut_ptr(), ..transposed });
        if done {
            for i in 0..m {
                for j in 0..n {
                    // SAFETY: the indices are inside the output.
                    unsafe { *out.offset(i as isize * out_row).add(j) = sums[j * m + i] };
                }
            }
        }
        done
    })
}

/// [`product`] for few rows.
fn rows<T: Multiply<Acc = f32> + Source<f32>>(product: &Product<T, f32>) -> bool {
    let Product { m, n, k, b, out, out_row, .. } = *product;
    let uses_dot = b.rows == 1 && k >= MIN_DEPTH;
    if !uses_dot && b.columns != 1 {
        return false;
    }
    let depth = (MAX_WIDENED / m.max(1)).min(k);
    scratch::with(m * depth, |left: &mut [f32]| {
        for u in (0..k).step_by(depth) {
            let slice = product.depths(u..k.min(u + depth));
            pack(slice.a, m, slice.k, left, slice.k, T::widen);
            let a = Matrix { start: left.as_ptr(), rows: slice.k as isize, columns: 1 };
            let slice = Product { m, n, k: slice.k, a, b: slice.b, out, out_row };
            let beta = if u == 0 { Beta::Zero } else { Beta::One };
            if uses_dot {
                dot::product(&slice, beta);
            } else if m == 1 {
                gemv::product(&slice, beta);
            } else {
                if beta == Beta::Zero {
                    slice.fill_out(0.0);
                }
                let done = widening_gemv::product(&slice);
                gemv::product(&slice.columns(done..n), Beta::One);
            }
        }
    });
    true
}
