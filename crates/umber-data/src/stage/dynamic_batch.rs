//! Batches of about the same number of elements, so that little of them is padding.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::error::Result;
use crate::fault;
use crate::random::{Key, Position, permutation};
use crate::run::Context;
use crate::sample::{Name, Sample};
use crate::stage::batch::{BatchOptions, BatchWork};
use crate::stage::expand::{Expander, Tickets};
use crate::stage::merge::{Axes, Padding};
use crate::state::State;
use crate::ticket::Ticket;
use umber_core::Shape;

/// How samples are grouped by size.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicBatchOptions {
    /// The key whose values are measured.
    pub key: Name,
    /// A batch has at least as many elements, padding counted. Samples without others to reach it are left out.
    pub min_size: Option<u64>,
    /// A batch has at most as many elements, padding counted, unless one sample has more. Without it, everything is one batch.
    pub max_size: Option<u64>,
    /// Whether samples larger than `max_size` are left out, instead of being batches of their own.
    pub drops_outliers: bool,
    /// What shorter values are filled up with.
    pub padding: Padding,
    /// The axes along which values are joined.
    pub axes: Axes,
}

/// Groups of samples, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// A batch each.
    pub batches: Vec<Vec<u64>>,
    /// Too few for a batch of `min_size`.
    pub left: Vec<u64>,
}

/// The number of elements of a batch of values, which are stacked or joined along an axis.
#[derive(Clone, Default)]
struct Extent {
    lengths: Vec<usize>,
    joined: usize,
    count: usize,
}

impl Extent {
    fn with(&self, shape: &Shape, axis: Option<i64>) -> Extent {
        let mut extent = self.clone();
        extent.lengths.resize(extent.lengths.len().max(shape.ndim()), 0);
        for (length, &own) in extent.lengths.iter_mut().zip(shape.iter()) {
            *length = (*length).max(own);
        }
        if let Some(axis) = axis_of(axis, shape) {
            extent.joined += shape[axis];
        }
        extent.count += 1;
        extent
    }

    fn size(&self, axis: Option<i64>) -> u64 {
        let mut lengths = self.lengths.clone();
        let shape = Shape::new(lengths.iter().copied());
        let factor = match axis_of(axis, &shape) {
            Some(axis) => {
                lengths[axis] = 1;
                self.joined
            }
            None => self.count,
        };
        lengths.iter().fold(factor as u64, |size, &length| size.saturating_mul(length as u64))
    }
}

fn axis_of(axis: Option<i64>, shape: &Shape) -> Option<usize> {
    axis.and_then(|axis| umber_types::shape::normalize_axis("dynamic_batch", axis, shape.ndim()).ok())
}

impl DynamicBatchOptions {
    /// Group samples by the shapes of their values: sorted by size, then as many to a batch as fit.
    pub fn group(&self, shapes: &[Shape]) -> Groups {
        let axis = self.axes.0.iter().find(|(name, _)| *name == self.key).map(|(_, axis)| *axis);
        let mut order: Vec<u64> = (0..shapes.len() as u64).collect();
        if self.max_size.is_some() || self.min_size.is_some() {
            order.sort_by_key(|&index| shapes[index as usize].size());
        }
        let fits = |extent: &Extent| self.max_size.is_none_or(|max| extent.size(axis) <= max);
        let is_enough = |extent: &Extent| self.min_size.is_none_or(|min| extent.size(axis) >= min);
        let mut groups = Groups::default();
        let (mut open, mut extent) = (Vec::new(), Extent::default());
        for index in order {
            let shape = &shapes[index as usize];
            let alone = Extent::default().with(shape, axis);
            let mut next = extent.with(shape, axis);
            if !open.is_empty() && !fits(&next) {
                let full = std::mem::take(&mut open);
                if is_enough(&extent) {
                    groups.batches.push(full);
                } else {
                    groups.left.extend(full);
                }
                next = alone.clone();
            }
            if !fits(&alone) {
                if !self.drops_outliers {
                    groups.batches.push(vec![index]);
                }
                extent = Extent::default();
                continue;
            }
            open.push(index);
            extent = next;
            // With a least size, a batch is complete when it is reached.
            if self.min_size.is_some() && is_enough(&extent) {
                groups.batches.push(std::mem::take(&mut open));
                extent = Extent::default();
            }
        }
        if !open.is_empty() {
            if is_enough(&extent) { groups.batches.push(open) } else { groups.left.extend(open) }
        }
        groups
    }

    /// The shapes of the key's values.
    pub(crate) fn shapes<'a>(&self, samples: impl IntoIterator<Item = &'a Sample>) -> Result<Vec<Shape>> {
        samples.into_iter().map(|sample| Ok(sample.require(self.key.as_str())?.shape().clone())).collect()
    }

    fn arguments(&self) -> String {
        format!(
            "{}, {:?}, {:?}, {}, {:?}, {:?}",
            self.key, self.min_size, self.max_size, self.drops_outliers, self.padding.0, self.axes.0
        )
    }

    pub(crate) fn batch(&self) -> BatchOptions {
        BatchOptions { sizes: vec![1], padding: self.padding.clone(), axes: self.axes.clone() }
    }
}

/// Gathers samples and batches them by size.
pub struct DynamicBatch {
    buffer_size: usize,
    options: DynamicBatchOptions,
    shuffle: Option<Key>,
    /// Samples kept for the next group: at most so many.
    most_kept: usize,
    kept: Vec<Sample>,
    groups: u64,
}

impl DynamicBatch {
    /// Of `buffer_size` samples at a time; with a key, the batches of a group are shuffled. Samples that are too few for a batch of
    /// `min_size` are kept for the next group, at most `most_kept`; those of the last group are left out.
    ///
    /// # Errors
    /// If the buffer size is zero, or the least size exceeds the largest.
    pub fn new(
        buffer_size: usize,
        options: DynamicBatchOptions,
        shuffle: Option<Key>,
        most_kept: usize,
    ) -> Result<DynamicBatch> {
        if buffer_size == 0 {
            return Err(fault!(Value, "buffer_size is at least 1, got 0").at_stage("dynamic_batch"));
        }
        if let (Some(min), Some(max)) = (options.min_size, options.max_size)
            && min > max
        {
            return Err(
                fault!(Value, "min_data_size {min} exceeds max_data_size {max}").at_stage("dynamic_batch")
            );
        }
        Ok(DynamicBatch { buffer_size, options, shuffle, most_kept, kept: Vec::new(), groups: 0 })
    }

    fn tickets(&mut self, samples: &[Sample], batches: Vec<Vec<u64>>, epoch: u64) -> Tickets {
        let order = match self.shuffle {
            Some(key) => permutation(key.fold_in(epoch).fold_in(self.groups), batches.len()),
            None => (0..batches.len() as u64).collect(),
        };
        self.groups += 1;
        let buffer = Buffer::from_samples(samples.to_vec());
        let options = Arc::new(self.options.batch());
        let position = Position { epoch, index: 0 };
        Box::new(order.into_iter().map(move |batch| {
            let tickets = batches[batch as usize].iter().map(|&index| buffer.ticket(index, epoch)).collect();
            Ticket::work(BatchWork { tickets, options: Arc::clone(&options), position }, position)
        }))
    }
}

impl Expander for DynamicBatch {
    fn name(&self) -> &'static str {
        "dynamic_batch"
    }

    fn arguments(&self) -> String {
        format!("{}, {}, {}", self.buffer_size, self.options.arguments(), self.shuffle.is_some())
    }

    fn group(&self) -> usize {
        self.buffer_size
    }

    fn expand(&mut self, group: Vec<Sample>, epoch: u64, _context: &Context<'_>) -> Result<Tickets> {
        let mut samples = group;
        samples.append(&mut self.kept);
        let mut groups = self.options.group(&self.options.shapes(&samples)?);
        groups.left.truncate(self.most_kept);
        self.kept = groups.left.iter().map(|&index| samples[index as usize].clone()).collect();
        Ok(self.tickets(&samples, groups.batches, epoch))
    }

    fn is_clean(&self) -> bool {
        self.kept.is_empty()
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.groups = 0;
    }

    fn save(&self) -> State {
        let key = self.shuffle.map_or(State::Empty, |key| key.to_number().into());
        State::from([key, self.groups.into()])
    }

    fn load(&mut self, state: &State) -> Result<()> {
        let [key, groups] = state.list()?;
        if self.shuffle.is_some() {
            self.shuffle = Some(Key::from_number(key.number()?));
        }
        self.groups = groups.number()?;
        Ok(())
    }
}
