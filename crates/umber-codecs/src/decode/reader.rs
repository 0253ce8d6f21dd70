//! A position in the bytes of a file, for the formats that are read here.

use super::error::{Result, truncated};

/// A position in the bytes of a file.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// What follows.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.position = self.position.saturating_add(count);
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some(taken) = self.rest().get(..count) else { return truncated(self.bytes) };
        self.position += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array()?))
    }
}

/// `value` of `maximum` as one of 255, rounded.
pub(super) fn to_byte(value: u32, maximum: u32) -> u8 {
    ((u64::from(value.min(maximum)) * 255 + u64::from(maximum) / 2) / u64::from(maximum.max(1))) as u8
}

/// `length` bytes from `start`. Where they are missing: an error under `strict`, else zeros.
pub(super) fn body(
    bytes: &[u8],
    start: usize,
    length: u64,
    strict: bool,
) -> Result<std::borrow::Cow<'_, [u8]>> {
    use super::DecodeError;
    let available = bytes.get(start..).unwrap_or_default();
    let missing = length.saturating_sub(available.len() as u64);
    if missing == 0 {
        return Ok(available[..length as usize].into());
    }
    if strict {
        // Counted from the start of the body, which may lie behind the end.
        let missing = (start as u64).saturating_add(length) - bytes.len() as u64;
        return Err(DecodeError::Truncated { missing: Some(missing), available: bytes.len() as u64 });
    }
    let mut padded = available.to_vec();
    padded.resize(length as usize, 0);
    Ok(padded.into())
}
