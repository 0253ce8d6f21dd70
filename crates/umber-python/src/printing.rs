//! How arrays print: as MLX prints them.

use std::sync::atomic::{AtomicI32, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::Array;
use umber_core::runtime::printing::text;

/// More decimals than any dtype has.
const MAX_DECIMALS: i32 = 1100;
/// The precision that means the shortest form of six significant digits.
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
    if (SHORTEST..=MAX_DECIMALS).contains(&precision) {
        return Ok(precision);
    }
    Err(PyValueError::new_err(format!(
        "[{op}] precision must be between 0 and {MAX_DECIMALS}, or -1, got {precision}"
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

/// `array([1, 2], dtype=int32)` of an evaluated array.
pub(crate) fn repr(array: &Array) -> umber_core::Result<String> {
    text(array, usize::try_from(PRECISION.load(Ordering::Relaxed)).ok())
}
