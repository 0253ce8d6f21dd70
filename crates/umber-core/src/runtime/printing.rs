//! Printing of arrays, in the format of the Python package.

use std::fmt;

use umber_types::{DType, Layout, Result, Scalar, Shape};

use crate::graph::{Array, Storage};

/// Arrays with more axes are abbreviated: the text would be unreadable, and the recursion deep.
pub const MAX_AXES: usize = 128;
/// Number of elements shown at each end of a longer axis.
const EDGE: usize = 3;
/// Significant digits of a number if no decimals are requested.
const DIGITS: usize = 6;
/// Numbers from this magnitude on are written with an exponent.
const LARGE: f64 = 1e16;

/// Evaluates, and formats as `array([1, 2], dtype=int32)`, with the middle of long axes omitted. Real numbers have the
/// requested number of decimals, or else the shortest form of six significant digits. Numbers that would round to zero and
/// numbers from 10¹⁶ on are written with an exponent, and the decimals are those of the mantissa. The shape is included if the
/// brackets do not show it.
pub fn text(array: &Array, decimals: Option<usize>) -> Result<String> {
    array.eval()?;
    let dtype = array.dtype();
    let array = &array.to_host()?;
    let storage = array.storage().expect("just evaluated");
    if array.ndim() > MAX_AXES {
        return Ok(format!("array(..., dtype={})", dtype.name()));
    }
    let mut text = String::from("array(");
    let indent = text.len() + 1;
    let shape = &storage.layout.shape;
    if shape.iter().position(|&length| length == 0).is_some_and(|axis| axis + 1 < shape.ndim()) {
        text.push_str("[], shape=");
        text.push_str(&shape.to_string());
    } else {
        Writer { storage, dtype, decimals }.axis(&mut text, 0, storage.layout.offset, indent);
    }
    text.push_str(", dtype=");
    text.push_str(dtype.name());
    text.push(')');
    Ok(text)
}

/// Reads single elements of the storage, without a copy: a broadcast array may exceed memory.
struct Writer<'a> {
    storage: &'a Storage,
    dtype: DType,
    decimals: Option<usize>,
}

impl Writer<'_> {
    /// Write the axes from `axis` on of the subarray that begins at `offset`.
    fn axis(&self, text: &mut String, axis: usize, offset: usize, indent: usize) {
        let Layout { shape, strides, .. } = &self.storage.layout;
        let Some(&length) = shape.get(axis) else {
            text.push_str(&self.element(self.at(offset)));
            return;
        };
        let separator =
            if axis + 1 == shape.ndim() { ", ".into() } else { format!(",\n{}", " ".repeat(indent)) };
        text.push('[');
        let mut i = 0;
        while i < length {
            if i > 0 {
                text.push_str(&separator);
            }
            if length > 2 * EDGE && i == EDGE {
                text.push_str("...");
                i = length - EDGE;
                continue;
            }
            self.axis(text, axis + 1, offset.wrapping_add_signed(i as isize * strides[axis]), indent + 1);
            i += 1;
        }
        text.push(']');
    }

    fn at(&self, offset: usize) -> Scalar {
        let layout = Layout { offset, ..Layout::contiguous(Shape::scalar()) };
        let element = self.storage.with_layout(layout);
        Scalar::from_bytes(
            self.dtype,
            element.on_host().dense_bytes(self.dtype).expect("one element is contiguous"),
        )
    }

    fn element(&self, value: Scalar) -> String {
        match value {
            Scalar::Bool(v) => if v { "True" } else { "False" }.into(),
            Scalar::Int(v) => v.to_string(),
            Scalar::UInt(v) => v.to_string(),
            Scalar::Float(v) => self.real(v),
            Scalar::Complex(re, im) => {
                // Negative zero and NaN also get a plus, before their own sign.
                let sign = if im < 0.0 { "" } else { "+" };
                format!("{}{sign}{}j", self.real(re), self.real(im))
            }
        }
    }

    fn real(&self, value: f64) -> String {
        match self.decimals {
            Some(decimals) if value.is_finite() => fixed(value, decimals),
            _ => general(value, DIGITS),
        }
    }
}

/// A finite number with this many decimals, or with an exponent if it would round to zero or is large.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let rounds_to_zero = value != 0.0 && text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if rounds_to_zero || value.abs() >= LARGE { scientific(value, decimals) } else { text }
}

/// `1.5e-07`: this many decimals of the mantissa, and an exponent of at least two digits.
fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').expect("scientific notation has an exponent");
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
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
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
}

/// Evaluates, and prints as Python does; `{:.2}` gives two decimals. If evaluation fails, prints the error.
///
/// `{:?}` never evaluates: it prints the shape, the dtype and the recorded operation.
///
/// ```
/// # use umber_core as umber;
/// let x = umber::Array::from([[0.5f32, 1.0], [2.0, 1e-7]]);
/// assert_eq!(x.to_string(), "array([[0.5, 1],\n       [2, 1e-07]], dtype=float32)");
/// assert_eq!(format!("{:.1}", &x + &x), "array([[1.0, 2.0],\n       [4.0, 2.0e-07]], dtype=float32)");
/// ```
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match text(self, f.precision()) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "array(<{} {}: {error}>)", self.shape(), self.dtype()),
        }
    }
}
