//! The argument `file`: a path, or an open Python file.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use pyo3::exceptions::{
    PyBlockingIOError, PyMemoryError, PyOSError, PyTypeError, PyUnicodeEncodeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use umber_core::Array;
use umber_core::graph::ArrayInternals;
use umber_io::{Format, Mapping, Source, npy};

use crate::enter::{carry, enter};
use crate::error_text::shortened;

/// The argument `file`.
pub(super) enum PathOrFile {
    Path(PathBuf),
    Object(Py<PyAny>),
}

/// Parse the argument `file`; an object must have `method`.
pub(super) fn parse_file(op: &str, file: &Bound<'_, PyAny>, method: &str) -> PyResult<PathOrFile> {
    let py = file.py();
    match file.extract::<PathBuf>() {
        Ok(path) => return Ok(PathOrFile::Path(path)),
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => {
            return Err(PyValueError::new_err(format!(
                "[{op}] file: {} is not a valid file name",
                shortened(file)
            )));
        }
        // Exceptions of the object's own code are passed on.
        Err(error) if !error.is_instance_of::<PyTypeError>(py) || error.traceback(py).is_some() => {
            return Err(error);
        }
        Err(_) => {}
    }
    let io = py.import("io")?;
    if file.is_instance(&io.getattr("TextIOBase")?)? {
        return Err(PyTypeError::new_err(format!("[{op}] file must be open in binary mode, not text mode")));
    }
    if file.hasattr(method)? {
        return Ok(PathOrFile::Object(file.clone().unbind()));
    }
    Err(PyTypeError::new_err(format!(
        "[{op}] file: got {}, expected a path or a file open in binary mode",
        file.get_type().name()?
    )))
}

/// Name of an open file in messages.
fn name_of(file: &Bound<'_, PyAny>) -> PyResult<String> {
    match file.getattr("name") {
        Ok(name) if name.is_instance_of::<PyString>() => name.extract(),
        Ok(_) | Err(_) => Ok(format!("<{}>", file.get_type().name()?)),
    }
}

/// Read the rest of an open file, or for an npy file the bytes of one array.
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

/// The system file behind a Python file object and its position, if both hold the same bytes.
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
    // A file without a position, such as a pipe, is read.
    let Ok(start) = file.call_method0("tell").and_then(|position| position.extract::<u64>()) else {
        return Ok(None);
    };
    file.call_method0("flush")?;
    let descriptor: i32 = file.call_method0("fileno")?.extract()?;
    let Ok(own) = File::open(format!("/dev/fd/{descriptor}")) else { return Ok(None) };
    let is_file = own.metadata().is_ok_and(|metadata| metadata.is_file());
    Ok(is_file.then_some((own, start)))
}

/// Read the bytes of an open file.
fn read(file: &Bound<'_, PyAny>, format: Option<Format>, name: &str) -> PyResult<Vec<u8>> {
    let take = |count: Option<usize>| -> PyResult<Vec<u8>> {
        let data = file.call_method1("read", (count.map_or(-1, |count| count as i64),))?;
        match data.cast::<PyBytes>() {
            Ok(bytes) => append(Vec::new(), bytes.as_bytes()),
            Err(_) => Err(PyTypeError::new_err(format!(
                "[load] read() of file returned {}, expected bytes",
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
            start = append(start, &more)?;
        }
    }
    if format == Some(Format::Npy) || start == MAGIC {
        let mut ahead = std::mem::take(&mut start);
        let mut take = |count: usize| {
            if ahead.is_empty() {
                return take(Some(count)).map_err(|error| carry(file.py(), error));
            }
            let tail = ahead.split_off(ahead.len().min(count));
            Ok(std::mem::replace(&mut ahead, tail))
        };
        return npy::bytes_from(name, &mut take).map_err(crate::enter::to_exception);
    }
    // One read may return fewer bytes than requested.
    loop {
        let more = take(None)?;
        if more.is_empty() {
            return Ok(start);
        }
        start = append(start, &more)?;
    }
}

/// Concatenate bytes.
fn append(mut bytes: Vec<u8>, more: &[u8]) -> PyResult<Vec<u8>> {
    bytes.try_reserve(more.len()).map_err(|_| {
        PyMemoryError::new_err(format!(
            "[load] out of memory reading a file: more than {} bytes",
            bytes.len()
        ))
    })?;
    bytes.extend_from_slice(more);
    Ok(bytes)
}

/// The address ranges where this process maps the file that a Python file object writes, if there is one.
fn mappings(file: &Bound<'_, PyAny>) -> Vec<Range<usize>> {
    let descriptor = file.call_method0("fileno").and_then(|descriptor| descriptor.extract::<i32>());
    let Ok(own) = descriptor.map(|descriptor| fs::metadata(format!("/dev/fd/{descriptor}"))) else {
        return Vec::new();
    };
    let Ok(inode) = own.map(|own| own.ino().to_string()) else { return Vec::new() };
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    // Fields: addresses, permissions, offset, device, inode. Some file systems report another device than `stat`, so only the
    // inode is compared: an equal one on another device costs a copy.
    let range = |line: &str| -> Option<Range<usize>> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let is_this = words.nth(3)? == inode;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        is_this.then_some(range)
    };
    String::from_utf8_lossy(&maps).lines().filter_map(range).collect()
}

/// Copy arrays that are mapped from the file about to be written in place, or that depend on such arrays.
pub(super) fn copy_from_target<'a>(
    file: &Bound<'_, PyAny>,
    arrays: impl Iterator<Item = &'a mut Array>,
) -> PyResult<()> {
    let mappings = mappings(file);
    if mappings.is_empty() {
        return Ok(());
    }
    for array in arrays {
        let source = array.clone();
        *array = enter(file.py(), || {
            source.eval()?;
            let start =
                source.storage().and_then(|storage| Some(storage.buffer().host_start()?.addr().get()));
            let is_inside = start.is_some_and(|start| mappings.iter().any(|range| range.contains(&start)));
            if is_inside { source.copied() } else { Ok(source) }
        })?;
    }
    Ok(())
}

/// Write all bytes to a Python file.
pub(super) fn write_all(py: Python<'_>, file: &Py<PyAny>, mut bytes: &[u8]) -> PyResult<()> {
    while !bytes.is_empty() {
        let written = file.bind(py).call_method1("write", (PyBytes::new(py, bytes),))?;
        // Unbuffered files may write only some of the bytes; other objects need not return a number.
        let accepted = if written.is_none() {
            if file.bind(py).is_instance(&py.import("io")?.getattr("RawIOBase")?)? {
                return Err(PyBlockingIOError::new_err("non-blocking files are not supported"));
            }
            bytes.len()
        } else {
            let count: usize = written.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "write() of file returned {}, expected the number of bytes written, or None",
                    shortened(&written)
                ))
            })?;
            count.min(bytes.len())
        };
        if accepted == 0 {
            return Err(PyOSError::new_err("the file accepted 0 bytes"));
        }
        bytes = &bytes[accepted..];
    }
    Ok(())
}
