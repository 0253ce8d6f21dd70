//! Image files to pixels, and pixels to JPEG.
//!
//! [`decode`] recognises the format by its signature: JPEG, PNG, GIF (the first frame), BMP, PNM and TGA. No input panics, and
//! sizes are checked before memory is allocated. Damaged files are errors, unless [`ImageOptions::strict`] is off.

mod bmp;
mod error;
mod gif;
mod jpeg;
mod jpeg_encode;
mod orient;
mod png;
mod pnm;
mod reader;
mod tga;
mod turbojpeg;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use error::DecodeError;
use error::{Result, truncated, unsupported};
pub use jpeg_encode::encode_jpeg;

/// Pixels, rows top to bottom, channels interleaved: height × width × channels bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// 1: grey, 2: grey and alpha, 3: red, green, blue, 4: red, green, blue, alpha.
    pub channels: usize,
    /// The bytes, without padding between rows.
    pub pixels: Vec<u8>,
}

/// How an image is decoded.
#[derive(Clone, Debug)]
pub struct ImageOptions {
    /// Number of channels, 1 to 4. By default the file's without alpha: grey has one, but a grey JPEG three.
    pub channels: Option<usize>,
    /// Apply the orientation that Exif data in the file asks for.
    pub orient: bool,
    /// A width and height: the decoder may reduce the image by 2, 4 or 8 as long as it is at least as large.
    pub at_least: Option<(usize, usize)>,
    /// Refuse damaged files. Otherwise pixels that are missing are black.
    pub strict: bool,
    /// Maximum number of pixels.
    pub max_pixels: u64,
}

impl Default for ImageOptions {
    fn default() -> Self {
        Self { channels: None, orient: false, at_least: None, strict: true, max_pixels: 1 << 28 }
    }
}

impl ImageOptions {
    /// An error for images without pixels, and for those over the limit.
    fn check_size(&self, width: u64, height: u64) -> Result<()> {
        if width == 0 || height == 0 {
            return error::damaged(format!("an image of {width} by {height} pixels"));
        }
        let max_pixels = self.max_pixels;
        match width.checked_mul(height) {
            Some(pixels) if pixels <= max_pixels && usize::try_from(pixels.saturating_mul(4)).is_ok() => {
                Ok(())
            }
            _ => Err(DecodeError::TooLarge { width, height, max_pixels }),
        }
    }
}

/// The formats with a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Jpeg,
    Png,
    Gif,
    Bmp,
    Pnm,
    Tga,
}

/// Signatures of the formats that begin with one, with those that have no reader.
const SIGNATURES: &[(&[u8], std::result::Result<Format, &str>)] = &[
    (b"\xff\xd8", Ok(Format::Jpeg)),
    (b"\x89PNG\r\n\x1a\n", Ok(Format::Png)),
    (b"GIF87a", Ok(Format::Gif)),
    (b"GIF89a", Ok(Format::Gif)),
    (b"BM", Ok(Format::Bmp)),
    (b"P1", Ok(Format::Pnm)),
    (b"P2", Ok(Format::Pnm)),
    (b"P3", Ok(Format::Pnm)),
    (b"P4", Ok(Format::Pnm)),
    (b"P5", Ok(Format::Pnm)),
    (b"P6", Ok(Format::Pnm)),
    (b"P7\n", Err("PAM")),
    (b"II*\0", Err("TIFF")),
    (b"MM\0*", Err("TIFF")),
    (b"8BPS", Err("Photoshop's PSD")),
    (b"#?RADIANCE", Err("Radiance HDR")),
    (b"\xff\x0a", Err("JPEG XL")),
    (b"\0\0\0\x0cJXL ", Err("JPEG XL")),
    (b"\0\0\0\x0cjP  ", Err("JPEG 2000")),
    (b"\xff\x4f\xff\x51", Err("JPEG 2000")),
    (b"DDS ", Err("DDS")),
    (b"%PDF", Err("PDF")),
    (b"<svg", Err("SVG")),
    (b"\0\0\x01\0", Err("ICO")),
];

/// The format of a file by its first bytes.
fn format_of(bytes: &[u8]) -> Result<Format> {
    if bytes.is_empty() {
        return Err(DecodeError::Empty);
    }
    for &(signature, format) in SIGNATURES {
        if bytes.starts_with(signature) {
            return format.map_err(|name| DecodeError::Unsupported(name.to_owned()));
        }
    }
    match bytes {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => return unsupported("WebP"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', ..] => return unsupported("AVIF"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => return unsupported("HEIF or MP4"),
        _ => {}
    }
    // TGA files have no signature, so a header whose fields agree is one.
    if tga::is_header(bytes) {
        return Ok(Format::Tga);
    }
    if SIGNATURES.iter().any(|(signature, _)| signature.starts_with(bytes)) {
        return truncated(bytes);
    }
    let start: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    unsupported(format!("a file that begins with the bytes {}", start.join(" ")))
}

/// The pixels of an image file.
///
/// ```
/// use umber_codecs::decode::{ImageOptions, decode};
///
/// let image = decode(b"P2 2 1 255 7 9", &ImageOptions::default())?;
/// assert_eq!((image.width, image.height, image.channels), (2, 1, 1));
/// assert_eq!(image.pixels, [7, 9]);
/// # Ok::<(), umber_codecs::decode::DecodeError>(())
/// ```
pub fn decode(bytes: &[u8], options: &ImageOptions) -> Result<Image> {
    if let Some(channels) = options.channels
        && !(1..=4).contains(&channels)
    {
        return Err(DecodeError::Argument(format!("channels must be 1, 2, 3 or 4, got {channels}")));
    }
    guarded(|| {
        let (image, orientation) = match format_of(bytes)? {
            Format::Jpeg => jpeg::decode(bytes, options)?,
            Format::Png => png::decode(bytes, options)?,
            Format::Gif => (gif::decode(bytes, options)?, 1),
            Format::Bmp => (bmp::decode(bytes, options)?, 1),
            Format::Pnm => (pnm::decode(bytes, options)?, 1),
            Format::Tga => (tga::decode(bytes, options)?, 1),
        };
        // Alpha is dropped unless it is asked for.
        let channels = options.channels.unwrap_or(if image.channels < 3 { 1 } else { 3 });
        let image = with_channels(image, channels);
        Ok(if options.orient { orient::apply(image, orientation) } else { image })
    })
}

/// Width and height of an image file, from its header alone.
pub fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    guarded(|| match format_of(bytes)? {
        Format::Jpeg => jpeg::dimensions(bytes),
        Format::Png => png::dimensions(bytes),
        Format::Gif => gif::dimensions(bytes),
        Format::Bmp => bmp::dimensions(bytes),
        Format::Pnm => pnm::dimensions(bytes),
        Format::Tga => tga::dimensions(bytes),
    })
}

/// The result of `run`, or an error where it panics: decoders of untrusted files are the work of many people.
fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| error::damaged("the decoder gave up on its content"))
}

/// The image with another number of channels. Grey is rec601's, alpha is dropped or opaque.
fn with_channels(image: Image, channels: usize) -> Image {
    if image.channels == channels {
        return image;
    }
    let source = &image.pixels;
    let mut pixels = Vec::with_capacity(image.width * image.height * channels);
    match (image.channels, channels) {
        (1, 2) => pixels.extend(source.iter().flat_map(|&grey| [grey, 255])),
        (1, 3) => pixels.extend(source.iter().flat_map(|&grey| [grey; 3])),
        (1, _) => pixels.extend(source.iter().flat_map(|&grey| [grey, grey, grey, 255])),
        (2, 1) => pixels.extend(source.iter().step_by(2)),
        (2, 3) => pixels.extend(source.chunks_exact(2).flat_map(|p| [p[0]; 3])),
        (2, _) => pixels.extend(source.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]])),
        (3, 1) => pixels.extend(source.chunks_exact(3).map(grey)),
        (3, 2) => pixels.extend(source.chunks_exact(3).flat_map(|p| [grey(p), 255])),
        (3, _) => pixels.extend(source.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255])),
        (_, 1) => pixels.extend(source.chunks_exact(4).map(grey)),
        (_, 2) => pixels.extend(source.chunks_exact(4).flat_map(|p| [grey(p), p[3]])),
        (_, _) => pixels.extend(source.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]])),
    }
    Image { channels, pixels, ..image }
}

/// Luminance by rec601.
fn grey(pixel: &[u8]) -> u8 {
    crate::image::Luminance::Rec601.of([pixel[0], pixel[1], pixel[2]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_without_a_reader_are_named() {
        for (bytes, name) in [
            (&b"RIFF\x10\0\0\0WEBPVP8 "[..], "WebP"),
            (b"II*\0rest", "TIFF"),
            (b"\0\0\0\x20ftypavif", "AVIF"),
            (b"hello, world, this is text", "a file that begins with the bytes 68 65 6c 6c 6f 2c 20 77"),
        ] {
            let error = decode(bytes, &ImageOptions::default()).unwrap_err();
            assert_eq!(error, DecodeError::Unsupported(name.to_owned()));
            assert_eq!(dimensions(bytes).unwrap_err(), error);
        }
        assert_eq!(decode(b"", &ImageOptions::default()), Err(DecodeError::Empty));
        let error = decode(b"\x89PN", &ImageOptions::default()).unwrap_err();
        assert_eq!(error, DecodeError::Truncated { missing: None, available: 3 });
    }

    #[test]
    fn channels_are_converted() {
        let rgba = Image { width: 1, height: 1, channels: 4, pixels: vec![255, 0, 0, 9] };
        let expected: [&[u8]; 4] = [&[76], &[76, 9], &[255, 0, 0], &[255, 0, 0, 9]];
        for (channels, expected) in (1..).zip(expected) {
            assert_eq!(with_channels(rgba.clone(), channels).pixels, expected);
        }
        let grey = Image { width: 1, height: 1, channels: 1, pixels: vec![7] };
        let expected: [&[u8]; 4] = [&[7], &[7, 255], &[7, 7, 7], &[7, 7, 7, 255]];
        for (channels, expected) in (1..).zip(expected) {
            let image = with_channels(grey.clone(), channels);
            assert_eq!(image.pixels, expected);
            assert_eq!(with_channels(image, 1).pixels, [7]);
        }
        let options = ImageOptions { channels: Some(5), ..ImageOptions::default() };
        let error = decode(b"P2 1 1 255 7", &options).unwrap_err();
        assert_eq!(error.to_string(), "channels must be 1, 2, 3 or 4, got 5");
    }

    #[test]
    fn a_panic_is_an_error() {
        let result: Result<()> = guarded(|| panic!("expected by the test"));
        assert!(matches!(result, Err(DecodeError::Damaged(_))));
    }
}
