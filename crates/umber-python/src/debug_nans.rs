//! `debug_nans`: search the results of operations for NaN.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::observer::numbers::{self, Action, NumberCheck, Unwanted};

/// Context manager that restores the search for NaN; made by `debug_nans`.
///
/// Examples
/// --------
/// >>> with mx.debug_nans():
/// ...     mx.sqrt(mx.array(4.0))
/// array(2, dtype=float32)
#[pyclass(name = "DebugNansContext", module = "umber.core", frozen)]
struct DebugNansContext {
    before: Option<NumberCheck>,
}

#[pymethods]
impl DebugNansContext {
    fn __enter__(&self) {}

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        numbers::set(self.before);
    }
}

/// Search the result of every operation for NaN, and raise for the operation that produced it.
///
/// Parameters
/// ----------
/// enable : bool, optional
///     Whether to search from now on. Default: True.
/// infs : bool, optional
///     Whether to search for infinities, too. Default: False.
/// action : {"raise", "warn"}, optional
///     What to do about an operation that produced a NaN: raise NonFiniteError, or show a RuntimeWarning and continue.
///     Default: "raise".
///
/// Returns
/// -------
/// DebugNansContext
///     Context manager: at the end of its block the setting before the call is restored.
///
/// Raises
/// ------
/// ValueError
///     If `action` is neither "raise" nor "warn".
/// NonFiniteError
///     Not from this call, but from an evaluation, or from an operation on a few evaluated elements, in which an operation
///     produced a NaN. It is a FloatingPointError.
///
/// See Also
/// --------
/// nan_to_num, isnan
///
/// Notes
/// -----
/// An elementwise operation produced a NaN where its result is NaN and none of its inputs is, at the same index. Any other
/// operation produced one if its result holds NaN and no input does. So NaN in the data is allowed, and the first operation
/// that computes a new one is reported: its name, the line of the program that recorded it, the number of NaN, the first
/// index, and what the inputs hold. The rule for infinities is the same. Constants and bits that `view` reinterprets are
/// not searched.
///
/// Operations inside compiled functions, loops and derivatives are searched too; the message names the iteration of a loop,
/// and the operation whose derivative failed. A fused loop is searched at its end. If it holds NaN, its operations are run
/// again one by one. A NaN that an operation in the same fused loop removes, as ``where`` may, is not reported.
///
/// The setting holds for the whole process, its threads and streams. ``UMBER_DEBUG_NANS=1`` in the environment turns it
/// on at import. While it is on, programs are several times slower: results are read again, no memory is overwritten in place,
/// plans are not reused, and the host waits for every operation of another device. When it is off it costs nothing.
///
/// If warnings are errors to the program, "warn" raises NonFiniteError.
///
/// Examples
/// --------
/// >>> with mx.debug_nans():
/// ...     mx.log(mx.array([1.0, -1.0]))
/// Traceback (most recent call last):
/// ...
/// umber.core.NonFiniteError: [log] produced 1 NaN ...
#[pyfunction]
#[pyo3(signature = (enable = true, *, infs = false, action = "raise"))]
fn debug_nans(enable: bool, infs: bool, action: &str) -> PyResult<DebugNansContext> {
    let action = match action {
        "raise" => Action::Raise,
        "warn" => Action::Warn,
        _ => {
            return Err(PyValueError::new_err(format!(
                "[debug_nans] action must be 'raise' or 'warn', got {action:?}"
            )));
        }
    };
    let unwanted = if infs { Unwanted::NonFinite } else { Unwanted::Nan };
    Ok(DebugNansContext { before: numbers::set(enable.then_some(NumberCheck { unwanted, action })) })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(debug_nans, module)?)
}
