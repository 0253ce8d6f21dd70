//! Cache of a compiled function: one value for each kind of call.
//!
//! Two calls are of one kind if their arguments have the same shapes and dtypes, all other inputs ("constants") are equal, and
//! the default stream is the same. Each function has its own cache; beyond [`CAPACITY`] kinds of calls, the least recently
//! used ones are evicted.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use umber_types::Stream;

use crate::device;
use crate::graph::walk::AddressHasher;
use crate::graph::{Array, ArraySpec};

/// Maximum number of kinds of calls that are cached.
pub const CAPACITY: usize = 256;

#[derive(Debug)]
struct Entry<T> {
    specs: Box<[ArraySpec]>,
    constants: Box<[u8]>,
    stream: Stream,
    /// The call that last used it, counted from the first.
    last_used: u64,
    value: Arc<T>,
}

#[derive(Debug)]
struct Entries<T> {
    /// By the hash of the key.
    by_hash: HashMap<u64, Vec<Entry<T>>, BuildHasherDefault<AddressHasher>>,
    count: usize,
    calls: u64,
}

/// Values by kind of call, shared by threads.
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
    fn matches(&self, arguments: &[Array], constants: &[u8], stream: Stream) -> bool {
        self.stream == stream
            && *self.constants == *constants
            && self.specs.iter().eq(arguments.iter().map(Array::spec))
    }
}

impl<T> Entries<T> {
    /// Remove the least recently used entry.
    fn remove_oldest(&mut self) -> Option<Entry<T>> {
        let times = self
            .by_hash
            .iter()
            .flat_map(|(&hash, list)| list.iter().map(move |entry| (entry.last_used, hash)));
        let (last_used, hash) = times.min()?;
        let list = self.by_hash.get_mut(&hash)?;
        let index = list.iter().position(|entry| entry.last_used == last_used)?;
        let oldest = list.swap_remove(index);
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

    /// The value cached for calls like this one.
    ///
    /// `constants` are the bytes of all other inputs of the traced function: numbers, strings, the structure of trees.
    pub fn find(&self, arguments: &[Array], constants: &[u8]) -> Option<Arc<T>> {
        let stream = device::current_stream();
        let hash = hash(arguments, constants, stream);
        let mut entries = self.lock();
        entries.calls += 1;
        let now = entries.calls;
        let list = entries.by_hash.get_mut(&hash)?;
        let entry = list.iter_mut().find(|entry| entry.matches(arguments, constants, stream))?;
        entry.last_used = now;
        Some(Arc::clone(&entry.value))
    }

    /// Insert `value` for calls like this one. If another thread has inserted one meanwhile, that is kept and returned.
    pub fn keep(&self, arguments: &[Array], constants: &[u8], value: T) -> Arc<T> {
        let stream = device::current_stream();
        let hash = hash(arguments, constants, stream);
        let value = Arc::new(value);
        let mut entries = self.lock();
        let now = entries.calls;
        let list = entries.by_hash.entry(hash).or_default();
        if let Some(entry) = list.iter().find(|entry| entry.matches(arguments, constants, stream)) {
            return Arc::clone(&entry.value);
        }
        list.push(Entry {
            specs: arguments.iter().map(|argument| argument.spec().clone()).collect(),
            constants: constants.into(),
            stream,
            last_used: now,
            value: Arc::clone(&value),
        });
        entries.count += 1;
        let oldest = if entries.count > CAPACITY { entries.remove_oldest() } else { None };
        drop(entries);
        // Dropped after the lock is released, since dropping captured arrays may run foreign code.
        drop(oldest);
        value
    }

    /// Apply `show` to every cached value, unless the cache is locked by a call; stops at the first error.
    pub fn visit<E>(&self, show: impl FnMut(&T) -> std::result::Result<(), E>) -> std::result::Result<(), E> {
        match self.entries.try_lock() {
            Ok(entries) => entries.by_hash.values().flatten().map(|entry| &*entry.value).try_for_each(show),
            Err(_) => Ok(()),
        }
    }

    /// Number of cached kinds of calls.
    pub fn len(&self) -> usize {
        self.lock().count
    }

    /// Whether nothing is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
