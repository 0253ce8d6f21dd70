//! Numbers spaced evenly on a logarithmic scale.

use umber_types::{DType, Result, Scalar, ensure};

use super::creation::{arange, linspace};
use super::elementwise::{astype, equal, multiply, power, select};
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
    let exponents = linspace(start, stop, length, endpoint, DType::Float64)?;
    astype(&power(&weak(base.into(), &exponents), &exponents)?, dtype)
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
    let ratio = (stop / start).log10();
    let factors = logspace(0.0, ratio, length, endpoint, 10.0, DType::Float64)?;
    let mut values = multiply(&factors, &weak(start.into(), &factors))?;
    if endpoint && length > 1 {
        let places = arange(0.0, length as f64, 1.0, DType::Int64)?;
        let is_last = equal(&places, &weak(Scalar::Int(length - 1), &places))?;
        values = select(&is_last, &weak(stop.into(), &values), &values)?;
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
