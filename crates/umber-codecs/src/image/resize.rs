//! Resizing with a triangle filter, by the crate `fast_image_resize`.

use std::cell::RefCell;

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::{InnerPixel, U8, U8x2, U8x3, U8x4};
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use super::error::Result;
use super::{Extent, ImageError, Window};

thread_local! {
    /// Scratch of the thread, which grows to its largest image.
    static RESIZER: RefCell<Resizer> = RefCell::new(Resizer::new());
}

/// Width and height of an image whose smallest side becomes `size`; the other is rounded, halves away from zero.
pub fn smallest_side_size(width: usize, height: usize, size: usize) -> Result<(usize, usize)> {
    let scaled =
        |side: usize, smallest: usize| (size as f64 / smallest as f64 * side as f64).round() as usize;
    match (width, height) {
        _ if size == 0 => Err(ImageError::Argument("size must be positive, got 0".to_owned())),
        (0, _) | (_, 0) => Err(ImageError::Size { width, height }),
        _ if height > width => Ok((size, scaled(height, width))),
        _ => Ok((scaled(width, height), size)),
    }
}

/// Resize `source` to `width` by `height` pixels in `target`.
///
/// A pixel is the mean of those of the source around it, with weights that fall linearly to zero at a distance of one pixel of the
/// larger of both images. Weights outside the image are left out.
pub fn resize(source: &[u8], extent: Extent, width: usize, height: usize, target: &mut [u8]) -> Result<()> {
    resize_crop(source, extent, width, height, Window { x: 0, y: 0, width, height }, target)
}

/// The window of the image that [`resize`] to `width` by `height` pixels returns, with the work for its pixels alone.
pub fn resize_crop(
    source: &[u8],
    extent: Extent,
    width: usize,
    height: usize,
    window: Window,
    target: &mut [u8],
) -> Result<()> {
    extent.check("source", source.len())?;
    let is_size = |side: usize| (1..=i32::MAX as usize).contains(&side);
    for (width, height) in [(extent.width, extent.height), (width, height)] {
        if !is_size(width) || !is_size(height) {
            return Err(ImageError::Size { width, height });
        }
    }
    window.check(width, height)?;
    let target_extent = extent.with_size(window.width, window.height);
    target_extent.check("target", target.len())?;
    let scale_x = extent.width as f64 / width as f64;
    let scale_y = extent.height as f64 / height as f64;
    let options =
        ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).use_alpha(false).crop(
            window.x as f64 * scale_x,
            window.y as f64 * scale_y,
            (window.width as f64 * scale_x).min(extent.width as f64 - window.x as f64 * scale_x),
            (window.height as f64 * scale_y).min(extent.height as f64 - window.y as f64 * scale_y),
        );
    match extent.channels {
        0 => Ok(()),
        1 => run::<U8>(source, extent, target, target_extent, &options),
        2 => run::<U8x2>(source, extent, target, target_extent, &options),
        3 => run::<U8x3>(source, extent, target, target_extent, &options),
        4 => run::<U8x4>(source, extent, target, target_extent, &options),
        channels => {
            // Other numbers of channels are unusual: one after another.
            let one = |extent| Extent { channels: 1, ..extent };
            let mut plane = vec![0; target.len() / channels];
            for channel in 0..channels {
                let source: Vec<u8> = source[channel..].iter().step_by(channels).copied().collect();
                run::<U8>(&source, one(extent), &mut plane, one(target_extent), &options)?;
                let strided = target[channel..].iter_mut().step_by(channels);
                strided.zip(&plane).for_each(|(target, &value)| *target = value);
            }
            Ok(())
        }
    }
}

fn run<P: InnerPixel + fast_image_resize::PixelTrait>(
    source: &[u8],
    extent: Extent,
    target: &mut [u8],
    target_extent: Extent,
    options: &ResizeOptions,
) -> Result<()> {
    let refused = |error: &dyn std::fmt::Display| ImageError::Argument(format!("resizing failed: {error}"));
    let source = TypedImageRef::<P>::from_buffer(extent.width as u32, extent.height as u32, source)
        .map_err(|error| refused(&error))?;
    let mut target =
        TypedImage::<P>::from_buffer(target_extent.width as u32, target_extent.height as u32, target)
            .map_err(|error| refused(&error))?;
    RESIZER
        .with_borrow_mut(|resizer| resizer.resize_typed(&source, &mut target, options))
        .map_err(|error| refused(&error))
}
