//! Texts: one axis of `int8` or `uint8`.

use memchr::memmem::Finder;
use umber_core::DType;

use crate::error::Result;
use crate::fault;
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

impl Value {
    /// The bytes of a text.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn text(&self, what: &str) -> Result<std::borrow::Cow<'_, [u8]>> {
        if self.is_text() {
            return self.bytes();
        }
        Err(fault!(
            Type,
            "{what} is bytes, an axis of int8 or uint8, got {} of shape {}",
            self.dtype(),
            self.shape()
        ))
    }

    /// Bytes as text of this dtype, `int8` or `uint8`.
    pub(crate) fn from_text(bytes: &[u8], dtype: DType) -> Result<Value> {
        let mut value = Value::allocate(&bytes.len().into(), dtype)?;
        value.bytes_mut()?.copy_from_slice(bytes);
        Ok(value)
    }
}

/// Replaces parts of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replace {
    /// The text, and where the result goes.
    pub keys: Keys,
    /// The bytes that are replaced.
    pub old: Vec<u8>,
    /// What they are replaced by.
    pub replacement: Vec<u8>,
    /// How many of them, from the start; `None` for all.
    pub count: Option<usize>,
}

impl Replace {
    /// Replace `old` the first `count` times; always, if that is negative.
    ///
    /// # Errors
    /// If `old` is empty.
    pub fn new(
        keys: impl Into<Keys>,
        old: impl Into<Vec<u8>>,
        replacement: impl Into<Vec<u8>>,
        count: i64,
    ) -> Result<Replace> {
        let (old, replacement) = (old.into(), replacement.into());
        if old.is_empty() {
            return Err(fault!(Value, "old must not be empty").at_stage(Self::NAME));
        }
        Ok(Replace { keys: keys.into(), old, replacement, count: usize::try_from(count).ok() })
    }
}

impl Change for Replace {
    const NAME: &'static str = "replace";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, mut value: Value, _draw: &Draw) -> Result<Value> {
        let (old, new) = (&self.old, &self.replacement);
        let text = value.text("a text")?;
        let places: Vec<usize> =
            Finder::new(old).find_iter(&text).take(self.count.unwrap_or(usize::MAX)).collect();
        if places.is_empty() {
            drop(text);
            return Ok(value);
        }
        if old.len() == new.len() {
            drop(text);
            let text = value.bytes_mut()?;
            for &place in &places {
                text[place..place + new.len()].copy_from_slice(new);
            }
            return Ok(value);
        }
        let mut replaced = Vec::new();
        let mut from = 0;
        for place in places {
            replaced.extend_from_slice(&text[from..place]);
            replaced.extend_from_slice(new);
            from = place + old.len();
        }
        replaced.extend_from_slice(&text[from..]);
        Value::from_text(&replaced, value.dtype())
    }
}

/// Replaces each byte of a text by other bytes. The result is `int8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaceBytes {
    /// The text, and where the result goes.
    pub keys: Keys,
    /// What byte `i` is replaced by; bytes beyond the list are removed.
    pub replacements: Vec<Vec<u8>>,
}

impl ReplaceBytes {
    /// Replace byte `i` by `replacements[i]`.
    ///
    /// # Errors
    /// If there are more than 256.
    pub fn new(keys: impl Into<Keys>, replacements: Vec<Vec<u8>>) -> Result<ReplaceBytes> {
        if replacements.len() > 256 {
            let count = replacements.len();
            return Err(fault!(Value, "byte_map has at most 256 entries, one a byte, got {count}")
                .at_stage(Self::NAME));
        }
        Ok(ReplaceBytes { keys: keys.into(), replacements })
    }
}

impl Change for ReplaceBytes {
    const NAME: &'static str = "replace_bytes";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let text = value.text("a text")?;
        let replacement =
            |byte: &u8| self.replacements.get(usize::from(*byte)).map_or(&[][..], Vec::as_slice);
        let mut replaced = Vec::with_capacity(text.len());
        text.iter().for_each(|byte| replaced.extend_from_slice(replacement(byte)));
        Value::from_text(&replaced, DType::Int8)
    }
}
