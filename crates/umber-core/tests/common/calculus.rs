//! Numerical derivatives, and scalar functions to differentiate.

use umber_core::graph::ArrayInternals;
use umber_core::primitives::reduce::Reduce;
use umber_core::primitives::reshape::Reshape;
use umber_core::{Array, Axes, DType, Result, Shape, ops};
use umber_types::ReduceKind;

use super::{array, values};

/// The sum of all elements, as a scalar.
pub(crate) fn total(x: &Array) -> Result<Array> {
    let reduce = Reduce { kind: ReduceKind::Sum, axes: Axes::all(x.ndim()) };
    let sum = Array::record_one(reduce, &[x])?;
    Array::record_one(Reshape { shape: Shape::scalar() }, &[&sum])
}

/// `sum(f(x) * w)` with fixed weights: a scalar whose gradient depends on the derivative of every element of `f(x)`.
pub(crate) fn weighted(f: impl Fn(&Array) -> Result<Array>, x: &Array) -> Result<Array> {
    let y = f(x)?;
    let w = weights(y.shape());
    total(&ops::multiply(&y, &w)?)
}

/// Weights that differ from element to element.
pub(crate) fn weights(shape: &Shape) -> Array {
    let elements: Vec<f64> = (0..shape.size()).map(|i| 1.0 + 0.7 * (i as f64 * 1.3).sin()).collect();
    array(&elements, shape.clone())
}

/// Float64 values between `low` and `high`, without ties and special values.
pub(crate) fn sample_values(shape: impl Into<Shape>, low: f64, high: f64) -> Array {
    let shape = shape.into();
    let fraction = |i: usize| (i as f64 * 0.754_877_666 + 0.31).fract();
    let elements: Vec<f64> = (0..shape.size()).map(|i| low + (high - low) * fraction(i)).collect();
    array(&elements, shape)
}

/// The gradient of a scalar function by central differences.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn differences(f: impl Fn(&Array) -> Result<Array>, x: &Array) -> Vec<f64> {
    let point = values::<f64>(x);
    let h = 1e-5;
    let evaluate = |i: usize, step: f64| {
        let mut shifted = point.clone();
        shifted[i] += step;
        let y = f(&array(&shifted, x.shape().clone())).expect("the function runs");
        values::<f64>(&y)[0]
    };
    (0..point.len()).map(|i| (evaluate(i, h) - evaluate(i, -h)) / (2.0 * h)).collect()
}

/// Assert equality up to `tolerance` times the larger of one and the expected magnitude.
pub(crate) fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (i, (a, b)) in actual.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what} [{i}]: got {a}, expected {b}");
    }
}

/// The elements of a real array as float64.
pub(crate) fn numbers(x: &Array) -> Vec<f64> {
    values(&ops::astype(x, DType::Float64).expect("casts"))
}
