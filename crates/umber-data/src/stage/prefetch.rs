//! The stage that runs the tickets above it ahead, on threads of its own.

use std::sync::Arc;

use crate::error::Result;
use crate::random::Position;
use crate::run::{Context, Pool};
use crate::stage::{Description, Length, Report, Stage, StageReport, Stopwatch};
use crate::state::State;
use crate::stream::Stream;
use crate::ticket::Ticket;

/// Draws up to `depth` tickets ahead and runs them on `threads` threads, which start at the first draw.
pub struct Prefetch {
    stream: Stream,
    depth: usize,
    threads: usize,
    is_ordered: bool,
    pool: Option<Arc<Pool>>,
    /// The state behind the last sample delivered, while the threads run.
    after: Option<State>,
    waits: Stopwatch,
    /// Whether there is no more to read before a reset.
    is_closed: bool,
}

impl Prefetch {
    /// The stage below `stream`. Unordered, a sample is delivered as soon as it is ready.
    pub fn new(stream: Stream, depth: usize, threads: usize, is_ordered: bool) -> Prefetch {
        Prefetch {
            stream,
            depth,
            threads,
            is_ordered,
            pool: None,
            after: None,
            waits: Stopwatch::default(),
            is_closed: false,
        }
    }

    /// Stop the threads; tickets drawn ahead are dropped.
    fn stop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.close();
            pool.join(None);
        }
        self.after = None;
        self.is_closed = false;
    }
}

impl Stage for Prefetch {
    fn draw(&mut self, _context: &Context<'_>) -> Option<Ticket> {
        if self.is_closed {
            return None;
        }
        if self.pool.is_none() {
            self.after = Some(self.stream.save());
            self.pool = Some(Pool::start(self.stream.clone(), self.depth, self.threads, self.is_ordered));
        }
        let pool = self.pool.as_ref()?;
        loop {
            match self.waits.time(|| pool.next()) {
                Ok(Some(delivered)) => {
                    self.after = Some(delivered.after);
                    match delivered.result {
                        Ok(Some(sample)) => return Some(Ticket::sample(sample, delivered.position)),
                        Ok(None) => {}
                        Err(error) => return Some(Ticket::failed(error, delivered.position)),
                    }
                }
                Ok(None) => return None,
                Err(error) => return Some(Ticket::failed(error, Position::default())),
            }
        }
    }

    fn reset(&mut self, context: &Context<'_>) -> Result<()> {
        self.stop();
        self.stream.reset(context)
    }

    fn length(&self) -> Length {
        self.stream.length()
    }

    fn save(&mut self) -> State {
        self.after.clone().unwrap_or_else(|| self.stream.save())
    }

    fn load(&mut self, state: &State, context: &Context<'_>) -> Result<()> {
        self.stop();
        self.stream.load(state, context)
    }

    /// Nothing is added: threads and depth do not change what comes, if it is ordered.
    fn above(&self) -> Vec<&Stream> {
        vec![&self.stream]
    }

    fn close(&mut self) {
        let after = self.after.take();
        self.stop();
        self.after = after;
        self.is_closed = true;
        self.stream.close();
    }

    fn report(&self, report: &mut Report) {
        self.stream.report_into(report);
        let (calls, waits) = self.waits.read();
        report.stages.push(StageReport {
            name: "prefetch".to_owned(),
            calls,
            waits,
            ..StageReport::default()
        });
    }

    fn describe(&self, description: &mut Description) {
        self.stream.describe(description);
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        // Not joined: the thread that drops it may hold the interpreter's lock, which the threads may wait for.
        if let Some(pool) = &self.pool {
            pool.close();
        }
    }
}
