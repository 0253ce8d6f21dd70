//! The operations, against their definitions.

mod files;
mod hostile;
mod images;
mod memory;
mod sounds;
mod texts;
mod values;

use proptest::prelude::*;
use umber_core::{DType, Shape};
use umber_data::{Draw, Key, Name, Operation, Position, Result, Sample, Value};
use umber_types::Layout;

/// The random numbers of sample `index`.
fn draw(index: u64) -> Draw {
    Draw::new(Key::from_seed(5), Position { epoch: 0, index })
}

fn sample(entries: &[(&str, Value)]) -> Sample {
    entries.iter().map(|(key, value)| (Name::new(key), value.clone())).collect()
}

/// The result for a sample with one value `x`.
fn apply(operation: &dyn Operation, value: &Value) -> Result<Value> {
    apply_to(operation, sample(&[("x", value.clone())]))?.require("x").cloned()
}

fn apply_to(operation: &dyn Operation, sample: Sample) -> Result<Sample> {
    Ok(operation.apply(sample, &draw(0))?.expect("the sample is kept"))
}

fn text(bytes: &[u8]) -> Value {
    let signed: Vec<i8> = bytes.iter().map(|&byte| byte as i8).collect();
    Value::from_slice(&signed, signed.len()).expect("memory")
}

/// The bytes of each element, in row-major order.
fn elements(value: &Value) -> Vec<Vec<u8>> {
    value.bytes().expect("memory").chunks_exact(value.dtype().size()).map(<[u8]>::to_vec).collect()
}

/// All indices of a shape in row-major order.
fn indices(shape: &Shape) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &length in shape.iter() {
        all = all
            .iter()
            .flat_map(|index| (0..length).map(move |i| index.iter().copied().chain([i]).collect()))
            .collect();
    }
    all
}

/// The place of an index in row-major order.
fn place(shape: &Shape, index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |place, (&length, &i)| place * length + i)
}

/// Assert that the element of `result` at each index is that of `value` at `source(index)`, or else `fill`.
fn assert_elements(
    result: &Value,
    value: &Value,
    shape: &[usize],
    fill: &[u8],
    source: impl Fn(&[usize]) -> Option<Vec<usize>>,
) {
    assert_eq!(result.shape()[..], *shape);
    assert_eq!(result.dtype(), value.dtype());
    let (from, to) = (elements(value), elements(result));
    for (index, element) in indices(result.shape()).iter().zip(&to) {
        let expected = source(index).map_or(fill, |index| &from[place(value.shape(), &index)]);
        assert_eq!(element, expected, "at {index:?} of {result:?}");
    }
}

/// A value of any bits, in any order in memory: axes permuted, reversed, and parts of longer ones.
fn value(shape: Vec<usize>, dtype: DType, bytes: Vec<u8>, order: u64, is_reversed: Vec<bool>) -> Value {
    let memory: Shape = shape.iter().map(|length| length + 1).collect();
    let mut value = Value::allocate(&memory, dtype).expect("memory");
    let target = value.bytes_mut().expect("memory");
    for (place, byte) in target.iter_mut().enumerate() {
        *byte = bytes[place % bytes.len()].wrapping_add((place / bytes.len()) as u8);
    }
    if dtype == DType::Bool {
        target.iter_mut().for_each(|byte| *byte &= 1);
    }
    // Odd orders are plain.
    if order % 2 == 1 {
        return part_of(&value, &vec![0; shape.len()], &shape).copied().expect("memory");
    }
    let part = part_of(&value, &vec![1; shape.len()], &shape);
    let mut layout = part.layout().clone();
    for (axis, &is_reversed) in is_reversed.iter().enumerate().take(shape.len()) {
        if is_reversed && layout.shape[axis] > 0 {
            layout.offset =
                (layout.offset as isize + layout.strides[axis] * (layout.shape[axis] as isize - 1)) as usize;
            layout.strides[axis] = -layout.strides[axis];
        }
    }
    let permutation: Vec<usize> = {
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        axes.rotate_left((order as usize / 2) % shape.len().max(1));
        axes
    };
    part.with_layout(layout.permute(&permutation)).expect("inside")
}

fn part_of(value: &Value, starts: &[usize], lengths: &[usize]) -> Value {
    let lengths: Shape = lengths.iter().copied().collect();
    let layout: Layout = value.layout().slice(starts, &vec![1; starts.len()], &lengths);
    value.with_layout(layout).expect("inside")
}

prop_compose! {
    fn any_value(min_axes: usize, max_axes: usize)(
        shape in prop::collection::vec(0usize..5, min_axes..=max_axes),
        dtype in prop::sample::select(DType::ALL.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 1..97),
        order in 0u64..12,
        is_reversed in prop::collection::vec(any::<bool>(), 5),
    ) -> Value {
        value(shape, dtype, bytes, order, is_reversed)
    }
}
