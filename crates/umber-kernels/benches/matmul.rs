//! FLOP/s of matrix products, and bandwidth of matrix-vector products.
//!
//! `cargo bench -p umber-kernels --bench matmul [FILTER]`

mod common;

use common::{Operand, Work, case, dense};
use num_traits::FromPrimitive;
use umber_kernels::{addmm, matmul};
use umber_types::{Element, bf16, f16};

/// A batch of products of `m` by `k` and `k` by `n` matrices.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    m: usize,
    k: usize,
    n: usize,
}

impl Sizes {
    fn one(m: usize, k: usize, n: usize) -> Sizes {
        Sizes { batch: 1, m, k, n }
    }

    fn flops(self) -> Work {
        Work::Flops(2 * self.batch * self.m * self.k * self.n)
    }
}

fn products<T: Element + FromPrimitive>(what: &str, sizes: Sizes) {
    let Sizes { batch, m, k, n } = sizes;
    let a = Operand::<T>::values(&[batch, m, k]);
    let b = Operand::<T>::values(&[batch, k, n]);
    let mut out = Operand::<T>::zeros(&[batch, m, n]);
    // A matrix-vector product uses each element of the matrix once, so it is bound by memory.
    let work =
        if m == 1 || n == 1 { Work::Bytes(a.bytes() + b.bytes() + out.bytes()) } else { sizes.flops() };
    let batch = if batch == 1 { String::new() } else { format!("{batch} of ") };
    case(&format!("{what}/{}/{batch}{m}x{k}x{n}", T::DTYPE), work, || {
        matmul(a.view(), b.view(), out.view_mut());
    });
}

/// Products with transposed operands, and with an added matrix.
fn variants(side: usize) {
    let square = [side, side];
    let [a, b, c] = [(); 3].map(|()| Operand::<f32>::values(&square));
    let mut out = Operand::<f32>::zeros(&square);
    let transposed = dense(&square).permute(&[1, 0]);
    let work = Sizes::one(side, side, side).flops();
    case(&format!("a.T @ b/float32/{side}"), work, || matmul(a.under(&transposed), b.view(), out.view_mut()));
    case(&format!("a @ b.T/float32/{side}"), work, || matmul(a.view(), b.under(&transposed), out.view_mut()));
    case(&format!("addmm/float32/{side}"), work, || {
        addmm(a.view(), b.view(), c.view(), 1.0, 0.5, out.view_mut());
    });
}

/// A few rows by a transposed matrix, as in linear layers.
fn rows_by_transposed(rows: usize, side: usize) {
    let (a, b) = (Operand::<f32>::values(&[rows, side]), Operand::<f32>::values(&[side, side]));
    let left_transposed = Operand::<f32>::values(&[side, rows]);
    let mut out = Operand::<f32>::zeros(&[rows, side]);
    let transposed = dense(&[side, side]).permute(&[1, 0]);
    let left_layout = dense(&[side, rows]).permute(&[1, 0]);
    let work = Sizes { batch: 1, m: rows, k: side, n: side }.flops();
    case(&format!("a @ b.T/float32/{rows}x{side}x{side}"), work, || {
        matmul(a.view(), b.under(&transposed), out.view_mut());
    });
    case(&format!("a.T @ b.T/float32/{rows}x{side}x{side}"), work, || {
        matmul(left_transposed.under(&left_layout), b.under(&transposed), out.view_mut());
    });
}

fn main() {
    for side in [64, 256, 1024, 2048] {
        products::<f32>("square", Sizes::one(side, side, side));
    }
    for side in [256, 1024] {
        products::<f64>("square", Sizes::one(side, side, side));
        products::<f16>("square", Sizes::one(side, side, side));
        products::<bf16>("square", Sizes::one(side, side, side));
        variants(side);
    }
    products::<i32>("square", Sizes::one(256, 256, 256));
    products::<f32>("tall", Sizes::one(1 << 10, 64, 64));
    products::<f32>("tall", Sizes::one(1 << 18, 64, 64));
    products::<f32>("few rows", Sizes::one(8, 4096, 4096));
    for rows in [4, 32] {
        rows_by_transposed(rows, 2048);
    }
    for side in [256, 4096] {
        products::<f32>("matrix @ vector", Sizes::one(side, side, 1));
        products::<f32>("vector @ matrix", Sizes::one(1, side, side));
        products::<bf16>("matrix @ vector", Sizes::one(side, side, 1));
        products::<f16>("vector @ matrix", Sizes::one(1, side, side));
    }
    for (batch, side) in [(64, 16), (8, 128), (1 << 14, 16), (256, 128)] {
        products::<f32>("batched", Sizes { batch, m: side, k: side, n: side });
    }
    products::<bf16>("batched", Sizes { batch: 64, m: 128, k: 128, n: 128 });
}
