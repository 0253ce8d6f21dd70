//! PNM: P1 to P6, plain and binary, of 1 to 16 bits.

use super::error::{DecodeError, Result, damaged, truncated, unsupported};
use super::reader::{body, to_byte};
use super::{Image, ImageOptions};

/// What precedes the pixels.
struct Header {
    /// 1 to 6.
    kind: u8,
    width: u64,
    height: u64,
    maximum: u32,
    /// Position of the pixels.
    start: usize,
}

/// Numbers in decimal digits between white space and comments.
struct Text<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Text<'_> {
    fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.position) {
            if byte == b'#' {
                while self.bytes.get(self.position).is_some_and(|&byte| byte != b'\n') {
                    self.position += 1;
                }
            } else if byte.is_ascii_whitespace() {
                self.position += 1;
            } else {
                return;
            }
        }
    }

    fn number(&mut self) -> Result<u32> {
        self.skip_space();
        let start = self.position;
        let mut number = 0u32;
        while let Some(digit) = self.bytes.get(self.position).filter(|byte| byte.is_ascii_digit()) {
            number = match number.checked_mul(10).and_then(|tens| tens.checked_add(u32::from(digit - b'0'))) {
                Some(number) => number,
                None => return damaged("a number with too many digits"),
            };
            self.position += 1;
        }
        if self.position > start {
            return Ok(number);
        }
        match self.bytes.get(start) {
            None => truncated(self.bytes),
            Some(byte) => damaged(format!("byte {byte:02x} at position {start} is not a digit")),
        }
    }

    /// One digit of a plain bitmap, whose digits need no space between them.
    fn bit(&mut self) -> Result<bool> {
        self.skip_space();
        match self.bytes.get(self.position) {
            Some(b'0' | b'1') => {
                self.position += 1;
                Ok(self.bytes[self.position - 1] == b'1')
            }
            None => truncated(self.bytes),
            Some(byte) => damaged(format!("byte {byte:02x} at position {} is not a bit", self.position)),
        }
    }
}

fn header(bytes: &[u8]) -> Result<Header> {
    let Some(kind) = bytes.get(1).map(|byte| byte - b'0') else { return truncated(bytes) };
    let mut text = Text { bytes, position: 2 };
    let (width, height) = (text.number()?, text.number()?);
    let maximum = if matches!(kind, 1 | 4) { 1 } else { text.number()? };
    if !(1..=65535).contains(&maximum) {
        return unsupported(format!("a PNM of maximum {maximum}"));
    }
    // One white space, then the pixels.
    Ok(Header { kind, width: width.into(), height: height.into(), maximum, start: text.position + 1 })
}

pub(super) fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    let header = header(bytes)?;
    Ok((header.width as usize, header.height as usize))
}

pub(super) fn decode(bytes: &[u8], options: &ImageOptions) -> Result<Image> {
    let Header { kind, width, height, maximum, start } = header(bytes)?;
    options.check_size(width, height)?;
    let channels = if matches!(kind, 3 | 6) { 3 } else { 1 };
    let samples = width * height * channels;
    let pixels = match kind {
        1..=3 => plain(Text { bytes, position: start }, kind, maximum, samples, options.strict)?,
        4 => {
            let row = width.div_ceil(8);
            let packed = body(bytes, start, row * height, options.strict)?;
            let bit = |row: &[u8], x: usize| if row[x / 8] >> (7 - x % 8) & 1 == 1 { 0 } else { 255 };
            let rows = packed.chunks_exact(row as usize);
            rows.flat_map(|row| (0..width as usize).map(move |x| bit(row, x))).collect()
        }
        _ if maximum > 255 => {
            let wide = body(bytes, start, 2 * samples, options.strict)?;
            wide.chunks_exact(2)
                .map(|pair| scaled(u16::from_be_bytes([pair[0], pair[1]]).into(), maximum))
                .collect()
        }
        _ => {
            let narrow = body(bytes, start, samples, options.strict)?;
            if maximum == 255 {
                narrow.into_owned()
            } else {
                narrow.iter().map(|&v| scaled(v.into(), maximum)).collect()
            }
        }
    };
    Ok(Image { width: width as usize, height: height as usize, channels: channels as usize, pixels })
}

/// Pixels in decimal digits.
fn plain(mut text: Text<'_>, kind: u8, maximum: u32, samples: u64, strict: bool) -> Result<Vec<u8>> {
    // Every sample takes a byte at least, so the file limits the memory under `strict`.
    let capacity = if strict { samples.min(text.bytes.len() as u64) } else { samples };
    let mut pixels = Vec::with_capacity(capacity as usize);
    for _ in 0..samples {
        let value = match kind {
            1 => text.bit().map(|bit| if bit { 0 } else { 255 }),
            _ => text.number().map(|value| scaled(value, maximum)),
        };
        match value {
            Ok(value) => pixels.push(value),
            Err(DecodeError::Truncated { .. }) if !strict => break,
            Err(error) => return Err(error),
        }
    }
    pixels.resize(samples as usize, 0);
    Ok(pixels)
}

/// A sample as a byte; of 16 bits the high byte, as in PNG.
fn scaled(value: u32, maximum: u32) -> u8 {
    if maximum == 65535 { (value >> 8).min(255) as u8 } else { to_byte(value, maximum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(bytes: &[u8]) -> Vec<u8> {
        decode(bytes, &ImageOptions::default()).unwrap().pixels
    }

    #[test]
    fn plain_and_binary() {
        assert_eq!(pixels(b"P1\n# comment\n3 2\n101\n0 1 0"), [0, 255, 0, 255, 0, 255]);
        assert_eq!(pixels(b"P4 3 2\n\xa0\x40"), [0, 255, 0, 255, 0, 255]);
        assert_eq!(pixels(b"P2 3 1 #c\n15 0 5 15"), [0, 85, 255]);
        assert_eq!(pixels(b"P5 2 1 100\n\x32\x64"), [128, 255]);
        assert_eq!(pixels(b"P5 2 1 65535\n\x12\xff\xff\xff"), [0x12, 0xff]);
        assert_eq!(pixels(b"P5 1 1 1023\n\x01\xff"), [127]);
        assert_eq!(pixels(b"P3 1 1 255 1 2 3"), [1, 2, 3]);
        assert_eq!(pixels(b"P6 1 1 255\n\x01\x02\x03"), [1, 2, 3]);
    }

    #[test]
    fn faults() {
        let error = |bytes: &[u8]| decode(bytes, &ImageOptions::default()).unwrap_err().to_string();
        assert_eq!(error(b"P5 10 10 255\nabc"), "cannot decode: 97 of 113 bytes are missing");
        assert_eq!(error(b"P5 10 10 70000\nabc"), "cannot decode: a PNM of maximum 70000 is not supported");
        assert!(error(b"P5 0 10 255\n").contains("0 by 10 pixels"));
        assert!(error(b"P5 4000000000 4000000000 255\n").contains("raise max_pixels"));
        assert!(error(b"P5 99999999999 1 255\n").contains("too many digits"));
        assert!(error(b"P2 1 1 255 x").contains("not a digit"));
        assert!(error(b"P2 20 1 255 1 2").contains("before the end"));
        let options = ImageOptions { strict: false, ..ImageOptions::default() };
        assert_eq!(decode(b"P5 3 1 255\nA", &options).unwrap().pixels, [b'A', 0, 0]);
        assert_eq!(decode(b"P2 3 1 255\n1 ", &options).unwrap().pixels, [1, 0, 0]);
    }
}
