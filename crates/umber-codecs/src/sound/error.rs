//! Why a sound could not be decoded or changed.

use std::fmt;

/// An error of this module. Its text completes `cannot decode <path>: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SoundError {
    /// The bytes have no signature of a sound file.
    Unknown,
    /// The format, or a variant of it, is known but not read.
    Unsupported {
        /// The format, as in "MP3" or "WAV with IMA ADPCM".
        format: String,
    },
    /// The file contradicts its format.
    Damaged {
        /// "WAV" or "FLAC".
        format: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// The file ends early.
    Truncated {
        /// "WAV" or "FLAC".
        format: &'static str,
        /// What is missing.
        detail: String,
    },
    /// The samples would need more memory than the limit allows.
    TooLarge {
        /// The bytes that they need.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The slice for the result has another size.
    WrongSize {
        /// The samples that the result has.
        needed: usize,
        /// The samples that the slice can hold.
        size: usize,
    },
    /// There is no memory for the result.
    Memory {
        /// The bytes that were requested.
        bytes: usize,
    },
    /// An argument is not acceptable.
    Argument {
        /// Its name.
        name: &'static str,
        /// The rule that it breaks and its value.
        detail: String,
    },
}

impl SoundError {
    pub(super) fn unsupported(format: impl Into<String>) -> SoundError {
        SoundError::Unsupported { format: format.into() }
    }

    pub(super) fn argument(name: &'static str, detail: impl Into<String>) -> SoundError {
        SoundError::Argument { name, detail: detail.into() }
    }
}

impl fmt::Display for SoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SoundError::Unknown => f.write_str("the bytes are not those of a WAV or FLAC file"),
            SoundError::Unsupported { format } => {
                write!(f, "{format} is not supported; convert it to WAV or FLAC, or decode it in a transform")
            }
            SoundError::Damaged { format, detail } => write!(f, "damaged {format} file: {detail}"),
            SoundError::Truncated { format, detail } => write!(f, "truncated {format} file: {detail}"),
            SoundError::TooLarge { needed, limit } => {
                write!(f, "the samples need {needed} bytes, which is more than the limit of {limit}")
            }
            SoundError::WrongSize { needed, size } => {
                write!(f, "the sound has {needed} samples, but there is space for {size}")
            }
            SoundError::Memory { bytes } => write!(f, "no memory for {bytes} bytes of samples"),
            SoundError::Argument { name, detail } => write!(f, "{name} {detail}"),
        }
    }
}

impl std::error::Error for SoundError {}
