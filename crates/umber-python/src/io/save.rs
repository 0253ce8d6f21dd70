//! `save`, `savez`, `savez_compressed`, `save_safetensors`, `save_gguf`.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use umber_core::{Array, Result};
use umber_io::{Format, Target, Value, gguf, npy, npz, safetensors};

use super::path_or_file::{PathOrFile, copy_from_target, place, put};
use crate::array::PyArray;
use crate::convert::shared;
use crate::enter::{carry, enter, warn_if_traced};
use crate::error_text::shortened;
use crate::interop::Copying;

/// The path with the format's extension, which is added where it is missing.
fn with_extension(path: PathBuf, format: Format) -> PathBuf {
    let extension = format!(".{}", format.name());
    let mut name = path.into_os_string();
    if !name.as_bytes().ends_with(extension.as_bytes()) {
        name.push(extension);
    }
    PathBuf::from(name)
}

/// Save through `body` into a path or an open file of Python's, telling `progress` how far it is.
fn write(
    py: Python<'_>,
    op: &'static str,
    file: &Bound<'_, PyAny>,
    format: Format,
    progress: Option<Bound<'_, PyAny>>,
    body: impl Send + FnOnce(Target<'_>) -> Result<()>,
) -> PyResult<()> {
    let place = place(op, file, "write")?;
    if let Some(progress) = progress.as_ref().filter(|progress| !progress.is_callable()) {
        return Err(PyTypeError::new_err(format!(
            "[{op}] progress: got {}, expected a function of the bytes written and the total bytes",
            progress.get_type().name()?
        )));
    }
    let progress = progress.map(Bound::unbind);
    enter(py, move || {
        let mut report = |done: u64, total: u64| match &progress {
            Some(progress) => Python::attach(|py| {
                progress.call1(py, (done, total)).map(drop).map_err(|error| carry(py, error))
            }),
            None => Ok(()),
        };
        match place {
            PathOrFile::Path(path) => {
                body(Target::from(&with_extension(path, format)).reporting(&mut report))
            }
            PathOrFile::Object(object) => {
                let mut piece = |bytes: &[u8]| {
                    Python::attach(|py| put(py, &object, bytes).map_err(|error| carry(py, error)))
                };
                body(Target::stream(&mut piece).reporting(&mut report))
            }
        }
    })
}

/// An array, or what shares memory as one.
fn array_of(op: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Array> {
    if let Ok(array) = value.cast::<PyArray>() {
        let array = array.get().get();
        warn_if_traced(value.py(), &array)?;
        return Ok(array);
    }
    match shared(value, Copying::IfNeeded)? {
        Some(array) => Ok(array),
        None => Err(PyTypeError::new_err(format!(
            "[{op}] {name}: got {}, expected an array",
            value.get_type().name()?
        ))),
    }
}

/// A text that a file can say.
fn text_of(op: &str, what: &str, text: &Bound<'_, PyAny>) -> PyResult<String> {
    if !text.is_instance_of::<PyString>() {
        let class = text.get_type().name()?;
        return Err(PyTypeError::new_err(format!("[{op}] {what}: got {class}, expected a string")));
    }
    text.extract().map_err(|_| {
        let got = shortened(text);
        PyValueError::new_err(format!("[{op}] {what}: {got} contains a lone surrogate"))
    })
}

fn named_arrays(op: &str, arrays: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Array)>> {
    arrays
        .iter()
        .map(|(name, value)| {
            let name = text_of(op, "a name in arrays", &name)?;
            let array = array_of(op, &format!("'{name}'"), &value)?;
            Ok((name, array))
        })
        .collect()
}

/// Save one array into an npy file.
///
/// `file` is a path, to which `.npy` is added where it is missing, or a file open in binary mode. NumPy has no word for
/// bfloat16: it is written as elements of two bytes (`<V2`), which `load` and MLX read as bfloat16.
///
/// A path is written whole or not at all: into a file beside it that takes its place, keeping its permissions, once all
/// is on the disk. So a failure leaves what was there, and an array may be saved over the file it is mapped from.
/// `progress` is called with the bytes of arrays that are written and their number in all; what it raises ends the saving.
///
/// Raises OSError where the file cannot be written.
#[pyfunction]
#[pyo3(signature = (file, arr, *, progress = None))]
fn save(
    py: Python<'_>,
    file: &Bound<'_, PyAny>,
    arr: &Bound<'_, PyAny>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let mut array = array_of("save", "arr", arr)?;
    copy_from_target(file, std::iter::once(&mut array))?;
    write(py, "save", file, Format::Npy, progress, move |target| npy::save(target, &array))
}

fn write_npz(
    op: &'static str,
    file: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
    compression: npz::Compression,
) -> PyResult<()> {
    let py = file.py();
    let mut arrays = Vec::new();
    let mut progress = None;
    for (name, value) in kwargs.into_iter().flatten() {
        let name = text_of(op, "a name", &name)?;
        // An array may have this name too, but no array can be called.
        if name == "progress" && (value.is_callable() || value.is_none()) {
            progress = Some(value).filter(|value| !value.is_none());
            continue;
        }
        let array = array_of(op, &name, &value)?;
        arrays.push((name, array));
    }
    for (i, value) in args.iter().enumerate() {
        let name = format!("arr_{i}");
        if arrays.iter().any(|(other, _)| *other == name) {
            return Err(PyValueError::new_err(format!(
                "[{op}] the name {name} is used by a positional and a keyword argument"
            )));
        }
        let array = array_of(op, &name, &value)?;
        arrays.push((name, array));
    }
    copy_from_target(file, arrays.iter_mut().map(|(_, array)| array))?;
    write(py, op, file, Format::Npz, progress, move |target| npz::save(target, &arrays, compression))
}

/// Save several arrays into an npz file, a zip archive of npy files: `args` as `arr_0`, `arr_1` and so on, `kwargs` by name.
///
/// `file` is a path, to which `.npz` is added where it is missing, or a file open in binary mode. Arrays lie in the file
/// as in memory, each at a multiple of 64 bytes, so that `load` maps them. Paths are written whole or not at all, as by
/// `save`. A function given as `progress` is told how far the saving is, as in `save`; an array may have that name as well.
///
/// Raises ValueError where two arrays have one name, and OSError where the file cannot be written.
#[pyfunction]
#[pyo3(signature = (file, *args, **kwargs))]
fn savez(
    file: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    write_npz("savez", file, args, kwargs, npz::Compression::None)
}

/// Save several arrays into an npz file as `savez` does, each made smaller with deflate.
///
/// `load` unpacks the arrays instead of mapping them. `progress` counts the bytes of arrays as they are in memory.
#[pyfunction]
#[pyo3(signature = (file, *args, **kwargs))]
fn savez_compressed(
    file: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    write_npz("savez_compressed", file, args, kwargs, npz::Compression::Deflate)
}

/// Save arrays by name, and texts by name, into a safetensors file.
///
/// `file` is a path, to which `.safetensors` is added where it is missing, or a file open in binary mode. Data begins at
/// a multiple of 64 bytes and every element lies at a multiple of its size, so that `load` maps it. Paths are written
/// whole or not at all and `progress` is told how far the saving is, as in `save`.
///
/// Raises TypeError for a dtype that the format has no word for (complex128), and OSError where the file cannot be written.
#[pyfunction]
#[pyo3(signature = (file, arrays, metadata = None, *, progress = None))]
fn save_safetensors(
    py: Python<'_>,
    file: &Bound<'_, PyAny>,
    arrays: &Bound<'_, PyDict>,
    metadata: Option<&Bound<'_, PyDict>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    const OP: &str = "save_safetensors";
    let mut arrays = named_arrays(OP, arrays)?;
    copy_from_target(file, arrays.iter_mut().map(|(_, array)| array))?;
    let texts = |metadata: &Bound<'_, PyDict>| {
        let entries = metadata.iter().map(|(name, text)| {
            let name = text_of(OP, "a name in metadata", &name)?;
            let text = text_of(OP, &format!("metadata '{name}'"), &text)?;
            Ok((name, text))
        });
        entries.collect::<PyResult<HashMap<_, _>>>()
    };
    let metadata = metadata.map(texts).transpose()?;
    write(py, OP, file, Format::Safetensors, progress, move |target| {
        safetensors::save(target, &arrays, metadata)
    })
}

/// Save arrays by name, and metadata by name, into a GGUF file (version 3).
///
/// `file` is a path, to which `.gguf` is added where it is missing, or a file open in binary mode. Metadata are arrays of
/// no or one axis (of integers, bool, float32 or float64), numbers, texts, lists of texts, and lists of arrays and lists;
/// the integer `general.alignment` says what the places of arrays in the file are multiples of, otherwise 32. Paths are
/// written whole or not at all and `progress` is told how far the saving is, as in `save`.
///
/// Raises TypeError for a dtype that the format has no word for (bool, unsigned integers, complex numbers), and OSError
/// where the file cannot be written.
#[pyfunction]
#[pyo3(signature = (file, arrays, metadata = None, *, progress = None))]
fn save_gguf(
    py: Python<'_>,
    file: &Bound<'_, PyAny>,
    arrays: &Bound<'_, PyDict>,
    metadata: Option<&Bound<'_, PyDict>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    const OP: &str = "save_gguf";
    let mut arrays = named_arrays(OP, arrays)?;
    copy_from_target(file, arrays.iter_mut().map(|(_, array)| array))?;
    let mut values = Vec::new();
    for (name, value) in metadata.into_iter().flatten() {
        let name = text_of(OP, "a name in metadata", &name)?;
        let value = metadata_of(&name, &value)?;
        values.push((name, value));
    }
    write(py, OP, file, Format::Gguf, progress, move |target| gguf::save(target, &arrays, &values))
}

fn metadata_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyString>() {
        return text_of("save_gguf", &format!("metadata '{name}'"), value).map(Value::Text);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return list_of(name, list, 0);
    }
    if let Some(number) = crate::args::number(value)? {
        return Ok(Value::Array(Array::scalar(number, number.default_dtype())));
    }
    array_of("save_gguf", &format!("metadata '{name}'"), value).map(Value::Array)
}

/// A list of texts, or of arrays and such lists.
fn list_of(name: &str, list: &Bound<'_, PyList>, depth: u32) -> PyResult<Value> {
    // The format's writer refuses far fewer in one another; a list that is in itself has no end.
    const DEEPEST: u32 = 64;
    if depth == DEEPEST {
        return Err(PyValueError::new_err(format!(
            "[save_gguf] metadata '{name}' is nested deeper than {DEEPEST} levels"
        )));
    }
    let what = format!("metadata '{name}'");
    if list.iter().all(|entry| entry.is_instance_of::<PyString>()) {
        let texts = list.iter().map(|text| text_of("save_gguf", &what, &text));
        return texts.collect::<PyResult<_>>().map(Value::Texts);
    }
    let entry = |entry: Bound<'_, PyAny>| {
        if let Ok(inner) = entry.cast::<PyList>() {
            return list_of(name, inner, depth + 1);
        }
        if entry.is_instance_of::<PyString>() || crate::args::number(&entry)?.is_some() {
            return Err(PyTypeError::new_err(format!(
                "[save_gguf] {what}: list contains {}, expected only strings, or only arrays and lists",
                shortened(&entry)
            )));
        }
        array_of("save_gguf", &what, &entry).map(Value::Array)
    };
    list.iter().map(entry).collect::<PyResult<_>>().map(Value::List)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(save, module)?)?;
    module.add_function(wrap_pyfunction!(savez, module)?)?;
    module.add_function(wrap_pyfunction!(savez_compressed, module)?)?;
    module.add_function(wrap_pyfunction!(save_safetensors, module)?)?;
    module.add_function(wrap_pyfunction!(save_gguf, module)?)
}
