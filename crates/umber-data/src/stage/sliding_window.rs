//! Windows that slide over an axis of a value.

use umber_types::shape::normalize_axis;

use crate::error::Result;
use crate::fault;
use crate::random::Position;
use crate::run::Context;
use crate::sample::{Name, Sample};
use crate::stage::expand::{Expander, Tickets};
use crate::ticket::Ticket;
use crate::value::Value;

/// Makes a sample of every window of a value. The windows share its memory; other values are those of the whole sample.
///
/// The last windows of an axis are shorter, as mlx-data has them: a window begins at every multiple of the stride until one
/// reaches the end.
pub struct SlidingWindow {
    key: Name,
    size: usize,
    stride: usize,
    axis: i64,
    index_key: Option<Name>,
}

impl SlidingWindow {
    /// Windows of `size` elements every `stride` elements along `axis`; their numbers go to `index_key`.
    ///
    /// # Errors
    /// If size or stride are zero.
    pub fn new(
        key: Name,
        size: usize,
        stride: usize,
        axis: i64,
        index_key: Option<Name>,
    ) -> Result<SlidingWindow> {
        if size == 0 || stride == 0 {
            return Err(fault!(Value, "size and stride are at least 1, got {size} and {stride}")
                .at_stage("sliding_window"));
        }
        Ok(SlidingWindow { key, size, stride, axis, index_key })
    }
}

impl Expander for SlidingWindow {
    fn name(&self) -> &'static str {
        "sliding_window"
    }

    fn arguments(&self) -> String {
        format!("{}, {}, {}, {}, {:?}", self.key, self.size, self.stride, self.axis, self.index_key)
    }

    fn group(&self) -> usize {
        1
    }

    fn expand(&mut self, group: Vec<Sample>, epoch: u64, _context: &Context<'_>) -> Result<Tickets> {
        let Some(sample) = group.into_iter().next() else { return Ok(Box::new(std::iter::empty())) };
        let value = sample.require(self.key.as_str())?.clone();
        let axis = normalize_axis("sliding_window", self.axis, value.ndim())
            .map_err(|error| crate::DataError::from(error).at_key(self.key.as_str()))?;
        let length = value.shape()[axis];
        let (size, stride) = (self.size, self.stride);
        let count = if length <= size { 1 } else { (length - size).div_ceil(stride) + 1 };
        let (key, index_key) = (self.key.clone(), self.index_key.clone());
        let window = move |number: usize| -> Result<Sample> {
            let mut starts = vec![0; value.ndim()];
            starts[axis] = (number * stride).min(length);
            let lengths = value.shape().with(axis, size.min(length - starts[axis]));
            let layout = value.layout().slice(&starts, &vec![1; value.ndim()], &lengths);
            let mut window = sample.clone();
            window.set(key.clone(), value.with_layout(layout)?);
            if let Some(index_key) = &index_key {
                window.set(index_key.clone(), Value::scalar(number as i64)?);
            }
            Ok(window)
        };
        let position = Position { epoch, index: 0 };
        Ok(Box::new((0..count).map(move |number| match window(number) {
            Ok(window) => Ticket::sample(window, position),
            Err(error) => Ticket::failed(error, position),
        })))
    }
}
