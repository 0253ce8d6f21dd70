//! Function transforms: Python functions in, Python functions out.

mod arguments;
mod callback;
mod compile;
mod control_flow;
mod custom;
pub(crate) mod eval;
mod export;
mod grad;
mod implicit;
mod jacobian;
pub(crate) mod kernel;
mod leading_axes;
mod reachable_modules;
mod signature;
mod state;
mod substitution;
mod vectorize;
mod vmap;
mod wrapper;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umber_kernels::stack::stack_left;

use crate::error_text::mark_final;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    eval::register(module)?;
    grad::register(module)?;
    jacobian::register(module)?;
    vmap::register(module)?;
    vectorize::register(module)?;
    custom::register(module)?;
    callback::register(module)?;
    implicit::register(module)?;
    compile::register(module)?;
    export::register(module)?;
    control_flow::register(module)
}

/// Whether the fields of an object are initialised.
///
/// Python creates the `__dict__` of an object before its fields are initialised, and may collect garbage meanwhile: then
/// `__traverse__` runs on zeroed memory.
#[derive(Clone, Copy)]
struct Initialized(bool);

impl Initialized {
    const YES: Initialized = Initialized(true);

    fn is(self) -> bool {
        self.0
    }
}

/// Minimum stack, in bytes, left for a user function and the kernels that it may run.
const MIN_STACK: usize = 192 << 10;

/// Call a user function.
///
/// Unbounded recursion through transforms may exhaust the stack before the interpreter's recursion limit is reached.
pub(crate) fn call_user<'py>(
    fun: &Bound<'py, PyAny>,
    args: impl PyCallArgs<'py>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    if stack_left() < MIN_STACK {
        let name = fun.getattr("__name__").map_or_else(|_| "call".into(), |name| name.to_string());
        return Err(PyRecursionError::new_err(format!(
            "[{name}] calls are nested too deep for the stack of this thread; use a stack of more \
             than {} KiB",
            MIN_STACK >> 10
        )));
    }
    fun.call(args, kwargs).map_err(|error| mark_final(fun.py(), error))
}

/// Raise TypeError if `fun` is not callable.
fn check_callable(op: &str, fun: &Bound<'_, PyAny>) -> PyResult<()> {
    if fun.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("[{op}] got {}, expected a function", fun.get_type().name()?)))
}
