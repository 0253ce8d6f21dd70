//! The stage that reads several passes as one.

use crate::error::Result;
use crate::random::Position;
use crate::run::Context;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Resets the stream above it at its end, a number of times or for ever.
pub struct Repeat {
    stream: Stream,
    times: Option<u64>,
    done: u64,
    /// Whether the current pass has had a ticket: passes without any do not go on for ever.
    has_drawn: bool,
}

impl Repeat {
    /// `times + 1` passes; without a number, no end.
    pub fn new(stream: Stream, times: Option<u64>) -> Repeat {
        Repeat { stream, times, done: 0, has_drawn: false }
    }
}

impl Stage for Repeat {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        loop {
            if let Some(ticket) = self.stream.draw(context) {
                self.has_drawn = true;
                return Some(ticket);
            }
            if !self.has_drawn || self.times.is_some_and(|times| self.done >= times) {
                return None;
            }
            self.done += 1;
            self.has_drawn = false;
            if let Err(error) = self.stream.reset(context) {
                return Some(Ticket::failed(error, Position::default()));
            }
        }
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        (self.done, self.has_drawn) = (0, false);
        self.stream.reset(context)
    }

    fn length(&self) -> Length {
        match (self.stream.length(), self.times) {
            (Length::Exact(count), Some(times)) => Length::Exact(count.saturating_mul(times + 1)),
            (Length::Exact(0), None) => Length::Exact(0),
            (Length::Unknown, Some(_)) => Length::Unknown,
            (Length::Endless, _) | (_, None) => Length::Endless,
        }
    }

    fn save(&mut self) -> State {
        State::from([self.done.into(), u64::from(self.has_drawn).into(), self.stream.save()])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [done, has_drawn, stream] = state.list()?;
        (self.done, self.has_drawn) = (done.number()?, has_drawn.number()? != 0);
        self.stream.load(stream, context)
    }

    fn above(&self) -> Vec<&Stream> {
        vec![&self.stream]
    }

    fn describe(&self, description: &mut Description) {
        self.stream.describe(description);
        description.add("repeat", self.times.map_or_else(String::new, |times| times.to_string()));
    }

    fn may_drop(&self) -> bool {
        self.stream.may_drop()
    }
}
