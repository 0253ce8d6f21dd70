//! Division and roots of polynomials, and polynomials from their roots.

use umber_types::{DType, Result, Shape, bail, ensure, promote};

use super::data_dependent;
use super::elementwise::{divide, multiply, negative, real, subtract};
use super::error_context::with_op;
use super::linalg::eigvals;
use super::polynomials::{MAX_COEFFICIENTS, coefficients, shifted};
use super::promotion::cast_constant;
use super::shaping::{concatenate, diag, stack};
use crate::graph::Array;
use crate::primitives::rules::{cast, reshape};
use crate::primitives::slice::{Window, slice_along};
use crate::primitives::slice_update::slice_update;

/// Leading coefficients of the remainder up to this magnitude are removed.
const NEARLY_ZERO: f64 = 1e-8;

/// An element of a vector, as a 0-d array.
fn element(x: &Array, index: usize) -> Result<Array> {
    reshape(&slice_along(x, 0, index, 1)?, Shape::scalar())
}

/// The double-precision dtype of the same kind.
fn double(dtype: DType) -> DType {
    if dtype.is_complex() { DType::Complex128 } else { DType::Float64 }
}

/// Quotient and remainder of two polynomials: `u = quotient * v + remainder`.
///
/// The remainder has no leading coefficients that are nearly zero. Both are inexact.
///
/// # Errors
/// If there are no coefficients, or more than 4096; inside `vmap` and `compile`, as values decide how long the
/// remainder is.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (quotient, rest) = ops::polydiv(&Array::from([3.0f32, 5.0, 2.0]), &Array::from([2.0f32, 1.0]))?;
/// assert_eq!(quotient.to_vec::<f32>()?, [1.5, 1.75]);
/// assert_eq!(rest.to_vec::<f32>()?, [0.25]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn polydiv(u: &Array, v: &Array) -> Result<(Array, Array)> {
    let (u, v) = (coefficients("polydiv", u)?, coefficients("polydiv", v)?);
    ensure!(u.size() > 0 && v.size() > 0, Value("polydiv"), "polynomials must have at least one coefficient");
    let dtype = promote(u.dtype(), v.dtype()).inexact();
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let (mut dividend, v) = (cast_constant(&u, wide)?, cast_constant(&v, wide)?);
    let lead = element(&v, 0)?;
    let mut quotient = Vec::new();
    for i in 0..(u.size() + 1).saturating_sub(v.size()) {
        let factor = divide(&element(&dividend, i)?, &lead)?;
        let window = Window::along(dividend.shape(), 0, i, v.size());
        let difference = subtract(&slice_along(&dividend, 0, i, v.size())?, &multiply(&factor, &v)?)?;
        dividend = slice_update(umber_types::ScatterKind::Set, &dividend, window, &difference)?;
        quotient.push(factor);
    }
    // Drop the eliminated coefficients, which are zero up to rounding errors.
    let remainder = if v.size() == 1 {
        Array::full([1], 0.0, wide)
    } else {
        slice_along(&dividend, 0, quotient.len(), u.size() - quotient.len())?
    };
    let magnitudes = cast(&super::abs(&remainder)?, DType::Float64)?;
    let limit = Array::scalar(NEARLY_ZERO, DType::Float64);
    let is_significant = cast(&super::greater(&magnitudes, &limit)?, DType::UInt8)?;
    let flags = data_dependent::integers_of("polydiv", &is_significant)?;
    let first = flags.iter().position(|&flag| flag != 0).unwrap_or(flags.len()).min(flags.len() - 1);
    let remainder = slice_along(&remainder, 0, first, flags.len() - first)?;
    let quotient = match &quotient[..] {
        [] => Array::full([1], 0.0, wide),
        factors => stack(&factors.iter().collect::<Vec<_>>(), 0)?,
    };
    Ok((cast(&quotient, dtype)?, cast(&remainder, dtype)?))
}

/// Roots of a polynomial.
///
/// The eigenvalues of its companion matrix, computed in double precision: complex128 for float64 and complex128,
/// else complex64. Leading zeros are removed; trailing zeros are roots at zero.
///
/// # Errors
/// If there are more than 4096 coefficients; inside `vmap` and `compile`, as values decide how many roots there are.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let roots = ops::real(&ops::roots(&Array::from([1.0, -3.0, 2.0]))?)?;
/// let roots = ops::sort(&roots, None, ops::SortOrder::Ascending)?.to_vec::<f64>()?;
/// assert!((roots[0] - 1.0).abs() < 1e-12 && (roots[1] - 2.0).abs() < 1e-12);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn roots(p: &Array) -> Result<Array> {
    let p = coefficients("roots", p)?;
    let is_nonzero = super::not_equal(&p, &Array::scalar(0, p.dtype()))?;
    let is_nonzero = data_dependent::integers_of("roots", &cast(&is_nonzero, DType::UInt8)?)?;
    let out_dtype = p.dtype().inexact().complex();
    let first = is_nonzero.iter().position(|&flag| flag != 0);
    let (Some(first), Some(last)) = (first, is_nonzero.iter().rposition(|&flag| flag != 0)) else {
        return Ok(Array::full([0], 0.0, out_dtype));
    };
    let zeros = Array::full([p.size() - 1 - last], 0.0, out_dtype);
    let degree = last - first;
    if degree == 0 {
        return Ok(zeros);
    }
    let p = cast_constant(&slice_along(&p, 0, first, degree + 1)?, double(p.dtype()))?;
    let first_row = negative(&divide(&slice_along(&p, 0, 1, degree)?, &element(&p, 0)?)?)?;
    let subdiagonal = diag(&Array::full([degree - 1], 1.0, p.dtype()), -1)?;
    let companion = concatenate(
        &[&reshape(&first_row, [1, degree])?, &slice_along(&subdiagonal, 0, 1, degree - 1)?],
        Some(0),
    )?;
    concatenate(&[&cast(&with_op("roots", eigvals(&companion))?, out_dtype)?, &zeros], Some(0))
}

/// Coefficients of the polynomial with given roots, or the characteristic polynomial of a matrix.
///
/// The first coefficient is one. The result is inexact, real for real roots and matrices.
///
/// # Errors
/// If `zeros` is neither a vector nor a square matrix, or has more than 4096 rows.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// assert_eq!(ops::poly(&Array::from([1.0f32, 2.0]))?.to_vec::<f32>()?, [1.0, -3.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn poly(zeros: &Array) -> Result<Array> {
    let dtype = zeros.dtype().inexact();
    let wide = double(zeros.dtype());
    let roots = match zeros.shape()[..] {
        [] => reshape(&cast_constant(zeros, wide)?, [1])?,
        [count] if count < MAX_COEFFICIENTS => cast_constant(zeros, wide)?,
        [rows, columns] if rows == columns && rows < MAX_COEFFICIENTS => {
            with_op("poly", eigvals(&cast_constant(zeros, wide)?))?
        }
        _ => bail!(
            Value("poly"),
            "needs fewer than {MAX_COEFFICIENTS} roots or a square matrix, got shape {}",
            zeros.shape()
        ),
    };
    let mut p = Array::full([1], 1.0, roots.dtype());
    for i in 0..roots.size() {
        let scaled = multiply(&shifted(&p, 1, 0)?, &element(&roots, i)?)?;
        p = subtract(&shifted(&p, 0, 1)?, &scaled)?;
    }
    // Eigenvalues of a real matrix form conjugate pairs, so that imaginary parts cancel.
    let p = if dtype.is_complex() { p } else { real(&p)? };
    cast(&p, dtype)
}
