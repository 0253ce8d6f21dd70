//! Lines: an index of all of them, and a reader of one after the other.
//!
//! A line ends before `\n`, or at the end of the data if there is anything behind the last `\n`. A `\r` stays in the line.

use std::io::{BufRead, Seek};

use super::position::{fill, seek, skip};
use super::{Format, Position, RECORD_LIMIT, RecordError};

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The offset of its first byte.
    pub offset: u64,
    /// Its number of bytes, without the `\n`.
    pub length: u64,
}

/// Where all lines are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u64>,
    /// The end of the last line, without its `\n`.
    end: u64,
}

impl LineIndex {
    /// Find the lines of a file in memory.
    pub fn of(bytes: &[u8]) -> LineIndex {
        let mut index = LineIndex::default();
        let mut next_start = Some(0);
        index.extend(bytes, 0, &mut next_start);
        index.finish(bytes.len() as u64, next_start)
    }

    /// Find the lines of a stream.
    pub fn read(mut reader: impl BufRead) -> Result<LineIndex, RecordError> {
        let mut index = LineIndex::default();
        let (mut offset, mut next_start) = (0, Some(0));
        loop {
            let bytes = fill(&mut reader)?;
            if bytes.is_empty() {
                return Ok(index.finish(offset, next_start));
            }
            let length = bytes.len();
            index.extend(bytes, offset, &mut next_start);
            reader.consume(length);
            offset += length as u64;
        }
    }

    /// Add the lines that start in `bytes`. `next_start` is where the next line starts, if it has a byte.
    fn extend(&mut self, bytes: &[u8], offset: u64, next_start: &mut Option<u64>) {
        if bytes.is_empty() {
            return;
        }
        self.starts.extend(next_start.take());
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let start = offset + newline as u64 + 1;
            if newline + 1 < bytes.len() {
                self.starts.push(start);
            } else {
                *next_start = Some(start);
            }
        }
    }

    fn finish(mut self, length: u64, next_start: Option<u64>) -> LineIndex {
        // Where a line would start behind the last byte, that byte is a newline.
        self.end = if length > 0 && next_start == Some(length) { length - 1 } else { length };
        self.starts.shrink_to_fit();
        self
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Where a line is; none behind the last one.
    pub fn get(&self, index: usize) -> Option<Line> {
        let offset = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(self.end, |next| next - 1);
        Some(Line { offset, length: end - offset })
    }

    /// Where the lines are, in order.
    pub fn iter(&self) -> impl Iterator<Item = Line> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// Reads one line after the other, in constant memory.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    position: Position,
    limit: usize,
}

impl<R: BufRead> LineReader<R> {
    /// A reader at the start of its data.
    pub fn new(reader: R) -> LineReader<R> {
        LineReader { reader, position: Position::default(), limit: RECORD_LIMIT }
    }

    /// Refuse lines of more bytes.
    pub fn with_limit(mut self, limit: usize) -> LineReader<R> {
        self.limit = limit;
        self
    }

    /// Read the next line into `line`; false at the end of the data.
    ///
    /// After a line that is too long, the next call reads the line behind it.
    pub fn read_line(&mut self, line: &mut Vec<u8>) -> Result<bool, RecordError> {
        line.clear();
        let start = self.position.offset;
        loop {
            let has_ended = self.read_part(Some(line))?;
            if line.len() > self.limit {
                line.clear();
                // Read to its end, so that the position is one between lines.
                while !has_ended && !self.read_part(None)? {}
                return Err(RecordError::TooLong {
                    format: Format::Lines,
                    offset: start,
                    limit: self.limit as u64,
                });
            }
            if has_ended {
                return Ok(self.position.offset > start);
            }
        }
    }

    /// Read what is buffered of a line; true if it has ended.
    fn read_part(&mut self, line: Option<&mut Vec<u8>>) -> Result<bool, RecordError> {
        let bytes = fill(&mut self.reader)?;
        let newline = memchr::memchr(b'\n', bytes);
        let part = newline.unwrap_or(bytes.len());
        if let Some(line) = line {
            // One byte over the limit suffices to see that there are too many.
            line.extend_from_slice(
                &bytes[..part.min((self.limit - line.len().min(self.limit)).saturating_add(1))],
            );
        }
        let has_ended = newline.is_some() || bytes.is_empty();
        let count = part + usize::from(newline.is_some());
        self.reader.consume(count);
        self.position.offset += count as u64;
        self.position.line += u64::from(newline.is_some());
        Ok(has_ended)
    }

    /// Where the next line begins.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Go forwards to a position that [`position`](LineReader::position) returned for the same data.
    pub fn skip_to(&mut self, position: Position) -> Result<(), RecordError> {
        skip(&mut self.reader, self.position.offset, position.offset)?;
        self.position = position;
        Ok(())
    }

    /// Go to a position that [`position`](LineReader::position) returned for the same data.
    pub fn seek_to(&mut self, position: Position) -> Result<(), RecordError>
    where
        R: Seek,
    {
        seek(&mut self.reader, position.offset)?;
        self.position = position;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;

    use super::*;

    fn lines(text: &[u8]) -> Vec<Vec<u8>> {
        let index = LineIndex::of(text);
        index.iter().map(|line| text[line.offset as usize..][..line.length as usize].to_vec()).collect()
    }

    fn read_all(reader: &mut LineReader<impl BufRead>) -> Vec<Vec<u8>> {
        let mut line = Vec::new();
        std::iter::from_fn(|| reader.read_line(&mut line).unwrap().then(|| line.clone())).collect()
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        for (text, expected) in [
            (&b""[..], &[][..]),
            (b"\n", &[&b""[..]]),
            (b"a", &[b"a"]),
            (b"a\n", &[b"a"]),
            (b"a\r\n\nb", &[b"a\r", b"", b"b"]),
            (b"\n\n", &[b"", b""]),
        ] {
            assert_eq!(lines(text), expected, "{text:?}");
            assert_eq!(read_all(&mut LineReader::new(text)), expected, "{text:?}");
        }
        assert_eq!(LineIndex::of(b"a\nbc").get(1), Some(Line { offset: 2, length: 2 }));
        assert_eq!(LineIndex::of(b"a\nbc\n").get(2), None);
    }

    #[test]
    fn a_long_line_is_passed_over() {
        let mut reader =
            LineReader::new(BufReader::with_capacity(4, &b"ab\n123456789\ncde\nxyz1"[..])).with_limit(3);
        let mut line = Vec::new();
        assert!(reader.read_line(&mut line).unwrap());
        let error = reader.read_line(&mut line).unwrap_err();
        assert_eq!(error.to_string(), "a record of the text data at byte 3 has more than 3 bytes");
        assert!(line.is_empty());
        assert!(reader.read_line(&mut line).unwrap());
        assert_eq!(line, b"cde");
        assert_eq!(reader.position(), Position { offset: 17, line: 3 });
        assert!(reader.read_line(&mut line).is_err());
        assert!(!reader.read_line(&mut line).unwrap());
    }

    #[test]
    fn positions_outside_of_the_data_are_refused() {
        let mut reader = LineReader::new(Cursor::new(b"a\nb\n"));
        let beyond = Position { offset: 5, line: 2 };
        assert_eq!(
            reader.seek_to(beyond).unwrap_err().to_string(),
            "cannot go to byte 5: the data end at byte 4; have they changed?"
        );
        assert!(LineReader::new(&b"a\nb\n"[..]).skip_to(beyond).is_err());
        reader.read_line(&mut Vec::new()).unwrap();
        let error = reader.skip_to(Position::default()).unwrap_err();
        assert!(error.to_string().starts_with("cannot go to byte 0: the reader is at byte 2"));
    }

    proptest! {
        #[test]
        fn index_and_reader_agree_and_resume(
            text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60),
            capacity in 1usize..8,
            stop in 0usize..20,
        ) {
            let mut expected: Vec<_> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(lines(&text), &expected[..]);
            let buffered = BufReader::with_capacity(capacity, &text[..]);
            prop_assert_eq!(LineIndex::read(buffered).unwrap(), LineIndex::of(&text));

            let mut reader = LineReader::new(BufReader::with_capacity(capacity, &text[..]));
            let mut line = Vec::new();
            let before: Vec<_> =
                (0..stop).map_while(|_| reader.read_line(&mut line).unwrap().then(|| line.clone())).collect();
            let position = reader.position();
            let mut skipping = LineReader::new(BufReader::with_capacity(capacity, &text[..]));
            skipping.skip_to(position).unwrap();
            let mut seeking = LineReader::new(BufReader::with_capacity(capacity, Cursor::new(&text)));
            seeking.seek_to(position).unwrap();
            prop_assert_eq!(&before, &expected[..before.len()]);
            prop_assert_eq!(read_all(&mut skipping), &expected[before.len()..]);
            prop_assert_eq!(read_all(&mut seeking), &expected[before.len()..]);
            prop_assert_eq!(skipping.position(), seeking.position());
        }
    }
}
