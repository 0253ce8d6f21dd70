//! `eval`, `async_eval`.

use std::sync::OnceLock;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::{Array, eval};

use super::state::is_state;
use crate::array::PyArray;
use crate::enter::{enter, evaluate};
use crate::pytree::Pytree;

pub(crate) fn arrays_of<'py>(
    py: Python<'py>,
    args: impl IntoIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Vec<Array>> {
    let (mut arrays, mut states) = (Vec::new(), Vec::new());
    for arg in args {
        // One array, the common case, needs no tree.
        match arg.cast::<PyArray>() {
            Ok(array) => arrays.push(array.get().get()),
            Err(_) => {
                Pytree::of(&arg)?.visit(&mut |leaf| match leaf {
                    Pytree::Array(array) => arrays.push(array.get().get()),
                    Pytree::Other(value) if is_state(value.bind(py)) => {
                        states.push(value.clone_ref(py));
                    }
                    _ => {}
                });
            }
        }
    }
    for state in states {
        for array in state.bind(py).try_iter()? {
            arrays.push(array?.cast::<crate::array::PyArray>()?.get().get());
        }
    }
    Ok(arrays)
}

/// Compute arrays that are still pending, and wait until they are evaluated.
///
/// Parameters
/// ----------
/// *args : array or pytree of arrays
///     Arrays, or nested lists, tuples and dicts of them. ``random.state`` counts as its arrays; other objects are ignored.
///
/// See Also
/// --------
/// async_eval
///
/// Notes
/// -----
/// Operations are recorded in a graph and computed together when a value is needed: here, or when an array is printed,
/// converted or read. Evaluate once per step of a training loop. An error of a pending operation is raised here.
///
/// Examples
/// --------
/// >>> x = mx.random.normal((1000,))
/// >>> y = {"mean": x.mean(), "max": x.max()}
/// >>> mx.eval(x, y)
#[pyfunction(name = "eval")]
#[pyo3(signature = (first=None, /, *rest), text_signature = "(*args)")]
fn eval_arrays<'py>(
    py: Python<'py>,
    first: Option<&Bound<'py, PyAny>>,
    rest: &Bound<'py, PyTuple>,
) -> PyResult<()> {
    // One array, the common case, needs no tuple.
    if rest.is_empty()
        && let Some(Ok(array)) = first.map(|first| first.cast::<PyArray>())
    {
        return evaluate(py, &array.get().get());
    }
    let arrays = arrays_of(py, first.cloned().into_iter().chain(rest))?;
    if arrays.iter().all(Array::is_on_host) {
        return Ok(());
    }
    enter(py, move || eval(&arrays))
}

/// Start to compute arrays that are still pending, without waiting for them.
///
/// Parameters
/// ----------
/// *args : array or pytree of arrays
///     Arrays, or nested lists, tuples and dicts of them. ``random.state`` counts as its arrays; other objects are ignored.
///
/// See Also
/// --------
/// eval, synchronize
///
/// Notes
/// -----
/// Reading one of the arrays waits until it is evaluated. Python can meanwhile record the next operations.
///
/// Examples
/// --------
/// >>> y = mx.ones((512, 512)) @ mx.ones((512, 512))
/// >>> mx.async_eval(y)
/// >>> y[0, 0].item()
/// 512.0
#[pyfunction]
#[pyo3(signature = (*args))]
fn async_eval(args: &Bound<'_, PyTuple>) -> PyResult<()> {
    let arrays = arrays_of(args.py(), args)?;
    enter(args.py(), move || umber_core::async_eval(&arrays))
}

/// PyO3's C function of [`eval_arrays`].
static EVAL: OnceLock<ffi::PyCFunctionFastWithKeywords> = OnceLock::new();

/// Fast path of `eval` for one evaluated array, without argument parsing. All other calls are passed on to [`EVAL`].
unsafe extern "C" fn eval_if_evaluated(
    own: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: isize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with the GIL held and passes `count` arguments, after EVAL was set; `Array::is_on_host`
    // only reads fields.
    unsafe {
        if count == 1 && names.is_null() {
            let py = Python::assume_attached();
            let first = Borrowed::from_ptr(py, *arguments);
            if let Ok(array) = first.cast::<PyArray>()
                && array.get().with_ref(py, Array::is_on_host)
            {
                return py.None().into_ptr();
            }
        }
        EVAL.get().map_or(std::ptr::null_mut(), |eval| eval(own, arguments, count, names))
    }
}

/// Install [`eval_if_evaluated`] as the fast path of the C function of `eval`.
pub(crate) fn before_eval(original: ffi::PyCFunctionFastWithKeywords) -> ffi::PyCFunctionFastWithKeywords {
    EVAL.get_or_init(|| original);
    eval_if_evaluated
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(eval_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(async_eval, module)?)
}
