//! Where the bytes of records come from: files, memory, objects of the user.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{DataError, ErrorKind, Result};
use crate::fault;
use crate::ops::io_fault;
use crate::records::compression::{decompress, detect};
use crate::records::{Compression, RecordError};

/// Bytes read ahead of a file.
const BUFFER: usize = 1 << 16;

/// Called with the name of a file before it is opened, such as to download it.
pub type Fetch = Arc<dyn Fn(&Path) -> Result<()> + Send + Sync>;

/// Bytes with a position that can be set.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// An open object of the user.
pub enum Opened {
    /// One with positions.
    Seekable(Box<dyn ReadSeek>),
    /// One that is read from its start.
    Stream(Box<dyn Read + Send>),
}

/// An object of the user that can be read several times.
pub trait Object: Send {
    /// Go to its start.
    ///
    /// # Errors
    /// Those of the object.
    fn open(&mut self) -> Result<Opened>;

    /// What stands for it in states.
    fn name(&self) -> &str;
}

/// A file in a folder.
#[derive(Clone)]
pub struct FileName {
    /// The name.
    pub name: PathBuf,
    /// The folder; the current one, if it is empty.
    pub folder: PathBuf,
    /// Called with the name before the file is opened.
    pub fetch: Option<Fetch>,
}

impl FileName {
    /// The path of the file, which has been fetched.
    ///
    /// # Errors
    /// Those of `fetch`.
    pub fn fetched(&self) -> Result<PathBuf> {
        let path = self.folder.join(&self.name);
        if let Some(fetch) = &self.fetch {
            fetch(&self.name).map_err(|error| error.in_file(&path))?;
        }
        Ok(path)
    }
}

impl From<&str> for FileName {
    fn from(name: &str) -> FileName {
        FileName { name: name.into(), folder: PathBuf::new(), fetch: None }
    }
}

/// Where bytes come from.
pub enum Content {
    /// A file.
    File(FileName),
    /// Memory.
    Memory(Arc<[u8]>),
    /// An object of the user.
    Object(Box<dyn Object>),
}

impl Content {
    /// Open it at its start. Compressed bytes are decompressed if `unzip` says so or the suffix of a file is that of a compression.
    pub(crate) fn open(&mut self, unzip: bool) -> Result<Bytes> {
        let opened = match self {
            Content::Memory(bytes) => Opened::Seekable(Box::new(Cursor::new(Arc::clone(bytes)))),
            Content::Object(object) => object.open()?,
            Content::File(file) => {
                let path = file.fetched()?;
                let open = || -> Result<File> {
                    let failed = |error: io::Error| io_fault("read", &error);
                    // Looked at before it is opened, since to open a pipe waits for a writer.
                    if std::fs::metadata(&path).map_err(failed)?.is_dir() {
                        return Err(fault!(Io, "cannot read: it is a folder"));
                    }
                    File::open(&path).map_err(failed)
                };
                Opened::Seekable(Box::new(open().map_err(|error| error.in_file(&path))?))
            }
        };
        let promised = match self {
            Content::File(file) => Compression::of_name(&file.name),
            Content::Memory(_) | Content::Object(_) => Compression::None,
        };
        if !unzip && promised == Compression::None {
            return Ok(match opened {
                Opened::Seekable(bytes) => Bytes::Seekable(BufReader::with_capacity(BUFFER, bytes)),
                Opened::Stream(bytes) => Bytes::Stream(Box::new(BufReader::with_capacity(BUFFER, bytes))),
            });
        }
        let reader: Box<dyn Read + Send> = match opened {
            Opened::Seekable(bytes) => Box::new(bytes),
            Opened::Stream(bytes) => bytes,
        };
        let reader = BufReader::with_capacity(BUFFER, reader);
        let decompressed = detect(reader).and_then(|(shown, reader)| decompress(reader, shown));
        decompressed.map(Bytes::Stream).map_err(|error| self.fault_of(error))
    }

    /// The path, if it is a file.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Content::File(file) => Some(file.folder.join(&file.name)),
            Content::Memory(_) | Content::Object(_) => None,
        }
    }

    /// What stands for it in states.
    pub(crate) fn name(&self) -> String {
        match self {
            Content::File(file) => format!("'{}'", file.name.display()),
            Content::Memory(bytes) => format!("{} bytes", bytes.len()),
            Content::Object(object) => object.name().to_owned(),
        }
    }

    /// A fault of the records, with the file.
    pub(crate) fn fault_of(&self, error: RecordError) -> DataError {
        let path = self.path();
        let error = fault_of_records(error, path.is_some());
        match path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }
}

/// A fault of records, of a file or of memory.
pub(crate) fn fault_of_records(error: RecordError, is_file: bool) -> DataError {
    match error {
        RecordError::Io(error)
            if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<DataError>) =>
        {
            match error.downcast::<DataError>() {
                Ok(error) => error,
                Err(error) => io_fault("read", &error),
            }
        }
        RecordError::Io(error) => io_fault("read", &error),
        RecordError::Option { .. } | RecordError::Position { .. } => fault!(Value, "{error}"),
        error => {
            let kind = if is_file { ErrorKind::Io } else { ErrorKind::Value };
            DataError::new(kind, error.to_string())
        }
    }
}

/// Open content.
pub(crate) enum Bytes {
    Seekable(BufReader<Box<dyn ReadSeek>>),
    Stream(Box<dyn BufRead + Send>),
}

impl Bytes {
    pub(crate) fn is_seekable(&self) -> bool {
        matches!(self, Bytes::Seekable(_))
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Seekable(bytes) => bytes.read(buffer),
            Bytes::Stream(bytes) => bytes.read(buffer),
        }
    }
}

impl BufRead for Bytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Bytes::Seekable(bytes) => bytes.fill_buf(),
            Bytes::Stream(bytes) => bytes.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        match self {
            Bytes::Seekable(bytes) => bytes.consume(count),
            Bytes::Stream(bytes) => bytes.consume(count),
        }
    }
}

impl Seek for Bytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Bytes::Seekable(bytes) => bytes.seek(to),
            Bytes::Stream(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
