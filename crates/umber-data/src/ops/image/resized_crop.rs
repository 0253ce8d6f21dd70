//! A crop that follows a resize: only the pixels that it keeps are resampled.

use std::fmt::Debug;

use crate::error::Result;
use crate::image::{Extent, Window, resize_crop};
use crate::ops::image::{Frames, each_frame};
use crate::random::Draw;
use crate::value::Value;

/// An operation that resizes images.
pub trait Resizing: Debug {
    /// Width and height of the result.
    ///
    /// # Errors
    /// If the image has no pixels.
    fn size_of(&self, extent: Extent) -> Result<(usize, usize)>;
}

/// An operation that keeps a window of images.
pub trait Cropping: Debug {
    /// The window of an image of this extent; `None` for all of it.
    ///
    /// # Errors
    /// If the image has no pixels.
    fn window(&self, extent: Extent, draw: &Draw) -> Result<Option<Window>>;
}

/// The image resized, then cropped.
///
/// # Errors
/// As for the two operations.
pub(crate) fn resized_crop(
    value: &Value,
    resizing: &dyn Resizing,
    cropping: &dyn Cropping,
    draw: &Draw,
) -> Result<Value> {
    let from = Frames::of_bytes(value)?.extent;
    let (width, height) = resizing.size_of(from)?;
    let whole = Window { x: 0, y: 0, width, height };
    let window = cropping.window(from.with_size(width, height), draw)?.unwrap_or(whole);
    let to = from.with_size(window.width, window.height);
    each_frame(value, to, |source, target| resize_crop(source, from, width, height, window, target))
}
