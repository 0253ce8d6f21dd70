//! Race detector: vector clocks of streams, and the accesses to every block of memory.
//!
//! The result depends only on the sequence of the host's calls, never on the progress of the streams.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// For each stream, the number of pieces of its work that have finished.
type Clock = Arc<BTreeMap<u32, u64>>;

/// Number of earlier clocks kept per stream. An event before all of them carries no clock: it orders only its own stream.
const HISTORY: usize = 4096;

#[derive(Default)]
struct StreamClock {
    /// Number of the newest work.
    started: u64,
    /// The work that has finished before the next work begins.
    clock: Clock,
    /// Earlier clocks, each with the number of the first work that began with it.
    history: VecDeque<(u64, Clock)>,
}

/// An access of a piece of work to a block.
#[derive(Clone, Copy)]
struct Use {
    stream: u32,
    number: u64,
    name: &'static str,
}

#[derive(Default)]
struct Uses {
    written: Option<Use>,
    /// The newest read of each stream since the block was written.
    read: Vec<Use>,
}

/// The order of all work that was started on a device.
#[derive(Default)]
pub(crate) struct Order {
    streams: HashMap<u32, StreamClock>,
    blocks: HashMap<u64, Uses>,
}

impl StreamClock {
    /// The clock with which work `number` began.
    fn clock_at(&self, number: u64) -> Clock {
        let count = self.history.partition_point(|(first, _)| *first <= number);
        count.checked_sub(1).map_or_else(Clock::default, |last| Arc::clone(&self.history[last].1))
    }
}

impl Order {
    /// Number of the newest work of a stream.
    pub(crate) fn started(&self, stream: u32) -> u64 {
        self.streams.get(&stream).map_or(0, |stream_clock| stream_clock.started)
    }

    /// Number the next work of a stream, which reads and writes these blocks.
    ///
    /// # Errors
    /// The message of the first access that is not ordered; the work is not numbered then.
    pub(crate) fn start(
        &mut self,
        stream: u32,
        name: &'static str,
        reads: &[u64],
        writes: &[u64],
    ) -> Result<u64, String> {
        let stream_clock = self.streams.entry(stream).or_default();
        let check = |other: &Use, verb: &str, other_verb: &str| {
            let waited_for = stream_clock.clock.get(&other.stream).copied().unwrap_or(0);
            if other.stream == stream || waited_for >= other.number {
                return Ok(());
            }
            Err(format!(
                "{name} on stream {stream} {verb} a block that {} on stream {} {other_verb} as its work {}, without \
                 waiting for it: it waited for work {waited_for}",
                other.name, other.stream, other.number
            ))
        };
        for uses in reads.iter().filter_map(|block| self.blocks.get(block)) {
            uses.written.iter().try_for_each(|other| check(other, "reads", "writes"))?;
        }
        for uses in writes.iter().filter_map(|block| self.blocks.get(block)) {
            uses.written.iter().try_for_each(|other| check(other, "overwrites", "writes"))?;
            uses.read.iter().try_for_each(|other| check(other, "overwrites", "reads"))?;
        }
        stream_clock.started += 1;
        let new_use = Use { stream, number: stream_clock.started, name };
        for block in reads {
            let read = &mut self.blocks.entry(*block).or_default().read;
            read.retain(|other| other.stream != stream);
            read.push(new_use);
        }
        for block in writes {
            self.blocks.insert(*block, Uses { written: Some(new_use), read: Vec::new() });
        }
        Ok(new_use.number)
    }

    /// Number the wait of `stream` for an event: its later work is ordered after work `number` of stream `other`, and after the
    /// work that this was ordered after.
    pub(crate) fn wait(&mut self, stream: u32, other: u32, number: u64) {
        let carried =
            self.streams.get(&other).map(|stream_clock| stream_clock.clock_at(number)).unwrap_or_default();
        let stream_clock = self.streams.entry(stream).or_default();
        stream_clock.started += 1;
        let waited_for = carried.iter().map(|(&stream, &number)| (stream, number)).chain([(other, number)]);
        let clock = Arc::make_mut(&mut stream_clock.clock);
        for (stream, number) in waited_for {
            let entry = clock.entry(stream).or_default();
            *entry = number.max(*entry);
        }
        if stream_clock.history.len() == HISTORY {
            stream_clock.history.pop_front();
        }
        stream_clock.history.push_back((stream_clock.started, Arc::clone(&stream_clock.clock)));
    }

    /// Remove a block that is released after these events; returns the accesses that they do not cover, each with a message.
    pub(crate) fn release(&mut self, block: u64, after: &[(u32, u64)]) -> Vec<(u32, u64, String)> {
        let Some(uses) = self.blocks.remove(&block) else { return Vec::new() };
        let is_covered = |access: &Use| {
            after.iter().any(|&(other, number)| {
                let carries = || {
                    Some(*self.streams.get(&other)?.clock_at(number).get(&access.stream)? >= access.number)
                };
                other == access.stream && number >= access.number || carries() == Some(true)
            })
        };
        let uncovered = uses.written.iter().chain(&uses.read).filter(|access| !is_covered(access));
        let report = |access: &Use| {
            let text = format!(
                "use after free: a block was released before {} on stream {} finished with it as its work {}",
                access.name, access.stream, access.number
            );
            (access.stream, access.number, text)
        };
        uncovered.map(report).collect()
    }
}
