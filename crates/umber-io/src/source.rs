//! The bytes of a file, and arrays over ranges of them.

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

/// How arrays use the data of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mapping {
    /// Arrays are the mapped file, read-only: data is read on first use.
    #[default]
    Share,
    /// Every array has its own memory.
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
    /// The offset of its first byte in `bytes`.
    start: usize,
    length: usize,
    bytes: Bytes,
    /// Whether its memory is a mapped file.
    is_mapped: bool,
}

#[derive(Clone, Debug)]
enum Bytes {
    /// Memory that arrays may share.
    Memory(Storage),
    /// A file to read from.
    File(Arc<File>),
}

impl Source {
    /// The file at `path`.
    pub fn open(path: impl AsRef<Path>, mapping: Mapping) -> Result<Source> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |error: std::io::Error| io_error("load", &name, &error);
        // Checked before it is opened, since opening a pipe waits for a writer.
        check_is_file(&std::fs::metadata(path).map_err(failed)?, &name)?;
        let file = File::open(path).map_err(failed)?;
        Source::of_file(file, 0, name, mapping)
    }

    /// An open file from byte `start` on; `name` is used in errors.
    pub fn of_file(file: File, start: u64, name: String, mapping: Mapping) -> Result<Source> {
        let failed = |error: std::io::Error| io_error("load", &name, &error);
        let metadata = file.metadata().map_err(failed)?;
        check_is_file(&metadata, &name)?;
        let (Ok(end), Ok(start)) = (usize::try_from(metadata.len()), usize::try_from(start)) else {
            bail!(Value("load"), "{name}: {} bytes are too many to address", metadata.len());
        };
        let length = end.saturating_sub(start);
        // Mapping fails for files of some virtual file systems, and beyond the maximum number of mappings. These files are read.
        let mapped = match mapping {
            Mapping::Share if length > 0 => Buffer::map(&file).ok(),
            Mapping::Share | Mapping::Copy => None,
        };
        let Some(buffer) = mapped else {
            let bytes = Bytes::File(Arc::new(file));
            return Ok(Source { name, start, length, bytes, is_mapped: false });
        };
        // The file may have been truncated meanwhile.
        let length = length.min(buffer.bytes().saturating_sub(start));
        let layout = Layout::contiguous(Shape::from([buffer.bytes()]));
        let bytes = Bytes::Memory(Storage::new(Arc::new(buffer), layout));
        Ok(Source { name, start, length, bytes, is_mapped: true })
    }

    /// A copy of bytes in memory; `name` is used in errors.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Source> {
        Source::filled(bytes.len(), name.to_owned(), |into| {
            into.copy_from_slice(bytes);
            Ok(())
        })
    }

    /// Memory that `fill` writes; `name` is used in errors.
    pub(crate) fn filled(
        length: usize,
        name: String,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Source> {
        let bytes = Bytes::Memory(filled_storage(length, fill)?);
        Ok(Source { name, start: 0, length, bytes, is_mapped: false })
    }

    /// A range of it as a source.
    pub(crate) fn slice(&self, range: Range<usize>) -> Result<Source> {
        self.check(&range)?;
        let (name, bytes) = (self.name.clone(), self.bytes.clone());
        let (start, length) = (self.start + range.start, range.len());
        Ok(Source { name, start, length, bytes, is_mapped: self.is_mapped })
    }

    /// A range of it in memory, which is shared if it is in memory already.
    pub(crate) fn slice_in_memory(&self, range: Range<usize>) -> Result<Source> {
        if matches!(self.bytes, Bytes::Memory(_)) {
            return self.slice(range);
        }
        self.check(&range)?;
        Source::filled(range.len(), self.name.clone(), |into| self.fill(range.start, into))
    }

    /// Whether its memory is a mapped file.
    pub(crate) fn is_mapped(&self) -> bool {
        self.is_mapped
    }

    /// Its name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The result of `body`; errors get the name of this file.
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

    /// A range of the bytes.
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

    /// Read bytes from `begin` on into memory.
    fn fill(&self, begin: usize, into: &mut [u8]) -> Result<()> {
        let range = begin..begin.saturating_add(into.len());
        match &self.bytes {
            Bytes::Memory(_) => into.copy_from_slice(&self.bytes(range)?),
            Bytes::File(file) => {
                self.check(&range)?;
                let mut done = 0;
                // In chunks, so that interrupts are noticed.
                for chunk in into.chunks_mut(64 << 20) {
                    file.read_exact_at(chunk, (self.start + begin + done) as u64)
                        .map_err(|error| io_error("load", &self.name, &error))?;
                    done += chunk.len();
                    frontend::check_interrupted()?;
                }
            }
        }
        Ok(())
    }

    /// The contiguous array whose elements start at byte `begin`: over the same memory if that can be shared.
    ///
    /// Elements that are not aligned to their size are copied on first use.
    pub(crate) fn array(&self, begin: usize, dtype: DType, shape: &Shape) -> Result<Array> {
        let size = shape.size().saturating_mul(dtype.size());
        self.check(&(begin..begin.saturating_add(size)))?;
        if size == 0 {
            return Array::from_storage(Storage::allocate(shape, dtype)?, dtype);
        }
        let Bytes::Memory(memory) = &self.bytes else {
            let storage = filled_storage(size, |into| self.fill(begin, into))?;
            return Array::from_storage(storage.with_layout(Layout::contiguous(shape.clone())), dtype);
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
        ops::reshape(&ops::view(&bytes, dtype)?, shape)
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

/// A contiguous array whose bytes `fill` writes.
pub(crate) fn filled_array(
    dtype: DType,
    shape: &Shape,
    fill: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Array> {
    let storage = filled_storage(shape.size().saturating_mul(dtype.size()), fill)?;
    Array::from_storage(storage.with_layout(Layout::contiguous(shape.clone())), dtype)
}

/// Memory whose bytes `fill` writes.
fn filled_storage(length: usize, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Storage> {
    let mut storage = Storage::allocate(&Shape::from([length]), DType::UInt8)?;
    if let Some(mut view) = storage.view_mut(DType::UInt8)
        && let Some(bytes) = view.as_mut_slice::<u8>()
    {
        fill(bytes)?;
    }
    Ok(storage)
}

/// Reads a source sequentially.
pub(crate) struct Cursor<'a> {
    source: &'a Source,
    at: usize,
    /// A window of bytes read ahead, and its offset.
    window: Cow<'a, [u8]>,
    window_at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a Source) -> Cursor<'a> {
        Cursor { source, at: 0, window: Cow::Borrowed(&[]), window_at: 0 }
    }

    /// The offset of the next byte.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Number of remaining bytes.
    pub(crate) fn remaining(&self) -> usize {
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

    /// The next bytes as an array.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// The next little-endian 32-bit integer.
    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take_array()?))
    }

    /// The next little-endian 64-bit integer.
    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take_array()?))
    }
}
