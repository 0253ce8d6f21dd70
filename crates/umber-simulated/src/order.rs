//! Race detector: vector clocks of streams, and the uses of every block of memory.
//!
//! Only what the host asked for decides, in the order in which it asked: never how far the streams have come.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// For each stream, how many pieces of its work are over.
type Clock = Arc<BTreeMap<u32, u64>>;

/// How many earlier clocks of a stream are kept. Of an event before all of them only the event itself is known.
const HISTORY: usize = 4096;

#[derive(Default)]
struct Lane {
    /// Number of the newest work.
    started: u64,
    /// What is over before the next work begins.
    clock: Clock,
    /// Earlier clocks, each with the number of the first work that began with it.
    history: VecDeque<(u64, Clock)>,
}

/// A piece of work that uses a block.
#[derive(Clone, Copy)]
struct Use {
    stream: u32,
    number: u64,
    name: &'static str,
}

#[derive(Default)]
struct Uses {
    written: Option<Use>,
    /// The newest of each stream since the block was written.
    read: Vec<Use>,
}

/// The order of all work that was started on a device.
#[derive(Default)]
pub(crate) struct Order {
    lanes: HashMap<u32, Lane>,
    blocks: HashMap<u64, Uses>,
}

impl Lane {
    /// What was over when work `number` began.
    fn clock_at(&self, number: u64) -> Clock {
        let known = self.history.partition_point(|(first, _)| *first <= number);
        known.checked_sub(1).map_or_else(Clock::default, |last| Arc::clone(&self.history[last].1))
    }
}

impl Order {
    /// Number of the newest work of a stream.
    pub(crate) fn started(&self, stream: u32) -> u64 {
        self.lanes.get(&stream).map_or(0, |lane| lane.started)
    }

    /// Number the next work of a stream, which reads and writes these blocks.
    ///
    /// # Errors
    /// The first access that is not ordered, in words; the work is not numbered then.
    pub(crate) fn start(
        &mut self,
        stream: u32,
        name: &'static str,
        reads: &[u64],
        writes: &[u64],
    ) -> Result<u64, String> {
        let lane = self.lanes.entry(stream).or_default();
        let check = |other: &Use, verb: &str, did: &str| {
            let known = lane.clock.get(&other.stream).copied().unwrap_or(0);
            if other.stream == stream || known >= other.number {
                return Ok(());
            }
            Err(format!(
                "{name} on stream {stream} {verb} a block that {} on stream {} {did} as its work {}, without \
                 waiting for it: it waited for work {known}",
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
        lane.started += 1;
        let own = Use { stream, number: lane.started, name };
        for block in reads {
            let read = &mut self.blocks.entry(*block).or_default().read;
            read.retain(|other| other.stream != stream);
            read.push(own);
        }
        for block in writes {
            self.blocks.insert(*block, Uses { written: Some(own), read: Vec::new() });
        }
        Ok(own.number)
    }

    /// Number the wait of a stream for an event, which orders the stream's later work after it: up to work `number` of stream `other`.
    pub(crate) fn wait(&mut self, stream: u32, other: u32, number: u64) {
        let carried = self.lanes.get(&other).map(|lane| lane.clock_at(number)).unwrap_or_default();
        let lane = self.lanes.entry(stream).or_default();
        lane.started += 1;
        let own = carried.iter().map(|(&stream, &number)| (stream, number)).chain([(other, number)]);
        let clock = Arc::make_mut(&mut lane.clock);
        for (stream, number) in own {
            let known = clock.entry(stream).or_default();
            *known = number.max(*known);
        }
        if lane.history.len() == HISTORY {
            lane.history.pop_front();
        }
        lane.history.push_back((lane.started, Arc::clone(&lane.clock)));
    }

    /// Forget a block that is given back after these events; returns its uses that they do not cover, and the accusation.
    pub(crate) fn release(&mut self, block: u64, after: &[(u32, u64)]) -> Vec<(u32, u64, String)> {
        let Some(uses) = self.blocks.remove(&block) else { return Vec::new() };
        let is_covered = |own: &Use| {
            after.iter().any(|&(other, number)| {
                let carries =
                    || Some(*self.lanes.get(&other)?.clock_at(number).get(&own.stream)? >= own.number);
                other == own.stream && number >= own.number || carries() == Some(true)
            })
        };
        let uncovered = uses.written.iter().chain(&uses.read).filter(|own| !is_covered(own));
        let accuse = |own: &Use| {
            let text = format!(
                "use after free: a block was released before {} on stream {} finished with it as its work {}",
                own.name, own.stream, own.number
            );
            (own.stream, own.number, text)
        };
        uncovered.map(accuse).collect()
    }
}
