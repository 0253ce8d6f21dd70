//! Quantiles: the value below which a given part of the elements lies.

use umber_types::{DType, KeepAxes, Result, Scalar, Shape, ensure};

use super::elementwise::{
    add, astype, ceil, clip, divide, equal, floor, isinf, isnan, less, maximum, minimum, multiply, round,
    select, subtract,
};
use super::median::median;
use super::nan_reductions::count_numbers;
use super::promotion::weak;
use super::reductions::{Merged, axes_of, check_not_empty, widened};
use crate::graph::Array;
use crate::primitives::gather::Places;
use crate::primitives::rules::{broadcast, cast, move_axis, reshape};
use crate::primitives::slice::slice_along;
use crate::primitives::sort::{Sort, Sorted};

/// Which of the two elements around a place is the quantile, or what between them.
///
/// The names are NumPy's; the nine that interpolate by a distribution are numbered in R. J. Hyndman and Y. Fan,
/// Sample Quantiles in Statistical Packages, 1996.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantileMethod {
    /// Interpolated at place `q (n - 1)` (number 7).
    Linear,
    /// The element before the place of `Linear`.
    Lower,
    /// The element behind it.
    Higher,
    /// The mean of both.
    Midpoint,
    /// The nearer of both; of two equally near the one at an even place.
    Nearest,
    /// The least element that at least `q n` elements do not exceed (number 1).
    InvertedCdf,
    /// The same, averaged with the next where `q n` is whole (number 2).
    AveragedInvertedCdf,
    /// The element at the nearest place to `q n`, counted from one (number 3).
    ClosestObservation,
    /// Interpolated at place `q n - 1` (number 4).
    InterpolatedInvertedCdf,
    /// Interpolated at place `q n - 1/2` (number 5).
    Hazen,
    /// Interpolated at place `q (n + 1) - 1` (number 6).
    Weibull,
    /// Interpolated at place `q (n + 1/3) - 2/3` (number 8).
    MedianUnbiased,
    /// Interpolated at place `q (n + 1/4) - 5/8` (number 9).
    NormalUnbiased,
}

use QuantileMethod::{
    AveragedInvertedCdf, ClosestObservation, Hazen, Higher, InterpolatedInvertedCdf, InvertedCdf, Linear,
    Lower, MedianUnbiased, Midpoint, Nearest, NormalUnbiased, Weibull,
};

impl QuantileMethod {
    /// Every method with its name.
    pub const ALL: [(QuantileMethod, &'static str); 13] = [
        (Linear, "linear"),
        (Lower, "lower"),
        (Higher, "higher"),
        (Midpoint, "midpoint"),
        (Nearest, "nearest"),
        (InvertedCdf, "inverted_cdf"),
        (AveragedInvertedCdf, "averaged_inverted_cdf"),
        (ClosestObservation, "closest_observation"),
        (InterpolatedInvertedCdf, "interpolated_inverted_cdf"),
        (Hazen, "hazen"),
        (Weibull, "weibull"),
        (MedianUnbiased, "median_unbiased"),
        (NormalUnbiased, "normal_unbiased"),
    ];

    /// The method with this name.
    pub fn from_name(name: &str) -> Option<QuantileMethod> {
        QuantileMethod::ALL.into_iter().find(|(_, other)| *other == name).map(|(method, _)| method)
    }

    /// `a` and `b` of the place `q (n + a) + b`, counted from zero.
    fn place(self) -> (f64, f64) {
        match self {
            Linear | Lower | Higher | Midpoint | Nearest => (-1.0, 0.0),
            InvertedCdf | AveragedInvertedCdf | InterpolatedInvertedCdf | ClosestObservation => (0.0, -1.0),
            Hazen => (0.0, -0.5),
            Weibull => (1.0, -1.0),
            MedianUnbiased => (1.0 / 3.0, -2.0 / 3.0),
            NormalUnbiased => (0.25, -0.625),
        }
    }
}

/// What happens to elements that are not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nan {
    /// They make the result NaN.
    Spreads,
    /// They are passed over.
    IsSkipped,
}

/// Where a quantile is, in counts of sorted elements.
enum Found {
    /// At one element.
    At(Array),
    /// From one element to another, as far as `part` says.
    Between { low: Array, high: Array, part: Array },
}

fn number(value: f64, like: &Array) -> Array {
    weak(Scalar::Float(value), like)
}

/// Where each of the quantiles `q` of `n` elements is.
fn places(q: &Array, n: &Array, method: QuantileMethod) -> Result<Found> {
    let (shift, start) = method.place();
    let place = add(&multiply(q, &add(n, &number(shift, n))?)?, &number(start, n))?;
    let last = maximum(&subtract(n, &number(1.0, n))?, &number(0.0, n))?;
    let inside = |place: &Array| clip(place, Some(&number(0.0, place)), Some(&last));
    let at = |place: Array| Ok(Found::At(inside(&place)?));
    match method {
        Lower => at(floor(&place)?),
        Higher | InvertedCdf => at(ceil(&place)?),
        Nearest => at(round(&place, 0)?),
        // Rounded as it is counted from one, so that of two places the even one is taken.
        ClosestObservation => {
            let one = number(1.0, &place);
            at(subtract(&round(&add(&place, &one)?, 0)?, &one)?)
        }
        Midpoint => {
            let place = inside(&place)?;
            Ok(Found::Between { low: floor(&place)?, high: ceil(&place)?, part: number(0.5, &place) })
        }
        AveragedInvertedCdf => {
            let low = floor(&place)?;
            let is_whole = equal(&low, &place)?;
            let part = select(&is_whole, &number(0.5, &place), &number(1.0, &place))?;
            let high = inside(&add(&low, &number(1.0, &low))?)?;
            Ok(Found::Between { low: inside(&low)?, high, part })
        }
        Linear | InterpolatedInvertedCdf | Hazen | Weibull | MedianUnbiased | NormalUnbiased => {
            let place = inside(&place)?;
            let low = floor(&place)?;
            let high = minimum(&add(&low, &number(1.0, &low))?, &last)?;
            Ok(Found::Between { part: subtract(&place, &low)?, low, high })
        }
    }
}

/// From `low` to `high`, as far as `part` says: exact at both ends, between equal elements, and beside infinities.
fn between(low: &Array, high: &Array, part: &Array) -> Result<Array> {
    let zero = number(0.0, low);
    let step = select(&equal(low, high)?, &zero, &subtract(high, low)?)?;
    let upwards = add(low, &multiply(&step, part)?)?;
    let rest = subtract(&number(1.0, part), part)?;
    let downwards = subtract(high, &multiply(&step, &rest)?)?;
    let value = select(&less(part, &number(0.5, part))?, &upwards, &downwards)?;
    // An infinite step times zero is NaN; the sum of both ends is the infinite one.
    let at_low = equal(part, &number(0.0, part))?;
    let at_high = equal(part, &number(1.0, part))?;
    let end = select(&at_low, low, &select(&at_high, high, &add(low, high)?)?)?;
    select(&isinf(&step)?, &end, &value)
}

/// Parts of the whole whose values are known must lie between 0 and 1.
fn check_parts(op: &str, q: &Array) -> Result<()> {
    if q.constant().is_none() && (!q.is_evaluated() || q.is_traced()) {
        return Ok(());
    }
    for part in astype(q, DType::Float64)?.to_vec::<f64>()? {
        ensure!((0.0..=1.0).contains(&part), Value, "[{op}] got the part {part}, expected 0 to 1");
    }
    Ok(())
}

fn quantile_of(
    op: &str,
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
    nan: Nan,
) -> Result<Array> {
    ensure!(!a.dtype().is_complex(), Type, "[{op}] is not defined for an array of {}", a.dtype());
    ensure!(
        q.dtype().is_floating(),
        Type,
        "[{op}] got parts of dtype {}, expected floating-point numbers",
        q.dtype()
    );
    check_parts(op, q)?;
    let axes = axes_of(op, a, axes)?;
    check_not_empty(op, a, &axes)?;
    let merged = Merged::new(a, &axes)?.array;
    let axis = merged.ndim() - 1;
    let length = merged.shape()[axis];
    let sorted = Array::record_one(Sort { axis, what: Sorted::Values }, &[&merged])?;
    // Places are counted in the dtype of `q`, as its user rounded it, unless that is too narrow for them.
    let is_narrow = q.dtype() != DType::Float64 && length < 1 << 22;
    let counted = if is_narrow { DType::Float32 } else { DType::Float64 };
    let n = match nan {
        Nan::Spreads => Array::scalar(length as f64, counted),
        Nan::IsSkipped => count_numbers(&merged, Some(&[-1]), KeepAxes::Yes, counted)?,
    };
    let parts = cast(&reshape(q, [q.size()])?, counted)?;
    let shape = merged.shape().with(axis, q.size());
    let read = |place: &Array| {
        let indices = broadcast(&cast(place, DType::Int64)?, &shape)?;
        Places::Along { axis, indices }.read(&sorted)
    };
    let mut value = match places(&parts, &n, method)? {
        Found::At(place) => read(&place)?,
        Found::Between { low, high, part } => {
            let (low, high) = (widened(&read(&low)?)?, widened(&read(&high)?)?);
            let part = broadcast(&cast(&part, low.dtype())?, &shape)?;
            cast(&between(&low, &high, &part)?, a.dtype().inexact())?
        }
    };
    if nan == Nan::Spreads && a.dtype().is_inexact() {
        // NaN sorts last, so it is there if and only if the last element is NaN.
        let last = broadcast(&slice_along(&sorted, axis, length - 1, 1)?, &shape)?;
        value = select(&isnan(&last)?, &last, &value)?;
    }
    let reduced = a.shape().reduced(&axes, keep);
    let lengths: Shape = q.shape().iter().chain(reduced.iter()).copied().collect();
    reshape(&move_axis(&value, axis, 0)?, lengths)
}

/// The quantiles of the elements over axes: of shape `q.shape` followed by that of the reduction.
///
/// `q` holds the parts of the elements that lie below, from 0 to 1. Where the method picks an element the dtype stays;
/// else integers answer float32. NaN if any element is.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, 3.0, 2.0], [4])?;
/// let q = Array::scalar(0.25, DType::Float64);
/// let found = ops::quantile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(found.to_vec::<f32>()?, [1.75]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// Where `q` has values that are outside of 0 to 1 (values that are not computed yet are limited to it instead), or the
/// axes hold no elements.
pub fn quantile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("quantile", a, q, axes, keep, method, Nan::Spreads)
}

/// The [`quantile`] of what is a number; NaN where nothing is.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, f32::NAN, 2.0], [4])?;
/// let q = Array::scalar(0.5, DType::Float64);
/// let found = ops::nanquantile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(found.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// As of [`quantile`].
pub fn nanquantile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("nanquantile", a, q, axes, keep, method, Nan::IsSkipped)
}

/// Hundredths as parts of the whole.
fn hundredths(op: &str, q: &Array) -> Result<Array> {
    ensure!(
        !q.dtype().is_complex(),
        Type,
        "[{op}] got percentages of dtype {}, expected real numbers",
        q.dtype()
    );
    let is_known = q.constant().is_some() || (q.is_evaluated() && !q.is_traced());
    let q = if q.dtype().is_floating() { q.clone() } else { cast(q, DType::Float64)? };
    let parts = divide(&q, &number(100.0, &q))?;
    if is_known {
        // Values that are there are checked, hence the quotient must be there too.
        parts.eval()?;
    }
    Ok(parts)
}

/// The [`quantile`] with `q` from 0 to 100.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4i32, 1, 3, 2], [4])?;
/// let q = Array::scalar(75, DType::Int32);
/// let found = ops::percentile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(found.to_vec::<f32>()?, [3.25]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// As of [`quantile`].
pub fn percentile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("percentile", a, &hundredths("percentile", q)?, axes, keep, method, Nan::Spreads)
}

/// The [`nanquantile`] with `q` from 0 to 100.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, f32::NAN, 2.0], [4])?;
/// let q = Array::scalar(100, DType::Int32);
/// let found = ops::nanpercentile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(found.to_vec::<f32>()?, [4.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// As of [`quantile`].
pub fn nanpercentile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("nanpercentile", a, &hundredths("nanpercentile", q)?, axes, keep, method, Nan::IsSkipped)
}

/// The median over axes of what is a number; NaN where nothing is.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, f32::NAN, 2.0], [4])?;
/// assert_eq!(ops::nanmedian(&x, None, KeepAxes::No)?.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// Where the axes hold no elements, or the elements are complex.
pub fn nanmedian(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    if !a.dtype().is_inexact() {
        return median(a, axes, keep);
    }
    quantile_of("nanmedian", a, &Array::scalar(0.5, DType::Float64), axes, keep, Linear, Nan::IsSkipped)
}
