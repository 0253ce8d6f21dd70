//! Validate environment variables at import, because the code that reads them cannot report errors.

use std::ffi::CString;

use pyo3::exceptions::{PyFutureWarning, PyRuntimeWarning};
use pyo3::prelude::*;
use umber_core::observer::numbers::{self, Action, NumberCheck, Unwanted};

/// Values of `UMBER_MAX_CPU_ISA`, as `umber-kernels` reads it.
const LEVELS: [&str; 4] = ["scalar", "avx2", "avx512", "amx"];

/// Apply process-wide settings, and warn about values that are ignored and names that are deprecated.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    for name in ["UMBER_MAX_CPU_ISA", "UMBER_CPU"] {
        if let Some(level) = text(name)
            && !LEVELS.contains(&&*level)
        {
            warn(py, name, &level, &format!("one of {}", LEVELS.join(", ")))?;
        }
    }
    if text("UMBER_CPU").is_some() {
        let text =
            c"[umber] UMBER_CPU is deprecated and will be ignored from version 0.2 on: use UMBER_MAX_CPU_ISA";
        PyErr::warn(py, &py.get_type::<PyFutureWarning>(), text, 1)?;
    }
    if let Some(count) = text("UMBER_NUM_THREADS")
        && !count.trim().parse().is_ok_and(|count: usize| count > 0)
    {
        warn(py, "UMBER_NUM_THREADS", &count, "a number of threads, 1 or more")?;
    }
    if let Some(value) = text("UMBER_EAGER")
        && !["0", "1"].contains(&&*value)
    {
        warn(py, "UMBER_EAGER", &value, "0 or 1")?;
    }
    match text("UMBER_DEBUG_NANS").as_deref() {
        Some("1") => {
            let check = NumberCheck { unwanted: Unwanted::Nan, action: Action::Raise };
            numbers::set(Some(check));
        }
        Some("0") | None => {}
        Some(value) => warn(py, "UMBER_DEBUG_NANS", value, "0 or 1")?,
    }
    if let Err(error) = umber_simulated::register_from_environment() {
        let text = CString::new(error.to_string())?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)?;
    }
    Ok(())
}

/// Whether small operations on evaluated arrays run eagerly.
pub(crate) fn is_eager() -> bool {
    text("UMBER_EAGER").is_none_or(|value| value != "0")
}

/// The value of a variable; an empty one counts as unset.
fn text(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

fn warn(py: Python<'_>, name: &str, value: &str, expected: &str) -> PyResult<()> {
    let text = format!("[umber] {name}: got {value:?}, expected {expected}; it has no effect");
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(text)?, 1)
}
