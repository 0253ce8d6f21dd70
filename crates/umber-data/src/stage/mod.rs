//! Stages of a stream: each draws from the one above it.

mod batch;
mod buffered;
mod cache;
mod dynamic_batch;
mod enumerate;
mod expand;
mod iterable;
mod map;
mod merge;
mod on_error;
mod pick;
mod prefetch;
mod records;
mod repeat;
mod report;
mod several;
mod shuffle;
mod sliding_window;
mod source;
mod upstream;

pub(crate) use batch::BatchWork;
pub use batch::{Batch, BatchOptions};
pub use buffered::{Buffered, Refill};
pub use cache::Cache;
pub use dynamic_batch::{DynamicBatch, DynamicBatchOptions, Groups};
pub use enumerate::Enumerate;
pub use expand::{Expand, Expander, Tickets};
pub use iterable::{Iterable, Samples};
pub use map::MapStage;
pub use merge::{Axes, Padding, merge};
pub use on_error::{Handler, OnError, Policy};
pub use pick::{Pick, Picked};
pub use prefetch::Prefetch;
pub use records::RecordsFromKey;
pub use repeat::Repeat;
pub(crate) use report::Stopwatch;
pub use report::{Report, StageReport};
pub use several::{Several, Stop};
pub use shuffle::Shuffle;
pub use sliding_window::SlidingWindow;
pub use source::BufferSource;

use crate::error::Result;
use crate::fault;
use crate::run::Context;
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// How many samples a pass has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// As many as this.
    Exact(u64),
    /// At least none, and not known before they are read.
    Unknown,
    /// There is no end.
    Endless,
}

impl Length {
    /// The length after `change`, if it is known.
    #[must_use]
    pub fn map(self, change: impl FnOnce(u64) -> u64) -> Length {
        match self {
            Length::Exact(count) => Length::Exact(change(count)),
            other => other,
        }
    }
}

/// What a pipeline is made of, from its source down, for states: `stage(arguments)` each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description(pub Vec<String>);

impl Description {
    /// Add a stage.
    pub fn add(&mut self, name: &str, arguments: impl AsRef<str>) {
        self.0.push(format!("{name}({})", arguments.as_ref()));
    }
}

/// A stage: draws tickets in order.
///
/// A stage is used under the lock of its [`Stream`], by one thread at a time.
pub trait Stage: Send {
    /// The next ticket, `None` at the end of the pass. An error is a ticket that fails, and the stage goes on behind it.
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket>;

    /// Begin the next pass.
    ///
    /// # Errors
    /// Those of the user's sources.
    fn reset(&mut self, context: &Context<'_>) -> Result<()>;

    /// The number of tickets of a pass.
    fn length(&self) -> Length;

    /// The position behind the last ticket drawn.
    fn save(&mut self) -> State;

    /// Go to a position that [`Stage::save`] returned, of this or of an equal pipeline.
    ///
    /// # Errors
    /// If the state is not one of such a stage.
    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()>;

    /// Add the stages above and this one.
    fn describe(&self, description: &mut Description);

    /// Whether running a ticket may give no sample.
    fn may_drop(&self) -> bool {
        false
    }

    /// The streams that it draws from.
    fn above(&self) -> Vec<&Stream>;

    /// Add what the stages above and this one have done.
    fn report(&self, report: &mut Report) {
        self.above().into_iter().for_each(|stream| stream.report_into(report));
    }

    /// Stop the threads of this stage and of those above.
    fn close(&mut self) {
        self.above().into_iter().for_each(Stream::close);
    }
}

/// Draw `count` tickets again, to come to a position.
///
/// # Errors
/// If the stage ends before, or the user interrupts the program.
fn draw_again(stage: &mut impl Stage, count: u64, context: &Context<'_>) -> Result<()> {
    for drawn in 0..count {
        let Some(ticket) = stage.draw(context) else {
            return Err(fault!(Value, "a pass has {drawn} samples, the state is behind {count}")
                .at_stage("load_state_dict"));
        };
        // Other errors are in their samples' places again.
        ticket.unless_interrupted()?;
    }
    Ok(())
}
