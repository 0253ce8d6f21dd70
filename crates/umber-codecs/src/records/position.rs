//! Where a reader is, so that another can go on from there.

use std::io::{self, BufRead, Seek, SeekFrom};

use super::RecordError;

/// A place between two records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The number of bytes before it.
    pub offset: u64,
    /// The number of lines that end before it.
    pub line: u64,
}

/// Read and drop the bytes from one offset to another: streams, such as compressed ones, have no other way.
pub(crate) fn skip(reader: &mut impl BufRead, from: u64, to: u64) -> Result<(), RecordError> {
    let Some(mut left) = to.checked_sub(from) else {
        let detail =
            format!("the reader is at byte {from}, and a stream only goes forwards; open it anew").into();
        return Err(RecordError::Position { offset: to, detail });
    };
    while left > 0 {
        let available = fill(reader)?.len();
        if available == 0 {
            let detail = format!("the data end at byte {}; have they changed?", to - left).into();
            return Err(RecordError::Position { offset: to, detail });
        }
        let count = left.min(available as u64);
        reader.consume(count as usize);
        left -= count;
    }
    Ok(())
}

/// Go to an offset that is not behind the end.
pub(crate) fn seek(reader: &mut impl Seek, to: u64) -> Result<(), RecordError> {
    let here = reader.stream_position()?;
    let end = reader.seek(SeekFrom::End(0))?;
    reader.seek(SeekFrom::Start(if to > end { here } else { to }))?;
    if to > end {
        let detail = format!("the data end at byte {end}; have they changed?").into();
        return Err(RecordError::Position { offset: to, detail });
    }
    Ok(())
}

/// The bytes that a reader has buffered, filled if there are none. Interrupted reads are repeated.
pub(crate) fn fill(reader: &mut impl BufRead) -> Result<&[u8], RecordError> {
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(reader.fill_buf()?)
}
