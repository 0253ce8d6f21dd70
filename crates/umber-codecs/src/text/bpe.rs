//! Byte pair encoding: the pair of neighbours whose merge has the lowest token is merged, until no pair can be.
//!
//! No merge crosses a place between two symbols if no left side ends with the byte before it whose right side starts with the
//! byte behind it. The text is cut at such places, and the tokens of the words between them are remembered.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::{TextError, Trie};

/// Words of more bytes are not remembered.
const LONGEST_CACHED: usize = 64;
/// The number of words that are remembered, for each text that is encoded at the same time.
const CACHED_WORDS: usize = 1 << 16;
/// No symbol.
const NONE: u32 = u32::MAX;

/// The pairs that can be merged, with the tokens they become. Pairs with lower tokens are merged first.
#[derive(Clone, Debug, Default)]
pub struct BpeMerges {
    strings: HashMap<Box<[u8]>, u32>,
    merges: HashMap<(u32, u32), i64>,
}

impl BpeMerges {
    /// No merges.
    pub fn new() -> BpeMerges {
        BpeMerges::default()
    }

    /// Add a pair. A pair that is added twice has the lower token.
    pub fn add(&mut self, left: &[u8], right: &[u8], token: i64) {
        let pair = (intern(&mut self.strings, left), intern(&mut self.strings, right));
        self.merges.entry(pair).and_modify(|known| *known = token.min(*known)).or_insert(token);
    }

    /// The token that two strings are merged to.
    pub fn can_merge(&self, left: &[u8], right: &[u8]) -> Option<i64> {
        let pair = (*self.strings.get(left)?, *self.strings.get(right)?);
        self.merges.get(&pair).copied()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.merges.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.merges.is_empty()
    }
}

fn intern(strings: &mut HashMap<Box<[u8]>, u32>, string: &[u8]) -> u32 {
    if let Some(number) = strings.get(string) {
        return *number;
    }
    let number = strings.len() as u32;
    strings.insert(string.into(), number);
    number
}

/// A tokenizer by byte pair encoding.
#[derive(Debug)]
pub struct Bpe {
    symbols: Trie,
    /// The number of the string of each slot of the frozen symbols.
    strings: Vec<u32>,
    pairs: HashMap<u64, Merge, BuildHasherDefault<PairHasher>>,
    /// For every byte, the bytes that follow it where a merge joins two strings.
    joints: Vec<[u64; 4]>,
    /// One for each text that was encoded at the same time.
    scratch: Mutex<Vec<Scratch>>,
}

#[derive(Clone, Copy, Debug)]
struct Merge {
    token: i64,
    /// The number of the merged string.
    string: u32,
}

/// Mixes the two halves of a pair of numbers.
#[derive(Debug, Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        // The multiplier of Knuth's multiplicative hashing, 2^64 divided by the golden ratio. A table takes its index from the
        // low bits, so that the mixed high bits are moved there.
        let mixed = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// A symbol of a word in a linked list.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    string: u32,
    previous: u32,
    next: u32,
    /// Its token, negative when it was merged into its neighbour.
    token: i64,
    is_merged: bool,
}

/// A pair that may be merged: the lowest token first, then the leftmost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    token: i64,
    left: u32,
    right: u32,
    /// The numbers of the two strings: the candidate is out of date when they have changed.
    pair: u64,
    string: u32,
}

#[derive(Debug, Default)]
struct Scratch {
    symbols: Vec<Symbol>,
    candidates: BinaryHeap<Reverse<Candidate>>,
    words: HashMap<Box<[u8]>, Range<usize>>,
    tokens: Vec<i64>,
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Bpe {
    /// A tokenizer that starts from the longest symbols and merges pairs of them.
    pub fn new(symbols: &Trie, merges: &BpeMerges) -> Bpe {
        let mut numbers = merges.strings.clone();
        let mut bytes: Vec<Box<[u8]>> = vec![Box::default(); numbers.len()];
        for (string, number) in &numbers {
            bytes[*number as usize].clone_from(string);
        }
        let mut pairs = HashMap::default();
        let mut joints = vec![[0; 4]; 256];
        for (&(left, right), &token) in &merges.merges {
            let (left_bytes, right_bytes) = (&bytes[left as usize], &bytes[right as usize]);
            let (Some(last), Some(first)) = (left_bytes.last(), right_bytes.first()) else { continue };
            joints[usize::from(*last)][usize::from(*first) / 64] |= 1 << (first % 64);
            let string = intern(&mut numbers, &[&**left_bytes, &**right_bytes].concat());
            pairs.insert(key(left, right), Merge { token, string });
        }
        let symbols = symbols.clone();
        let mut strings = vec![NONE; symbols.frozen().len()];
        let mut pending = vec![(symbols.root(), 0, Vec::new())];
        while let Some((node, slot, string)) = pending.pop() {
            if node.accepts() {
                strings[slot as usize] = intern(&mut numbers, &string);
            }
            for (byte, child) in node.children() {
                let slot =
                    symbols.frozen().step(slot, byte).expect("a frozen trie has the children of its nodes");
                pending.push((child, slot, [&string[..], &[byte]].concat()));
            }
        }
        Bpe { symbols, strings, pairs, joints, scratch: Mutex::default() }
    }

    /// The tokens of a text.
    pub fn encode(&self, text: &[u8]) -> Result<Vec<i64>, TextError> {
        let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
        self.encode_into(text, &mut tokens)?;
        Ok(tokens)
    }

    /// Append the tokens of a text. After an error, `tokens` has its former length.
    pub fn encode_into(&self, text: &[u8], tokens: &mut Vec<i64>) -> Result<(), TextError> {
        if text.len() >= NONE as usize {
            return Err(TextError::TooLong { length: text.len(), limit: NONE as usize - 1 });
        }
        let mut scratch =
            self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let length = tokens.len();
        let encoded = self.encode_words(text, &mut scratch, tokens);
        if encoded.is_err() {
            tokens.truncate(length);
        }
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        encoded
    }

    fn encode_words(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        tokens: &mut Vec<i64>,
    ) -> Result<(), TextError> {
        let frozen = self.symbols.frozen();
        let (mut word, mut at) = (0, 0);
        scratch.symbols.clear();
        while at < text.len() {
            let Some((length, slot)) = frozen.longest_prefix(&text[at..]) else {
                return Err(TextError::UnknownSymbol { position: at, byte: text[at] });
            };
            if at > word && !self.joins(text[at - 1], text[at]) {
                self.encode_word(&text[word..at], scratch, tokens);
                scratch.symbols.clear();
                word = at;
            }
            let index = scratch.symbols.len() as u32;
            scratch.symbols.push(Symbol {
                string: self.strings[slot as usize],
                previous: index.checked_sub(1).unwrap_or(NONE),
                next: index + 1,
                token: frozen.id(slot).expect("a prefix is a token of the trie"),
                is_merged: false,
            });
            at += length;
        }
        self.encode_word(&text[word..], scratch, tokens);
        Ok(())
    }

    /// Whether a merge may join two strings of which one ends with `last` and the other starts with `first`.
    fn joins(&self, last: u8, first: u8) -> bool {
        self.joints[usize::from(last)][usize::from(first) / 64] & (1 << (first % 64)) != 0
    }

    /// Append the tokens of a word whose symbols are in the scratch.
    fn encode_word(&self, word: &[u8], scratch: &mut Scratch, tokens: &mut Vec<i64>) {
        if let [symbol] = scratch.symbols[..] {
            tokens.push(symbol.token);
            return;
        }
        if let Some(range) = scratch.words.get(word) {
            tokens.extend_from_slice(&scratch.tokens[range.clone()]);
            return;
        }
        self.merge(scratch);
        let first = tokens.len();
        tokens.extend(scratch.symbols.iter().filter(|symbol| !symbol.is_merged).map(|symbol| symbol.token));
        if word.len() <= LONGEST_CACHED {
            if scratch.words.len() == CACHED_WORDS {
                scratch.words.clear();
                scratch.tokens.clear();
            }
            let start = scratch.tokens.len();
            scratch.tokens.extend_from_slice(&tokens[first..]);
            scratch.words.insert(word.into(), start..scratch.tokens.len());
        }
    }

    /// Merge the symbols in the scratch.
    fn merge(&self, Scratch { symbols, candidates, .. }: &mut Scratch) {
        let Some(last) = symbols.last_mut() else { return };
        last.next = NONE;
        candidates.clear();
        for left in 0..symbols.len() as u32 - 1 {
            self.consider(symbols, candidates, left, left + 1);
        }
        while let Some(Reverse(candidate)) = candidates.pop() {
            let (left, right) = (symbols[candidate.left as usize], symbols[candidate.right as usize]);
            let is_current = !left.is_merged
                && left.next == candidate.right
                && key(left.string, right.string) == candidate.pair;
            if !is_current {
                continue;
            }
            symbols[candidate.right as usize].is_merged = true;
            let merged = &mut symbols[candidate.left as usize];
            (merged.token, merged.string, merged.next) = (candidate.token, candidate.string, right.next);
            if right.next != NONE {
                symbols[right.next as usize].previous = candidate.left;
                self.consider(symbols, candidates, candidate.left, right.next);
            }
            if left.previous != NONE {
                self.consider(symbols, candidates, left.previous, candidate.left);
            }
        }
    }

    /// Add two neighbours to the candidates if they can be merged.
    fn consider(
        &self,
        symbols: &[Symbol],
        candidates: &mut BinaryHeap<Reverse<Candidate>>,
        left: u32,
        right: u32,
    ) {
        let pair = key(symbols[left as usize].string, symbols[right as usize].string);
        if let Some(Merge { token, string }) = self.pairs.get(&pair).copied() {
            candidates.push(Reverse(Candidate { token, left, right, pair, string }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    fn vocabulary(symbols: &[&str], merges: &[(&str, &str, i64)]) -> (Trie, BpeMerges) {
        let mut trie = Trie::new();
        for symbol in symbols {
            trie.insert(symbol.as_bytes(), None).unwrap();
        }
        let mut table = BpeMerges::new();
        for (left, right, token) in merges {
            table.add(left.as_bytes(), right.as_bytes(), *token);
        }
        (trie, table)
    }

    #[test]
    fn merges_are_found_by_their_strings() {
        let (_, mut merges) = vocabulary(&[], &[("a", "b", 7), ("ab", "c", 8)]);
        assert_eq!(merges.can_merge(b"a", b"b"), Some(7));
        assert_eq!(merges.can_merge(b"ab", b"c"), Some(8));
        assert_eq!(merges.can_merge(b"b", b"a"), None);
        assert_eq!(merges.can_merge(b"x", b"b"), None);
        merges.add(b"a", b"b", 9);
        assert_eq!((merges.can_merge(b"a", b"b"), merges.len()), (Some(7), 2));
        merges.add(b"a", b"b", 5);
        assert_eq!(merges.can_merge(b"a", b"b"), Some(5));
    }

    #[test]
    fn the_leftmost_of_equal_pairs_is_merged_first() {
        let (symbols, merges) = vocabulary(&["a"], &[("a", "a", 1)]);
        let bpe = Bpe::new(&symbols, &merges);
        assert_eq!(bpe.encode(b"aaa").unwrap(), [1, 0]);
        assert_eq!(bpe.encode(b"aaaa").unwrap(), [1, 1]);
    }

    #[test]
    fn an_empty_text_has_no_tokens() {
        let (symbols, merges) = vocabulary(&["a"], &[]);
        let bpe = Bpe::new(&symbols, &merges);
        assert_eq!(bpe.encode(b"").unwrap(), [] as [i64; 0]);
        assert_eq!(bpe.encode(b"a").unwrap(), [0]);
    }

    #[test]
    fn an_unknown_symbol_leaves_the_tokens_as_they_were() {
        let (symbols, merges) = vocabulary(&["a"], &[("a", "a", 1)]);
        let bpe = Bpe::new(&symbols, &merges);
        let mut tokens = vec![5];
        let error = bpe.encode_into("aaé".as_bytes(), &mut tokens).unwrap_err();
        assert_eq!(error.to_string(), "no symbol starts at byte 2 (0xc3); add it to the symbols");
        assert_eq!(tokens, [5]);
        assert_eq!(bpe.encode(b"aa").unwrap(), [1]);
    }

    #[test]
    fn threads_share_a_tokenizer() {
        let (symbols, merges) = vocabulary(&["a", "b", " "], &[("a", "b", 3), ("ab", "ab", 4)]);
        let bpe = Bpe::new(&symbols, &merges);
        let text = "abab ab ba abab".repeat(50);
        let expected = bpe.encode(text.as_bytes()).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        assert_eq!(bpe.encode(text.as_bytes()).unwrap(), expected);
                    }
                });
            }
        });
        assert!(bpe.scratch.lock().unwrap().len() <= 5);
    }

    /// The textbook's algorithm: merge the leftmost pair of the lowest token, until none is left.
    fn naive(symbols: &Trie, merges: &BpeMerges, text: &[u8]) -> Option<Vec<i64>> {
        let mut parts: Vec<(Vec<u8>, i64)> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let length = (1..=rest.len()).rev().find(|end| symbols.search(&rest[..*end]).is_some())?;
            parts.push((rest[..length].to_vec(), symbols.search(&rest[..length])?.id()?));
            rest = &rest[length..];
        }
        loop {
            let best = (1..parts.len())
                .filter_map(|right| Some((merges.can_merge(&parts[right - 1].0, &parts[right].0)?, right)))
                .min();
            let Some((token, right)) = best else { break };
            let (tail, _) = parts.remove(right);
            parts[right - 1].0.extend(tail);
            parts[right - 1].1 = token;
        }
        Some(parts.into_iter().map(|(_, token)| token).collect())
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_textbook(
            symbols in prop::collection::hash_set("[abc ]{1,2}", 1..6),
            merges in prop::collection::vec(("[abc ]{1,3}", "[abc]{1,3}", 0i64..40), 0..30),
            texts in prop::collection::vec("[abc ]{0,24}", 1..6),
        ) {
            let symbols: Vec<_> = symbols.iter().map(String::as_str).chain(["a", "b", "c"]).collect();
            let merges: Vec<_> = merges.iter().map(|(left, right, token)| (&**left, &**right, *token)).collect();
            let (trie, table) = vocabulary(&symbols, &merges);
            let bpe = Bpe::new(&trie, &table);
            // Twice, so that the second time words are remembered.
            for text in texts.iter().chain(&texts) {
                prop_assert_eq!(bpe.encode(text.as_bytes()).ok(), naive(&trie, &table, text.as_bytes()));
            }
        }
    }
}
