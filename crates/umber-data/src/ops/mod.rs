//! The operations on samples that come with the crate, a struct each.
//!
//! Most change one value: they implement [`Change`] and are told by [`Keys`] which value, and where the result goes. Arguments are
//! checked when an operation is made, samples when it is applied.

mod bytes;
mod cast;
mod files;
pub mod image;
mod keys;
mod pad;
mod remove;
mod sound;
mod tar;
mod tokens;
mod views;

pub use bytes::{Replace, ReplaceBytes};
pub use cast::{Cast, Scale};
pub use files::{FileInput, LoadFile, LoadNumpy};
pub(crate) use files::{io_fault, path_of, regular_file};
pub use image::*;
pub use keys::{FilterByShape, FilterKey, RenameKey, Selection, ShapeOf};
pub use pad::{Pad, PadToMultiple, PadToSize};
pub use remove::RemoveValue;
pub use sound::{AudioContent, AudioInfo, LoadAudio, ResampleAudio};
pub use tar::{ReadFromTar, TarInput};
pub use tokens::{Tokenize, TokenizeBpe, TokenizeMode};
pub use views::{RandomSlice, Shard, Slice, Squeeze};

use std::fmt;

use umber_core::Shape;

use crate::error::Result;
use crate::fault;
use crate::operation::Operation;
use crate::random::Draw;
use crate::sample::{Name, Sample};
use crate::value::Value;

/// The value that an operation changes, and where the result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The key of the value.
    pub key: Name,
    /// The key of the result; `None` for the same.
    pub output: Option<Name>,
}

impl Keys {
    /// These keys; an empty `output` is the same as `key`.
    pub fn new(key: &str, output: &str) -> Keys {
        let is_same = output.is_empty() || output == key;
        Keys { key: Name::new(key), output: (!is_same).then(|| Name::new(output)) }
    }
}

impl From<&str> for Keys {
    fn from(key: &str) -> Keys {
        Keys::new(key, "")
    }
}

/// An operation that changes one value of a sample and depends on no other.
pub trait Change: fmt::Debug + Send + Sync + 'static {
    /// Its public name.
    const NAME: &'static str;
    /// Whether it draws random numbers.
    const IS_RANDOM: bool = false;

    /// The value, and where the result goes.
    fn keys(&self) -> &Keys;

    /// The result. `value` may be written to: [`Value::make_mut`] copies what others see.
    ///
    /// # Errors
    /// If the value is not what the operation expects.
    fn change(&self, value: Value, draw: &Draw) -> Result<Value>;

    /// Itself, if it resizes images.
    fn as_resizing(&self) -> Option<&dyn Resizing> {
        None
    }

    /// Itself, if it keeps a window of images.
    fn as_cropping(&self) -> Option<&dyn Cropping> {
        None
    }
}

impl<T: Change> Operation for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, draw: &Draw) -> Result<Option<Sample>> {
        let keys = self.keys();
        sample.update(&keys.key, keys.output.as_ref(), |value| self.change(value, draw))?;
        Ok(Some(sample))
    }

    fn is_random(&self) -> bool {
        T::IS_RANDOM
    }

    fn as_resizing(&self) -> Option<(&Keys, &dyn Resizing)> {
        Some((self.keys(), T::as_resizing(self)?))
    }

    fn as_cropping(&self) -> Option<(&Keys, &dyn Cropping)> {
        Some((self.keys(), T::as_cropping(self)?))
    }
}

/// An axis of a value, counted from the end if it is negative.
fn axis_of(value: &Value, axis: i64) -> Result<usize> {
    let ndim = value.ndim() as i64;
    let shifted = if axis < 0 { axis.saturating_add(ndim) } else { axis };
    if (0..ndim).contains(&shifted) {
        Ok(shifted as usize)
    } else {
        Err(fault!(Axis, "axis {axis} is out of bounds for shape {}", value.shape()))
    }
}

/// The shape, if memory can hold it.
fn addressable(shape: Shape) -> Result<Shape> {
    if shape.is_addressable() {
        Ok(shape)
    } else {
        Err(fault!(Memory, "a value of shape {shape} is too large to address"))
    }
}
