//! A ticket: what was drawn, with the work that is to be done for it.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{DataError, Result};
use crate::operation::Map;
use crate::random::Position;
use crate::run::Context;
use crate::sample::Sample;

/// Rows of a source in memory. A row is read when its ticket is run.
pub trait Rows: Send + Sync {
    /// The sample at `index`.
    ///
    /// # Errors
    /// If the row cannot be read.
    fn row(&self, index: u64) -> Result<Sample>;

    /// A batch of the rows at `indices`, one allocation a key, if they agree in keys, dtypes and shapes and the source can tell
    /// without reading them.
    fn gather(&self, indices: &[u64]) -> Option<Result<Sample>> {
        let _ = indices;
        None
    }
}

/// Work that makes a sample.
pub trait Work: Send {
    /// Do it.
    ///
    /// # Errors
    /// Those of what is run.
    fn run(self: Box<Self>, context: &Context<'_>) -> Result<Option<Sample>>;
}

/// Where the sample of a ticket comes from.
pub(crate) enum Origin {
    Row(Arc<dyn Rows>, u64),
    // In a box, so that buffers of other tickets are small.
    Sample(Box<Sample>),
    Failed(DataError),
    Work(Box<dyn Work>),
}

/// A sample to be made: where it comes from, and the operations to apply.
pub struct Ticket {
    position: Position,
    origin: Origin,
    maps: SmallVec<[(Arc<Map>, Position); 3]>,
}

impl Ticket {
    pub(crate) fn new(origin: Origin, position: Position) -> Ticket {
        Ticket { position, origin, maps: SmallVec::new() }
    }

    /// A ticket for a row.
    pub fn row(rows: &Arc<dyn Rows>, position: Position) -> Ticket {
        Ticket::new(Origin::Row(Arc::clone(rows), position.index), position)
    }

    /// A ticket for a sample that exists.
    pub fn sample(sample: Sample, position: Position) -> Ticket {
        Ticket::new(Origin::Sample(Box::new(sample)), position)
    }

    /// A ticket for an error, which is raised in the sample's place.
    pub fn failed(error: DataError, position: Position) -> Ticket {
        Ticket::new(Origin::Failed(error), position)
    }

    /// A ticket for work.
    pub fn work(work: impl Work + 'static, position: Position) -> Ticket {
        Ticket::new(Origin::Work(Box::new(work)), position)
    }

    /// # Errors
    /// If the user interrupted the program when the ticket was drawn.
    pub(crate) fn unless_interrupted(self) -> Result<Ticket> {
        match self.origin {
            Origin::Failed(error) if error.is_interrupt() => Err(error),
            origin => Ok(Ticket { origin, ..self }),
        }
    }

    /// Where the sample is in its source.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Give it another position, of which the random numbers of later operations depend.
    #[must_use]
    pub fn at(mut self, position: Position) -> Ticket {
        self.position = position;
        self
    }

    /// Add an operation.
    pub(crate) fn push(&mut self, map: &Arc<Map>) {
        self.maps.push((Arc::clone(map), self.position));
    }

    /// The rows and the index, if nothing is to be done but to read a row.
    pub(crate) fn plain_row(&self) -> Option<(&Arc<dyn Rows>, u64)> {
        match &self.origin {
            Origin::Row(rows, index) if self.maps.is_empty() => Some((rows, *index)),
            _ => None,
        }
    }

    /// Make the sample: `None` if an operation leaves it out.
    ///
    /// # Errors
    /// Those of its source and operations, with the stage and the sample's number.
    pub fn run(self, context: &Context<'_>) -> Result<Option<Sample>> {
        let mut slots = [Slot::begin(self.origin, context)];
        run_maps(&mut slots, &[self.maps.as_slice()], context);
        let [slot] = slots;
        slot.result()
    }

    /// Make the samples of many tickets. Functions of an interpreter are called for all of them under one hold of its lock. An
    /// interrupt ends the rest and is the only result.
    pub fn run_all(tickets: Vec<Ticket>, context: &Context<'_>) -> Vec<Result<Option<Sample>>> {
        let (origins, maps): (Vec<Origin>, Vec<_>) =
            tickets.into_iter().map(|ticket| (ticket.origin, ticket.maps)).unzip();
        let are_alike = maps.windows(2).all(|pair| {
            pair[0].len() == pair[1].len()
                && pair[0].iter().zip(&pair[1]).all(|((a, _), (b, _))| Arc::ptr_eq(a, b))
        });
        let has_interpreter = maps
            .first()
            .is_some_and(|maps| maps.iter().any(|(map, _)| map.operation.interpreter().is_some()));
        let mut slots = Vec::with_capacity(origins.len());
        if are_alike && has_interpreter {
            slots.extend(origins.into_iter().map(|origin| Slot::begin(origin, context)));
            let maps: Vec<&[(Arc<Map>, Position)]> = maps.iter().map(SmallVec::as_slice).collect();
            run_maps(&mut slots, &maps, context);
        } else {
            for (origin, maps) in origins.into_iter().zip(&maps) {
                let mut slot = [Slot::begin(origin, context)];
                run_maps(&mut slot, &[maps.as_slice()], context);
                let is_interrupted = slot[0].is_interrupted();
                slots.extend(slot);
                if is_interrupted {
                    break;
                }
            }
        }
        match slots.iter().position(Slot::is_interrupted) {
            Some(place) => vec![slots.swap_remove(place).result()],
            None => slots.into_iter().map(Slot::result).collect(),
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let maps: Vec<&Arc<Map>> = self.maps.iter().map(|(map, _)| map).collect();
        f.debug_struct("Ticket")
            .field("position", &self.position)
            .field("maps", &maps)
            .finish_non_exhaustive()
    }
}

/// A sample on its way through operations.
#[allow(clippy::large_enum_variant)] // Nearly all are samples.
enum Slot {
    Sample(Sample),
    Dropped,
    Failed(DataError),
}

impl Slot {
    fn begin(origin: Origin, context: &Context<'_>) -> Slot {
        let made = match origin {
            Origin::Sample(sample) => return Slot::Sample(*sample),
            Origin::Failed(error) => Err(error),
            Origin::Row(rows, index) => rows.row(index).map(Some),
            Origin::Work(work) => work.run(context),
        };
        Slot::of(made)
    }

    fn of(made: Result<Option<Sample>>) -> Slot {
        match made {
            Ok(Some(sample)) => Slot::Sample(sample),
            Ok(None) => Slot::Dropped,
            Err(error) => Slot::Failed(error),
        }
    }

    fn apply(&mut self, map: &Map, position: Position) {
        match std::mem::replace(self, Slot::Dropped) {
            Slot::Sample(sample) => *self = Slot::of(map.apply(sample, position)),
            ended => *self = ended,
        }
    }

    /// Apply operations in order; two at once where they can be.
    fn apply_all(&mut self, mut maps: &[(Arc<Map>, Position)]) {
        while let [(map, position), rest @ ..] = maps {
            maps = rest;
            if let ([(next, next_position), after @ ..], true) = (rest, map.is_resizing()) {
                match std::mem::replace(self, Slot::Dropped) {
                    Slot::Sample(sample) => {
                        let mut sample = Some(sample);
                        if let Some(made) = map.apply_with(&mut sample, (next, *next_position)) {
                            *self = Slot::of(made);
                            maps = after;
                            continue;
                        }
                        *self = Slot::of(Ok(sample));
                    }
                    ended => *self = ended,
                }
            }
            self.apply(map, *position);
        }
    }

    fn is_interrupted(&self) -> bool {
        matches!(self, Slot::Failed(error) if error.is_interrupt())
    }

    fn result(self) -> Result<Option<Sample>> {
        match self {
            Slot::Sample(sample) => Ok(Some(sample)),
            Slot::Dropped => Ok(None),
            Slot::Failed(error) => Err(error),
        }
    }
}

/// Apply the operations of each ticket to its slot, until the user interrupts. With several tickets, all have the same operations.
fn run_maps(slots: &mut [Slot], maps: &[&[(Arc<Map>, Position)]], context: &Context<'_>) {
    let Some(first) = maps.first() else { return };
    let mut start = 0;
    while start < first.len() {
        let interpreter = first[start].0.operation.interpreter();
        let is_held = interpreter.is_some();
        let count = first[start..]
            .iter()
            .take_while(|(map, _)| map.operation.interpreter().is_some() == is_held)
            .count();
        let mut apply = || {
            for (slot, maps) in slots.iter_mut().zip(maps) {
                slot.apply_all(&maps[start..start + count]);
                if slot.is_interrupted() {
                    return;
                }
            }
        };
        match interpreter {
            Some(interpreter) => context.hold(interpreter, &mut apply),
            None => apply(),
        }
        if slots.iter().any(Slot::is_interrupted) {
            return;
        }
        start += count;
    }
}
