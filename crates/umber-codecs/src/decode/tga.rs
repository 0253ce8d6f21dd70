//! TGA: palettes, colours of 15 to 32 bits, grey with and without alpha, with run lengths or not.

use super::error::{DecodeError, Result, damaged};
use super::reader::{Reader, body, to_byte};
use super::{Image, ImageOptions};

struct Header {
    /// 1: palette, 2: colours, 3: grey.
    kind: u8,
    run_lengths: bool,
    /// Bytes of a pixel in the file.
    pixel: usize,
    width: usize,
    height: usize,
    /// Bytes of an entry of the palette, and the index of its first.
    entry: usize,
    first: usize,
    palette: Vec<u8>,
    right_to_left: bool,
    top_down: bool,
    /// Position of the pixels.
    start: usize,
}

/// Length of the header.
const LENGTH: usize = 18;

/// Whether the fields of a header agree, which is the only sign of the format.
pub(super) fn is_header(bytes: &[u8]) -> bool {
    let Some(header) = bytes.get(..LENGTH) else { return false };
    let (map, kind, map_bits) = (header[1], header[2], header[7]);
    let (is_empty, bits) = (header[12..14] == [0, 0] || header[14..16] == [0, 0], header[16]);
    let fits = match kind {
        1 | 9 => map == 1 && bits == 8 && matches!(map_bits, 15 | 16 | 24 | 32),
        2 | 10 => map <= 1 && matches!(bits, 15 | 16 | 24 | 32),
        3 | 11 => map <= 1 && matches!(bits, 8 | 16),
        _ => false,
    };
    // The two highest bits of the descriptor mean interleaved rows, which nobody writes.
    fits && !is_empty && header[17] & 0xc0 == 0
}

pub(super) fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    let mut reader = Reader::new(bytes);
    reader.skip(12);
    Ok((reader.u16()?.into(), reader.u16()?.into()))
}

fn header(bytes: &[u8]) -> Result<Header> {
    let mut reader = Reader::new(bytes);
    let (id_length, has_map, kind) = (reader.u8()?, reader.u8()? == 1, reader.u8()?);
    let (first, count, map_bits) = (reader.u16()?, reader.u16()?, reader.u8()?);
    reader.skip(4);
    let (width, height, bits, descriptor) = (reader.u16()?, reader.u16()?, reader.u8()?, reader.u8()?);
    reader.skip(id_length.into());
    let entry = usize::from(map_bits).div_ceil(8);
    let palette = if has_map { reader.take(entry * usize::from(count))?.to_vec() } else { Vec::new() };
    Ok(Header {
        kind: kind & 7,
        run_lengths: kind & 8 != 0,
        pixel: usize::from(bits).div_ceil(8),
        width: width.into(),
        height: height.into(),
        entry,
        first: first.into(),
        palette,
        right_to_left: descriptor & 0x10 != 0,
        top_down: descriptor & 0x20 != 0,
        start: reader.position(),
    })
}

pub(super) fn decode(bytes: &[u8], options: &ImageOptions) -> Result<Image> {
    let header = header(bytes)?;
    let Header { width, height, pixel, entry, .. } = header;
    options.check_size(width as u64, height as u64)?;
    let length = (width * height * pixel) as u64;
    let data = if header.run_lengths {
        run_lengths(bytes, &header, options.strict)?.into()
    } else {
        body(bytes, header.start, length, options.strict)?
    };
    let channels = match (header.kind, pixel) {
        (1, _) => colored_channels(entry),
        (2, _) => colored_channels(pixel),
        _ => pixel,
    };
    let mut pixels = Vec::with_capacity(width * height * channels);
    for y in 0..height {
        let row = if header.top_down { y } else { height - 1 - y };
        let row = &data[row * width * pixel..][..width * pixel];
        for x in 0..width {
            let x = if header.right_to_left { width - 1 - x } else { x };
            let stored = &row[x * pixel..][..pixel];
            match header.kind {
                1 => {
                    let at = usize::from(stored[0]).checked_sub(header.first).map(|index| index * entry);
                    match at.and_then(|at| header.palette.get(at..at + entry)) {
                        Some(stored) => color(stored, &mut pixels),
                        None if options.strict => return damaged("an index beyond the palette"),
                        None => pixels.extend(std::iter::repeat_n(0, channels)),
                    }
                }
                2 => color(stored, &mut pixels),
                _ => pixels.extend_from_slice(stored),
            }
        }
    }
    Ok(Image { width, height, channels, pixels })
}

/// Channels of a colour of some bytes.
fn colored_channels(bytes: usize) -> usize {
    if bytes == 4 { 4 } else { 3 }
}

/// Add the colour that a pixel or entry of the palette stores.
fn color(stored: &[u8], pixels: &mut Vec<u8>) {
    match *stored {
        [low, high] => {
            let value = u32::from(u16::from_le_bytes([low, high]));
            pixels.extend([10, 5, 0].map(|shift| to_byte(value >> shift & 31, 31)));
        }
        [blue, green, red] => pixels.extend([red, green, blue]),
        [blue, green, red, alpha] => pixels.extend([red, green, blue, alpha]),
        _ => unreachable!("is_header admits 2 to 4 bytes"),
    }
}

/// The bytes of all pixels.
fn run_lengths(bytes: &[u8], header: &Header, strict: bool) -> Result<Vec<u8>> {
    let length = header.width * header.height * header.pixel;
    // A run of 128 pixels takes a byte and a pixel, so the file limits the memory.
    let mut data = Vec::with_capacity(length.min(bytes.len().saturating_mul(128)));
    let mut reader = Reader::new(bytes);
    reader.skip(header.start);
    let mut step = |data: &mut Vec<u8>| -> Result<()> {
        let packet = reader.u8()?;
        let count = usize::from(packet & 127) + 1;
        if packet & 128 == 0 {
            data.extend_from_slice(reader.take(count * header.pixel)?);
        } else {
            data.extend_from_slice(&reader.take(header.pixel)?.repeat(count));
        }
        Ok(())
    };
    while data.len() < length {
        match step(&mut data) {
            Ok(()) => {}
            Err(DecodeError::Truncated { .. }) if !strict => break,
            Err(error) => return Err(error),
        }
    }
    data.resize(length, 0);
    Ok(data)
}
