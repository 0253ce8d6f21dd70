//! Samples as rows of arrays.

use crate::error::Result;
use crate::fault;
use crate::sample::{Name, Sample};
use crate::ticket::Rows;
use crate::value::Value;

/// Columns of equal length: sample `i` has row `i` of each.
pub struct Columns {
    columns: Sample,
    len: usize,
}

impl Columns {
    /// These columns.
    ///
    /// # Errors
    /// If they differ in length, or one has no axis.
    pub fn new(columns: Sample) -> Result<Columns> {
        let mut len = None;
        for (name, value) in columns.iter() {
            let fault = |text: String| {
                Err(fault!(Value, "{text}").at_stage("buffer_from_arrays").at_key(name.as_str()))
            };
            let Some(&length) = value.shape().first() else {
                return fault("a column has at least one axis, got a scalar".to_owned());
            };
            let expected = *len.get_or_insert(length);
            if length != expected {
                return fault(format!(
                    "columns have one length: the first has {expected}, this one {length}"
                ));
            }
        }
        Ok(Columns { columns, len: len.unwrap_or(0) })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Row `index` of a column, which shares its memory.
pub(super) fn row_of(column: &Value, index: usize) -> Result<Value> {
    let mut layout = column.layout().clone();
    layout.offset = (layout.offset as isize + index as isize * layout.strides[0]) as usize;
    layout.strides.remove(0);
    layout.shape.remove(0);
    column.with_layout(layout)
}

impl Rows for Columns {
    fn row(&self, index: u64) -> Result<Sample> {
        if index >= self.len as u64 {
            return Err(fault!(Index, "index {index} is out of bounds for {} rows", self.len));
        }
        let rows =
            self.columns.iter().map(|(name, column)| Ok((name.clone(), row_of(column, index as usize)?)));
        rows.collect()
    }

    fn gather(&self, indices: &[u64]) -> Option<Result<Sample>> {
        let gather = |(name, column): (&Name, &Value)| -> Result<(Name, Value)> {
            let mut shape = column.shape().clone();
            shape.as_mut_slice()[0] = indices.len();
            let mut out = Value::allocate(&shape, column.dtype())?;
            let bytes = column.size().checked_div(self.len).unwrap_or(0) * column.dtype().size();
            if let Some(rows) = column.as_bytes() {
                if bytes > 0 {
                    for (row, &index) in out.bytes_mut()?.chunks_exact_mut(bytes).zip(indices) {
                        row.copy_from_slice(&rows[index as usize * bytes..][..bytes]);
                    }
                }
                return Ok((name.clone(), out));
            }
            let mut start = vec![0; shape.ndim()];
            shape.as_mut_slice()[0] = 1;
            for (place, &index) in indices.iter().enumerate() {
                start[0] = place;
                out.write_at(&start, &shape, &row_of(column, index as usize)?)?;
            }
            Ok((name.clone(), out))
        };
        Some(self.columns.iter().map(gather).collect())
    }
}
