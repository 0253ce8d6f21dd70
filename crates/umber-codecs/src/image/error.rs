//! Why an operation on an image was refused.

use std::fmt;

use super::{Extent, Window};

/// Why an operation on an image was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImageError {
    /// Memory of another length than its image.
    Length {
        /// `"source"` or `"target"`.
        what: &'static str,
        /// The image.
        extent: Extent,
        /// The length of the memory.
        length: usize,
    },
    /// A size of zero, or one that cannot be addressed.
    Size {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// A window that is not within its image.
    Window {
        /// The window.
        window: Window,
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
    /// A number of channels that the operation does not accept.
    Channels {
        /// What it accepts.
        expected: &'static str,
        /// What it got.
        got: usize,
    },
    /// Another argument.
    Argument(String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { what, extent: Extent { width, height, channels }, length } => write!(
                formatter,
                "the {what} has {length} values, which are no image of shape ({height}, {width}, {channels})"
            ),
            Self::Size { width, height } => {
                write!(formatter, "an image cannot have {width} by {height} pixels (width by height)")
            }
            Self::Window { window: Window { x, y, width: w, height: h }, width, height } => write!(
                formatter,
                "a window of {w} by {h} pixels at ({x}, {y}) is not within an image of {width} by {height}"
            ),
            Self::Channels { expected, got } => write!(formatter, "expected {expected} channels, got {got}"),
            Self::Argument(fault) => formatter.write_str(fault),
        }
    }
}

impl std::error::Error for ImageError {}

/// The result of an operation on images.
pub(crate) type Result<T> = std::result::Result<T, ImageError>;
