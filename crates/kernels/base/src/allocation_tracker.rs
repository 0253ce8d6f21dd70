//! Allocation tracker: which part of a program owns the memory in use, when most of it is.

use std::cell::Cell;
use std::collections::HashMap;

thread_local! {
    /// The owner of the blocks that this thread allocates.
    static OWNER: Cell<Owner> = const { Cell::new(Owner::NO_STEP) };
}

/// A part of the program that allocates memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// Whoever allocated blocks before the tracking began.
    pub const BEFORE: Owner = Owner(0);
    /// The program outside of operations.
    pub const NO_STEP: Owner = Owner(1);

    /// The line of the program with this index.
    pub fn line(index: usize) -> Owner {
        Owner(u32::try_from(index + 2).unwrap_or(Owner::NO_STEP.0))
    }

    /// The index of the line.
    pub fn index(self) -> Option<usize> {
        (self.0 as usize).checked_sub(2)
    }
}

/// Set the owner of the blocks that this thread allocates from now on; returns the previous one.
pub fn set_owner(owner: Owner) -> Owner {
    OWNER.replace(owner)
}

/// The bytes in use at the peak of a tracked period.
#[derive(Clone, Debug)]
pub struct MemoryPeak {
    /// All bytes.
    pub bytes: usize,
    by_owner: Vec<usize>,
}

impl MemoryPeak {
    /// The owners of memory and their bytes.
    pub fn by_owner(&self) -> impl Iterator<Item = (Owner, usize)> {
        let owners = self.by_owner.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
        owners.map(|(owner, &bytes)| (Owner(owner as u32), bytes))
    }
}

/// The blocks of a tracked period.
pub(crate) struct Tracker {
    pub(crate) number: u64,
    /// Bytes and owner of the blocks allocated in the period, by their addresses.
    live: HashMap<usize, (usize, Owner)>,
    by_owner: Vec<usize>,
    peak: MemoryPeak,
}

impl Tracker {
    /// A period that begins with this many bytes in use.
    pub(crate) fn new(number: u64, active: usize) -> Tracker {
        let by_owner = vec![active];
        let peak = MemoryPeak { bytes: active, by_owner: by_owner.clone() };
        Tracker { number, live: HashMap::new(), by_owner, peak }
    }

    /// This thread has allocated a block.
    pub(crate) fn allocated(&mut self, address: usize, bytes: usize, active: usize) {
        let owner = OWNER.get();
        let index = owner.0 as usize;
        if self.by_owner.len() <= index {
            self.by_owner.resize(index + 1, 0);
        }
        self.by_owner[index] += bytes;
        self.live.insert(address, (bytes, owner));
        if active > self.peak.bytes {
            self.peak.bytes = active;
            self.peak.by_owner.clone_from(&self.by_owner);
        }
    }

    /// A block of this many counted bytes was freed.
    pub(crate) fn freed(&mut self, address: usize, bytes: usize) {
        let (bytes, owner) = self.live.remove(&address).unwrap_or((bytes, Owner::BEFORE));
        let total = &mut self.by_owner[owner.0 as usize];
        *total = total.saturating_sub(bytes);
    }

    pub(crate) fn into_peak(self) -> MemoryPeak {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_by_owner() {
        let mut tracker = Tracker::new(0, 100);
        let before = set_owner(Owner::line(0));
        tracker.allocated(0x40, 10, 110);
        set_owner(Owner::line(1));
        tracker.allocated(0x80, 20, 130);
        // One block from before is freed, then one of the period.
        tracker.freed(0x1000, 30);
        tracker.freed(0x40, 10);
        set_owner(before);
        tracker.allocated(0xc0, 5, 95);
        let peak = tracker.into_peak();
        assert_eq!(peak.bytes, 130);
        let bytes: Vec<(Option<usize>, usize)> =
            peak.by_owner().map(|(owner, bytes)| (owner.index(), bytes)).collect();
        assert_eq!(bytes, [(None, 100), (Some(0), 10), (Some(1), 20)]);
    }
}
