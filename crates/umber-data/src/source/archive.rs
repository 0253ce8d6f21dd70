//! Tar archives in memory: a file is mapped, a compressed one is decompressed.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use umber_core::graph::Storage;
use umber_core::memory;
use umber_core::{DType, Layout, Shape};

use crate::error::Result;
use crate::fault;
use crate::ops::{io_fault, regular_file};
use crate::records::compression::{self, Compression};
use crate::records::{Nesting, RECORD_LIMIT, TarEntry, TarIndex};
use crate::source::content::fault_of_records;
use crate::value::Value;

/// A tar archive and where its members are.
pub struct Archive {
    bytes: Value,
    index: TarIndex,
}

impl Archive {
    /// The archive at a path. It may be compressed, if its name has the suffix of a compression.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or uses what is not supported. The file is named.
    pub fn open(path: &Path, nesting: Nesting) -> Result<Archive> {
        let open = || -> Result<Archive> {
            let bytes = match Compression::of_name(path) {
                Compression::None => mapped(path)?,
                _ => decompressed(path)?,
            };
            let index = TarIndex::read(bytes.as_bytes().unwrap_or_default(), nesting)
                .map_err(|error| fault_of_records(error, true))?;
            Ok(Archive { bytes, index })
        };
        open().map_err(|error| error.in_file(path))
    }

    /// Where its members are.
    pub fn index(&self) -> &TarIndex {
        &self.index
    }

    /// The content of a member, as `uint8`. It shares the archive's memory.
    ///
    /// # Errors
    /// If it is none of this archive.
    pub fn content(&self, member: &TarEntry<'_>) -> Result<Value> {
        let mut layout = Layout::contiguous(Shape::from([member.length as usize]));
        if member.length == 0 {
            return Value::allocate(&layout.shape, DType::UInt8);
        }
        layout.offset = self.bytes.layout().offset + member.offset as usize;
        self.bytes.with_layout(layout)
    }
}

/// The bytes of a file, without reading them.
fn mapped(path: &Path) -> Result<Value> {
    let failed = |error: std::io::Error| io_fault("read", &error);
    let length = regular_file(path)?.len();
    let mut file = File::open(path).map_err(failed)?;
    // Empty files cannot be mapped, nor can those of some virtual file systems.
    if length > 0
        && let Ok(buffer) = memory::Buffer::map(&file)
    {
        let layout = Layout::contiguous(Shape::from([buffer.bytes()]));
        return Value::new(Storage::new(Arc::new(buffer), layout), DType::UInt8);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Value::from_bytes(&bytes)
}

/// The content of a compressed file.
fn decompressed(path: &Path) -> Result<Value> {
    let fault = |error| fault_of_records(error, true);
    let reader = compression::open(path).map_err(fault)?;
    let mut bytes = Vec::new();
    let read = reader.take(RECORD_LIMIT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| fault(error.into()))?;
    if bytes.len() > RECORD_LIMIT {
        return Err(fault!(
            Io,
            "more than {RECORD_LIMIT} bytes are compressed in it; decompress the file first"
        ));
    }
    Value::from_bytes(&bytes)
}
