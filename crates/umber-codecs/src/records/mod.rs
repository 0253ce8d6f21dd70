//! Records of files, on plain memory and streams: lines, CSV, members of tar archives, compressed data.
//!
//! ```
//! use umber_codecs::records::{CsvOptions, CsvReader, CsvRecord, LineReader, RecordError};
//!
//! let mut lines = LineReader::new(&b"one\ntwo"[..]);
//! let mut line = Vec::new();
//! lines.read_line(&mut line)?;
//! let position = lines.position();
//!
//! let mut resumed = LineReader::new(&b"one\ntwo"[..]);
//! resumed.skip_to(position)?;
//! assert!(resumed.read_line(&mut line)?);
//! assert_eq!(line, b"two");
//!
//! let mut table = CsvReader::new(&b"name,age\n\"Lovelace, Ada\",36\n"[..], CsvOptions::default())?;
//! let mut record = CsvRecord::new();
//! assert_eq!(table.columns(), ["name", "age"]);
//! assert!(table.read_record(&mut record)?);
//! assert_eq!(record.get(0), Some(&b"Lovelace, Ada"[..]));
//! # Ok::<(), RecordError>(())
//! ```

pub mod compression;
pub mod csv;
mod error;
pub mod lines;
mod position;
pub mod tar;

pub use compression::Compression;
pub use csv::{CsvOptions, CsvReader, CsvRecord};
pub use error::{Format, RecordError};
pub use lines::{Line, LineIndex, LineReader};
pub use position::Position;
pub use tar::{Nesting, TarEntry, TarIndex};

/// The size of a record in bytes that readers accept unless they are told another.
pub const RECORD_LIMIT: usize = 1 << 31;
