//! Records of a file, one after the other: lines, rows of comma-separated values.

use std::io::BufRead;

use umber_core::DType;

use crate::error::{DataError, Result};
use crate::fault;
use crate::records::{CsvOptions, CsvReader, CsvRecord, LineReader, Position, RecordError};
use crate::sample::{Name, Sample};
use crate::source::content::{Bytes, Content};
use crate::stage::Samples;
use crate::value::Value;

/// What records are, and the keys of their values. Values are texts: an axis of `int8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// Lines, under this key. They are not stripped, except for the `\n`.
    Lines(Name),
    /// Rows of a table, under the names of its columns, which are the first row.
    Csv(CsvOptions),
}

impl RecordFormat {
    /// Rows of a table whose fields are separated and quoted by these bytes.
    ///
    /// # Errors
    /// If they end lines, or are the same.
    pub fn csv(separator: u8, quote: u8) -> Result<RecordFormat> {
        let options = CsvOptions { separator, quote, ..CsvOptions::default() };
        CsvReader::new(&b"a\n"[..], options).map_err(|error| fault!(Value, "{error}"))?;
        Ok(RecordFormat::Csv(options))
    }

    /// As an argument in states.
    pub(crate) fn arguments(&self) -> String {
        match self {
            RecordFormat::Lines(key) => format!("'{key}'"),
            RecordFormat::Csv(options) => {
                format!("'{}', '{}'", options.separator.escape_ascii(), options.quote.escape_ascii())
            }
        }
    }
}

/// Reads the records of open content.
pub(crate) struct RecordReader {
    format: Reader,
    is_seekable: bool,
    /// Whether nothing more can be read.
    has_ended: bool,
}

enum Reader {
    Lines {
        reader: LineReader<Bytes>,
        key: Name,
        line: Vec<u8>,
    },
    Csv {
        reader: CsvReader<Bytes>,
        names: Vec<Name>,
        record: CsvRecord,
    },
    /// A table without a header: an empty file.
    Nothing,
}

impl RecordReader {
    pub(crate) fn new(
        mut bytes: Bytes,
        format: &RecordFormat,
    ) -> std::result::Result<RecordReader, RecordError> {
        let is_seekable = bytes.is_seekable();
        let format = match format {
            RecordFormat::Lines(key) => {
                Reader::Lines { reader: LineReader::new(bytes), key: key.clone(), line: Vec::new() }
            }
            RecordFormat::Csv(_) if bytes.fill_buf()?.is_empty() => Reader::Nothing,
            RecordFormat::Csv(options) => {
                let reader = CsvReader::new(bytes, *options)?;
                let names = reader.columns().iter().map(|name| Name::new(name)).collect();
                Reader::Csv { reader, names, record: CsvRecord::new() }
            }
        };
        Ok(RecordReader { format, is_seekable, has_ended: false })
    }

    /// The next record. Errors of a single record are passed by the next call; others end the content.
    pub(crate) fn next(&mut self, fault_of: impl Fn(RecordError) -> DataError) -> Result<Option<Sample>> {
        if self.has_ended {
            return Ok(None);
        }
        let read = self.format.read();
        self.has_ended = match &read {
            Ok(has_record) => !has_record,
            Err(RecordError::TooLong { .. } | RecordError::FieldCount { .. }) => false,
            Err(_) => true,
        };
        if read.map_err(fault_of)? { self.format.sample().map(Some) } else { Ok(None) }
    }

    pub(crate) fn position(&self) -> Position {
        match &self.format {
            Reader::Lines { reader, .. } => reader.position(),
            Reader::Csv { reader, .. } => reader.position(),
            Reader::Nothing => Position::default(),
        }
    }

    /// Go forwards to a position of this content.
    pub(crate) fn go_to(&mut self, position: Position) -> std::result::Result<(), RecordError> {
        match (&mut self.format, self.is_seekable) {
            (Reader::Lines { reader, .. }, true) => reader.seek_to(position),
            (Reader::Lines { reader, .. }, false) => reader.skip_to(position),
            (Reader::Csv { reader, .. }, true) => reader.seek_to(position),
            (Reader::Csv { reader, .. }, false) => reader.skip_to(position),
            (Reader::Nothing, _) => Ok(()),
        }
    }
}

impl Reader {
    fn read(&mut self) -> std::result::Result<bool, RecordError> {
        match self {
            Reader::Lines { reader, line, .. } => reader.read_line(line),
            Reader::Csv { reader, record, .. } => reader.read_record(record),
            Reader::Nothing => Ok(false),
        }
    }

    /// The record that was read.
    fn sample(&self) -> Result<Sample> {
        let text = |bytes: &[u8]| Value::from_text(bytes, DType::Int8);
        match self {
            Reader::Lines { key, line, .. } => Ok(Sample::from_iter([(key.clone(), text(line)?)])),
            Reader::Csv { names, record, .. } => names
                .iter()
                .cloned()
                .zip(record.iter())
                .map(|(name, field)| Ok((name, text(field)?)))
                .collect(),
            Reader::Nothing => Ok(Sample::new()),
        }
    }
}

/// The source of the records of one content. Its state is the position in it.
pub struct Records {
    name: &'static str,
    content: Content,
    format: RecordFormat,
    unzip: bool,
    reader: Option<RecordReader>,
    /// Whether the content could not be opened: it is tried again in the next pass.
    is_closed: bool,
}

impl Records {
    /// The records of `content`, which is decompressed if `unzip` says so or the suffix of a file is that of a compression. Errors
    /// name the source `name`.
    ///
    /// # Errors
    /// If the content cannot be opened or has no header.
    pub fn new(name: &'static str, content: Content, format: RecordFormat, unzip: bool) -> Result<Records> {
        let mut records = Records { name, content, format, unzip, reader: None, is_closed: false };
        records.reader().map_err(|error| error.at_stage(name))?;
        Ok(records)
    }

    /// The reader, which is opened at the start of the content.
    fn reader(&mut self) -> Result<&mut RecordReader> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                self.is_closed = true;
                let bytes = self.content.open(self.unzip)?;
                let opened = RecordReader::new(bytes, &self.format);
                opened.map_err(|error| self.content.fault_of(error))?
            }
        };
        self.is_closed = false;
        Ok(self.reader.insert(reader))
    }

    fn read(&mut self) -> Result<Option<Sample>> {
        if self.is_closed {
            return Ok(None);
        }
        self.reader()?;
        let Records { reader, content, .. } = self;
        match reader {
            Some(reader) => reader.next(|error| content.fault_of(error)),
            None => Ok(None),
        }
    }

    fn go_to(&mut self, position: Position) -> Result<()> {
        let gone = self.reader()?.go_to(position);
        gone.map_err(|error| self.content.fault_of(error))
    }
}

impl Samples for Records {
    fn next(&mut self) -> Result<Option<Sample>> {
        self.read().map_err(|error| error.at_stage(self.name))
    }

    fn reset(&mut self) -> Result<()> {
        (self.reader, self.is_closed) = (None, false);
        Ok(())
    }

    fn name(&self) -> &str {
        self.name
    }

    fn arguments(&self) -> String {
        format!("{}, {}", self.content.name(), self.format.arguments())
    }

    fn save(&mut self) -> Option<String> {
        let position = self.reader.as_ref().map_or(Position::default(), RecordReader::position);
        Some(format!("{} {}", position.offset, position.line))
    }

    fn load(&mut self, state: &str) -> Result<()> {
        let numbers: Option<Vec<u64>> = state.split(' ').map(|number| number.parse().ok()).collect();
        let Some([offset, line]) = numbers.as_deref() else {
            return Err(fault!(Value, "the state is damaged, or another version wrote it"));
        };
        let position = Position { offset: *offset, line: *line };
        if position == Position::default() {
            return Ok(());
        }
        self.go_to(position).map_err(|error| error.at_stage(self.name))
    }
}
