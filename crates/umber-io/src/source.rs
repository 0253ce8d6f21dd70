//! Where the bytes of a file come from, and how parts of them become arrays.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::ops::Range;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;
use std::sync::Arc;

use umber_core::graph::{ArrayInternals, Storage};
use umber_core::memory::Buffer;
use umber_core::{Array, DType, Layout, Shape, frontend, ops};
use umber_types::{Result, bail, ensure};

use crate::{about, io_error};

/// How the data of a file becomes arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mapping {
    /// Arrays are the file itself, mapped and read-only: nothing is read before it is used.
    #[default]
    Share,
    /// Every array has memory of its own.
    Copy,
}

/// The bytes of a file.
///
/// ```
/// # use umber_io as io;
/// use umber_core::Array;
///
/// let path = std::env::temp_dir().join(format!("umber-source-{}.npy", std::process::id()));
/// io::npy::save(path.as_path(), &Array::from([1.0f32, 2.0]))?;
/// let copied = io::npy::read(&io::Source::open(&path, io::Mapping::Copy)?)?;
/// assert_eq!(copied.to_vec::<f32>()?, [1.0, 2.0]);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), umber_types::Error>(())
/// ```
#[derive(Debug)]
pub struct Source {
    name: String,
    /// Where in `bytes` it begins.
    start: usize,
    length: usize,
    bytes: Bytes,
    /// Is it a file's memory, of which nothing is read before it is used?
    is_mapped: bool,
}

#[derive(Clone, Debug)]
enum Bytes {
    /// Memory that arrays may share.
    Memory(Storage),
    /// A file to be read from.
    File(Arc<File>),
}

impl Source {
    /// The file at `path`.
    pub fn open(path: &Path, mapping: Mapping) -> Result<Source> {
        let name = path.display().to_string();
        let failed = |error: std::io::Error| io_error("load", &name, &error);
        // Asked before it is opened: the opening of a pipe waits for somebody who writes.
        check_is_file(&std::fs::metadata(path).map_err(failed)?, &name)?;
        let file = File::open(path).map_err(failed)?;
        Source::of_file(file, 0, name, mapping)
    }

    /// An open file from byte `start` on; errors call it `name`.
    pub fn of_file(file: File, start: u64, name: String, mapping: Mapping) -> Result<Source> {
        let failed = |error: std::io::Error| io_error("load", &name, &error);
        let metadata = file.metadata().map_err(failed)?;
        check_is_file(&metadata, &name)?;
        let (Ok(end), Ok(start)) = (usize::try_from(metadata.len()), usize::try_from(start)) else {
            bail!(Value("load"), "{name}: {} bytes are too many to address", metadata.len());
        };
        let length = end.saturating_sub(start);
        // What cannot be mapped, such as files of some virtual file systems or beside thousands of others, is read.
        let mapped = match mapping {
            Mapping::Share if length > 0 => Buffer::map(&file).ok(),
            Mapping::Share | Mapping::Copy => None,
        };
        let Some(buffer) = mapped else {
            let bytes = Bytes::File(Arc::new(file));
            return Ok(Source { name, start, length, bytes, is_mapped: false });
        };
        // The file may have become shorter since it was asked.
        let length = length.min(buffer.bytes().saturating_sub(start));
        let layout = Layout::contiguous(Shape::from([buffer.bytes()]));
        let bytes = Bytes::Memory(Storage::new(Arc::new(buffer), layout));
        Ok(Source { name, start, length, bytes, is_mapped: true })
    }

    /// Bytes in memory, which are copied; errors call them `name`.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Source> {
        Source::made(bytes.len(), name.to_owned(), |into| {
            into.copy_from_slice(bytes);
            Ok(())
        })
    }

    /// Memory that `fill` fills; errors call it `name`.
    pub(crate) fn made(
        length: usize,
        name: String,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Source> {
        let bytes = Bytes::Memory(filled(length, fill)?);
        Ok(Source { name, start: 0, length, bytes, is_mapped: false })
    }

    /// A part of it as a source of its own.
    pub(crate) fn part(&self, range: Range<usize>) -> Result<Source> {
        self.check(&range)?;
        let (name, bytes) = (self.name.clone(), self.bytes.clone());
        let (start, length) = (self.start + range.start, range.len());
        Ok(Source { name, start, length, bytes, is_mapped: self.is_mapped })
    }

    /// A part of it in memory, which may be that of the whole.
    pub(crate) fn part_in_memory(&self, range: Range<usize>) -> Result<Source> {
        if matches!(self.bytes, Bytes::Memory(_)) {
            return self.part(range);
        }
        self.check(&range)?;
        Source::made(range.len(), self.name.clone(), |into| self.fill(range.start, into))
    }

    /// Is it a file's memory, of which nothing is read before it is used?
    pub(crate) fn is_mapped(&self) -> bool {
        self.is_mapped
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// What `body` gives; its errors name this file.
    pub(crate) fn named<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        body().map_err(|error| about("load", &self.name, error))
    }

    fn check(&self, range: &Range<usize>) -> Result<()> {
        ensure!(
            range.start <= range.end && range.end <= self.length,
            Value,
            "the file is damaged or truncated: got {} bytes, expected at least {}",
            self.length,
            range.end.max(range.start)
        );
        Ok(())
    }

    /// Some of the bytes.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
        self.check(&range)?;
        match &self.bytes {
            Bytes::Memory(memory) => {
                let all = memory.host().and_then(|host| host.dense_bytes(DType::UInt8)).unwrap_or(&[]);
                Ok(Cow::Borrowed(&all[self.start + range.start..self.start + range.end]))
            }
            Bytes::File(_) => {
                let mut bytes = vec![0; range.len()];
                self.fill(range.start, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Bytes from `begin` on into memory.
    fn fill(&self, begin: usize, into: &mut [u8]) -> Result<()> {
        let range = begin..begin.saturating_add(into.len());
        match &self.bytes {
            Bytes::Memory(_) => into.copy_from_slice(&self.bytes(range)?),
            Bytes::File(file) => {
                self.check(&range)?;
                let mut done = 0;
                // In pieces, so that an interruption is seen.
                for piece in into.chunks_mut(64 << 20) {
                    file.read_exact_at(piece, (self.start + begin + done) as u64)
                        .map_err(|error| io_error("load", &self.name, &error))?;
                    done += piece.len();
                    frontend::check_interrupted()?;
                }
            }
        }
        Ok(())
    }

    /// The dense array whose elements begin at byte `begin`: the memory itself where it may be shared.
    ///
    /// Where elements do not lie at a multiple of their size they are copied when they are used.
    pub(crate) fn array(&self, begin: usize, dtype: DType, shape: &Shape) -> Result<Array> {
        let size = shape.size().saturating_mul(dtype.size());
        self.check(&(begin..begin.saturating_add(size)))?;
        if size == 0 {
            return Array::from_storage(Storage::allocate(shape, dtype)?, dtype);
        }
        let Bytes::Memory(memory) = &self.bytes else {
            let own = filled(size, |into| self.fill(begin, into))?;
            return Array::from_storage(own.with_layout(Layout::contiguous(shape.clone())), dtype);
        };
        let begin = self.start + begin;
        let mut layout = Layout::contiguous(shape.clone());
        if begin.is_multiple_of(dtype.size()) {
            layout.offset = begin / dtype.size();
            return Array::from_storage(memory.with_layout(layout), dtype);
        }
        let mut bytes = Layout::contiguous(Shape::from([size]));
        bytes.offset = begin;
        let bytes = Array::from_storage(memory.with_layout(bytes), DType::UInt8)?;
        ops::reshape(
            &ops::view(&bytes, dtype)?,
            &shape.iter().map(|&length| length as i64).collect::<Vec<_>>(),
        )
    }
}

fn check_is_file(metadata: &Metadata, name: &str) -> Result<()> {
    let kind = metadata.file_type();
    let got = if kind.is_fifo() {
        "a pipe"
    } else if kind.is_dir() {
        "a directory"
    } else {
        "not a regular file"
    };
    ensure!(kind.is_file(), Io("load"), "{name} is {got}, expected a file or a binary file object");
    Ok(())
}

/// A dense array whose bytes `fill` writes.
pub(crate) fn made(dtype: DType, shape: &Shape, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Array> {
    let storage = filled(shape.size().saturating_mul(dtype.size()), fill)?;
    Array::from_storage(storage.with_layout(Layout::contiguous(shape.clone())), dtype)
}

/// Memory filled by `fill`.
fn filled(length: usize, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Storage> {
    let mut storage = Storage::allocate(&Shape::from([length]), DType::UInt8)?;
    if let Some(mut view) = storage.view_mut(DType::UInt8)
        && let Some(bytes) = view.as_mut_slice::<u8>()
    {
        fill(bytes)?;
    }
    Ok(storage)
}

/// Reads a source from its beginning, field by field.
pub(crate) struct Cursor<'a> {
    source: &'a Source,
    at: usize,
    /// What was read ahead, and where it begins.
    window: Cow<'a, [u8]>,
    window_at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a Source) -> Cursor<'a> {
        Cursor { source, at: 0, window: Cow::Borrowed(&[]), window_at: 0 }
    }

    /// Where the next byte is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Number of bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.source.length - self.at
    }

    /// The next bytes.
    pub(crate) fn take(&mut self, count: usize) -> Result<&[u8]> {
        let end = self.at.saturating_add(count);
        self.source.check(&(self.at..end))?;
        if self.at < self.window_at || end > self.window_at + self.window.len() {
            let ahead = match self.source.bytes {
                Bytes::Memory(_) => self.source.length,
                Bytes::File(_) => end.max(self.at.saturating_add(1 << 18)).min(self.source.length),
            };
            self.window = self.source.bytes(self.at..ahead)?;
            self.window_at = self.at;
        }
        let begin = self.at - self.window_at;
        self.at = end;
        Ok(&self.window[begin..begin + count])
    }

    /// The next bytes as an array of them.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// The next little-endian integer of 32 bits.
    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take_array()?))
    }

    /// The next little-endian integer of 64 bits.
    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take_array()?))
    }
}
