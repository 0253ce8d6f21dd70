//! BMP: palettes of 1, 2, 4 and 8 bits, colours of 16, 24 and 32 bits, bit masks, run lengths of 4 and 8 bits.

use super::error::{DecodeError, Result, damaged, unsupported};
use super::reader::{Reader, body, to_byte};
use super::{Image, ImageOptions};

/// How pixels are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    RunLength,
    Masks,
}

struct Header {
    width: usize,
    height: usize,
    top_down: bool,
    bits: u16,
    compression: Compression,
    /// Masks of red, green, blue, alpha.
    masks: [u32; 4],
    /// Colours of the palette.
    palette: Vec<[u8; 3]>,
    /// Position of the pixels.
    start: usize,
}

/// Length of the file's header, before the header of the image.
const FILE_HEADER: usize = 14;

/// Width, height and whether the first row is at the top; what follows the size remains in the reader.
fn size(reader: &mut Reader<'_>) -> Result<(u32, u32, bool, u32)> {
    reader.skip(FILE_HEADER);
    let length = reader.u32()?;
    let (width, height) = match length {
        12 => (i32::from(reader.u16()?), i32::from(reader.u16()?)),
        16 | 40 | 52 | 56 | 64 | 108 | 124 => (reader.i32()?, reader.i32()?),
        _ => return unsupported(format!("a BMP header of {length} bytes")),
    };
    let Ok(width) = u32::try_from(width) else { return damaged(format!("a width of {width}")) };
    Ok((width, height.unsigned_abs(), height < 0, length))
}

fn header(bytes: &[u8], options: &ImageOptions) -> Result<Header> {
    let mut reader = Reader::new(bytes);
    let (width, height, top_down, length) = size(&mut reader)?;
    options.check_size(width.into(), height.into())?;
    let _planes = reader.u16()?;
    let bits = reader.u16()?;
    if !matches!(bits, 1 | 2 | 4 | 8 | 16 | 24 | 32) {
        return unsupported(format!("a BMP of {bits} bits"));
    }
    let code = if length > 16 { reader.u32()? } else { 0 };
    let compression = match (code, bits) {
        (0, _) => Compression::None,
        (1, 8) | (2, 4) if top_down => return damaged("run lengths from top to bottom"),
        (1, 8) | (2, 4) => Compression::RunLength,
        (3 | 6, 16 | 32) => Compression::Masks,
        (4, _) => return unsupported("JPEG in BMP"),
        (5, _) => return unsupported("PNG in BMP"),
        _ => return unsupported(format!("compression {code} of BMP with {bits} bits")),
    };
    let colors = if length > 16 {
        reader.skip(12);
        let colors = reader.u32()?;
        reader.skip(4);
        colors
    } else {
        0
    };
    // Masks follow the header of 40 bytes, and are part of longer ones.
    let masks = match (compression, bits) {
        (Compression::Masks, _) => {
            let has_alpha = length >= 56 || code == 6;
            [reader.u32()?, reader.u32()?, reader.u32()?, if has_alpha { reader.u32()? } else { 0 }]
        }
        (_, 16) => [0x7c00, 0x03e0, 0x001f, 0],
        _ => [0x00ff_0000, 0xff00, 0xff, 0],
    };
    let position = reader.position().max(FILE_HEADER + length as usize);
    let mut start = Reader::new(bytes);
    start.skip(10);
    let start = start.u32()? as usize;
    let palette =
        if bits <= 8 { palette(bytes, position, start, length, colors.min(256), bits)? } else { Vec::new() };
    Ok(Header {
        width: width as usize,
        height: height as usize,
        top_down,
        bits,
        compression,
        masks,
        palette,
        start,
    })
}

/// The colours between the header, which ends at `position`, and the pixels, which start at `start`.
fn palette(
    bytes: &[u8],
    position: usize,
    start: usize,
    length: u32,
    colors: u32,
    bits: u16,
) -> Result<Vec<[u8; 3]>> {
    let entry = if length == 12 { 3 } else { 4 };
    let count = if colors == 0 { 1 << bits } else { colors as usize };
    let room = start.saturating_sub(position) / entry;
    let mut reader = Reader::new(bytes);
    reader.skip(position);
    let entries = reader.take(entry * count.min(room))?;
    Ok(entries.chunks_exact(entry).map(|bgr| [bgr[2], bgr[1], bgr[0]]).collect())
}

pub(super) fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    let (width, height, ..) = size(&mut Reader::new(bytes))?;
    Ok((width as usize, height as usize))
}

pub(super) fn decode(bytes: &[u8], options: &ImageOptions) -> Result<Image> {
    let header = header(bytes, options)?;
    let Header { width, height, bits, .. } = header;
    let channels = if header.masks[3] == 0 { 3 } else { 4 };
    let mut pixels = Vec::new();
    if header.compression == Compression::RunLength {
        let indices = run_lengths(bytes, &header, options.strict)?;
        pixels.reserve_exact(indices.len() * channels);
        pixels.extend(indices.iter().flat_map(|&index| color(&header.palette, index)));
        return Ok(Image { width, height, channels, pixels });
    }
    let stride = (width as u64 * u64::from(bits)).div_ceil(32) * 4;
    let rows = body(bytes, header.start, stride * height as u64, options.strict)?;
    pixels.reserve_exact(width * height * channels);
    for y in 0..height {
        let row = if header.top_down { y } else { height - 1 - y };
        let row = &rows[row * stride as usize..][..stride as usize];
        match bits {
            24 => pixels.extend(row.chunks_exact(3).take(width).flat_map(|bgr| [bgr[2], bgr[1], bgr[0]])),
            16 | 32 => {
                for pixel in row.chunks_exact(usize::from(bits / 8)).take(width) {
                    let value = pixel.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
                    pixels.extend(header.masks[..channels].iter().map(|&mask| masked(value, mask)));
                }
            }
            _ => {
                let per_byte = usize::from(8 / bits);
                for x in 0..width {
                    let shift = 8 - bits as usize * (x % per_byte + 1);
                    let index = row[x / per_byte] >> shift & (0xff >> (8 - bits));
                    pixels.extend(color(&header.palette, index));
                }
            }
        }
    }
    Ok(Image { width, height, channels, pixels })
}

/// A colour of the palette; indices beyond it are black, as in other readers.
fn color(palette: &[[u8; 3]], index: u8) -> [u8; 3] {
    palette.get(usize::from(index)).copied().unwrap_or_default()
}

/// The bits of a mask as a byte.
fn masked(value: u32, mask: u32) -> u8 {
    if mask == 0 {
        return 0;
    }
    let shift = mask.trailing_zeros();
    to_byte((value & mask) >> shift, mask >> shift)
}

/// Indices of an image in run lengths, rows top to bottom. Pixels that are skipped have index 0.
fn run_lengths(bytes: &[u8], header: &Header, strict: bool) -> Result<Vec<u8>> {
    let Header { width, height, bits, start, .. } = *header;
    let mut indices = vec![0; width * height];
    let mut reader = Reader::new(bytes);
    reader.skip(start);
    let (mut x, mut y) = (0usize, 0usize);
    // The index of pixel `n` of a run or list.
    let index = |data: &[u8], n: usize| if bits == 8 { data[n] } else { data[n / 2] >> (4 - n % 2 * 4) & 15 };
    let mut put = |x: usize, y: usize, index: u8| {
        if x < width && y < height {
            indices[(height - 1 - y) * width + x] = index;
        }
    };
    let mut step = || -> Result<bool> {
        match (reader.u8()?, reader.u8()?) {
            (0, 0) => (x, y) = (0, y + 1),
            (0, 1) => return Ok(false),
            (0, 2) => {
                x += usize::from(reader.u8()?);
                y += usize::from(reader.u8()?);
            }
            (0, count) => {
                let count = usize::from(count);
                let length = if bits == 8 { count } else { count.div_ceil(2) };
                let data = reader.take(length)?;
                (0..count).for_each(|n| put(x + n, y, index(data, n)));
                reader.skip(length % 2);
                x += count;
            }
            (count, value) => {
                let data = [value; 255];
                let one_byte = |n: usize| if bits == 8 { value } else { index(&data, n % 2) };
                (0..usize::from(count)).for_each(|n| put(x + n, y, one_byte(n)));
                x += usize::from(count);
            }
        }
        // Images without an end marker end with their last row.
        Ok(y < height)
    };
    loop {
        match step() {
            Ok(true) => {}
            Ok(false) => break,
            Err(DecodeError::Truncated { .. }) if !strict => break,
            Err(error) => return Err(error),
        }
    }
    Ok(indices)
}
