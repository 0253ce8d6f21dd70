//! Cache-blocked products of any shape and strides, for element types that the `gemm` crate does not support.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;

use super::copy::copy;
use super::gemv;
use super::product::{Beta, Matrix, Product};

/// Depth of a block.
const DEPTH: usize = 256;
/// Bytes per row of a block of the right matrix.
const STRIP: usize = 2048;
/// Rows of the result per pass.
const ROWS: usize = 8;

/// Compute `a @ b`.
pub(super) fn product<T: Ring>(product: &Product<T>, beta: Beta) {
    if beta == Beta::Zero {
        product.fill_out(T::ZERO);
    }
    let strip = STRIP / size_of::<T>();
    if product.b.columns == 1 || product.n <= 1 {
        for block in blocks(product, strip) {
            add_rows(&block);
        }
        return;
    }
    scratch::with(DEPTH.min(product.k) * strip.min(product.n), |packed| {
        for block in blocks(product, strip) {
            copy(block.b, block.k, block.n, packed, block.n);
            let b = Matrix { start: packed.as_ptr(), rows: block.n as isize, columns: 1 };
            add_rows(&Product { b, ..block });
        }
    });
}

fn blocks<T: Ring>(product: &Product<T>, strip: usize) -> impl Iterator<Item = Product<T>> {
    let Product { n, k, .. } = *product;
    (0..k).step_by(DEPTH).flat_map(move |depth| {
        (0..n).step_by(strip).map(move |column| {
            product.depths(depth..k.min(depth + DEPTH)).columns(column..n.min(column + strip))
        })
    })
}

fn add_rows<T: Ring>(block: &Product<T>) {
    for row in (0..block.m).step_by(ROWS) {
        gemv::product(&block.rows(row..block.m.min(row + ROWS)), Beta::One);
    }
}
