//! The names of the files in a tar archive.

use std::sync::Arc;

use umber_core::DType;

use crate::buffer::Buffer;
use crate::error::Result;
use crate::fault;
use crate::records::Nesting;
use crate::sample::{Name, Sample};
use crate::source::archive::Archive;
use crate::source::content::FileName;
use crate::ticket::Rows;
use crate::value::Value;

/// The names of an archive's files under the key `file`, in its order.
pub struct TarNames {
    archive: Archive,
    key: Name,
}

impl TarNames {
    /// A buffer of the names in an archive; with [`Nesting::Open`], those in archives inside of it, too.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn buffer(file: &FileName, nesting: Nesting) -> Result<Buffer> {
        let open = || Archive::open(&file.fetched()?, nesting);
        let archive = open().map_err(|error| error.at_stage("files_from_tar"))?;
        let count = archive.index().len() as u64;
        let name = format!("files_from_tar('{}', {count})", file.name.display());
        let names = TarNames { archive, key: Name::new("file") };
        Ok(Buffer::from_rows(Arc::new(names), count, name))
    }
}

impl Rows for TarNames {
    fn row(&self, index: u64) -> Result<Sample> {
        let entry = usize::try_from(index).ok().and_then(|index| self.archive.index().get(index));
        let entry = entry.ok_or_else(|| fault!(Index, "index {index} is out of bounds"))?;
        Ok(Sample::from_iter([(self.key.clone(), Value::from_text(entry.name, DType::Int8)?)]))
    }
}
