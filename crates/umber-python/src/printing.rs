//! How arrays print: as MLX prints them.

use std::sync::atomic::{AtomicI32, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber::{Array, DType, Scalar};

/// An axis longer than twice this shows its first and last elements only.
const EDGE: usize = 3;
/// Significant digits of a number when no precision is set.
const DIGITS: usize = 6;
/// More decimals than any dtype has.
const MOST_DECIMALS: i32 = 1100;
/// The precision that means `%g` with [`DIGITS`].
const SHORTEST: i32 = -1;

/// Decimals of a printed number, or [`SHORTEST`]; one for the process.
static PRECISION: AtomicI32 = AtomicI32::new(SHORTEST);

/// How arrays are printed.
#[pyclass(name = "PrintOptions", module = "umber.core", frozen)]
struct PrintOptions {
    /// Decimals of a number; -1 for the shortest form with six significant digits.
    #[pyo3(get)]
    precision: i32,
}

/// Sets the print options inside a `with` block.
#[pyclass(name = "PrintOptionsContext", module = "umber.core")]
struct PrintOptionsContext {
    precision: i32,
    before: Option<i32>,
}

#[pymethods]
impl PrintOptionsContext {
    fn __enter__(&mut self) {
        self.before = Some(PRECISION.swap(self.precision, Ordering::Relaxed));
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&mut self, _args: &Bound<'_, PyTuple>) {
        if let Some(before) = self.before.take() {
            PRECISION.store(before, Ordering::Relaxed);
        }
    }
}

fn checked(op: &str, precision: i32) -> PyResult<i32> {
    if (SHORTEST..=MOST_DECIMALS).contains(&precision) {
        return Ok(precision);
    }
    Err(PyValueError::new_err(format!(
        "[{op}] got precision {precision}, expected a number of decimals from 0 to {MOST_DECIMALS}, or -1"
    )))
}

/// Choose how many decimals are printed; -1 for the shortest form with six significant digits.
#[pyfunction]
#[pyo3(signature = (precision = SHORTEST))]
fn set_printoptions(precision: i32) -> PyResult<()> {
    PRECISION.store(checked("set_printoptions", precision)?, Ordering::Relaxed);
    Ok(())
}

/// How arrays are printed now.
#[pyfunction]
fn get_printoptions() -> PrintOptions {
    PrintOptions { precision: PRECISION.load(Ordering::Relaxed) }
}

/// Print options for a `with` block.
#[pyfunction]
#[pyo3(signature = (precision = SHORTEST))]
fn printoptions(precision: i32) -> PyResult<PrintOptionsContext> {
    Ok(PrintOptionsContext { precision: checked("printoptions", precision)?, before: None })
}

/// Put the print options into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PrintOptions>()?;
    module.add_function(wrap_pyfunction!(set_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(get_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(printoptions, module)?)
}

/// `array([1, 2], dtype=int32)` of a dense evaluated array.
pub(crate) fn repr(dense: &Array) -> String {
    let bytes = crate::convert::dense_bytes(dense);
    let mut text = String::from("array(");
    write_axis(&mut text, bytes, dense.shape(), dense.dtype(), 7);
    text.push_str(", dtype=");
    text.push_str(dense.dtype().name());
    text.push(')');
    text
}

fn write_axis(text: &mut String, bytes: &[u8], shape: &[usize], dtype: DType, indent: usize) {
    let Some((&length, rest)) = shape.split_first() else {
        text.push_str(&element(Scalar::from_bytes(dtype, bytes)));
        return;
    };
    let step = rest.iter().product::<usize>() * dtype.size();
    let separator = if rest.is_empty() { ", ".into() } else { format!(",\n{}", " ".repeat(indent)) };
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
        write_axis(text, &bytes[i * step..(i + 1) * step], rest, dtype, indent + 1);
        i += 1;
    }
    text.push(']');
}

fn element(value: Scalar) -> String {
    match value {
        Scalar::Bool(v) => if v { "True" } else { "False" }.into(),
        Scalar::Int(v) => v.to_string(),
        Scalar::UInt(v) => v.to_string(),
        Scalar::Float(v) => real(v),
        Scalar::Complex(re, im) => {
            // A negative zero and a NaN get a plus before their own sign.
            let sign = if im < 0.0 { "" } else { "+" };
            format!("{}{sign}{}j", real(re), real(im))
        }
    }
}

fn real(value: f64) -> String {
    match usize::try_from(PRECISION.load(Ordering::Relaxed)) {
        Ok(decimals) if value.is_finite() => format!("{value:.decimals$}"),
        _ => general(value, DIGITS),
    }
}

/// C's `%g` (ISO C 7.23.6.1): significant digits, no trailing zeros, an exponent when it is shorter.
pub(crate) fn general(value: f64, digits: usize) -> String {
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
