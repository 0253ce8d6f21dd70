//! Texts to tokens.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use umber_types::ErrorKind;

use crate::error::{DataError, Result};
use crate::operation::Operation;
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::sample::Sample;
use crate::text::{Bpe, BpeMerges, TextError, Tokenizer, Trie, Unknown};
use crate::value::Value;

impl From<TextError> for DataError {
    fn from(error: TextError) -> DataError {
        DataError::new(ErrorKind::Value, error.to_string())
    }
}

/// A number that tells apart vocabularies, for states.
fn fingerprint(trie: &Trie) -> u64 {
    let mut ids: Vec<i64> = trie.ids().collect();
    ids.sort_unstable();
    let mut hasher = DefaultHasher::new();
    for id in ids {
        (id, trie.key(id).unwrap_or_default()).hash(&mut hasher);
    }
    hasher.finish()
}

/// Which of several tokenizations is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenizeMode {
    /// That of least cost.
    #[default]
    Shortest,
    /// A random one.
    Random,
}

/// The tokens of a text, by a trie, as `int64`.
#[derive(Clone)]
pub struct Tokenize {
    /// The text, and where the tokens go.
    pub keys: Keys,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// Which tokens of several are taken.
    pub mode: TokenizeMode,
    /// The other arguments, for states.
    options: String,
}

impl Tokenize {
    /// The tokens of `trie`; with `scores`, token `id` costs `scores[id]` instead of 1.
    ///
    /// # Errors
    /// If the scores do not fit the tokens.
    pub fn new(
        keys: impl Into<Keys>,
        trie: Arc<Trie>,
        mode: TokenizeMode,
        unknown: Unknown,
        scores: Vec<f64>,
    ) -> Result<Tokenize> {
        let options = format!("{:x}, {unknown:?}, {scores:?}", fingerprint(&trie));
        let tokenizer = Tokenizer::new(trie, unknown, scores);
        let tokenizer = tokenizer.map_err(|error| DataError::from(error).at_stage("tokenize"))?;
        Ok(Tokenize { keys: keys.into(), tokenizer, mode, options })
    }
}

impl fmt::Debug for Tokenize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tokenize { keys, mode, options, .. } = self;
        write!(f, "Tokenize {{ {keys:?}, {mode:?}, {options} }}")
    }
}

impl Operation for Tokenize {
    fn name(&self) -> &str {
        "tokenize"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, draw: &Draw) -> Result<Option<Sample>> {
        sample.update(&self.keys.key, self.keys.output.as_ref(), |value| {
            let text = value.text("a text")?;
            let tokens = match self.mode {
                TokenizeMode::Shortest => self.tokenizer.shortest(&text)?,
                TokenizeMode::Random => {
                    let mut numbers = draw.numbers();
                    self.tokenizer.random(&text, || numbers.uniform())?
                }
            };
            Value::from_slice(&tokens, tokens.len())
        })?;
        Ok(Some(sample))
    }

    fn is_random(&self) -> bool {
        self.mode == TokenizeMode::Random
    }
}

/// The tokens of a text, by byte pair encoding, as `int64`.
#[derive(Clone)]
pub struct TokenizeBpe {
    /// The text, and where the tokens go.
    pub keys: Keys,
    /// The tokenizer.
    pub tokenizer: Arc<Bpe>,
    /// The arguments, for states.
    options: String,
}

impl TokenizeBpe {
    /// The tokens of these symbols and merges.
    pub fn new(keys: impl Into<Keys>, symbols: &Trie, merges: &BpeMerges) -> TokenizeBpe {
        let options = format!("{:x}, {} merges", fingerprint(symbols), merges.len());
        TokenizeBpe { keys: keys.into(), tokenizer: Arc::new(Bpe::new(symbols, merges)), options }
    }
}

impl fmt::Debug for TokenizeBpe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenizeBpe {{ {:?}, {} }}", self.keys, self.options)
    }
}

impl Change for TokenizeBpe {
    const NAME: &'static str = "tokenize_bpe";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let tokens = self.tokenizer.encode(&value.text("a text")?)?;
        Value::from_slice(&tokens, tokens.len())
    }
}
