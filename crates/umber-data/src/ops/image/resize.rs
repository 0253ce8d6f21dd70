//! Other sizes.

use crate::error::Result;
use crate::fault;
use crate::image::{Extent, resize, smallest_side_size};
use crate::ops::image::{Frames, Resizing, each_frame, size};
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// The image with a number of pixels; one that has it stays as it is.
fn resized(value: Value, frames: Frames, width: usize, height: usize) -> Result<Value> {
    let from = frames.extent;
    let to = from.with_size(width, height);
    if from == to {
        return Ok(value);
    }
    each_frame(&value, to, |source, target| resize(source, from, width, height, target))
}

/// Resizes an image with a triangle filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageResize {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// Width of the result.
    pub width: usize,
    /// Height of the result.
    pub height: usize,
}

impl ImageResize {
    /// Resize to `width` by `height` pixels.
    ///
    /// # Errors
    /// Unless both are positive.
    pub fn new(keys: impl Into<Keys>, width: i64, height: i64) -> Result<ImageResize> {
        let (width, height) = size(Self::NAME, width, height)?;
        Ok(ImageResize { keys: keys.into(), width, height })
    }
}

impl Change for ImageResize {
    const NAME: &'static str = "image_resize";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let frames = Frames::of_bytes(&value)?;
        resized(value, frames, self.width, self.height)
    }

    fn as_resizing(&self) -> Option<&dyn Resizing> {
        Some(self)
    }
}

impl Resizing for ImageResize {
    fn size_of(&self, _extent: Extent) -> Result<(usize, usize)> {
        Ok((self.width, self.height))
    }
}

/// Resizes an image so that its smaller side has a length, with a triangle filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageResizeSmallestSide {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// Length of the smaller side of the result.
    pub size: usize,
}

impl ImageResizeSmallestSide {
    /// Resize so that the smaller side has the length `size`; the other is rounded.
    ///
    /// # Errors
    /// Unless `size` is positive.
    pub fn new(keys: impl Into<Keys>, size: i64) -> Result<ImageResizeSmallestSide> {
        match usize::try_from(size) {
            Ok(size) if size > 0 => Ok(ImageResizeSmallestSide { keys: keys.into(), size }),
            _ => Err(fault!(Value, "size must be at least 1, got {size}").at_stage(Self::NAME)),
        }
    }
}

impl Change for ImageResizeSmallestSide {
    const NAME: &'static str = "image_resize_smallest_side";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let frames = Frames::of_bytes(&value)?;
        let (width, height) = self.size_of(frames.extent)?;
        resized(value, frames, width, height)
    }

    fn as_resizing(&self) -> Option<&dyn Resizing> {
        Some(self)
    }
}

impl Resizing for ImageResizeSmallestSide {
    fn size_of(&self, extent: Extent) -> Result<(usize, usize)> {
        Ok(smallest_side_size(extent.width, extent.height, self.size)?)
    }
}
