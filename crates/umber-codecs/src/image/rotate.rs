//! Rotation by any angle.

use super::error::Result;
use super::{Extent, ImageError};

/// Sine and cosine of an angle in degrees, exact for multiples of 90.
fn sine_and_cosine(degrees: f64) -> (f64, f64) {
    let degrees = degrees.rem_euclid(360.0);
    match degrees {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        _ => degrees.to_radians().sin_cos(),
    }
}

/// Width and height of an image after [`rotate`]: its own with `crop`, else those of the frame around the rotated image.
pub fn rotated_size(extent: Extent, degrees: f64, crop: bool) -> Result<(usize, usize)> {
    if !degrees.is_finite() {
        return Err(ImageError::Argument(format!("angle must be finite, got {degrees}")));
    }
    let Extent { width, height, .. } = extent;
    if crop || width == 0 || height == 0 {
        return Ok((width, height));
    }
    let (sine, cosine) = sine_and_cosine(degrees);
    // Whole pixels; the tolerance keeps rounding errors from taking one away.
    let side = |along: usize, across: usize| {
        ((along as f64 * cosine.abs() + across as f64 * sine.abs() + 1e-6).floor() as usize).max(1)
    };
    Ok((side(width, height), side(height, width)))
}

/// Rotate by `degrees` clockwise around the centre; each pixel is that of the source whose area its centre falls into, or zero.
///
/// `target` has the size that [`rotated_size`] returns for the same `degrees` and `crop`.
pub fn rotate<T: Copy + Default>(
    source: &[T],
    extent: Extent,
    degrees: f64,
    crop: bool,
    target: &mut [T],
) -> Result<()> {
    extent.check("source", source.len())?;
    let (new_width, new_height) = rotated_size(extent, degrees, crop)?;
    extent.with_size(new_width, new_height).check("target", target.len())?;
    if extent.is_empty() {
        return Ok(());
    }
    let Extent { width, height, channels } = extent;
    let (sine, cosine) = sine_and_cosine(degrees);
    let (center_x, center_y) = (width as f64 / 2.0, height as f64 / 2.0);
    for (y, row) in target.chunks_exact_mut(new_width * channels).enumerate() {
        let dy = y as f64 + 0.5 - new_height as f64 / 2.0;
        for (x, pixel) in row.chunks_exact_mut(channels).enumerate() {
            let dx = x as f64 + 0.5 - new_width as f64 / 2.0;
            let from_x = (cosine * dx + sine * dy + center_x).floor();
            let from_y = (cosine * dy - sine * dx + center_y).floor();
            if from_x >= 0.0 && from_y >= 0.0 && from_x < width as f64 && from_y < height as f64 {
                let start = (from_y as usize * width + from_x as usize) * channels;
                pixel.copy_from_slice(&source[start..start + channels]);
            } else {
                pixel.fill(T::default());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTENT: Extent = Extent { width: 3, height: 2, channels: 1 };
    const SOURCE: [u8; 6] = [1, 2, 3, 4, 5, 6];

    fn rotated(degrees: f64) -> (usize, usize, Vec<u8>) {
        let (width, height) = rotated_size(EXTENT, degrees, false).unwrap();
        let mut target = vec![9; width * height];
        rotate(&SOURCE, EXTENT, degrees, false, &mut target).unwrap();
        (width, height, target)
    }

    #[test]
    fn right_angles_are_exact() {
        for turns in [-4, 0, 4] {
            let degrees = 90.0 * f64::from(turns);
            assert_eq!(rotated(degrees), (3, 2, vec![1, 2, 3, 4, 5, 6]));
            assert_eq!(rotated(degrees + 90.0), (2, 3, vec![4, 1, 5, 2, 6, 3]));
            assert_eq!(rotated(degrees + 180.0), (3, 2, vec![6, 5, 4, 3, 2, 1]));
            assert_eq!(rotated(degrees + 270.0), (2, 3, vec![3, 6, 2, 5, 1, 4]));
        }
    }

    #[test]
    fn the_frame_holds_the_image() {
        let extent = Extent { width: 100, height: 40, channels: 3 };
        // 100 cos 30° + 40 sin 30° and 40 cos 30° + 100 sin 30°.
        assert_eq!(rotated_size(extent, 30.0, false), Ok((106, 84)));
        assert_eq!(rotated_size(extent, -30.0, false), Ok((106, 84)));
        assert_eq!(rotated_size(extent, 30.0, true), Ok((100, 40)));
        let source = vec![7u8; 12000];
        let mut target = vec![1; 106 * 84 * 3];
        rotate(&source, extent, 30.0, false, &mut target).unwrap();
        // Area is preserved; corners are zero.
        let lit = target.iter().map(|&value| usize::from(value == 7)).sum::<usize>();
        assert!((11_800..=12_200).contains(&lit), "{lit}");
        assert_eq!((target[0], target[target.len() - 1]), (0, 0));
    }

    #[test]
    fn with_crop_the_size_stays() {
        let mut target = [9; 6];
        rotate(&SOURCE, EXTENT, 180.0, true, &mut target).unwrap();
        assert_eq!(target, [6, 5, 4, 3, 2, 1]);
        // Of an image on its side, the middle stays and the corners are empty.
        let (wide, mut rotated) = (Extent { width: 4, ..EXTENT }, [9; 8]);
        rotate(&[1, 2, 3, 4, 5, 6, 7, 8], wide, 90.0, true, &mut rotated).unwrap();
        assert_eq!(rotated, [0, 6, 2, 0, 0, 7, 3, 0]);
        assert!(rotate(&SOURCE, EXTENT, f64::NAN, true, &mut target).is_err());
        assert!(rotate(&SOURCE, EXTENT, 0.0, true, &mut target[..5]).is_err());
    }
}
