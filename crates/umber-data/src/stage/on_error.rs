//! The stage that decides what becomes of samples that fail.

use std::sync::Arc;

use crate::error::{DataError, Result};
use crate::fault;
use crate::operation::Interpreter;
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::upstream::Upstream;
use crate::stage::{Description, Length, Report, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// A user's function of an error, which gives a substitute for the sample, or none to leave it out.
pub trait Handler: Send + Sync {
    /// The substitute.
    ///
    /// # Errors
    /// Those of the function, and the error itself to raise it.
    fn handle(&self, error: &DataError) -> Result<Option<Sample>>;

    /// The interpreter that it runs in, if it is of a language with a lock.
    fn interpreter(&self) -> Option<&dyn Interpreter> {
        None
    }
}

/// What becomes of a sample that fails.
#[derive(Clone)]
pub enum Policy {
    /// The error is raised.
    Raise,
    /// The sample is left out and counted.
    Skip,
    /// A function decides.
    Call(Arc<dyn Handler>),
}

/// How many errors a report quotes.
const QUOTED: usize = 100;

/// Reads the samples of the stream above and applies a policy to errors.
pub struct OnError {
    upstream: Upstream,
    policy: Policy,
    limit: Option<u64>,
    skipped: u64,
    quoted: Vec<DataError>,
}

impl OnError {
    /// The stage below `stream`. More errors than `limit` are raised.
    pub fn new(stream: Stream, policy: Policy, limit: Option<u64>) -> OnError {
        OnError { upstream: Upstream::new(stream), policy, limit, skipped: 0, quoted: Vec::new() }
    }

    fn decide(&mut self, error: DataError, context: &Context<'_>) -> Result<Option<Sample>> {
        let handled = match &self.policy {
            Policy::Raise => return Err(error),
            _ if error.is_interrupt() => return Err(error),
            Policy::Skip => Ok(None),
            Policy::Call(handler) => {
                let mut handled = Ok(None);
                let mut call = || handled = handler.handle(&error);
                match handler.interpreter() {
                    Some(interpreter) => context.hold(interpreter, &mut call),
                    None => call(),
                }
                handled
            }
        };
        self.skipped += 1;
        if self.quoted.len() < QUOTED {
            self.quoted.push(error.clone());
        }
        match self.limit {
            Some(limit) if self.skipped > limit => {
                Err(fault!(Runtime, "more than {limit} samples failed; the last error was: {error}")
                    .at_stage("on_error"))
            }
            _ => handled,
        }
    }
}

impl Stage for OnError {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        loop {
            let (read, position) = self.upstream.next(context)?;
            let made = match read {
                Ok(sample) => Ok(Some(sample)),
                Err(error) => self.decide(error, context),
            };
            match made {
                Ok(Some(sample)) => return Some(Ticket::sample(sample, position)),
                Ok(None) => {}
                Err(error) => return Some(Ticket::failed(error, position)),
            }
        }
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.upstream.reset(context)
    }

    fn length(&self) -> Length {
        match (self.upstream.stream().length(), &self.policy) {
            (Length::Exact(_), Policy::Skip | Policy::Call(_)) => Length::Unknown,
            (length, _) => length,
        }
    }

    fn save(&mut self) -> State {
        State::from([self.skipped.into(), self.upstream.save()])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [skipped, upstream] = state.list()?;
        self.skipped = skipped.number()?;
        self.upstream.load(upstream, context)
    }

    fn describe(&self, description: &mut Description) {
        self.upstream.stream().describe(description);
        let policy = match self.policy {
            Policy::Raise => "raise",
            Policy::Skip => "skip",
            Policy::Call(_) => "a function",
        };
        description.add("on_error", format!("{policy}, {:?}", self.limit));
    }

    fn above(&self) -> Vec<&Stream> {
        vec![self.upstream.stream()]
    }

    fn report(&self, report: &mut Report) {
        self.upstream.stream().report_into(report);
        report.skipped += self.skipped;
        let free = QUOTED.saturating_sub(report.errors.len());
        report.errors.extend(self.quoted.iter().take(free).cloned());
    }
}
