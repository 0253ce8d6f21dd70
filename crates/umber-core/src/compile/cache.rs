//! Cache: which compiled graph answers a call.
//!
//! A graph answers a call of the same function ("user") with arguments of the same shapes and dtypes and equal
//! constants, on the same default stream. The cache is one for all threads.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};

use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::Stream;

use super::CompiledGraph;
use crate::device;
use crate::graph::Array;
use crate::graph::walk::AddressHasher;

struct Entry {
    constants: Box<[u8]>,
    stream: Stream,
    graph: Arc<CompiledGraph>,
}

/// A user's graphs, by the hash of what the call must have in common with the trace.
type Graphs = HashMap<u64, Vec<Entry>, BuildHasherDefault<AddressHasher>>;

type Cache = Option<HashMap<u64, Graphs>>;

static CACHE: ForkMutex<Cache> = ForkMutex::new(|| None, None, Level::Planning, InChild::Keep);

fn lock() -> MutexGuard<'static, Cache> {
    CACHE.lock()
}

fn hash(arguments: &[Array], constants: &[u8], stream: Stream) -> u64 {
    let mut hasher = BuildHasherDefault::<std::hash::DefaultHasher>::default().build_hasher();
    for argument in arguments {
        argument.spec().hash(&mut hasher);
    }
    constants.hash(&mut hasher);
    stream.hash(&mut hasher);
    hasher.finish()
}

impl Entry {
    fn answers(&self, arguments: &[Array], constants: &[u8], stream: Stream) -> bool {
        self.stream == stream
            && *self.constants == *constants
            && self.graph.specs.iter().eq(arguments.iter().map(Array::spec))
    }
}

/// The graph of `user` that answers a call with these arguments.
///
/// `constants` are the bytes of whatever else the traced function saw: numbers, strings, the structure of trees.
pub fn find(user: u64, arguments: &[Array], constants: &[u8]) -> Option<Arc<CompiledGraph>> {
    let stream = device::current_stream();
    let hash = hash(arguments, constants, stream);
    let cache = lock();
    let entries = cache.as_ref()?.get(&user)?.get(&hash)?;
    let entry = entries.iter().find(|entry| entry.answers(arguments, constants, stream))?;
    Some(Arc::clone(&entry.graph))
}

/// Keep `graph` for calls of `user` like this one. A graph that was kept meanwhile for the same call stays.
pub fn keep(user: u64, arguments: &[Array], constants: &[u8], graph: CompiledGraph) -> Arc<CompiledGraph> {
    let stream = device::current_stream();
    let hash = hash(arguments, constants, stream);
    let graph = Arc::new(graph);
    let mut cache = lock();
    let entries = cache.get_or_insert_default().entry(user).or_default().entry(hash).or_default();
    if let Some(entry) = entries.iter().find(|entry| entry.answers(arguments, constants, stream)) {
        return Arc::clone(&entry.graph);
    }
    entries.push(Entry { constants: constants.into(), stream, graph: Arc::clone(&graph) });
    graph
}

/// Forget all graphs of `user`.
pub fn erase(user: u64) {
    let graphs = lock().as_mut().and_then(|cache| cache.remove(&user));
    // Captured arrays may run foreign code as they go: not under the lock.
    drop(graphs);
}

/// Forget all graphs.
pub fn clear() {
    let graphs = std::mem::take(&mut *lock());
    drop(graphs);
}

/// A name for a function in the cache; its graphs go when it is dropped.
#[derive(Debug)]
pub struct User(u64);

impl User {
    /// A name that no other function has.
    #[expect(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> User {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        User(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The key for [`find`] and [`keep`].
    pub fn key(&self) -> u64 {
        self.0
    }
}

impl Drop for User {
    fn drop(&mut self) {
        erase(self.0);
    }
}
