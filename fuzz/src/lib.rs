//! What the targets of all formats do.

use umber::io::{Format, Loaded, Source, read};

/// Read any bytes as a file of a format: an error, or arrays, all of whose elements can be read.
pub fn read_as(format: Format, bytes: &[u8]) {
    let Ok(source) = Source::from_bytes(bytes, "fuzz") else { return };
    let arrays = match read(&source, Some(format)) {
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
}
