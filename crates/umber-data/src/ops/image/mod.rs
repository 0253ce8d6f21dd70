//! Operations on images: values of shape (height, width, channels), or stacks of frames of shape (frames, height, width, channels),
//! all of which are treated alike.

mod crop;
mod flip;
mod load;
mod luminance;
mod normalize;
mod resize;
mod resized_crop;
mod rotate;

pub use crop::{ImageCenterCrop, ImageRandomAreaCrop, ImageRandomCrop};
pub use flip::ImageRandomHFlip;
pub use load::{ImageContent, LoadImage, SaveImage};
pub use luminance::ImageChannelReduction;
pub use normalize::ImageNormalize;
pub use resize::{ImageResize, ImageResizeSmallestSide};
pub(crate) use resized_crop::resized_crop;
pub use resized_crop::{Cropping, Resizing};
pub use rotate::ImageRotate;

use umber_core::{DType, Shape};
use umber_types::ErrorKind;

use crate::error::{DataError, Result};
use crate::fault;
use crate::image::{Extent, ImageError};
use crate::value::Value;

/// Maximum number of pixels of an image that an operation makes.
const MAX_PIXELS: usize = 1 << 28;

impl From<ImageError> for DataError {
    fn from(error: ImageError) -> DataError {
        DataError::new(ErrorKind::Value, error.to_string())
    }
}

/// The frames of a value.
#[derive(Clone, Copy)]
struct Frames {
    count: usize,
    extent: Extent,
}

impl Frames {
    /// # Errors
    /// If the value has neither three nor four axes.
    fn of(value: &Value) -> Result<Frames> {
        let (count, height, width, channels) = match value.shape()[..] {
            [height, width, channels] => (1, height, width, channels),
            [count, height, width, channels] => (count, height, width, channels),
            _ => {
                return Err(fault!(
                    Value,
                    "an image has the shape (height, width, channels), or (frames, height, width, channels), got {}",
                    value.shape()
                ));
            }
        };
        Ok(Frames { count, extent: Extent { width, height, channels } })
    }

    /// # Errors
    /// If the value is not of `uint8`, either.
    fn of_bytes(value: &Value) -> Result<Frames> {
        match value.dtype() {
            DType::UInt8 => Frames::of(value),
            other => Err(fault!(Type, "the pixels are uint8, got {other}; use cast")),
        }
    }
}

/// The shape of `value` with other extents of its frames.
///
/// # Errors
/// If a frame would have more pixels than the limit.
fn shape_with(value: &Value, extent: Extent) -> Result<Shape> {
    let Extent { width, height, channels } = extent;
    if width.checked_mul(height).is_none_or(|pixels| pixels > MAX_PIXELS) {
        return Err(fault!(Value, "{width} by {height} pixels are more than the limit of {MAX_PIXELS}"));
    }
    let mut shape = value.shape().clone();
    let axes = shape.ndim();
    shape.as_mut_slice()[axes - 3..].copy_from_slice(&[height, width, channels]);
    super::addressable(shape)
}

/// The value with each frame changed by `run` to one of another extent.
fn each_frame(
    value: &Value,
    to: Extent,
    run: impl Fn(&[u8], &mut [u8]) -> std::result::Result<(), ImageError>,
) -> Result<Value> {
    let from = Frames::of_bytes(value)?;
    let mut out = Value::allocate(&shape_with(value, to)?, DType::UInt8)?;
    let source = value.bytes()?;
    let (from_length, to_length) = (source.len() / from.count.max(1), out.size() / from.count.max(1));
    let target = out.bytes_mut()?;
    for frame in 0..from.count {
        run(&source[frame * from_length..][..from_length], &mut target[frame * to_length..][..to_length])?;
    }
    Ok(out)
}

/// Width and height from arguments.
fn size(op: &str, width: i64, height: i64) -> Result<(usize, usize)> {
    match (usize::try_from(width), usize::try_from(height)) {
        (Ok(w), Ok(h)) if w > 0 && h > 0 => Ok((w, h)),
        _ => Err(fault!(Value, "w and h must be at least 1, got {width} and {height}").at_stage(op)),
    }
}
