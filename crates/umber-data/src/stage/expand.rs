//! Stages that make several samples of one, or of a group.

use crate::error::Result;
use crate::random::Position;
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Stage, draw_again};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Tickets made of a group of samples.
pub type Tickets = Box<dyn Iterator<Item = Ticket> + Send>;

/// How groups of samples become tickets.
pub trait Expander: Send {
    /// Its public name.
    fn name(&self) -> &str;

    /// Its arguments as text, for states.
    fn arguments(&self) -> String;

    /// How many samples it takes at once.
    fn group(&self) -> usize;

    /// The tickets of a group. The last one may be smaller, but is not empty.
    ///
    /// # Errors
    /// If the samples are not what it expects.
    fn expand(&mut self, group: Vec<Sample>, epoch: u64, context: &Context<'_>) -> Result<Tickets>;

    /// Whether it keeps nothing of earlier groups.
    fn is_clean(&self) -> bool {
        true
    }

    /// Forget what it keeps of earlier groups.
    fn clear(&mut self) {}

    /// What else its tickets depend on, where it keeps nothing of earlier groups.
    fn save(&self) -> State {
        State::Empty
    }

    /// Go to a state that [`Expander::save`] returned.
    ///
    /// # Errors
    /// If it is not one of such an expander.
    fn load(&mut self, state: &State) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// The number of tickets of so many samples, if it is known.
    fn length(&self, samples: u64) -> Option<u64> {
        let _ = samples;
        None
    }

    /// Whether running a ticket may give no sample.
    fn may_drop(&self) -> bool {
        false
    }
}

/// Reads groups of samples and draws the tickets made of them.
///
/// Its state is the position above it at the start of a group, and the number of tickets since. To load it repeats them.
pub struct Expand<E> {
    upstream: Upstream,
    expander: E,
    gathered: Vec<Sample>,
    tickets: Option<Tickets>,
    /// Of the next ticket.
    position: Position,
    has_ended: bool,
    /// The positions of the expander and above, where nothing was kept of earlier samples, and the tickets since.
    begin: Option<(State, State)>,
    drawn: u64,
}

impl<E: Expander> Expand<E> {
    /// The stage below `stream`.
    pub fn new(stream: Stream, expander: E) -> Expand<E> {
        Expand {
            upstream: Upstream::new(stream),
            expander,
            gathered: Vec::new(),
            tickets: None,
            position: Position::default(),
            has_ended: false,
            begin: None,
            drawn: 0,
        }
    }

    fn clear(&mut self, position: Position) {
        self.expander.clear();
        self.gathered.clear();
        self.tickets = None;
        self.position = position;
        (self.has_ended, self.begin, self.drawn) = (false, None, 0);
    }

    /// The tickets of the next group; `None` at the end.
    fn refill(&mut self, context: &Context<'_>) -> Result<Option<Tickets>> {
        if self.gathered.is_empty() && self.expander.is_clean() {
            self.begin = Some((self.expander.save(), self.upstream.save()));
            self.drawn = 0;
        }
        let size = self.expander.group();
        while !self.has_ended && self.gathered.len() < size {
            match self.upstream.next(context) {
                Some((read, _)) => self.gathered.push(read?),
                None => self.has_ended = true,
            }
        }
        if self.gathered.is_empty() {
            return Ok(None);
        }
        let epoch = self.position.epoch;
        self.expander.expand(std::mem::take(&mut self.gathered), epoch, context).map(Some)
    }

    fn draw_named(&mut self, context: &Context<'_>) -> Result<Option<Ticket>> {
        loop {
            if let Some(ticket) = self.tickets.as_mut().and_then(Iterator::next) {
                return Ok(Some(ticket));
            }
            self.tickets = self.refill(context)?;
            if self.tickets.is_none() {
                return Ok(None);
            }
        }
    }
}

impl<E: Expander> Stage for Expand<E> {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let position = self.position;
        let ticket = match self.draw_named(context) {
            Ok(ticket) => ticket?.at(position),
            Err(error) => Ticket::failed(error.at_stage(self.expander.name()), position),
        };
        self.position.index += 1;
        self.drawn += 1;
        Some(ticket)
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.clear(Position { epoch: self.position.epoch + 1, index: 0 });
        self.upstream.reset(context)
    }

    fn length(&self) -> Length {
        match self.upstream.stream().length() {
            Length::Exact(samples) => self.expander.length(samples).map_or(Length::Unknown, Length::Exact),
            length => length,
        }
    }

    fn save(&mut self) -> State {
        let begin = self.begin.clone();
        let (own, above) = begin.unwrap_or_else(|| (self.expander.save(), self.upstream.save()));
        State::from([self.position.epoch.into(), self.position.index.into(), self.drawn.into(), own, above])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [epoch, index, drawn, own, above] = state.list()?;
        let (epoch, index, drawn) = (epoch.number()?, index.number()?, drawn.number()?);
        self.clear(Position { epoch, index: index.saturating_sub(drawn) });
        self.expander.load(own)?;
        self.upstream.load(above, context)?;
        draw_again(self, drawn, context)
    }

    fn describe(&self, description: &mut Description) {
        self.upstream.stream().describe(description);
        description.add(self.expander.name(), self.expander.arguments());
    }

    fn may_drop(&self) -> bool {
        self.expander.may_drop()
    }

    fn above(&self) -> Vec<&Stream> {
        vec![self.upstream.stream()]
    }
}
