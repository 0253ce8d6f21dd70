//! The stage that reads a buffer, in its order or in another one every pass.

use crate::buffer::Buffer;
use crate::error::Result;
use crate::random::{Bijection, Key};
use crate::run::Context;
use crate::stage::{Description, Length, Report, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Reads a buffer from its start to its end.
pub struct BufferSource {
    buffer: Buffer,
    shuffle: Option<Key>,
    order: Option<Bijection>,
    epoch: u64,
    next: u64,
}

impl BufferSource {
    /// With a key, every pass has a random order of its own, which takes no memory.
    pub fn new(buffer: Buffer, shuffle: Option<Key>) -> BufferSource {
        let mut source = BufferSource { buffer, shuffle, order: None, epoch: 0, next: 0 };
        source.begin(0);
        source
    }

    fn begin(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.next = 0;
        self.order = self.shuffle.map(|key| Bijection::new(key.fold_in(epoch), self.buffer.len()));
    }
}

impl Stage for BufferSource {
    fn draw(&mut self, _context: &Context<'_>) -> Option<Ticket> {
        if self.next >= self.buffer.len() {
            return None;
        }
        let index = self.order.map_or(self.next, |order| order.at(self.next));
        self.next += 1;
        Some(self.buffer.ticket(index, self.epoch))
    }

    fn reset(&mut self, _context: &Context<'_>) -> Result<()> {
        self.begin(self.epoch + 1);
        Ok(())
    }

    fn length(&self) -> Length {
        Length::Exact(self.buffer.len())
    }

    fn save(&mut self) -> State {
        let key = self.shuffle.map_or(State::Empty, |key| key.to_number().into());
        State::from([key, self.buffer.save_keys(), self.epoch.into(), self.next.into()])
    }

    fn load(&mut self, state: &State, _context: &Context<'_>) -> Result<()> {
        let [key, keys, epoch, next] = state.list()?;
        if self.shuffle.is_some() {
            self.shuffle = Some(Key::from_number(key.number()?));
        }
        self.buffer = self.buffer.with_keys(keys)?;
        self.begin(epoch.number()?);
        self.next = next.number()?;
        Ok(())
    }

    fn above(&self) -> Vec<&Stream> {
        Vec::new()
    }

    fn report(&self, report: &mut Report) {
        self.buffer.report_into(report);
    }

    fn describe(&self, description: &mut Description) {
        self.buffer.describe(description);
        description.add("to_stream", if self.shuffle.is_some() { "shuffle" } else { "" });
    }
}
