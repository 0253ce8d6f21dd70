//! Longer axes.

use umber_core::graph::Storage;
use umber_types::Scalar;

use crate::error::Result;
use crate::fault;
use crate::ops::{Change, Keys, addressable, axis_of};
use crate::random::Draw;
use crate::value::Value;

/// A number of elements from a signed argument.
fn count(op: &str, argument: &str, number: i64, least: i64) -> Result<usize> {
    match usize::try_from(number) {
        Ok(count) if number >= least => Ok(count),
        _ => Err(fault!(Value, "{argument} must be at least {least}, got {number}").at_stage(op)),
    }
}

/// The value with `left` and `right` elements `fill` more along `axis`.
fn padded(value: Value, axis: usize, left: usize, right: usize, fill: Scalar) -> Result<Value> {
    if left == 0 && right == 0 {
        return Ok(value);
    }
    let length = value.shape()[axis];
    let total = length.saturating_add(left).saturating_add(right);
    let mut out = Value::allocate(&addressable(value.shape().with(axis, total))?, value.dtype())?;
    let mut start = vec![0; value.ndim()];
    for (first, length) in [(0, left), (left + length, right)] {
        start[axis] = first;
        out.fill_at(&start, &value.shape().with(axis, length), fill)?;
    }
    start[axis] = left;
    out.write_at(&start, value.shape(), &value)?;
    Ok(out)
}

impl Value {
    /// Set the elements of the part of shape `lengths` that begins at `start` to `fill`, as a cast of it.
    fn fill_at(&mut self, start: &[usize], lengths: &umber_core::Shape, fill: Scalar) -> Result<()> {
        if lengths.size() == 0 {
            return Ok(());
        }
        let source = Value::new(Storage::splat(fill, lengths, self.dtype())?, self.dtype())?;
        let part = self.layout().slice(start, &vec![1; start.len()], lengths);
        self.with_part_mut(&part, |out| umber_kernels::tape::copy(source.view(), out))
    }
}

/// Adds elements at both ends of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Pad {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The axis; negative ones count from the end.
    pub axis: i64,
    /// The number of elements before the first.
    pub left: usize,
    /// The number of elements behind the last.
    pub right: usize,
    /// The new elements, cast to the value's dtype.
    pub fill: Scalar,
}

impl Pad {
    /// Add `left` and `right` elements `fill`.
    ///
    /// # Errors
    /// If a number of elements is negative.
    pub fn new(
        keys: impl Into<Keys>,
        axis: i64,
        left: i64,
        right: i64,
        fill: impl Into<Scalar>,
    ) -> Result<Pad> {
        let (left, right) = (count(Self::NAME, "lpad", left, 0)?, count(Self::NAME, "rpad", right, 0)?);
        Ok(Pad { keys: keys.into(), axis, left, right, fill: fill.into() })
    }
}

impl Change for Pad {
    const NAME: &'static str = "pad";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let axis = axis_of(&value, self.axis)?;
        padded(value, axis, self.left, self.right, self.fill)
    }
}

/// Adds elements at the end of an axis that is shorter than a size.
#[derive(Clone, Debug, PartialEq)]
pub struct PadToSize {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The axis; negative ones count from the end.
    pub axis: i64,
    /// The least length of the result; longer axes stay as they are, as do all if it is negative.
    pub size: i64,
    /// The new elements, cast to the value's dtype.
    pub fill: Scalar,
}

impl PadToSize {
    /// Add elements `fill` up to a length of `size`.
    pub fn new(keys: impl Into<Keys>, axis: i64, size: i64, fill: impl Into<Scalar>) -> PadToSize {
        PadToSize { keys: keys.into(), axis, size, fill: fill.into() }
    }
}

impl Change for PadToSize {
    const NAME: &'static str = "pad_to_size";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let axis = axis_of(&value, self.axis)?;
        let missing = usize::try_from(self.size).unwrap_or(0).saturating_sub(value.shape()[axis]);
        padded(value, axis, 0, missing, self.fill)
    }
}

/// Adds elements at the end of an axis up to a multiple of a length.
#[derive(Clone, Debug, PartialEq)]
pub struct PadToMultiple {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The axis; negative ones count from the end.
    pub axis: i64,
    /// The result's length is a multiple of this.
    pub multiple: usize,
    /// The new elements, cast to the value's dtype.
    pub fill: Scalar,
}

impl PadToMultiple {
    /// Add elements `fill` up to a multiple of `multiple`.
    ///
    /// # Errors
    /// Unless `multiple` is positive.
    pub fn new(
        keys: impl Into<Keys>,
        axis: i64,
        multiple: i64,
        fill: impl Into<Scalar>,
    ) -> Result<PadToMultiple> {
        let multiple = count(Self::NAME, "pad_multiple", multiple, 1)?;
        Ok(PadToMultiple { keys: keys.into(), axis, multiple, fill: fill.into() })
    }
}

impl Change for PadToMultiple {
    const NAME: &'static str = "pad_to_multiple";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let axis = axis_of(&value, self.axis)?;
        let excess = value.shape()[axis] % self.multiple;
        let missing = if excess == 0 { 0 } else { self.multiple - excess };
        padded(value, axis, 0, missing, self.fill)
    }
}
