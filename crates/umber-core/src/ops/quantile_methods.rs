//! Methods of quantiles: positions among the sorted elements.

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
    /// The same, averaged with the next one if `q n` is an integer (number 2).
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
    fn position(self) -> (f64, f64) {
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
pub(super) enum QuantilePosition {
    /// At one element.
    At(Array),
    /// Between two elements, at a fraction of their distance.
    Between { low: Array, high: Array, fraction: Array },
}

pub(super) fn number(value: f64, like: &Array) -> Array {
    weak(Scalar::Float(value), like)
}

/// The positions of the quantiles `q` of `n` elements.
pub(super) fn quantile_positions(q: &Array, n: &Array, method: QuantileMethod) -> Result<QuantilePosition> {
    let (shift, start) = method.position();
    let position = add(&multiply(q, &add(n, &number(shift, n))?)?, &number(start, n))?;
    let last = maximum(&subtract(n, &number(1.0, n))?, &number(0.0, n))?;
    let clamp = |position: &Array| clip(position, Some(&number(0.0, position)), Some(&last));
    let at = |position: Array| Ok(QuantilePosition::At(clamp(&position)?));
    match method {
        Lower => at(floor(&position)?),
        Higher | InvertedCdf => at(ceil(&position)?),
        Nearest => at(round(&position, 0)?),
        // Round the position counted from one, so that ties go to the even one.
        ClosestObservation => {
            let one = number(1.0, &position);
            at(subtract(&round(&add(&position, &one)?, 0)?, &one)?)
        }
        Midpoint => {
            let position = clamp(&position)?;
            Ok(QuantilePosition::Between {
                low: floor(&position)?,
                high: ceil(&position)?,
                fraction: number(0.5, &position),
            })
        }
        AveragedInvertedCdf => {
            let low = floor(&position)?;
            let is_integer = equal(&low, &position)?;
            let fraction = select(&is_integer, &number(0.5, &position), &number(1.0, &position))?;
            let high = clamp(&add(&low, &number(1.0, &low))?)?;
            Ok(QuantilePosition::Between { low: clamp(&low)?, high, fraction })
        }
        Linear | InterpolatedInvertedCdf | Hazen | Weibull | MedianUnbiased | NormalUnbiased => {
            let position = clamp(&position)?;
            let low = floor(&position)?;
            let high = minimum(&add(&low, &number(1.0, &low))?, &last)?;
            Ok(QuantilePosition::Between { fraction: subtract(&position, &low)?, low, high })
        }
    }
}
