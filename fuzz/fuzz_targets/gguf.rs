//! Any bytes as a file of this format.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| umber_fuzz::read_as(umber::io::Format::Gguf, bytes));
