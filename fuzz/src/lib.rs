//! What the targets of all formats do.

use umber::io::{Format, Loaded, Source, read};
use umber_codecs::decode::{ImageOptions, decode, dimensions};
use umber_codecs::sound::{self, Quality, SoundOptions};

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

/// Decode any bytes as a sound and resample it: an error, or as many samples as it says, within the limit.
pub fn decode_sound(bytes: &[u8]) {
    let options = SoundOptions { rate: Some(11025), quality: Quality::Linear, max_bytes: 1 << 24 };
    let described = sound::info(bytes);
    if let Ok(sound) = sound::decode(bytes, &options) {
        let described = described.expect("what was decoded has a header");
        assert_eq!((sound.rate, sound.channels), (11025, described.channels));
        assert_eq!(sound.samples.len(), sound.frames * sound.channels);
        assert!(sound.samples.len() <= 1 << 22);
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
