//! Operations on pixels in memory, rows top to bottom, channels interleaved.
//!
//! Functions write into memory that the caller gives, so that the last operation of a pipeline may write into a batch. A stack of
//! frames is a loop of the caller's. What is drawn at random is an argument.

mod crop;
mod error;
mod flip;
mod luminance;
mod normalize;
mod resize;
mod rotate;

pub use crop::{Window, center_window, crop, random_area_window, random_window};
pub use error::ImageError;
pub use flip::flip_horizontally;
pub use luminance::{Luminance, reduce_channels};
pub use normalize::{Layout, Normalization, Normalized};
pub use resize::{resize, resize_crop, smallest_side_size};
pub use rotate::{rotate, rotated_size};

use error::Result;

/// The extent of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Pixels of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Values of a pixel.
    pub channels: usize,
}

impl Extent {
    /// Number of values, or `None` where there are more than can be addressed.
    pub fn len(&self) -> Option<usize> {
        self.width.checked_mul(self.height)?.checked_mul(self.channels)
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.channels == 0
    }

    /// The same number of channels in another size.
    #[must_use]
    pub fn with_size(self, width: usize, height: usize) -> Self {
        Self { width, height, ..self }
    }

    /// An error unless memory of `length` values holds the image.
    fn check(&self, what: &'static str, length: usize) -> Result<()> {
        if self.len() == Some(length) {
            Ok(())
        } else {
            Err(ImageError::Length { what, extent: *self, length })
        }
    }
}
