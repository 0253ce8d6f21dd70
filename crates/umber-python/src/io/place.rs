//! Where a file is: on the disk, or an open file of Python's.

use std::fs::File;
use std::path::PathBuf;

use pyo3::exceptions::{PyBlockingIOError, PyOSError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use umber::io::{Format, Mapping, Source, npy};

use crate::enter::{carry, enter};
use crate::explain::shortened;

/// What the argument `file` says.
pub(super) enum Place {
    Path(PathBuf),
    Object(Py<PyAny>),
}

/// Read the argument `file`, of which an object must have `method`.
pub(super) fn place(op: &str, file: &Bound<'_, PyAny>, method: &str) -> PyResult<Place> {
    let py = file.py();
    match file.extract::<PathBuf>() {
        Ok(path) => return Ok(Place::Path(path)),
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => {
            return Err(PyValueError::new_err(format!(
                "[{op}] file: got {}, expected a name that the file system can say",
                shortened(file)
            )));
        }
        // What the object's own lines raise is not about its class.
        Err(error) if !error.is_instance_of::<PyTypeError>(py) || error.traceback(py).is_some() => {
            return Err(error);
        }
        Err(_) => {}
    }
    let io = py.import("io")?;
    if file.is_instance(&io.getattr("TextIOBase")?)? {
        return Err(PyTypeError::new_err(format!(
            "[{op}] file: got a file open in text mode, expected one open in binary mode"
        )));
    }
    if file.hasattr(method)? {
        return Ok(Place::Object(file.clone().unbind()));
    }
    Err(PyTypeError::new_err(format!(
        "[{op}] file: got {}, expected a path or a file open in binary mode",
        file.get_type().name()?
    )))
}

/// What errors call an open file.
fn name_of(file: &Bound<'_, PyAny>) -> PyResult<String> {
    match file.getattr("name") {
        Ok(name) if name.is_instance_of::<PyString>() => name.extract(),
        Ok(_) | Err(_) => Ok(format!("<{}>", file.get_type().name()?)),
    }
}

/// The rest of an open file, which is read to its end, or to that of the one array of an npy file.
pub(super) fn source_of(
    py: Python<'_>,
    file: &Bound<'_, PyAny>,
    format: Option<Format>,
    mapping: Mapping,
) -> PyResult<Source> {
    let name = name_of(file)?;
    if let Some((own, start)) = plain(file, mapping)? {
        let (source, end) = enter(py, move || {
            let source = Source::of_file(own, start, name, mapping)?;
            let format = match format {
                Some(format) => Some(format),
                None => Format::of_content(&source).ok(),
            };
            let end = if format == Some(Format::Npy) { npy::extent(&source)? } else { source.length() };
            Ok((source, end))
        })?;
        file.call_method1("seek", (start + end as u64,))?;
        return Ok(source);
    }
    let bytes = read(file, format, &name)?;
    enter(py, move || Source::from_bytes(&bytes, &name))
}

/// The file that Python's object stands for and where it stands in it, if the two hold the same bytes.
fn plain(file: &Bound<'_, PyAny>, mapping: Mapping) -> PyResult<Option<(File, u64)>> {
    let io = file.py().import("io")?;
    let is_exactly = |object: &Bound<'_, PyAny>, class: &str| -> PyResult<bool> {
        Ok(object.get_type().is(&io.getattr(class)?))
    };
    let is_plain = mapping == Mapping::Share
        && (is_exactly(file, "FileIO")?
            || ((is_exactly(file, "BufferedReader")? || is_exactly(file, "BufferedRandom")?)
                && is_exactly(&file.getattr("raw")?, "FileIO")?));
    if !is_plain {
        return Ok(None);
    }
    // What cannot tell its place, a pipe for one, is read.
    let Ok(start) = file.call_method0("tell").and_then(|at| at.extract::<u64>()) else { return Ok(None) };
    file.call_method0("flush")?;
    let descriptor: i32 = file.call_method0("fileno")?.extract()?;
    let Ok(own) = File::open(format!("/dev/fd/{descriptor}")) else { return Ok(None) };
    let is_file = own.metadata().is_ok_and(|metadata| metadata.is_file());
    Ok(is_file.then_some((own, start)))
}

/// The bytes of an open file.
fn read(file: &Bound<'_, PyAny>, format: Option<Format>, name: &str) -> PyResult<Vec<u8>> {
    let take = |count: Option<usize>| -> PyResult<Vec<u8>> {
        let data = file.call_method1("read", (count.map_or(-1, |count| count as i64),))?;
        match data.cast::<PyBytes>() {
            Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
            Err(_) => Err(PyTypeError::new_err(format!(
                "[load] file: got {} from its read(), expected bytes",
                data.get_type().name()?
            ))),
        }
    };
    const MAGIC: &[u8] = b"\x93NUMPY";
    let mut start = Vec::new();
    if format.is_none() {
        while start.len() < MAGIC.len() {
            let more = take(Some(MAGIC.len() - start.len()))?;
            if more.is_empty() {
                break;
            }
            start.extend_from_slice(&more);
        }
    }
    if format == Some(Format::Npy) || start == MAGIC {
        let mut ahead = std::mem::take(&mut start);
        let mut take = |count: usize| {
            if ahead.is_empty() {
                return take(Some(count)).map_err(|error| carry(file.py(), error));
            }
            let rest = ahead.split_off(ahead.len().min(count));
            Ok(std::mem::replace(&mut ahead, rest))
        };
        return npy::bytes_from(name, &mut take).map_err(crate::enter::to_exception);
    }
    // One read may give less than all there is.
    loop {
        let more = take(None)?;
        if more.is_empty() {
            return Ok(start);
        }
        start.extend_from_slice(&more);
    }
}

/// Hand bytes to an open file of Python's, all of them.
pub(super) fn put(py: Python<'_>, file: &Py<PyAny>, mut bytes: &[u8]) -> PyResult<()> {
    while !bytes.is_empty() {
        let written = file.bind(py).call_method1("write", (PyBytes::new(py, bytes),))?;
        // Files without a buffer may take a part; other objects need not say how much they took.
        let taken = if written.is_none() {
            if file.bind(py).is_instance(&py.import("io")?.getattr("RawIOBase")?)? {
                return Err(PyBlockingIOError::new_err(
                    "the file would make its writer wait: got nothing written, expected a file that blocks",
                ));
            }
            bytes.len()
        } else {
            let count: usize = written.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "file: got {} from its write(), expected the number of bytes that it took, or None",
                    shortened(&written)
                ))
            })?;
            count.min(bytes.len())
        };
        if taken == 0 {
            return Err(PyOSError::new_err("the file takes no more bytes: got 0 written, expected more"));
        }
        bytes = &bytes[taken..];
    }
    Ok(())
}
