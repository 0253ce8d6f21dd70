//! Records of files, on plain memory and streams: lines, CSV, members of tar archives, compressed data.

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
