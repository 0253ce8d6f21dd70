//! Any bytes as a file of this format: an error or arrays, all of whose elements can be read.

#![no_main]

use umber::io::{Format, Loaded, Source, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = Source::from_bytes(bytes, "fuzz") else { return };
    let arrays = match read(&source, Some(Format::Npy)) {
        Ok(Loaded::Npy(array)) => vec![array],
        Ok(Loaded::Npz(contents)) => contents.arrays.into_iter().map(|(_, array)| array).collect(),
        Ok(Loaded::Safetensors(contents)) => contents.arrays.into_iter().map(|(_, array)| array).collect(),
        Ok(Loaded::Gguf(contents)) => contents.arrays.into_iter().map(|(_, array)| array).collect(),
        Err(_) => return,
    };
    for array in arrays {
        let dense = array.to_dense().expect("what was loaded can be read");
        let _ = dense.view();
    }
});
