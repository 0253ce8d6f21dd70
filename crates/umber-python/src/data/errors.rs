//! Errors of pipelines as Python exceptions, and Python's exceptions in pipelines.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use umber_core::types::{Error, ErrorKind};
use umber_data::DataError;
use umber_data::error::{Cause, Foreign};

use crate::enter::to_exception;

/// The module of the exception classes.
const CLASSES: &str = "umber.data._errors";

/// An exception of a user's function.
struct Exception(Py<PyAny>);

impl Foreign for Exception {
    fn message(&self) -> String {
        Python::try_attach(|py| {
            let exception = self.0.bind(py);
            let name = exception.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            format!("{name}: {exception}")
        })
        .unwrap_or_default()
    }

    fn is_interrupt(&self) -> bool {
        Python::try_attach(|py| !self.0.bind(py).is_instance_of::<PyException>()).unwrap_or(true)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Carry an exception through a pipeline.
pub(super) fn carried(py: Python<'_>, exception: PyErr) -> DataError {
    DataError::foreign(Arc::new(Exception(exception.into_value(py).into_any())))
}

/// The exception of an error: the user's own, with a note of where it happened, or one of `umber.data`.
pub(super) fn exception(py: Python<'_>, error: &DataError) -> PyErr {
    if let Cause::Foreign(foreign) = error.cause()
        && let Some(Exception(value)) = foreign.as_any().downcast_ref::<Exception>()
    {
        let value = value.bind(py);
        // An exception that is raised twice keeps one note.
        let note = format!("in umber.data: {}", error.place());
        let has_note = || value.getattr("__notes__").and_then(|notes| notes.contains(&note));
        if !has_note().unwrap_or(false) {
            let _ = value.call_method1("add_note", (note,));
        }
        return PyErr::from_value(value.clone());
    }
    if error.is_interrupt() {
        return to_exception(Error::interrupted());
    }
    let class = match error.kind() {
        ErrorKind::Value | ErrorKind::NoValue | ErrorKind::Overflow | ErrorKind::Buffer => "DataValueError",
        ErrorKind::Type => "DataTypeError",
        ErrorKind::Index => "DataIndexError",
        ErrorKind::Axis => "DataAxisError",
        ErrorKind::Memory => "DataMemoryError",
        ErrorKind::NotFound => "DataFileNotFoundError",
        ErrorKind::Io => "DataFileError",
        _ => "DataError",
    };
    let make = || {
        let made = py.import(CLASSES)?.getattr(class)?.call1((error.to_string(),))?;
        made.setattr("stage", error.stage())?;
        made.setattr("index", error.index())?;
        made.setattr("key", error.key())?;
        made.setattr("path", error.path().map(|path| path.to_string_lossy().into_owned()))?;
        Ok::<_, PyErr>(made)
    };
    match make() {
        Ok(made) => PyErr::from_value(made),
        Err(failed) => failed,
    }
}

/// Conversion of a result's error to an exception.
pub(super) trait OrRaiseData<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaiseData<T> for umber_data::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}
