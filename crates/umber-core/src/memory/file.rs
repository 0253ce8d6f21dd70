//! Memory-mapped files.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Access, Buffer, ExternalWrites};

/// Number of live mappings.
static MAPPINGS: AtomicUsize = AtomicUsize::new(0);
/// Linux limits a process to 65,530 mappings by default. Beyond the limit, allocations fail too.
const MAX_MAPPINGS: usize = 1 << 14;

/// A mapping that is counted until dropped.
struct Counted {
    _map: memmap2::Mmap,
}

impl Drop for Counted {
    fn drop(&mut self) {
        MAPPINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Buffer {
    /// Map a file read-only. Pages are read on first use, and shared with all processes that map the file.
    ///
    /// If the file is modified in place, the arrays change; if it is truncated, reading the lost pages terminates the process
    /// (`SIGBUS`). A file that is replaced by renaming another over it keeps its mapping.
    ///
    /// # Errors
    /// If the process has many thousand mappings already, or the system call fails.
    pub fn map(file: &File) -> io::Result<Buffer> {
        if MAPPINGS.load(Ordering::Relaxed) >= MAX_MAPPINGS {
            return Err(io::Error::other("too many mapped files"));
        }
        // SAFETY: the pages are only read, as types for which every bit pattern is valid.
        let map = unsafe { memmap2::Mmap::map(file)? };
        MAPPINGS.fetch_add(1, Ordering::Relaxed);
        let start = NonNull::from(&map[..]).cast::<u8>();
        let bytes = map.len();
        let mapping = Box::new(Counted { _map: map });
        // SAFETY: the mapping is readable until `mapping` is dropped.
        Ok(unsafe { Buffer::foreign(start, bytes, Access::ReadOnly, ExternalWrites::Fixed, mapping) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_read_only_memory() {
        let path = std::env::temp_dir().join(format!("umber-mapped-{}", std::process::id()));
        std::fs::write(&path, [1u8, 2, 3]).expect("the file is written");
        let buffer = Buffer::map(&File::open(&path).expect("the file exists")).expect("mapped");
        std::fs::remove_file(&path).expect("the file exists");
        assert_eq!((buffer.bytes(), buffer.access()), (3, Access::ReadOnly));
        assert!(!buffer.is_owned() && !buffer.is_externally_mutable() && !buffer.is_recyclable());
        // SAFETY: three bytes are mapped.
        let bytes = unsafe {
            std::slice::from_raw_parts(buffer.host_start().expect("mapped files are host memory").as_ptr(), 3)
        };
        assert_eq!(bytes, [1, 2, 3]);
    }
}
