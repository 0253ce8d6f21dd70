//! Numbers aligned in columns, in NumPy's style.

use umber_types::{DType, Scalar};

use super::PrintOptions;
use super::numbers::{Notation, scientific, written};

/// The common form of the numbers that are printed.
pub(super) enum Columns {
    /// Integers and booleans, aligned to the right.
    Width(usize),
    Real(RealColumn),
    /// Real and imaginary parts.
    Complex(RealColumn, RealColumn),
}

impl Columns {
    /// For elements of an array of `ndim` axes.
    pub(super) fn new(elements: &[Scalar], dtype: DType, ndim: usize, options: &PrintOptions) -> Columns {
        if dtype == DType::Bool {
            return Columns::Width(if ndim > 0 { "False".len() } else { 0 });
        }
        if dtype.is_complex() {
            let (re, im): (Vec<f64>, Vec<f64>) = elements.iter().map(|element| element.as_complex()).unzip();
            let column = |values, plus| RealColumn::new(values, dtype.real(), plus, options);
            return Columns::Complex(column(&re, Plus::Omitted), column(&im, Plus::Written));
        }
        if dtype.is_floating() {
            let values: Vec<f64> = elements.iter().map(|element| element.as_f64()).collect();
            return Columns::Real(RealColumn::new(&values, dtype, Plus::Omitted, options));
        }
        Columns::Width(elements.iter().map(|&element| plain(element).len()).max().unwrap_or(0))
    }

    /// The text of an element.
    pub(super) fn text(&self, element: Scalar, options: &PrintOptions) -> String {
        match self {
            Columns::Width(width) => format!("{:>width$}", plain(element)),
            Columns::Real(column) => column.text(element.as_f64(), options),
            Columns::Complex(re, im) => {
                let (real, imaginary) = element.as_complex();
                let imaginary = im.text(imaginary, options);
                let number = imaginary.trim_end();
                format!("{}{number}j{}", re.text(real, options), " ".repeat(imaginary.len() - number.len()))
            }
        }
    }
}

/// The text of an integer or a boolean.
fn plain(element: Scalar) -> String {
    match element {
        Scalar::Bool(value) => if value { "True" } else { "False" }.into(),
        Scalar::UInt(value) => value.to_string(),
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Complex(..) => element.as_i64().to_string(),
    }
}

/// Whether positive numbers have a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plus {
    Omitted,
    Written,
}

/// The common form of real numbers: their points are below each other.
pub(super) struct RealColumn {
    dtype: DType,
    plus: Plus,
    notation: Notation,
    /// Decimals of the longest number.
    decimals: usize,
    /// Characters before the point.
    left: usize,
    /// Characters behind the point.
    right: usize,
    /// Digits of the longest exponent.
    exponent_digits: usize,
}

impl RealColumn {
    fn new(values: &[f64], dtype: DType, plus: Plus, options: &PrintOptions) -> RealColumn {
        let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let notation = notation(&finite, dtype, options);
        let precision = options.precision().unwrap_or_default();
        let mut column =
            RealColumn { dtype, plus, notation, decimals: 0, left: 0, right: 0, exponent_digits: 0 };
        for &value in &finite {
            let number = written(value, dtype, notation, precision);
            column.decimals = column.decimals.max(number.decimals.len());
            column.left = column.left.max(column.sign(value).len() + number.integer.len());
            let digits = number.exponent.map_or(0, |exponent| exponent.digits());
            column.exponent_digits = column.exponent_digits.max(digits);
        }
        column.right = column.decimals;
        if notation == Notation::Scientific {
            column.right += "e+".len() + column.exponent_digits;
        }
        if finite.len() < values.len() {
            let has_sign = plus == Plus::Written || values.contains(&f64::NEG_INFINITY);
            let longest = options.nanstr().len().max(options.infstr().len() + usize::from(has_sign));
            column.left = column.left.max(longest.saturating_sub(column.right + 1));
        }
        column
    }

    /// The sign that this column adds to a number.
    fn sign(&self, value: f64) -> &'static str {
        if self.plus == Plus::Written && (value.is_nan() || value.is_sign_positive()) { "+" } else { "" }
    }

    fn text(&self, value: f64, options: &PrintOptions) -> String {
        let &RealColumn { left, right, .. } = self;
        if !value.is_finite() {
            let name = if value.is_nan() { options.nanstr() } else { options.infstr() };
            let sign = if value == f64::NEG_INFINITY { "-" } else { self.sign(value) };
            let width = left + 1 + right;
            return format!("{:>width$}", format!("{sign}{name}"));
        }
        let number = match self.notation {
            Notation::Positional => written(value, self.dtype, self.notation, self.decimals),
            // Shorter numbers are written with all decimals of the longest one, not with zeros.
            Notation::Scientific => scientific(value, self.decimals),
        };
        let integer = format!("{}{}", self.sign(value), number.integer);
        let decimals = match number.exponent {
            None => number.decimals,
            Some(exponent) => format!("{}{}", number.decimals, exponent.text(self.exponent_digits)),
        };
        format!("{integer:>left$}.{decimals:<right$}")
    }
}

/// Numbers from this magnitude on have an exponent: a power of ten with as many digits as the dtype has, at most eight.
fn large(dtype: DType) -> f64 {
    if dtype == DType::Float64 {
        1e8
    } else if dtype == DType::Float32 {
        1e6
    } else if dtype == DType::Float16 {
        1e3
    } else {
        1e2
    }
}

/// Scientific if numbers are large, small, or of very different magnitudes.
fn notation(finite: &[f64], dtype: DType, options: &PrintOptions) -> Notation {
    let in_dtype = |value: f64| Scalar::Float(value).cast(dtype).as_f64();
    let nonzero = || finite.iter().map(|value| value.abs()).filter(|&value| value != 0.0);
    let (max, min) = (nonzero().fold(0.0, f64::max), nonzero().fold(f64::INFINITY, f64::min));
    let is_large = max >= in_dtype(large(dtype));
    let is_mixed = max > 0.0 && (min < in_dtype(1e-4) || in_dtype(max / min) > 1000.0);
    if is_large || is_mixed && !options.suppress { Notation::Scientific } else { Notation::Positional }
}
