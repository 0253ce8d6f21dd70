//! What can be wrong with a text or a vocabulary.

use std::fmt;

/// Why a text has no tokens, or arguments do not fit together.
///
/// The message has no prefix: a stage adds its name, the sample and the key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TextError {
    /// No token continues the text at a position.
    UnknownToken {
        /// Offset of the byte that no token continues with.
        position: usize,
        /// That byte; none at the end of a text that stops inside a token.
        byte: Option<u8>,
    },
    /// No symbol starts at a position.
    UnknownSymbol {
        /// Offset of the byte.
        position: usize,
        /// That byte.
        byte: u8,
    },
    /// A text is longer than positions can count.
    TooLong {
        /// Length in bytes.
        length: usize,
        /// The largest length.
        limit: usize,
    },
    /// A trie would have more nodes than numbers for them.
    TooManyNodes {
        /// The largest number of nodes.
        limit: usize,
    },
    /// A vocabulary has no token with an id.
    UnknownId {
        /// The id.
        id: i64,
        /// The number of tokens.
        num_keys: usize,
    },
    /// There is not one score for each token.
    ScoreCount {
        /// The number of scores.
        scores: usize,
        /// The number of tokens.
        num_keys: usize,
    },
    /// A token's id is no index of the scores.
    NoScore {
        /// The id.
        id: i64,
        /// The number of scores.
        scores: usize,
    },
    /// A score is not finite.
    Score {
        /// Index of the score.
        id: usize,
        /// The score.
        score: f64,
    },
    /// The size of an argument does not follow from the others.
    Size {
        /// The argument.
        argument: &'static str,
        /// Its size.
        got: usize,
        /// The size it should have.
        expected: usize,
    },
    /// An axis lies outside the dimensions.
    Axis {
        /// The axis.
        axis: usize,
        /// The number of dimensions.
        ndim: usize,
    },
    /// A sequence is negative in length, or longer than its row.
    Length {
        /// The argument.
        argument: &'static str,
        /// The row.
        row: usize,
        /// The length.
        length: i64,
        /// The length of a row.
        size: usize,
    },
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::UnknownToken { position, byte: Some(byte) } => write!(
                f,
                "no token continues the text at byte {position} ({}); add it to the trie, or set ignore_unk",
                Shown(*byte)
            ),
            TextError::UnknownToken { position, byte: None } => write!(
                f,
                "the text ends inside a token at byte {position}; add the shorter token to the trie, or set ignore_unk"
            ),
            TextError::UnknownSymbol { position, byte } => {
                write!(f, "no symbol starts at byte {position} ({}); add it to the symbols", Shown(*byte))
            }
            TextError::TooLong { length, limit } => {
                write!(f, "the text has {length} bytes, more than {limit}; split it")
            }
            TextError::TooManyNodes { limit } => write!(f, "the trie has more than {limit} nodes"),
            TextError::UnknownId { id, num_keys } => {
                write!(f, "no token has the id {id}; the trie has {num_keys} tokens")
            }
            TextError::ScoreCount { scores, num_keys } => {
                write!(f, "trie_key_scores has {scores} scores for {num_keys} tokens")
            }
            TextError::NoScore { id, scores } => write!(
                f,
                "the token with the id {id} has no score: trie_key_scores has {scores}; number the tokens from 0"
            ),
            TextError::Score { id, score } => {
                write!(f, "trie_key_scores[{id}] is {score}; scores must be finite")
            }
            TextError::Size { argument, got, expected } => {
                write!(f, "{argument} has {got} elements, expected {expected}")
            }
            TextError::Axis { axis, ndim } => {
                write!(f, "axis {axis} is out of bounds for an array of dimension {ndim}")
            }
            TextError::Length { argument, row, length, size } => {
                write!(f, "{argument}[{row}] is {length}; a row has {size} elements")
            }
        }
    }
}

impl std::error::Error for TextError {}

/// A byte as a character where it has one, and as a number.
struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_ascii_graphic() {
            write!(f, "'{}', ", char::from(self.0))?;
        }
        write!(f, "0x{:02x}", self.0)
    }
}
