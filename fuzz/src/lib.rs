//! What the targets of all formats do.

use umber::io::{Format, Loaded, Source, read};
use umber_data::decode::{ImageOptions, decode, dimensions};

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
        // To compare is to read every element.
        array.equals(&array).expect("what was loaded can be read");
    }
}

/// Read any bytes as an image of at most 2^20 pixels: an error, or all of its pixels.
pub fn decode_image(bytes: &[u8]) {
    for strict in [true, false] {
        let options = ImageOptions { strict, orient: true, max_pixels: 1 << 20, ..ImageOptions::default() };
        if let Ok(image) = decode(bytes, &options) {
            assert_eq!(image.pixels.len(), image.width * image.height * image.channels);
        }
    }
    let _ = dimensions(bytes);
}
