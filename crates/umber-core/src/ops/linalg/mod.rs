//! Linear algebra: functions of the matrices along the last two axes.
//!
//! Integers and bool become float32; float16 and bfloat16 are computed in float32 and rounded at the end. If a matrix has no
//! result, such as the inverse of a singular matrix, evaluation fails with an error that names the matrix.

mod determinants;
mod eigenvalues;
mod factors;
mod norms;
mod products;
mod solving;
mod thresholds;

use umber_types::{DType, Result, bail, ensure};

pub use self::determinants::*;
pub use self::eigenvalues::*;
pub use self::factors::*;
pub use self::norms::*;
pub use self::products::*;
pub use self::solving::*;
pub use self::thresholds::*;
use crate::graph::Array;
use crate::primitives::rules::cast;

/// A triangle of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
}

/// The dtype in which a function of `dtype` is computed.
fn computing(dtype: DType) -> DType {
    let dtype = dtype.inexact();
    if dtype.is_half() { DType::Float32 } else { dtype }
}

/// Matrices in the dtype in which they are computed.
fn matrices(op: &str, a: &Array) -> Result<Array> {
    ensure!(
        a.ndim() >= 2,
        Value(format_args!("linalg.{op}")),
        "array must have at least 2 dimensions, got shape {}",
        a.shape()
    );
    cast(a, computing(a.dtype()))
}

/// Square matrices in the dtype in which they are computed.
fn square(op: &str, a: &Array) -> Result<Array> {
    let x = matrices(op, a)?;
    let (rows, columns) = (a.shape()[a.ndim() - 2], a.shape()[a.ndim() - 1]);
    if rows != columns {
        bail!(Value(format_args!("linalg.{op}")), "matrices must be square, got shape {}", a.shape());
    }
    Ok(x)
}

/// Round a result to 16 bits if the operand has a 16-bit dtype.
fn rounded(x: &Array, operand: DType) -> Result<Array> {
    if operand.is_half() && !x.dtype().is_complex() { cast(x, operand) } else { Ok(x.clone()) }
}

/// The machine epsilon of the dtype in which `dtype` is computed.
pub(crate) fn epsilon(dtype: DType) -> f64 {
    let is_double = computing(dtype).real() == DType::Float64;
    if is_double { f64::EPSILON } else { f64::from(f32::EPSILON) }
}
