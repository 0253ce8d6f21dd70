//! Any bytes as a tar archive: an error, or files that lie inside of it and are found by their names.

#![no_main]

use umber_codecs::records::{Nesting, TarIndex};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for nesting in [Nesting::Keep, Nesting::Open] {
        let Ok(index) = TarIndex::read(bytes, nesting) else { continue };
        for entry in index.iter() {
            let content =
                bytes.get(entry.offset as usize..).and_then(|rest| rest.get(..entry.length as usize));
            assert!(content.is_some(), "{entry:?} lies outside of the archive");
            assert_eq!(index.find(entry.name), Some(entry));
        }
    }
});
