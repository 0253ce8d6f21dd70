//! The stage that keeps the samples of the first pass.

use crate::error::Result;
use crate::random::Position;
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Reads the stream above once, and its own memory in later passes. A pass that is not read to its end is not kept.
///
/// Its state is the position above it at the start: to load it makes the samples again.
pub struct Cache {
    upstream: Upstream,
    begin: Option<State>,
    samples: Vec<(Sample, Position)>,
    is_complete: bool,
    epoch: u64,
    next: usize,
    /// Tickets of the pass that fills the memory, those that failed counted.
    drawn: u64,
}

impl Cache {
    /// The stage below `stream`.
    pub fn new(stream: Stream) -> Cache {
        let upstream = Upstream::new(stream);
        Cache { upstream, begin: None, samples: Vec::new(), is_complete: false, epoch: 0, next: 0, drawn: 0 }
    }
}

impl Stage for Cache {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        if !self.is_complete && self.begin.is_none() {
            self.begin = Some(self.upstream.save());
        }
        if let Some((sample, position)) = self.samples.get(self.next) {
            self.next += 1;
            let position = Position { epoch: self.epoch, ..*position };
            return Some(Ticket::sample(sample.clone(), position));
        }
        if self.is_complete {
            return None;
        }
        self.drawn += 1;
        match self.upstream.next(context) {
            Some((Ok(sample), position)) => {
                self.samples.push((sample.clone(), position));
                self.next += 1;
                Some(Ticket::sample(sample, position))
            }
            Some((Err(error), position)) => Some(Ticket::failed(error, position)),
            None => {
                self.is_complete = true;
                None
            }
        }
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.epoch += 1;
        self.next = 0;
        if !self.is_complete {
            self.samples.clear();
            (self.begin, self.drawn) = (None, 0);
            self.upstream.reset(context)?;
        }
        Ok(())
    }

    fn length(&self) -> Length {
        if self.is_complete {
            Length::Exact(self.samples.len() as u64)
        } else {
            self.upstream.stream().length()
        }
    }

    fn save(&mut self) -> State {
        let begin = self.begin.clone().unwrap_or_else(|| self.upstream.save());
        let is_complete = u64::from(self.is_complete);
        let next = if self.is_complete { self.next as u64 } else { self.drawn };
        State::from([self.epoch.into(), next.into(), is_complete.into(), begin])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [epoch, next, is_complete, begin] = state.list()?;
        self.upstream.load(begin, context)?;
        self.samples.clear();
        (self.begin, self.is_complete, self.next, self.drawn) = (None, false, 0, 0);
        let (next, is_complete) = (next.number()?, is_complete.number()? != 0);
        while is_complete || self.drawn < next {
            let Some(ticket) = self.draw(context) else { break };
            ticket.unless_interrupted()?;
        }
        if is_complete {
            self.next = (next as usize).min(self.samples.len());
        }
        self.epoch = epoch.number()?;
        Ok(())
    }

    fn above(&self) -> Vec<&Stream> {
        vec![self.upstream.stream()]
    }

    fn describe(&self, description: &mut Description) {
        self.upstream.stream().describe(description);
        description.add("cache", "");
    }
}
