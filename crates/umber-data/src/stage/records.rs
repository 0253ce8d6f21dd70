//! The records of files that samples name or hold.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Result;
use crate::random::Position;
use crate::run::Context;
use crate::sample::{Name, Sample};
use crate::source::{Content, Fetch, FileName, RecordFormat, RecordReader};
use crate::stage::expand::{Expander, Tickets};
use crate::ticket::Ticket;

/// Makes samples of the records of every file. Other values of the samples that name the files are left out.
pub struct RecordsFromKey {
    name: &'static str,
    key: Name,
    format: RecordFormat,
    /// Whether the value is the content of the file, not its name.
    from_memory: bool,
    unzip: bool,
    folder: PathBuf,
    fetch: Option<Fetch>,
}

impl RecordsFromKey {
    /// The records of the files that the values of `key` name, in `folder`, or are. Errors name the stage `name`.
    pub fn new(
        name: &'static str,
        key: &str,
        format: RecordFormat,
        from_memory: bool,
        unzip: bool,
        folder: impl Into<PathBuf>,
        fetch: Option<Fetch>,
    ) -> RecordsFromKey {
        let (key, folder) = (Name::new(key), folder.into());
        RecordsFromKey { name, key, format, from_memory, unzip, folder, fetch }
    }

    fn content(&self, sample: &Sample) -> Result<Content> {
        let what = if self.from_memory { "the content of a file" } else { "the name of a file" };
        let bytes = sample.require(self.key.as_str())?.text(what)?;
        if self.from_memory {
            return Ok(Content::Memory(Arc::from(&*bytes)));
        }
        let name = PathBuf::from(OsStr::from_bytes(&bytes));
        Ok(Content::File(FileName { name, folder: self.folder.clone(), fetch: self.fetch.clone() }))
    }
}

impl Expander for RecordsFromKey {
    fn name(&self) -> &str {
        self.name
    }

    fn arguments(&self) -> String {
        format!("'{}', {}", self.key, self.format.arguments())
    }

    fn group(&self) -> usize {
        1
    }

    fn expand(&mut self, group: Vec<Sample>, epoch: u64, _context: &Context<'_>) -> Result<Tickets> {
        let Some(sample) = group.into_iter().next() else { return Ok(Box::new(std::iter::empty())) };
        let named = |error: crate::DataError| error.at_key(self.key.as_str());
        let mut content = self.content(&sample).map_err(named)?;
        let bytes = content.open(self.unzip).map_err(named)?;
        let mut reader =
            RecordReader::new(bytes, &self.format).map_err(|error| named(content.fault_of(error)))?;
        let (name, key) = (self.name, self.key.clone());
        let position = Position { epoch, index: 0 };
        Ok(Box::new(std::iter::from_fn(move || match reader.next(|error| content.fault_of(error)) {
            Ok(sample) => Some(Ticket::sample(sample?, position)),
            Err(error) => Some(Ticket::failed(error.at_key(key.as_str()).at_stage(name), position)),
        })))
    }
}
