//! `load`, `save`, `save_safetensors`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use umber::Array;
use umber::io::{npy, safetensors};

use crate::array::PyArray;
use crate::enter::enter;

/// Where a file is: on the disk, or an open file of Python's.
enum Place<'py> {
    Path(PathBuf),
    Open(Bound<'py, PyAny>),
}

fn place<'py>(op: &str, file: &Bound<'py, PyAny>) -> PyResult<Place<'py>> {
    if let Ok(path) = file.extract::<PathBuf>() {
        return Ok(Place::Path(path));
    }
    if file.hasattr("read")? || file.hasattr("write")? {
        return Ok(Place::Open(file.clone()));
    }
    Err(PyTypeError::new_err(format!(
        "[{op}] expected a path or an open binary file, got {}",
        file.get_type().name()?
    )))
}

/// The path with the format's extension, which is added where it is missing.
fn with_extension(path: PathBuf, extension: &str) -> PathBuf {
    if path.extension().is_some_and(|own| own == extension) {
        return path;
    }
    let mut name = path.into_os_string();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// Which format a file is in: as told, or by its extension.
fn format_of(op: &str, path: Option<&Path>, format: Option<String>) -> PyResult<String> {
    let found = format.or_else(|| path?.extension()?.to_str().map(str::to_owned));
    match found.as_deref() {
        Some("npy" | "safetensors") => Ok(found.unwrap_or_default()),
        Some(other) => Err(PyValueError::new_err(format!(
            "[{op}] got the file format '{other}', expected npy or safetensors"
        ))),
        None => Err(PyValueError::new_err(format!(
            "[{op}] got a file without an extension that tells its format, expected format='npy' or 'safetensors'"
        ))),
    }
}

fn read(py: Python<'_>, open: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let data = open.call_method0("read")?;
    let _ = py;
    data.cast::<PyBytes>().map(|bytes| bytes.as_bytes().to_vec()).map_err(|_| {
        PyTypeError::new_err("[load] got a file that is not open in binary mode, expected bytes")
    })
}

/// Read arrays from a file: one from npy, a dict from safetensors.
///
/// With `return_metadata` a safetensors file gives `(arrays, metadata)`.
#[pyfunction]
#[pyo3(signature = (file, /, format = None, return_metadata = false, *, stream = None))]
fn load<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    format: Option<String>,
    return_metadata: bool,
    stream: Option<crate::args::StreamArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let _ = stream;
    let place = place("load", file)?;
    let path = match &place {
        Place::Path(path) => Some(path.as_path()),
        Place::Open(_) => None,
    };
    let format = format_of("load", path, format)?;
    if format == "npy" {
        let array = match place {
            Place::Path(path) => enter(py, move || npy::load(&path))?,
            Place::Open(open) => {
                let bytes = read(py, &open)?;
                enter(py, move || npy::from_bytes(&bytes))?
            }
        };
        return Ok(Bound::new(py, PyArray::from(array))?.into_any());
    }
    let contents = match place {
        Place::Path(path) => enter(py, move || safetensors::load(&path))?,
        Place::Open(open) => {
            let bytes = read(py, &open)?;
            enter(py, move || safetensors::from_bytes(&bytes))?
        }
    };
    let arrays = PyDict::new(py);
    for (name, array) in contents.arrays {
        arrays.set_item(name, PyArray::from(array))?;
    }
    if !return_metadata {
        return Ok(arrays.into_any());
    }
    let metadata = contents.metadata.into_pyobject(py)?;
    Ok((arrays, metadata).into_pyobject(py)?.into_any())
}

fn named_arrays(arrays: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Array)>> {
    let mut found = Vec::new();
    for (name, value) in arrays {
        let Ok(array) = value.cast::<PyArray>() else {
            return Err(PyTypeError::new_err(format!(
                "[save_safetensors] '{name}': expected an array, got {}",
                value.get_type().name()?
            )));
        };
        found.push((name.extract()?, array.get().get()));
    }
    Ok(found)
}

/// Write arrays by name (and texts by name) into a safetensors file, whole or not at all.
#[pyfunction]
#[pyo3(signature = (file, arrays, metadata = None))]
fn save_safetensors(
    py: Python<'_>,
    file: &Bound<'_, PyAny>,
    arrays: &Bound<'_, PyDict>,
    metadata: Option<HashMap<String, String>>,
) -> PyResult<()> {
    let arrays = named_arrays(arrays)?;
    match place("save_safetensors", file)? {
        Place::Path(path) => {
            let path = with_extension(path, "safetensors");
            enter(py, move || safetensors::save(&path, &arrays, metadata))
        }
        Place::Open(open) => {
            let bytes = enter(py, move || safetensors::to_bytes(&arrays, metadata))?;
            open.call_method1("write", (PyBytes::new(py, &bytes),)).map(drop)
        }
    }
}

/// Write one array into an npy file, whole or not at all.
#[pyfunction]
fn save(py: Python<'_>, file: &Bound<'_, PyAny>, arr: &Bound<'_, PyArray>) -> PyResult<()> {
    let array = arr.get().get();
    match place("save", file)? {
        Place::Path(path) => {
            let path = with_extension(path, "npy");
            enter(py, move || npy::save(&path, &array))
        }
        Place::Open(open) => {
            let bytes = enter(py, move || npy::to_bytes(&array))?;
            open.call_method1("write", (PyBytes::new(py, &bytes),)).map(drop)
        }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(save_safetensors, module)?)?;
    module.add_function(wrap_pyfunction!(save, module)?)
}
