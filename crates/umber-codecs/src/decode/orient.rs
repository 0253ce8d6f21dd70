//! The orientation that Exif data asks for.

use super::Image;

/// Tag of the orientation in the first directory of Exif data.
const ORIENTATION: u16 = 0x0112;

/// The orientation, 1 to 8, in Exif data (a TIFF header and its first directory); 1 where there is none.
pub(super) fn of_exif(exif: &[u8]) -> u8 {
    find(exif).unwrap_or(1)
}

fn find(exif: &[u8]) -> Option<u8> {
    let little = match exif.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let u16_at = |at: usize| {
        let bytes = exif.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let first = exif.get(4..8)?.try_into().ok()?;
    let directory = if little { u32::from_le_bytes(first) } else { u32::from_be_bytes(first) } as usize;
    let count = usize::from(u16_at(directory)?);
    for entry in (0..count).map(|index| directory + 2 + 12 * index) {
        if u16_at(entry)? == ORIENTATION {
            let value = u16_at(entry + 8)?;
            return (1..=8).contains(&value).then_some(value as u8);
        }
    }
    None
}

/// Whether an orientation exchanges width and height.
pub(super) fn transposes(orientation: u8) -> bool {
    orientation >= 5
}

/// The image in the orientation, 1 to 8, that its Exif data asks for.
pub(super) fn apply(image: Image, orientation: u8) -> Image {
    if !(2..=8).contains(&orientation) {
        return image;
    }
    let Image { width, height, channels, pixels: source } = image;
    let (new_width, new_height) = if transposes(orientation) { (height, width) } else { (width, height) };
    let mut pixels = Vec::with_capacity(source.len());
    for y in 0..new_height {
        for x in 0..new_width {
            let (mirror_x, mirror_y) = (new_width - 1 - x, new_height - 1 - y);
            let (from_x, from_y) = match orientation {
                2 => (mirror_x, y),
                3 => (mirror_x, mirror_y),
                4 => (x, mirror_y),
                5 => (y, x),
                6 => (y, mirror_x),
                7 => (mirror_y, mirror_x),
                _ => (mirror_y, x),
            };
            let start = (from_y * width + from_x) * channels;
            pixels.extend_from_slice(&source[start..start + channels]);
        }
    }
    Image { width: new_width, height: new_height, channels, pixels }
}
