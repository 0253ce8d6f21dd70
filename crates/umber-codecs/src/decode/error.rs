//! Why an image could not be decoded or encoded.

use std::fmt;

/// Why an image could not be decoded or encoded.
///
/// [`DecodeError::reason`] is the text without "cannot decode", for callers that name the file in between.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// There are no bytes.
    Empty,
    /// The file ends before its image does.
    Truncated {
        /// Number of bytes that are missing, where the format tells.
        missing: Option<u64>,
        /// Number of bytes of the file.
        available: u64,
    },
    /// The content contradicts the format: a checksum, an index, a marker.
    Damaged(String),
    /// A format, or a part of one, that is not read.
    Unsupported(String),
    /// More pixels than the limit of the options.
    TooLarge {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
        /// The limit.
        max_pixels: u64,
    },
    /// An argument that no image has.
    Argument(String),
}

impl DecodeError {
    /// The file ends early, and the format does not tell by how much.
    pub(crate) fn truncated(bytes: &[u8]) -> Self {
        Self::Truncated { missing: None, available: bytes.len() as u64 }
    }

    /// The text without "cannot decode".
    pub fn reason(&self) -> String {
        match self {
            Self::Empty => "the file is empty".to_owned(),
            Self::Truncated { missing: Some(missing), available } => {
                format!(
                    "{} of {} bytes are missing",
                    thousands(*missing),
                    thousands(missing.saturating_add(*available))
                )
            }
            Self::Truncated { missing: None, available } => {
                format!("the file ends after {} bytes, before the end of the image", thousands(*available))
            }
            Self::Damaged(fault) => format!("the file is damaged: {fault}"),
            Self::Unsupported(name) => format!("{name} is not supported"),
            Self::TooLarge { width, height, max_pixels } => format!(
                "{} by {} pixels are more than the limit of {}; raise max_pixels to decode it",
                thousands(*width),
                thousands(*height),
                thousands(*max_pixels)
            ),
            Self::Argument(fault) => fault.clone(),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(fault) => formatter.write_str(fault),
            _ => write!(formatter, "cannot decode: {}", self.reason()),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The result of decoding.
pub(crate) type Result<T> = std::result::Result<T, DecodeError>;

/// The content contradicts its format.
pub(crate) fn damaged<T>(fault: impl Into<String>) -> Result<T> {
    Err(DecodeError::Damaged(fault.into()))
}

/// A format, or a part of one, that is not read.
pub(crate) fn unsupported<T>(name: impl Into<String>) -> Result<T> {
    Err(DecodeError::Unsupported(name.into()))
}

/// [`DecodeError::truncated`] as a result.
pub(crate) fn truncated<T>(bytes: &[u8]) -> Result<T> {
    Err(DecodeError::truncated(bytes))
}

/// `number` with a comma between thousands.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let error = DecodeError::Truncated { missing: Some(1312), available: 46_899 };
        assert_eq!(error.to_string(), "cannot decode: 1,312 of 48,211 bytes are missing");
        assert_eq!(error.reason(), "1,312 of 48,211 bytes are missing");
        let error = DecodeError::Truncated { missing: None, available: 999 };
        assert_eq!(error.reason(), "the file ends after 999 bytes, before the end of the image");
        let error = DecodeError::TooLarge { width: 70_000, height: 65_536, max_pixels: 1 << 28 };
        assert_eq!(
            error.to_string(),
            "cannot decode: 70,000 by 65,536 pixels are more than the limit of 268,435,456; raise max_pixels to decode it"
        );
        assert_eq!(DecodeError::Empty.to_string(), "cannot decode: the file is empty");
    }
}
