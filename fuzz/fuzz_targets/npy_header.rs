//! Any bytes as the text of an npy header.

#![no_main]

use umber::io::npy::bytes_from;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let mut file = b"\x93NUMPY\x02\x00".to_vec();
    file.extend_from_slice(&(text.len() as u32).to_le_bytes());
    file.extend_from_slice(text);
    let mut at = 0;
    let mut take = |count: usize| {
        let end = file.len().min(at + count);
        let piece = file[at..end].to_vec();
        at = end;
        Ok(piece)
    };
    let _ = bytes_from("fuzz", &mut take);
});
