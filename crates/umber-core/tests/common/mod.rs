//! Helpers that the integration tests share.

use umber_core::{Array, DType, Shape};
use umber_types::Element;

/// An array of these elements.
pub(crate) fn array<T: Element>(elements: &[T], shape: impl Into<Shape>) -> Array {
    Array::from_slice(elements, shape).expect("elements fill the shape")
}

/// The evaluated elements in row-major order.
pub(crate) fn values<T: Element>(array: &Array) -> Vec<T> {
    array.to_vec().expect("evaluates")
}

/// Float32 values without ties and special values.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn ramp(shape: impl Into<Shape>) -> Array {
    let shape = shape.into();
    let elements: Vec<f32> =
        (0..shape.size()).map(|i| (i as f32 * 0.37 - 1.1).sin() + 0.01 * i as f32).collect();
    array(&elements, shape)
}

/// A constant.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn scalar(value: f64) -> Array {
    Array::scalar(value, DType::Float32)
}
