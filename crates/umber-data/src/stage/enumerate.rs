//! The stage that numbers samples.

use std::sync::Arc;

use crate::error::Result;
use crate::operation::{Map, Operation};
use crate::random::Draw;
use crate::run::Context;
use crate::sample::{Name, Sample};
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;
use crate::value::Value;

/// Adds the number of each sample in the pass.
pub struct Enumerate {
    upstream: Upstream,
    key: Name,
    number: u64,
}

impl Enumerate {
    /// The stage below `stream`; numbers go to `key`.
    pub fn new(stream: Stream, key: Name) -> Enumerate {
        Enumerate { upstream: Upstream::new(stream), key, number: 0 }
    }
}

/// Sets a key to a number.
struct SetNumber(Name, u64);

impl Operation for SetNumber {
    fn name(&self) -> &'static str {
        "enumerate"
    }

    fn arguments(&self) -> String {
        self.0.to_string()
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        sample.set(self.0.clone(), Value::scalar(self.1 as i64)?);
        Ok(Some(sample))
    }
}

impl Stage for Enumerate {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let mut ticket = self.upstream.ticket(context)?;
        ticket.push(&Arc::new(Map::new(Arc::new(SetNumber(self.key.clone(), self.number)))));
        self.number += 1;
        Some(ticket)
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.number = 0;
        self.upstream.reset(context)
    }

    fn length(&self) -> Length {
        self.upstream.stream().length()
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
        description.add("enumerate", self.key.as_str());
    }
}
