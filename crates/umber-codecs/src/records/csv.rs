//! Comma-separated values, as RFC 4180 has them and as spreadsheets write them.
//!
//! The first record names the columns. Lines end with `\n`, `\r\n` or `\r`; empty lines are passed over, and so is a byte order
//! mark at the start. A quote inside of a field that does not start with one is an ordinary byte.

use std::io::{BufRead, Seek};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::position::{fill, seek, skip};
use super::{Format, Position, RECORD_LIMIT, RecordError};

/// What spreadsheets write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file is written, and what is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// The byte between two fields.
    pub separator: u8,
    /// The byte around fields that contain separators, quotes or newlines.
    pub quote: u8,
    /// The largest size of a record's fields in bytes.
    pub limit: usize,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions { separator: b',', quote: b'"', limit: RECORD_LIMIT }
    }
}

/// The fields of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvRecord {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl CsvRecord {
    /// No fields.
    pub fn new() -> CsvRecord {
        CsvRecord::default()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A field; none behind the last one.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// Reads one record after the other, in constant memory.
#[derive(Debug)]
pub struct CsvReader<R> {
    reader: R,
    core: Box<Reader>,
    options: CsvOptions,
    columns: Vec<String>,
    position: Position,
    /// The start of a byte order mark that turned out to be none.
    head: &'static [u8],
    output: Vec<u8>,
    ends: Vec<usize>,
}

impl<R: BufRead> CsvReader<R> {
    /// A reader behind the header.
    pub fn new(reader: R, options: CsvOptions) -> Result<CsvReader<R>, RecordError> {
        for (name, byte) in [("sep", options.separator), ("quote", options.quote)] {
            if matches!(byte, b'\n' | b'\r') {
                return Err(RecordError::Option { name, detail: "ends lines; choose another".into() });
            }
        }
        if options.separator == options.quote {
            let detail = format!("is the quote, '{}'; choose another", options.quote.escape_ascii());
            return Err(RecordError::Option { name: "sep", detail });
        }
        let core = ReaderBuilder::new().delimiter(options.separator).quote(options.quote).build();
        let mut csv = CsvReader {
            reader,
            core: Box::new(core),
            options,
            columns: Vec::new(),
            position: Position::default(),
            head: &[],
            output: vec![0; 1 << 12],
            ends: vec![0; 1 << 6],
        };
        csv.restart(Position::default());
        csv.pass_byte_order_mark()?;
        csv.read_header()?;
        Ok(csv)
    }

    /// Make the state machine expect a record.
    fn restart(&mut self, position: Position) {
        self.core.reset();
        // An empty line, after which the machine takes a byte order mark for what it is inside of a file.
        let _ = self.core.read_record(b"\n", &mut self.output, &mut self.ends);
        (self.position, self.head) = (position, &[]);
    }

    fn pass_byte_order_mark(&mut self) -> Result<(), RecordError> {
        let mut matched = 0;
        while matched < BYTE_ORDER_MARK.len()
            && fill(&mut self.reader)?.first() == Some(&BYTE_ORDER_MARK[matched])
        {
            self.reader.consume(1);
            matched += 1;
        }
        if matched == BYTE_ORDER_MARK.len() {
            self.position.offset = matched as u64;
        } else {
            self.head = &BYTE_ORDER_MARK[..matched];
        }
        Ok(())
    }

    fn read_header(&mut self) -> Result<(), RecordError> {
        let mut header = CsvRecord::new();
        let start = self.position.offset;
        if !self.read_fields(&mut header)?.0 {
            return Err(RecordError::damaged(
                Format::Csv,
                start,
                "there is no header with the names of the columns",
            ));
        }
        for (second, name) in header.iter().enumerate() {
            let name = std::str::from_utf8(name).map_err(|_| {
                let detail = format!("the name of column {second} is not UTF-8: '{}'", name.escape_ascii());
                RecordError::damaged(Format::Csv, start, detail)
            })?;
            self.columns.push(name.to_owned());
        }
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|column| (&self.columns[*column], *column));
        let twice = order.windows(2).filter(|pair| self.columns[pair[0]] == self.columns[pair[1]]);
        match twice.min_by_key(|pair| pair[1]) {
            None => Ok(()),
            Some(pair) => Err(RecordError::DuplicateColumn {
                name: self.columns[pair[0]].clone(),
                first: pair[0],
                second: pair[1],
            }),
        }
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Read the next record into `record`; false at the end of the data.
    ///
    /// After a record that is too long or has a wrong number of fields, the next call reads the record behind it.
    pub fn read_record(&mut self, record: &mut CsvRecord) -> Result<bool, RecordError> {
        let (has_record, line) = self.read_fields(record)?;
        if has_record && record.len() != self.columns.len() {
            let got = record.len();
            return Err(RecordError::FieldCount { line, expected: self.columns.len(), got });
        }
        Ok(has_record)
    }

    /// Read the next fields: whether there are any, and the line at which they begin.
    fn read_fields(&mut self, record: &mut CsvRecord) -> Result<(bool, u64), RecordError> {
        self.pass_empty_lines()?;
        let start = self.position;
        record.bytes.clear();
        record.ends.clear();
        loop {
            let has_ended = self.read_part(Some(record)).map_err(|error| match error {
                RecordError::OpenQuote { .. } => RecordError::OpenQuote { line: start.line + 1 },
                other => other,
            })?;
            // The ends count, too, so that a record of empty fields has a limit.
            if record.bytes.len().saturating_add(record.ends.len()) > self.options.limit.saturating_add(1) {
                if !has_ended {
                    self.pass_record()?;
                }
                let limit = self.options.limit as u64;
                return Err(RecordError::TooLong { format: Format::Csv, offset: start.offset, limit });
            }
            if has_ended {
                return Ok((!record.ends.is_empty(), start.line + 1));
            }
        }
    }

    /// Pass the rest of a record, so that the position is one between records.
    fn pass_record(&mut self) -> Result<(), RecordError> {
        loop {
            match self.read_part(None) {
                Ok(false) => {}
                Ok(true) | Err(RecordError::OpenQuote { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Pass the ends of lines before a record, among them the `\n` of the `\r\n` that ended the last one.
    fn pass_empty_lines(&mut self) -> Result<(), RecordError> {
        while self.head.is_empty() {
            let bytes = fill(&mut self.reader)?;
            let count = bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            if count == 0 {
                break;
            }
            self.position.line += memchr::memchr_iter(b'\n', &bytes[..count]).count() as u64;
            self.position.offset += count as u64;
            self.reader.consume(count);
        }
        Ok(())
    }

    /// Read what is buffered of a record; true if it has ended.
    fn read_part(&mut self, record: Option<&mut CsvRecord>) -> Result<bool, RecordError> {
        let is_head = !self.head.is_empty();
        let input = if is_head { self.head } else { fill(&mut self.reader)? };
        // A newline ends the last record, unless a quoted field takes it.
        let is_end = input.is_empty();
        let input = if is_end { b"\n" } else { input };
        let line = self.core.line();
        let (result, read, written, fields) = self.core.read_record(input, &mut self.output, &mut self.ends);
        if is_end {
            let takes_newline = written > 0 && !matches!(result, ReadRecordResult::Record);
            if takes_newline {
                self.restart(self.position);
                return Err(RecordError::OpenQuote { line: 0 });
            }
        } else {
            self.position.offset += read as u64;
            self.position.line += self.core.line() - line;
            if is_head {
                self.head = &self.head[read..];
            } else {
                self.reader.consume(read);
            }
        }
        if let Some(record) = record {
            record.bytes.extend_from_slice(&self.output[..written]);
            record.ends.extend_from_slice(&self.ends[..fields]);
        }
        Ok(is_end || matches!(result, ReadRecordResult::Record | ReadRecordResult::End))
    }

    /// Where the next record begins, or an empty line before it.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Go forwards to a position that [`position`](CsvReader::position) returned for the same data.
    pub fn skip_to(&mut self, position: Position) -> Result<(), RecordError> {
        skip(&mut self.reader, self.position.offset, position.offset)?;
        self.restart(position);
        Ok(())
    }

    /// Go to a position that [`position`](CsvReader::position) returned for the same data.
    pub fn seek_to(&mut self, position: Position) -> Result<(), RecordError>
    where
        R: Seek,
    {
        seek(&mut self.reader, position.offset)?;
        self.restart(position);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;

    use super::*;

    type Table = (Vec<String>, Vec<Vec<String>>);

    fn rows(reader: &mut CsvReader<impl BufRead>) -> Result<Vec<Vec<String>>, RecordError> {
        let (mut record, mut rows) = (CsvRecord::new(), Vec::new());
        while reader.read_record(&mut record)? {
            rows.push(record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect());
        }
        Ok(rows)
    }

    fn table(text: &[u8], options: CsvOptions) -> Result<Table, RecordError> {
        let mut reader = CsvReader::new(text, options)?;
        let rows = rows(&mut reader)?;
        // However the bytes arrive.
        for capacity in 1..5 {
            let mut reader = CsvReader::new(BufReader::with_capacity(capacity, text), options)?;
            assert_eq!(super::tests::rows(&mut reader)?, rows);
        }
        Ok((reader.columns().to_vec(), rows))
    }

    fn read(text: &str) -> Result<Table, RecordError> {
        table(text.as_bytes(), CsvOptions::default())
    }

    fn fails(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn what_spreadsheets_write() {
        for text in [
            "\u{feff}a,b\r\n1,\r\n\"x, \"\"y\"\"\nz\",2\r\n",
            "a,b\n1,\n\"x, \"\"y\"\"\nz\",2",
            "a,b\r1,\r\"x, \"\"y\"\"\nz\",2\r\r",
            "\n\na,b\n1,\n\n\"x, \"\"y\"\"\nz\",2\n\n\n",
        ] {
            let (columns, rows) = read(text).unwrap();
            assert_eq!(columns, ["a", "b"], "{text:?}");
            assert_eq!(rows, [["1", ""], ["x, \"y\"\nz", "2"]], "{text:?}");
        }
        assert_eq!(read("a\n\"\"\n").unwrap().1, [[""]]);
        assert_eq!(read("a,b\n,\n").unwrap().1, [["", ""]]);
        assert_eq!(read("a\n5\" disk\n").unwrap().1, [["5\" disk"]]);
        assert_eq!(read("a\n\u{feff}1\n").unwrap().1, [["\u{feff}1"]]);
    }

    #[test]
    fn the_start_of_a_byte_order_mark_is_text() {
        let error = table(b"\xef\xbba,b\n", CsvOptions::default()).unwrap_err();
        assert!(error.to_string().contains(r"the name of column 0 is not UTF-8: '\xef\xbba'"), "{error}");
        let (columns, _) = read("\u{f000}\n").unwrap();
        assert_eq!(columns, ["\u{f000}"]);
    }

    #[test]
    fn separators_and_quotes_are_options() {
        let options = CsvOptions { separator: b';', quote: b'\'', ..CsvOptions::default() };
        assert_eq!(table(b"a;b\n'1;2';\"\n", options).unwrap().1, [["1;2", "\""]]);
        for (separator, quote) in [(b'\n', b'"'), (b',', b'\r'), (b',', b',')] {
            let options = CsvOptions { separator, quote, ..options };
            assert!(matches!(table(b"a\n", options), Err(RecordError::Option { .. })));
        }
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(fails("a,b,a\n"), "columns 0 and 2 are both named 'a'; rename one");
        assert_eq!(
            fails("a,b\n1,2\n\"x\ny\",1\n\n3\n"),
            "the record at line 6 has 1 fields, the header has 2"
        );
        assert_eq!(fails("a,b\r\n1,2\r\n3,4,5\r\n"), "the record at line 3 has 3 fields, the header has 2");
        assert_eq!(
            fails("a,b\n1,2\n3,\"4\n5,6\n"),
            "the record at line 3 opens a quoted field that never ends"
        );
        assert_eq!(fails("a\n\""), "the record at line 2 opens a quoted field that never ends");
        for text in ["", "\n\n", "\u{feff}"] {
            assert!(fails(text).ends_with("there is no header with the names of the columns"));
        }
    }

    #[test]
    fn reading_goes_on_behind_a_fault() {
        let mut reader = CsvReader::new(&b"a,b\n1\n2,3\n"[..], CsvOptions::default()).unwrap();
        let mut record = CsvRecord::new();
        assert!(reader.read_record(&mut record).is_err());
        assert!(reader.read_record(&mut record).unwrap());
        assert_eq!(record.iter().collect::<Vec<_>>(), [b"2", b"3"]);
        let mut open = CsvReader::new(&b"a\n\"1\n"[..], CsvOptions::default()).unwrap();
        assert!(open.read_record(&mut record).is_err());
        assert!(!open.read_record(&mut record).unwrap());
    }

    #[test]
    fn long_records_are_passed_over() {
        let text = format!("a\n{}\nx\n\"{}\n", "y".repeat(9000), "z".repeat(9000));
        let options = CsvOptions { limit: 10, ..CsvOptions::default() };
        let mut reader = CsvReader::new(text.as_bytes(), options).unwrap();
        let mut record = CsvRecord::new();
        let error = reader.read_record(&mut record).unwrap_err();
        assert_eq!(error.to_string(), "a record of the CSV data at byte 2 has more than 10 bytes");
        assert!(reader.read_record(&mut record).unwrap());
        assert_eq!(record.get(0), Some(&b"x"[..]));
        assert!(matches!(reader.read_record(&mut record), Err(RecordError::TooLong { .. })));
        assert!(!reader.read_record(&mut record).unwrap());
        let commas = ",".repeat(100);
        assert!(matches!(CsvReader::new(commas.as_bytes(), options), Err(RecordError::TooLong { .. })));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_resumed(
            rows in prop::collection::vec(prop::collection::vec("[a\",\r\n\u{feff} ]{0,4}", 3), 0..6),
            windows in any::<bool>(),
            capacity in 1usize..9,
            stop in 0usize..7,
        ) {
            let line_end = if windows { "\r\n" } else { "\n" };
            let mut text = format!("x,y,z{line_end}");
            for row in &rows {
                let fields: Vec<_> = row.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
                text += &(fields.join(",") + line_end);
            }
            let open = || {
                let source = BufReader::with_capacity(capacity, Cursor::new(text.as_bytes()));
                CsvReader::new(source, CsvOptions::default()).unwrap()
            };
            let mut reader = open();
            let mut record = CsvRecord::new();
            let stop = (0..stop).take_while(|_| reader.read_record(&mut record).unwrap()).count();
            let (mut skipping, mut seeking) = (open(), open());
            skipping.skip_to(reader.position()).unwrap();
            seeking.seek_to(reader.position()).unwrap();
            for reader in [&mut reader, &mut skipping, &mut seeking] {
                prop_assert_eq!(&super::tests::rows(reader).unwrap(), &rows[stop..]);
            }
            prop_assert_eq!(reader.position(), skipping.position());
            prop_assert_eq!(reader.position(), seeking.position());
        }

        #[test]
        fn any_bytes_are_read_to_their_end(
            bytes in prop::collection::vec(prop_oneof![
                Just(b'"'), Just(b','), Just(b'\n'), Just(b'\r'), Just(0xef), Just(0xbb), Just(0xbf), any::<u8>()
            ], 0..80),
            capacity in 1usize..9,
            limit in 0usize..40,
        ) {
            let options = CsvOptions { limit, ..CsvOptions::default() };
            let Ok(mut reader) = CsvReader::new(BufReader::with_capacity(capacity, &bytes[..]), options) else {
                return Ok(());
            };
            let mut record = CsvRecord::new();
            let mut calls = 0;
            while !matches!(reader.read_record(&mut record), Ok(false)) {
                calls += 1;
                prop_assert!(calls <= bytes.len() + 2);
            }
            prop_assert_eq!(reader.position().offset, bytes.len() as u64);
        }
    }
}
