//! Stages that read several streams: one after the other, side by side, or mixed by weights.

use crate::error::Result;
use crate::fault;
use crate::random::{Key, Numbers, Position};
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::{Ticket, Work};

/// When a mixture ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When a stream is chosen that has ended.
    First,
    /// When all have ended; the weights of those that have count no more.
    All,
}

enum Order {
    Chain,
    Zip,
    Mix { weights: Vec<f64>, key: Key, stop: Stop },
}

/// Reads several streams.
pub struct Several {
    streams: Vec<Upstream>,
    order: Order,
    /// Of the next ticket.
    position: Position,
    has_ended: Vec<bool>,
}

impl Several {
    fn new(streams: Vec<Stream>, order: Order) -> Several {
        let has_ended = vec![false; streams.len()];
        let streams = streams.into_iter().map(Upstream::new).collect();
        Several { streams, order, position: Position::default(), has_ended }
    }

    /// One after the other.
    pub fn chain(streams: Vec<Stream>) -> Several {
        Several::new(streams, Order::Chain)
    }

    /// Side by side, until one ends: a sample has the values of one of each. Keys must differ.
    pub fn zip(streams: Vec<Stream>) -> Several {
        Several::new(streams, Order::Zip)
    }

    /// Each sample of a random stream, chosen by weight.
    ///
    /// # Errors
    /// If there are not as many weights as streams, or they are not positive numbers.
    pub fn mix(streams: Vec<Stream>, weights: Vec<f64>, key: Key, stop: Stop) -> Result<Several> {
        if weights.len() != streams.len() {
            let (weights, streams) = (weights.len(), streams.len());
            return Err(fault!(Value, "{weights} weights for {streams} streams").at_stage("mix"));
        }
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
            return Err(fault!(Value, "weights are positive numbers, got {weight}").at_stage("mix"));
        }
        Ok(Several::new(streams, Order::Mix { weights, key, stop }))
    }

    /// Choose a stream by weight, among those that have not ended.
    fn choose(&self, weights: &[f64], key: Key) -> Option<usize> {
        let total: f64 = weights.iter().zip(&self.has_ended).filter(|pair| !pair.1).map(|pair| pair.0).sum();
        let mut numbers = Numbers::of(key.fold_in(self.position.epoch).fold_in(self.position.index));
        let mut rest = numbers.uniform() * total;
        let mut last = None;
        for (index, (weight, has_ended)) in weights.iter().zip(&self.has_ended).enumerate() {
            if *has_ended {
                continue;
            }
            last = Some(index);
            if rest < *weight {
                break;
            }
            rest -= weight;
        }
        last
    }

    fn draw_zip(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let mut tickets = Vec::with_capacity(self.streams.len());
        for stream in &mut self.streams {
            tickets.push(stream.ticket(context)?);
        }
        (!tickets.is_empty()).then(|| Ticket::work(ZipWork(tickets), self.position))
    }

    fn draw_chain(&mut self, context: &Context<'_>) -> Option<Ticket> {
        for (stream, has_ended) in self.streams.iter_mut().zip(&mut self.has_ended) {
            if *has_ended {
                continue;
            }
            if let Some(ticket) = stream.ticket(context) {
                return Some(ticket);
            }
            *has_ended = true;
        }
        None
    }

    fn draw_mix(&mut self, context: &Context<'_>) -> Option<Ticket> {
        loop {
            let Order::Mix { weights, key, stop } = &self.order else { return None };
            let (chosen, stop) = (self.choose(weights, *key)?, *stop);
            if let Some(ticket) = self.streams[chosen].ticket(context) {
                return Some(ticket);
            }
            self.has_ended[chosen] = true;
            if stop == Stop::First {
                self.has_ended.fill(true);
            }
        }
    }
}

impl Stage for Several {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let ticket = match self.order {
            Order::Chain => self.draw_chain(context),
            Order::Zip => self.draw_zip(context),
            Order::Mix { .. } => self.draw_mix(context),
        };
        // Numbered anew, so that samples of two streams do not share random numbers below.
        let ticket = ticket?.at(self.position);
        self.position.index += 1;
        Some(ticket)
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.position = Position { epoch: self.position.epoch + 1, index: 0 };
        self.has_ended.fill(false);
        self.streams.iter_mut().try_for_each(|stream| stream.reset(context))
    }

    fn length(&self) -> Length {
        let mut lengths = self.streams.iter().map(|stream| stream.stream().length());
        let sum = |a, b| match (a, b) {
            (Length::Endless, _) | (_, Length::Endless) => Length::Endless,
            (Length::Exact(a), Length::Exact(b)) => Length::Exact(a + b),
            (Length::Unknown, _) | (_, Length::Unknown) => Length::Unknown,
        };
        let shorter = |a, b| match (a, b) {
            (Length::Endless, other) | (other, Length::Endless) => other,
            (Length::Exact(a), Length::Exact(b)) => Length::Exact(a.min(b)),
            (Length::Unknown, _) | (_, Length::Unknown) => Length::Unknown,
        };
        match &self.order {
            Order::Chain | Order::Mix { stop: Stop::All, .. } => lengths.fold(Length::Exact(0), sum),
            Order::Zip => lengths.reduce(shorter).unwrap_or(Length::Exact(0)),
            Order::Mix { stop: Stop::First, .. } if lengths.all(|length| length == Length::Endless) => {
                Length::Endless
            }
            Order::Mix { stop: Stop::First, .. } => Length::Unknown,
        }
    }

    fn save(&mut self) -> State {
        let ended = State::List(self.has_ended.iter().map(|&ended| u64::from(ended).into()).collect());
        let streams = State::List(self.streams.iter().map(Upstream::save).collect());
        let key = match &self.order {
            Order::Mix { key, .. } => key.to_number().into(),
            Order::Chain | Order::Zip => State::Empty,
        };
        State::from([key, self.position.epoch.into(), self.position.index.into(), ended, streams])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [key, epoch, index, ended, streams] = state.list()?;
        if let Order::Mix { key: own, .. } = &mut self.order {
            *own = Key::from_number(key.number()?);
        }
        self.position = Position { epoch: epoch.number()?, index: index.number()? };
        for (own, ended) in self.has_ended.iter_mut().zip(ended.entries()?) {
            *own = ended.number()? != 0;
        }
        for (own, state) in self.streams.iter_mut().zip(streams.entries()?) {
            own.load(state, context)?;
        }
        Ok(())
    }

    fn above(&self) -> Vec<&Stream> {
        self.streams.iter().map(Upstream::stream).collect()
    }

    fn describe(&self, description: &mut Description) {
        for stream in &self.streams {
            stream.stream().describe(description);
        }
        let count = self.streams.len();
        match &self.order {
            Order::Chain => description.add("chain", count.to_string()),
            Order::Zip => description.add("zip", count.to_string()),
            Order::Mix { weights, stop, .. } => description.add("mix", format!("{weights:?}, {stop:?}")),
        }
    }
}

/// The samples of several tickets as one.
struct ZipWork(Vec<Ticket>);

impl Work for ZipWork {
    fn run(self: Box<Self>, context: &Context<'_>) -> Result<Option<Sample>> {
        let mut zipped = Sample::new();
        for made in Ticket::run_all(self.0, context) {
            let Some(sample) = made? else { return Ok(None) };
            for (name, value) in sample {
                if zipped.get(name.as_str()).is_some() {
                    return Err(fault!(Value, "two streams have this key; use rename_key")
                        .at_stage("zip")
                        .at_key(name.as_str()));
                }
                zipped.set(name, value);
            }
        }
        Ok(Some(zipped))
    }
}
