//! `load`.

use std::ffi::CString;

use pyo3::exceptions::{PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use umber_core::graph::ArrayInternals;
use umber_core::{Array, DType};
use umber_io::{Format, Loaded, Mapping, Source, Value};

use super::path_or_file::{PathOrFile, parse_file, source_of};
use crate::enter::{OrRaise, enter};
use crate::new_array::NewArray;

/// Load an array, or several by name, from an npy, npz, safetensors or GGUF file.
///
/// Parameters
/// ----------
/// file : path or file
///     A path, or a file open in binary mode.
/// format : {"npy", "npz", "safetensors", "gguf"}, optional
///     Format of the file. Default: the one that its extension or its content tells.
/// return_metadata : bool, optional
///     Return the metadata, too; not for npy files. Default: False.
/// mmap : bool, optional
///     Map the file into memory instead of reading it. Default: True.
/// float8 : bool, optional
///     Load safetensors elements of F8_E4M3 and F8_E8M0 as float8_e4m3fn and float8_e8m0fnu instead of uint8. Default:
///     False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or dict of array
///     An array for an npy file, otherwise arrays by name. With `return_metadata` a pair ``(arrays, metadata)``: the
///     strings of a safetensors file, the values of a GGUF file (arrays, strings, lists of strings), or the text members
///     of an npz file.
///
/// Raises
/// ------
/// TypeError
///     If `file` is neither a path nor a file, or if elements have a type without a dtype.
/// FileNotFoundError
///     If there is no such file.
/// OSError
///     If the file cannot be read.
/// ValueError
///     If the file is damaged, of unknown format, of another format than its extension or `format` says, or an archive
///     without arrays.
///
/// See Also
/// --------
/// save, savez, save_safetensors, save_gguf
///
/// Notes
/// -----
/// A mapped file is read only when its arrays are used, and processes that load the same file share its memory. The
/// arrays are read-only memory; updating one makes a copy. Compressed members of npz files, blocks of quantised GGUF
/// tensors, elements of the other byte order, and file objects without a file descriptor are read immediately. Unaligned
/// elements are copied when they are used.
///
/// The save functions replace a file instead of overwriting it, so arrays mapped from it stay valid. If another program
/// truncates a mapped file, reading the missing part ends the process with SIGBUS; if it overwrites the file in place,
/// the arrays change. Use ``mmap=False`` for such files.
///
/// GGUF tensors of types Q4_0, Q4_1 and Q8_0 stay quantised: ``name.weight`` (packed, uint32), ``name.scales`` and
/// ``name.biases`` (float16), in groups of 32, as `quantized_matmul` takes them. Other quantised types become float16.
///
/// Pickled objects are never loaded; the error for a PyTorch checkpoint explains how to convert it.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.savez(f"{folder}/a.npz", x=mx.ones(2), n=mx.array(3))
/// ...     arrays = mx.load(f"{folder}/a.npz", mmap=False)
/// >>> arrays
/// {'x': array([1, 1], dtype=float32), 'n': array(3, dtype=int32)}
#[pyfunction]
#[pyo3(signature = (file, /, format = None, return_metadata = false, *, mmap = true, float8 = false, stream = None))]
fn load<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    format: Option<String>,
    return_metadata: bool,
    mmap: bool,
    float8: bool,
    stream: Option<crate::args::StreamArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let _ = stream;
    let format = format.map(|name| format_of(&name)).transpose()?;
    let mapping = if mmap { Mapping::Share } else { Mapping::Copy };
    let (source, format) = match parse_file("load", file, "read")? {
        PathOrFile::Path(path) => {
            let format = format.or_else(|| Format::of_path(&path));
            (enter(py, || Source::open(&path, mapping))?, format)
        }
        PathOrFile::Object(file) => (source_of(py, file.bind(py), format, mapping)?, format),
    };
    let loaded = enter(py, || umber_io::read(&source, format))?;
    let (arrays, metadata) = match loaded {
        Loaded::Npy(array) if !return_metadata => return Ok(NewArray::from(array).object(py)?.into_any()),
        Loaded::Npy(_) => {
            return Err(PyValueError::new_err(format!(
                "[load] {}: npy files have no metadata; drop return_metadata=True",
                source.name()
            )));
        }
        Loaded::Npz(contents) => {
            if contents.arrays.is_empty() && !contents.texts.is_empty() && !return_metadata {
                return Err(PyValueError::new_err(format!(
                    "[load] {}: the npz file holds only strings; pass return_metadata=True to read them",
                    source.name()
                )));
            }
            for (name, what) in &contents.others {
                warn(py, &source, name, &format!("{what}, for which there is no dtype"))?;
            }
            for (name, _) in contents.texts.iter().filter(|_| !return_metadata) {
                warn(py, &source, name, "texts, which return_metadata=True gives")?;
            }
            (contents.arrays, values(py, contents.texts)?)
        }
        Loaded::Safetensors(mut contents) => {
            if !float8 {
                contents.arrays.iter_mut().try_for_each(|(_, array)| show_bits(array)).or_raise()?;
            }
            (contents.arrays, contents.metadata.into_pyobject(py)?)
        }
        Loaded::Gguf(contents) => (contents.arrays, values(py, contents.metadata)?),
    };
    let arrays = by_name(py, arrays)?;
    if return_metadata { Ok((arrays, metadata).into_pyobject(py)?.into_any()) } else { Ok(arrays.into_any()) }
}

/// Reinterpret float8 arrays as uint8, as MLX, which has no float8 dtype, loads them.
fn show_bits(array: &mut Array) -> umber_core::Result<()> {
    if matches!(array.dtype(), DType::Float8E4M3Fn | DType::Float8E8M0Fnu)
        && let Some(storage) = array.storage()
    {
        *array = Array::from_storage(storage.clone(), DType::UInt8)?;
    }
    Ok(())
}

fn format_of(name: &str) -> PyResult<Format> {
    Format::from_name(name).ok_or_else(|| {
        let known = Format::ALL.map(Format::name).join(", ");
        PyValueError::new_err(format!("[load] format: got {name:?}, expected one of {known}"))
    })
}

fn warn(py: Python<'_>, source: &Source, name: &str, what: &str) -> PyResult<()> {
    let text = format!("[load] {}: '{name}' is left out: it holds {what}", source.name());
    let text = CString::new(text.replace('\0', "\\0"))?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
}

fn by_name(py: Python<'_>, arrays: Vec<(String, Array)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, array) in arrays {
        dict.set_item(name, NewArray::from(array))?;
    }
    Ok(dict)
}

fn values(py: Python<'_>, values: Vec<(String, Value)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, entry) in values {
        dict.set_item(name, value(py, entry)?)?;
    }
    Ok(dict)
}

fn value(py: Python<'_>, entry: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match entry {
        Value::Array(array) => NewArray::from(array).object(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Texts(texts) => texts.into_pyobject(py)?.into_any(),
        Value::List(entries) => {
            let list = PyList::empty(py);
            for entry in entries {
                list.append(value(py, entry)?)?;
            }
            list.into_any()
        }
    })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load, module)?)
}
