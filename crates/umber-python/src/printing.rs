//! How arrays print: as MLX prints them.

use umber::types::bf16;
use umber::{Array, DType, Scalar};

/// More elements than this along an axis are summarised by the first and last three.
const EDGE: usize = 3;
/// Arrays with more elements than this are summarised.
const THRESHOLD: usize = 1000;

/// `array([1, 2], dtype=int32)` of a dense evaluated array.
pub(crate) fn repr(dense: &Array) -> String {
    let bytes = crate::convert::dense_bytes(dense);
    let mut text = String::from("array(");
    let summarise = dense.size() > THRESHOLD;
    write_axis(&mut text, bytes, dense.shape(), dense.dtype(), summarise, 7);
    text.push_str(", dtype=");
    text.push_str(dense.dtype().name());
    text.push(')');
    text
}

fn write_axis(
    text: &mut String,
    bytes: &[u8],
    shape: &[usize],
    dtype: DType,
    summarise: bool,
    indent: usize,
) {
    let Some((&length, rest)) = shape.split_first() else {
        text.push_str(&element(Scalar::from_bytes(dtype, bytes), dtype));
        return;
    };
    let step = rest.iter().product::<usize>() * dtype.size();
    let separator = if rest.is_empty() { ", ".into() } else { format!(",\n{}", " ".repeat(indent)) };
    text.push('[');
    let skip = summarise && length > 2 * EDGE;
    let mut i = 0;
    while i < length {
        if i > 0 {
            text.push_str(&separator);
        }
        if skip && i == EDGE {
            text.push_str("...");
            i = length - EDGE;
            continue;
        }
        write_axis(text, &bytes[i * step..(i + 1) * step], rest, dtype, summarise, indent + 1);
        i += 1;
    }
    text.push(']');
}

fn element(value: Scalar, dtype: DType) -> String {
    match value {
        Scalar::Bool(v) => if v { "True" } else { "False" }.into(),
        Scalar::Int(v) => v.to_string(),
        Scalar::UInt(v) => v.to_string(),
        Scalar::Float(v) => real(v, dtype),
        Scalar::Complex(re, im) => {
            let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
            format!("{}{sign}{}j", real(re, dtype), real(im, dtype))
        }
    }
}

fn real(value: f64, dtype: DType) -> String {
    let _ = bf16::ZERO;
    let _ = dtype;
    general(value, crate::printing::precision())
}

/// Significant digits printed.
pub(crate) fn precision() -> usize {
    6
}

/// C's `%g` (ISO C 7.23.6.1): significant digits, no trailing zeros, an exponent when it is shorter.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".into();
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
