//! The stage that reads samples from an iterator of the user.

use std::sync::Arc;

use crate::error::Result;
use crate::fault;
use crate::operation::Interpreter;
use crate::random::Position;
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::{Description, Length, Stage};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Samples that a program makes one after the other.
pub trait Samples: Send {
    /// The next sample; `None` at the end.
    ///
    /// # Errors
    /// Those of the program.
    fn next(&mut self) -> Result<Option<Sample>>;

    /// Begin again.
    ///
    /// # Errors
    /// Those of the program.
    fn reset(&mut self) -> Result<()>;

    /// Its public name.
    fn name(&self) -> &str;

    /// Its arguments as text, for states.
    fn arguments(&self) -> String {
        String::new()
    }

    /// The number of samples of a pass.
    fn length(&self) -> Length {
        Length::Unknown
    }

    /// Its position, if it can tell.
    fn save(&mut self) -> Option<String> {
        None
    }

    /// Go to a position that [`Samples::save`] returned.
    ///
    /// # Errors
    /// Those of the program.
    fn load(&mut self, state: &str) -> Result<()> {
        let _ = state;
        Err(fault!(Value, "the source has no states"))
    }
}

/// Reads an iterator. Its state is the iterator's own, where it has one, else the number of samples, which are read again.
pub struct Iterable {
    samples: Box<dyn Samples>,
    /// Of the language that the iterator is written in, if that has a lock.
    interpreter: Option<Arc<dyn Interpreter>>,
    position: Position,
    has_ended: bool,
}

impl Iterable {
    /// The stage that reads `samples`.
    pub fn new(samples: Box<dyn Samples>, interpreter: Option<Arc<dyn Interpreter>>) -> Iterable {
        Iterable { samples, interpreter, position: Position::default(), has_ended: false }
    }

    /// Call a function of the iterator, with the interpreter's lock held.
    fn call<T>(
        &mut self,
        context: &Context<'_>,
        body: impl FnOnce(&mut dyn Samples) -> Result<T>,
    ) -> Result<T> {
        let name = self.samples.name().to_owned();
        let (mut body, mut result) = (Some(body), Err(fault!(Runtime, "the interpreter did not run")));
        let samples = &mut *self.samples;
        let mut run = || {
            if let Some(body) = body.take() {
                result = body(samples);
            }
        };
        match &self.interpreter {
            Some(interpreter) => context.hold(&**interpreter, &mut run),
            None => run(),
        }
        result.map_err(|error| error.at_stage(&name).at_index(self.position.index))
    }

    fn restart(&mut self, epoch: u64, context: &Context<'_>) -> Result<()> {
        self.position = Position { epoch, index: 0 };
        self.has_ended = false;
        self.call(context, |samples| samples.reset())
    }

    /// The next sample and its position.
    fn read(&mut self, context: &Context<'_>) -> Option<(Result<Sample>, Position)> {
        if self.has_ended {
            return None;
        }
        let position = self.position;
        let read = self.call(context, |samples| {
            let sample = samples.next()?;
            if sample.as_ref().is_some_and(Sample::is_empty) {
                return Err(fault!(Value, "a sample without keys; to leave one out, do not yield it"));
            }
            Ok(sample)
        });
        let read = match read {
            Ok(Some(sample)) => Ok(sample),
            Ok(None) => {
                self.has_ended = true;
                return None;
            }
            Err(error) => Err(error),
        };
        self.position.index += 1;
        Some((read, position))
    }
}

impl Stage for Iterable {
    fn draw(&mut self, context: &Context<'_>) -> Option<Ticket> {
        let (read, position) = self.read(context)?;
        Some(match read {
            Ok(sample) => Ticket::sample(sample, position),
            Err(error) => Ticket::failed(error, position),
        })
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.restart(self.position.epoch + 1, context)
    }

    fn length(&self) -> Length {
        self.samples.length()
    }

    fn save(&mut self) -> State {
        let own = self.samples.save().map_or(State::Empty, State::Text);
        State::from([self.position.epoch.into(), self.position.index.into(), own])
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        let [epoch, index, own] = state.list()?;
        let (epoch, index) = (epoch.number()?, index.number()?);
        self.restart(epoch, context)?;
        if let State::Text(own) = own {
            self.call(context, |samples| samples.load(own))?;
            self.position.index = index;
            return Ok(());
        }
        while self.position.index < index {
            // Other errors are in their samples' places again.
            if let Some((Err(error), _)) = self.read(context)
                && error.is_interrupt()
            {
                return Err(error);
            }
            if self.has_ended {
                return Err(fault!(
                    Value,
                    "the source ended before sample {index}, where the state was taken"
                )
                .at_stage("load_state_dict"));
            }
        }
        Ok(())
    }

    fn above(&self) -> Vec<&Stream> {
        Vec::new()
    }

    fn describe(&self, description: &mut Description) {
        description.add(self.samples.name(), self.samples.arguments());
    }
}
