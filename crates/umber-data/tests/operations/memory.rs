//! Who shares memory with whom: results are in the memory of a value that is the sample's alone, and nobody else sees a write.

use umber_core::{DType, Shape};
use umber_data::ops::*;
use umber_data::{Name, Operation, Value};

use super::{apply_to, draw, sample};

fn address(value: &Value) -> usize {
    value.view().start().addr()
}

/// The result in a sample that alone has the value, with the address that it had.
fn alone(operation: &dyn Operation, value: Value, others: &[(&str, Value)]) -> (Value, usize) {
    let before = address(&value);
    let mut given: umber_data::Sample = [(Name::new("x"), value)].into_iter().collect();
    others.iter().for_each(|(key, value)| given.set(Name::new(key), value.clone()));
    let mut result = operation.apply(given, &draw(0)).unwrap().unwrap();
    (result.take("x").unwrap(), before)
}

fn numbers() -> Value {
    Value::from_slice(&[3.0f32, 1.0, 2.0, 1.0], 4).unwrap()
}

/// Operations that write, with what they make of the numbers or the text `banana`.
fn writers() -> Vec<(Box<dyn Operation>, Value, Value)> {
    let text = |bytes: &[u8]| Value::from_bytes(bytes).unwrap();
    vec![
        (
            Box::new(Scale::new("x", vec![2.0], vec![1.0], DType::Float32).unwrap()),
            numbers(),
            Value::from_slice(&[7.0f32, 3.0, 5.0, 3.0], 4).unwrap(),
        ),
        (Box::new(Cast::new("x", DType::Int32)), numbers(), Value::from_slice(&[3i32, 1, 2, 1], 4).unwrap()),
        (
            Box::new(RemoveValue::new("x", "n", 0, 1, 9)),
            numbers(),
            Value::from_slice(&[3.0f32, 2.0, 9.0, 9.0], 4).unwrap(),
        ),
        (Box::new(Replace::new("x", "an", "AN", 1).unwrap()), text(b"banana"), text(b"bANana")),
    ]
}

#[test]
fn writes_are_in_place_and_private() {
    let count = [("n", Value::scalar(4i64).unwrap())];
    for (operation, value, expected) in writers() {
        let (result, before) = alone(&*operation, value.copied().unwrap(), &count);
        assert_eq!((&result, address(&result)), (&expected, before), "{}", operation.name());

        let untouched = value.copied().unwrap();
        let (result, before) = alone(&*operation, value.clone(), &count);
        assert_eq!(result, expected);
        assert_ne!(address(&result), before, "{}", operation.name());
        assert_eq!(value, untouched, "{}", operation.name());
    }
}

/// With an output key, the value stays.
#[test]
fn an_output_key_leaves_the_value() {
    let operations: [Box<dyn Operation>; 3] = [
        Box::new(Scale::new(Keys::new("x", "y"), vec![2.0], vec![1.0], DType::Float32).unwrap()),
        Box::new(Cast::new(Keys::new("x", "y"), DType::Int32)),
        Box::new(Pad::new(Keys::new("x", "y"), 0, 1, 1, 0).unwrap()),
    ];
    for operation in operations {
        let result = apply_to(&*operation, sample(&[("x", numbers().copied().unwrap())])).unwrap();
        assert_eq!(result.require("x").unwrap(), &numbers());
        assert_ne!(address(result.require("y").unwrap()), address(result.require("x").unwrap()));
    }
}

#[test]
fn views_share() {
    let operations: [(Box<dyn Operation>, &[usize], usize); 5] = [
        (Box::new(Shard::new("x", 2).unwrap()), &[2, 2, 1, 3], 0),
        (Box::new(Squeeze::new("x", vec![])), &[4, 3], 0),
        (Box::new(Slice::new("x", vec![0, 2], vec![1, 1], vec![3, 9]).unwrap()), &[2, 1, 2], 4),
        (Box::new(RandomSlice::new("x", vec![0], vec![9]).unwrap()), &[4, 1, 3], 0),
        (Box::new(PadToSize::new("x", 0, 3, 0)), &[4, 1, 3], 0),
    ];
    for (operation, shape, offset) in operations {
        let value = Value::from_slice(&(0..12).collect::<Vec<i32>>(), Shape::from([4, 1, 3])).unwrap();
        let (result, before) = alone(&*operation, value, &[]);
        assert_eq!(result.shape()[..], *shape);
        assert_eq!(address(&result), before + 4 * offset, "{}", operation.name());
        assert!(result.is_alone());
    }
}
