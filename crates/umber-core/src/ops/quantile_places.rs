//! Methods of quantiles: the positions among sorted elements.

use umber_types::{Result, Scalar};

use super::elementwise::{add, ceil, clip, equal, floor, maximum, minimum, multiply, select, subtract};
use super::promotion::weak;
use super::rounding::round;
use crate::graph::Array;

/// How a quantile is determined from the two elements around its position.
///
/// The names are NumPy's; the nine that interpolate by a distribution are numbered in R. J. Hyndman and Y. Fan,
/// Sample Quantiles in Statistical Packages, 1996.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantileMethod {
    /// Interpolated at position `q (n - 1)` (number 7).
    Linear,
    /// The element before the position of `Linear`.
    Lower,
    /// The element after it.
    Higher,
    /// The mean of both.
    Midpoint,
    /// The nearer of both; of two equally near ones the one with the even index.
    Nearest,
    /// The smallest element that at least `q n` elements do not exceed (number 1).
    InvertedCdf,
    /// The same, averaged with the next where `q n` is whole (number 2).
    AveragedInvertedCdf,
    /// The element at the position nearest to `q n`, counted from one (number 3).
    ClosestObservation,
    /// Interpolated at position `q n - 1` (number 4).
    InterpolatedInvertedCdf,
    /// Interpolated at position `q n - 1/2` (number 5).
    Hazen,
    /// Interpolated at position `q (n + 1) - 1` (number 6).
    Weibull,
    /// Interpolated at position `q (n + 1/3) - 2/3` (number 8).
    MedianUnbiased,
    /// Interpolated at position `q (n + 1/4) - 5/8` (number 9).
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
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::QuantileMethod;
    /// assert_eq!(QuantileMethod::from_name("hazen"), Some(QuantileMethod::Hazen));
    /// assert_eq!(QuantileMethod::from_name("Hazen"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<QuantileMethod> {
        QuantileMethod::ALL.into_iter().find(|(_, other)| *other == name).map(|(method, _)| method)
    }

    /// `a` and `b` of the position `q (n + a) + b`, counted from zero.
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

/// The position of a quantile among sorted elements.
pub(super) enum Found {
    /// At one element.
    At(Array),
    /// Between two elements, at the fraction `part` of their distance.
    Between { low: Array, high: Array, part: Array },
}

pub(super) fn number(value: f64, like: &Array) -> Array {
    weak(Scalar::Float(value), like)
}

/// The positions of the quantiles `q` of `n` elements.
pub(super) fn places(q: &Array, n: &Array, method: QuantileMethod) -> Result<Found> {
    let (shift, start) = method.place();
    let place = add(&multiply(q, &add(n, &number(shift, n))?)?, &number(start, n))?;
    let last = maximum(&subtract(n, &number(1.0, n))?, &number(0.0, n))?;
    let inside = |place: &Array| clip(place, Some(&number(0.0, place)), Some(&last));
    let at = |place: Array| Ok(Found::At(inside(&place)?));
    match method {
        Lower => at(floor(&place)?),
        Higher | InvertedCdf => at(ceil(&place)?),
        Nearest => at(round(&place, 0)?),
        // Round the position counted from one, so that ties go to the even one.
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
