//! Mirror images.

use super::Extent;
use super::error::Result;

/// Exchange left and right, in place.
pub fn flip_horizontally<T: Copy>(pixels: &mut [T], extent: Extent) -> Result<()> {
    extent.check("source", pixels.len())?;
    match extent.channels {
        0 => {}
        1 => flip_rows::<T, 1>(pixels, extent.width),
        2 => flip_rows::<T, 2>(pixels, extent.width),
        3 => flip_rows::<T, 3>(pixels, extent.width),
        4 => flip_rows::<T, 4>(pixels, extent.width),
        // Reversing a row reverses its pixels, too; reversing each of them restores it.
        channels => {
            for row in pixels.chunks_exact_mut((extent.width * channels).max(1)) {
                row.reverse();
                row.chunks_exact_mut(channels).for_each(<[T]>::reverse);
            }
        }
    }
    Ok(())
}

/// With a number of channels known to the compiler, whole pixels move.
fn flip_rows<T: Copy, const CHANNELS: usize>(pixels: &mut [T], width: usize) {
    let (pixels, _) = pixels.as_chunks_mut::<CHANNELS>();
    pixels.chunks_exact_mut(width.max(1)).for_each(<[[T; CHANNELS]]>::reverse);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_channels() {
        for channels in 0..7 {
            for (width, height) in [(0, 3), (1, 2), (4, 3), (5, 1)] {
                let mut pixels: Vec<usize> = (0..width * height * channels).collect();
                flip_horizontally(&mut pixels, Extent { width, height, channels }).unwrap();
                for (index, &value) in pixels.iter().enumerate() {
                    let (pixel, channel) = (index / channels, index % channels);
                    let (x, y) = (pixel % width, pixel / width);
                    assert_eq!(value, (y * width + width - 1 - x) * channels + channel);
                }
            }
        }
        let error = flip_horizontally(&mut [0; 5], Extent { width: 2, height: 2, channels: 1 }).unwrap_err();
        assert_eq!(error.to_string(), "the source has 5 values, which are no image of shape (2, 2, 1)");
    }
}
