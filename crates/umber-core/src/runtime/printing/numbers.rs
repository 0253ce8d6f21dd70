//! Texts of single numbers.

use umber_types::{DType, Scalar};

use super::PrintOptions;

/// Significant digits of a number if no decimals are requested.
const DIGITS: usize = 6;
/// Numbers from this magnitude on are written with an exponent.
const LARGE: f64 = 1e16;

/// A number in MLX's style: with the requested number of decimals, or else in the shortest form of six significant digits.
pub(super) fn real(value: f64, options: &PrintOptions) -> String {
    let precision = options.precision();
    if value.is_nan() && options.nanstr.is_some() {
        return options.nanstr().to_owned();
    }
    if value.is_infinite() && options.infstr.is_some() {
        return format!("{}{}", if value < 0.0 { "-" } else { "" }, options.infstr());
    }
    if options.suppress && value.abs() < LARGE {
        let text = format!("{value:.*}", precision.unwrap_or(DIGITS));
        return if precision.is_some() { text } else { trimmed(&text).to_owned() };
    }
    match precision {
        Some(decimals) if value.is_finite() => fixed(value, decimals),
        _ => general(value, DIGITS),
    }
}

/// A finite number with this many decimals, or with an exponent if it would round to zero or is large.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let rounds_to_zero = value != 0.0 && text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if !rounds_to_zero && value.abs() < LARGE {
        return text;
    }
    let Written { integer, decimals, exponent } = scientific(value, decimals);
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{integer}{point}{decimals}{}", exponent.map_or(String::new(), |exponent| exponent.text(2)))
}

/// A decimal fraction without trailing zeros.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// C's `%g` (ISO C 7.23.6.1): significant digits, no trailing zeros, an exponent when it is shorter.
pub fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.into();
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is an integer");
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize)).to_owned()
}

/// The shortest decimal that rounds to a number of a dtype: `digits[0].digits[1..] × 10^exponent`.
struct Shortest {
    digits: String,
    exponent: i32,
}

impl Shortest {
    /// `magnitude` is finite, not negative, and a number of `dtype`.
    fn new(magnitude: f64, dtype: DType) -> Shortest {
        let rounds_back = |text: &String| {
            let number: f64 = text.parse().expect("a formatted number");
            Scalar::Float(number).cast(dtype).as_f64() == magnitude
        };
        // Ryu's digits, which may be one of two equally near numbers, give the length; the exact rounding breaks the tie.
        let decimals = if dtype == DType::Float64 {
            decimals_of(&format!("{magnitude:e}"))
        } else if dtype == DType::Float32 {
            decimals_of(&format!("{:e}", magnitude as f32))
        } else {
            0
        };
        let candidates = (decimals..=17).map(|decimals| format!("{magnitude:.decimals$e}"));
        let text = candidates.into_iter().find(rounds_back).unwrap_or_else(|| format!("{magnitude:e}"));
        let (mantissa, exponent) = text.split_once('e').expect("scientific notation has an exponent");
        let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
        Shortest { digits, exponent: exponent.parse().expect("the exponent is an integer") }
    }
}

/// The number of decimals in scientific notation.
fn decimals_of(text: &str) -> usize {
    text.split_once('e').map_or(0, |(mantissa, _)| mantissa.len().saturating_sub("1.".len()))
}

/// The parts of a written number: sign and integer, decimals, and exponent.
pub(super) struct Written {
    pub(super) integer: String,
    pub(super) decimals: String,
    pub(super) exponent: Option<Exponent>,
}

/// A decimal exponent.
pub(super) struct Exponent(i32);

impl Exponent {
    /// Number of digits, at least two.
    pub(super) fn digits(&self) -> usize {
        self.0.unsigned_abs().to_string().len().max(2)
    }

    /// `e+05` with this many digits.
    pub(super) fn text(&self, digits: usize) -> String {
        format!("e{}{:0>digits$}", if self.0 < 0 { '-' } else { '+' }, self.0.unsigned_abs())
    }
}

/// Whether numbers have an exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    Positional,
    Scientific,
}

/// A finite number with as many decimals as distinguish it in its dtype, but at most `precision`, and no trailing zeros.
pub(super) fn written(value: f64, dtype: DType, notation: Notation, precision: usize) -> Written {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let magnitude = value.abs();
    let Shortest { digits, exponent } = Shortest::new(magnitude, dtype);
    let point = match notation {
        Notation::Positional => exponent + 1,
        Notation::Scientific => 1,
    };
    let count = (digits.len() as i32 - point).max(0) as usize;
    if notation == Notation::Scientific && count > precision {
        let mut number = scientific(value, precision);
        number.decimals.truncate(number.decimals.trim_end_matches('0').len());
        return number;
    }
    let (text, exponent) = match notation {
        Notation::Positional if count > precision => (format!("{magnitude:.precision$}"), None),
        Notation::Positional if point <= 0 => {
            (format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)), None)
        }
        Notation::Positional | Notation::Scientific => {
            let point = point as usize;
            let integer = format!("{:0<point$}", &digits[..point.min(digits.len())]);
            let text = format!("{integer}.{}", digits.get(point..).unwrap_or_default());
            (text, (notation == Notation::Scientific).then_some(exponent))
        }
    };
    let (integer, decimals) = text.split_once('.').unwrap_or((&text, ""));
    Written {
        integer: format!("{sign}{integer}"),
        decimals: decimals.trim_end_matches('0').to_owned(),
        exponent: exponent.map(Exponent),
    }
}

/// A finite number with this many decimals of the mantissa.
pub(super) fn scientific(value: f64, decimals: usize) -> Written {
    let text = format!("{value:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').expect("scientific notation has an exponent");
    let (integer, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    Written {
        integer: integer.to_owned(),
        decimals: decimals.to_owned(),
        exponent: Some(Exponent(exponent.parse().expect("the exponent is an integer"))),
    }
}
