//! Polynomials as vectors of coefficients, the highest power first.

use umber_types::{DType, Result, ScanDirection, ScanExtent, Shape, ensure, promote};

use super::contraction::matmul;
use super::creation::arange;
use super::elementwise::{add, astype, divide, multiply, subtract};
use super::promotion::cast_constant;
use super::scans::{ScanOrder, cumprod};
use super::shaping::concatenate;
use crate::graph::Array;
use crate::primitives::rules::{broadcast, cast, reshape};
use crate::primitives::slice::slice_along;

/// The largest number of coefficients; algorithms here loop over coefficients.
pub(super) const MAX_COEFFICIENTS: usize = 1 << 12;

/// Coefficients as a vector; a scalar is a constant polynomial.
pub(super) fn coefficients(op: &str, p: &Array) -> Result<Array> {
    ensure!(
        p.ndim() <= 1 && p.size() <= MAX_COEFFICIENTS,
        Value(op),
        "coefficients must be one-dimensional, at most {MAX_COEFFICIENTS}, got shape {}",
        p.shape()
    );
    reshape(p, [p.size()])
}

/// `p` padded with zeros on both sides.
pub(super) fn shifted(p: &Array, before: usize, after: usize) -> Result<Array> {
    let zeros = |count: usize| Array::full([count], 0, p.dtype());
    concatenate(&[&zeros(before), p, &zeros(after)], Some(0))
}

/// Evaluate a polynomial at given points.
///
/// `p[0] x^(n - 1) + … + p[n - 1]`, by Horner's rule; zero without coefficients.
///
/// ```
/// use umber_core::{Array, ops};
/// let p = Array::from_slice(&[1.0f32, 0.0, -2.0], [3])?;
/// let x = Array::from_slice(&[3.0f32], [1])?;
/// assert_eq!(ops::polyval(&p, &x)?.to_vec::<f32>()?, [7.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the coefficients have more than one axis, or are more than 4096.
pub fn polyval(p: &Array, x: &Array) -> Result<Array> {
    let p = coefficients("polyval", p)?;
    let dtype = promote(p.dtype(), x.dtype());
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let (p, x) = (cast_constant(&p, wide)?, cast_constant(x, wide)?);
    let mut value = Array::full(x.shape().clone(), 0, wide);
    for i in 0..p.size() {
        let coefficient = reshape(&slice_along(&p, 0, i, 1)?, Shape::scalar())?;
        value = if i == 0 {
            broadcast(&coefficient, x.shape())?
        } else {
            add(&multiply(&value, &x)?, &coefficient)?
        };
    }
    cast(&value, dtype)
}

/// Both vectors padded with leading zeros to the same length.
fn aligned(op: &str, a: &Array, b: &Array) -> Result<(Array, Array)> {
    let (a, b) = (coefficients(op, a)?, coefficients(op, b)?);
    let length = a.size().max(b.size());
    Ok((shifted(&a, length - a.size(), 0)?, shifted(&b, length - b.size(), 0)?))
}

/// Sum of two polynomials.
///
/// ```
/// use umber_core::{Array, ops};
/// let (a, b) = (Array::from_slice(&[1i32, 2], [2])?, Array::from_slice(&[5i32], [1])?);
/// assert_eq!(ops::polyadd(&a, &b)?.to_vec::<i32>()?, [1, 7]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`polyval`].
pub fn polyadd(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = aligned("polyadd", a, b)?;
    add(&a, &b)
}

/// Difference of two polynomials.
///
/// ```
/// use umber_core::{Array, ops};
/// let (a, b) = (Array::from_slice(&[1i32, 2], [2])?, Array::from_slice(&[5i32], [1])?);
/// assert_eq!(ops::polysub(&a, &b)?.to_vec::<i32>()?, [1, -3]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`polyval`].
pub fn polysub(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = aligned("polysub", a, b)?;
    subtract(&a, &b)
}

/// Product of two polynomials: the convolution of their coefficients.
///
/// ```
/// use umber_core::{Array, ops};
/// let (a, b) = (Array::from_slice(&[1i32, 1], [2])?, Array::from_slice(&[1i32, -1], [2])?);
/// assert_eq!(ops::polymul(&a, &b)?.to_vec::<i32>()?, [1, 0, -1]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`polyval`]; also if there are no coefficients.
pub fn polymul(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = (coefficients("polymul", a)?, coefficients("polymul", b)?);
    ensure!(a.size() > 0 && b.size() > 0, Value("polymul"), "polynomials must have at least one coefficient");
    let dtype = promote(a.dtype(), b.dtype());
    let (a, b) = (cast_constant(&a, dtype)?, cast_constant(&b, dtype)?);
    let (short, long) = if a.size() <= b.size() { (a, b) } else { (b, a) };
    let degree = short.size() - 1;
    // Build the Toeplitz matrix of shifts of the longer vector: repeat it padded to `width + 1` and read the flat buffer in
    // rows of `width`, so that each row is shifted by one.
    let width = long.size() + degree;
    let repeated = broadcast(
        &reshape(&shifted(&long, 0, degree + 1)?, [1, width + 1])?,
        &[degree + 1, width + 1].into(),
    )?;
    let flat = reshape(&repeated, [(degree + 1) * (width + 1)])?;
    let toeplitz = reshape(&slice_along(&flat, 0, 0, (degree + 1) * width)?, [degree + 1, width])?;
    matmul(&reshape(&short, [1, degree + 1])?, &toeplitz).and_then(|product| reshape(&product, [width]))
}

/// Derivative of a polynomial.
///
/// It is taken `order` times.
///
/// ```
/// use umber_core::{Array, ops};
/// let p = Array::from_slice(&[1i32, 1, 1], [3])?;
/// assert_eq!(ops::polyder(&p, 1)?.to_vec::<i32>()?, [2, 1]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the order is negative.
pub fn polyder(p: &Array, order: i64) -> Result<Array> {
    ensure!(order >= 0, Value("polyder"), "order must not be negative, got {order}");
    let mut p = coefficients("polyder", p)?;
    for _ in 0..order.min(p.size() as i64) {
        let count = p.size() - 1;
        let powers = arange(count as f64, 0.0, -1.0, DType::Int32)?;
        p = multiply(&slice_along(&p, 0, 0, count)?, &cast(&powers, p.dtype())?)?;
    }
    Ok(p)
}

/// Integral of a polynomial.
///
/// It is taken `order` times; the result is inexact. `constants` are the constants of integration, the one of the
/// first integral first, or one for all; zero by default.
///
/// ```
/// use umber_core::{Array, ops};
/// let p = Array::from_slice(&[2.0f32, 1.0], [2])?;
/// assert_eq!(ops::polyint(&p, 1, None)?.to_vec::<f32>()?, [1.0, 1.0, 0.0]);
/// let five = Array::from_slice(&[5.0f32], [1])?;
/// assert_eq!(ops::polyint(&p, 1, Some(&five))?.to_vec::<f32>()?, [1.0, 1.0, 5.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the order is negative or above 4096, or there are fewer constants.
pub fn polyint(p: &Array, order: i64, constants: Option<&Array>) -> Result<Array> {
    ensure!(
        (0..=MAX_COEFFICIENTS as i64).contains(&order),
        Value("polyint"),
        "order must be between 0 and {MAX_COEFFICIENTS}, got {order}"
    );
    let p = coefficients("polyint", p)?;
    let dtype = constants.map_or(p.dtype(), |k| promote(p.dtype(), k.dtype())).inexact();
    let mut p = cast_constant(&p, dtype)?;
    let constants = match constants {
        None => Array::full([order as usize], 0, dtype),
        Some(k) => {
            let fits = k.ndim() <= 1 && (k.size() == 1 || k.size() >= order as usize);
            ensure!(
                fits,
                Value("polyint"),
                "k must be a number or a one-dimensional array of length {order} or more, got shape {}",
                k.shape()
            );
            let k = reshape(&cast_constant(k, dtype)?, [k.size()])?;
            if k.size() == 1 { broadcast(&k, &[order as usize].into())? } else { k }
        }
    };
    for i in 0..order as usize {
        let powers = arange(p.size() as f64, 0.0, -1.0, DType::Int32)?;
        let integrated = divide(&p, &cast(&powers, dtype)?)?;
        p = concatenate(&[&integrated, &slice_along(&constants, 0, i, 1)?], Some(0))?;
    }
    Ok(p)
}

/// Order of the powers in a Vandermonde matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Powers {
    /// From the highest to the zeroth.
    Falling,
    /// From the zeroth to the highest.
    Rising,
}

/// Vandermonde matrix: powers of the elements of a vector.
///
/// Row `i` has the powers of `x[i]`, as many as there are columns.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[2i32, 3], [2])?;
/// assert_eq!(ops::vander(&x, Some(3), ops::Powers::Falling)?.to_vec::<i32>()?, [4, 2, 1, 9, 3, 1]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If `x` is not a vector, or the number of columns is negative.
pub fn vander(x: &Array, columns: Option<i64>, powers: Powers) -> Result<Array> {
    ensure!(x.ndim() == 1, Value("vander"), "array must be one-dimensional, got shape {}", x.shape());
    let shape = Shape::checked("vander", &[x.size() as i64, columns.unwrap_or(x.size() as i64)])?;
    let x = if x.dtype() == DType::Bool { astype(x, DType::Int32)? } else { x.clone() };
    let repeated = broadcast(&reshape(&x, [x.size(), 1])?, &shape)?;
    let direction = match powers {
        Powers::Rising => ScanDirection::Forward,
        Powers::Falling => ScanDirection::Reverse,
    };
    // In an exclusive cumulative product, entry `k` is the product of `k` factors.
    cumprod(&repeated, ScanOrder { axis: Some(1), direction, extent: ScanExtent::Exclusive }, None)
}
