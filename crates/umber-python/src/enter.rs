//! The only module that handles Python's exceptions and the global interpreter lock (GIL).

use std::ffi::CString;
use std::sync::{Arc, LazyLock};
use umber_core::types::ErrorKind;

use pyo3::exceptions::{
    PyBufferError, PyFileNotFoundError, PyFloatingPointError, PyIndexError, PyKeyboardInterrupt,
    PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyRuntimeWarning, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use umber_core::frontend::{self, Frontend};
use umber_core::graph::ArrayInternals;
use umber_core::{Array, Error, Result, Scalar, eager};

use crate::environment::is_eager;
use crate::error_text::NAMES_ITS_FUNCTION;

/// The exception classes that `umber.core` adds to Python's. Each derives from every class that programs catch for the error,
/// whether they follow Python's conventions or MLX's.
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
    NonFinite,
}

/// Definition of an exception class.
struct Definition {
    name: &'static str,
    doc: &'static str,
    /// Bases among the preceding classes of the table.
    umber_bases: &'static [Class],
    python_bases: fn(Python<'_>) -> Vec<Bound<'_, PyType>>,
}

/// Indexed by [`Class`].
static DEFINITIONS: [Definition; 10] = [
    Definition {
        name: "ArgumentError",
        doc: "An argument has a type that the function does not accept.",
        umber_bases: &[],
        python_bases: |py| {
            vec![py.get_type::<PyTypeError>(), py.get_type::<PyValueError>(), py.get_type::<PyRuntimeError>()]
        },
    },
    Definition {
        name: "DTypeError",
        doc: "An operation is not defined for a dtype.",
        umber_bases: &[Class::Argument],
        python_bases: |_| Vec::new(),
    },
    Definition {
        name: "ArrayIndexError",
        doc: "An index is out of bounds, or is not a valid index.",
        umber_bases: &[],
        python_bases: |py| vec![py.get_type::<PyIndexError>(), py.get_type::<PyValueError>()],
    },
    Definition {
        name: "AxisError",
        doc: "An axis is out of bounds for the number of dimensions of an array.",
        umber_bases: &[Class::Index],
        python_bases: |_| Vec::new(),
    },
    Definition {
        name: "CopyError",
        doc: "Memory cannot be shared as requested, for example because a copy is needed but not allowed.",
        umber_bases: &[],
        python_bases: |py| vec![py.get_type::<PyBufferError>(), py.get_type::<PyValueError>()],
    },
    Definition {
        name: "RangeError",
        doc: "A number or size exceeds the range of the type that stores it.",
        umber_bases: &[],
        python_bases: |py| {
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
        umber_bases: &[],
        python_bases: |py| vec![py.get_type::<PyOSError>(), py.get_type::<PyRuntimeError>()],
    },
    Definition {
        name: "FileMissingError",
        doc: "A file does not exist.",
        umber_bases: &[Class::File],
        python_bases: |py| vec![py.get_type::<PyFileNotFoundError>(), py.get_type::<PyValueError>()],
    },
    Definition {
        name: "FormatError",
        doc: "A file is damaged or has an unknown format, or its format cannot represent the data.",
        umber_bases: &[],
        python_bases: |py| vec![py.get_type::<PyValueError>(), py.get_type::<PyRuntimeError>()],
    },
    Definition {
        name: "NonFiniteError",
        doc: "An operation produced a NaN or an infinity, see `debug_nans`.",
        umber_bases: &[],
        python_bases: |py| vec![py.get_type::<PyFloatingPointError>()],
    },
];

static CLASSES: PyOnceLock<Vec<Py<PyType>>> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Vec<Py<PyType>>> {
    CLASSES.get_or_try_init(py, || {
        let mut created: Vec<Py<PyType>> = Vec::with_capacity(DEFINITIONS.len());
        for definition in &DEFINITIONS {
            let umber_bases =
                definition.umber_bases.iter().map(|&class| created[class as usize].bind(py).clone());
            let bases: Vec<_> = umber_bases.chain((definition.python_bases)(py)).collect();
            let body = PyDict::new(py);
            body.set_item("__module__", "umber.core")?;
            body.set_item("__doc__", definition.doc)?;
            let class = py.get_type::<PyType>().call1((definition.name, PyTuple::new(py, bases)?, body))?;
            created.push(class.cast_into::<PyType>()?.unbind());
        }
        Ok(created)
    })
}

/// An exception of one of umber's classes.
fn of(py: Python<'_>, class: Class, message: String) -> PyErr {
    match classes(py) {
        Ok(classes) => PyErr::from_type(classes[class as usize].bind(py).clone(), message),
        Err(failed) => failed,
    }
}

/// Whether it is one of the exception classes of `umber.core`.
pub(crate) fn is_own_class(py: Python<'_>, class: &Bound<'_, PyType>) -> bool {
    CLASSES.get(py).is_some_and(|classes| classes.iter().any(|other| class.is(other)))
}

/// Put the exception classes into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (definition, class) in DEFINITIONS.iter().zip(classes(module.py())?) {
        module.add(definition.name, class)?;
    }
    connect();
    Ok(())
}

/// Whether error messages name the user's source line.
fn names_lines() -> bool {
    static NAMED: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("UMBER_TRACEBACK").is_some_and(|value| value == "1"));
    *NAMED
}

/// The exception an error becomes.
pub(crate) fn to_exception(error: Error) -> PyErr {
    // An error about a missing value names the line that requested the value. An operation that failed eagerly has no node with
    // a recorded line: the current line is the one that called it.
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
            ErrorKind::NonFinite => of(py, Class::NonFinite, text),
            // New kinds raise RuntimeError until they are mapped to a class here.
            _ => PyRuntimeError::new_err(text),
        };
        if error.is_deferred() { crate::error_text::mark_final(py, exception) } else { exception }
    })
}

/// Functions on files, whose ValueErrors are about the contents or the format of the file.
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

/// Convert an exception of one of Python's classes, raised by the function `name`, to the class of umber that derives from it;
/// other exceptions are returned unchanged.
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
    let convert = || {
        let args = value.getattr("args")?.cast_into::<PyTuple>()?;
        let converted = classes(py)?[class as usize].bind(py).call1(args)?;
        for (name, attribute) in value.getattr("__dict__")?.cast_into::<PyDict>()? {
            converted.setattr(name.cast_into::<PyString>()?, attribute)?;
        }
        converted.setattr("__cause__", value.getattr("__cause__")?)?;
        Ok::<_, PyErr>(converted)
    };
    match convert() {
        Ok(converted) => PyErr::from_value(converted),
        Err(_) => error,
    }
}

/// Pass a Python exception through Rust code that was called from Python: it stays set in the interpreter, and
/// [`to_exception`] takes it from there.
pub(crate) fn carry(py: Python<'_>, exception: PyErr) -> Error {
    exception.restore(py);
    Error::interrupted()
}

/// Conversion of a result's error to a Python exception.
pub(crate) trait OrRaise<T> {
    /// Convert the error to its exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T> {
    #[inline]
    fn or_raise(self) -> PyResult<T> {
        self.map_err(to_exception)
    }
}

/// Run `body`, which may compute or block, with the GIL released.
pub(crate) fn enter<T: Send>(py: Python<'_>, body: impl Send + FnOnce() -> Result<T>) -> PyResult<T> {
    py.detach(body).or_raise()
}

/// Evaluate an array with the GIL released, unless it is already evaluated.
pub(crate) fn evaluate(py: Python<'_>, array: &Array) -> PyResult<()> {
    if array.is_on_host() { Ok(()) } else { enter(py, || array.eval()) }
}

/// The only element of an array.
pub(crate) fn item(py: Python<'_>, array: &Array) -> PyResult<Scalar> {
    if array.is_on_host() { array.item().or_raise() } else { enter(py, || array.item()) }
}

/// Warn when the value of a traced array is read by Python or NumPy: results computed from it outside umber are constants to
/// the derivative.
pub(crate) fn warn_if_traced(py: Python<'_>, array: &Array) -> PyResult<()> {
    if !array.is_traced() {
        return Ok(());
    }
    let text =
        c"[grad] a value was read out of a function whose derivative is being taken: what is made of it \
        outside umber counts as a constant. Say so with stop_gradient, or use umber's functions";
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), text, 1)
}

/// Whether Ctrl-C was pressed. Called between nodes of an evaluation, while the GIL is released.
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

/// The source line of the innermost frame outside umber's own package, as `file:line`.
fn origin() -> Option<Arc<str>> {
    Python::try_attach(|py| {
        let mut frame = py.import("sys").ok()?.call_method1("_getframe", (0,)).ok()?;
        loop {
            let code = frame.getattr("f_code").ok()?;
            let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
            let line: u32 = frame.getattr("f_lineno").ok()?.extract().ok()?;
            let next = frame.getattr("f_back").ok()?;
            let is_ours = [
                "/umber/array_api/",
                "/umber/nn/",
                "/umber/optimizers/",
                "/umber/data/",
                "/umber/utils.py",
                "/umber/_errors.py",
            ]
            .iter()
            .any(|path| file.contains(path));
            if !is_ours || next.is_none() {
                return Some(Arc::from(format!("{file}:{line}")));
            }
            frame = next;
        }
    })
    .flatten()
}

/// The core's interface to the Python interpreter.
struct Interpreter;

impl Frontend for Interpreter {
    fn is_interrupted(&self) -> bool {
        interrupted()
    }

    fn run_unlocked(&self, work: &mut (dyn FnMut() + Send)) {
        // A thread without a Python thread state does not hold the GIL.
        Python::try_attach(|py| py.detach(&mut *work)).unwrap_or_else(&mut *work);
    }

    fn keeps_lines(&self) -> bool {
        names_lines()
    }

    fn line(&self) -> Option<Arc<str>> {
        origin()
    }

    fn warn(&self, text: &str) -> bool {
        let warn =
            |py: Python<'_>| PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(text)?, 1);
        Python::try_attach(|py| warn(py).is_ok()).unwrap_or(false)
    }
}

fn connect() {
    frontend::connect(&Interpreter);
    eager::enable(is_eager());
}
