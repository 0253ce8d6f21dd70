//! The only place that knows Python's exceptions and the global interpreter lock.

use std::sync::{Arc, LazyLock};
use umber_core::types::ErrorKind;

use pyo3::exceptions::{
    PyBufferError, PyFileNotFoundError, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyOverflowError, PyRuntimeError, PyRuntimeWarning, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use umber_core::frontend::{self, Frontend};
use umber_core::graph::ArrayInternals;
use umber_core::{Array, Error, Result, Scalar, eager};

use crate::environment::is_eager;
use crate::error_text::NAMES_ITS_FUNCTION;

/// The exception classes of `umber.core` that Python does not have. Each derives from all that programs catch for the
/// fault, be they written for Python's habits or for MLX.
#[derive(Clone, Copy)]
enum Class {
    Argument,
    DType,
    Index,
    Axis,
    Copy,
    Range,
    File,
    FileMissing,
    Format,
}

/// A class as it is made.
struct Definition {
    name: &'static str,
    doc: &'static str,
    /// Of the classes before it in the table.
    own: &'static [Class],
    python: fn(Python<'_>) -> Vec<Bound<'_, PyType>>,
}

/// In the order of [`Class`].
static DEFINITIONS: [Definition; 9] = [
    Definition {
        name: "ArgumentError",
        doc: "An argument has a type that the function does not take.",
        own: &[],
        python: |py| {
            vec![py.get_type::<PyTypeError>(), py.get_type::<PyValueError>(), py.get_type::<PyRuntimeError>()]
        },
    },
    Definition {
        name: "DTypeError",
        doc: "An operation is not defined for a dtype.",
        own: &[Class::Argument],
        python: |_| Vec::new(),
    },
    Definition {
        name: "ArrayIndexError",
        doc: "An index lies outside its axis, or is none.",
        own: &[],
        python: |py| vec![py.get_type::<PyIndexError>(), py.get_type::<PyValueError>()],
    },
    Definition {
        name: "AxisError",
        doc: "An axis lies outside the dimensions of an array.",
        own: &[Class::Index],
        python: |_| Vec::new(),
    },
    Definition {
        name: "CopyError",
        doc: "Memory cannot be shared as asked: a copy is needed and was forbidden, or the like.",
        own: &[],
        python: |py| vec![py.get_type::<PyBufferError>(), py.get_type::<PyValueError>()],
    },
    Definition {
        name: "RangeError",
        doc: "A number or a size lies beyond what can hold it.",
        own: &[],
        python: |py| {
            vec![
                py.get_type::<PyOverflowError>(),
                py.get_type::<PyValueError>(),
                py.get_type::<PyRuntimeError>(),
            ]
        },
    },
    Definition {
        name: "FileError",
        doc: "A file cannot be read or written.",
        own: &[],
        python: |py| vec![py.get_type::<PyOSError>(), py.get_type::<PyRuntimeError>()],
    },
    Definition {
        name: "FileMissingError",
        doc: "There is no file of that name.",
        own: &[Class::File],
        python: |py| vec![py.get_type::<PyFileNotFoundError>(), py.get_type::<PyValueError>()],
    },
    Definition {
        name: "FormatError",
        doc: "A file is damaged, in no known format, or holds or is to hold what its format has no place for.",
        own: &[],
        python: |py| vec![py.get_type::<PyValueError>(), py.get_type::<PyRuntimeError>()],
    },
];

static CLASSES: PyOnceLock<Vec<Py<PyType>>> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Vec<Py<PyType>>> {
    CLASSES.get_or_try_init(py, || {
        let mut made: Vec<Py<PyType>> = Vec::with_capacity(DEFINITIONS.len());
        for definition in &DEFINITIONS {
            let own = definition.own.iter().map(|&class| made[class as usize].bind(py).clone());
            let bases: Vec<_> = own.chain((definition.python)(py)).collect();
            let body = PyDict::new(py);
            body.set_item("__module__", "umber.core")?;
            body.set_item("__doc__", definition.doc)?;
            let class = py.get_type::<PyType>().call1((definition.name, PyTuple::new(py, bases)?, body))?;
            made.push(class.cast_into::<PyType>()?.unbind());
        }
        Ok(made)
    })
}

/// An exception of one of our classes.
fn of(py: Python<'_>, class: Class, message: String) -> PyErr {
    match classes(py) {
        Ok(classes) => PyErr::from_type(classes[class as usize].bind(py).clone(), message),
        Err(failed) => failed,
    }
}

/// Is it one of the exception classes of `umber.core`?
pub(crate) fn is_own_class(py: Python<'_>, class: &Bound<'_, PyType>) -> bool {
    CLASSES.get(py).is_some_and(|classes| classes.iter().any(|own| class.is(own)))
}

/// Put the exception classes into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (definition, class) in DEFINITIONS.iter().zip(classes(module.py())?) {
        module.add(definition.name, class)?;
    }
    connect();
    Ok(())
}

/// Do the texts of errors name the user's line?
fn names_lines() -> bool {
    static NAMED: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("UMBER_TRACEBACK").is_some_and(|value| value == "1"));
    *NAMED
}

/// The exception an error becomes.
pub(crate) fn to_exception(error: Error) -> PyErr {
    // What the user asked for a value is found by the line that asked. An operation that failed eagerly has no node that
    // knows its line: it is the line that is running.
    let error = match error.kind() {
        ErrorKind::NoValue => match origin() {
            Some(line) => error.with_note(format!("\nrequested at {line}")),
            None => error,
        },
        _ if names_lines() && error.origin().is_none() => error.recorded_at(origin().as_ref()),
        _ => error,
    };
    Python::attach(|py| {
        let text = error.to_string();
        let exception = match error.kind() {
            ErrorKind::Value | ErrorKind::NoValue => PyValueError::new_err(text),
            ErrorKind::Index => of(py, Class::Index, text),
            ErrorKind::Memory => PyMemoryError::new_err(text),
            ErrorKind::Io => of(py, Class::File, text),
            ErrorKind::NotFound => of(py, Class::FileMissing, text),
            ErrorKind::Interrupted => {
                return PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
            }
            ErrorKind::Type => of(py, Class::DType, text),
            ErrorKind::Axis => of(py, Class::Axis, text),
            ErrorKind::Buffer => of(py, Class::Copy, text),
            ErrorKind::Overflow => of(py, Class::Range, text),
            // Kinds that are added later are failures of a run until they are given a class here.
            _ => PyRuntimeError::new_err(text),
        };
        if error.is_deferred() { crate::error_text::mark_final(py, exception) } else { exception }
    })
}

/// Functions of files, in which a bad value is of the file or of its format.
const OF_FILES: [&str; 9] = [
    "load",
    "save",
    "savez",
    "savez_compressed",
    "save_safetensors",
    "save_gguf",
    "export_function",
    "exporter",
    "import_function",
];

/// An exception of one of Python's classes, raised by the function `name`, as the class of ours that derives from it and
/// from what else programs catch; any other as it is.
pub(crate) fn as_ours(py: Python<'_>, error: PyErr, name: &str) -> PyErr {
    let class = error.get_type(py);
    let class = if class.is(py.get_type::<PyTypeError>()) {
        Class::Argument
    } else if class.is(py.get_type::<PyOverflowError>()) {
        Class::Range
    } else if class.is(py.get_type::<PyIndexError>()) {
        Class::Index
    } else if class.is(py.get_type::<PyFileNotFoundError>()) {
        Class::FileMissing
    } else if class.is(py.get_type::<PyOSError>()) {
        Class::File
    } else if class.is(py.get_type::<PyValueError>()) && OF_FILES.contains(&name) {
        Class::Format
    } else {
        return error;
    };
    let value = error.value(py);
    if error.traceback(py).is_some() || value.hasattr(NAMES_ITS_FUNCTION).unwrap_or(true) {
        return error;
    }
    let made = || {
        let words = value.getattr("args")?.cast_into::<PyTuple>()?;
        let made = classes(py)?[class as usize].bind(py).call1(words)?;
        for (name, own) in value.getattr("__dict__")?.cast_into::<PyDict>()? {
            made.setattr(name.cast_into::<PyString>()?, own)?;
        }
        made.setattr("__cause__", value.getattr("__cause__")?)?;
        Ok::<_, PyErr>(made)
    };
    match made() {
        Ok(made) => PyErr::from_value(made),
        Err(_) => error,
    }
}

/// An exception on its way through Rust code that was called from Python and called Python: [`to_exception`] takes
/// it up again.
pub(crate) fn carry(py: Python<'_>, exception: PyErr) -> Error {
    exception.restore(py);
    Error::interrupted()
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

/// Evaluate an array with the interpreter lock released, unless it is evaluated.
pub(crate) fn evaluate(py: Python<'_>, array: &Array) -> PyResult<()> {
    if array.is_on_host() { Ok(()) } else { enter(py, || array.eval()) }
}

/// The one element of an array.
pub(crate) fn item(py: Python<'_>, array: &Array) -> PyResult<Scalar> {
    if array.is_on_host() { array.item().or_raise() } else { enter(py, || array.item()) }
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

/// Python: what it tells the core.
struct Interpreter;

impl Frontend for Interpreter {
    fn is_interrupted(&self) -> bool {
        interrupted()
    }

    fn run_unlocked(&self, work: &mut (dyn FnMut() + Send)) {
        // Of a thread that Python does not know there is no lock to release.
        Python::try_attach(|py| py.detach(&mut *work)).unwrap_or_else(&mut *work);
    }

    fn keeps_lines(&self) -> bool {
        names_lines()
    }

    fn line(&self) -> Option<Arc<str>> {
        origin()
    }
}

fn connect() {
    frontend::connect(&Interpreter);
    eager::enable(is_eager());
}
