//! Transforms of lines that are mirror images of themselves.

use umber_types::Result;

use super::{Norm, Transform, one};
use crate::graph::Array;
use crate::primitives::rules::conj;

/// The real transform of a line whose other half is the conjugate mirror image of the one given: `n` real numbers,
/// `2 (length - 1)` by default.
pub fn hfft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    one("hfft", Transform::RealInverse, &conj(a)?, n, axis, norm.turned())
}

/// The inverse of [`hfft`]: the first half of a line that is the conjugate mirror image of itself.
pub fn ihfft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    conj(&one("ihfft", Transform::RealForward, a, n, axis, norm.turned())?)
}
