//! Reading the samples, not the tickets, of the stage above.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::random::Position;
use crate::run::{Context, Task};
use crate::sample::Sample;
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// A sample, or an error in its place, and where it belongs.
pub(super) type Read = (Result<Sample>, Position);

struct Entry {
    task: Arc<Task>,
    position: Position,
    after: State,
}

/// The stage above a stage that needs samples in order to draw. Below a prefetch, its tickets run on the threads of that, some
/// ahead.
pub(super) struct Upstream {
    stream: Stream,
    /// Tickets under way, in order.
    window: VecDeque<Entry>,
    /// The state behind the last sample that was read, while tickets are under way.
    after: Option<State>,
    /// Whether a ticket may give no sample, once it is known.
    may_drop: Option<bool>,
}

impl Upstream {
    /// The samples of `stream`.
    pub(super) fn new(stream: Stream) -> Upstream {
        Upstream { stream, window: VecDeque::new(), after: None, may_drop: None }
    }

    /// The stream.
    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The next sample that is not left out; `None` at the end.
    pub(super) fn next(&mut self, context: &Context<'_>) -> Option<Read> {
        loop {
            if let Some(pool) = context.pool() {
                while self.window.len() < pool.window() {
                    if self.after.is_none() {
                        self.after = Some(self.stream.save());
                    }
                    let Some(ticket) = self.stream.draw(context) else { break };
                    let (position, task) = (ticket.position(), Arc::new(Task::new(ticket)));
                    pool.submit(&task);
                    self.window.push_back(Entry { task, position, after: self.stream.save() });
                }
            }
            let (result, position) = if let Some(entry) = self.window.front() {
                if let Err(interrupt) = entry.task.wait(context) {
                    return Some((Err(interrupt), entry.position));
                }
                let Some(entry) = self.window.pop_front() else { continue };
                self.after = Some(entry.after);
                (entry.task.take(), entry.position)
            } else {
                let ticket = self.stream.draw(context)?;
                let position = ticket.position();
                self.after = None;
                (ticket.run(context), position)
            };
            match result {
                Ok(Some(sample)) => return Some((Ok(sample), position)),
                Ok(None) => {}
                Err(error) => return Some((Err(error), position)),
            }
        }
    }

    /// The next ticket: one that has not run where every ticket gives a sample, else the next sample.
    pub(super) fn ticket(&mut self, context: &Context<'_>) -> Option<Ticket> {
        // Asked once: to ask takes as long as to draw.
        let may_drop = *self.may_drop.get_or_insert_with(|| self.stream.may_drop());
        if !may_drop {
            return self.stream.draw(context);
        }
        self.next(context).map(|(read, position)| match read {
            Ok(sample) => Ticket::sample(sample, position),
            Err(error) => Ticket::failed(error, position),
        })
    }

    /// Begin the next pass.
    ///
    /// # Errors
    /// Those of the user's sources.
    pub(super) fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.window.clear();
        self.after = None;
        self.stream.reset(context)
    }

    /// The position behind the last sample that was read.
    pub(super) fn save(&self) -> State {
        match &self.after {
            Some(state) if !self.window.is_empty() => state.clone(),
            _ => self.stream.save(),
        }
    }

    /// Go to a position.
    ///
    /// # Errors
    /// If the state is not one of such a stream.
    pub(super) fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        self.window.clear();
        self.after = None;
        self.stream.load(state, context)
    }
}
