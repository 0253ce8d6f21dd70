//! Pixels to baseline JPEG (ITU-T T.81), with the tables of its Annex K.
//!
//! Written here because the only encoder in pure Rust comes under a further licence, and because baseline is short.

use std::f32::consts::{FRAC_1_SQRT_2, PI};

use super::error::{DecodeError, Result};

/// Steps of quantisation at quality 50 (tables K.1 and K.2), in zigzag order: luminance, chrominance.
const STEPS: [[u16; 64]; 2] = [
    [
        16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29,
        40, 58, 51, 61, 60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98,
        103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99,
    ],
    [
        17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    ],
];

/// Position in a block, row by row, of each coefficient in zigzag order.
const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// A Huffman table: how many codes there are of each length, and their symbols (tables K.3 to K.6).
struct Table(&'static [u8; 16], &'static [u8]);

/// Differences of mean values: luminance, chrominance.
const DC: [Table; 2] = [
    Table(&[0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    Table(&[0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
];

/// Runs of zeros and lengths of coefficients: luminance, chrominance.
const AC: [Table; 2] = [
    Table(
        &[0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
        b"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\
      \xb1\xc1\x15\x52\xd1\xf0\x24\x33\x62\x72\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34\x35\
      \x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\
      \x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x83\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\
      \x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5\xc6\xc7\
      \xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4\
      \xf5\xf6\xf7\xf8\xf9\xfa",
    ),
    Table(
        &[0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119],
        b"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\
      \xc1\x09\x23\x33\x52\xf0\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26\x27\x28\x29\x2a\
      \x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\
      \x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\
      \x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5\
      \xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf2\xf3\xf4\
      \xf5\xf6\xf7\xf8\xf9\xfa",
    ),
];

/// Code and its length for each symbol.
type Codes = [(u16, u8); 256];

impl Table {
    fn codes(&self) -> Codes {
        let mut codes = [(0, 0); 256];
        let mut symbols = self.1.iter();
        let mut code = 0;
        for (length, &count) in (1..).zip(self.0) {
            for &symbol in symbols.by_ref().take(count.into()) {
                codes[usize::from(symbol)] = (code, length);
                code += 1;
            }
            code <<= 1;
        }
        codes
    }
}

/// Entropy-coded bits, with a zero after every byte 255.
struct Bits {
    bytes: Vec<u8>,
    pending: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, length: u32) {
        self.pending = self.pending << length | value & ((1 << length) - 1);
        self.count += length;
        while self.count >= 8 {
            self.count -= 8;
            let byte = (self.pending >> self.count) as u8;
            self.bytes.push(byte);
            if byte == 0xff {
                self.bytes.push(0);
            }
        }
    }

    fn put_code(&mut self, codes: &Codes, symbol: u8) {
        let (code, length) = codes[usize::from(symbol)];
        self.put(code.into(), length.into());
    }

    /// The bits of a number whose length a symbol told.
    fn put_number(&mut self, number: i32, length: u32) {
        self.put((if number < 0 { number - 1 } else { number }) as u32, length);
    }
}

/// Number of bits of the magnitude of `number`.
fn bit_length(number: i32) -> u32 {
    32 - number.unsigned_abs().leading_zeros()
}

/// The discrete cosine transform of 8 values as a matrix, row by row.
fn cosines() -> [[f32; 8]; 8] {
    std::array::from_fn(|u| {
        let scale = if u == 0 { FRAC_1_SQRT_2 } else { 1.0 } / 2.0;
        std::array::from_fn(|x| scale * (((2 * x + 1) * u) as f32 * PI / 16.0).cos())
    })
}

/// Encodes the blocks of one kind of component.
struct Encoder {
    cosines: [[f32; 8]; 8],
    /// Reciprocal steps, row by row.
    scales: [f32; 64],
    dc: Codes,
    ac: Codes,
}

impl Encoder {
    fn new(kind: usize, steps: &[u8; 64]) -> Self {
        let mut scales = [0.0; 64];
        for (&at, &step) in ZIGZAG.iter().zip(steps) {
            scales[at] = 1.0 / f32::from(step);
        }
        Self { cosines: cosines(), scales, dc: DC[kind].codes(), ac: AC[kind].codes() }
    }

    /// Quantised coefficients of a block, row by row.
    fn transform(&self, block: &[[f32; 8]; 8]) -> [i32; 64] {
        let mut columns = [[0.0f32; 8]; 8];
        for (result, weights) in columns.iter_mut().zip(&self.cosines) {
            for (row, &weight) in block.iter().zip(weights) {
                for x in 0..8 {
                    result[x] += weight * row[x];
                }
            }
        }
        let mut coefficients = [0; 64];
        for (index, coefficient) in coefficients.iter_mut().enumerate() {
            let (row, weights) = (&columns[index / 8], &self.cosines[index % 8]);
            let sum: f32 = row.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            // More than 10 bits have no code in baseline.
            *coefficient = ((sum * self.scales[index]).round() as i32).clamp(-1023, 1023);
        }
        coefficients
    }

    /// Add a block to `bits`; `mean` is that of the component's previous block.
    fn encode(&self, block: &[[f32; 8]; 8], mean: &mut i32, bits: &mut Bits) {
        let coefficients = self.transform(block);
        let difference = coefficients[0] - *mean;
        *mean = coefficients[0];
        let length = bit_length(difference);
        bits.put_code(&self.dc, length as u8);
        bits.put_number(difference, length);
        let mut zeros = 0;
        for &at in &ZIGZAG[1..] {
            let coefficient = coefficients[at];
            if coefficient == 0 {
                zeros += 1;
                continue;
            }
            while zeros > 15 {
                bits.put_code(&self.ac, 0xf0);
                zeros -= 16;
            }
            let length = bit_length(coefficient);
            bits.put_code(&self.ac, zeros << 4 | length as u8);
            bits.put_number(coefficient, length);
            zeros = 0;
        }
        if zeros > 0 {
            bits.put_code(&self.ac, 0);
        }
    }
}

/// The steps of a quality, as the Independent JPEG Group scales them.
fn steps(kind: usize, quality: u8) -> [u8; 64] {
    let quality = u32::from(quality);
    let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    STEPS[kind].map(|step| ((u32::from(step) * percent + 50) / 100).clamp(1, 255) as u8)
}

fn put_segment(bytes: &mut Vec<u8>, marker: u8, content: &[u8]) {
    bytes.extend([0xff, marker]);
    bytes.extend((content.len() as u16 + 2).to_be_bytes());
    bytes.extend_from_slice(content);
}

/// A JPEG file of an image: grey for 1 and 2 channels, else colour with halved chrominance; alpha is dropped.
///
/// `pixels` has height × width × channels bytes; `quality` is 1 to 100.
pub fn encode_jpeg(
    pixels: &[u8],
    width: usize,
    height: usize,
    channels: usize,
    quality: u8,
) -> Result<Vec<u8>> {
    let argument = |fault: String| Err(DecodeError::Argument(fault));
    if !(1..=4).contains(&channels) {
        return argument(format!("JPEG has 1 to 4 channels, got {channels}"));
    }
    if !(1..=65535).contains(&width) || !(1..=65535).contains(&height) {
        return argument(format!("JPEG has 1 to 65,535 pixels a side, got {width} by {height}"));
    }
    if !(1..=100).contains(&quality) {
        return argument(format!("quality must be 1 to 100, got {quality}"));
    }
    if pixels.len() != width * height * channels {
        return argument(format!("{} bytes are no {height} by {width} by {channels} pixels", pixels.len()));
    }
    let is_grey = channels < 3;
    let kinds = if is_grey { 1 } else { 2 };
    let all_steps = [steps(0, quality), steps(1, quality)];

    let mut bytes = vec![0xff, 0xd8];
    put_segment(&mut bytes, 0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    for (kind, steps) in (0u8..).zip(&all_steps[..kinds]) {
        put_segment(&mut bytes, 0xdb, &[&[kind][..], steps].concat());
    }
    let [h1, h0] = (height as u16).to_be_bytes();
    let [w1, w0] = (width as u16).to_be_bytes();
    // Identifier, sampling factors and steps of each component; then its tables.
    let (components, tables): (&[u8], &[u8]) = if is_grey {
        (&[1, 0x11, 0], &[1, 0])
    } else {
        (&[1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1], &[1, 0, 2, 0x11, 3, 0x11])
    };
    let count = components.len() as u8 / 3;
    put_segment(&mut bytes, 0xc0, &[&[8, h1, h0, w1, w0, count][..], components].concat());
    for kind in 0..kinds {
        for (class, table) in [(0, &DC[kind]), (0x10, &AC[kind])] {
            put_segment(&mut bytes, 0xc4, &[&[class | kind as u8][..], table.0, table.1].concat());
        }
    }
    put_segment(&mut bytes, 0xda, &[&[count][..], tables, &[0, 63, 0]].concat());

    let mut bits = Bits { bytes, pending: 0, count: 0 };
    let luminance = Encoder::new(0, &all_steps[0]);
    // Pixels beyond the border repeat it.
    let pixel = |x: usize, y: usize| &pixels[(y.min(height - 1) * width + x.min(width - 1)) * channels..];
    if is_grey {
        let mut mean = 0;
        for (y0, x0) in blocks(height, width, 8) {
            let block =
                std::array::from_fn(|y| std::array::from_fn(|x| f32::from(pixel(x0 + x, y0 + y)[0]) - 128.0));
            luminance.encode(&block, &mut mean, &mut bits);
        }
    } else {
        let chrominance = Encoder::new(1, &all_steps[1]);
        let mut means = [0; 3];
        for (y0, x0) in blocks(height, width, 16) {
            let mut planes = [[[0.0f32; 16]; 16]; 3];
            let [luma, blue_difference, red_difference] = &mut planes;
            for (at, luma) in luma.as_flattened_mut().iter_mut().enumerate() {
                let (y, x) = (at / 16, at % 16);
                let color = pixel(x0 + x, y0 + y);
                let [r, g, b] = [color[0], color[1], color[2]].map(f32::from);
                *luma = 0.299 * r + 0.587 * g + 0.114 * b - 128.0;
                blue_difference[y][x] = -0.168_735_89 * r - 0.331_264_11 * g + 0.5 * b;
                red_difference[y][x] = 0.5 * r - 0.418_687_59 * g - 0.081_312_41 * b;
            }
            for (top, left) in [(0, 0), (0, 8), (8, 0), (8, 8)] {
                let block = std::array::from_fn(|y| std::array::from_fn(|x| planes[0][top + y][left + x]));
                luminance.encode(&block, &mut means[0], &mut bits);
            }
            for (plane, mean) in planes[1..].iter().zip(&mut means[1..]) {
                let block = std::array::from_fn(|y| {
                    std::array::from_fn(|x| {
                        let (top, bottom) = (&plane[2 * y], &plane[2 * y + 1]);
                        (top[2 * x] + top[2 * x + 1] + bottom[2 * x] + bottom[2 * x + 1]) / 4.0
                    })
                });
                chrominance.encode(&block, mean, &mut bits);
            }
        }
    }
    // Ones fill the last byte.
    bits.put(0x7f, 7);
    bits.bytes.extend([0xff, 0xd9]);
    Ok(bits.bytes)
}

/// The upper left corners, (y, x), of the blocks of an image.
fn blocks(height: usize, width: usize, side: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..height).step_by(side).flat_map(move |y| (0..width).step_by(side).map(move |x| (y, x)))
}

#[cfg(test)]
mod tests {
    use super::super::{ImageOptions, decode};
    use super::*;

    #[test]
    fn a_decoder_reads_what_is_encoded() {
        for channels in 1..=4 {
            for (width, height) in [(1, 1), (8, 8), (17, 33), (64, 5)] {
                // Smooth, since chrominance is halved.
                let pixels: Vec<u8> = (0..height * width)
                    .flat_map(|at| {
                        let (x, y) = (at % width, at / width);
                        [x * 2 + 60, y * 2 + 90, x + y, 200].into_iter().take(channels).map(|v| v as u8)
                    })
                    .collect();
                let file = encode_jpeg(&pixels, width, height, channels, 95).unwrap();
                let image =
                    decode(&file, &ImageOptions { channels: Some(channels), ..ImageOptions::default() })
                        .unwrap();
                assert_eq!((image.width, image.height), (width, height));
                for (index, (expected, got)) in pixels.iter().zip(&image.pixels).enumerate() {
                    // Alpha is no part of the file.
                    if channels % 2 == 1 || index % channels < channels - 1 {
                        assert!(
                            expected.abs_diff(*got) <= 12,
                            "{channels} {width} {height}: {expected} {got}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_quality_and_extreme_pixels() {
        let noise: Vec<u8> = (0..64 * 64 * 3u32)
            .map(|i| if i.wrapping_mul(2_654_435_761) >> 30 & 1 == 0 { 0 } else { 255 })
            .collect();
        for quality in [1, 25, 50, 80, 100] {
            let file = encode_jpeg(&noise, 64, 64, 3, quality).unwrap();
            decode(&file, &ImageOptions::default()).unwrap();
        }
    }

    #[test]
    fn arguments() {
        let error = |len: usize, w, h, c, q| encode_jpeg(&vec![0; len], w, h, c, q).unwrap_err().to_string();
        assert_eq!(error(4, 1, 1, 5, 80), "JPEG has 1 to 4 channels, got 5");
        assert_eq!(error(0, 0, 1, 1, 80), "JPEG has 1 to 65,535 pixels a side, got 0 by 1");
        assert_eq!(error(1, 1, 1, 1, 0), "quality must be 1 to 100, got 0");
        assert_eq!(error(5, 2, 2, 1, 80), "5 bytes are no 2 by 2 by 1 pixels");
    }
}
