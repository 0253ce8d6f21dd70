//! Files as values.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use umber_core::DType;
use umber_io::{Mapping, Source};
use umber_types::ErrorKind;

use crate::error::{DataError, Result};
use crate::fault;
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// Maximum length of a file that becomes one value.
const MAX_FILE: u64 = 1 << 31;

/// Length up to which a file is read; longer ones are mapped.
const MAX_READ: u64 = 1 << 20;

/// Whether a value is the name of a file, or its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileInput {
    /// The name of a file in a folder; the current one, if it is empty.
    Name(PathBuf),
    /// The bytes of a file.
    Content,
}

impl FileInput {
    /// The content of files, or names of files in the folder `prefix`.
    pub fn new(prefix: impl Into<PathBuf>, from_memory: bool) -> FileInput {
        if from_memory { FileInput::Content } else { FileInput::Name(prefix.into()) }
    }

    /// Let `read` read the bytes of the file that the value names or is.
    ///
    /// # Errors
    /// If there is no such file, or those of `read`; files are named.
    pub(super) fn with_bytes<T>(&self, value: &Value, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        match self {
            FileInput::Content => read(&value.text("the content of a file")?),
            FileInput::Name(folder) => {
                let path = path_of(folder, value)?;
                let bytes = read_file(&path).map_err(|error| error.in_file(&path))?;
                read(&bytes).map_err(|error| error.in_file(&path))
            }
        }
    }
}

/// The path of the file whose name is a value.
pub(crate) fn path_of(folder: &Path, name: &Value) -> Result<PathBuf> {
    let name = name.text("the name of a file")?;
    if name.is_empty() {
        return Err(fault!(Value, "the name of a file is empty"));
    }
    Ok(folder.join(OsStr::from_bytes(&name)))
}

/// A fault of the operating system.
pub(crate) fn io_fault(verb: &str, error: &std::io::Error) -> DataError {
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    let kind = if is_missing { ErrorKind::NotFound } else { ErrorKind::Io };
    DataError::new(kind, format!("cannot {verb}: {error}"))
}

/// The properties of a file, looked at before it is opened, since to open a pipe waits for a writer.
///
/// # Errors
/// If there is none at the path.
pub(crate) fn regular_file(path: &Path) -> Result<Metadata> {
    let metadata = std::fs::metadata(path).map_err(|error| io_fault("read", &error))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "no file" };
        return Err(fault!(Io, "cannot read: it is {what}"));
    }
    Ok(metadata)
}

/// Open a file and get its length.
fn open(path: &Path) -> Result<(File, u64)> {
    let metadata = regular_file(path)?;
    if metadata.len() > MAX_FILE {
        return Err(fault!(
            Value,
            "cannot read: {} bytes are more than the limit of {MAX_FILE}",
            metadata.len()
        ));
    }
    let file = File::open(path).map_err(|error| io_fault("read", &error))?;
    Ok((file, metadata.len()))
}

/// The bytes of a file.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize).map_err(|_| fault!(Memory, "no memory for {length} bytes"))?;
    // The limit holds for files that grow, too.
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|error| io_fault("read", &error))?;
    Ok(bytes)
}

/// The bytes of a file, as `int8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFile {
    /// The name, and where the content goes.
    pub keys: Keys,
    /// The folder.
    pub prefix: PathBuf,
}

impl LoadFile {
    /// The file in the folder `prefix`.
    pub fn new(keys: impl Into<Keys>, prefix: impl Into<PathBuf>) -> LoadFile {
        LoadFile { keys: keys.into(), prefix: prefix.into() }
    }
}

impl Change for LoadFile {
    const NAME: &'static str = "load_file";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let path = path_of(&self.prefix, &value)?;
        let read = || -> Result<Value> {
            let (mut file, length) = open(&path)?;
            let mut content = Value::allocate(&(length as usize).into(), DType::Int8)?;
            file.read_exact(content.bytes_mut()?).map_err(|error| io_fault("read", &error))?;
            Ok(content)
        };
        read().map_err(|error| error.in_file(&path))
    }
}

/// The array of an npy file. Large files are mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadNumpy {
    /// The name or content, and where the array goes.
    pub keys: Keys,
    /// Which of both.
    pub input: FileInput,
}

impl LoadNumpy {
    /// The array of the file that the value names or is.
    pub fn new(keys: impl Into<Keys>, input: FileInput) -> LoadNumpy {
        LoadNumpy { keys: keys.into(), input }
    }
}

impl Change for LoadNumpy {
    const NAME: &'static str = "load_numpy";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        match &self.input {
            FileInput::Content => {
                let source = Source::from_bytes(&value.text("the content of a file")?, "bytes")?;
                array_of(&source)
            }
            FileInput::Name(folder) => {
                let path = path_of(folder, &value)?;
                let read = || -> Result<Value> {
                    let (file, length) = open(&path)?;
                    let mapping = if length > MAX_READ { Mapping::Share } else { Mapping::Copy };
                    array_of(&Source::of_file(file, 0, path.display().to_string(), mapping)?)
                };
                read().map_err(|error| error.in_file(&path))
            }
        }
    }
}

/// The array of an npy file, without the operation that the reader names.
fn array_of(source: &Source) -> Result<Value> {
    let array = umber_io::npy::read(source).map_err(|error| DataError::new(error.kind(), error.detail()))?;
    Value::from_array(&array)
}
