//! Samples to a batch: values of a key become one array.

use umber_core::{DType, Shape};
use umber_types::{Layout, Scalar};

use crate::error::Result;
use crate::fault;
use crate::sample::{Name, Sample};
use crate::value::Value;

/// What shorter values are filled up with, by key; zero for others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Padding(pub Vec<(Name, f64)>);

/// The axis along which a key's values are joined, by key; values of other keys are stacked along a new first axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes(pub Vec<(Name, i64)>);

fn find<T: Copy>(entries: &[(Name, T)], name: &Name) -> Option<T> {
    entries.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
}

/// Merge samples with the same keys. Values of a key agree in dtype and number of axes; shorter ones are padded at their ends.
///
/// # Errors
/// If the samples differ in keys, or values of a key in dtype or number of axes, with the number of the sample in the batch.
pub fn merge(samples: &[Sample], padding: &Padding, axes: &Axes) -> Result<Sample> {
    let Some(first) = samples.first() else { return Ok(Sample::new()) };
    for (index, sample) in samples.iter().enumerate() {
        check_keys(first, sample, index)?;
    }
    let mut batch = Sample::new();
    let mut values = Vec::with_capacity(samples.len());
    for (place, name) in first.names().enumerate() {
        values.clear();
        for sample in samples {
            // Samples of one pipeline have their keys in one order.
            let value = match sample.entry(place) {
                Some((other, value)) if other == name => value,
                _ => sample.require(name.as_str())?,
            };
            values.push(value);
        }
        let fill = find(&padding.0, name);
        let merged = match find(&axes.0, name) {
            Some(axis) => concatenate(&values, axis, fill),
            None => stack(&values, fill),
        };
        batch.set(name.clone(), merged.map_err(|error| error.at_key(name.as_str()))?);
    }
    Ok(batch)
}

fn check_keys(first: &Sample, sample: &Sample, index: usize) -> Result<()> {
    let names =
        |sample: &Sample| sample.names().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if sample.len() != first.len() || sample.names().any(|name| first.get(name.as_str()).is_none()) {
        return Err(fault!(
            Value,
            "samples of a batch have the same keys: sample 0 has {}, sample {index} has {}",
            names(first),
            names(sample)
        ));
    }
    Ok(())
}

/// Check dtypes and numbers of axes; returns the largest length of each axis.
fn common(values: &[&Value]) -> Result<(DType, Shape, bool)> {
    let first = values[0];
    let mut shape = first.shape().clone();
    let mut are_equal = true;
    for (index, value) in values.iter().enumerate() {
        if value.dtype() != first.dtype() {
            return Err(fault!(
                Type,
                "values of a batch have one dtype: sample 0 has {}, sample {index} has {}; use cast",
                first.dtype(),
                value.dtype()
            ));
        }
        if value.ndim() != first.ndim() {
            return Err(fault!(
                Value,
                "values of a batch have one number of axes: sample 0 has shape {}, sample {index} has {}",
                first.shape(),
                value.shape()
            ));
        }
        if value.shape() != first.shape() {
            are_equal = false;
            for (axis, length) in shape.as_mut_slice().iter_mut().enumerate() {
                *length = (*length).max(value.shape()[axis]);
            }
        }
    }
    Ok((first.dtype(), shape, are_equal))
}

fn stack(values: &[&Value], fill: Option<f64>) -> Result<Value> {
    let (dtype, row, are_equal) = common(values)?;
    let mut shape = row.clone();
    shape.insert(0, values.len());
    let mut out = Value::allocate(&shape, dtype)?;
    if !are_equal {
        out.fill(fill.unwrap_or(0.0))?;
    }
    let bytes = row.size() * dtype.size();
    if are_equal && bytes > 0 && values.iter().all(|value| value.as_bytes().is_some()) {
        for (place, value) in out.bytes_mut()?.chunks_exact_mut(bytes).zip(values) {
            place.copy_from_slice(value.as_bytes().unwrap_or_default());
        }
        return Ok(out);
    }
    let mut start = vec![0; shape.ndim()];
    for (index, value) in values.iter().enumerate() {
        start[0] = index;
        let mut lengths = value.shape().clone();
        lengths.insert(0, 1);
        out.write_at(&start, &lengths, value)?;
    }
    Ok(out)
}

fn concatenate(values: &[&Value], axis: i64, fill: Option<f64>) -> Result<Value> {
    let (dtype, mut shape, _) = common(values)?;
    let axis = umber_types::shape::normalize_axis("batch", axis, shape.ndim())?;
    let total = values.iter().map(|value| value.shape()[axis]).sum();
    let is_padded = values.iter().any(|value| {
        value.shape().iter().zip(shape.iter()).enumerate().any(|(other, (a, b))| other != axis && a != b)
    });
    shape.as_mut_slice()[axis] = total;
    let mut out = Value::allocate(&shape, dtype)?;
    if is_padded {
        out.fill(fill.unwrap_or(0.0))?;
    }
    let mut start = vec![0; shape.ndim()];
    for value in values {
        out.write_at(&start, value.shape(), value)?;
        start[axis] += value.shape()[axis];
    }
    Ok(out)
}

impl Value {
    /// Set every element to `number`, as a cast of it.
    pub fn fill(&mut self, number: f64) -> Result<()> {
        let dtype = self.dtype();
        let splat = umber_core::graph::Storage::splat(Scalar::from(number), self.shape(), dtype)?;
        let source = Value::new(splat, dtype)?;
        umber_kernels::tape::copy(source.view(), self.make_mut()?);
        Ok(())
    }

    /// Write the elements of `source` to the part of shape `lengths` that begins at `start`; both have the same number of elements.
    ///
    /// # Errors
    /// If the part is not inside this value, or the dtypes differ.
    pub fn write_at(&mut self, start: &[usize], lengths: &Shape, source: &Value) -> Result<()> {
        let shape = self.shape();
        let is_inside = start.len() == shape.ndim()
            && lengths.ndim() == shape.ndim()
            && start
                .iter()
                .zip(lengths.iter())
                .zip(shape.iter())
                .all(|((&start, &length), &all)| start.checked_add(length).is_some_and(|end| end <= all));
        if !is_inside || source.dtype() != self.dtype() || lengths.size() != source.size() {
            return Err(fault!(
                Value,
                "a part of shape {lengths} at {start:?} of {self:?} does not take {source:?}"
            ));
        }
        let Some(from) = source.layout().reshape(lengths) else {
            let contiguous = source.copied()?;
            return self.write_at(start, lengths, &contiguous);
        };
        let source = source.with_layout(from)?;
        let part: Layout = self.layout().slice(start, &vec![1; start.len()], lengths);
        self.with_part_mut(&part, |out| umber_kernels::tape::copy(source.view(), out))
    }
}
