//! A trie of byte strings: built by insertion, frozen into a double array for searches.
//!
//! A double array (Aoe 1989) stores every node in a slot. The child of slot `s` by byte `c` is slot `base[s] ^ c`, if the slot
//! names `s` as its parent, so a step is one load and one comparison.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::TextError;

/// No node, no slot.
const NONE: u32 = u32::MAX;
/// The number of blocks of slots in which a node is placed before a new block is begun.
const OPEN_BLOCKS: usize = 16;
const BLOCK: usize = 256;

/// A trie whose accepting nodes have ids.
#[derive(Debug)]
pub struct Trie {
    nodes: Vec<Entry>,
    /// The node of each id; where tokens share an id, the node of the first.
    keys: HashMap<i64, u32>,
    frozen: OnceLock<Frozen>,
}

#[derive(Clone, Debug)]
struct Entry {
    id: i64,
    parent: u32,
    first_child: u32,
    /// The next child of the same parent, in the order of bytes.
    sibling: u32,
    byte: u8,
}

impl Default for Trie {
    fn default() -> Trie {
        Trie::new()
    }
}

impl Clone for Trie {
    fn clone(&self) -> Trie {
        Trie { nodes: self.nodes.clone(), keys: self.keys.clone(), frozen: OnceLock::new() }
    }
}

impl Trie {
    /// A trie without tokens.
    pub fn new() -> Trie {
        let root = Entry { id: -1, parent: NONE, first_child: NONE, sibling: NONE, byte: 0 };
        Trie { nodes: vec![root], keys: HashMap::new(), frozen: OnceLock::new() }
    }

    /// Insert a token, and return its node.
    ///
    /// Without an id, or with a negative one, the id is the number of tokens so far. A token that the trie has keeps its id.
    pub fn insert(&mut self, token: &[u8], id: Option<i64>) -> Result<Node<'_>, TextError> {
        if self.nodes.len() + token.len() >= NONE as usize / 2 {
            return Err(TextError::TooManyNodes { limit: NONE as usize / 2 });
        }
        let mut node = 0;
        for &byte in token {
            node = match self.position(node, byte) {
                (_, Some(child)) => child,
                (before, None) => self.add_child(node, before, byte),
            };
        }
        if self.nodes[node as usize].id < 0 {
            self.frozen.take();
            let id = id.filter(|id| *id >= 0).unwrap_or(self.keys.len() as i64);
            self.nodes[node as usize].id = id;
            self.keys.entry(id).or_insert(node);
        }
        Ok(Node { trie: self, uid: node })
    }

    /// The child of a node by byte, or the sibling behind which it would be.
    fn position(&self, node: u32, byte: u8) -> (u32, Option<u32>) {
        let (mut before, mut child) = (NONE, self.nodes[node as usize].first_child);
        while child != NONE {
            let entry = &self.nodes[child as usize];
            if entry.byte >= byte {
                return (before, (entry.byte == byte).then_some(child));
            }
            (before, child) = (child, entry.sibling);
        }
        (before, None)
    }

    fn add_child(&mut self, parent: u32, before: u32, byte: u8) -> u32 {
        let uid = self.nodes.len() as u32;
        let link = match before {
            NONE => &mut self.nodes[parent as usize].first_child,
            _ => &mut self.nodes[before as usize].sibling,
        };
        let sibling = std::mem::replace(link, uid);
        self.nodes.push(Entry { id: -1, parent, first_child: NONE, sibling, byte });
        uid
    }

    /// The node of a token; none if it was not inserted.
    pub fn search(&self, token: &[u8]) -> Option<Node<'_>> {
        let found = token.iter().try_fold(self.root(), |node, byte| node.child(*byte))?;
        found.id().is_some().then_some(found)
    }

    /// The token with an id.
    pub fn key(&self, id: i64) -> Result<Vec<u8>, TextError> {
        let unknown = TextError::UnknownId { id, num_keys: self.num_keys() };
        let mut node = *self.keys.get(&id).ok_or(unknown)?;
        let mut token = Vec::new();
        while node != 0 {
            let entry = &self.nodes[node as usize];
            token.push(entry.byte);
            node = entry.parent;
        }
        token.reverse();
        Ok(token)
    }

    /// The number of different ids.
    pub fn num_keys(&self) -> usize {
        self.keys.len()
    }

    /// The ids in use, in no order.
    pub fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.keys.keys().copied()
    }

    /// The node of the empty token.
    pub fn root(&self) -> Node<'_> {
        Node { trie: self, uid: 0 }
    }

    /// The compact form for searches, built when it is first asked for after an insertion.
    pub fn frozen(&self) -> &Frozen {
        self.frozen.get_or_init(|| Frozen::build(self))
    }
}

/// A node of a trie.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    trie: &'a Trie,
    uid: u32,
}

impl<'a> Node<'a> {
    /// The id of the token that ends here.
    pub fn id(self) -> Option<i64> {
        Some(self.trie.nodes[self.uid as usize].id).filter(|id| *id >= 0)
    }

    /// The number of the node, in the order of their creation.
    pub fn uid(self) -> u32 {
        self.uid
    }

    /// Whether a token ends here.
    pub fn accepts(self) -> bool {
        self.id().is_some()
    }

    /// The node that is reached by a byte.
    pub fn child(self, byte: u8) -> Option<Node<'a>> {
        self.trie.position(self.uid, byte).1.map(|uid| Node { uid, ..self })
    }

    /// The children with their bytes, in the order of bytes.
    pub fn children(self) -> impl Iterator<Item = (u8, Node<'a>)> {
        let nodes = &self.trie.nodes;
        let present = |child: u32| Some(child).filter(|child| *child != NONE);
        let first = present(nodes[self.uid as usize].first_child);
        std::iter::successors(first, move |child| present(nodes[*child as usize].sibling))
            .map(move |child| (nodes[child as usize].byte, Node { uid: child, ..self }))
    }
}

/// A trie as a double array. Nodes are slots, the root is slot 0.
#[derive(Clone, Debug)]
pub struct Frozen {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    base: u32,
    /// The parent's slot; [`NONE`] in the root and in unused slots.
    check: u32,
    id: i64,
}

impl Frozen {
    /// The slot of the root.
    pub const ROOT: u32 = 0;

    fn build(trie: &Trie) -> Frozen {
        let mut placement = Placement::default();
        placement.occupy(0);
        placement.slots[0].id = trie.nodes[0].id;
        let mut pending = vec![(0, trie.root())];
        let mut children = Vec::with_capacity(BLOCK);
        while let Some((slot, node)) = pending.pop() {
            children.clear();
            children.extend(node.children());
            if children.is_empty() {
                continue;
            }
            let base = placement.find(&children);
            placement.slots[slot as usize].base = base;
            for (byte, child) in &children {
                let at = base ^ u32::from(*byte);
                placement.occupy(at);
                placement.slots[at as usize].check = slot;
                placement.slots[at as usize].id = trie.nodes[child.uid as usize].id;
                pending.push((at, *child));
            }
        }
        Frozen { slots: placement.slots }
    }

    /// The child of a slot by byte.
    #[inline]
    pub fn step(&self, slot: u32, byte: u8) -> Option<u32> {
        let next = self.slots.get(slot as usize)?.base ^ u32::from(byte);
        (self.slots.get(next as usize)?.check == slot).then_some(next)
    }

    /// The id of the token that ends in a slot.
    #[inline]
    pub fn id(&self, slot: u32) -> Option<i64> {
        self.slots.get(slot as usize).map(|slot| slot.id).filter(|id| *id >= 0)
    }

    /// The tokens that a text starts with, shortest first: length and id. The empty token is none of them.
    #[inline]
    pub fn prefixes<'a>(&'a self, text: &'a [u8]) -> Prefixes<'a> {
        Prefixes { frozen: self, text, slot: Frozen::ROOT, depth: 0 }
    }

    /// The longest token that a text starts with: its length and slot.
    #[inline]
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut prefixes = self.prefixes(text);
        let mut longest = None;
        while let Some((length, _)) = prefixes.next() {
            longest = Some((length, prefixes.slot));
        }
        longest
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no slots; the root has one.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

/// The walk of [`Frozen::prefixes`].
#[derive(Clone, Debug)]
pub struct Prefixes<'a> {
    frozen: &'a Frozen,
    text: &'a [u8],
    slot: u32,
    depth: usize,
}

impl Prefixes<'_> {
    /// The number of bytes that were followed so far.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

impl Iterator for Prefixes<'_> {
    type Item = (usize, i64);

    #[inline]
    fn next(&mut self) -> Option<(usize, i64)> {
        while let Some(byte) = self.text.get(self.depth) {
            self.slot = self.frozen.step(self.slot, *byte)?;
            self.depth += 1;
            let id = self.frozen.slots[self.slot as usize].id;
            if id >= 0 {
                return Some((self.depth, id));
            }
        }
        None
    }
}

/// Slots while they are assigned, and which of them are used.
#[derive(Default)]
struct Placement {
    slots: Vec<Slot>,
    used: Vec<[u64; BLOCK / 64]>,
}

impl Placement {
    fn occupy(&mut self, slot: u32) {
        let block = slot as usize / BLOCK;
        while self.used.len() <= block {
            self.used.push([0; BLOCK / 64]);
            self.slots.resize(self.used.len() * BLOCK, Slot { base: 0, check: NONE, id: -1 });
        }
        self.used[block][slot as usize % BLOCK / 64] |= 1 << (slot % 64);
    }

    /// A base for which the slots of all children are unused: in one of the last blocks, or else in a new one.
    fn find(&self, children: &[(u8, Node<'_>)]) -> u32 {
        let first = self.used.len().saturating_sub(OPEN_BLOCKS);
        for (block, used) in self.used.iter().enumerate().skip(first) {
            let is_free = |slot: usize| used[slot / 64] & (1 << (slot % 64)) == 0;
            for slot in (0..BLOCK).filter(|slot| is_free(*slot)) {
                let base = slot ^ usize::from(children[0].0);
                if children.iter().all(|(byte, _)| is_free(base ^ usize::from(*byte))) {
                    return (block * BLOCK + base) as u32;
                }
            }
        }
        (self.used.len() * BLOCK) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_follow_the_number_of_tokens() {
        let mut trie = Trie::new();
        assert_eq!(trie.insert(b"hello", None).unwrap().id(), Some(0));
        assert_eq!(trie.insert(b"hell", Some(-1)).unwrap().id(), Some(1));
        assert_eq!(trie.insert(b"hello", Some(9)).unwrap().id(), Some(0));
        assert_eq!(trie.insert(b"help", Some(9)).unwrap().id(), Some(9));
        assert_eq!(trie.num_keys(), 3);
        assert_eq!(trie.key(9).unwrap(), b"help");
        assert_eq!(trie.search(b"hell").unwrap().uid(), 4);
        assert!(trie.search(b"hel").is_none());
        assert!(trie.search(b"").is_none());
        assert_eq!(trie.key(5).unwrap_err().to_string(), "no token has the id 5; the trie has 3 tokens");
    }

    #[test]
    fn nodes_have_children_in_the_order_of_bytes() {
        let mut trie = Trie::new();
        for token in ["b", "a", "c", "aa"] {
            trie.insert(token.as_bytes(), None).unwrap();
        }
        let children: Vec<_> = trie.root().children().map(|(byte, node)| (byte, node.uid())).collect();
        assert_eq!(children, [(b'a', 2), (b'b', 1), (b'c', 3)]);
    }

    #[test]
    fn an_insertion_after_a_search_is_found() {
        let mut trie = Trie::new();
        trie.insert(b"ab", None).unwrap();
        assert_eq!(trie.frozen().longest_prefix(b"abc").map(|(length, _)| length), Some(2));
        trie.insert(b"abc", None).unwrap();
        assert_eq!(trie.frozen().longest_prefix(b"abc").map(|(length, _)| length), Some(3));
        trie.insert(b"a", None).unwrap();
        assert_eq!(trie.frozen().prefixes(b"abc").collect::<Vec<_>>(), [(1, 2), (2, 0), (3, 1)]);
    }

    proptest! {
        #[test]
        fn the_double_array_has_the_same_tokens(
            tokens in prop::collection::vec(prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..6), 0..300),
            text in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..8),
        ) {
            let mut trie = Trie::new();
            let mut known = BTreeMap::new();
            for token in &tokens {
                let next = known.len() as i64;
                known.entry(token.clone()).or_insert(next);
                trie.insert(token, None).unwrap();
            }
            for (token, id) in &known {
                prop_assert_eq!(trie.search(token).unwrap().id(), Some(*id));
                prop_assert_eq!(&trie.key(*id).unwrap(), token);
            }
            for text in tokens.iter().chain([&text]) {
                let expected: Vec<_> =
                    (1..=text.len()).filter_map(|end| Some((end, *known.get(&text[..end])?))).collect();
                prop_assert_eq!(trie.frozen().prefixes(text).collect::<Vec<_>>(), expected);
            }
        }
    }
}
