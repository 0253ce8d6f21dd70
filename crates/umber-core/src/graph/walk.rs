//! Iterative graph traversals.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::{Array, Node};

/// A hasher of addresses, which differ in few bits.
#[derive(Default)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.write_u64(u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        // Fibonacci hashing (Knuth, TAOCP 3, 6.4).
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// A map keyed by arrays' or nodes' identities.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<AddressHasher>>;

/// Initial capacity of the visited set: most graphs have at most 28 nodes.
const INITIAL_CAPACITY: usize = 28;

/// The identity of a node.
pub fn node_id(node: &Arc<Node>) -> usize {
    Arc::as_ptr(node) as usize
}

/// Every node that `outputs` depend on, inputs before users. Evaluated nodes that have dropped their inputs are leaves.
pub fn topological(outputs: &[Array]) -> Vec<Arc<Node>> {
    topological_until(outputs, |_| false)
}

/// As [`topological`], but does not traverse the inputs of nodes for which `stop` is true; these nodes are in the result.
///
/// Another thread may evaluate a node during the traversal, which drops its inputs. The result may then contain nodes that are
/// no longer needed, still in topological order.
pub fn topological_until(outputs: &[Array], stop: impl Fn(&Arc<Node>) -> bool) -> Vec<Arc<Node>> {
    let mut order = Vec::new();
    let mut seen: IdMap<usize, ()> =
        IdMap::with_capacity_and_hasher(INITIAL_CAPACITY, BuildHasherDefault::default());
    // Each node with the number of its inputs visited so far.
    let mut stack: Vec<(Arc<Node>, usize)> = Vec::new();
    let enter = |node: &Arc<Node>, stack: &mut Vec<_>, seen: &mut IdMap<usize, ()>| {
        if let Entry::Vacant(entry) = seen.entry(node_id(node)) {
            entry.insert(());
            stack.push((Arc::clone(node), if stop(node) { usize::MAX } else { 0 }));
        }
    };
    for output in outputs {
        enter(output.node(), &mut stack, &mut seen);
        while let Some((node, next)) = stack.last_mut() {
            let input = node.lock_inputs().get(*next).map(|input| Arc::clone(input.node()));
            if let Some(input) = input {
                *next += 1;
                enter(&input, &mut stack, &mut seen);
            } else if let Some((node, _)) = stack.pop() {
                order.push(node);
            }
        }
    }
    order
}

/// The nodes of `nodes` (inputs before users) that depend on one of `sources`.
pub fn reachable(nodes: &[Arc<Node>], sources: &[Array]) -> IdMap<usize, ()> {
    let mut reached: IdMap<usize, ()> = IdMap::default();
    reached.extend(sources.iter().map(|source| (node_id(source.node()), ())));
    for node in nodes {
        if node.lock_inputs().iter().any(|input| reached.contains_key(&node_id(input.node()))) {
            reached.insert(node_id(node), ());
        }
    }
    reached
}
