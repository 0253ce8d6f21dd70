//! Any bytes as a compressed file: an error, or content, of which at most 16 MiB are read.

#![no_main]

use std::io::{self, Read};

use umber_codecs::records::compression;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (compression, reader) = compression::detect(bytes).expect("memory can be read");
    let Ok(content) = compression::decompress(reader, compression) else { return };
    let _ = io::copy(&mut content.take(1 << 24), &mut io::sink());
});
