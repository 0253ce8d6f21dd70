//! An operation: a function of a sample, and the interpreter that user's functions run in.

use std::fmt;
use std::sync::Arc;

use crate::error::{DataError, Result};
use crate::ops::Keys;
use crate::ops::image::{Cropping, Resizing, resized_crop};
use crate::random::{Draw, Key, Position};
use crate::sample::Sample;
use crate::stage::{StageReport, Stopwatch};

/// A function of one sample.
///
/// It runs on any thread, for several samples at once. Its result depends on the sample and on `draw` alone.
pub trait Operation: Send + Sync + 'static {
    /// Its public name, for errors and reports.
    fn name(&self) -> &str;

    /// Its arguments as text: two operations of a name with equal texts do the same. States compare it.
    fn arguments(&self) -> String;

    /// The result for a sample; `None` leaves the sample out of a stream.
    ///
    /// # Errors
    /// If the sample is not what the operation expects. The caller adds the operation's name and the sample's number.
    fn apply(&self, sample: Sample, draw: &Draw) -> Result<Option<Sample>>;

    /// Whether it draws random numbers.
    fn is_random(&self) -> bool {
        false
    }

    /// Whether it may leave samples out.
    fn may_drop(&self) -> bool {
        false
    }

    /// The interpreter that it runs in, if it calls a function of a language with a lock.
    fn interpreter(&self) -> Option<&dyn Interpreter> {
        None
    }

    /// Its keys and itself, if it resizes images: a crop behind it is done at once with it.
    fn as_resizing(&self) -> Option<(&Keys, &dyn Resizing)> {
        None
    }

    /// Its keys and itself, if it keeps a window of images.
    fn as_cropping(&self) -> Option<(&Keys, &dyn Cropping)> {
        None
    }
}

/// A language whose functions run under a lock.
pub trait Interpreter: Send + Sync {
    /// Run `body` with the lock held.
    fn hold(&self, body: &mut dyn FnMut());
}

/// An operation of a pipeline, with the key of its random numbers.
pub(crate) struct Map {
    pub operation: Arc<dyn Operation>,
    pub key: Key,
    watch: Stopwatch,
}

impl Map {
    pub(crate) fn new(operation: Arc<dyn Operation>) -> Map {
        let key = if operation.is_random() { Key::next() } else { Key::from_seed(0) };
        Map::with_key(operation, key)
    }

    pub(crate) fn with_key(operation: Arc<dyn Operation>, key: Key) -> Map {
        Map { operation, key, watch: Stopwatch::default() }
    }

    /// Apply it to the sample at a position.
    pub(crate) fn apply(&self, sample: Sample, position: Position) -> Result<Option<Sample>> {
        let draw = Draw::new(self.key, position);
        let made = self.watch.time(|| self.operation.apply(sample, &draw));
        made.map_err(|error| error.in_stage(self.operation.name()).at_index(position.index))
    }

    /// Whether a crop behind it can be done at once with it.
    pub(crate) fn is_resizing(&self) -> bool {
        self.operation.as_resizing().is_some()
    }

    /// Apply it and the operation behind it at once, if it resizes an image in place and that one crops it in place. The crop's random
    /// numbers are those of its own position. Otherwise the sample is left as it is.
    pub(crate) fn apply_with(
        &self,
        sample: &mut Option<Sample>,
        (next, position): (&Map, Position),
    ) -> Option<Result<Option<Sample>>> {
        let (resized, resizing) = self.operation.as_resizing()?;
        let (cropped, cropping) = next.operation.as_cropping()?;
        if resized.output.is_some() || cropped.output.is_some() || cropped.key != resized.key {
            return None;
        }
        let draw = Draw::new(next.key, position);
        let mut sample = sample.take()?;
        let made = self.watch.time(|| {
            let change = |value| resized_crop(&value, resizing, cropping, &draw);
            sample.update(&cropped.key, None, change)
        });
        let named = |error: DataError| error.in_stage(self.operation.name()).at_index(position.index);
        Some(made.map(|()| Some(sample)).map_err(named))
    }

    /// What it has done.
    pub(crate) fn report(&self) -> StageReport {
        let (calls, time) = self.watch.read();
        StageReport { name: self.operation.name().to_owned(), calls, time, ..StageReport::default() }
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.operation.name(), self.operation.arguments())
    }
}

/// An operation made of a Rust function.
pub struct Function<F> {
    name: String,
    function: F,
}

impl<F> Function<F>
where
    F: Fn(Sample) -> Result<Option<Sample>> + Send + Sync + 'static,
{
    /// An operation of this name; names stand for functions in states.
    pub fn new(name: impl Into<String>, function: F) -> Function<F> {
        Function { name: name.into(), function }
    }
}

impl<F> Operation for Function<F>
where
    F: Fn(Sample) -> Result<Option<Sample>> + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn arguments(&self) -> String {
        String::new()
    }

    fn apply(&self, sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        (self.function)(sample)
    }

    fn may_drop(&self) -> bool {
        true
    }
}
