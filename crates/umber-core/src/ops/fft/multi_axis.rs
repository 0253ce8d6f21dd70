//! Transforms along several axes, one axis after the other. An axis that is given twice is transformed twice.

use umber_types::shape::normalize_axis;
use umber_types::{Result, ensure};

use super::{Norm, Transform, along};
use crate::graph::Array;
use crate::primitives::fft::natural_length;

/// The axes of a transform, and its lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AxesOf<'a> {
    /// The length along each axis; -1 for the length of the array.
    pub lengths: Option<&'a [i64]>,
    /// The axes: by default all, or the last ones if there are lengths.
    pub axes: Option<&'a [i64]>,
}

impl AxesOf<'_> {
    /// The axes of `a`, and the requested lengths; -1 for the default length.
    fn resolve(self, op: &str, a: &Array) -> Result<Vec<(usize, i64)>> {
        let ndim = a.ndim();
        ensure!(ndim > 0, Value(op), "array must have at least one axis");
        let axes: Vec<usize> = match (self.axes, self.lengths) {
            (Some(axes), _) => {
                axes.iter().map(|&axis| normalize_axis(op, axis, ndim)).collect::<Result<_>>()?
            }
            (None, Some(lengths)) => {
                let count = lengths.len();
                ensure!(
                    count <= ndim,
                    Value(op),
                    "got {count} lengths, expected at most {ndim}, one per axis"
                );
                (ndim - count..ndim).collect()
            }
            (None, None) => (0..ndim).collect(),
        };
        let Some(lengths) = self.lengths else {
            return Ok(axes.into_iter().map(|axis| (axis, -1)).collect());
        };
        ensure!(
            lengths.len() == axes.len(),
            Value(op),
            "got {} lengths for {} axes, expected one per axis",
            lengths.len(),
            axes.len()
        );
        Ok(axes.into_iter().zip(lengths.iter().copied()).collect())
    }
}

/// Replace lengths of -1 by those that the array has before any transform.
fn resolve_lengths(a: &Array, last: Transform, mut axes: Vec<(usize, i64)>) -> Vec<(usize, i64)> {
    let count = axes.len();
    for (i, (axis, length)) in axes.iter_mut().enumerate() {
        let transform = if i + 1 == count { last } else { Transform::Forward };
        if *length == -1 {
            *length = natural_length(transform, a.shape()[*axis]);
        }
    }
    axes
}

/// Complex transforms along the axes, the last axis first.
fn complex(op: &str, transform: Transform, a: &Array, axes: &[(usize, i64)], norm: Norm) -> Result<Array> {
    axes.iter().rev().try_fold(a.clone(), |x, &(axis, n)| along(op, transform, &x, n, axis, norm))
}

/// Discrete Fourier transform along several axes.
///
/// Without any axes the array is returned unchanged.
///
/// ```
/// use umber_core::ops::fft::{AxesOf, Norm, fftn};
/// use umber_core::{Array, ops};
///
/// let x = ops::ones([2, 3], umber_types::DType::Float32);
/// let y = fftn(&x, AxesOf::default(), Norm::Backward)?.to_vec::<umber_types::Complex32>()?;
/// assert_eq!(y[0].re, 6.0);
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn fftn(a: &Array, axes: AxesOf<'_>, norm: Norm) -> Result<Array> {
    named_fftn("fftn", Transform::Forward, a, axes, norm)
}

/// Inverse discrete Fourier transform along several axes.
///
/// Fails if an axis is out of bounds, a length is not positive, or lengths and axes differ in number.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{AxesOf, Norm, fftn, ifftn};
/// let x = Array::from([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]]);
/// let again = ifftn(&fftn(&x, AxesOf::default(), Norm::Ortho)?, AxesOf::default(), Norm::Ortho)?;
/// assert!(ops::allclose(&again, &x, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ifftn(a: &Array, axes: AxesOf<'_>, norm: Norm) -> Result<Array> {
    named_fftn("ifftn", Transform::Inverse, a, axes, norm)
}

fn named_fftn(op: &str, transform: Transform, a: &Array, axes: AxesOf<'_>, norm: Norm) -> Result<Array> {
    let axes = resolve_lengths(a, transform, axes.resolve(op, a)?);
    complex(op, transform, a, &axes, norm)
}

/// Fourier transform of real input along several axes: [`super::rfft`] along the last, [`super::fft`] along
/// the others.
///
/// The last of the axes becomes `n / 2 + 1` long. Fails if an axis is out of bounds, a length is not positive, or
/// lengths and axes differ in number.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// use umber::ops::fft::{AxesOf, Norm, rfftn};
/// let x = ops::ones([2, 3, 5], DType::Float32);
/// let y = rfftn(&x, AxesOf { axes: Some(&[0, 1]), ..AxesOf::default() }, Norm::Backward)?;
/// assert_eq!((y.shape(), y.dtype()), (&Shape::from([2, 2, 5]), DType::Complex64));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn rfftn(a: &Array, axes: AxesOf<'_>, norm: Norm) -> Result<Array> {
    let axes = resolve_lengths(a, Transform::RealForward, axes.resolve("rfftn", a)?);
    let Some((&(axis, n), others)) = axes.split_last() else { return Ok(a.clone()) };
    let half = along("rfftn", Transform::RealForward, a, n, axis, norm)?;
    complex("rfftn", Transform::Forward, &half, others, norm)
}

/// Inverse of [`rfftn`]: [`super::ifft`] along all transformed axes but the last, then [`super::irfft`] along the last.
///
/// The last axis becomes `2 (length - 1)` long unless a length is given. Fails if an axis is out of bounds, a length is
/// not positive, or lengths and axes differ in number.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{AxesOf, Norm, irfftn, rfftn};
/// let x = Array::from([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]]);
/// let lengths = AxesOf { lengths: Some(&[2, 3]), ..AxesOf::default() }; // three is odd: it has to be said
/// let again = irfftn(&rfftn(&x, lengths, Norm::Backward)?, lengths, Norm::Backward)?;
/// assert!(ops::allclose(&again, &x, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn irfftn(a: &Array, axes: AxesOf<'_>, norm: Norm) -> Result<Array> {
    let axes = resolve_lengths(a, Transform::RealInverse, axes.resolve("irfftn", a)?);
    let Some((&(axis, n), others)) = axes.split_last() else { return Ok(a.clone()) };
    let half = others
        .iter()
        .try_fold(a.clone(), |x, &(axis, n)| along("irfftn", Transform::Inverse, &x, n, axis, norm))?;
    along("irfftn", Transform::RealInverse, &half, n, axis, norm)
}
