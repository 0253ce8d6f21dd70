//! `load`.

use std::ffi::CString;

use pyo3::exceptions::{PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use umber_core::graph::ArrayInternals;
use umber_core::{Array, DType};
use umber_io::{Format, Loaded, Mapping, Source, Value};

use super::path_or_file::{PathOrFile, place, source_of};
use crate::enter::{OrRaise, enter};
use crate::new_array::NewArray;

/// Load an array or several from a file: npy, npz, safetensors or GGUF.
///
/// `file` is a path or a file open in binary mode, `format` one of `"npy"`, `"npz"`, `"safetensors"` and `"gguf"`; without
/// it the extension tells the format, and where that says nothing the content does. An npy file gives an array, the
/// others a dict of arrays by name. With `return_metadata` they give `(arrays, metadata)`: the texts of a safetensors
/// file, the values of a GGUF file (arrays, texts, lists of texts), the texts among the members of an npz file.
///
/// The arrays are the file itself, mapped and read-only: loading reads nothing but the header, data is read when it is
/// used, and processes that load the same file share its memory. Compressed members of npz files, blocks of quantised
/// GGUF tensors, elements of the other byte order, and files that are no files of the system are read at once; elements
/// that do not lie at a multiple of their size are copied when they are used. A file that is replaced, as all functions
/// here that save replace it, stays as it was for those who have loaded it. But one that is cut short or overwritten in
/// place takes the memory away: reading what is gone ends the process with SIGBUS, and reading what was overwritten
/// gives the new bytes. With `mmap=False` all is read at once, and what happens to the file does not matter.
///
/// Of a GGUF file, tensors of types Q4_0, Q4_1 and Q8_0 stay quantised: `name.weight` (packed, uint32), `name.scales` and
/// `name.biases` (float16) with groups of 32, as `quantized_matmul` takes them. Other quantised types become float16.
///
/// Tensors of a safetensors file in F8_E4M3 and F8_E8M0 are their bits in uint8, as MLX has them, and with `float8=True`
/// float8_e4m3fn and float8_e8m0fnu, which `view` makes of the bits as well.
///
/// Raises FileNotFoundError or OSError where the file cannot be read, ValueError where it is damaged, in no known
/// format, in another than its extension says, or an archive without arrays, and TypeError where its elements have no
/// dtype. Pickled objects are never loaded; the error about a PyTorch checkpoint says how to convert it.
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
    let (source, format) = match place("load", file, "read")? {
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

/// Floats of eight bits as MLX, which has no dtype for them, gives those that it reads.
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
