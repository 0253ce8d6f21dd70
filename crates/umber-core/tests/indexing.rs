//! `a[...]`, `a[...] = v` and the functions with index arrays, against naive references.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use common::{array, values};
use proptest::prelude::*;
use umber_core::graph::ArrayInternals;
use umber_core::memory::{Access, Lease};
use umber_core::ops::indexing::{Index, get, update};
use umber_core::ops::{dynamic_slice, dynamic_slice_update, put_along_axis, take, take_along_axis};
use umber_core::{Array, DType, Error, Shape};
use umber_types::{Bool, ErrorKind, ScatterKind};

fn numbers(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>() as i32;
    array(&(0..count).collect::<Vec<i32>>(), shape)
}

fn ints(elements: &[i32]) -> Array {
    array(elements, [elements.len()])
}

fn bools(elements: &[bool], shape: impl Into<Shape>) -> Array {
    array(&elements.iter().map(|&b| Bool::from(b)).collect::<Vec<_>>(), shape)
}

fn span(start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Index {
    Index::Slice { start, stop, step }
}

fn all() -> Index {
    span(None, None, None)
}

fn unravel(shape: &[usize], mut flat: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        index[axis] = flat % shape[axis];
        flat /= shape[axis];
    }
    index
}

fn ravel(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |flat, (length, i)| flat * length + i)
}

/// The indices of a Python slice, found step by step.
fn walk(length: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<usize> {
    let n = length as i64;
    let from_end = |bound: i64| if bound < 0 { bound + n } else { bound };
    let mut index = match start.map(from_end) {
        Some(start) if step > 0 => start.max(0),
        Some(start) => start.min(n - 1),
        None if step > 0 => 0,
        None => n - 1,
    };
    let mut indices = Vec::new();
    while index >= 0
        && index < n
        && stop.map(from_end).is_none_or(|stop| if step > 0 { index < stop } else { index > stop })
    {
        indices.push(index as usize);
        index += step;
    }
    indices
}

/// NumPy's result of `a[index]`: the shape, and the flat index in `a` of each element.
struct Naive {
    shape: Vec<usize>,
    flat_indices: Vec<usize>,
}

/// The index of one axis of the array.
enum AxisIndex {
    Fixed(usize),
    Slice(Vec<usize>),
    Indices(Vec<i32>, Vec<usize>),
}

fn naive(shape: &[usize], index: &[Index]) -> Naive {
    let used =
        index.iter().filter(|e| matches!(e, Index::Int(_) | Index::Slice { .. } | Index::Array(_))).count();
    let mut full: Vec<Index> = Vec::new();
    for entry in index {
        if matches!(entry, Index::Ellipsis) {
            (used..shape.len()).for_each(|_| full.push(all()));
        } else {
            full.push(entry.clone());
        }
    }
    while full.iter().filter(|e| !matches!(e, Index::NewAxis)).count() < shape.len() {
        full.push(all());
    }
    let ellipsis_splits = index.iter().position(|e| matches!(e, Index::Ellipsis));
    let has_arrays = full.iter().any(|e| matches!(e, Index::Array(_)));
    let mut index_shape: Vec<usize> = Vec::new();
    let mut axes: Vec<AxisIndex> = Vec::new();
    // The axes of the result that no index array or integer consumes: the axis of `a` (`None` for a new axis) and the length.
    let mut kept: Vec<(Option<usize>, usize)> = Vec::new();
    let mut axis = 0;
    for entry in &full {
        match entry {
            Index::Int(i) => {
                let n = shape[axis] as i64;
                axes.push(AxisIndex::Fixed((if *i < 0 { i + n } else { *i }) as usize));
                axis += 1;
            }
            Index::Slice { start, stop, step } => {
                let steps = walk(shape[axis], *start, *stop, step.unwrap_or(1));
                kept.push((Some(axis), steps.len()));
                axes.push(AxisIndex::Slice(steps));
                axis += 1;
            }
            Index::NewAxis => kept.push((None, 1)),
            Index::Array(indices) => {
                let shape = indices.shape().to_vec();
                index_shape =
                    Shape::from(&index_shape[..]).broadcast(indices.shape()).expect("broadcasts").to_vec();
                axes.push(AxisIndex::Indices(values(indices), shape));
                axis += 1;
            }
            Index::Ellipsis | Index::Mask(_) => unreachable!("replaced, or not tested here"),
        }
    }
    // The axes of the index arrays take the position of the first one if all are adjacent, else they come first.
    let advanced: Vec<usize> = index
        .iter()
        .enumerate()
        .filter(|(_, e)| matches!(e, Index::Int(_) | Index::Array(_)))
        .map(|(i, _)| i)
        .collect();
    let are_adjacent = advanced.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let mut position = 0;
    if has_arrays && are_adjacent {
        let first = advanced[0];
        position =
            index[..first].iter().filter(|e| matches!(e, Index::Slice { .. } | Index::NewAxis)).count();
        if ellipsis_splits.is_some_and(|at| at < first) {
            position += shape.len() - used;
        }
    }
    let mut result: Vec<usize> = kept.iter().map(|&(_, length)| length).collect();
    for (i, &length) in index_shape.iter().enumerate() {
        result.insert(position + i, length);
    }
    let mut flat_indices = Vec::new();
    for flat in 0..result.iter().product() {
        let mut out = unravel(&result, flat);
        let array_index: Vec<usize> = out.drain(position..position + index_shape.len()).collect();
        let mut source = vec![0; shape.len()];
        for (axis, axis_index) in axes.iter().enumerate() {
            source[axis] = match axis_index {
                AxisIndex::Fixed(i) => *i,
                AxisIndex::Slice(indices) => {
                    let position = kept.iter().position(|&(of, _)| of == Some(axis)).expect("kept");
                    indices[out[position]]
                }
                AxisIndex::Indices(indices, shape_of_indices) => {
                    let tail = &array_index[array_index.len() - shape_of_indices.len()..];
                    let unbroadcast: Vec<usize> = tail
                        .iter()
                        .zip(shape_of_indices)
                        .map(|(&i, &n)| if n == 1 { 0 } else { i })
                        .collect();
                    let i = indices[ravel(shape_of_indices, &unbroadcast)];
                    if i < 0 { (i + shape[axis] as i32) as usize } else { i as usize }
                }
            };
        }
        flat_indices.push(ravel(shape, &source));
    }
    Naive { shape: result, flat_indices }
}

fn check(shape: &[usize], index: &[Index]) {
    let a = numbers(shape);
    let expected = naive(shape, index);
    let actual = get(&a, index).expect("a valid index");
    assert_eq!(actual.shape()[..], expected.shape[..], "{index:?}");
    let elements: Vec<i32> = expected.flat_indices.iter().map(|&i| i as i32).collect();
    assert_eq!(values::<i32>(&actual), elements, "{index:?}");
    let new_elements: Vec<i32> = (0..elements.len() as i32).map(|i| 1000 + i).collect();
    let updates = array(&new_elements, expected.shape.clone());
    let mut set: Vec<i32> = values(&a);
    let mut sum = set.clone();
    for (&i, &new) in expected.flat_indices.iter().zip(&new_elements) {
        set[i] = new;
        sum[i] += new;
    }
    assert_eq!(
        values::<i32>(&update(ScatterKind::Set, &a, index, &updates).expect("fits")),
        set,
        "{index:?}"
    );
    assert_eq!(
        values::<i32>(&update(ScatterKind::Add, &a, index, &updates).expect("fits")),
        sum,
        "{index:?}"
    );
    assert_eq!(values::<i32>(&a), values::<i32>(&numbers(shape)), "the array itself does not change");
}

fn bound() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![Just(None), (-7i64..8).prop_map(Some), Just(Some(i64::MIN)), Just(Some(i64::MAX))]
}

fn entry(length: usize, arrays: bool) -> BoxedStrategy<Index> {
    let n = length as i64;
    let step = prop_oneof![Just(None), (1i64..4).prop_map(Some), (-3i64..0).prop_map(Some)];
    let slice = (bound(), bound(), step).prop_map(|(start, stop, step)| span(start, stop, step)).boxed();
    if n == 0 {
        return slice;
    }
    let one = (-n..n).prop_map(Index::Int).boxed();
    if !arrays {
        return prop_oneof![slice, one].boxed();
    }
    let indices = prop::collection::vec(-n as i32..n as i32, 6).prop_flat_map(|all| {
        // Shapes that broadcast with each other.
        prop_oneof![
            Just(Index::Array(array(&all, [2, 3]))),
            Just(Index::Array(array(&all[..3], [3]))),
            Just(Index::Array(array(&all[..2], [2, 1]))),
            Just(Index::Array(array(&all[..1], Shape::scalar()))),
        ]
    });
    prop_oneof![slice, one, indices].boxed()
}

fn indices(arrays: bool) -> impl Strategy<Value = (Vec<usize>, Vec<Index>)> {
    let smallest = usize::from(arrays);
    prop::collection::vec(smallest..5, 0..4).prop_flat_map(move |shape| {
        let entries: Vec<_> = shape.iter().map(|&length| entry(length, arrays)).collect();
        (Just(shape.clone()), entries, 0..=shape.len(), 0usize..4, prop::bool::ANY).prop_map(
            |(shape, entries, cut, new, ellipsis)| {
                // Index only some axes, with an ellipsis or trailing axes for the others; insert new axes.
                let skipped = shape.len() - cut;
                let mut index: Vec<Index> = entries[..cut / 2].to_vec();
                if ellipsis {
                    index.push(Index::Ellipsis);
                    index.extend_from_slice(&entries[cut / 2 + skipped..]);
                } else {
                    index.extend_from_slice(&entries[cut / 2..cut]);
                }
                if new < 3 {
                    index.insert(new.min(index.len()), Index::NewAxis);
                }
                (shape, index)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn basic_indices_match_python((shape, index) in indices(false)) {
        check(&shape, &index);
    }

    #[test]
    fn index_arrays_match_numpy((shape, index) in indices(true)) {
        check(&shape, &index);
    }
}

#[test]
fn basic_indices_are_views() {
    let a = numbers(&[4, 5]);
    let base = a.storage().expect("evaluated").buffer().host_start();
    for index in [
        vec![Index::Int(-1)],
        vec![Index::Int(1), Index::Int(2)],
        vec![span(None, None, Some(-2)), Index::NewAxis, span(Some(1), Some(4), None)],
        vec![Index::Ellipsis, Index::Int(0)],
    ] {
        let view = get(&a, &index).expect("in range");
        view.eval().expect("evaluates");
        assert_eq!(view.storage().expect("evaluated").buffer().host_start(), base);
    }
    assert!(get(&a, &[all(), Index::Ellipsis]).expect("in range").is_same(&a));
}

#[test]
fn slices_of_externally_mutable_memory_are_copies() {
    let a = numbers(&[4, 5]);
    let buffer = &a.storage().expect("evaluated").buffer();
    let lease = Lease::new(buffer, Access::Writable).expect("writable");
    for index in [vec![Index::Int(1)], vec![], vec![Index::NewAxis]] {
        let copy = get(&a, &index).expect("in range");
        assert!(copy.is_evaluated() && !copy.is_externally_mutable(), "{index:?}");
    }
    let transposed = umber_core::ops::transpose(&a, None).expect("transposes");
    assert!(transposed.is_evaluated() && !transposed.is_externally_mutable());
    drop(lease);
    // Without a writer, a slice is a view again.
    let view = get(&a, &[Index::Int(1)]).expect("in range");
    let address = |array: &Array| array.storage().map(|storage| storage.buffer().host_start());
    assert_eq!(address(&view), address(&a));
}

fn message(result: umber_core::Result<Array>) -> Error {
    let error = match result {
        Err(error) => error,
        Ok(array) => array.eval().expect_err("an invalid index"),
    };
    assert!(error.to_string().starts_with('['), "{error}");
    error
}

#[test]
fn invalid_indices_are_errors() {
    let a = numbers(&[3, 4]);
    let text = |index: &[Index]| message(get(&a, index)).to_string();
    assert!(message(get(&a, &[Index::Int(7)])).kind() == ErrorKind::Index);
    let starts_with =
        |index: &[Index], prefix: &str| assert!(text(index).starts_with(prefix), "{}", text(index));
    starts_with(&[Index::Int(7)], "[index] index 7 is out of bounds for axis 0 of length 3");
    starts_with(&[all(), Index::Int(-5)], "[index] index -5 is out of bounds for axis 1 of length 4");
    assert!(message(get(&a, &[all(), all(), all()])).kind() == ErrorKind::Index);
    assert!(message(get(&a, &[Index::Ellipsis, Index::Ellipsis])).kind() == ErrorKind::Index);
    assert!(message(get(&a, &[span(None, None, Some(0))])).kind() == ErrorKind::Value);
    let floats = array(&[0.5f32], [1]);
    assert!(message(get(&a, &[Index::Array(floats)])).kind() == ErrorKind::Type);
    let mismatched = [Index::Array(ints(&[0, 1])), Index::Array(ints(&[0, 1, 2]))];
    assert!(message(get(&a, &mismatched)).kind() == ErrorKind::Index);
    // The elements of index arrays are checked when they are used.
    let error = message(get(&a, &[Index::Int(0), Index::Array(ints(&[0, 9]))]));
    let is_index_error = |error: &Error, prefix: &str| {
        error.kind() == ErrorKind::Index && error.to_string().starts_with(prefix)
    };
    assert!(is_index_error(&error, "[index] index 9 is out of bounds for axis 1 of length 4"), "{error}");
    let wrong = message(update(ScatterKind::Set, &a, &[Index::Array(ints(&[3]))], &numbers(&[1])));
    assert!(is_index_error(&wrong, "[index] index 3 is out of bounds for axis 0 of length 3"), "{wrong}");
    let misfit = message(update(ScatterKind::Set, &a, &[Index::Int(0)], &numbers(&[3])));
    assert!(misfit.to_string().contains("(3,)") && misfit.to_string().contains("(4,)"), "{misfit}");
    assert_eq!(values::<i32>(&a), (0..12).collect::<Vec<i32>>());
}

#[test]
fn a_failed_update_does_not_change_its_operands() {
    let a = umber_core::ops::add(&numbers(&[3]), &ints(&[1, 1, 1])).expect("adds");
    // Indices that are evaluated are checked when the update is recorded, others when it is evaluated.
    let unevaluated = umber_core::ops::add(&ints(&[0, 4]), &ints(&[0, 1])).expect("adds");
    let bad = update(ScatterKind::Add, &a, &[Index::Array(unevaluated)], &ints(&[7, 7])).expect("recorded");
    drop(a);
    for _ in 0..2 {
        assert!(matches!(bad.eval(), Err(error) if error.kind() == ErrorKind::Index));
    }
}

#[test]
fn updates_of_an_unreferenced_array_are_in_place() {
    let source = || umber_core::ops::add(&numbers(&[4, 5]), &array(&[0], [1])).expect("adds");
    for kind in [ScatterKind::Set, ScatterKind::Add] {
        for index in [vec![Index::Int(1)], vec![Index::Array(ints(&[1]))]] {
            let a = source();
            a.eval().expect("evaluates");
            let start = a.storage().expect("evaluated").buffer().host_start();
            let updated = update(kind, &a, &index, &ints(&[9])).expect("fits");
            drop(a);
            updated.eval().expect("evaluates");
            assert_eq!(updated.storage().expect("evaluated").buffer().host_start(), start);
            let old = numbers(&[4, 5]);
            let mut expected: Vec<i32> = values(&old);
            let new = |old: i32| if kind == ScatterKind::Set { 9 } else { old + 9 };
            expected[5..10].iter_mut().for_each(|element| *element = new(*element));
            assert_eq!(values::<i32>(&updated), expected);
            let copy = update(kind, &old, &index, &ints(&[9])).expect("fits");
            assert_eq!((values::<i32>(&copy), values::<i32>(&old)), (expected, (0..20).collect()));
        }
    }
}

#[test]
fn values_are_cast_and_broadcast() {
    let a = numbers(&[2, 3]);
    let set = |index: &[Index], value: &Array| {
        values::<i32>(&update(ScatterKind::Set, &a, index, value).expect("fits"))
    };
    assert_eq!(set(&[Index::Int(1)], &array(&[7.9f32], [1])), [0, 1, 2, 7, 7, 7]);
    assert_eq!(set(&[Index::Int(1)], &numbers(&[1, 1, 3])), [0, 1, 2, 0, 1, 2]);
    assert_eq!(set(&[all(), Index::Array(ints(&[0, 2]))], &array(&[8, 9], [2, 1])), [8, 1, 8, 9, 4, 9]);
    assert_eq!(set(&[], &array(&[5], [1])), [5; 6]);
    // The last of several values for one element wins.
    assert_eq!(set(&[Index::Array(ints(&[0, 0])), Index::Int(0)], &ints(&[8, 9])), [9, 1, 2, 3, 4, 5]);
}

#[test]
fn updates_accumulate_over_repeated_indices() {
    let a = ints(&[5, 2, 3]);
    for (kind, expected) in [
        (ScatterKind::Add, [11, 2, 10]),
        (ScatterKind::Multiply, [40, 2, 21]),
        (ScatterKind::Maximum, [5, 2, 7]),
        (ScatterKind::Minimum, [2, 2, 3]),
    ] {
        let index = [Index::Array(ints(&[0, 2, -3]))];
        assert_eq!(values::<i32>(&update(kind, &a, &index, &ints(&[4, 7, 2])).expect("fits")), expected);
        let slice = [span(Some(0), Some(3), Some(2))];
        let basic = update(kind, &a, &slice, &ints(&[4, 7])).expect("fits");
        let advanced = update(kind, &a, &[Index::Array(ints(&[0, 2]))], &ints(&[4, 7])).expect("fits");
        assert_eq!(values::<i32>(&basic), values::<i32>(&advanced));
    }
}

#[test]
fn boolean_masks() {
    let a = numbers(&[2, 3]);
    let mask = bools(&[true, false, false, false, true, true], [2, 3]);
    let selected = get(&a, &[Index::Mask(mask.clone())]).expect("fits");
    assert_eq!((values::<i32>(&selected), selected.shape()[..].to_vec()), (vec![0, 4, 5], vec![3]));
    let rows = get(&a, &[Index::Mask(bools(&[false, true], [2]))]).expect("fits");
    assert_eq!((values::<i32>(&rows), rows.shape()[..].to_vec()), (vec![3, 4, 5], vec![1, 3]));
    let columns = get(&a, &[all(), Index::Mask(bools(&[true, false, true], [3]))]).expect("fits");
    assert_eq!((values::<i32>(&columns), columns.shape()[..].to_vec()), (vec![0, 2, 3, 5], vec![2, 2]));
    let none = get(&a, &[Index::Mask(bools(&[false; 6], [2, 3]))]).expect("fits");
    assert_eq!(none.shape()[..], [0]);
    // A 0-d mask is a new axis of length one or zero.
    for (truth, shape) in [(true, [1, 2, 3]), (false, [0, 2, 3])] {
        assert_eq!(
            get(&a, &[Index::Mask(bools(&[truth], Shape::scalar()))]).expect("fits").shape()[..],
            shape
        );
    }
    let set = |index: &[Index], new: &Array| {
        values::<i32>(&update(ScatterKind::Set, &a, index, new).expect("fits"))
    };
    assert_eq!(set(&[Index::Mask(mask.clone())], &array(&[9], Shape::scalar())), [9, 1, 2, 3, 9, 9]);
    assert_eq!(set(&[Index::Mask(mask.clone())], &ints(&[7, 8, 9])), [7, 1, 2, 3, 8, 9]);
    assert_eq!(set(&[Index::Mask(bools(&[false, true], [2]))], &ints(&[7, 8, 9])), [0, 1, 2, 7, 8, 9]);
    let outer_columns = [Index::Ellipsis, Index::Mask(bools(&[true, false, true], [3]))];
    assert_eq!(set(&outer_columns, &array(&[9], [1])), [9, 1, 9, 9, 4, 9]);
    for (kind, expected) in [
        (ScatterKind::Add, [4, 1, 2, 3, 8, 9]),
        (ScatterKind::Multiply, [0, 1, 2, 3, 16, 20]),
        (ScatterKind::Maximum, [4, 1, 2, 3, 4, 5]),
        (ScatterKind::Minimum, [0, 1, 2, 3, 4, 4]),
    ] {
        let updated = update(kind, &a, &[Index::Mask(mask.clone())], &array(&[4], [1])).expect("fits");
        assert_eq!(values::<i32>(&updated), expected);
    }
    assert!(message(get(&a, &[Index::Mask(bools(&[true], [1]))])).kind() == ErrorKind::Index);
    assert!(
        message(update(ScatterKind::Set, &a, &[Index::Mask(mask)], &ints(&[1, 2]))).kind()
            == ErrorKind::Value
    );
}

#[test]
fn take_replaces_the_axis_by_the_axes_of_the_indices() {
    let a = numbers(&[2, 3]);
    let indices = array(&[0u8, 2, 1, 1], [2, 2]);
    let taken = take(&a, &indices, Some(-1)).expect("in range");
    assert_eq!(taken.shape()[..], [2, 2, 2]);
    assert_eq!(values::<i32>(&taken), [0, 2, 1, 1, 3, 5, 4, 4]);
    assert_eq!(values::<i32>(&take(&a, &array(&[-1i64, 3], [2]), None).expect("in range")), [5, 3]);
    let scalar = take(&a, &array(&[1], Shape::scalar()), Some(0)).expect("in range");
    assert_eq!((scalar.shape()[..].to_vec(), values::<i32>(&scalar)), (vec![3], vec![3, 4, 5]));
    let empty = take(&numbers(&[0, 3]), &array::<i32>(&[], [0]), Some(0)).expect("an empty selection");
    assert_eq!(empty.shape()[..], [0, 3]);
    assert!(message(take(&numbers(&[0, 3]), &ints(&[0]), Some(0))).kind() == ErrorKind::Index);
    assert!(message(take(&a, &ints(&[0]), Some(2))).kind() == ErrorKind::Axis);
    assert!(message(take(&a, &array(&[0.0f32], [1]), None)).kind() == ErrorKind::Type);
}

#[test]
fn indices_along_an_axis_broadcast_over_the_other_axes() {
    let a = numbers(&[2, 3]);
    let take = |indices: &Array, axis| values::<i32>(&take_along_axis(&a, indices, axis).expect("in range"));
    assert_eq!(take(&array(&[2, -3], [2, 1]), Some(1)), [2, 3]);
    assert_eq!(take(&array(&[0, 1], [1, 2]), Some(1)), [0, 1, 3, 4]);
    assert_eq!(take(&ints(&[0, 5]), None), [0, 5]);
    assert!(message(take_along_axis(&a, &ints(&[0]), Some(1))).kind() == ErrorKind::Value);
    assert!(message(take_along_axis(&a, &array(&[0; 3], [3, 1]), Some(1))).kind() == ErrorKind::Value);
    let put = |indices: &Array, new: &Array, axis| {
        values::<i32>(&put_along_axis(&a, indices, new, axis).expect("fits"))
    };
    assert_eq!(put(&array(&[0, 1], [2, 1]), &array(&[9], Shape::scalar()), Some(1)), [9, 1, 2, 3, 9, 5]);
    assert_eq!(put(&ints(&[0, 5]), &array(&[9.5f32, 8.0], [2]), None), [9, 1, 2, 3, 4, 8]);
    assert_eq!(put(&array(&[0, 1], [1, 2]), &ints(&[7, 8]), Some(1)), [7, 8, 2, 7, 8, 5]);
}

#[test]
fn dynamic_slices() {
    let a = numbers(&[2, 3, 4]);
    let slice = dynamic_slice(&a, &ints(&[1, 2]), &[2, -2], &[1, 1, 2]).expect("fits");
    assert_eq!((slice.shape()[..].to_vec(), values::<i32>(&slice)), (vec![1, 1, 2], vec![9, 10]));
    assert!(message(dynamic_slice(&a, &ints(&[3]), &[2], &[2, 3, 2])).kind() == ErrorKind::Index);
    let updated =
        dynamic_slice_update(&a, &array(&[-1, -2], [1, 1, 2]), &ints(&[1, 2]), &[2, 1]).expect("fits");
    let mut expected: Vec<i32> = (0..24).collect();
    (expected[9], expected[10]) = (-1, -2);
    assert_eq!(values::<i32>(&updated), expected);
}

#[test]
fn indices_of_every_integer_dtype() {
    let a = numbers(&[5]);
    for dtype in DType::COMPUTE.into_iter().filter(|dtype| dtype.is_integer()) {
        let indices = umber_core::ops::astype(&ints(&[4, 0]), dtype).expect("casts");
        assert_eq!(values::<i32>(&take(&a, &indices, None).expect("in range")), [4, 0], "{dtype}");
    }
}
