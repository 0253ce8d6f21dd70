//! The stage that applies an operation to every sample.

use std::sync::Arc;

use crate::error::Result;
use crate::operation::{Map, Operation};
use crate::random::Key;
use crate::run::Context;
use crate::stage::{Description, Length, Report, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Adds an operation to every ticket.
pub struct MapStage {
    upstream: Stream,
    map: Arc<Map>,
}

impl MapStage {
    /// The stage below `upstream`.
    pub fn new(upstream: Stream, operation: Arc<dyn Operation>) -> MapStage {
        MapStage { upstream, map: Arc::new(Map::new(operation)) }
    }
}

impl Stage for MapStage {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let mut ticket = self.upstream.draw(context)?;
        ticket.push(&self.map);
        Some(ticket)
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.upstream.reset(context)
    }

    fn length(&self) -> Length {
        match self.upstream.length() {
            Length::Exact(_) if self.map.operation.may_drop() => Length::Unknown,
            length => length,
        }
    }

    fn save(&mut self) -> State {
        if self.map.operation.is_random() {
            State::from([self.map.key.to_number().into(), self.upstream.save()])
        } else {
            self.upstream.save()
        }
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        if self.map.operation.is_random() {
            let [key, upstream] = state.list()?;
            let (operation, key) = (Arc::clone(&self.map.operation), Key::from_number(key.number()?));
            self.map = Arc::new(Map::with_key(operation, key));
            self.upstream.load(upstream, context)
        } else {
            self.upstream.load(state, context)
        }
    }

    fn above(&self) -> Vec<&Stream> {
        vec![&self.upstream]
    }

    fn report(&self, report: &mut Report) {
        self.upstream.report_into(report);
        report.stages.push(self.map.report());
    }

    fn describe(&self, description: &mut Description) {
        self.upstream.describe(description);
        description.add(self.map.operation.name(), self.map.operation.arguments());
    }

    fn may_drop(&self) -> bool {
        self.map.operation.may_drop() || self.upstream.may_drop()
    }
}
