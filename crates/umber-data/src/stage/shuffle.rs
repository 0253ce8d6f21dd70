//! The stage that shuffles within a buffer of tickets.

use crate::error::Result;
use crate::random::{Key, Numbers};
use crate::run::Context;
use crate::stage::{Description, Length, Stage, draw_again};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Keeps `size` tickets and gives a random one of them, which the next one from above replaces. Tickets are small, so that a buffer
/// of 10,000 images holds no image.
///
/// Its state is the position above it at the start of the pass, and the number of draws since: they are repeated, not run.
pub struct Shuffle {
    stream: Stream,
    size: usize,
    key: Key,
    epoch: u64,
    drawn: u64,
    tickets: Vec<Ticket>,
    begin: Option<State>,
    numbers: Numbers,
}

impl Shuffle {
    /// The stage below `stream`. A size of zero or one keeps the order.
    pub fn new(stream: Stream, size: usize, key: Key) -> Shuffle {
        let numbers = Numbers::of(key.fold_in(0));
        Shuffle {
            stream,
            size: size.max(1),
            key,
            epoch: 0,
            drawn: 0,
            tickets: Vec::new(),
            begin: None,
            numbers,
        }
    }

    fn begin(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.drawn = 0;
        self.tickets.clear();
        self.begin = None;
        self.numbers = Numbers::of(self.key.fold_in(epoch));
    }
}

impl Stage for Shuffle {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        if self.begin.is_none() {
            self.begin = Some(self.stream.save());
        }
        while self.tickets.len() < self.size {
            let Some(ticket) = self.stream.draw(context) else { break };
            self.tickets.push(ticket);
        }
        if self.tickets.is_empty() {
            return None;
        }
        self.drawn += 1;
        let place = self.numbers.below(self.tickets.len() as u64) as usize;
        Some(self.tickets.swap_remove(place))
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.begin(self.epoch + 1);
        self.stream.reset(context)
    }

    fn length(&self) -> Length {
        self.stream.length()
    }

    fn save(&mut self) -> State {
        let begin = self.begin.clone().unwrap_or_else(|| self.stream.save());
        State::from([self.key.to_number().into(), self.epoch.into(), self.drawn.into(), begin])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [key, epoch, drawn, begin] = state.list()?;
        self.key = Key::from_number(key.number()?);
        self.begin(epoch.number()?);
        self.stream.load(begin, context)?;
        draw_again(self, drawn.number()?, context)
    }

    fn above(&self) -> Vec<&Stream> {
        vec![&self.stream]
    }

    fn describe(&self, description: &mut Description) {
        self.stream.describe(description);
        description.add("shuffle", self.size.to_string());
    }

    fn may_drop(&self) -> bool {
        self.stream.may_drop()
    }
}
