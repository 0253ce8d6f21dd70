//! Products of 16-bit floats with few rows, or columns: bound by memory, so the large matrix is read in place, once, and
//! widened in registers.

use umber_kernels_base::lanes::Source;
use umber_kernels_base::scratch;

use super::copy::pack;
use super::multiply::{MAX_GEMV_ROWS, Multiply};
use super::product::{Beta, Matrix, Product};
use super::{dot, gemv, widening_gemv};

/// Elements of the small matrix that are kept widened, in L1.
const MAX_WIDENED: usize = 8192;
/// Minimum depth of sums along memory; lesser ones are cheaper across it.
const MIN_DEPTH: usize = 32;

/// Compute `a @ b`, or answer `false` where that is no product for this way.
pub(super) fn product<T: Multiply<Acc = f32> + Source<f32>>(product: &Product<T, f32>) -> bool {
    let Product { m, n, a, b, out, out_row, .. } = *product;
    if m <= MAX_GEMV_ROWS && rows(product) {
        return true;
    }
    if n > MAX_GEMV_ROWS {
        return false;
    }
    // The transposed product has few rows.
    let flipped =
        Product { m: n, n: m, a: b.transposed(), b: a.transposed(), out_row: m as isize, ..*product };
    if n == 1 && out_row == 1 {
        return rows(&flipped);
    }
    scratch::with(n * m, |sums: &mut [f32]| {
        let done = rows(&Product { out: sums.as_mut_ptr(), ..flipped });
        if done {
            for i in 0..m {
                for j in 0..n {
                    // SAFETY: inside the product's output.
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
    let is_along = b.rows == 1 && k >= MIN_DEPTH;
    if !is_along && b.columns != 1 {
        return false;
    }
    let depth = (MAX_WIDENED / m.max(1)).min(k);
    scratch::with(m * depth, |left: &mut [f32]| {
        for u in (0..k).step_by(depth) {
            let part = product.depths(u..k.min(u + depth));
            pack(part.a, m, part.k, left, part.k, T::widen);
            let a = Matrix { start: left.as_ptr(), rows: part.k as isize, columns: 1 };
            let part = Product { m, n, k: part.k, a, b: part.b, out, out_row };
            let beta = if u == 0 { Beta::Zero } else { Beta::One };
            if is_along {
                dot::product(&part, beta);
            } else if m == 1 {
                gemv::product(&part, beta);
            } else {
                if beta == Beta::Zero {
                    part.fill_out(0.0);
                }
                let done = widening_gemv::product(&part);
                gemv::product(&part.columns(done..n), Beta::One);
            }
        }
    });
    true
}
