//! Any bytes as an image.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| umber_fuzz::decode_image(bytes));
