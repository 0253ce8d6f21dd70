//! Values against naive implementations.

use proptest::prelude::*;
use umber_core::DType;
use umber_data::ops::*;
use umber_data::{Operation, Value};
use umber_types::Scalar;

use super::{any_value, apply, apply_to, assert_elements, draw, elements, sample, text};

fn axis_strategy() -> impl Strategy<Value = (Value, i64)> {
    any_value(1, 4).prop_flat_map(|value| {
        let ndim = value.ndim() as i64;
        (Just(value), -ndim..ndim)
    })
}

fn from_start(axis: i64, value: &Value) -> usize {
    axis.rem_euclid(value.ndim() as i64) as usize
}

proptest! {
    #[test]
    fn shape_of_a_value((value, axis) in axis_strategy()) {
        let lengths: Vec<i64> = value.shape().iter().map(|&length| length as i64).collect();
        let all = apply(&ShapeOf::new("x", None), &value).unwrap();
        prop_assert_eq!(all, Value::from_slice(&lengths, lengths.len()).unwrap());
        let one = apply(&ShapeOf::new("x", Some(axis)), &value).unwrap();
        prop_assert_eq!(one, Value::scalar(lengths[from_start(axis, &value)]).unwrap());
    }

    #[test]
    fn filter_by_shape((value, axis) in axis_strategy(), low in -2i64..6, high in -2i64..6) {
        let length = value.shape()[from_start(axis, &value)] as i64;
        let kept = FilterByShape::new("x", axis, low, high).apply(sample(&[("x", value)]), &draw(0)).unwrap();
        prop_assert_eq!(kept.is_some(), (low < 0 || length >= low) && (high < 0 || length <= high));
    }

    #[test]
    fn shard(value in any_value(1, 4), shards in 1i64..6) {
        let count = shards as usize;
        let result = apply(&Shard::new("x", shards).unwrap(), &value);
        if !value.shape()[0].is_multiple_of(count) {
            prop_assert!(result.unwrap_err().detail().contains("equal shards"));
            return Ok(());
        }
        let rows = value.shape()[0] / count;
        let shape: Vec<usize> = [count, rows].iter().chain(&value.shape()[1..]).copied().collect();
        assert_elements(&result.unwrap(), &value, &shape, &[], |index| {
            Some([index[0] * rows + index[1]].iter().chain(&index[2..]).copied().collect())
        });
    }

    #[test]
    fn squeeze(value in any_value(0, 4), axes in prop::collection::vec(-4i64..4, 0..3)) {
        let result = apply(&Squeeze::new("x", axes.clone()), &value);
        let ndim = value.ndim() as i64;
        let is_inside = axes.iter().all(|axis| (-ndim..ndim).contains(axis));
        if !is_inside || axes.iter().any(|&axis| value.shape()[from_start(axis, &value)] != 1) {
            prop_assert!(result.is_err());
            return Ok(());
        }
        let is_removed = |axis: usize| {
            let is_named = axes.iter().any(|&named| from_start(named, &value) == axis);
            is_named || axes.is_empty() && value.shape()[axis] == 1
        };
        let kept: Vec<usize> = (0..value.ndim()).filter(|&axis| !is_removed(axis)).collect();
        let shape: Vec<usize> = kept.iter().map(|&axis| value.shape()[axis]).collect();
        assert_elements(&result.unwrap(), &value, &shape, &[], |index| {
            let mut full = vec![0; value.ndim()];
            kept.iter().zip(index).for_each(|(&axis, &i)| full[axis] = i);
            Some(full)
        });
    }

    #[test]
    fn slice((value, axis) in axis_strategy(), start in 0i64..6, length in 0i64..9) {
        let place = from_start(axis, &value);
        let result = apply(&Slice::new("x", vec![axis], vec![start], vec![start + length]).unwrap(), &value);
        let all = value.shape()[place];
        let start = start as usize;
        if start > all {
            prop_assert!(result.is_err());
            return Ok(());
        }
        let shape = value.shape().with(place, (all - start).min(length as usize));
        assert_elements(&result.unwrap(), &value, &shape, &[], |index| {
            let mut full = index.to_vec();
            full[place] += start;
            Some(full)
        });
    }

    #[test]
    fn random_slice((value, axis) in axis_strategy(), size in -2i64..7, index in 0u64..1000) {
        let place = from_start(axis, &value);
        let slice = RandomSlice::new("x", vec![axis], vec![size]).unwrap();
        let result = slice.change(value.clone(), &draw(index)).unwrap();
        let all = value.shape()[place];
        let expected = if size < 0 { all } else { all.min(size as usize) };
        let shape = value.shape().with(place, expected);
        // One of the possible starts gives the elements.
        let fits = |start: usize| {
            let starts: Vec<usize> = (0..value.ndim()).map(|axis| if axis == place { start } else { 0 }).collect();
            super::part_of(&value, &starts, &shape) == result
        };
        prop_assert!((0..=all - expected).any(fits));
        prop_assert_eq!(slice.change(value.clone(), &draw(index)).unwrap(), result);
    }

    #[test]
    fn pads((value, axis) in axis_strategy(), left in 0i64..4, right in 0i64..4, fill in -300.0f64..300.0) {
        let place = from_start(axis, &value);
        let bytes = Scalar::Float(fill).to_bytes(value.dtype());
        let fill_bytes = &bytes[..value.dtype().size()];
        let length = value.shape()[place];
        let check = |result: Value, left: usize, total: usize| {
            let shape = value.shape().with(place, total);
            assert_elements(&result, &value, &shape, fill_bytes, |index| {
                let mut full = index.to_vec();
                full[place] = full[place].checked_sub(left).filter(|&i| i < length)?;
                Some(full)
            });
        };
        let result = apply(&Pad::new("x", axis, left, right, fill).unwrap(), &value).unwrap();
        check(result, left as usize, left as usize + length + right as usize);
        let size = left * right - 1;
        let result = apply(&PadToSize::new("x", axis, size, fill), &value).unwrap();
        check(result, 0, length.max(size.max(0) as usize));
        let multiple = right + 1;
        let result = apply(&PadToMultiple::new("x", axis, multiple, fill).unwrap(), &value).unwrap();
        check(result, 0, length.next_multiple_of(multiple as usize));
    }

    #[test]
    fn remove_value((value, axis) in axis_strategy(), target in 0i64..4, seed in any::<u64>()) {
        // Few different elements, so that some are removed.
        let small = {
            let mut bytes = elements(&value);
            bytes.iter_mut().enumerate().for_each(|(i, element)| {
                let number = Scalar::Int(((seed >> (i % 60)) & 3) as i64);
                let size = element.len();
                element.copy_from_slice(&number.to_bytes(value.dtype())[..size]);
            });
            let mut small = Value::allocate(value.shape(), value.dtype()).unwrap();
            small.bytes_mut().unwrap().copy_from_slice(&bytes.concat());
            small
        };
        let place = from_start(axis, &value);
        let length = value.shape()[place];
        let mut rows = value.shape().clone();
        rows.remove(place);
        let sizes: Vec<i32> = (0..rows.size()).map(|i| ((seed >> (i % 50)) % (length as u64 + 1)) as i32).collect();
        let sizes = Value::from_slice(&sizes, rows.clone()).unwrap();
        let operation = RemoveValue::new("x", "n", axis, target, 1);
        let result = apply_to(&operation, sample(&[("x", small.clone()), ("n", sizes.clone())])).unwrap();
        let is_target = |element: &[u8]| {
            let bytes = Scalar::Int(target).to_bytes(value.dtype());
            let is_exact = value.dtype().is_inexact() || value.dtype() != DType::Bool || target < 2;
            is_exact && *element == bytes[..element.len()]
        };
        let (from, got) = (elements(&small), result.require("x").unwrap());
        let to = elements(got);
        let counts = result.require("n").unwrap();
        prop_assert_eq!(counts.dtype(), DType::Int32);
        let (counts, sizes) = (counts.as_slice::<i32>().unwrap(), sizes.as_slice::<i32>().unwrap());
        for (row, index) in super::indices(&rows).iter().enumerate() {
            let at = |i: usize| {
                let mut full = index.clone();
                full.insert(place, i);
                super::place(small.shape(), &full)
            };
            let kept: Vec<&Vec<u8>> =
                (0..sizes[row] as usize).map(|i| &from[at(i)]).filter(|element| !is_target(element)).collect();
            prop_assert_eq!(counts[row] as usize, kept.len());
            for i in 0..length {
                let one = Scalar::Int(1).to_bytes(value.dtype());
                let expected = kept.get(i).map_or(&one[..value.dtype().size()], |element| element.as_slice());
                prop_assert_eq!(&to[at(i)], expected);
            }
        }
    }

    #[test]
    fn replace(bytes in prop::collection::vec(b'a'..b'd', 0..40), old in "[a-c]{1,3}", new in "[a-e]{0,4}", count in -1i64..4) {
        let given = String::from_utf8(bytes.clone()).unwrap();
        let expected = if count < 0 { given.replace(&old, &new) } else { given.replacen(&old, &new, count as usize) };
        let result = apply(&Replace::new("x", old, new, count).unwrap(), &text(&bytes)).unwrap();
        prop_assert_eq!(result, text(expected.as_bytes()));
    }

    #[test]
    fn replace_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40), map in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3), 0..=256)) {
        let expected: Vec<u8> =
            bytes.iter().flat_map(|&byte| map.get(usize::from(byte)).cloned().unwrap_or_default()).collect();
        let operation = ReplaceBytes::new("x", map).unwrap();
        prop_assert_eq!(apply(&operation, &Value::from_bytes(&bytes).unwrap()).unwrap(), text(&expected));
    }

    #[test]
    fn cast(value in any_value(0, 4), dtype in prop::sample::select(DType::ALL.to_vec())) {
        let expected = value.to_array().unwrap().astype(dtype).unwrap();
        let result = apply(&Cast::new("x", dtype), &value).unwrap();
        prop_assert_eq!(&result, &Value::from_array(&expected).unwrap());
        // In memory of its own.
        let result = apply_owned(&Cast::new("x", dtype), value.copied().unwrap());
        prop_assert_eq!(result, Value::from_array(&expected).unwrap());
    }

    #[test]
    fn scale(
        value in any_value(1, 4),
        scales in prop::collection::vec(-3.0f64..3.0, 5),
        biases in prop::collection::vec(-3.0f64..3.0, 5),
        is_vector in any::<bool>(),
        dtype in prop::sample::select(vec![
            DType::Float32,
            DType::Float64,
            DType::Float16,
            DType::Int32,
            DType::Float8E5M2,
        ]),
    ) {
        let last = *value.shape().last().unwrap();
        let is_vector = is_vector && last > 0;
        let cut = |numbers: &[f64]| numbers[..if is_vector { last } else { 1 }].to_vec();
        // Any bits may be a NaN; numbers are compared instead.
        let value = apply(&Cast::new("x", DType::Int8), &value).unwrap();
        let value = apply(&Cast::new("x", if is_vector { DType::Float32 } else { [DType::UInt8, DType::Float8E4M3][last % 2] }), &value).unwrap();
        let operation = Scale::new("x", cut(&scales), cut(&biases), dtype).unwrap();
        for result in [apply(&operation, &value).unwrap(), apply_owned(&operation, value.copied().unwrap())] {
            prop_assert_eq!(result.dtype(), dtype);
            prop_assert_eq!(result.shape(), value.shape());
            let as_double = |value: &Value| apply(&Cast::new("x", DType::Float64), value).unwrap().into_contiguous().unwrap();
            let (from, to) = (as_double(&value), as_double(&result));
            for (place, (x, got)) in from.as_slice::<f64>().unwrap().iter().zip(to.as_slice::<f64>().unwrap()).enumerate() {
                let channel = if is_vector { place % last } else { 0 };
                let expected = x * scales[channel] + biases[channel];
                let tolerance = match dtype {
                    DType::Float64 => 1e-12,
                    DType::Float16 => 0.5,
                    DType::Float8E5M2 => expected.abs() / 4.0 + 0.1,
                    DType::Int32 => 1.0001,
                    _ => 1e-4,
                };
                prop_assert!((expected - got).abs() <= tolerance, "{expected} {got}");
            }
        }
    }
}

fn apply_owned(operation: &dyn Operation, value: Value) -> Value {
    let given = [(umber_data::Name::new("x"), value)].into_iter().collect();
    let mut result = apply_to(operation, given).unwrap();
    result.take("x").unwrap()
}

#[test]
fn keys() {
    let (one, two) = (Value::scalar(1i32).unwrap(), Value::scalar(2i32).unwrap());
    let given = || sample(&[("a", one.clone()), ("b", two.clone())]);
    let kept = apply_to(&FilterKey::new("a", Selection::Key), given()).unwrap();
    assert_eq!(kept, sample(&[("a", one.clone())]));
    let kept = apply_to(&FilterKey::new("a", Selection::Others), given()).unwrap();
    assert_eq!(kept, sample(&[("b", two.clone())]));
    let renamed = apply_to(&RenameKey::new("a", "c"), given()).unwrap();
    assert_eq!(renamed, sample(&[("c", one.clone()), ("b", two.clone())]));
    assert_eq!(renamed.entry(0).unwrap().0.as_str(), "c");
    assert_eq!(apply_to(&RenameKey::new("a", "b"), given()).unwrap(), sample(&[("b", one.clone())]));
    assert_eq!(apply_to(&RenameKey::new("a", "a"), given()).unwrap(), given());
    let shape = apply_to(&ShapeOf::new(Keys::new("a", "s"), None), given()).unwrap();
    assert_eq!(shape.require("s").unwrap().shape()[..], [0]);
    assert_eq!(shape.len(), 3);
}

/// All starts are equally frequent: chi-square with 9 degrees of freedom, at 1e-6.
#[test]
fn random_slices_are_uniform() {
    let value = Value::from_slice(&(0..12).collect::<Vec<i32>>(), 12).unwrap();
    let slice = RandomSlice::new("x", vec![0], vec![3]).unwrap();
    let mut counts = [0f64; 10];
    for index in 0..10_000 {
        let result = slice.change(value.clone(), &draw(index)).unwrap();
        counts[result.as_slice::<i32>().unwrap()[0] as usize] += 1.0;
    }
    let chi: f64 = counts.iter().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi < 45.1, "{chi}");
}

#[test]
fn numbers_that_no_element_equals() {
    let value = Value::from_slice(&[0u8, 1, 2], 3).unwrap();
    for (number, expected) in
        [(Scalar::Int(256), [0u8, 1, 2]), (Scalar::Float(1.5), [0, 1, 2]), (Scalar::Float(1.0), [0, 2, 9])]
    {
        let given = sample(&[("x", value.clone()), ("n", Value::scalar(3i64).unwrap())]);
        let result = apply_to(&RemoveValue::new("x", "n", 0, number, 9), given).unwrap();
        assert_eq!(result.require("x").unwrap().as_slice::<u8>(), Some(&expected[..]));
    }
    let floats =
        sample(&[("x", Value::from_slice(&[0.1f32, 0.2], 2).unwrap()), ("n", Value::scalar(2u8).unwrap())]);
    let result = apply_to(&RemoveValue::new("x", "n", 0, 0.1, 0), floats).unwrap();
    assert_eq!(result.require("x").unwrap().as_slice::<f32>(), Some(&[0.2, 0.0][..]));
    assert_eq!(result.require("n").unwrap(), &Value::scalar(1u8).unwrap());
}
