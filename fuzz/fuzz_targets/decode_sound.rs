//! Any bytes as a sound.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| umber_fuzz::decode_sound(bytes));
