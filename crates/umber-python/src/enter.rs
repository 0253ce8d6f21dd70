//! The only place that knows Python's exceptions and the global interpreter lock.

use std::sync::Arc;

use pyo3::exceptions::{
    PyBufferError, PyFileNotFoundError, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyOverflowError, PyRuntimeError, PyRuntimeWarning, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use umber::eval::{Hooks, at_once};
use umber::{Array, Error, Result, Scalar};

use crate::environment::few;

/// The exception classes of `umber.core` that Python does not have.
struct Classes {
    /// A bad axis: `IndexError` and `ValueError`.
    axis: Py<PyType>,
    /// A dtype that an operation is not defined for: `TypeError` and `ValueError`.
    dtype: Py<PyType>,
    /// A copy that was forbidden but needed: `BufferError` and `ValueError`.
    copy: Py<PyType>,
    /// A number or a size beyond what holds it: `OverflowError` and `ValueError`.
    range: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let class = |name: &str, doc: &str, bases: [Bound<'_, PyType>; 2]| -> PyResult<Py<PyType>> {
            let body = PyDict::new(py);
            body.set_item("__module__", "umber.core")?;
            body.set_item("__doc__", doc)?;
            let made = py.get_type::<PyType>().call1((name, PyTuple::new(py, bases)?, body))?;
            Ok(made.cast_into::<PyType>()?.unbind())
        };
        let value = || py.get_type::<PyValueError>();
        Ok(Classes {
            axis: class(
                "AxisError",
                "An axis lies outside the dimensions of an array.",
                [py.get_type::<PyIndexError>(), value()],
            )?,
            dtype: class(
                "DTypeError",
                "An operation is not defined for a dtype.",
                [py.get_type::<PyTypeError>(), value()],
            )?,
            copy: class(
                "CopyError",
                "Memory cannot be shared as asked: a copy is needed and was forbidden, or the like.",
                [py.get_type::<PyBufferError>(), value()],
            )?,
            range: class(
                "RangeError",
                "A number or a size lies beyond what can hold it.",
                [py.get_type::<PyOverflowError>(), value()],
            )?,
        })
    })
}

/// Put the exception classes into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let classes = classes(module.py())?;
    module.add("AxisError", &classes.axis)?;
    module.add("DTypeError", &classes.dtype)?;
    module.add("CopyError", &classes.copy)?;
    module.add("RangeError", &classes.range)?;
    connect();
    Ok(())
}

/// The exception an error becomes.
pub(crate) fn to_exception(error: Error) -> PyErr {
    // What the user asked for a value is found by the line that asked.
    let error = if umber::eval::lacks_value(&error) {
        error.map_message(|text| match origin() {
            Some(line) => format!("{text}\nasked for at {line}"),
            None => text,
        })
    } else {
        error
    };
    Python::attach(|py| {
        let of = |class: &Py<PyType>, message: String| PyErr::from_type(class.bind(py).clone(), message);
        match (error, classes(py)) {
            (Error::Value(m), _) => PyValueError::new_err(m),
            (Error::Index(m), _) => PyIndexError::new_err(m),
            (Error::Memory(m), _) => PyMemoryError::new_err(m),
            (Error::Io(m), _) => PyOSError::new_err(m),
            (Error::NotFound(m), _) => PyFileNotFoundError::new_err(m),
            (Error::Runtime(m), _) => PyRuntimeError::new_err(m),
            (Error::Interrupted, _) => PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
            (Error::Type(m), Ok(classes)) => of(&classes.dtype, m),
            (Error::Axis(m), Ok(classes)) => of(&classes.axis, m),
            (Error::Buffer(m), Ok(classes)) => of(&classes.copy, m),
            (Error::Overflow(m), Ok(classes)) => of(&classes.range, m),
            (Error::Type(_) | Error::Axis(_) | Error::Buffer(_) | Error::Overflow(_), Err(failed)) => failed,
        }
    })
}

/// Python's `OverflowError` as ours, which is a `ValueError` too; any other exception as it is.
pub(crate) fn as_ours(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.get_type(py).is(py.get_type::<PyOverflowError>()) || error.traceback(py).is_some() {
        return error;
    }
    let made = classes(py).and_then(|classes| {
        let value = error.value(py);
        let made = classes.range.bind(py).call1((value.str()?,))?;
        for (name, own) in value.getattr("__dict__")?.cast_into::<PyDict>()? {
            made.setattr(name.cast_into::<PyString>()?, own)?;
        }
        Ok(made)
    });
    made.map_or(error, PyErr::from_value)
}

/// An exception on its way through Rust code that was called from Python and called Python: [`to_exception`] takes
/// it up again.
pub(crate) fn carry(py: Python<'_>, exception: PyErr) -> Error {
    exception.restore(py);
    Error::Interrupted
}

/// A result whose error is Python's.
pub(crate) trait OrRaise<T> {
    /// Raise the error as its exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T> {
    #[inline]
    fn or_raise(self) -> PyResult<T> {
        self.map_err(to_exception)
    }
}

/// Run what may compute or block with the interpreter lock released.
pub(crate) fn enter<T: Send>(py: Python<'_>, body: impl Send + FnOnce() -> Result<T>) -> PyResult<T> {
    py.detach(body).or_raise()
}

/// Evaluate an array with the interpreter lock released; what is there already, or at once, needs no letting go.
pub(crate) fn evaluate(py: Python<'_>, array: &Array) -> PyResult<()> {
    if at_once(array) { Ok(()) } else { enter(py, || array.eval()) }
}

/// The one element of an array.
pub(crate) fn item(py: Python<'_>, array: &Array) -> PyResult<Scalar> {
    if array.size() == 1 && at_once(array) { array.item().or_raise() } else { enter(py, || array.item()) }
}

/// Warn where the value of an array that a derivative is being taken of leaves for Python or NumPy: nothing that is
/// made of the value there takes part in the derivative.
pub(crate) fn warn_if_traced(py: Python<'_>, array: &Array) -> PyResult<()> {
    if !array.is_traced() {
        return Ok(());
    }
    let text =
        c"[grad] a value was read out of a function whose derivative is being taken: what is made of it \
        outside umber counts as a constant. Say so with stop_gradient, or use umber's functions";
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), text, 1)
}

/// Has Ctrl-C been pressed? Asked between nodes while the lock is released.
fn interrupted() -> bool {
    Python::try_attach(|py| match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            error.restore(py);
            true
        }
    })
    .unwrap_or(false)
}

/// The innermost line of the program outside umber's own package, as `file:line`.
fn origin() -> Option<Arc<str>> {
    Python::try_attach(|py| {
        let mut frame = py.import("sys").ok()?.call_method1("_getframe", (0,)).ok()?;
        loop {
            let code = frame.getattr("f_code").ok()?;
            let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
            let line: u32 = frame.getattr("f_lineno").ok()?.extract().ok()?;
            let next = frame.getattr("f_back").ok()?;
            let is_ours = ["/umber/array_api/", "/umber/nn/", "/umber/optimizers/", "/umber/_errors.py"]
                .iter()
                .any(|own| file.contains(own));
            if !is_ours || next.is_none() {
                return Some(Arc::from(format!("{file}:{line}")));
            }
            frame = next;
        }
    })
    .flatten()
}

/// Evaluate what must not wait, with the lock released if this thread holds it.
fn due(array: &Array) -> Result<()> {
    Python::try_attach(|py| py.detach(|| array.eval())).unwrap_or_else(|| array.eval())
}

fn connect() {
    let traceback = std::env::var_os("UMBER_TRACEBACK").is_some_and(|value| value == "1");
    let origin = if traceback { Some(origin as fn() -> _) } else { None };
    umber::eval::set_hooks(Hooks { interrupted, due, origin, few: few() });
}
