//! Files of Python: paths, objects with `read` and `seek`, fetchers.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use umber_data::source::{Content, Fetch, FileName, Object, Opened};
use umber_data::{DataError, Result};

use super::callable::in_python;

/// What calls a fetcher's `fetch` with the names of files. What that returns is kept until the next file, so that it is not erased.
pub(super) fn fetch_of(op: &str, fetcher: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Fetch>> {
    let Some(fetcher) = fetcher else { return Ok(None) };
    if !fetcher.hasattr("fetch")? {
        let class = fetcher.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "[{op}] file_fetcher: got {class}, expected a FileFetcher"
        )));
    }
    let fetcher = fetcher.clone().unbind();
    let handle: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
    Ok(Some(Arc::new(move |name: &Path| {
        in_python(|py| {
            let fetcher = fetcher.bind(py);
            // Of `FileFetcher`: what was fetched ahead is not fetched again.
            let method = if fetcher.hasattr("_request")? { "_request" } else { "fetch" };
            let fetched = fetcher.call_method1(method, (name.to_string_lossy(),))?.unbind();
            let before = handle.lock().unwrap_or_else(PoisonError::into_inner).replace(fetched);
            drop(before);
            Ok(())
        })
    })))
}

/// A file by its path, or an object with `read` and `seek`.
pub(super) fn content_of(
    op: &str,
    file: &Bound<'_, PyAny>,
    folder: PathBuf,
    fetch: Option<Fetch>,
) -> PyResult<Content> {
    if file.hasattr("read")? && file.hasattr("seek")? {
        return Ok(Content::Object(Box::new(PythonFile::new(file)?)));
    }
    let Ok(name) = file.extract::<PathBuf>() else {
        let class = file.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "[{op}] file: got {class}, expected a path or an object with read and seek"
        )));
    };
    Ok(Content::File(FileName { name, folder, fetch }))
}

/// An object with `read` and `seek`, read from where it is. One that returns texts is read from its start after each seek, since its
/// positions count no bytes.
struct PythonFile {
    object: Arc<Py<PyAny>>,
    start: u64,
    is_text: bool,
    name: String,
}

impl PythonFile {
    fn new(file: &Bound<'_, PyAny>) -> PyResult<PythonFile> {
        let start = if file.hasattr("tell")? { file.call_method0("tell")?.extract()? } else { 0 };
        let is_text = file.call_method1("read", (0,))?.is_instance_of::<PyString>();
        let name = file.get_type().name()?.to_string();
        Ok(PythonFile { object: Arc::new(file.clone().unbind()), start, is_text, name })
    }
}

impl Object for PythonFile {
    fn open(&mut self) -> Result<Opened> {
        in_python(|py| self.object.bind(py).call_method1("seek", (self.start,)).map(drop))?;
        let reader = Reader { object: Arc::clone(&self.object), start: self.start, rest: Vec::new() };
        Ok(if self.is_text { Opened::Stream(Box::new(reader)) } else { Opened::Seekable(Box::new(reader)) })
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Reads an object.
struct Reader {
    object: Arc<Py<PyAny>>,
    /// The object's position that is called zero here.
    start: u64,
    /// What was read, but not asked for: texts have more bytes than characters.
    rest: Vec<u8>,
}

fn failed(error: DataError) -> io::Error {
    io::Error::other(error)
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = in_python(|py| {
                let read = self.object.bind(py).call_method1("read", (buffer.len(),))?;
                if let Ok(text) = read.cast::<PyString>() {
                    return Ok(text.to_str()?.as_bytes().to_vec());
                }
                match read.cast::<PyBytes>() {
                    Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
                    Err(_) => read.extract(),
                }
            })
            .map_err(failed)?;
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let start = self.start;
        // What was read ahead is behind the position that the user of the reader sees.
        let ahead = self.rest.len() as i64;
        self.rest.clear();
        in_python(|py| {
            let object = self.object.bind(py);
            let to = match to {
                SeekFrom::Start(offset) => (start.saturating_add(offset) as i64, 0),
                SeekFrom::Current(offset) => (offset.saturating_sub(ahead), 1),
                SeekFrom::End(offset) => (offset, 2),
            };
            object.call_method1("seek", to)?;
            let position: u64 = object.call_method0("tell")?.extract()?;
            Ok(position.saturating_sub(start))
        })
        .map_err(failed)
    }
}

/// A character of one byte.
pub(super) fn byte_of(op: &str, argument: &str, text: &str) -> PyResult<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(PyValueError::new_err(format!(
            "[{op}] {argument}: got {text:?}, expected one character of ASCII"
        ))),
    }
}
