//! Cache: what a compiled function keeps for calls like earlier ones.
//!
//! A call is like another if its arguments have the same shapes and dtypes, whatever else the function sees is equal
//! ("constants"), and the default stream is the same. A cache belongs to one function and goes with it; of more than
//! [`CAPACITY`] kinds of calls, those not made for the longest time are forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use umber_types::Stream;

use crate::device;
use crate::graph::walk::AddressHasher;
use crate::graph::{Array, ArraySpec};

/// How many kinds of calls a function is ready for at most.
pub const CAPACITY: usize = 256;

#[derive(Debug)]
struct Entry<T> {
    specs: Box<[ArraySpec]>,
    constants: Box<[u8]>,
    stream: Stream,
    /// When it was last asked for, in calls.
    used: u64,
    value: Arc<T>,
}

#[derive(Debug)]
struct Entries<T> {
    /// By the hash of what calls must have in common.
    by_hash: HashMap<u64, Vec<Entry<T>>, BuildHasherDefault<AddressHasher>>,
    count: usize,
    calls: u64,
}

/// Values by kind of call. Threads share it.
#[derive(Debug)]
pub struct Cache<T> {
    entries: Mutex<Entries<T>>,
}

impl<T> Default for Cache<T> {
    fn default() -> Cache<T> {
        Cache { entries: Mutex::new(Entries { by_hash: HashMap::default(), count: 0, calls: 0 }) }
    }
}

fn hash(arguments: &[Array], constants: &[u8], stream: Stream) -> u64 {
    let mut hasher = AddressHasher::default();
    for argument in arguments {
        argument.spec().hash(&mut hasher);
    }
    constants.hash(&mut hasher);
    stream.hash(&mut hasher);
    hasher.finish()
}

impl<T> Entry<T> {
    fn answers(&self, arguments: &[Array], constants: &[u8], stream: Stream) -> bool {
        self.stream == stream
            && *self.constants == *constants
            && self.specs.iter().eq(arguments.iter().map(Array::spec))
    }
}

impl<T> Entries<T> {
    /// Take out the entry that was not asked for the longest.
    fn take_oldest(&mut self) -> Option<Entry<T>> {
        let ages =
            self.by_hash.iter().flat_map(|(&hash, list)| list.iter().map(move |entry| (entry.used, hash)));
        let (used, hash) = ages.min()?;
        let list = self.by_hash.get_mut(&hash)?;
        let place = list.iter().position(|entry| entry.used == used)?;
        let oldest = list.swap_remove(place);
        if list.is_empty() {
            self.by_hash.remove(&hash);
        }
        self.count -= 1;
        Some(oldest)
    }
}

impl<T> Cache<T> {
    fn lock(&self) -> MutexGuard<'_, Entries<T>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was kept for calls like this one.
    ///
    /// `constants` are the bytes of whatever else the traced function saw: numbers, strings, the structure of trees.
    pub fn find(&self, arguments: &[Array], constants: &[u8]) -> Option<Arc<T>> {
        let stream = device::current_stream();
        let hash = hash(arguments, constants, stream);
        let mut entries = self.lock();
        entries.calls += 1;
        let now = entries.calls;
        let list = entries.by_hash.get_mut(&hash)?;
        let entry = list.iter_mut().find(|entry| entry.answers(arguments, constants, stream))?;
        entry.used = now;
        Some(Arc::clone(&entry.value))
    }

    /// Keep `value` for calls like this one. What another thread kept meanwhile stays and is answered.
    pub fn keep(&self, arguments: &[Array], constants: &[u8], value: T) -> Arc<T> {
        let stream = device::current_stream();
        let hash = hash(arguments, constants, stream);
        let value = Arc::new(value);
        let mut entries = self.lock();
        let now = entries.calls;
        let list = entries.by_hash.entry(hash).or_default();
        if let Some(entry) = list.iter().find(|entry| entry.answers(arguments, constants, stream)) {
            return Arc::clone(&entry.value);
        }
        list.push(Entry {
            specs: arguments.iter().map(|argument| argument.spec().clone()).collect(),
            constants: constants.into(),
            stream,
            used: now,
            value: Arc::clone(&value),
        });
        entries.count += 1;
        let oldest = if entries.count > CAPACITY { entries.take_oldest() } else { None };
        drop(entries);
        // Captured arrays may run foreign code as they go: not under the lock.
        drop(oldest);
        value
    }

    /// Show everything that is kept, unless a call is looking something up right now; stops at the first error.
    pub fn visit<E>(&self, show: impl FnMut(&T) -> std::result::Result<(), E>) -> std::result::Result<(), E> {
        match self.entries.try_lock() {
            Ok(entries) => entries.by_hash.values().flatten().map(|entry| &*entry.value).try_for_each(show),
            Err(_) => Ok(()),
        }
    }

    /// How many kinds of calls it is ready for.
    pub fn len(&self) -> usize {
        self.lock().count
    }

    /// Is nothing kept?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
