//! Samples as rows of a table in chunks, with columns of texts.

use umber_core::{Layout, Shape};

use crate::error::Result;
use crate::fault;
use crate::sample::{Name, Sample};
use crate::source::columns::{Columns, row_of};
use crate::ticket::Rows;
use crate::value::Value;

/// A column of a chunk.
pub enum TableColumn {
    /// Row `i` of a value.
    Rows(Value),
    /// The bytes between two offsets of a contiguous value with one axis.
    Texts {
        /// The bytes of all texts.
        bytes: Value,
        /// Where each text begins, and the end of the last one, in ascending order.
        offsets: Vec<usize>,
    },
}

impl TableColumn {
    fn len(&self) -> usize {
        match self {
            TableColumn::Rows(value) => value.shape().first().copied().unwrap_or(0),
            TableColumn::Texts { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    fn row(&self, index: usize) -> Result<Value> {
        match self {
            TableColumn::Rows(value) => row_of(value, index),
            TableColumn::Texts { bytes, offsets } => {
                let (start, end) = (offsets[index], offsets[index + 1]);
                let mut layout = Layout::contiguous(Shape::from([end.saturating_sub(start)]));
                if start >= end {
                    return Value::allocate(&layout.shape, bytes.dtype());
                }
                layout.offset = bytes.layout().offset + start;
                bytes.with_layout(layout)
            }
        }
    }
}

/// A table whose rows are in chunks. No value is copied.
pub struct Table {
    names: Vec<Name>,
    chunks: Vec<Vec<TableColumn>>,
    /// The number of the first row of each chunk, and that of all rows.
    starts: Vec<u64>,
    /// The only chunk, if it has no texts: its batches are gathered.
    columns: Option<Columns>,
}

impl Table {
    /// The rows of these chunks, each of which has a column for each name.
    ///
    /// # Errors
    /// If the columns of a chunk differ in number or length.
    pub fn new(names: Vec<Name>, chunks: Vec<Vec<TableColumn>>) -> Result<Table> {
        let mut starts = vec![0];
        for chunk in &chunks {
            let rows = chunk.first().map_or(0, TableColumn::len);
            if chunk.len() != names.len() || chunk.iter().any(|column| column.len() != rows) {
                return Err(fault!(Value, "the columns of a chunk differ in number or length"));
            }
            starts.push(starts[starts.len() - 1] + rows as u64);
        }
        let mut columns = None;
        if let [chunk] = &chunks[..] {
            let values: Option<Sample> = names
                .iter()
                .zip(chunk)
                .map(|(name, column)| match column {
                    TableColumn::Rows(value) => Some((name.clone(), value.clone())),
                    TableColumn::Texts { .. } => None,
                })
                .collect();
            columns = values.map(Columns::new).transpose()?;
        }
        Ok(Table { names, chunks, starts, columns })
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Rows for Table {
    fn row(&self, index: u64) -> Result<Sample> {
        if index >= self.len() {
            return Err(fault!(Index, "index {index} is out of bounds for {} rows", self.len()));
        }
        let chunk = self.starts.partition_point(|&start| start <= index) - 1;
        let row = (index - self.starts[chunk]) as usize;
        let columns = self.names.iter().cloned().zip(&self.chunks[chunk]);
        columns.map(|(name, column)| Ok((name, column.row(row)?))).collect()
    }

    fn gather(&self, indices: &[u64]) -> Option<Result<Sample>> {
        self.columns.as_ref()?.gather(indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_their_chunks() {
        let texts = |text: &[u8], offsets: &[usize]| TableColumn::Texts {
            bytes: Value::from_bytes(text).expect("memory"),
            offsets: offsets.to_vec(),
        };
        let numbers =
            |numbers: &[i32]| TableColumn::Rows(Value::from_slice(numbers, numbers.len()).expect("memory"));
        let chunks = vec![
            vec![texts(b"oneone", &[3, 6, 6]), numbers(&[1, 2])],
            vec![texts(b"", &[0]), numbers(&[])],
            vec![texts(b"two", &[0, 3]), numbers(&[3])],
        ];
        let table = Table::new(vec!["text".into(), "number".into()], chunks).expect("equal lengths");
        assert_eq!(table.len(), 3);
        let rows: Vec<(Vec<u8>, Option<i32>)> = (0..3)
            .map(|index| {
                let row = table.row(index).expect("a row");
                let text = row.get("text").and_then(Value::as_bytes).unwrap_or_default().to_vec();
                (text, row.get("number").and_then(|number| number.as_slice::<i32>()?.first().copied()))
            })
            .collect();
        assert_eq!(rows, [(b"one".to_vec(), Some(1)), (vec![], Some(2)), (b"two".to_vec(), Some(3))]);
        assert!(table.row(3).is_err() && table.gather(&[0]).is_none());
        assert!(Table::new(vec!["number".into()], vec![vec![]]).is_err());
    }
}
