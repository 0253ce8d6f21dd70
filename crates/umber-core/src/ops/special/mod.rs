//! Special functions with the names, argument orders and domains of `scipy.special`.
//!
//! Functions are real: integers and booleans are computed in float32, floating dtypes are kept, complex numbers are refused. The
//! shapes of two arguments broadcast and their dtypes are promoted. float16 and bfloat16 are computed in float32.

mod bessel;
mod entropy;
mod gamma;
mod integrals;
mod normal;

pub use self::bessel::{j0, j1, k0, k0e, k1, k1e, y0, y1};
pub use self::entropy::{entr, kl_div, log_expit, logit, rel_entr, xlog1py, xlogy};
pub use self::gamma::{
    beta, betainc, betaln, comb, factorial, gamma, gammainc, gammaincc, gammainccinv, gammaincinv, gammasgn,
    loggamma, multigammaln, polygamma, zeta,
};
pub use self::integrals::{exp1, expi, expn, spence};
pub use self::normal::{erfcinv, erfcx, log_ndtr, ndtr, ndtri};

use umber_types::{BinaryKind, DType, Result, UnaryKind, ensure, promote};

use super::elementwise;
use super::promotion::{cast_constant, meet_as};
use crate::graph::Array;

/// The doc example of a function: its arguments, and the elements of the result as float64.
macro_rules! example {
    ($name:ident, $($argument:expr),+ => $expected:expr) => {
        concat!(
            "```\n# use umber_core as umber;\nuse umber::{Array, ops::special};\nlet y = special::",
            stringify!($name),
            "(",
            $("&Array::from(", stringify!($argument), "), ",)+
            ")?;\nassert_eq!(y.to_vec::<f64>()?, ",
            stringify!($expected),
            ");\n# Ok::<(), umber::Error>(())\n```"
        )
    };
}

/// Functions of one array that are one kernel.
macro_rules! unary_functions {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// The result has the shape of `x`. Integers and booleans are converted to float32; floating dtypes are kept.
        /// Fails for complex numbers.
        ///
        #[doc = example!($name, $x => $expected)]
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, x)
        }
    )*};
}

/// Functions of two arrays that are one kernel.
macro_rules! binary_functions {
    ($($(#[$doc:meta])* $name:ident($a:ident, $b:ident) $kind:ident: $x:expr, $y:expr => $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not
        /// broadcast, and for complex numbers.
        ///
        #[doc = example!($name, $x, $y => $expected)]
        pub fn $name($a: &Array, $b: &Array) -> Result<Array> {
            binary(BinaryKind::$kind, $a, $b)
        }
    )*};
}

use {binary_functions, example, unary_functions};

fn unary(kind: UnaryKind, x: &Array) -> Result<Array> {
    elementwise::unary(kind, &cast_constant(x, x.dtype().inexact())?)
}

fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as(kind.name(), a, b, promote(a.dtype(), b.dtype()).inexact())?;
    elementwise::binary(kind, &a, &b)
}

/// The floating dtype of a function's result.
fn real_dtype(op: &str, dtype: DType) -> Result<DType> {
    ensure!(
        !dtype.is_complex(),
        Type(op),
        "dtype {dtype} is not supported, expected real floating-point numbers"
    );
    Ok(dtype.inexact())
}

/// A composed function of one array, computed in float32 for 16-bit floats.
fn composed(op: &str, x: &Array, compute: impl FnOnce(&Array) -> Result<Array>) -> Result<Array> {
    let dtype = real_dtype(op, x.dtype())?;
    cast_constant(&compute(&cast_constant(x, wide(dtype))?)?, dtype)
}

/// A composed function of two arrays, computed in float32 for 16-bit floats.
fn composed_of_two(
    op: &str,
    a: &Array,
    b: &Array,
    compute: impl FnOnce(&Array, &Array) -> Result<Array>,
) -> Result<Array> {
    let dtype = real_dtype(op, promote(a.dtype(), b.dtype()))?;
    let (a, b) = meet_as(op, a, b, wide(dtype))?;
    cast_constant(&compute(&a, &b)?, dtype)
}

/// The dtype in which `dtype` is computed.
fn wide(dtype: DType) -> DType {
    if dtype.is_half() { DType::Float32 } else { dtype }
}
