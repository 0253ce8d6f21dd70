//! Files in tar archives.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{DataError, Result};
use crate::fault;
use crate::operation::Operation;
use crate::ops::path_of;
use crate::random::Draw;
use crate::records::Nesting;
use crate::sample::{Name, Sample};
use crate::source::{Archive, Fetch, FileName};

/// Number of archives that are kept open.
const MAX_OPEN: usize = 64;

/// Which archive [`ReadFromTar`] reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarInput {
    /// The same for all samples.
    Path(PathBuf),
    /// The one that the value of a key names.
    Key(Name),
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
    fetch: Option<Fetch>,
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
        ReadFromTar { tar, key, output, prefix, tar_prefix, nesting, fetch: None, archives: Mutex::default() }
    }

    /// Call `fetch` with the name of each archive before it is opened.
    #[must_use]
    pub fn with_fetch(mut self, fetch: Option<Fetch>) -> ReadFromTar {
        self.fetch = fetch;
        self
    }

    fn archive(&self, name: &Path) -> Result<Arc<Archive>> {
        if let Some(archive) = self.archives.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Arc::clone(archive));
        }
        // Without the lock, so that archives are read side by side; of two that read one, the first counts.
        let file =
            FileName { name: name.to_owned(), folder: self.tar_prefix.clone(), fetch: self.fetch.clone() };
        let archive = Arc::new(Archive::open(&file.fetched()?, self.nesting)?);
        let mut archives = self.archives.lock().unwrap_or_else(PoisonError::into_inner);
        if archives.len() >= MAX_OPEN {
            archives.clear();
        }
        Ok(Arc::clone(archives.entry(name.to_owned()).or_insert(archive)))
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
        let tar = match &self.tar {
            TarInput::Path(path) => path.clone(),
            TarInput::Key(key) => path_of(Path::new(""), sample.require(key.as_str())?)
                .map_err(|error| error.at_key(key.as_str()))?,
        };
        let at_key = |error: DataError| error.at_key(self.key.as_str());
        let name = path_of(&self.prefix, sample.require(self.key.as_str())?).map_err(at_key)?;
        let archive = self.archive(&tar)?;
        let Some(entry) = archive.index().find(name.as_os_str().as_encoded_bytes()) else {
            let fault = fault!(NotFound, "the archive has no file <{}>", name.display());
            return Err(at_key(fault).in_file(self.tar_prefix.join(tar)));
        };
        sample.set(self.output.clone(), archive.content(&entry)?);
        Ok(Some(sample))
    }
}
