//! PNG, by the crate `png`: 1 to 16 bits, palettes, interlaced. Checksums are verified.

use std::io::{Cursor, ErrorKind};

use png::{ColorType, DecodeOptions, Decoder, DecodingError, Info, Limits, Transformations};

use super::error::{DecodeError, Result, damaged};
use super::{Image, ImageOptions, orient};

/// Maximum memory for a row and what precedes it.
const MAX_ROW_BYTES: usize = 1 << 28;

pub(super) fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    let info = decoder.read_header_info().map_err(|error| translate(error, bytes))?;
    Ok((info.width as usize, info.height as usize))
}

/// The image and its orientation.
pub(super) fn decode(bytes: &[u8], options: &ImageOptions) -> Result<(Image, u8)> {
    let mut checks = DecodeOptions::default();
    checks.set_ignore_checksums(!options.strict);
    checks.set_ignore_text_chunk(true);
    checks.set_ignore_iccp_chunk(true);
    let mut decoder = Decoder::new_with_options(Cursor::new(bytes), checks);
    decoder.set_limits(Limits { bytes: MAX_ROW_BYTES });
    // Palettes to colours, bits to bytes; of 16 bits the high byte.
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let info = decoder.read_header_info().map_err(|error| translate(error, bytes))?;
    let (width, height) = (info.width, info.height);
    options.check_size(width.into(), height.into())?;
    let mut reader = decoder.read_info().map_err(|error| translate(error, bytes))?;
    check_palette(reader.info())?;
    let channels = match reader.output_color_type().0 {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgba => 4,
        ColorType::Rgb | ColorType::Indexed => 3,
    };
    let Some(size) = reader.output_buffer_size() else {
        let max_pixels = options.max_pixels;
        return Err(DecodeError::TooLarge { width: width.into(), height: height.into(), max_pixels });
    };
    let mut pixels = vec![0; size];
    let result = reader.next_frame(&mut pixels).map(|_| ()).and_then(|()| reader.finish());
    if options.strict {
        result.map_err(|error| translate(error, bytes))?;
    }
    let orientation = reader.info().exif_metadata.as_deref().map_or(1, orient::of_exif);
    let (width, height) = (width as usize, height as usize);
    if pixels.len() != width * height * channels {
        return damaged("rows of another length than the header says");
    }
    Ok((Image { width, height, channels, pixels }, orientation))
}

/// An error for palettes on which the crate panics.
fn check_palette(info: &Info<'_>) -> Result<()> {
    let Some(palette) = info.palette.as_deref().filter(|_| info.color_type == ColorType::Indexed) else {
        return Ok(());
    };
    let alphas = info.trns.as_deref().map_or(0, <[u8]>::len);
    if !palette.len().is_multiple_of(3) || palette.len() > 3 * 256 || alphas > palette.len() / 3 {
        return damaged(format!("a palette of {} bytes with {alphas} values of alpha", palette.len()));
    }
    Ok(())
}

fn translate(error: DecodingError, bytes: &[u8]) -> DecodeError {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            DecodeError::truncated(bytes)
        }
        DecodingError::LimitsExceeded => {
            DecodeError::Unsupported(format!("a row of more than {MAX_ROW_BYTES} bytes"))
        }
        error => DecodeError::Damaged(error.to_string()),
    }
}
