//! Operations on keys and shapes.

use crate::error::Result;
use crate::fault;
use crate::operation::Operation;
use crate::ops::{Change, Keys, axis_of};
use crate::random::Draw;
use crate::sample::{Name, Sample};
use crate::value::Value;

/// Leaves out samples of which an axis is shorter or longer than asked for, or that lack the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterByShape {
    /// The key of the value.
    pub key: Name,
    /// The axis; negative ones count from the end.
    pub axis: i64,
    /// The least length that is kept; negative for none.
    pub low: i64,
    /// The greatest length that is kept; negative for none.
    pub high: i64,
}

impl FilterByShape {
    /// Keep samples whose `axis` has a length from `low` to `high`.
    pub fn new(key: &str, axis: i64, low: i64, high: i64) -> FilterByShape {
        FilterByShape { key: Name::new(key), axis, low, high }
    }
}

impl Operation for FilterByShape {
    fn name(&self) -> &'static str {
        "filter_by_shape"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        let value = sample.require(self.key.as_str())?;
        let is_kept = axis_of(value, self.axis).is_ok_and(|axis| {
            let length = value.shape()[axis] as i64;
            length >= self.low && (self.high < 0 || length <= self.high)
        });
        Ok(is_kept.then_some(sample))
    }

    fn may_drop(&self) -> bool {
        true
    }
}

/// What [`FilterKey`] keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The value of the key.
    Key,
    /// All other values.
    Others,
}

/// Keeps one value of a sample, or all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterKey {
    /// The key.
    pub key: Name,
    /// What is kept.
    pub selection: Selection,
}

impl FilterKey {
    /// Keep the value of `key`, or all others.
    pub fn new(key: &str, selection: Selection) -> FilterKey {
        FilterKey { key: Name::new(key), selection }
    }
}

impl Operation for FilterKey {
    fn name(&self) -> &'static str {
        "filter_key"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        sample.require(self.key.as_str())?;
        sample.retain(|key| (key == self.key.as_str()) == (self.selection == Selection::Key));
        if sample.is_empty() {
            return Err(fault!(Value, "nothing is left of the sample, which has no other key")
                .at_key(self.key.as_str()));
        }
        Ok(Some(sample))
    }
}

/// Gives a value another key. A value that had it is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameKey {
    /// The key.
    pub key: Name,
    /// The new key.
    pub output: Name,
}

impl RenameKey {
    /// Rename `key` to `output`.
    pub fn new(key: &str, output: &str) -> RenameKey {
        RenameKey { key: Name::new(key), output: Name::new(output) }
    }
}

impl Operation for RenameKey {
    fn name(&self) -> &'static str {
        "rename_key"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        sample.rename(&self.key, &self.output)?;
        Ok(Some(sample))
    }
}

/// The shape of a value, or the length of one of its axes, as int64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeOf {
    /// The value, and where its shape goes.
    pub keys: Keys,
    /// The axis; `None` for the shape.
    pub axis: Option<i64>,
}

impl ShapeOf {
    /// The shape, or the length of `axis`.
    pub fn new(keys: impl Into<Keys>, axis: Option<i64>) -> ShapeOf {
        ShapeOf { keys: keys.into(), axis }
    }
}

impl Change for ShapeOf {
    const NAME: &'static str = "shape";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        match self.axis {
            Some(axis) => Value::scalar(value.shape()[axis_of(&value, axis)?] as i64),
            None => {
                let lengths: Vec<i64> = value.shape().iter().map(|&length| length as i64).collect();
                Value::from_slice(&lengths, lengths.len())
            }
        }
    }
}
