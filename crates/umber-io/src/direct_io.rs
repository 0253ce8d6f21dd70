//! Direct I/O: large files written without the page cache.
//!
//! A file that must be on disk before it is renamed gains nothing from the page cache: its content would be copied there first
//! and written afterwards. Here, threads write filled blocks from aligned memory to the device while the next block is being
//! filled. Data that the file system cannot write directly goes through the page cache.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use umber_types::{Error, Result};

/// Minimum size; smaller files are written faster than threads are started.
const MIN_BYTES: u64 = 32 << 20;
/// Block size: large enough for many requests of the device per system call.
const BLOCK: usize = 4 << 20;
/// Alignment of addresses, offsets and lengths: the largest sector size and the smallest page size.
const ALIGNMENT: usize = 4096;
/// Number of writer threads: one keeps the device busy while another's call returns.
const WRITER_THREADS: usize = 2;

/// Write through `body` into `file`, which is empty and will have about `expected` bytes.
pub(crate) fn write(
    file: &File,
    expected: u64,
    failed: impl Fn(io::Error) -> Error,
    body: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let direct = (expected >= MIN_BYTES && !is_in_memory(file)).then(|| unbuffered(file)).flatten();
    match direct {
        Some(direct) => write_direct(&direct, file, expected, failed, body),
        None => body(&mut &*file),
    }
}

/// Whether the file is in a memory file system, where blocks would be one copy more and there is no device to overlap with.
fn is_in_memory(file: &File) -> bool {
    // SAFETY: `statfs` is a struct of integers, for which zero is valid.
    let mut system: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: an open file descriptor, and a struct that outlives the call.
    let is_known = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut system) } == 0;
    is_known && system.f_type == libc::TMPFS_MAGIC
}

/// The same file, opened a second time with `O_DIRECT`, if the file system supports it.
fn unbuffered(file: &File) -> Option<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path).ok()
}

fn write_direct(
    direct: &File,
    file: &File,
    expected: u64,
    failed: impl Fn(io::Error) -> Error,
    body: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    reserve(file, expected);
    let (full, queue) = channel();
    let (done, empty) = channel();
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        let start = |_: &usize| {
            let (queue, done) = (&queue, done.clone());
            let writer = thread::Builder::new().name("umber-io".into());
            writer.spawn_scoped(scope, move || serve(queue, &done, direct, file)).is_ok()
        };
        if (0..WRITER_THREADS).filter(start).count() == 0 {
            // The limit of threads may be reached.
            return body(&mut &*file);
        }
        drop(done);
        // One for each writer, and one to be filled in the meantime.
        let idle = (0..=WRITER_THREADS).map(|_| Block::new()).collect();
        let mut blocks = Blocks { full, empty, idle, position: 0 };
        body(&mut blocks)?;
        blocks.finish(file).map_err(&failed)
    })
}

/// Reserve space on the device in advance. Failure is ignored; a lack of space is reported when writing.
fn reserve(file: &File, bytes: u64) {
    if let Ok(bytes) = libc::off_t::try_from(bytes) {
        // SAFETY: an open file descriptor and integers; no memory is accessed.
        unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes) };
    }
}

/// Write filled blocks until the channel is closed.
fn serve(queue: &Mutex<Receiver<Block>>, done: &Sender<io::Result<Block>>, direct: &File, file: &File) {
    loop {
        let Ok(Ok(block)) = queue.lock().map(|queue| queue.recv()) else { return };
        if done.send(block.write(direct, file)).is_err() {
            return;
        }
    }
}

/// A block of the file.
struct Block {
    memory: Vec<u8>,
    /// Index of the first aligned byte in the memory.
    first: usize,
    filled: usize,
    /// Offset in the file.
    offset: u64,
}

impl Block {
    fn new() -> Block {
        let memory = vec![0; BLOCK + ALIGNMENT];
        Block { first: memory.as_ptr().align_offset(ALIGNMENT), memory, filled: 0, offset: 0 }
    }

    /// Copy bytes from the front of `bytes` as far as they fit, and return their number.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(BLOCK - self.filled);
        let begin = self.first + self.filled;
        self.memory[begin..begin + count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        count
    }

    /// Write the block directly, except for an incomplete last sector. Returns the block empty.
    fn write(mut self, direct: &File, file: &File) -> io::Result<Block> {
        let bytes = &self.memory[self.first..self.first + self.filled];
        let (sectors, tail) = bytes.split_at(self.filled / ALIGNMENT * ALIGNMENT);
        match direct.write_all_at(sectors, self.offset) {
            // Some file systems accept O_DIRECT when opening, and reject direct writes.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                file.write_all_at(sectors, self.offset)?;
            }
            outcome => outcome?,
        }
        file.write_all_at(tail, self.offset + sectors.len() as u64)?;
        self.filled = 0;
        Ok(self)
    }
}

/// Splits written bytes into blocks.
struct Blocks {
    full: Sender<Block>,
    empty: Receiver<io::Result<Block>>,
    /// Blocks that are not being written; the last one is being filled.
    idle: Vec<Block>,
    /// Number of bytes written so far.
    position: u64,
}

impl Blocks {
    /// Send the filled block to a writer.
    fn submit(&mut self) -> io::Result<()> {
        let Some(block) = self.idle.pop() else { return Ok(()) };
        self.full.send(block).map_err(|_| ended())
    }

    /// Wait for all blocks to be written, and truncate the file to its actual length.
    fn finish(mut self, file: &File) -> io::Result<()> {
        if self.idle.last().is_some_and(|block| block.filled > 0) {
            self.submit()?;
        }
        drop(self.full);
        self.empty.iter().try_for_each(|written| written.map(drop))?;
        file.set_len(self.position)
    }
}

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.idle.is_empty() {
            let block = self.empty.recv().map_err(|_| ended())??;
            self.idle.push(block);
        }
        let Some(block) = self.idle.last_mut() else { return Err(ended()) };
        if block.filled == 0 {
            block.offset = self.position;
        }
        let count = block.take(bytes);
        self.position += count as u64;
        if block.filled == BLOCK {
            self.submit()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error for writers that ended early, which happens only if one panicked.
fn ended() -> io::Error {
    io::Error::other("the threads that write have ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_the_written_bytes_for_every_chunk_size() -> Result<()> {
        let bytes: Vec<u8> =
            (0..3 * BLOCK as u32 + 4321).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for (length, chunk) in [
            (bytes.len(), 1_000_003),
            (3 * BLOCK, BLOCK),
            (2 * BLOCK + ALIGNMENT, 2 * BLOCK),
            (BLOCK - 1, 77_777),
            (ALIGNMENT - 1, 5),
            (0, 1),
        ] {
            let path = std::env::temp_dir().join(format!("umber-direct-{}-{length}", std::process::id()));
            let failed = |error: io::Error| crate::io_error("save", "a file", &error);
            let file = File::create(&path).map_err(failed)?;
            // The expected size may exceed the actual one, as for compressed data.
            let direct = unbuffered(&file).unwrap_or(file.try_clone().map_err(failed)?);
            write_direct(&direct, &file, length as u64 + 100_000, failed, |writer| {
                bytes[..length].chunks(chunk).try_for_each(|chunk| writer.write_all(chunk)).map_err(failed)
            })?;
            assert!(std::fs::read(&path).map_err(failed)? == bytes[..length], "{length} bytes");
            std::fs::remove_file(&path).map_err(failed)?;
        }
        Ok(())
    }

    #[test]
    fn memory_file_systems_are_recognised() {
        let is_in_memory = |path: &str| is_in_memory(&File::open(path).expect("the file exists"));
        assert!(!is_in_memory("/proc/self/stat"));
        let mounts = std::fs::read_to_string("/proc/mounts").expect("the file exists");
        assert!(!mounts.contains(" /dev/shm tmpfs ") || is_in_memory("/dev/shm"));
    }

    #[test]
    fn write_errors_are_reported() -> Result<()> {
        let failed = |error: io::Error| crate::io_error("save", "a file", &error);
        let file = OpenOptions::new().write(true).open("/dev/full").map_err(failed)?;
        let chunk = vec![1; BLOCK];
        let result = write_direct(&file, &file, 0, failed, |writer| {
            (0..20).try_for_each(|_| writer.write_all(&chunk)).map_err(failed)
        });
        assert!(result.is_err_and(|error| error.to_string().contains("No space left")));
        Ok(())
    }
}
