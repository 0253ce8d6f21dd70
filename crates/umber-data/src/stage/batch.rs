//! The stage that merges samples into batches.

use std::sync::Arc;

use crate::error::Result;
use crate::fault;
use crate::random::Position;
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::merge::{Axes, Padding, merge};
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::{Ticket, Work};

/// Sizes of batches, and how values are merged.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchOptions {
    /// The sizes, one after the other and from the start again.
    pub sizes: Vec<usize>,
    /// What shorter values are filled up with.
    pub padding: Padding,
    /// The axes along which values are joined.
    pub axes: Axes,
}

impl BatchOptions {
    /// Batches of `size` samples, stacked, padded with zeros.
    pub fn new(size: usize) -> BatchOptions {
        BatchOptions { sizes: vec![size], padding: Padding::default(), axes: Axes::default() }
    }

    /// # Errors
    /// If there is no size, or one of zero.
    pub fn checked(self) -> Result<BatchOptions> {
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            return Err(fault!(Value, "batch sizes are at least 1, got {:?}", self.sizes).at_stage("batch"));
        }
        Ok(self)
    }

    /// The size of batch `index`.
    pub fn size(&self, index: u64) -> usize {
        self.sizes[(index % self.sizes.len() as u64) as usize]
    }

    /// The number of batches of `count` samples.
    pub fn count(&self, count: u64) -> u64 {
        let cycle: u64 = self.sizes.iter().map(|&size| size as u64).sum();
        let (whole, mut rest) = (count / cycle, count % cycle);
        let mut batches = whole * self.sizes.len() as u64;
        for &size in &self.sizes {
            if rest == 0 {
                break;
            }
            batches += 1;
            rest = rest.saturating_sub(size as u64);
        }
        batches
    }

    /// The number of samples in the batches before batch `index`.
    pub fn start(&self, index: u64) -> u64 {
        let cycle: u64 = self.sizes.iter().map(|&size| size as u64).sum();
        let length = self.sizes.len() as u64;
        let rest: u64 = self.sizes[..(index % length) as usize].iter().map(|&size| size as u64).sum();
        index / length * cycle + rest
    }

    /// Its arguments, for states.
    pub fn arguments(&self) -> String {
        format!("{:?}, {:?}, {:?}", self.sizes, self.padding.0, self.axes.0)
    }
}

/// A batch to be made of tickets.
pub(crate) struct BatchWork {
    pub tickets: Vec<Ticket>,
    pub options: Arc<BatchOptions>,
    pub position: Position,
}

impl BatchWork {
    /// The batch as one copy of its rows, if its tickets are rows of one source and nothing else.
    fn gather(&self) -> Option<Result<Sample>> {
        if !self.options.padding.0.is_empty() || !self.options.axes.0.is_empty() {
            return None;
        }
        let (rows, _) = self.tickets.first()?.plain_row()?;
        let indices: Option<Vec<u64>> = self
            .tickets
            .iter()
            .map(|ticket| ticket.plain_row().filter(|(other, _)| Arc::ptr_eq(rows, other)).map(|row| row.1))
            .collect();
        rows.gather(&indices?)
    }
}

impl Work for BatchWork {
    fn run(self: Box<Self>, context: &Context<'_>) -> Result<Option<Sample>> {
        let batch = match self.gather() {
            Some(gathered) => gathered,
            None => {
                let made: Result<Vec<Option<Sample>>> =
                    Ticket::run_all(self.tickets, context).into_iter().collect();
                let samples: Vec<Sample> = made?.into_iter().flatten().collect();
                merge(&samples, &self.options.padding, &self.options.axes)
            }
        };
        batch.map(Some).map_err(|error| error.at_stage("batch").at_index(self.position.index))
    }
}

/// Merges samples into batches. An error of a sample fails its batch; the next batch begins behind it.
pub struct Batch {
    upstream: Upstream,
    options: Arc<BatchOptions>,
    position: Position,
    /// Tickets of the next batch, which an interrupt left here.
    gathered: Vec<Ticket>,
    /// The position above before these.
    begin: State,
}

impl Batch {
    /// The stage below `stream`.
    ///
    /// # Errors
    /// If there is no size, or one of zero.
    pub fn new(stream: Stream, options: BatchOptions) -> Result<Batch> {
        let options = Arc::new(options.checked()?);
        let upstream = Upstream::new(stream);
        Ok(Batch {
            upstream,
            options,
            position: Position::default(),
            gathered: Vec::new(),
            begin: State::Empty,
        })
    }

    /// Gather the tickets of the next batch, unless the user interrupts.
    fn gather(&mut self, size: usize, context: &Context<'_>) -> Result<()> {
        if self.gathered.is_empty() {
            self.begin = self.upstream.save();
        }
        while self.gathered.len() < size {
            match self.upstream.ticket(context) {
                Some(ticket) => self.gathered.push(ticket.unless_interrupted()?),
                None => break,
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.gathered.clear();
        self.begin = State::Empty;
    }
}

impl Stage for Batch {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        if let Err(interrupt) = self.gather(self.options.size(self.position.index), context) {
            return Some(Ticket::failed(interrupt, self.position));
        }
        let tickets = std::mem::take(&mut self.gathered);
        if tickets.is_empty() {
            return None;
        }
        let position = self.position;
        self.position.index += 1;
        let options = Arc::clone(&self.options);
        Some(Ticket::work(BatchWork { tickets, options, position }, position))
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.forget();
        self.position = Position { epoch: self.position.epoch + 1, index: 0 };
        self.upstream.reset(context)
    }

    fn length(&self) -> Length {
        self.upstream.stream().length().map(|count| self.options.count(count))
    }

    fn save(&mut self) -> State {
        let above = if self.gathered.is_empty() { self.upstream.save() } else { self.begin.clone() };
        State::from([self.position.epoch.into(), self.position.index.into(), above])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [epoch, index, upstream] = state.list()?;
        self.forget();
        self.position = Position { epoch: epoch.number()?, index: index.number()? };
        self.upstream.load(upstream, context)
    }

    fn above(&self) -> Vec<&Stream> {
        vec![self.upstream.stream()]
    }

    fn describe(&self, description: &mut Description) {
        self.upstream.stream().describe(description);
        description.add("batch", self.options.arguments());
    }
}
