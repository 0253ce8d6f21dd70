//! Parts and other shapes of a value, which share its memory.

use umber_core::Shape;
use umber_types::Layout;

use crate::error::Result;
use crate::fault;
use crate::ops::{Change, Keys, axis_of};
use crate::random::Draw;
use crate::value::Value;

/// Splits the first axis into two, the first of which has the length `shards`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The number of parts.
    pub shards: usize,
}

impl Shard {
    /// Split into `shards` parts.
    ///
    /// # Errors
    /// Unless `shards` is positive.
    pub fn new(keys: impl Into<Keys>, shards: i64) -> Result<Shard> {
        match usize::try_from(shards) {
            Ok(shards) if shards > 0 => Ok(Shard { keys: keys.into(), shards }),
            _ => Err(fault!(Value, "num_shards must be at least 1, got {shards}").at_stage(Self::NAME)),
        }
    }
}

impl Change for Shard {
    const NAME: &'static str = "shard";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let shards = self.shards;
        let Some(&length) = value.shape().first() else {
            return Err(fault!(Value, "a value without axes cannot be split into {shards} shards"));
        };
        if !length.is_multiple_of(shards) {
            return Err(fault!(
                Value,
                "{length} rows cannot be split into {shards} equal shards; pad or slice them first"
            ));
        }
        let mut shape = value.shape().with(0, length / shards);
        shape.insert(0, shards);
        value.reshaped(&super::addressable(shape)?)
    }
}

/// Removes axes of length one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Squeeze {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The axes; none for all of length one.
    pub axes: Vec<i64>,
}

impl Squeeze {
    /// Remove `axes`, or all axes of length one if there are none.
    pub fn new(keys: impl Into<Keys>, axes: Vec<i64>) -> Squeeze {
        Squeeze { keys: keys.into(), axes }
    }
}

impl Change for Squeeze {
    const NAME: &'static str = "squeeze";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let mut is_removed: Vec<bool> = value.shape().iter().map(|&length| length == 1).collect();
        if !self.axes.is_empty() {
            let mut is_named = vec![false; value.ndim()];
            for &axis in &self.axes {
                let place = axis_of(&value, axis)?;
                if !is_removed[place] {
                    return Err(fault!(Value, "axis {axis} of shape {} has not the length 1", value.shape()));
                }
                is_named[place] = true;
            }
            is_removed = is_named;
        }
        let layout = value.layout();
        let kept: Vec<usize> = (0..value.ndim()).filter(|&axis| !is_removed[axis]).collect();
        value.with_layout(layout.permute(&kept))
    }
}

/// A part of a value: along `axes`, from `starts` up to `ends`, which are cut at the end of the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The axes.
    pub axes: Vec<i64>,
    /// The first index along each axis.
    pub starts: Vec<i64>,
    /// One past the last index along each axis.
    pub ends: Vec<i64>,
}

impl Slice {
    /// The part from `starts` to `ends` along `axes`.
    ///
    /// # Errors
    /// If the lists differ in length, a start is negative, or an end is before its start.
    pub fn new(keys: impl Into<Keys>, axes: Vec<i64>, starts: Vec<i64>, ends: Vec<i64>) -> Result<Slice> {
        let fault = |text: String| Err(fault!(Value, "{text}").at_stage(Self::NAME));
        if axes.len() != starts.len() || axes.len() != ends.len() {
            return fault(format!(
                "dims, starts and ends have one length, got {}, {} and {}",
                axes.len(),
                starts.len(),
                ends.len()
            ));
        }
        for (&start, &end) in starts.iter().zip(&ends) {
            if start < 0 || end < start {
                return fault(format!("a slice has 0 <= start <= end, got start {start} and end {end}"));
            }
        }
        Ok(Slice { keys: keys.into(), axes, starts, ends })
    }
}

/// The axes as places, each named at most once.
fn distinct_axes(value: &Value, axes: &[i64]) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(axes.len());
    for &axis in axes {
        let place = axis_of(value, axis)?;
        if places.contains(&place) {
            return Err(fault!(Value, "axis {axis} is named twice in {axes:?}"));
        }
        places.push(place);
    }
    Ok(places)
}

/// The part of `value` that begins at `starts` and has the lengths of `shape`.
pub(super) fn part(value: &Value, starts: &[usize], shape: &Shape) -> Result<Value> {
    value.with_layout(value.layout().slice(starts, &vec![1; starts.len()], shape))
}

impl Change for Slice {
    const NAME: &'static str = "slice";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let places = distinct_axes(&value, &self.axes)?;
        let mut starts = vec![0; value.ndim()];
        let mut shape = value.shape().clone();
        for ((&place, &start), &end) in places.iter().zip(&self.starts).zip(&self.ends) {
            let length = shape[place];
            let first = usize::try_from(start).unwrap_or(usize::MAX);
            if first > length {
                return Err(fault!(
                    Index,
                    "start {start} is out of bounds for axis {place} of shape {}",
                    value.shape()
                ));
            }
            starts[place] = first;
            shape.as_mut_slice()[place] = usize::try_from(end).unwrap_or(usize::MAX).min(length) - first;
        }
        part(&value, &starts, &shape)
    }
}

/// A part of a value of a given size at a random place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomSlice {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The axes.
    pub axes: Vec<i64>,
    /// The lengths along each axis; negative ones, and those beyond the axis, take all of it.
    pub sizes: Vec<i64>,
}

impl RandomSlice {
    /// A part with `sizes` along `axes`.
    ///
    /// # Errors
    /// If the lists differ in length.
    pub fn new(keys: impl Into<Keys>, axes: Vec<i64>, sizes: Vec<i64>) -> Result<RandomSlice> {
        if axes.len() != sizes.len() {
            let (axes, sizes) = (axes.len(), sizes.len());
            return Err(
                fault!(Value, "dims and sizes have one length, got {axes} and {sizes}").at_stage(Self::NAME)
            );
        }
        Ok(RandomSlice { keys: keys.into(), axes, sizes })
    }
}

impl Change for RandomSlice {
    const NAME: &'static str = "random_slice";
    const IS_RANDOM: bool = true;

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, draw: &Draw) -> Result<Value> {
        let places = distinct_axes(&value, &self.axes)?;
        let mut numbers = draw.numbers();
        let mut starts = vec![0; value.ndim()];
        let mut shape = value.shape().clone();
        for (&place, &size) in places.iter().zip(&self.sizes) {
            let length = shape[place];
            let size = usize::try_from(size).unwrap_or(usize::MAX).min(length);
            starts[place] = numbers.below((length - size) as u64 + 1) as usize;
            shape.as_mut_slice()[place] = size;
        }
        part(&value, &starts, &shape)
    }
}

impl Value {
    /// The elements in row-major order under another shape of the same size; copied where strides cannot represent it.
    ///
    /// # Errors
    /// If the sizes differ.
    pub fn reshaped(self, shape: &Shape) -> Result<Value> {
        if shape.size() != self.size() {
            return Err(fault!(Value, "{} elements cannot have the shape {shape}", self.size()));
        }
        match self.layout().reshape(shape) {
            Some(layout) => self.with_layout(layout),
            None => self.copied()?.with_layout(Layout::contiguous(shape.clone())),
        }
    }
}
