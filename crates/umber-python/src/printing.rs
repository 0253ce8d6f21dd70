//! Printing of arrays, in MLX's format.

use std::sync::atomic::{AtomicI32, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::Array;
use umber_core::runtime::printing::text;

/// Maximum number of decimals, more than any dtype has.
const MAX_DECIMALS: i32 = 1100;
/// Precision that selects the shortest form with six significant digits.
const SHORTEST: i32 = -1;

/// Number of printed decimals, or [`SHORTEST`]; global to the process.
static PRECISION: AtomicI32 = AtomicI32::new(SHORTEST);

/// Options for printing arrays.
///
/// Examples
/// --------
/// >>> mx.get_printoptions().precision
/// -1
#[pyclass(name = "PrintOptions", module = "umber.core", frozen)]
struct PrintOptions {
    /// Number of decimals, or -1 for the shortest form with six significant digits.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().precision
    /// -1
    #[pyo3(get)]
    precision: i32,
}

/// Context manager that sets the print options; made by `printoptions`.
///
/// Examples
/// --------
/// >>> with mx.printoptions(precision=2):
/// ...     print(mx.array(1 / 3))
/// array(0.33, dtype=float32)
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

/// Set how arrays are printed.
///
/// Parameters
/// ----------
/// precision : int, optional
///     Number of decimals, or -1 for the shortest form with six significant digits. Default: -1.
///
/// Raises
/// ------
/// ValueError
///     If `precision` is less than -1 or greater than 1100.
///
/// See Also
/// --------
/// get_printoptions, printoptions
///
/// Notes
/// -----
/// Holds for the whole process.
///
/// Examples
/// --------
/// >>> mx.set_printoptions(precision=2)
/// >>> mx.array(1 / 3)
/// array(0.33, dtype=float32)
/// >>> mx.set_printoptions()
#[pyfunction]
#[pyo3(signature = (precision = SHORTEST))]
fn set_printoptions(precision: i32) -> PyResult<()> {
    PRECISION.store(checked("set_printoptions", precision)?, Ordering::Relaxed);
    Ok(())
}

/// Return the current options for printing arrays.
///
/// Returns
/// -------
/// PrintOptions
///     Object with the attribute `precision`.
///
/// See Also
/// --------
/// set_printoptions, printoptions
///
/// Examples
/// --------
/// >>> mx.get_printoptions().precision
/// -1
#[pyfunction]
fn get_printoptions() -> PrintOptions {
    PrintOptions { precision: PRECISION.load(Ordering::Relaxed) }
}

/// Return a context manager that sets how arrays are printed.
///
/// Parameters
/// ----------
/// precision : int, optional
///     Number of decimals, or -1 for the shortest form with six significant digits. Default: -1.
///
/// Returns
/// -------
/// PrintOptionsContext
///
/// Raises
/// ------
/// ValueError
///     If `precision` is less than -1 or greater than 1100.
///
/// See Also
/// --------
/// set_printoptions, get_printoptions
///
/// Examples
/// --------
/// >>> with mx.printoptions(precision=2):
/// ...     print(mx.array(1 / 3))
/// array(0.33, dtype=float32)
#[pyfunction]
#[pyo3(signature = (precision = SHORTEST))]
fn printoptions(precision: i32) -> PyResult<PrintOptionsContext> {
    Ok(PrintOptionsContext { precision: checked("printoptions", precision)?, before: None })
}

/// Register the print options in the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PrintOptions>()?;
    module.add_function(wrap_pyfunction!(set_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(get_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(printoptions, module)?)
}

/// Format an evaluated array: `array([1, 2], dtype=int32)`.
pub(crate) fn repr(array: &Array) -> umber_core::Result<String> {
    text(array, usize::try_from(PRECISION.load(Ordering::Relaxed)).ok())
}
