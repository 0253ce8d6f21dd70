//! A buffer: samples with random access.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::fault;
use crate::operation::{Function, Map, Operation};
use crate::random::{Key, Position, permutation};
use crate::run::Context;
use crate::sample::Sample;
use crate::source::{Columns, Vector};
use crate::stage::{BatchOptions, BatchWork, BufferSource, Description, DynamicBatchOptions, Report};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::{Rows, Ticket};
use umber_core::Shape;

/// A sequence of samples of known length, made when they are read.
#[derive(Clone)]
pub struct Buffer {
    node: Arc<Node>,
}

enum Node {
    Rows {
        rows: Arc<dyn Rows>,
        len: u64,
        name: String,
    },
    Mapped {
        source: Buffer,
        map: Arc<Map>,
    },
    /// The samples at these indices. With a key, a random order of all.
    Selected {
        source: Buffer,
        indices: Arc<[u64]>,
        key: Option<Key>,
        name: String,
    },
    Batched {
        source: Buffer,
        options: Arc<BatchOptions>,
    },
    /// Batches of the samples with these numbers.
    Grouped {
        source: Buffer,
        groups: Arc<[Vec<u64>]>,
        options: Arc<BatchOptions>,
        arguments: String,
    },
    Joined {
        parts: Vec<Buffer>,
    },
}

impl Buffer {
    fn of(node: Node) -> Buffer {
        Buffer { node: Arc::new(node) }
    }

    /// The rows of a source; the name stands for it in states.
    pub fn from_rows(rows: Arc<dyn Rows>, len: u64, name: impl Into<String>) -> Buffer {
        Buffer::of(Node::Rows { rows, len, name: name.into() })
    }

    /// These samples.
    pub fn from_samples(samples: Vec<Sample>) -> Buffer {
        let len = samples.len() as u64;
        Buffer::from_rows(Arc::new(Vector::new(samples)), len, format!("buffer_from_vector({len})"))
    }

    /// The rows of columns: the first axis of every value counts samples. No value is copied; batches are gathered directly.
    ///
    /// # Errors
    /// If the columns differ in length, or one has no axis.
    pub fn from_columns(columns: Sample) -> Result<Buffer> {
        let columns = Columns::new(columns)?;
        let len = columns.len() as u64;
        Ok(Buffer::from_rows(Arc::new(columns), len, format!("buffer_from_arrays({len})")))
    }

    /// Number of samples.
    pub fn len(&self) -> u64 {
        match &*self.node {
            Node::Rows { len, .. } => *len,
            Node::Mapped { source, .. } => source.len(),
            Node::Selected { indices, .. } => indices.len() as u64,
            Node::Batched { source, options } => options.count(source.len()),
            Node::Grouped { groups, .. } => groups.len() as u64,
            Node::Joined { parts } => parts.iter().map(Buffer::len).sum(),
        }
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ticket of the sample at `index`, which is below the length.
    pub fn ticket(&self, index: u64, epoch: u64) -> Ticket {
        let position = Position { epoch, index };
        match &*self.node {
            Node::Rows { rows, .. } => Ticket::row(rows, position),
            Node::Mapped { source, map } => {
                let mut ticket = source.ticket(index, epoch);
                ticket.push(map);
                ticket
            }
            Node::Selected { source, indices, .. } => source.ticket(indices[index as usize], epoch),
            Node::Batched { source, options } => {
                let start = options.start(index);
                let end = (start + options.size(index) as u64).min(source.len());
                let tickets = (start..end).map(|index| source.ticket(index, epoch)).collect();
                let options = Arc::clone(options);
                Ticket::work(BatchWork { tickets, options, position }, position)
            }
            Node::Grouped { source, groups, options, .. } => {
                let group = &groups[index as usize];
                let tickets = group.iter().map(|&index| source.ticket(index, epoch)).collect();
                let options = Arc::clone(options);
                Ticket::work(BatchWork { tickets, options, position }, position)
            }
            Node::Joined { parts } => {
                let mut rest = index;
                for part in parts {
                    if rest < part.len() {
                        return part.ticket(rest, epoch).at(position);
                    }
                    rest -= part.len();
                }
                Ticket::failed(fault!(Index, "index {index} is beyond the end"), position)
            }
        }
    }

    /// The sample at `index`.
    ///
    /// # Errors
    /// If there is none, or those of the operations.
    pub fn get(&self, index: u64) -> Result<Sample> {
        let len = self.len();
        if index >= len {
            return Err(fault!(Index, "index {index} is out of bounds for a buffer of {len} samples"));
        }
        Ok(self.ticket(index, 0).run(&Context::alone())?.unwrap_or_default())
    }

    /// Apply an operation to every sample.
    #[must_use]
    pub fn apply(&self, operation: impl Operation) -> Buffer {
        self.apply_shared(Arc::new(operation))
    }

    /// [`Buffer::apply`] of an operation that others share.
    #[must_use]
    pub fn apply_shared(&self, operation: Arc<dyn Operation>) -> Buffer {
        Buffer::of(Node::Mapped { source: self.clone(), map: Arc::new(Map::new(operation)) })
    }

    /// Apply a function to every sample. The name stands for the function in states.
    #[must_use]
    pub fn map<F>(&self, name: &str, function: F) -> Buffer
    where
        F: Fn(Sample) -> Result<Sample> + Send + Sync + 'static,
    {
        self.apply(Function::new(name, move |sample| function(sample).map(Some)))
    }

    /// The samples at these indices, in this order.
    ///
    /// # Errors
    /// If an index is beyond the end.
    pub fn select(&self, indices: Vec<u64>, name: &str) -> Result<Buffer> {
        let len = self.len();
        if let Some(index) = indices.iter().find(|&&index| index >= len) {
            return Err(
                fault!(Index, "index {index} is out of bounds for a buffer of {len} samples").at_stage(name)
            );
        }
        Ok(self.selected(indices, None, name))
    }

    fn selected(&self, indices: Vec<u64>, key: Option<Key>, name: &str) -> Buffer {
        let name = name.to_owned();
        Buffer::of(Node::Selected { source: self.clone(), indices: indices.into(), key, name })
    }

    /// A random order, the same in every pass; with a seed of its own, or the next one of the process.
    #[must_use]
    pub fn shuffle(&self, seed: Option<u64>) -> Buffer {
        let key = Key::from_optional_seed(seed);
        self.selected(permutation(key, self.len() as usize), Some(key), "shuffle")
    }

    /// Every `count`-th sample from `part` on.
    ///
    /// # Errors
    /// If `part` is not below `count`.
    pub fn partition(&self, count: u64, part: u64) -> Result<Buffer> {
        if part >= count {
            return Err(fault!(Value, "part {part} of {count}: parts are numbered from 0 to {count} - 1")
                .at_stage("partition"));
        }
        self.select((part..self.len()).step_by(count as usize).collect(), "partition")
    }

    /// The samples of this buffer, then those of `other`.
    #[must_use]
    pub fn append(&self, other: &Buffer) -> Buffer {
        Buffer::of(Node::Joined { parts: vec![self.clone(), other.clone()] })
    }

    /// Merge samples that follow each other into batches.
    ///
    /// # Errors
    /// If the options have no size, or one of zero.
    pub fn batch(&self, options: BatchOptions) -> Result<Buffer> {
        Ok(Buffer::of(Node::Batched { source: self.clone(), options: Arc::new(options.checked()?) }))
    }

    /// Merge samples of similar size into batches of about the same number of elements. `sizes` has one sample for each of this
    /// buffer, whose values of the key are measured; without it the samples are made to measure them.
    ///
    /// # Errors
    /// If the lengths differ, or those of the operations.
    pub fn dynamic_batch(&self, options: &DynamicBatchOptions, sizes: Option<&Buffer>) -> Result<Buffer> {
        let fault = |text: String| fault!(Value, "{text}").at_stage("dynamic_batch");
        if let (Some(min), Some(max)) = (options.min_size, options.max_size)
            && min > max
        {
            return Err(fault(format!("min_data_size {min} exceeds max_data_size {max}")));
        }
        let shapes = match sizes {
            Some(sizes) if sizes.len() != self.len() => {
                return Err(fault(format!(
                    "size_buffer has {} samples, the buffer {}",
                    sizes.len(),
                    self.len()
                )));
            }
            Some(sizes) => sizes.iter().map(|sample| shape_in(&sample?, options.key.as_str())).collect(),
            None => {
                self.iter().map(|sample| Ok(sample?.require(options.key.as_str())?.shape().clone())).collect()
            }
        };
        let shapes: Result<Vec<Shape>> = shapes;
        let groups = options.group(&shapes.map_err(|error| error.at_stage("dynamic_batch"))?);
        let arguments = format!("{options:?}");
        let (groups, options) = (groups.batches.into(), Arc::new(options.batch()));
        Ok(Buffer::of(Node::Grouped { source: self.clone(), groups, options, arguments }))
    }

    /// The samples, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Result<Sample>> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// A buffer of the samples as they are now, made once.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn concretize(&self) -> Result<Buffer> {
        let samples: Result<Vec<Sample>> = self.iter().collect();
        Ok(Buffer::from_samples(samples?))
    }

    /// Read the samples in order.
    pub fn to_stream(&self) -> Stream {
        Stream::new(BufferSource::new(self.clone(), None))
    }

    /// Read the samples in a new random order every pass, which takes no memory; with a seed, or the next one of the process.
    pub fn to_shuffled_stream(&self, seed: Option<u64>) -> Stream {
        Stream::new(BufferSource::new(self.clone(), Some(Key::from_optional_seed(seed))))
    }

    /// Add the operations to a description.
    pub fn describe(&self, description: &mut Description) {
        match &*self.node {
            Node::Rows { name, .. } => description.0.push(name.clone()),
            Node::Mapped { source, map } => {
                source.describe(description);
                description.0.push(format!("{map:?}"));
            }
            Node::Selected { source, indices, key, name } => {
                source.describe(description);
                // Of a random order the key is part of the state.
                let check = if key.is_some() { 0 } else { checksum(indices) };
                description.add(name, format!("{} samples, checksum {check:016x}", indices.len()));
            }
            Node::Batched { source, options } => {
                source.describe(description);
                description.add("batch", options.arguments());
            }
            Node::Grouped { source, arguments, .. } => {
                source.describe(description);
                description.add("dynamic_batch", arguments);
            }
            Node::Joined { parts } => {
                for part in parts {
                    part.describe(description);
                }
                description.add("append", "");
            }
        }
    }

    /// Add what the operations have done.
    pub(crate) fn report_into(&self, report: &mut Report) {
        match &*self.node {
            Node::Rows { .. } => {}
            Node::Mapped { source, map } => {
                source.report_into(report);
                report.stages.push(map.report());
            }
            Node::Selected { source, .. } | Node::Batched { source, .. } | Node::Grouped { source, .. } => {
                source.report_into(report);
            }
            Node::Joined { parts } => parts.iter().for_each(|part| part.report_into(report)),
        }
    }

    /// The keys of its random operations, from the source down.
    pub(crate) fn save_keys(&self) -> State {
        let mut keys = Vec::new();
        self.visit_keys(&mut |key| keys.push(State::from(key.to_number())));
        State::List(keys)
    }

    fn visit_keys(&self, visit: &mut impl FnMut(Key)) {
        match &*self.node {
            Node::Rows { .. } => {}
            Node::Mapped { source, map } => {
                source.visit_keys(visit);
                if map.operation.is_random() {
                    visit(map.key);
                }
            }
            Node::Selected { source, key, .. } => {
                source.visit_keys(visit);
                if let Some(key) = key {
                    visit(*key);
                }
            }
            Node::Batched { source, .. } | Node::Grouped { source, .. } => source.visit_keys(visit),
            Node::Joined { parts } => parts.iter().for_each(|part| part.visit_keys(visit)),
        }
    }

    /// The same buffer with the keys that [`Buffer::save_keys`] gave.
    pub(crate) fn with_keys(&self, keys: &State) -> Result<Buffer> {
        if *keys == self.save_keys() {
            return Ok(self.clone());
        }
        let mut keys = keys.entries()?.iter();
        self.rebuilt(&mut || keys.next().unwrap_or(&State::Empty).number().map(Key::from_number))
    }

    fn rebuilt(&self, next_key: &mut impl FnMut() -> Result<Key>) -> Result<Buffer> {
        Ok(match &*self.node {
            Node::Rows { .. } => self.clone(),
            Node::Mapped { source, map } => {
                let source = source.rebuilt(next_key)?;
                let key = if map.operation.is_random() { next_key()? } else { map.key };
                let map = Arc::new(Map::with_key(Arc::clone(&map.operation), key));
                Buffer::of(Node::Mapped { source, map })
            }
            Node::Selected { source, indices, key: None, name } => {
                source.rebuilt(next_key)?.selected(indices.to_vec(), None, name)
            }
            Node::Selected { source, key: Some(_), name, .. } => {
                let source = source.rebuilt(next_key)?;
                let key = next_key()?;
                source.selected(permutation(key, source.len() as usize), Some(key), name)
            }
            Node::Batched { source, options } => {
                let source = source.rebuilt(next_key)?;
                Buffer::of(Node::Batched { source, options: Arc::clone(options) })
            }
            Node::Grouped { source, groups, options, arguments } => {
                let source = source.rebuilt(next_key)?;
                let (groups, options) = (Arc::clone(groups), Arc::clone(options));
                Buffer::of(Node::Grouped { source, groups, options, arguments: arguments.clone() })
            }
            Node::Joined { parts } => {
                let parts: Result<Vec<Buffer>> = parts.iter().map(|part| part.rebuilt(next_key)).collect();
                Buffer::of(Node::Joined { parts: parts? })
            }
        })
    }
}

/// A shape that a sample holds as integers.
fn shape_in(sample: &Sample, key: &str) -> Result<Shape> {
    let value = sample.require(key)?;
    let lengths = value
        .as_slice::<i64>()
        .ok_or_else(|| fault!(Type, "sizes are contiguous int64 arrays, got {value:?}").at_key(key))?;
    Ok(Shape::checked("dynamic_batch", lengths)?)
}

/// A number that differs for different lists, almost surely (FNV-1a, 64 bits).
fn checksum(indices: &[u64]) -> u64 {
    indices.iter().fold(0xcbf2_9ce4_8422_2325, |sum, index| (sum ^ index).wrapping_mul(0x0100_0000_01b3))
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut description = Description::default();
        self.describe(&mut description);
        write!(f, "Buffer({} samples: {})", self.len(), description.0.join(" -> "))
    }
}
