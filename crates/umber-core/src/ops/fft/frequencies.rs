//! Frequencies of the results of transforms, and shifts of frequency zero to the middle.

use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, ensure};

use crate::graph::Array;
use crate::graph::tracing::note_length_read;
use crate::ops::creation::arange;
use crate::ops::elementwise::{greater_equal, select};
use crate::ops::shaping::roll;
use crate::primitives::rules::{cast, constant, div, sub};

/// `0, 1, …, count - 1` times the lowest frequency of `n` samples at spacing `d`; `n` is subtracted from `first_negative` on.
fn frequencies(op: &str, n: i64, d: f64, count: i64, first_negative: i64, dtype: DType) -> Result<Array> {
    ensure!(n > 0, Value(op), "n must be positive, got {n}");
    ensure!(
        dtype.is_floating(),
        Type(op),
        "dtype {dtype} is not supported, expected real floating-point numbers"
    );
    ensure!(d != 0.0, Value(op), "d must be non-zero");
    // float64 represents integers up to 2^53 exactly.
    ensure!(n <= 1 << 53, Overflow(op), "n = {n} is too large to address");
    let bins = arange(0.0, count as f64, 1.0, DType::Float64)?;
    let is_negative = greater_equal(&bins, &constant(&bins, first_negative as f64))?;
    let bins = select(&is_negative, &sub(&bins, &constant(&bins, n as f64))?, &bins)?;
    cast(&div(&bins, &constant(&bins, n as f64 * d))?, dtype)
}

/// Frequencies of the results of [`super::fft`] in order: `0, 1, …, -2, -1` divided by `n d`.
///
/// `[n]`. Fails if `n` is not positive, `d` is zero or the dtype is not real floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops::fft};
/// assert_eq!(fft::fftfreq(4, 0.5, DType::Float32)?.to_vec::<f32>()?, [0.0, 0.5, -1.0, -0.5]);
/// assert!(fft::fftfreq(0, 1.0, DType::Float32).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fftfreq(n: i64, d: f64, dtype: DType) -> Result<Array> {
    frequencies("fftfreq", n, d, n, n / 2 + n % 2, dtype)
}

/// Frequencies of the results of [`super::rfft`] in order: `0, 1, …, n / 2` divided by `n d`.
///
/// `[n / 2 + 1]`. Fails if `n` is not positive, `d` is zero or the dtype is not real floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops::fft};
/// assert_eq!(fft::rfftfreq(4, 0.5, DType::Float32)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn rfftfreq(n: i64, d: f64, dtype: DType) -> Result<Array> {
    frequencies("rfftfreq", n, d, n / 2 + 1, n, dtype)
}

fn shifted(op: &str, a: &Array, axes: Option<&[i64]>, shift_of: impl Fn(usize) -> i64) -> Result<Array> {
    let all: Vec<i64> = (0..a.ndim() as i64).collect();
    let axes = axes.unwrap_or(&all);
    let shifts: Vec<i64> = axes
        .iter()
        .map(|&axis| {
            let axis = normalize_axis(op, axis, a.ndim())?;
            note_length_read(a, axis);
            Ok(shift_of(a.shape()[axis]))
        })
        .collect::<Result<_>>()?;
    roll(a, &shifts, Some(axes))
}

/// Move frequency zero from the front to the middle of each axis.
///
/// All axes by default; shape and dtype are kept. Fails if an axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::fft};
/// let a = Array::from([0, 1, 2, -2, -1]);
/// assert_eq!(fft::fftshift(&a, None)?.to_vec::<i32>()?, [-2, -1, 0, 1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fftshift(a: &Array, axes: Option<&[i64]>) -> Result<Array> {
    shifted("fftshift", a, axes, |length| (length / 2) as i64)
}

/// Move frequency zero from the middle to the front of each axis: the inverse of [`fftshift`].
///
/// All axes by default; shape and dtype are kept. Fails if an axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::fft};
/// let a = Array::from([-2, -1, 0, 1, 2]);
/// assert_eq!(fft::ifftshift(&a, None)?.to_vec::<i32>()?, [0, 1, 2, -2, -1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ifftshift(a: &Array, axes: Option<&[i64]>) -> Result<Array> {
    shifted("ifftshift", a, axes, |length| -((length / 2) as i64))
}
