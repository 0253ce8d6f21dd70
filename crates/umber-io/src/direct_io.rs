//! Large files written past the page cache.
//!
//! A file that has to be on the disk before it takes its name gains nothing from a copy in the page cache: the copy is
//! made first, and written after. Blocks that are filled here are written by threads of their own, while the next one
//! is filled, straight from memory that the device can read. What the file system cannot write so is written as ever.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use umber_types::{Error, Result};

/// Files of fewer bytes are written faster than threads are made.
const MIN_BYTES: u64 = 32 << 20;
/// Many requests of the device, and few calls of the system.
const BLOCK: usize = 4 << 20;
/// Addresses, places and lengths are multiples of it: the largest sector and the smallest page there is.
const ALIGNMENT: usize = 4096;
/// One keeps the device busy while another's call returns.
const WRITERS: usize = 2;

/// Write through `body` into `file`, which is empty and gets about `expected` bytes.
pub(crate) fn write(
    file: &File,
    expected: u64,
    failed: impl Fn(io::Error) -> Error,
    body: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let direct = (expected >= MIN_BYTES && !is_in_memory(file)).then(|| unbuffered(file)).flatten();
    match direct {
        Some(direct) => through(&direct, file, expected, failed, body),
        None => body(&mut &*file),
    }
}

/// Is the file in memory, where there is no disk to write to meanwhile? Blocks would be one copy more.
fn is_in_memory(file: &File) -> bool {
    // SAFETY: zeros are numbers.
    let mut system: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a number of an open file, and room for what is told of its file system.
    let is_known = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut system) } == 0;
    is_known && system.f_type == libc::TMPFS_MAGIC
}

/// The same file, opened once more to be written past the page cache, where that can be asked for.
fn unbuffered(file: &File) -> Option<File> {
    let again = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(again).ok()
}

fn through(
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
        if (0..WRITERS).filter(start).count() == 0 {
            // There may be no more threads.
            return body(&mut &*file);
        }
        drop(done);
        // One for each writer, and one that is filled meanwhile.
        let idle = (0..=WRITERS).map(|_| Block::new()).collect();
        let mut blocks = Blocks { full, empty, idle, position: 0 };
        body(&mut blocks)?;
        blocks.finish(file).map_err(&failed)
    })
}

/// Ask for the place on the disk at once; that there is none shows when it is needed.
fn reserve(file: &File, bytes: u64) {
    if let Ok(bytes) = libc::off_t::try_from(bytes) {
        // SAFETY: a number of an open file and two sizes; no memory is touched.
        unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes) };
    }
}

/// Write what is filled until nobody fills more.
fn serve(queue: &Mutex<Receiver<Block>>, done: &Sender<io::Result<Block>>, direct: &File, file: &File) {
    loop {
        let Ok(Ok(block)) = queue.lock().map(|queue| queue.recv()) else { return };
        if done.send(block.write(direct, file)).is_err() {
            return;
        }
    }
}

/// A part of the file.
struct Block {
    memory: Vec<u8>,
    /// Where in the memory the first aligned byte is.
    first: usize,
    filled: usize,
    /// Where in the file it belongs.
    place: u64,
}

impl Block {
    fn new() -> Block {
        let memory = vec![0; BLOCK + ALIGNMENT];
        Block { first: memory.as_ptr().align_offset(ALIGNMENT), memory, filled: 0, place: 0 }
    }

    /// Take from the front of `bytes` what there is room for, and answer how much that was.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(BLOCK - self.filled);
        let at = self.first + self.filled;
        self.memory[at..at + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        taken
    }

    /// Write it past the page cache, but for an end that is no whole sector. The block comes back empty.
    fn write(mut self, direct: &File, file: &File) -> io::Result<Block> {
        let bytes = &self.memory[self.first..self.first + self.filled];
        let (sectors, rest) = bytes.split_at(self.filled / ALIGNMENT * ALIGNMENT);
        match direct.write_all_at(sectors, self.place) {
            // Some file systems let a file be opened so and refuse to write it so.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                file.write_all_at(sectors, self.place)?;
            }
            outcome => outcome?,
        }
        file.write_all_at(rest, self.place + sectors.len() as u64)?;
        self.filled = 0;
        Ok(self)
    }
}

/// Cuts what is written into blocks.
struct Blocks {
    full: Sender<Block>,
    empty: Receiver<io::Result<Block>>,
    /// Those that nobody writes; the last is being filled.
    idle: Vec<Block>,
    /// How many bytes were taken.
    position: u64,
}

impl Blocks {
    /// Give what was filled to a writer.
    fn pass(&mut self) -> io::Result<()> {
        let Some(block) = self.idle.pop() else { return Ok(()) };
        self.full.send(block).map_err(|_| ended())
    }

    /// Wait for all to be written; what was reserved and not used is given back.
    fn finish(mut self, file: &File) -> io::Result<()> {
        if self.idle.last().is_some_and(|block| block.filled > 0) {
            self.pass()?;
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
            block.place = self.position;
        }
        let taken = block.take(bytes);
        self.position += taken as u64;
        if block.filled == BLOCK {
            self.pass()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// That the writers are gone although nobody let them go: one has panicked.
fn ended() -> io::Error {
    io::Error::other("the threads that write have ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_what_was_written_whatever_the_pieces() -> Result<()> {
        let bytes: Vec<u8> =
            (0..3 * BLOCK as u32 + 4321).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for (length, piece) in [
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
            // More is expected than comes, as it is for what is compressed.
            let direct = unbuffered(&file).unwrap_or(file.try_clone().map_err(failed)?);
            through(&direct, &file, length as u64 + 100_000, failed, |writer| {
                bytes[..length].chunks(piece).try_for_each(|piece| writer.write_all(piece)).map_err(failed)
            })?;
            assert!(std::fs::read(&path).map_err(failed)? == bytes[..length], "{length} bytes");
            std::fs::remove_file(&path).map_err(failed)?;
        }
        Ok(())
    }

    #[test]
    fn memory_is_told_from_disks() {
        let is_in_memory = |path: &str| is_in_memory(&File::open(path).expect("there"));
        assert!(!is_in_memory("/proc/self/stat"));
        let mounts = std::fs::read_to_string("/proc/mounts").expect("there");
        assert!(!mounts.contains(" /dev/shm tmpfs ") || is_in_memory("/dev/shm"));
    }

    #[test]
    fn what_cannot_be_written_is_said() -> Result<()> {
        let failed = |error: io::Error| crate::io_error("save", "a file", &error);
        let file = OpenOptions::new().write(true).open("/dev/full").map_err(failed)?;
        let piece = vec![1; BLOCK];
        let answer = through(&file, &file, 0, failed, |writer| {
            (0..20).try_for_each(|_| writer.write_all(&piece)).map_err(failed)
        });
        assert!(answer.is_err_and(|error| error.to_string().contains("No space left")));
        Ok(())
    }
}
