//! Mirror images.

use umber_types::match_dtype;

use crate::error::Result;
use crate::fault;
use crate::image::flip_horizontally;
use crate::ops::image::Frames;
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// Exchanges left and right with a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageRandomHFlip {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// The probability.
    pub probability: f64,
}

impl ImageRandomHFlip {
    /// Flip with this probability: never if it is 0 or less, always from 1 on.
    ///
    /// # Errors
    /// If it is no number.
    pub fn new(keys: impl Into<Keys>, probability: f64) -> Result<ImageRandomHFlip> {
        if probability.is_nan() {
            return Err(
                fault!(Value, "prob must be a number from 0 to 1, got {probability}").at_stage(Self::NAME)
            );
        }
        Ok(ImageRandomHFlip { keys: keys.into(), probability })
    }
}

impl Change for ImageRandomHFlip {
    const NAME: &'static str = "image_random_h_flip";
    const IS_RANDOM: bool = true;

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, mut value: Value, draw: &Draw) -> Result<Value> {
        let frames = Frames::of(&value)?;
        if draw.numbers().uniform() >= self.probability || value.size() == 0 {
            return Ok(value);
        }
        let length = value.size() / frames.count;
        value = value.into_contiguous()?;
        let dtype = value.dtype();
        let mut view = value.make_mut()?;
        match_dtype!(dtype, T => {
            let pixels = view.as_mut_slice::<T>().unwrap_or_default();
            for frame in pixels.chunks_exact_mut(length) {
                flip_horizontally(frame, frames.extent)?;
            }
        });
        Ok(value)
    }
}
