//! Cache: plans by their programs.
//!
//! A user's loop records the same graph in every iteration; it is planned once. The lookup compares a draft with the cached
//! programs, so that a hit builds no program.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::Plan;
use crate::graph::Program;
use crate::graph::walk::AddressHasher;

/// Maximum number of cached plans.
const MAX_PLANS: usize = 512;
/// Programs with more steps are not cached.
const MAX_CACHED_STEPS: usize = 1 << 14;

struct Entry {
    program: Program,
    plan: Arc<Plan>,
    /// Time of the last lookup that found it.
    last_used: u64,
}

/// Plans by the hash of their programs.
pub(crate) struct Plans {
    by_hash: Option<HashMap<u64, Vec<Entry>, BuildHasherDefault<AddressHasher>>>,
    count: usize,
    now: u64,
}

impl Plans {
    pub(crate) const fn new() -> Plans {
        Plans { by_hash: None, count: 0, now: 0 }
    }

    /// The plan with this hash for which, with its program, `matches` is true.
    pub(crate) fn find(&mut self, hash: u64, matches: impl Fn(&Program, &Plan) -> bool) -> Option<Arc<Plan>> {
        self.now += 1;
        let entries = self.by_hash.as_mut()?.get_mut(&hash)?;
        let entry = entries.iter_mut().find(|entry| matches(&entry.program, &entry.plan))?;
        entry.last_used = self.now;
        Some(Arc::clone(&entry.plan))
    }

    /// Keep a plan.
    pub(crate) fn keep(&mut self, hash: u64, program: Program, plan: &Arc<Plan>) {
        if program.steps.len() > MAX_CACHED_STEPS {
            return;
        }
        if self.count >= MAX_PLANS {
            self.evict();
        }
        let entry = Entry { program, plan: Arc::clone(plan), last_used: self.now };
        self.by_hash.get_or_insert_default().entry(hash).or_default().push(entry);
        self.count += 1;
    }

    /// Evict the least recently used half.
    fn evict(&mut self) {
        let Some(by_hash) = &mut self.by_hash else { return };
        let mut times: Vec<u64> = by_hash.values().flatten().map(|entry| entry.last_used).collect();
        let middle = times.len() / 2;
        let (_, &mut median, _) = times.select_nth_unstable(middle);
        by_hash.retain(|_, entries| {
            entries.retain(|entry| entry.last_used > median);
            !entries.is_empty()
        });
        self.count = by_hash.values().map(Vec::len).sum();
    }
}
