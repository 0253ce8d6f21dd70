//! The Walsh-Hadamard transform.
//!
//! A Hadamard matrix of order `m * 2^k` is a Kronecker product of one of order `m` and small ones whose orders are powers of two.
//! The factors are applied one after the other, each as a matrix product. The matrices of orders 12, 20 and 28 are those of
//! R. Paley (J. Math. Phys. 12, 1933) and J. Williamson (Duke Math. J. 11, 1944).

use smallvec::SmallVec;
use umber_types::{DType, Result, Scalar, Shape, bail, ensure};

use crate::graph::Array;
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{broadcast, cast, constant, mul, reshape, swap_last};

/// The largest power of two among the factors.
const MAX_FACTOR: usize = 64;

/// Walsh-Hadamard transform along the last axis: `scale * H x`.
///
/// `H` is a Hadamard matrix whose order is a power of two, or 12, 20 or 28 times one. The default scale `1 / sqrt(n)`
/// preserves the 2-norm. Integers become float32; float16 and bfloat16 are computed in float32 and rounded once.
///
/// ```
/// # use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
/// assert_eq!(ops::hadamard_transform(&x, Some(1.0))?.to_vec::<f32>()?, [10.0, -2.0, -4.0, 0.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If there is no such matrix of that order.
pub fn hadamard_transform(a: &Array, scale: Option<f64>) -> Result<Array> {
    let order = a.shape().last().copied().unwrap_or(1);
    ensure!(order > 0, Value("hadamard_transform"), "last axis must not be empty, got shape {}", a.shape());
    let factors = factors(order)?;
    let dtype = a.dtype().inexact();
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let mut x = cast(a, wide)?;
    let (mut before, mut after) = (a.size() / order, order);
    for factor in factors {
        after /= factor;
        let h = cast(&Array::from_slice(&matrix(factor), [factor, factor])?, wide)?;
        x = if after == 1 {
            matmul(&reshape(&x, [before, factor])?, &swap_last(&h)?)?
        } else {
            let stack = broadcast(&h, &Shape::from([before, factor, factor]))?;
            matmul(&stack, &reshape(&x, [before, factor, after])?)?
        };
        before *= factor;
    }
    let x = reshape(&x, a.shape().clone())?;
    let scale = scale.unwrap_or(1.0 / (order as f64).sqrt());
    cast(&mul(&x, &constant(&x, Scalar::Float(scale)))?, dtype)
}

/// Factors of an order, for each of which there is a Hadamard matrix.
fn factors(order: usize) -> Result<SmallVec<[usize; 8]>> {
    let mut factors: SmallVec<[usize; 8]> = SmallVec::new();
    let twos = order.trailing_zeros();
    let mut remaining = match (order >> twos, twos) {
        (1, _) => order,
        (3 | 5 | 7, 2..) => {
            let odd = order >> twos;
            factors.push(4 * odd);
            order / (4 * odd)
        }
        _ => bail!(
            Value("hadamard_transform"),
            "last axis must have length m * 2^k with m = 1, 12, 20 or 28, got {order}"
        ),
    };
    while remaining > 1 {
        factors.push(remaining.min(MAX_FACTOR));
        remaining /= remaining.min(MAX_FACTOR);
    }
    Ok(factors)
}

/// A Hadamard matrix in row-major order.
fn matrix(order: usize) -> Vec<i8> {
    let sign = |is_plus: bool| if is_plus { 1 } else { -1 };
    let entry = |i: usize, j: usize| match order {
        12 => paley(i, j),
        20 => williamson(["+----", "+----", "++--+", "+-++-"], i, j),
        28 => williamson(["+------", "++----+", "+-+--+-", "+--++--"], i, j),
        _ => sign((i & j).count_ones().is_multiple_of(2)),
    };
    (0..order * order).map(|i| entry(i / order, i % order)).collect()
}

/// Paley's second construction from the field of five elements: `C` times `[+ +; + -]` plus the identity matrix times
/// `[+ -; - -]`, with the symmetric conference matrix `C` of order six.
fn paley(i: usize, j: usize) -> i8 {
    let ((row, column), (inner_row, inner_column)) = ((i / 2, j / 2), (i % 2, j % 2));
    if row == column {
        return if (inner_row, inner_column) == (0, 0) { 1 } else { -1 };
    }
    // The squares modulo five are one and four.
    let is_plus = row == 0 || column == 0 || matches!((column + 5 - row) % 5, 1 | 4);
    if is_plus == ((inner_row, inner_column) != (1, 1)) { 1 } else { -1 }
}

/// Williamson's array of four symmetric circulant matrices, given by their first rows.
fn williamson(first_rows: [&str; 4], i: usize, j: usize) -> i8 {
    let n = first_rows[0].len();
    // The number and the sign of the circulant matrix in each block.
    const BLOCKS: [[(usize, i8); 4]; 4] = [
        [(0, 1), (1, 1), (2, 1), (3, 1)],
        [(1, -1), (0, 1), (3, -1), (2, 1)],
        [(2, -1), (3, 1), (0, 1), (1, -1)],
        [(3, -1), (2, -1), (1, 1), (0, 1)],
    ];
    let (block, sign) = BLOCKS[i / n][j / n];
    let offset = (j % n + n - i % n) % n;
    if first_rows[block].as_bytes()[offset] == b'+' { sign } else { -sign }
}
