//! Transforms of Hermitian input.

use umber_types::Result;

use super::{Norm, Transform, one};
use crate::graph::Array;
use crate::primitives::rules::conj;

/// Discrete Fourier transform of Hermitian input, given by its first half: a real array of length `n`, by default
/// `2 (length - 1)`.
///
/// Fails if the axis is out of bounds or `n` is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{Norm, hfft};
/// let half = Array::from([1.0, 2.0, 3.0]); // of the line 1, 2, 3, 2
/// let y = hfft(&half, None, -1, Norm::Backward)?;
/// let expected = Array::from([8.0, -2.0, 0.0, -2.0]);
/// assert!(ops::allclose(&y, &expected, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn hfft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    one("hfft", Transform::RealInverse, &conj(a)?, n, axis, norm.inverse())
}

/// Inverse of [`hfft`]: the first `n / 2 + 1` elements of the inverse transform of real input.
///
/// Fails if the axis is out of bounds or `n` is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{Norm, hfft, ihfft};
/// let half = Array::from([1.0, 2.0, 3.0]);
/// let again = ihfft(&hfft(&half, None, -1, Norm::Backward)?, None, -1, Norm::Backward)?;
/// assert!(ops::allclose(&again, &half, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ihfft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    conj(&one("ihfft", Transform::RealForward, a, n, axis, norm.inverse())?)
}
