//! Donation: an input that nobody needs any more becomes the output.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::graph::{Array, Inputs, Node, Storage};

/// Inputs taken out of nodes about to finish, to be put back should they fail.
pub(super) struct Taken<'a> {
    nodes: &'a [&'a Arc<Node>],
    /// By the numbers of the nodes among all.
    from: SmallVec<[(usize, Inputs); 4]>,
}

impl<'a> Taken<'a> {
    /// Take the inputs of `nodes`, except of those that must keep them.
    pub(super) fn new(nodes: &'a [&'a Arc<Node>]) -> Taken<'a> {
        let mut from = SmallVec::with_capacity(nodes.len());
        let free = nodes.iter().enumerate().filter(|(_, node)| !node.is_followed());
        from.extend(free.map(|(i, node)| (i, node.take_inputs())));
        Taken { nodes, from }
    }

    /// Give all inputs back.
    pub(super) fn restore(&mut self) {
        for (i, inputs) in self.from.drain(..) {
            *self.nodes[i].lock_inputs() = inputs;
        }
    }

    /// Give inputs back to nodes that do not finish but that somebody else reaches, if only through another of them.
    ///
    /// Inputs were listed before their users, and `place` finds their numbers; the plan has a handle to each.
    pub(super) fn restore_reachable(
        &mut self,
        place: impl Fn(&Arc<Node>) -> Option<usize>,
        finishes: impl Fn(&Arc<Node>) -> bool,
    ) {
        // Handles to each that are in here.
        let mut handles: SmallVec<[usize; 8]> = SmallVec::from_elem(0, self.nodes.len());
        for (_, inputs) in &self.from {
            inputs.iter().filter_map(|input| place(input.node())).for_each(|i| handles[i] += 1);
        }
        for taken in (0..self.from.len()).rev() {
            let i = self.from[taken].0;
            let node = self.nodes[i];
            if Arc::strong_count(node) > 1 + handles[i] && !finishes(node) {
                let (_, inputs) = self.from.remove(taken);
                inputs.iter().filter_map(|input| place(input.node())).for_each(|i| handles[i] -= 1);
                *node.lock_inputs() = inputs;
            }
        }
    }

    /// How many of the handles to `node` are in here?
    pub(super) fn handles(&self, node: &Arc<Node>) -> usize {
        let count = |inputs: &Inputs| inputs.iter().filter(|input| Arc::ptr_eq(input.node(), node)).count();
        self.from.iter().map(|(_, inputs)| count(inputs)).sum()
    }
}

/// May the storage of `array`, `handles()` of whose handles are ours, be written over by a result like `like`?
pub(super) fn is_free(
    array: &Array,
    handles: impl FnOnce() -> usize,
    shape: &umber_types::Shape,
    size: usize,
) -> bool {
    array.node().outputs.len() == 1
        && array.dtype().size() == size
        // Nobody else can take hold of the memory from here on.
        && Arc::strong_count(array.node()) == handles()
        && array.storage().is_some_and(|storage| storage.is_donatable(shape, size))
}

/// The storages of a node's inputs; moved out of inputs that nobody else holds.
pub(super) fn into_storages(inputs: Inputs) -> SmallVec<[Storage; 3]> {
    inputs
        .into_iter()
        .map(|input| {
            let storage = input.storage().expect("inputs run before their users").clone();
            // The clone must not be what keeps the buffer shared.
            let unique = input.node().outputs.len() == 1 && Arc::strong_count(input.node()) == 1;
            if unique {
                drop(storage);
                input.into_unique_storage().expect("the last handle to an evaluated node")
            } else {
                storage
            }
        })
        .collect()
}
