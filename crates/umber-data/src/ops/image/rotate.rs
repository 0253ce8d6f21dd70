//! Rotation by any angle.

use umber_types::match_dtype;

use crate::error::Result;
use crate::fault;
use crate::image::{rotate, rotated_size};
use crate::ops::image::{Frames, shape_with};
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// Rotates an image clockwise around its centre; pixels from outside are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageRotate {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// The angle in degrees.
    pub angle: f64,
    /// Whether the result has the size of the image, instead of the frame around the rotated one.
    pub crop: bool,
}

impl ImageRotate {
    /// Rotate by `angle` degrees.
    ///
    /// # Errors
    /// If the angle is not finite.
    pub fn new(keys: impl Into<Keys>, angle: f64, crop: bool) -> Result<ImageRotate> {
        if !angle.is_finite() {
            return Err(fault!(Value, "angle must be finite, got {angle}").at_stage(Self::NAME));
        }
        Ok(ImageRotate { keys: keys.into(), angle, crop })
    }
}

impl Change for ImageRotate {
    const NAME: &'static str = "image_rotate";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let Frames { count, extent } = Frames::of(&value)?;
        let (width, height) = rotated_size(extent, self.angle, self.crop)?;
        let mut out = Value::allocate(&shape_with(&value, extent.with_size(width, height))?, value.dtype())?;
        let value = value.into_contiguous()?;
        let mut view = out.make_mut()?;
        match_dtype!(value.dtype(), T => {
            let source = value.view().as_slice::<T>().unwrap_or_default();
            let target = view.as_mut_slice::<T>().unwrap_or_default();
            let (from, to) = (source.len() / count.max(1), target.len() / count.max(1));
            for frame in 0..count {
                let (source, target) = (&source[frame * from..][..from], &mut target[frame * to..][..to]);
                rotate(source, extent, self.angle, self.crop, target)?;
            }
        });
        Ok(out)
    }
}
