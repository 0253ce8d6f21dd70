//! Samples in a list.

use crate::error::Result;
use crate::fault;
use crate::sample::{Name, Sample};
use crate::ticket::Rows;
use crate::value::Value;

/// Samples in memory.
pub struct Vector {
    samples: Vec<Sample>,
    /// Whether all samples have the same keys with contiguous values of the same dtypes and shapes.
    are_alike: bool,
}

impl Vector {
    /// These samples.
    pub fn new(samples: Vec<Sample>) -> Vector {
        let are_alike = samples.iter().all(|sample| {
            let first = &samples[0];
            sample.len() == first.len()
                && sample.iter().zip(first.iter()).all(|((name, value), (other_name, other))| {
                    name == other_name
                        && value.dtype() == other.dtype()
                        && value.shape() == other.shape()
                        && value.layout().is_contiguous()
                })
        });
        Vector { samples, are_alike }
    }
}

impl Rows for Vector {
    fn row(&self, index: u64) -> Result<Sample> {
        self.samples
            .get(index as usize)
            .cloned()
            .ok_or_else(|| fault!(Index, "index {index} is out of bounds"))
    }

    fn gather(&self, indices: &[u64]) -> Option<Result<Sample>> {
        if !self.are_alike {
            return None;
        }
        let first = self.samples.first()?;
        let column = |place: usize, name: &Name, value: &Value| -> Result<(Name, Value)> {
            let mut shape = value.shape().clone();
            shape.insert(0, indices.len());
            let mut out = Value::allocate(&shape, value.dtype())?;
            let bytes = value.size() * value.dtype().size();
            if bytes > 0 {
                for (row, &index) in out.bytes_mut()?.chunks_exact_mut(bytes).zip(indices) {
                    let value = self.samples[index as usize].entry(place).map(|(_, value)| value);
                    row.copy_from_slice(value.and_then(Value::as_bytes).unwrap_or_default());
                }
            }
            Ok((name.clone(), out))
        };
        Some(first.iter().enumerate().map(|(place, (name, value))| column(place, name, value)).collect())
    }
}
