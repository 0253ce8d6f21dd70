//! The first frame of a GIF, by the crate `gif`.

use std::io::ErrorKind;

use gif::{ColorOutput, DecodeOptions, Decoder, DecodingError, MemoryLimit};

use super::error::{DecodeError, Result, damaged, truncated};
use super::{Image, ImageOptions};

pub(super) fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    let Some(&[w0, w1, h0, h1]) = bytes.get(6..10) else { return truncated(bytes) };
    Ok((u16::from_le_bytes([w0, w1]).into(), u16::from_le_bytes([h0, h1]).into()))
}

/// The first frame on the canvas, with alpha: pixels that are transparent, or outside the frame, have the background's colour.
pub(super) fn decode(bytes: &[u8], options: &ImageOptions) -> Result<Image> {
    let (width, height) = dimensions(bytes)?;
    options.check_size(width as u64, height as u64)?;
    let mut reader = DecodeOptions::new();
    reader.set_color_output(ColorOutput::Indexed);
    reader.set_memory_limit(MemoryLimit::Unlimited);
    let mut decoder = reader.read_info(bytes).map_err(|error| translate(error, bytes))?;
    let background = background(&decoder);
    let mut pixels: Vec<u8> = [background[0], background[1], background[2], 0].repeat(width * height);

    let Some(frame) = decoder.next_frame_info().map_err(|error| translate(error, bytes))? else {
        return damaged("it has no frame");
    };
    let (left, top, transparent) = (usize::from(frame.left), usize::from(frame.top), frame.transparent);
    let (frame_width, frame_height) = (usize::from(frame.width), usize::from(frame.height));
    options.check_size(frame_width as u64, frame_height as u64)?;
    let mut indices = vec![0; frame_width * frame_height];
    let result = decoder.read_into_buffer(&mut indices);
    if options.strict {
        result.map_err(|error| translate(error, bytes))?;
    }
    let palette = decoder.palette().map_err(|error| translate(error, bytes))?;

    for (y, row) in (top..height).zip(indices.chunks_exact(frame_width)) {
        for (x, &index) in (left..width).zip(row) {
            if transparent != Some(index) {
                // Indices beyond the palette are black, as in other readers.
                let start = 3 * usize::from(index);
                let colour = palette.get(start..start + 3).unwrap_or(&[0; 3]);
                let at = 4 * (y * width + x);
                pixels[at..at + 3].copy_from_slice(colour);
                pixels[at + 3] = 255;
            }
        }
    }
    Ok(Image { width, height, channels: 4, pixels })
}

/// The colour of the canvas.
fn background<R: std::io::Read>(decoder: &Decoder<R>) -> [u8; 3] {
    let colour = decoder.bg_color().zip(decoder.global_palette());
    let bytes = colour.and_then(|(index, palette)| palette.get(3 * index..3 * index + 3));
    bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or_default()
}

fn translate(error: DecodingError, bytes: &[u8]) -> DecodeError {
    match error {
        DecodingError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => DecodeError::truncated(bytes),
        error => DecodeError::Damaged(error.to_string()),
    }
}
