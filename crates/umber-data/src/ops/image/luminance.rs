//! Colour to one channel.

use crate::error::Result;
use crate::image::{Extent, Luminance, reduce_channels};
use crate::ops::image::{Frames, each_frame};
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// The luminance of an image with three channels, as one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageChannelReduction {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// The weights of the channels.
    pub preset: Luminance,
}

impl ImageChannelReduction {
    /// The luminance of a preset: `default`, `rec601`, `rec709`, `rec2020` or `green`.
    ///
    /// # Errors
    /// If there is no preset of this name.
    pub fn new(keys: impl Into<Keys>, preset: &str) -> Result<ImageChannelReduction> {
        let preset =
            Luminance::of_name(preset).map_err(|e| crate::DataError::from(e).at_stage(Self::NAME))?;
        Ok(ImageChannelReduction { keys: keys.into(), preset })
    }
}

impl Change for ImageChannelReduction {
    const NAME: &'static str = "image_channel_reduction";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let from = Frames::of_bytes(&value)?.extent;
        each_frame(&value, Extent { channels: 1, ..from }, |source, target| {
            reduce_channels(source, from, self.preset, target)
        })
    }
}
