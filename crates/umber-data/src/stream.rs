//! A stream: samples read once, in order.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fault;
use crate::operation::{Function, Operation};
use crate::random::{Key, Position};
use crate::run::{Context, Gate, Passed};
use crate::sample::{Name, Sample};
use crate::stage::{
    Batch, BatchOptions, Buffered, Cache, Description, DynamicBatch, DynamicBatchOptions, Enumerate, Expand,
    Length, MapStage, OnError, Pick, Picked, Policy, Prefetch, RecordsFromKey, Refill, Repeat, Report,
    Several, Shuffle, SlidingWindow, Stage, Stop,
};
use crate::state::State;
use crate::ticket::Ticket;

/// Samples that are read once, in order, until [`Stream::reset`].
///
/// A handle: clones, and streams derived from it, advance one position. Several threads may read; every sample goes to one of them.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

struct Inner {
    stage: Gate<Box<dyn Stage>>,
}

/// The state of a stream between two samples, to be stored and loaded into an equal pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    /// Of the form of the state.
    pub version: u32,
    /// The stages, from the source down.
    pub pipeline: Vec<String>,
    /// Where the stream is.
    pub state: State,
}

const VERSION: u32 = 1;

impl Stream {
    /// A stream of a stage.
    pub fn new(stage: impl Stage + 'static) -> Stream {
        let stage: Box<dyn Stage> = Box::new(stage);
        Stream { inner: Arc::new(Inner { stage: Gate::new(stage) }) }
    }

    fn lock(&self) -> Result<Passed<'_, Box<dyn Stage>>> {
        self.inner.stage.pass()
    }

    /// Whether the stream can be asked for its length, state or report.
    ///
    /// # Errors
    /// If the caller is a function of this pipeline, which the stream waits for, or the user interrupts the program.
    pub fn check(&self) -> Result<()> {
        self.lock().map(drop)
    }

    /// The next ticket.
    pub fn draw(&self, context: &Context<'_>) -> Option<Ticket> {
        match self.lock() {
            Ok(mut stage) => stage.draw(context),
            Err(error) => Some(Ticket::failed(error, Position::default())),
        }
    }

    /// The next sample; `None` at the end.
    #[allow(clippy::should_implement_trait)] // Handles are shared: it takes no exclusive access.
    pub fn next(&self) -> Option<Result<Sample>> {
        let context = Context::alone();
        loop {
            match self.draw(&context)?.run(&context) {
                Ok(Some(sample)) => return Some(Ok(sample)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// The samples, to the end.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self)
    }

    /// Begin the next pass: sources start again, random stages draw new numbers.
    ///
    /// # Errors
    /// Those of the user's sources.
    pub fn reset(&self, context: &Context<'_>) -> Result<()> {
        self.lock()?.reset(context)
    }

    /// The number of samples of a pass.
    pub fn length(&self) -> Length {
        self.lock().map_or(Length::Unknown, |stage| stage.length())
    }

    /// Whether running a ticket may give no sample.
    pub fn may_drop(&self) -> bool {
        self.lock().map_or(true, |stage| stage.may_drop())
    }

    /// Add the stages to a description.
    pub fn describe(&self, description: &mut Description) {
        match self.lock() {
            Ok(stage) => stage.describe(description),
            Err(error) => description.add("a stage in use", error.to_string()),
        }
    }

    /// The position behind the last ticket.
    pub fn save(&self) -> State {
        self.lock().map_or(State::Empty, |mut stage| stage.save())
    }

    /// Go to a position.
    ///
    /// # Errors
    /// If the state is not one of such a stage.
    pub fn load(&self, state: &State, context: &Context<'_>) -> Result<()> {
        self.lock()?.load(state, context)
    }

    /// Stop the threads of all stages. The stream can be read again after a reset.
    pub fn close(&self) {
        if let Ok(mut stage) = self.lock() {
            stage.close();
        }
    }

    /// Add what the stages have done.
    pub fn report_into(&self, report: &mut Report) {
        if let Ok(stage) = self.lock() {
            stage.report(report);
        }
    }

    /// What the stages have done so far.
    pub fn report(&self) -> Report {
        let mut report = Report::default();
        self.report_into(&mut report);
        report
    }

    fn pipeline(&self) -> Vec<String> {
        let mut description = Description::default();
        self.describe(&mut description);
        description.0
    }

    /// What is needed to read the rest later, in another process, too: the samples behind the last one delivered.
    pub fn state(&self) -> SavedState {
        SavedState { version: VERSION, pipeline: self.pipeline(), state: self.save() }
    }

    /// Continue where a state was taken.
    ///
    /// # Errors
    /// If it was taken of another pipeline; the error names the first stage that differs. The stream stays where it is.
    pub fn load_state(&self, saved: &SavedState) -> Result<()> {
        let refuse = |text: String| Err(fault!(Value, "{text}").at_stage("load_state_dict"));
        if saved.version != VERSION {
            return refuse(format!("a state of version {}, this is version {VERSION}", saved.version));
        }
        let own = self.pipeline();
        for index in 0..own.len().max(saved.pipeline.len()) {
            let (own, saved) = (own.get(index), saved.pipeline.get(index));
            if own != saved {
                let text = |stage: Option<&String>| stage.cloned().unwrap_or_else(|| "nothing".to_owned());
                return refuse(format!(
                    "the state is of another pipeline: stage {index} was {}, here it is {}",
                    text(saved),
                    text(own)
                ));
            }
        }
        let (before, context) = (self.save(), Context::alone());
        self.load(&saved.state, &context).inspect_err(|_| {
            // Stages above may have moved before one refused.
            let _ = self.load(&before, &context);
        })
    }

    /// Apply an operation to every sample.
    #[must_use]
    pub fn apply(&self, operation: impl Operation) -> Stream {
        self.apply_shared(Arc::new(operation))
    }

    /// [`Stream::apply`] of an operation that others share.
    #[must_use]
    pub fn apply_shared(&self, operation: Arc<dyn Operation>) -> Stream {
        Stream::new(MapStage::new(self.clone(), operation))
    }

    /// Apply a function to every sample; `None` leaves it out. The name stands for the function in states.
    #[must_use]
    pub fn map<F>(&self, name: &str, function: F) -> Stream
    where
        F: Fn(Sample) -> Result<Option<Sample>> + Send + Sync + 'static,
    {
        self.apply(Function::new(name, function))
    }

    /// Merge samples into batches.
    ///
    /// # Errors
    /// If the options have no size, or one of zero.
    pub fn batch(&self, options: BatchOptions) -> Result<Stream> {
        Ok(Stream::new(Batch::new(self.clone(), options)?))
    }

    /// Shuffle within a buffer of `size` tickets; with a seed of its own, or the next one of the process.
    #[must_use]
    pub fn shuffle(&self, size: usize, seed: Option<u64>) -> Stream {
        Stream::new(Shuffle::new(self.clone(), size, Key::from_optional_seed(seed)))
    }

    /// Read `times + 1` passes as one; without a number, for ever.
    #[must_use]
    pub fn repeat(&self, times: Option<u64>) -> Stream {
        Stream::new(Repeat::new(self.clone(), times))
    }

    /// Every `count`-th sample from `part` on.
    ///
    /// # Errors
    /// If `part` is not below `count`.
    pub fn partition(&self, count: u64, part: u64) -> Result<Stream> {
        if part >= count {
            return Err(fault!(Value, "part {part} of {count}: parts are numbered from 0 to count - 1")
                .at_stage("partition"));
        }
        Ok(Stream::new(Pick::new(self.clone(), Picked::Part { count, part, is_even: false })))
    }

    /// The samples of one of `count` processes, numbered `rank`, which is below the count. Even parts leave out the last samples that
    /// do not divide evenly.
    #[must_use]
    pub fn by_rank(&self, count: u64, rank: u64, is_even: bool) -> Stream {
        Stream::new(Pick::new(self.clone(), Picked::Part { count: count.max(1), part: rank, is_even }))
    }

    /// Number the samples of a pass, under `key`.
    #[must_use]
    pub fn enumerate(&self, key: Name) -> Stream {
        Stream::new(Enumerate::new(self.clone(), key))
    }

    /// Keep the samples of the first pass for the following ones.
    #[must_use]
    pub fn cache(&self) -> Stream {
        Stream::new(Cache::new(self.clone()))
    }

    /// The first `count` samples of a pass.
    #[must_use]
    pub fn take(&self, count: u64) -> Stream {
        Stream::new(Pick::new(self.clone(), Picked::First(count)))
    }

    /// All but the first `count` samples of a pass.
    #[must_use]
    pub fn skip(&self, count: u64) -> Stream {
        Stream::new(Pick::new(self.clone(), Picked::AllBut(count)))
    }

    /// Gather `size` samples into a buffer, apply a function to it, and read the result.
    #[must_use]
    pub fn buffered(&self, size: usize, refill: Option<Refill>) -> Stream {
        Stream::new(Expand::new(self.clone(), Buffered::new(size, refill)))
    }

    /// The records of the files that samples name or hold.
    #[must_use]
    pub fn records(&self, records: RecordsFromKey) -> Stream {
        Stream::new(Expand::new(self.clone(), records))
    }

    /// Windows of a value.
    #[must_use]
    pub fn sliding_window(&self, window: SlidingWindow) -> Stream {
        Stream::new(Expand::new(self.clone(), window))
    }

    /// Batches of about the same number of elements, made of `buffer_size` samples at a time.
    ///
    /// # Errors
    /// If the buffer size is zero, or the least size exceeds the largest.
    pub fn dynamic_batch(
        &self,
        buffer_size: usize,
        options: DynamicBatchOptions,
        shuffle: Option<Key>,
        most_kept: usize,
    ) -> Result<Stream> {
        let batches = DynamicBatch::new(buffer_size, options, shuffle, most_kept)?;
        Ok(Stream::new(Expand::new(self.clone(), batches)))
    }

    /// What becomes of samples that fail in the stages above. More errors than `limit` are raised.
    #[must_use]
    pub fn on_error(&self, policy: Policy, limit: Option<u64>) -> Stream {
        Stream::new(OnError::new(self.clone(), policy, limit))
    }

    /// The samples of these streams, one stream after the other.
    pub fn chain(streams: Vec<Stream>) -> Stream {
        Stream::new(Several::chain(streams))
    }

    /// Samples with the values of one sample of each stream, until one ends.
    pub fn zip(streams: Vec<Stream>) -> Stream {
        Stream::new(Several::zip(streams))
    }

    /// Samples of random streams, chosen by weight.
    ///
    /// # Errors
    /// If there are not as many weights as streams, or they are not positive numbers.
    pub fn mix(streams: Vec<Stream>, weights: Vec<f64>, seed: Option<u64>, stop: Stop) -> Result<Stream> {
        Ok(Stream::new(Several::mix(streams, weights, Key::from_optional_seed(seed), stop)?))
    }

    /// Run up to `depth` tickets ahead on `threads` threads. Without numbers: as many threads as cores, two tickets a thread.
    #[must_use]
    pub fn prefetch(&self, depth: Option<usize>, threads: Option<usize>, is_ordered: bool) -> Stream {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = threads.unwrap_or_else(cores);
        let depth = depth.unwrap_or(2 * threads);
        Stream::new(Prefetch::new(self.clone(), depth, threads, is_ordered))
    }
}

/// The samples of a stream, to its end.
#[derive(Debug)]
pub struct Iter<'a>(&'a Stream);

impl Iterator for Iter<'_> {
    type Item = Result<Sample>;

    fn next(&mut self) -> Option<Result<Sample>> {
        self.0.next()
    }
}

impl<'a> IntoIterator for &'a Stream {
    type Item = Result<Sample>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.pipeline().join(" -> "))
    }
}
