//! Text to tokens, on plain memory: tries, tokenizers, byte pair encoding, edit distances.
//!
//! ```
//! use std::sync::Arc;
//! use umber_codecs::text::{Bpe, BpeMerges, TextError, Tokenizer, Trie, Unknown};
//!
//! let mut trie = Trie::new();
//! for token in ["a", "aa", "b"] {
//!     trie.insert(token.as_bytes(), None)?;
//! }
//! let tokenizer = Tokenizer::new(Arc::new(trie), Unknown::Refuse, vec![])?;
//! assert_eq!(tokenizer.shortest(b"aab")?, [1, 2]);
//! assert_eq!(tokenizer.graph(b"aab")?.paths().count(), 2);
//!
//! let mut symbols = Trie::new();
//! symbols.insert(b"a", None)?;
//! let mut merges = BpeMerges::new();
//! merges.add(b"a", b"a", 1);
//! assert_eq!(Bpe::new(&symbols, &merges).encode(b"aaa")?, [1, 0]);
//! # Ok::<(), TextError>(())
//! ```

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
