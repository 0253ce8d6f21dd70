//! Files as memory.

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use super::{Access, Buffer, Stability};

impl Buffer {
    /// The bytes of a file, read-only and read from it when they are used; the pages are the system's, shared by all
    /// who map the file.
    ///
    /// Whoever writes into the file in place changes what arrays hold, and whoever makes it shorter takes memory
    /// from under them: the process ends (`SIGBUS`) when it reads what is gone. A file that is replaced, by renaming
    /// another over it, stays mapped as it was.
    pub fn map(file: &File) -> io::Result<Buffer> {
        // SAFETY: the pages are only ever read, as elements of which every bit pattern is a value.
        let map = unsafe { memmap2::Mmap::map(file)? };
        let start = NonNull::from(&map[..]).cast::<u8>();
        let bytes = map.len();
        // SAFETY: the mapping is readable until it is dropped, which `keep` does.
        Ok(unsafe { Buffer::foreign(start, bytes, Access::ReadOnly, Stability::Fixed, Box::new(map)) })
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
        assert!(!buffer.is_owned() && !buffer.is_volatile() && !buffer.is_recyclable());
        // SAFETY: three bytes are mapped.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.start().as_ptr(), 3) };
        assert_eq!(bytes, [1, 2, 3]);
    }
}
