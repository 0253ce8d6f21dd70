//! What can be wrong with a file of records.

use std::borrow::Cow;
use std::{fmt, io};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Lines of text.
    Lines,
    /// Comma-separated values.
    Csv,
    /// A tar archive.
    Tar,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Lines => "text",
            Format::Csv => "CSV",
            Format::Tar => "tar",
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
            Format::Bzip2 => "bzip2",
            Format::Xz => "xz",
        })
    }
}

/// Why records cannot be read.
///
/// The message has no prefix: a stage adds its name, the sample, the key and the file.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The system cannot read the file.
    Io(io::Error),
    /// The data end too early.
    Truncated {
        /// The format.
        format: Format,
        /// Where the data end. In compressed data, the number of bytes that were decompressed.
        offset: u64,
        /// What is missing.
        detail: Cow<'static, str>,
    },
    /// The data contradict their format.
    Damaged {
        /// The format.
        format: Format,
        /// Where the fault is. In compressed data, the number of bytes that were decompressed before it.
        offset: u64,
        /// The rule that is broken.
        detail: Cow<'static, str>,
    },
    /// The data use a part of their format that is not supported.
    Refused {
        /// The format.
        format: Format,
        /// Where the data use it.
        offset: u64,
        /// The part, and what to do.
        detail: Cow<'static, str>,
    },
    /// A record, or a name, is too long.
    TooLong {
        /// The format.
        format: Format,
        /// Where it begins.
        offset: u64,
        /// The largest size in bytes.
        limit: u64,
    },
    /// A name occurs twice among the columns of a CSV file.
    DuplicateColumn {
        /// The name.
        name: String,
        /// The first column of this name, counted from 0.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A record of a CSV file has another number of fields than its header.
    FieldCount {
        /// The line at which the record begins, counted from 1.
        line: u64,
        /// The number of columns.
        expected: usize,
        /// The number of fields.
        got: usize,
    },
    /// A quoted field of a CSV file has no end.
    OpenQuote {
        /// The line at which its record begins, counted from 1.
        line: u64,
    },
    /// An option is not acceptable.
    Option {
        /// The option.
        name: &'static str,
        /// The rule that is broken.
        detail: String,
    },
    /// A reader cannot go to a position.
    Position {
        /// The offset of the position.
        offset: u64,
        /// The rule that is broken.
        detail: Cow<'static, str>,
    },
}

impl RecordError {
    /// The kind of an [`io::Error`] that contains this error.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            RecordError::Io(error) => error.kind(),
            RecordError::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            RecordError::Refused { .. } => io::ErrorKind::Unsupported,
            RecordError::Option { .. } | RecordError::Position { .. } => io::ErrorKind::InvalidInput,
            RecordError::Damaged { .. }
            | RecordError::TooLong { .. }
            | RecordError::DuplicateColumn { .. }
            | RecordError::FieldCount { .. }
            | RecordError::OpenQuote { .. } => io::ErrorKind::InvalidData,
        }
    }

    pub(crate) fn damaged(format: Format, offset: u64, detail: impl Into<Cow<'static, str>>) -> RecordError {
        RecordError::Damaged { format, offset, detail: detail.into() }
    }

    pub(crate) fn truncated(
        format: Format,
        offset: u64,
        detail: impl Into<Cow<'static, str>>,
    ) -> RecordError {
        RecordError::Truncated { format, offset, detail: detail.into() }
    }

    pub(crate) fn refused(format: Format, offset: u64, detail: impl Into<Cow<'static, str>>) -> RecordError {
        RecordError::Refused { format, offset, detail: detail.into() }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Io(error) => write!(f, "{error}"),
            RecordError::Truncated { format, offset, detail } => {
                write!(f, "the {format} data end at byte {offset}: {detail}")
            }
            RecordError::Damaged { format, offset, detail } => {
                write!(f, "the {format} data are damaged at byte {offset}: {detail}")
            }
            RecordError::Refused { format, offset: 0, detail } => {
                write!(f, "cannot read {format} data: {detail}")
            }
            RecordError::Refused { format, offset, detail } => {
                write!(f, "cannot read the {format} data at byte {offset}: {detail}")
            }
            RecordError::TooLong { format, offset, limit } => {
                write!(f, "a record of the {format} data at byte {offset} has more than {limit} bytes")
            }
            RecordError::DuplicateColumn { name, first, second } => {
                write!(f, "columns {first} and {second} are both named '{name}'; rename one")
            }
            RecordError::FieldCount { line, expected, got } => {
                write!(f, "the record at line {line} has {got} fields, the header has {expected}")
            }
            RecordError::OpenQuote { line } => {
                write!(f, "the record at line {line} opens a quoted field that never ends")
            }
            RecordError::Option { name, detail } => write!(f, "{name} {detail}"),
            RecordError::Position { offset, detail } => write!(f, "cannot go to byte {offset}: {detail}"),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RecordError::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// A reader of compressed data passes its errors through [`io::Read`].
impl From<RecordError> for io::Error {
    fn from(error: RecordError) -> io::Error {
        match error {
            RecordError::Io(error) => error,
            other => io::Error::new(other.kind(), other),
        }
    }
}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> RecordError {
        error.downcast::<RecordError>().unwrap_or_else(RecordError::Io)
    }
}
