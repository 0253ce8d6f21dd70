//! Windows of images, which share their memory.

use crate::error::Result;
use crate::fault;
use crate::image::{Extent, Window, center_window, random_area_window, random_window};
use crate::ops::image::{Cropping, Frames, size};
use crate::ops::views::part;
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// The value with what a crop keeps.
fn changed(crop: &dyn Cropping, value: Value, draw: &Draw) -> Result<Value> {
    match crop.window(Frames::of(&value)?.extent, draw)? {
        Some(window) => cropped(&value, window),
        None => Ok(value),
    }
}

/// The window of all frames of a value.
fn cropped(value: &Value, window: Window) -> Result<Value> {
    let first = value.ndim() - 3;
    let mut starts = vec![0; value.ndim()];
    (starts[first], starts[first + 1]) = (window.y, window.x);
    let shape = value.shape().with(first, window.height).with(first + 1, window.width);
    part(value, &starts, &shape)
}

/// The middle of an image; of two middles the upper left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageCenterCrop {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// Width of the result.
    pub width: usize,
    /// Height of the result.
    pub height: usize,
}

impl ImageCenterCrop {
    /// The `width` by `height` pixels in the middle.
    ///
    /// # Errors
    /// Unless both are positive.
    pub fn new(keys: impl Into<Keys>, width: i64, height: i64) -> Result<ImageCenterCrop> {
        let (width, height) = size(Self::NAME, width, height)?;
        Ok(ImageCenterCrop { keys: keys.into(), width, height })
    }
}

impl Change for ImageCenterCrop {
    const NAME: &'static str = "image_center_crop";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, draw: &Draw) -> Result<Value> {
        changed(self, value, draw)
    }

    fn as_cropping(&self) -> Option<&dyn Cropping> {
        Some(self)
    }
}

impl Cropping for ImageCenterCrop {
    fn window(&self, extent: Extent, _draw: &Draw) -> Result<Option<Window>> {
        Ok(Some(center_window(extent, self.width, self.height)?))
    }
}

/// A window of an image at a random place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRandomCrop {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// Width of the result.
    pub width: usize,
    /// Height of the result.
    pub height: usize,
}

impl ImageRandomCrop {
    /// A window of `width` by `height` pixels.
    ///
    /// # Errors
    /// Unless both are positive.
    pub fn new(keys: impl Into<Keys>, width: i64, height: i64) -> Result<ImageRandomCrop> {
        let (width, height) = size(Self::NAME, width, height)?;
        Ok(ImageRandomCrop { keys: keys.into(), width, height })
    }
}

impl Change for ImageRandomCrop {
    const NAME: &'static str = "image_random_crop";
    const IS_RANDOM: bool = true;

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, draw: &Draw) -> Result<Value> {
        changed(self, value, draw)
    }

    fn as_cropping(&self) -> Option<&dyn Cropping> {
        Some(self)
    }
}

impl Cropping for ImageRandomCrop {
    fn window(&self, extent: Extent, draw: &Draw) -> Result<Option<Window>> {
        let mut numbers = draw.numbers();
        Ok(Some(random_window(extent, self.width, self.height, || numbers.uniform())?))
    }
}

/// A window of an image of random area, aspect ratio and place. The image stays as it is where no such window is found.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageRandomAreaCrop {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// The least and the greatest share of the image's area.
    pub area_range: (f64, f64),
    /// The least and the greatest aspect ratio, width by height, divided by that of the image.
    pub aspect_range: (f64, f64),
    /// How often a window is tried.
    pub trials: usize,
}

impl ImageRandomAreaCrop {
    /// Maximum number of trials, so that images without such a window take no time worth mentioning.
    const MAX_TRIALS: i64 = 1 << 16;

    /// A window within these ranges.
    ///
    /// # Errors
    /// If a range is empty or not positive, no window is within both, or there are no trials or more than 65,536.
    pub fn new(
        keys: impl Into<Keys>,
        area_range: (f64, f64),
        aspect_range: (f64, f64),
        trials: i64,
    ) -> Result<ImageRandomAreaCrop> {
        if !(1..=Self::MAX_TRIALS).contains(&trials) {
            let max = Self::MAX_TRIALS;
            return Err(fault!(Value, "num_trial must be from 1 to {max}, got {trials}").at_stage(Self::NAME));
        }
        let crop =
            ImageRandomAreaCrop { keys: keys.into(), area_range, aspect_range, trials: trials as usize };
        crop.window_of(1, 1, || 0.0).map_err(|error| error.at_stage(Self::NAME))?;
        Ok(crop)
    }

    fn window_of(
        &self,
        width: usize,
        height: usize,
        uniforms: impl FnMut() -> f64,
    ) -> Result<Option<Window>> {
        Ok(random_area_window(width, height, self.area_range, self.aspect_range, uniforms, self.trials)?)
    }
}

impl Change for ImageRandomAreaCrop {
    const NAME: &'static str = "image_random_area_crop";
    const IS_RANDOM: bool = true;

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, draw: &Draw) -> Result<Value> {
        changed(self, value, draw)
    }

    fn as_cropping(&self) -> Option<&dyn Cropping> {
        Some(self)
    }
}

impl Cropping for ImageRandomAreaCrop {
    fn window(&self, extent: Extent, draw: &Draw) -> Result<Option<Window>> {
        let mut numbers = draw.numbers();
        self.window_of(extent.width, extent.height, || numbers.uniform())
    }
}
