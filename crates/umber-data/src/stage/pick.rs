//! Stages that leave tickets out by their number: parts, the first ones, all but the first ones.

use crate::error::Result;
use crate::run::Context;
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Which tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// Of every `count` the one numbered `part`.
    Part {
        /// Of how many.
        count: u64,
        /// Which one.
        part: u64,
        /// Whether a last group of fewer than `count` is left out.
        is_even: bool,
    },
    /// The first ones.
    First(u64),
    /// All but the first ones.
    AllBut(u64),
}

impl Picked {
    fn has(self, number: u64) -> bool {
        match self {
            Picked::Part { count, part, .. } => number % count == part,
            Picked::First(count) => number < count,
            Picked::AllBut(count) => number >= count,
        }
    }

    fn is_over(self, number: u64) -> bool {
        matches!(self, Picked::First(count) if number >= count)
    }

    fn length(self, all: u64) -> u64 {
        match self {
            Picked::Part { count, is_even: true, .. } => all / count,
            Picked::Part { count, part, .. } => all.saturating_sub(part).div_ceil(count),
            Picked::First(count) => all.min(count),
            Picked::AllBut(count) => all.saturating_sub(count),
        }
    }
}

/// Draws all tickets and gives some.
pub struct Pick {
    upstream: Upstream,
    picked: Picked,
    number: u64,
}

impl Pick {
    /// The stage below `stream`. A part's count is not zero.
    pub fn new(stream: Stream, picked: Picked) -> Pick {
        Pick { upstream: Upstream::new(stream), picked, number: 0 }
    }
}

impl Stage for Pick {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let mut picked = None;
        while !self.picked.is_over(self.number) {
            let ticket = self.upstream.ticket(context)?;
            self.number += 1;
            if self.picked.has(self.number - 1) {
                picked = Some(ticket);
            }
            // An even part waits for the end of its group.
            let is_complete = match self.picked {
                Picked::Part { count, is_even: true, .. } => self.number.is_multiple_of(count),
                _ => true,
            };
            if is_complete && picked.is_some() {
                return picked;
            }
        }
        None
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.number = 0;
        self.upstream.reset(context)
    }

    fn length(&self) -> Length {
        match (self.upstream.stream().length(), self.picked) {
            (Length::Endless, Picked::First(count)) => Length::Exact(count),
            (length, picked) => length.map(|all| picked.length(all)),
        }
    }

    fn save(&mut self) -> State {
        State::from([self.number.into(), self.upstream.save()])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [number, upstream] = state.list()?;
        self.number = number.number()?;
        self.upstream.load(upstream, context)
    }

    fn above(&self) -> Vec<&Stream> {
        vec![self.upstream.stream()]
    }

    fn describe(&self, description: &mut Description) {
        self.upstream.stream().describe(description);
        match self.picked {
            Picked::Part { count, part, is_even } => {
                description.add("partition", format!("{count}, {part}, {is_even}"));
            }
            Picked::First(count) => description.add("take", count.to_string()),
            Picked::AllBut(count) => description.add("skip", count.to_string()),
        }
    }
}
