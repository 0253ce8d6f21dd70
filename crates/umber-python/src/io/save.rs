//! `save`, `savez`, `savez_compressed`, `save_safetensors`, `save_gguf`.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use umber_core::{Array, Result};
use umber_io::{Format, Target, Value, gguf, npy, npz, safetensors};

use super::path_or_file::{PathOrFile, copy_from_target, parse_file, write_all};
use crate::array::PyArray;
use crate::convert::shared;
use crate::enter::{carry, enter, warn_if_traced};
use crate::error_text::shortened;
use crate::interop::Copying;

/// Append the format's extension to a path if it is missing.
fn with_extension(path: PathBuf, format: Format) -> PathBuf {
    let extension = format!(".{}", format.name());
    let mut name = path.into_os_string();
    if !name.as_bytes().ends_with(extension.as_bytes()) {
        name.push(extension);
    }
    PathBuf::from(name)
}

/// Save through `body` to a path or a Python file, and report to `progress`.
fn write(
    py: Python<'_>,
    op: &'static str,
    file: &Bound<'_, PyAny>,
    format: Format,
    progress: Option<Bound<'_, PyAny>>,
    body: impl Send + FnOnce(Target<'_>) -> Result<()>,
) -> PyResult<()> {
    let target = parse_file(op, file, "write")?;
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
        match target {
            PathOrFile::Path(path) => {
                body(Target::from(&with_extension(path, format)).reporting(&mut report))
            }
            PathOrFile::Object(object) => {
                let mut write_chunk = |bytes: &[u8]| {
                    Python::attach(|py| write_all(py, &object, bytes).map_err(|error| carry(py, error)))
                };
                body(Target::stream(&mut write_chunk).reporting(&mut report))
            }
        }
    })
}

/// Convert an array, or an object that shares its memory.
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

/// Extract a string that can be encoded as UTF-8.
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

/// Save an array to an npy file.
///
/// Parameters
/// ----------
/// file : path or file
///     A path, to which ``.npy`` is added if it is missing, or a file open in binary mode.
/// arr : array
///     Array, or object that shares its memory, such as a NumPy array.
/// progress : callable, optional
///     Called as ``progress(written, total)`` with numbers of bytes; an exception that it raises stops the saving.
///     Default: None.
///
/// Raises
/// ------
/// TypeError
///     If `file` is neither a path nor a file, or if `arr` is not an array.
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// load, savez, save_safetensors
///
/// Notes
/// -----
/// A path is written atomically: a temporary file beside it replaces it, keeping its permissions, once all data is on the
/// disk. So a failure leaves an existing file unchanged, and an array may be saved over the file from which it is mapped.
/// bfloat16 has no name in the format: it is written as elements of two bytes (``<V2``), which `load` and MLX read as
/// bfloat16.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.save(f"{folder}/a.npy", mx.array([1, 2]))
/// ...     mx.load(f"{folder}/a.npy", mmap=False)
/// array([1, 2], dtype=int32)
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
        // An array may have this name, too, but arrays are not callable.
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

/// Save several arrays to an npz file, an uncompressed zip archive of npy files.
///
/// Parameters
/// ----------
/// file : path or file
///     A path, to which ``.npz`` is added if it is missing, or a file open in binary mode.
/// *args : array
///     Arrays that are saved as ``arr_0``, ``arr_1`` and so on.
/// **kwargs : array
///     Arrays that are saved by name. A callable `progress` is not saved but called as in `save`.
///
/// Raises
/// ------
/// TypeError
///     If `file` is neither a path nor a file, or if an argument is not an array.
/// ValueError
///     If two arrays have the same name.
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// load, savez_compressed, save
///
/// Notes
/// -----
/// Arrays are aligned to 64 bytes, so that `load` can map them. Paths are written atomically, as in `save`.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.savez(f"{folder}/a.npz", mx.ones(2), n=mx.array(3))
/// ...     mx.load(f"{folder}/a.npz", mmap=False)
/// {'n': array(3, dtype=int32), 'arr_0': array([1, 1], dtype=float32)}
#[pyfunction]
#[pyo3(signature = (file, *args, **kwargs))]
fn savez(
    file: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    write_npz("savez", file, args, kwargs, npz::Compression::None)
}

/// Save several arrays to an npz file, compressed with deflate.
///
/// Parameters
/// ----------
/// file : path or file
///     A path, to which ``.npz`` is added if it is missing, or a file open in binary mode.
/// *args : array
///     Arrays that are saved as ``arr_0``, ``arr_1`` and so on.
/// **kwargs : array
///     Arrays that are saved by name. A callable `progress` is not saved but called as in `save`, with numbers of
///     uncompressed bytes.
///
/// Raises
/// ------
/// TypeError
///     If `file` is neither a path nor a file, or if an argument is not an array.
/// ValueError
///     If two arrays have the same name.
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// load, savez
///
/// Notes
/// -----
/// `load` decompresses the arrays instead of mapping them.
///
/// Examples
/// --------
/// >>> import os, tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.savez_compressed(f"{folder}/a.npz", x=mx.zeros(10000))
/// ...     os.path.getsize(f"{folder}/a.npz") < 1000
/// True
#[pyfunction]
#[pyo3(signature = (file, *args, **kwargs))]
fn savez_compressed(
    file: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    write_npz("savez_compressed", file, args, kwargs, npz::Compression::Deflate)
}

/// Save arrays and strings by name to a safetensors file.
///
/// Parameters
/// ----------
/// file : path or file
///     A path, to which ``.safetensors`` is added if it is missing, or a file open in binary mode.
/// arrays : dict of array
///     Arrays by name.
/// metadata : dict of str, optional
///     Strings by name. Default: none.
/// progress : callable, optional
///     Called as ``progress(written, total)`` with numbers of bytes, as in `save`. Default: None.
///
/// Raises
/// ------
/// TypeError
///     If an argument has the wrong type, or if the format has no type for a dtype (complex128).
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// load, save_gguf, savez
///
/// Notes
/// -----
/// Data starts at a multiple of 64 bytes and elements are aligned to their size, so that `load` can map them. Paths are
/// written atomically, as in `save`.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.save_safetensors(f"{folder}/a.safetensors", {"x": mx.ones(2)}, {"step": "10"})
/// ...     arrays, metadata = mx.load(f"{folder}/a.safetensors", return_metadata=True)
/// >>> metadata
/// {'step': '10'}
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

/// Save arrays and metadata by name to a GGUF file (version 3).
///
/// Parameters
/// ----------
/// file : path or file
///     A path, to which ``.gguf`` is added if it is missing, or a file open in binary mode.
/// arrays : dict of array
///     Arrays by name.
/// metadata : dict, optional
///     Values by name: arrays of at most one axis (integers, bool, float32 or float64), numbers, strings, lists of
///     strings, and lists of arrays and lists. Default: none.
/// progress : callable, optional
///     Called as ``progress(written, total)`` with numbers of bytes, as in `save`. Default: None.
///
/// Raises
/// ------
/// TypeError
///     If an argument has the wrong type, or if the format has no type for a dtype (bool, unsigned integers, complex
///     numbers).
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// load, save_safetensors
///
/// Notes
/// -----
/// Arrays are aligned to the integer ``general.alignment`` in the metadata, or to 32 bytes. Paths are written atomically,
/// as in `save`.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.save_gguf(f"{folder}/a.gguf", {"x": mx.ones(2)}, {"general.name": "demo"})
/// ...     arrays, metadata = mx.load(f"{folder}/a.gguf", return_metadata=True)
/// >>> metadata
/// {'general.name': 'demo'}
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

/// Convert a list of strings, or of arrays and nested lists.
fn list_of(name: &str, list: &Bound<'_, PyList>, depth: u32) -> PyResult<Value> {
    // The writer accepts less nesting; this bound stops at a list that contains itself.
    const MAX_DEPTH: u32 = 64;
    if depth == MAX_DEPTH {
        return Err(PyValueError::new_err(format!(
            "[save_gguf] metadata '{name}' is nested deeper than {MAX_DEPTH} levels"
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
