//! Text to tokens, on plain memory: tries, tokenizers, byte pair encoding, edit distances.

mod bpe;
mod error;
mod graph;
mod levenshtein;
mod sequences;
mod trie;

pub use bpe::{Bpe, BpeMerges};
pub use error::TextError;
pub use graph::{Edge, Graph, Paths, Tokenizer, Unknown};
pub use levenshtein::{Edits, levenshtein, levenshtein_rows};
pub use sequences::{Sequences, remove, uniq};
pub use trie::{Frozen, Node, Trie};
