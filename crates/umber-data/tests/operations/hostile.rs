//! Arguments and samples that no operation accepts: errors of a fitting kind, never a panic.

use umber_core::DType;
use umber_data::ops::*;
use umber_data::{Operation, Value};
use umber_types::ErrorKind;

use super::{apply, apply_to, sample, text};

const EXTREMES: [i64; 9] = [i64::MIN, i64::MIN + 1, -1_000_000, -1, 0, 1, 3, 1 << 62, i64::MAX];

fn kind<T>(result: umber_data::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn constructors() {
    let value = Some(ErrorKind::Value);
    for number in [i64::MIN, -1, 0] {
        assert_eq!(kind(Shard::new("x", number)), value);
        assert_eq!(kind(PadToMultiple::new("x", 0, number, 0)), value);
    }
    for number in [i64::MIN, -1] {
        assert_eq!(kind(Pad::new("x", 0, number, 0, 0)), value);
        assert_eq!(kind(Pad::new("x", 0, 0, number, 0)), value);
        assert_eq!(kind(Slice::new("x", vec![0], vec![number], vec![1])), value);
        assert_eq!(kind(Slice::new("x", vec![0], vec![0], vec![number])), value);
    }
    assert_eq!(kind(Slice::new("x", vec![0], vec![3], vec![2])), value);
    assert_eq!(kind(Slice::new("x", vec![0, 1], vec![3], vec![4])), value);
    assert_eq!(kind(RandomSlice::new("x", vec![0, 1], vec![3])), value);
    assert_eq!(kind(Replace::new("x", "", "y", -1)), value);
    assert_eq!(kind(ReplaceBytes::new("x", vec![vec![]; 257])), value);
    assert_eq!(kind(Scale::new("x", vec![], vec![0.0], DType::Float32)), value);
    assert_eq!(kind(Scale::new("x", vec![1.0; 2], vec![0.0; 3], DType::Float32)), value);
    assert_eq!(kind(Scale::new("x", vec![1.0], vec![0.0], DType::Complex64)), Some(ErrorKind::Type));
}

/// Every operation with every extreme argument on values of every number of axes.
#[test]
fn no_argument_panics() {
    let values = [
        Value::scalar(1.5f32).unwrap(),
        Value::from_slice::<i32>(&[], 0).unwrap(),
        Value::from_slice(&[1u8, 0, 2], 3).unwrap(),
        Value::from_slice(&[1.0f64; 6], (2, 3)).unwrap(),
        Value::from_slice::<u8>(&[], (0, 4, 3)).unwrap(),
        Value::from_slice(&[7u8; 24], (2, 4, 3)).unwrap(),
        Value::from_slice(&[7u8; 24], (1, 2, 4, 3)).unwrap(),
    ];
    for value in &values {
        for a in EXTREMES {
            let mut operations: Vec<Box<dyn Operation>> = vec![
                Box::new(ShapeOf::new("x", Some(a))),
                Box::new(Squeeze::new("x", vec![a])),
                Box::new(RemoveValue::new("x", "n", a, a, a)),
            ];
            operations.extend(Shard::new("x", a).map(|operation| Box::new(operation) as Box<dyn Operation>));
            for b in EXTREMES {
                operations.push(Box::new(FilterByShape::new("x", a, b, a)));
                operations.push(Box::new(RandomSlice::new("x", vec![a], vec![b]).unwrap()));
                let part = Slice::new("x", vec![0], vec![a], vec![b]);
                operations.extend(part.map(|operation| Box::new(operation) as Box<dyn Operation>));
                // What memory can hold is not asked for here: lengths that it cannot are.
                let pad = Pad::new("x", a, b, b, 0.5);
                operations.extend(pad.map(|operation| Box::new(operation) as Box<dyn Operation>));
                operations.push(Box::new(PadToSize::new("x", a, b, f64::NAN)));
                let multiple = PadToMultiple::new("x", a, b, f64::INFINITY);
                operations.extend(multiple.map(|operation| Box::new(operation) as Box<dyn Operation>));
            }
            for operation in &operations {
                let sample = sample(&[("x", value.clone()), ("n", Value::scalar(2i64).unwrap())]);
                let _ = operation.apply(sample, &super::draw(1));
                assert!(!operation.arguments().is_empty());
            }
        }
    }
    let image = &values[5];
    let error = apply(&Pad::new("x", 0, 1 << 62, 1 << 62, 0).unwrap(), image).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory);
}

#[test]
fn samples_that_do_not_fit() {
    let row = Value::from_slice(&[1i32, 2, 3], 3).unwrap();
    let texts: [(Box<dyn Operation>, ErrorKind, &str); 12] = [
        (
            Box::new(ShapeOf::new("x", Some(1))),
            ErrorKind::Axis,
            "key 'x': axis 1 is out of bounds for shape (3,)",
        ),
        (
            Box::new(Squeeze::new("x", vec![0])),
            ErrorKind::Value,
            "key 'x': axis 0 of shape (3,) has not the length 1",
        ),
        (
            Box::new(Shard::new("x", 2).unwrap()),
            ErrorKind::Value,
            "key 'x': 3 rows cannot be split into 2 equal shards; pad or slice them first",
        ),
        (
            Box::new(Slice::new("x", vec![0], vec![4], vec![5]).unwrap()),
            ErrorKind::Index,
            "key 'x': start 4 is out of bounds for axis 0 of shape (3,)",
        ),
        (
            Box::new(Slice::new("x", vec![0, -1], vec![0, 0], vec![1, 1]).unwrap()),
            ErrorKind::Value,
            "key 'x': axis -1 is named twice in [0, -1]",
        ),
        (
            Box::new(Replace::new("x", "a", "b", -1).unwrap()),
            ErrorKind::Type,
            "key 'x': a text is bytes, an axis of int8 or uint8, got int32 of shape (3,)",
        ),
        (
            Box::new(LoadFile::new("x", "")),
            ErrorKind::Type,
            "key 'x': the name of a file is bytes, an axis of int8 or uint8, got int32 of shape (3,)",
        ),
        (
            Box::new(Scale::new("x", vec![1.0; 2], vec![0.0], DType::Float32).unwrap()),
            ErrorKind::Value,
            "key 'x': scale has 2 numbers, which are not the last axis of shape (3,)",
        ),
        (
            Box::new(RemoveValue::new("x", "n", 0, 1, 0)),
            ErrorKind::Value,
            "key 'n': the sample has no such key; it has 'x'",
        ),
        (
            Box::new(RemoveValue::new("x", "x", 0, 1, 0)),
            ErrorKind::Value,
            "key 'x': there is a number for each row: shape (3,) does not fit shape (3,) without axis 0",
        ),
        (
            Box::new(FilterKey::new("x", Selection::Others)),
            ErrorKind::Value,
            "key 'x': nothing is left of the sample, which has no other key",
        ),
        (
            Box::new(RenameKey::new("y", "x")),
            ErrorKind::Value,
            "key 'y': the sample has no such key; it has 'x'",
        ),
    ];
    for (operation, kind, text) in texts {
        let error = apply_to(&*operation, sample(&[("x", row.clone())])).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
    }
    for (number, expected) in [(4i64, "4 elements are not within"), (-1, "-1 elements are not within")] {
        let given = sample(&[("x", row.clone()), ("n", Value::scalar(number).unwrap())]);
        let error = apply_to(&RemoveValue::new("x", "n", 0, 1, 0), given).unwrap_err();
        assert!(error.detail().starts_with(expected) && error.key() == Some("n"), "{error}");
    }
    let complex = Value::from_slice(&[umber_types::Complex32::new(1.0, 2.0)], 1).unwrap();
    let scale = Scale::new("x", vec![2.0], vec![0.0], DType::Float32).unwrap();
    assert_eq!(kind(apply(&scale, &complex)), Some(ErrorKind::Type));
}

/// Searching takes time that is linear in text and pattern.
#[test]
fn patterns_that_almost_match() {
    let pattern = [vec![b'a'; 100_000], vec![b'b']].concat();
    let replace = Replace::new("x", pattern, "", -1).unwrap();
    let given = text(&vec![b'a'; 1_000_000]);
    assert_eq!(apply(&replace, &given).unwrap(), given);
}
