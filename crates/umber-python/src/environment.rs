//! Settings of the environment that mean nothing are told when the module is imported: they are read far below, where
//! nobody can be told.

use std::ffi::CString;

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;

/// What `UMBER_CPU` can be, as `umber-kernels` reads it.
const LEVELS: [&str; 4] = ["scalar", "avx2", "avx512", "amx"];

/// Follow settings that are for the whole process, and warn of those that are passed over.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    if let Some(level) = text("UMBER_CPU")
        && !LEVELS.contains(&&*level)
    {
        warn(py, "UMBER_CPU", &level, &format!("one of {}", LEVELS.join(", ")))?;
    }
    if let Some(count) = text("UMBER_NUM_THREADS")
        && !count.trim().parse().is_ok_and(|count: usize| count > 0)
    {
        warn(py, "UMBER_NUM_THREADS", &count, "a number of threads, 1 or more")?;
    }
    if let Some(answer) = text("UMBER_EAGER")
        && !["0", "1"].contains(&&*answer)
    {
        warn(py, "UMBER_EAGER", &answer, "0 or 1")?;
    }
    if let Err(error) = umber_simulated::register_from_environment() {
        let text = CString::new(error.to_string())?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)?;
    }
    Ok(())
}

/// Are operations on a few evaluated elements computed as they are written?
pub(crate) fn is_eager() -> bool {
    text("UMBER_EAGER").is_none_or(|answer| answer != "0")
}

/// The text of a variable that is set; that of an empty one says nothing.
fn text(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

fn warn(py: Python<'_>, name: &str, value: &str, expected: &str) -> PyResult<()> {
    let text = format!("[umber] {name}: got {value:?}, expected {expected}; it has no effect");
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(text)?, 1)
}
