//! Numbers spaced evenly on a logarithmic scale.

use umber_types::{DType, Result, Scalar, ensure};

use super::creation::{arange, linspace, linspace_between, one_of};
use super::elementwise::{astype, divide, equal, log10, multiply, power, select};
use super::promotion::weak;
use crate::graph::Array;

/// `base` to the power of `length` evenly spaced values from `start` to `stop`, computed in double precision.
///
/// ```
/// use umber_core::{DType, ops};
/// let decades = ops::logspace(0.0, 3.0, 4, true, 10.0, DType::Float32)?;
/// assert_eq!(decades.to_vec::<f32>()?, [1.0, 10.0, 100.0, 1000.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn logspace(
    start: f64,
    stop: f64,
    length: i64,
    endpoint: bool,
    base: f64,
    dtype: DType,
) -> Result<Array> {
    ensure!(length >= 0, Value, "[logspace] got {length} as number of samples, expected 0 or more");
    raised(base, &linspace(start, stop, length, endpoint, DType::Float64)?, dtype)
}

fn raised(base: f64, exponents: &Array, dtype: DType) -> Result<Array> {
    astype(&power(&weak(base.into(), exponents), exponents)?, dtype)
}

/// [`logspace`] between the one elements of two arrays, which it can be differentiated in.
///
/// ```
/// use umber_core::{Array, DType, ops};
/// let (start, stop) = (Array::from(0.0f32), Array::from(2.0f32));
/// let decades = ops::logspace_between(&start, &stop, 3, true, 10.0, DType::Float32)?;
/// assert_eq!(decades.to_vec::<f32>()?, [1.0, 10.0, 100.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// A negative length, arrays of other than one element.
pub fn logspace_between(
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
    base: f64,
    dtype: DType,
) -> Result<Array> {
    ensure!(length >= 0, Value, "[logspace] got {length} as number of samples, expected 0 or more");
    raised(base, &linspace_between(start, stop, length, endpoint, DType::Float64)?, dtype)
}

/// `length` values from `start` to `stop`, each the same multiple of the one before; both ends are exact.
///
/// ```
/// use umber_core::{DType, ops};
/// let doubled = ops::geomspace(1.0, 8.0, 4, true, DType::Int32)?;
/// assert_eq!(doubled.to_vec::<i32>()?, [1, 2, 4, 8]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// Where an end is zero or not finite, or the ends differ in sign: no factor leads from one to the other.
pub fn geomspace(start: f64, stop: f64, length: i64, endpoint: bool, dtype: DType) -> Result<Array> {
    ensure!(length >= 0, Value, "[geomspace] got {length} as number of samples, expected 0 or more");
    ensure!(
        start.is_finite() && stop.is_finite() && start * stop.signum() > 0.0,
        Value,
        "[geomspace] got {start} and {stop}, expected finite numbers of one sign, none of them zero"
    );
    if !(stop / start).is_normal() {
        // Twice the root of a factor that no number says.
        let half = (stop.abs().log10() - start.abs().log10()) / 2.0;
        let roots = logspace(0.0, half, length, endpoint, 10.0, DType::Float64)?;
        let ends = (&multiply(&roots, &weak(start.into(), &roots))?, &weak(stop.into(), &roots));
        return scaled(&roots, ends, length, endpoint, dtype);
    }
    let factors = logspace(0.0, (stop / start).log10(), length, endpoint, 10.0, DType::Float64)?;
    let ends = (&weak(start.into(), &factors), &weak(stop.into(), &factors));
    scaled(&factors, ends, length, endpoint, dtype)
}

/// [`geomspace`] between the one elements of two arrays, which it can be differentiated in. Their values are not looked at:
/// where no factor leads from one to the other, the elements are NaN.
///
/// ```
/// use umber_core::{Array, DType, ops};
/// let (start, stop) = (Array::from(1.0f32), Array::from(4.0f32));
/// let doubled = ops::geomspace_between(&start, &stop, 3, true, DType::Int32)?;
/// assert_eq!(doubled.to_vec::<i32>()?, [1, 2, 4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// A negative length, arrays of other than one element.
pub fn geomspace_between(
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
    dtype: DType,
) -> Result<Array> {
    let wide = DType::Float64;
    ensure!(length >= 0, Value, "[geomspace] got {length} as number of samples, expected 0 or more");
    let (start, stop) = (one_of("geomspace", start, wide)?, one_of("geomspace", stop, wide)?);
    let ratio = log10(&divide(&stop, &start)?)?;
    let factors = logspace_between(&Array::scalar(0.0, wide), &ratio, length, endpoint, 10.0, wide)?;
    scaled(&factors, (&start, &stop), length, endpoint, dtype)
}

/// `factors` times the start, with the exact stop at the end.
fn scaled(
    factors: &Array,
    (start, stop): (&Array, &Array),
    length: i64,
    endpoint: bool,
    dtype: DType,
) -> Result<Array> {
    let mut values = multiply(factors, start)?;
    if endpoint && length > 1 {
        let places = arange(0.0, length as f64, 1.0, DType::Int64)?;
        let is_last = equal(&places, &weak(Scalar::Int(length - 1), &places))?;
        values = select(&is_last, stop, &values)?;
    }
    if dtype.is_integer() {
        // A factor that is off by one rounding must not take an integer below itself.
        let nearest = super::round(&values, 0)?;
        let distance = super::abs(&super::subtract(&values, &nearest)?)?;
        let bound = multiply(&super::abs(&nearest)?, &weak(1e-12.into(), &nearest))?;
        values = select(&super::less_equal(&distance, &bound)?, &nearest, &values)?;
    }
    astype(&values, dtype)
}
