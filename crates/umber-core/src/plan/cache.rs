//! Cache: plans by the program that they were made of.
//!
//! A loop of a user's records the same graph again and again: it is planned once. What is looked for is a draft of a
//! program, so that nothing is copied where the plan is there.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::Plan;
use crate::graph::Program;
use crate::graph::walk::AddressHasher;

/// How many plans are kept.
const MAX_PLANS: usize = 512;
/// And how many steps a program has at most of which the plan is kept.
const MAX_CACHED_STEPS: usize = 1 << 14;

struct Entry {
    program: Program,
    plan: Arc<Plan>,
    /// When it was last asked for.
    used: u64,
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

    /// The plan for which, and for whose program, `is_like` holds, all of which have this hash.
    pub(crate) fn find(&mut self, hash: u64, is_like: impl Fn(&Program, &Plan) -> bool) -> Option<Arc<Plan>> {
        self.now += 1;
        let entries = self.by_hash.as_mut()?.get_mut(&hash)?;
        let entry = entries.iter_mut().find(|entry| is_like(&entry.program, &entry.plan))?;
        entry.used = self.now;
        Some(Arc::clone(&entry.plan))
    }

    /// Keep a plan.
    pub(crate) fn keep(&mut self, hash: u64, program: Program, plan: &Arc<Plan>) {
        if program.steps.len() > MAX_CACHED_STEPS {
            return;
        }
        if self.count >= MAX_PLANS {
            self.forget();
        }
        let entry = Entry { program, plan: Arc::clone(plan), used: self.now };
        self.by_hash.get_or_insert_default().entry(hash).or_default().push(entry);
        self.count += 1;
    }

    /// Drop the half that was not asked for the longest.
    fn forget(&mut self) {
        let Some(by_hash) = &mut self.by_hash else { return };
        let mut ages: Vec<u64> = by_hash.values().flatten().map(|entry| entry.used).collect();
        let middle = ages.len() / 2;
        let (_, &mut age, _) = ages.select_nth_unstable(middle);
        by_hash.retain(|_, entries| {
            entries.retain(|entry| entry.used > age);
            !entries.is_empty()
        });
        self.count = by_hash.values().map(Vec::len).sum();
    }
}
