//! JPEG, by zune-jpeg, or by a libturbojpeg of the system where there is one.
//!
//! The headers are read here first: for the size, for what the decoders need to be told, and so that what is refused has a name.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::error::{DecodeError, Result, damaged, truncated, unsupported};
use super::{Image, ImageOptions, orient, turbojpeg};

/// Maximum number of scans of a progressive file; encoders write ten or so. More are an attack on the time of decoding.
const MAX_SCANS: usize = 500;
/// End of image.
const END: u8 = 0xd9;

/// What the segments before the first scan say.
struct Header<'a> {
    frame: Frame,
    orientation: u8,
    /// What follows the marker of the first scan.
    scan: &'a [u8],
}

/// What the header of a frame says.
struct Frame {
    width: u16,
    height: u16,
    components: u8,
}

/// Start of a scan.
const SCAN: u8 = 0xda;

/// The segments before the first scan.
struct Segments<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Segments<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 2 }
    }

    /// The next marker and its segment; of a scan, everything that follows.
    fn next(&mut self) -> Result<(u8, &'a [u8])> {
        loop {
            // Bytes before a marker are skipped, as by other decoders.
            let rest = self.bytes.get(self.position..).unwrap_or_default();
            let Some(start) = rest.iter().position(|&byte| byte == 0xff) else {
                return truncated(self.bytes);
            };
            let rest = &rest[start..];
            let Some(fill) = rest.iter().position(|&byte| byte != 0xff) else { return truncated(self.bytes) };
            let (marker, rest) = (rest[fill], &rest[fill + 1..]);
            self.position += start + fill + 1;
            match marker {
                // Stuffed bytes, and markers without a segment.
                0 | 1 | 0xd0..=0xd8 => continue,
                END => return damaged("it ends before its first scan"),
                SCAN => return Ok((marker, rest)),
                _ => {}
            }
            let Some(&[high, low]) = rest.first_chunk() else { return truncated(self.bytes) };
            let length = usize::from(u16::from_be_bytes([high, low]));
            if length < 2 {
                return damaged(format!("a segment of {length} bytes"));
            }
            let Some(segment) = rest.get(2..length) else { return truncated(self.bytes) };
            self.position += length;
            return Ok((marker, segment));
        }
    }
}

fn header(bytes: &[u8]) -> Result<Header<'_>> {
    let mut segments = Segments::new(bytes);
    let (mut frame, mut orientation) = (None, 1);
    loop {
        match segments.next()? {
            (SCAN, scan) => {
                let Some(frame) = frame else { return damaged("a scan before the frame's header") };
                return Ok(Header { frame, orientation, scan });
            }
            (0xe1, exif) if exif.starts_with(b"Exif\0\0") => orientation = orient::of_exif(&exif[6..]),
            (marker, segment) => frame = frame_of(marker, segment)?.or(frame),
        }
    }
}

/// What a segment says of the frame, if it is about that.
fn frame_of(marker: u8, segment: &[u8]) -> Result<Option<Frame>> {
    match marker {
        0xc0..=0xc2 => {}
        0xc3 => return unsupported("lossless JPEG"),
        0xc5..=0xc7 => return unsupported("hierarchical JPEG"),
        0xc9..=0xcb | 0xcd..=0xcf => return unsupported("arithmetic coding in JPEG"),
        _ => return Ok(None),
    }
    let &[precision, h1, h0, w1, w0, components, ..] = segment else {
        return damaged("a frame's header that is too short");
    };
    if precision != 8 {
        return unsupported(format!("JPEG of {precision} bits"));
    }
    if !matches!(components, 1 | 3 | 4) {
        return unsupported(format!("JPEG of {components} components"));
    }
    let (width, height) = (u16::from_be_bytes([w1, w0]), u16::from_be_bytes([h1, h0]));
    if height == 0 {
        return unsupported("JPEG whose height follows its first scan");
    }
    Ok(Some(Frame { width, height, components }))
}

pub(super) fn dimensions(bytes: &[u8]) -> Result<(usize, usize)> {
    let mut segments = Segments::new(bytes);
    loop {
        let (marker, segment) = segments.next()?;
        if marker == SCAN {
            return damaged("a scan before the frame's header");
        }
        if let Some(frame) = frame_of(marker, segment)? {
            return Ok((frame.width.into(), frame.height.into()));
        }
    }
}

/// The image and its orientation.
pub(super) fn decode(bytes: &[u8], options: &ImageOptions) -> Result<(Image, u8)> {
    let header = header(bytes)?;
    let (width, height) = (usize::from(header.frame.width), usize::from(header.frame.height));
    options.check_size(width as u64, height as u64)?;
    if options.strict && !header.scan.array_windows().rev().any(|&pair| pair == [0xff, END]) {
        return truncated(bytes);
    }
    if scans(header.scan) > MAX_SCANS {
        return damaged(format!("more than {MAX_SCANS} scans"));
    }
    let at_least = options.at_least.map(|(width, height)| {
        let transposed = options.orient && orient::transposes(header.orientation);
        if transposed { (height, width) } else { (width, height) }
    });
    let grey = header.frame.components == 1;
    // libturbojpeg converts no CMYK to RGB.
    let library = turbojpeg::Turbojpeg::of_system().filter(|_| header.frame.components != 4);
    let by_library = library
        .map(|library| library.decode(bytes, reduced((width, height), at_least), grey, options.strict));
    let image = match by_library {
        // Some of its warnings are about what is harmless; the decoder that is built in tells.
        None | Some(Err(DecodeError::Damaged(_))) => by_zune(bytes, (width, height), grey, options.strict)?,
        Some(result) => result?,
    };
    // A grey JPEG has three channels, as other libraries return it, unless fewer are asked for.
    let image = if grey && options.channels.is_none() { super::with_channels(image, 3) } else { image };
    Ok((image, header.orientation))
}

/// Number of scans: markers that begin one, of which data between them has none.
fn scans(bytes: &[u8]) -> usize {
    1 + bytes.array_windows().filter(|&&pair| pair == [0xff, 0xda]).count()
}

/// The size after the largest reduction by 8, 4 or 2 that leaves an image of at least the size asked for.
fn reduced(size: (usize, usize), at_least: Option<(usize, usize)>) -> (usize, usize) {
    let Some((min_width, min_height)) = at_least else { return size };
    [8, 4, 2]
        .map(|factor| (size.0.div_ceil(factor), size.1.div_ceil(factor)))
        .into_iter()
        .find(|&(width, height)| width >= min_width && height >= min_height)
        .unwrap_or(size)
}

pub(super) fn by_zune(
    bytes: &[u8],
    (width, height): (usize, usize),
    grey: bool,
    strict: bool,
) -> Result<Image> {
    let (channels, color) = if grey { (1, ColorSpace::Luma) } else { (3, ColorSpace::RGB) };
    let options = DecoderOptions::default()
        .set_strict_mode(strict)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .jpeg_set_max_scans(MAX_SCANS)
        .jpeg_set_out_colorspace(color);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let mut pixels = vec![0; width * height * channels];
    decoder.decode_into(&mut pixels).map_err(|error| translate(&error, bytes))?;
    if decoder.dimensions() != Some((width, height)) {
        return damaged("a second frame's header");
    }
    Ok(Image { width, height, channels, pixels })
}

fn translate(error: &zune_jpeg::errors::DecodeErrors, bytes: &[u8]) -> DecodeError {
    use zune_jpeg::errors::DecodeErrors;
    match error {
        DecodeErrors::ExhaustedData | DecodeErrors::IoErrors(_) => DecodeError::truncated(bytes),
        DecodeErrors::Unsupported(scheme) => DecodeError::Unsupported(format!("{scheme:?}")),
        error => DecodeError::Damaged(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_never_goes_below_what_is_asked_for() {
        assert_eq!(reduced((640, 480), None), (640, 480));
        assert_eq!(reduced((640, 480), Some((80, 60))), (80, 60));
        assert_eq!(reduced((640, 480), Some((81, 60))), (160, 120));
        assert_eq!(reduced((641, 480), Some((321, 240))), (321, 240));
        assert_eq!(reduced((640, 480), Some((600, 1))), (640, 480));
        assert_eq!(reduced((10, 10), Some((100, 100))), (10, 10));
    }

    #[test]
    fn refusals_have_names() {
        let frame = |marker: u8, precision: u8, components: u8| {
            let mut bytes = vec![0xff, 0xd8, 0xff, marker, 0, 8, precision, 0, 4, 0, 4, components];
            bytes.extend([0xff, 0xda, 0, 2, 0xff, END]);
            decode(&bytes, &ImageOptions::default()).unwrap_err().to_string()
        };
        assert_eq!(frame(0xc3, 8, 3), "cannot decode: lossless JPEG is not supported");
        assert_eq!(frame(0xc9, 8, 3), "cannot decode: arithmetic coding in JPEG is not supported");
        assert_eq!(frame(0xc1, 12, 3), "cannot decode: JPEG of 12 bits is not supported");
        assert_eq!(frame(0xc0, 8, 2), "cannot decode: JPEG of 2 components is not supported");
    }
}
