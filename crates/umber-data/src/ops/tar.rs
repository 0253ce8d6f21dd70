//! Files in tar archives.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use umber_core::DType;
use umber_core::graph::Storage;
use umber_core::memory::Buffer;
use umber_types::{ErrorKind, Layout};

use crate::error::{DataError, Result};
use crate::fault;
use crate::operation::Operation;
use crate::ops::files::{io_fault, path_of, read_file, regular_file};
use crate::random::Draw;
use crate::records::{Nesting, RecordError, TarIndex};
use crate::sample::{Name, Sample};
use crate::value::Value;

/// Number of archives that are kept open.
const MAX_OPEN: usize = 64;

impl From<RecordError> for DataError {
    fn from(error: RecordError) -> DataError {
        match &error {
            RecordError::Io(error) => io_fault("read", error),
            RecordError::Option { .. } => DataError::new(ErrorKind::Value, error.to_string()),
            _ => DataError::new(ErrorKind::Io, error.to_string()),
        }
    }
}

/// Which archive [`ReadFromTar`] reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarInput {
    /// The same for all samples.
    Path(PathBuf),
    /// The one that the value of a key names.
    Key(Name),
}

/// A mapped archive.
struct Archive {
    content: Value,
    index: TarIndex,
}

impl Archive {
    fn open(path: &Path, nesting: Nesting) -> Result<Archive> {
        let length = regular_file(path)?.len();
        let file = std::fs::File::open(path).map_err(|error| io_fault("read", &error))?;
        // Empty files cannot be mapped, nor can those of some virtual file systems.
        let content = match Buffer::map(&file) {
            Ok(buffer) if length > 0 => {
                let layout = Layout::contiguous(buffer.bytes().into());
                Value::new(Storage::new(Arc::new(buffer), layout), DType::UInt8)?
            }
            _ => Value::from_bytes(&read_file(path)?)?,
        };
        let index = TarIndex::read(content.as_bytes().unwrap_or_default(), nesting)?;
        Ok(Archive { content, index })
    }

    /// The content of a file, which shares the memory of the archive.
    fn read(&self, name: &[u8]) -> Result<Value> {
        let Some(entry) = self.index.find(name) else {
            return Err(fault!(NotFound, "the archive has no file <{}>", String::from_utf8_lossy(name)));
        };
        let layout =
            Layout { offset: entry.offset as usize, ..Layout::contiguous((entry.length as usize).into()) };
        self.content.with_layout(layout)
    }
}

/// The content of a file in a tar archive, as `uint8`. It shares the memory of the archive, which is mapped.
pub struct ReadFromTar {
    /// The archive.
    pub tar: TarInput,
    /// The key of the file's name.
    pub key: Name,
    /// Where the content goes.
    pub output: Name,
    /// The folder in the archive.
    pub prefix: PathBuf,
    /// The folder of the archive.
    pub tar_prefix: PathBuf,
    /// Whether archives in the archive are opened.
    pub nesting: Nesting,
    archives: Mutex<HashMap<PathBuf, Arc<Archive>>>,
}

impl ReadFromTar {
    /// The content of the file that the value of `key` names. Archives are opened when they are first read.
    pub fn new(
        tar: TarInput,
        key: &str,
        output: &str,
        prefix: impl Into<PathBuf>,
        tar_prefix: impl Into<PathBuf>,
        nesting: Nesting,
    ) -> ReadFromTar {
        let (key, output) = (Name::new(key), Name::new(output));
        let (prefix, tar_prefix) = (prefix.into(), tar_prefix.into());
        ReadFromTar { tar, key, output, prefix, tar_prefix, nesting, archives: Mutex::default() }
    }

    fn archive(&self, path: PathBuf) -> Result<Arc<Archive>> {
        if let Some(archive) = self.archives.lock().unwrap_or_else(PoisonError::into_inner).get(&path) {
            return Ok(Arc::clone(archive));
        }
        // Without the lock, so that archives are read side by side; of two that read one, the first counts.
        let archive = Arc::new(Archive::open(&path, self.nesting).map_err(|error| error.in_file(&path))?);
        let mut archives = self.archives.lock().unwrap_or_else(PoisonError::into_inner);
        if archives.len() >= MAX_OPEN {
            archives.clear();
        }
        Ok(Arc::clone(archives.entry(path).or_insert(archive)))
    }
}

impl fmt::Debug for ReadFromTar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadFromTar")
            .field("tar", &self.tar)
            .field("key", &self.key)
            .field("output", &self.output)
            .field("prefix", &self.prefix)
            .field("tar_prefix", &self.tar_prefix)
            .field("nesting", &self.nesting)
            .finish_non_exhaustive()
    }
}

impl Operation for ReadFromTar {
    fn name(&self) -> &'static str {
        "read_from_tar"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        let path = match &self.tar {
            TarInput::Path(path) => self.tar_prefix.join(path),
            TarInput::Key(key) => path_of(&self.tar_prefix, sample.require(key.as_str())?)
                .map_err(|error| error.at_key(key.as_str()))?,
        };
        let at_key = |error: DataError| error.at_key(self.key.as_str());
        let name = path_of(&self.prefix, sample.require(self.key.as_str())?).map_err(at_key)?;
        let archive = self.archive(path.clone())?;
        let content =
            archive.read(name.as_os_str().as_encoded_bytes()).map_err(|error| at_key(error).in_file(path))?;
        sample.set(self.output.clone(), content);
        Ok(Some(sample))
    }
}
