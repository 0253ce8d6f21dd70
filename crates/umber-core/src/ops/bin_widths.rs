//! Rules that choose the number of bins of a histogram.

use std::f64::consts::PI;

use umber_types::{DType, KeepAxes, Result, bail, ensure};

use super::data_dependent;
use super::elementwise::{greater_equal, less_equal, logical_and, multiply, square, subtract};
use super::histograms::{Bins, Density, histogram};
use super::quantiles::percentile;
use super::reductions::{max, mean, min, std, sum};
use super::searching::extract;
use super::{QuantileMethod, divide};
use crate::graph::Array;
use crate::primitives::rules::{cast, reshape};

/// A rule for the width of bins. The names are NumPy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinRule {
    /// The smaller width of `Sturges` and `FreedmanDiaconis`, the latter at least half of that of `SquareRoot`.
    Auto,
    /// Twice the interquartile range over the cube root of the count (D. Freedman and P. Diaconis, 1981).
    FreedmanDiaconis,
    /// `Sturges` corrected for skewness (D. P. Doane, 1976).
    Doane,
    /// `(24 √π / n)^(1/3)` standard deviations (D. W. Scott, 1979).
    Scott,
    /// The width that minimises the estimated squared error (C. J. Stone, 1984).
    Stone,
    /// `2 n^(1/3)` bins.
    Rice,
    /// `log2(n) + 1` bins (H. A. Sturges, 1926).
    Sturges,
    /// `√n` bins.
    SquareRoot,
}

use BinRule::{Auto, Doane, FreedmanDiaconis, Rice, Scott, SquareRoot, Stone, Sturges};

impl BinRule {
    /// Every rule with its name.
    pub const ALL: [(BinRule, &'static str); 8] = [
        (Auto, "auto"),
        (FreedmanDiaconis, "fd"),
        (Doane, "doane"),
        (Scott, "scott"),
        (Stone, "stone"),
        (Rice, "rice"),
        (Sturges, "sturges"),
        (SquareRoot, "sqrt"),
    ];

    /// The rule with this name.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::BinRule;
    /// assert_eq!(BinRule::from_name("rice"), Some(BinRule::Rice));
    /// assert_eq!(BinRule::from_name("Rice"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<BinRule> {
        BinRule::ALL.into_iter().find(|(_, other)| *other == name).map(|(rule, _)| rule)
    }
}

/// The elements that a rule examines, in double precision.
struct Sample<'a> {
    op: &'a str,
    x: Array,
    /// Minimum and maximum.
    range: (f64, f64),
    /// The range of the bins, if the caller gives one.
    bin_range: Option<(f64, f64)>,
}

impl Sample<'_> {
    fn value(&self, x: &Array) -> Result<f64> {
        Ok(data_dependent::value_of(self.op, x)?.as_f64())
    }

    fn count(&self) -> f64 {
        self.x.size() as f64
    }

    fn span(&self) -> f64 {
        self.range.1 - self.range.0
    }

    fn deviation(&self) -> Result<f64> {
        self.value(&std(&self.x, None, KeepAxes::No, 0)?)
    }

    fn width(&self, rule: BinRule) -> Result<f64> {
        let n = self.count();
        Ok(match rule {
            SquareRoot => self.span() / n.sqrt(),
            Sturges => self.span() / (n.log2() + 1.0),
            Rice => self.span() / (2.0 * n.cbrt()),
            Scott => (24.0 * PI.sqrt() / n).cbrt() * self.deviation()?,
            FreedmanDiaconis => {
                let quartile = |q: f64| {
                    let q = Array::scalar(q, DType::Float64);
                    self.value(&percentile(&self.x, &q, None, KeepAxes::No, QuantileMethod::Linear)?)
                };
                2.0 * (quartile(75.0)? - quartile(25.0)?) / n.cbrt()
            }
            Doane => self.skewed_width()?,
            Stone => self.least_error_width()?,
            Auto => {
                let min_value = self.width(SquareRoot)? / 2.0;
                self.width(FreedmanDiaconis)?.max(min_value).min(self.width(Sturges)?)
            }
        })
    }

    fn skewed_width(&self) -> Result<f64> {
        let (n, deviation) = (self.count(), self.deviation()?);
        if n <= 2.0 || deviation <= 0.0 {
            return Ok(0.0);
        }
        let deviations = subtract(&self.x, &mean(&self.x, None, KeepAxes::No)?)?;
        let unit = divide(&deviations, &Array::scalar(deviation, DType::Float64))?;
        let skew = self.value(&mean(&multiply(&square(&unit)?, &unit)?, None, KeepAxes::No)?)?;
        let standard_error = (6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0))).sqrt();
        Ok(self.span() / (1.0 + n.log2() + (1.0 + skew.abs() / standard_error).log2()))
    }

    /// The width whose histogram minimises the cross-validated error, for at most 100 or `√n` bins, whichever is larger.
    fn least_error_width(&self) -> Result<f64> {
        let (n, span) = (self.count(), self.span());
        if n <= 1.0 || span == 0.0 {
            return Ok(0.0);
        }
        let max_bins = (n.sqrt() as i64).max(100);
        let (mut best, mut min_value) = (1, f64::INFINITY);
        for bins in 1..=max_bins {
            let options = Bins::Count(bins, self.bin_range);
            let (counts, _) = histogram(&self.x, &options, None, Density::Counts)?;
            let fractions = divide(&cast(&counts, DType::Float64)?, &Array::scalar(n, DType::Float64))?;
            let squares = self.value(&sum(&square(&fractions)?, None, KeepAxes::No)?)?;
            let error = (2.0 - (n + 1.0) * squares) * bins as f64 / span;
            if error < min_value {
                (best, min_value) = (bins, error);
            }
        }
        Ok(span / best as f64)
    }
}

/// A power of two that scales numbers of this magnitude so that their squares neither overflow nor underflow.
fn squarable(magnitude: f64) -> f64 {
    match magnitude {
        large if large > 1e120 => 2f64.powi(-600),
        small if small < 1e-120 => 2f64.powi(600),
        _ => 1.0,
    }
}

/// The number of bins that a rule estimates for the elements of `a` in a range, by default all elements.
pub(super) fn estimated_count(op: &str, a: &Array, rule: BinRule, range: Option<(f64, f64)>) -> Result<i64> {
    let mut x = cast(&reshape(a, [a.size()])?, DType::Float64)?;
    if let Some((low, high)) = range {
        let end = |value: f64| Array::scalar(value, DType::Float64);
        x = extract(&logical_and(&greater_equal(&x, &end(low))?, &less_equal(&x, &end(high))?)?, &x)?;
    }
    if x.size() == 0 {
        return Ok(1);
    }
    let ends = |x: &Array| Ok((min(x, None, KeepAxes::No)?, max(x, None, KeepAxes::No)?));
    let (min_value, max_value): (Array, Array) = ends(&x)?;
    let mut sample = Sample { op, x, range: (0.0, 0.0), bin_range: range };
    sample.range = (sample.value(&min_value)?, sample.value(&max_value)?);
    let (min_value, max_value) = sample.range;
    ensure!(
        min_value.is_finite() && max_value.is_finite(),
        Value(op),
        "the range ({min_value}, {max_value}) of the elements is not finite; pass range=(low, high)"
    );
    let scale = squarable(min_value.abs().max(max_value.abs()));
    sample.x = multiply(&sample.x, &Array::scalar(scale, DType::Float64))?;
    sample.range = (min_value * scale, max_value * scale);
    sample.bin_range = range.map(|(low, high)| (low * scale, high * scale));
    let mut width = sample.width(rule)?;
    if width <= 0.0 {
        return Ok(1);
    }
    if a.dtype().is_integer() {
        // Bins narrower than one could contain no integer.
        width = width.max(1.0);
    }
    let (low, high) = sample.bin_range.unwrap_or(sample.range);
    let count = ((high - low) / width).ceil();
    if count >= i64::MAX as f64 {
        bail!(Value(op), "the estimated number of bins, {count}, is too large; pass the number of bins");
    }
    Ok((count as i64).max(1))
}
