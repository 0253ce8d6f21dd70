//! Files as memory.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Access, Buffer, ExternalWrites};

/// Mappings that are out.
static MAPPINGS: AtomicUsize = AtomicUsize::new(0);
/// Systems give a process 65,530 of them as a rule, and without any left it cannot even allocate.
const MAX_MAPPINGS: usize = 1 << 14;

/// A mapping, counted until it is dropped.
struct Counted {
    _map: memmap2::Mmap,
}

impl Drop for Counted {
    fn drop(&mut self) {
        MAPPINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Buffer {
    /// The bytes of a file, read-only and read from it when they are used; the pages are the system's, shared by all
    /// who map the file.
    ///
    /// Whoever writes into the file in place changes what arrays hold, and whoever makes it shorter takes memory
    /// from under them: the process ends (`SIGBUS`) when it reads what is gone. A file that is replaced, by renaming
    /// another over it, stays mapped as it was.
    ///
    /// Fails where a process has many thousand files mapped already.
    pub fn map(file: &File) -> io::Result<Buffer> {
        if MAPPINGS.load(Ordering::Relaxed) >= MAX_MAPPINGS {
            return Err(io::Error::other("too many mapped files"));
        }
        // SAFETY: the pages are only ever read, as elements of which every bit pattern is a value.
        let map = unsafe { memmap2::Mmap::map(file)? };
        MAPPINGS.fetch_add(1, Ordering::Relaxed);
        let start = NonNull::from(&map[..]).cast::<u8>();
        let bytes = map.len();
        let keep = Box::new(Counted { _map: map });
        // SAFETY: the mapping is readable until it is dropped, which `keep` does.
        Ok(unsafe { Buffer::foreign(start, bytes, Access::ReadOnly, ExternalWrites::Fixed, keep) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_read_only_memory() {
        let path = std::env::temp_dir().join(format!("umber-mapped-{}", std::process::id()));
        std::fs::write(&path, [1u8, 2, 3]).expect("a file");
        let buffer = Buffer::map(&File::open(&path).expect("there")).expect("mapped");
        std::fs::remove_file(&path).expect("there");
        assert_eq!((buffer.bytes(), buffer.access()), (3, Access::ReadOnly));
        assert!(!buffer.is_owned() && !buffer.is_externally_mutable() && !buffer.is_recyclable());
        // SAFETY: three bytes are mapped.
        let bytes = unsafe {
            std::slice::from_raw_parts(buffer.host_start().expect("memory of the host").as_ptr(), 3)
        };
        assert_eq!(bytes, [1, 2, 3]);
    }
}
