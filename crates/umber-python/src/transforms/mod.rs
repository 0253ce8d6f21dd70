//! Function transforms: Python functions in, Python functions out.

mod arguments;
mod compile;
mod control_flow;
mod custom;
pub(crate) mod eval;
mod export;
mod grad;
mod jacobian;
pub(crate) mod kernel;
mod signature;
mod vmap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    eval::register(module)?;
    grad::register(module)?;
    jacobian::register(module)?;
    vmap::register(module)?;
    custom::register(module)?;
    compile::register(module)?;
    export::register(module)?;
    control_flow::register(module)
}

/// A mark of objects that are filled.
///
/// Python makes the `__dict__` of an object before its fields are there, and may collect garbage meanwhile: then it asks
/// an object whose memory is all zero what it holds.
#[derive(Clone, Copy)]
struct Whole(bool);

impl Whole {
    const YES: Whole = Whole(true);

    fn is(self) -> bool {
        self.0
    }
}

/// Refuse what cannot be called.
fn check_callable(op: &str, fun: &Bound<'_, PyAny>) -> PyResult<()> {
    if fun.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("[{op}] expected a function, got {}", fun.get_type().name()?)))
}

/// The name that a transformed function goes by.
fn describe(transform: &str, fun: &Py<PyAny>, py: Python<'_>) -> String {
    let name = fun.bind(py).getattr("__name__").and_then(|name| name.extract::<String>());
    format!("<{transform} of {}>", name.unwrap_or_else(|_| "a function".into()))
}
