//! Transforms: gradients against central differences, forward against reverse mode, vmap against loops, and compositions.
#![allow(
    clippy::unwrap_used,
    clippy::cloned_ref_to_slice_refs,
    clippy::needless_range_loop,
    reason = "tests read better so"
)]

mod common;

#[path = "common/calculus.rs"]
mod calculus;

use calculus::{assert_close, differences, numbers, sample_values, total, weighted, weights};
use common::{array, ramp, values};
use umber_core::graph::ArrayInternals;
use umber_core::primitives::reduce::Reduce;
use umber_core::primitives::reshape::Reshape;
use umber_core::primitives::transpose::Transpose;
use umber_core::transforms::{self, Trace, grad, jvp, pull_back, value_and_grad, vjp, vmap};
use umber_core::{Array, Axes, DType, Result, Shape, ops};
use umber_types::{ErrorKind, ReduceKind, Scalar, error};

type Named = (&'static str, fn(&Array) -> Result<Array>, f64, f64);

/// Unary functions, each with an interval on which it is smooth.
const UNARY: &[Named] = &[
    ("abs", ops::abs, -2.0, 2.0),
    ("negative", ops::negative, -2.0, 2.0),
    ("square", ops::square, -2.0, 2.0),
    ("sqrt", ops::sqrt, 0.2, 3.0),
    ("rsqrt", ops::rsqrt, 0.2, 3.0),
    ("reciprocal", ops::reciprocal, 0.3, 3.0),
    ("exp", ops::exp, -2.0, 2.0),
    ("expm1", ops::expm1, -2.0, 2.0),
    ("log", ops::log, 0.2, 4.0),
    ("log2", ops::log2, 0.2, 4.0),
    ("log10", ops::log10, 0.2, 4.0),
    ("log1p", ops::log1p, -0.7, 3.0),
    ("sin", ops::sin, -3.0, 3.0),
    ("cos", ops::cos, -3.0, 3.0),
    ("tan", ops::tan, -1.2, 1.2),
    ("arcsin", ops::arcsin, -0.8, 0.8),
    ("arccos", ops::arccos, -0.8, 0.8),
    ("arctan", ops::arctan, -3.0, 3.0),
    ("sinh", ops::sinh, -2.0, 2.0),
    ("cosh", ops::cosh, -2.0, 2.0),
    ("tanh", ops::tanh, -2.0, 2.0),
    ("arcsinh", ops::arcsinh, -2.0, 2.0),
    ("arccosh", ops::arccosh, 1.3, 3.0),
    ("arctanh", ops::arctanh, -0.8, 0.8),
    ("erf", ops::erf, -2.0, 2.0),
    ("erfinv", ops::erfinv, -0.8, 0.8),
    ("sigmoid", ops::sigmoid, -3.0, 3.0),
    ("floor", ops::floor, 0.1, 0.9),
    ("sign", ops::sign, 0.1, 0.9),
];

type NamedBinary = (&'static str, fn(&Array, &Array) -> Result<Array>);

/// Smooth functions of two elements between 0.3 and 2.
const BINARY: &[NamedBinary] = &[
    ("add", ops::add),
    ("subtract", ops::subtract),
    ("multiply", ops::multiply),
    ("divide", ops::divide),
    ("power", ops::power),
    ("maximum", ops::maximum),
    ("minimum", ops::minimum),
    ("logaddexp", ops::logaddexp),
    ("arctan2", ops::arctan2),
];

fn reduce(kind: ReduceKind, axes: &[usize], x: &Array) -> Result<Array> {
    Array::record_one(Reduce { kind, axes: Axes::sorted(axes.iter().copied()) }, &[x])
}

fn reshape(x: &Array, shape: impl Into<Shape>) -> Result<Array> {
    Array::record_one(Reshape { shape: shape.into() }, &[x])
}

fn transpose(x: &Array, permutation: impl Into<Shape>) -> Result<Array> {
    Array::record_one(Transpose { permutation: permutation.into() }, &[x])
}

/// A program with broadcasts, views, reductions, elementwise functions and constants.
fn program(x: &Array) -> Result<Array> {
    let centred = x - reduce(ReduceKind::Max, &[1], x)?;
    let row = ops::exp(&(&centred * 0.5))?;
    let normal = &row / reduce(ReduceKind::Sum, &[1], &row)?;
    let transposed = transpose(&normal, [1, 0])?;
    let mixed = &normal * reshape(&transposed, normal.shape().clone())?;
    let column = reduce(ReduceKind::Prod, &[0], &(mixed + 1.0))?;
    ops::add(&ops::tanh(&column)?, &(normal * 3.0))
}

fn check_gradient(name: &str, f: impl Fn(&Array) -> Result<Array> + Copy, x: &Array) {
    let scalar = move |x: &Array| weighted(f, x);
    let expected = differences(scalar, x);
    let gradient = grad(scalar)(x).unwrap();
    assert_eq!(gradient.spec(), x.spec());
    assert_close(&values::<f64>(&gradient), &expected, 1e-7, name);

    // The forward-mode derivative in a direction is the inner product of gradient and direction.
    let direction = weights(x.shape());
    let (_, tangents) = jvp(|x| Ok(vec![scalar(&x[0])?]), &[x.clone()], &[direction.clone()]).unwrap();
    let inner: f64 = expected.iter().zip(values::<f64>(&direction)).map(|(a, b)| a * b).sum();
    assert_close(&values::<f64>(&tangents[0]), &[inner], 1e-7, name);
}

fn check_vmap(
    name: &str,
    f: impl Fn(&Array) -> Result<Array> + Copy,
    elements: &[Array],
    in_axis: i64,
    out_axis: i64,
) {
    let ndim = elements[0].ndim() as i64;
    let axis = if in_axis < 0 { in_axis + ndim + 1 } else { in_axis } as usize;
    let stacked = stack(elements, axis);
    let outputs = vmap(|x| Ok(vec![f(&x[0])?]), &[Some(in_axis)], &[Some(out_axis)])(&[stacked]).unwrap();
    let results: Vec<Array> = elements.iter().map(|element| f(element).unwrap()).collect();
    let ndim = results[0].ndim() as i64;
    let axis = if out_axis < 0 { out_axis + ndim + 1 } else { out_axis } as usize;
    let expected = stack(&results, axis);
    assert_eq!(outputs[0].spec(), expected.spec(), "{name}");
    assert_close(&numbers(&outputs[0]), &numbers(&expected), 1e-12, name);
}

/// Arrays stacked along a new axis.
fn stack(arrays: &[Array], axis: usize) -> Array {
    let elements: Vec<f64> = arrays.iter().flat_map(numbers).collect();
    let shape: Shape = std::iter::once(arrays.len()).chain(arrays[0].shape().iter().copied()).collect();
    let stacked = array(&elements, shape);
    let order: Shape = (1..=axis).chain([0]).chain(axis + 1..stacked.ndim()).collect();
    ops::astype(&transpose(&stacked, order).unwrap(), arrays[0].dtype()).unwrap()
}

#[test]
fn gradients_of_unary_functions() {
    for &(name, f, low, high) in UNARY {
        check_gradient(name, f, &sample_values([2, 3], low, high));
    }
}

#[test]
fn gradients_of_binary_functions() {
    let other = sample_values([3], 0.3, 2.0) + 0.013;
    for &(name, f) in BINARY {
        check_gradient(name, |x| f(x, &other), &sample_values([2, 3], 0.3, 2.0));
        check_gradient(name, |x| f(&other, x), &sample_values([2, 1], 0.3, 2.0));
        check_gradient(name, |x| f(x, &(x * 1.7)), &sample_values([4], 0.3, 2.0));
    }
    check_gradient("remainder", |x| ops::remainder(x, &other), &sample_values([2, 3], 0.4, 0.5));
    check_gradient(
        "select",
        |x| ops::select(&ops::greater(x, &other)?, &(x * x), &(x * 3.0)),
        &sample_values([2, 3], 0.3, 2.0),
    );
}

#[test]
fn gradients_of_reductions_and_views() {
    let x = sample_values([3, 4], 0.3, 2.0);
    for kind in [ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min, ReduceKind::Max] {
        for axes in [&[0][..], &[1], &[0, 1], &[]] {
            check_gradient(kind.name(), |x| reduce(kind, axes, x), &x);
        }
    }
    check_gradient("reshape", |x| reshape(&ops::square(x)?, [2, 6]), &x);
    check_gradient("transpose", |x| transpose(&ops::square(x)?, [1, 0]), &x);
    check_gradient("program", program, &sample_values([4, 4], -1.0, 1.0));
}

#[test]
fn gradients_of_products_with_zeros_and_maxima_with_ties() {
    let product = |x: &Array| total(&reduce(ReduceKind::Prod, &[0], x)?);
    let x = array(&[2.0f64, 0.0, 3.0], [3]);
    assert_eq!(values::<f64>(&grad(product)(&x).unwrap()), [0.0, 6.0, 0.0]);
    let x = array(&[0.0f64, 0.0, 3.0], [3]);
    assert_eq!(values::<f64>(&grad(product)(&x).unwrap()), [0.0, 0.0, 0.0]);
    let max = |x: &Array| total(&reduce(ReduceKind::Max, &[0], x)?);
    let x = array(&[1.0f64, 4.0, 4.0], [3]);
    assert_eq!(values::<f64>(&grad(max)(&x).unwrap()), [0.0, 0.5, 0.5]);
}

#[test]
fn gradients_of_integers_are_floating_point() {
    let f = |x: &Array| total(&(x * x));
    let x = array(&[1i32, 2], [2]);
    let gradient = grad(f)(&x).unwrap();
    assert_eq!(values::<f32>(&gradient), [2.0, 4.0]);
    // A gradient that is not an integer.
    let half = |x: &Array| total(&(x * 0.5));
    assert_eq!(values::<f32>(&grad(half)(&x).unwrap()), [0.5, 0.5]);
    assert_eq!(
        values::<f32>(&grad(half)(&array(&[true.into(), umber_types::Bool::from(false)], [2])).unwrap()),
        [0.5, 0.5]
    );
    // The function itself sees integers.
    let (value, _) = value_and_grad(|x| total(&(&x[0] * &x[0])), &[0])(&[x.clone()]).unwrap();
    assert_eq!(value.dtype(), DType::Int32);
    assert_eq!(values::<i32>(&value), [5]);
    let t = array(&[0.5f32, 1.0], [2]);
    let (y, dy) = jvp(|x| Ok(vec![&x[0] * &x[0]]), &[x], &[t]).unwrap();
    assert_eq!((values::<i32>(&y[0]), values::<f32>(&dy[0])), (vec![1, 4], vec![1.0, 4.0]));
    // A cast to integers and back has the derivative one, a cast to bool zero.
    let rounded = |x: &Array| total(&ops::astype(&ops::astype(x, DType::Int32)?, DType::Float32)?);
    assert_eq!(values::<f32>(&grad(rounded)(&ramp([3])).unwrap()), [1.0, 1.0, 1.0]);
    let truth = |x: &Array| total(&ops::astype(&ops::astype(x, DType::Bool)?, DType::Float32)?);
    assert_eq!(values::<f32>(&grad(truth)(&ramp([3])).unwrap()), [0.0, 0.0, 0.0]);
}

#[test]
fn half_precision_gradients_have_the_dtype_of_the_input() {
    let x = ops::astype(&ramp([5]), DType::BFloat16).unwrap();
    let gradient = grad(|x| total(&ops::astype(&ops::square(x)?, DType::Float32)?))(&x).unwrap();
    assert_eq!(gradient.dtype(), DType::BFloat16);
    assert_eq!(numbers(&gradient), numbers(&(&x * 2.0)));
}

#[test]
fn complex_gradients_follow_the_conjugate_convention() {
    // |z|² = z conj(z): the gradient is the direction of steepest ascent, 2z.
    let z = array(&[umber_types::Complex32::new(1.0, 2.0), umber_types::Complex32::new(-0.5, 0.25)], [2]);
    let f = |z: &Array| total(&ops::square(&ops::abs(z)?)?);
    let gradient = values::<umber_types::Complex32>(&grad(f)(&z).unwrap());
    for (g, z) in gradient.iter().zip(values::<umber_types::Complex32>(&z)) {
        assert!((g - z * 2.0).norm() < 1e-5);
    }
}

#[test]
fn unused_inputs_have_zero_gradients() {
    let (x, y) = (ramp([2]), ramp([3, 1]));
    let f = |a: &[Array]| total(&(&a[1] * 2.0));
    let (_, gradients) = value_and_grad(f, &[0, 1])(&[x.clone(), y]).unwrap();
    assert_eq!(values::<f32>(&gradients[0]), [0.0, 0.0]);
    assert_eq!(values::<f32>(&gradients[1]), [2.0; 3]);
    let stopped = grad(|x| total(&ops::multiply(x, &ops::stop_gradient(x)?)?))(&x).unwrap();
    assert_eq!(values::<f32>(&stopped), values::<f32>(&x));
    // An output that does not depend on the inputs has a zero tangent.
    let (_, pushed) = jvp(|_| Ok(vec![ramp([2, 2])]), &[x.clone()], &[x.clone()]).unwrap();
    assert_eq!(values::<f32>(&pushed[0]), [0.0; 4]);
}

#[test]
fn invalid_outputs_cotangents_and_tangents_are_errors() {
    let x = ramp([2]);
    let error = grad(|x| Ok(x * 2.0))(&x).unwrap_err();
    assert_eq!(error, error!(Value("grad"), "the function must return a scalar, got shape (2,)"));
    let error = vjp(|x| Ok(x.to_vec()), &[x.clone()], &[ramp([3])]).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Value && error.to_string().starts_with("[vjp] cotangent of shape (3,)")
    );
    let error = vjp(|x| Ok(x.to_vec()), &[x.clone()], &[]).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().starts_with("[vjp] got 0 cotangents"));
    let error = jvp(|x| Ok(x.to_vec()), &[x.clone()], &[ramp([3])]).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().starts_with("[jvp] tangent of shape (3,)"));
    // A failed trace is closed.
    assert_eq!(umber_core::graph::tracing::depth(), 0);
}

#[test]
fn values_can_be_read_while_tracing() {
    let f = |x: &Array| {
        let y = x * x;
        // Control flow on a value.
        let steps = match y.item()? {
            Scalar::Float(value) if value > 3.0 => 2.0,
            _ => 1.0,
        };
        Ok(y * x * steps)
    };
    let x = array(&[2.0f64], []);
    assert_eq!(values::<f64>(&grad(f)(&x).unwrap()), [24.0]);
    let x = array(&[1.0f64], []);
    assert_eq!(values::<f64>(&grad(f)(&x).unwrap()), [3.0]);
}

#[test]
fn cotangents_of_several_outputs_are_summed() {
    let x = sample_values([3], 0.5, 1.5);
    let f = |x: &[Array]| Ok(vec![ops::sin(&x[0])?, &x[0] * &x[0], x[0].clone()]);
    let (outputs, pulled) =
        vjp(f, &[x.clone()], &[weights(&[3].into()), ramp([3]), array(&[1i32; 3], [3])]).unwrap();
    assert_eq!(outputs.len(), 3);
    let (v, w, r) = (numbers(&x), numbers(&weights(&[3].into())), numbers(&ramp([3])));
    let expected: Vec<f64> = (0..3).map(|i| v[i].cos() * w[i] + 2.0 * v[i] * r[i] + 1.0).collect();
    assert_close(&values::<f64>(&pulled[0]), &expected, 1e-12, "sum of cotangents");
}

/// A recurrence whose steps multiply by the same weight from the right, by its transpose, or from the left.
fn recurrence(w: &Array, x: &Array, count: usize) -> Result<Array> {
    (0..count).try_fold(x.clone(), |x, i| {
        let transposed = ops::transpose(w, None)?;
        let next = match i % 3 {
            0 => ops::matmul(&x, w)?,
            1 => ops::matmul(&x, &transposed)?,
            _ => ops::transpose(&ops::matmul(w, &ops::transpose(&x, None)?)?, None)?,
        };
        ops::sin(&next)
    })
}

#[test]
fn gradients_of_a_weight_accumulate_over_steps() {
    let (w, x) = (sample_values([6, 6], -0.5, 0.5), sample_values([2, 6], -1.0, 1.0));
    for count in [1, 3, 8, 14] {
        let f = |w: &Array| {
            weighted(|w| ops::add(&recurrence(w, &x, count)?, &ops::square(&recurrence(w, &x, 2)?)?), w)
        };
        let gradient = grad(f)(&w).unwrap();
        assert_close(&values::<f64>(&gradient), &differences(f, &w), 1e-7, "gradient");
        let twice = grad(|w| total(&ops::square(&grad(f)(w)?)?))(&w).unwrap();
        let expected = differences(|w| total(&ops::square(&grad(f)(w)?)?), &w);
        assert_close(&values::<f64>(&twice), &expected, 1e-6, "second derivative");
    }
}

#[test]
fn gradients_of_gradients() {
    let f = |x: &Array| total(&ops::multiply(&ops::sin(x)?, &ops::square(x)?)?);
    let first = |x: &Array| grad(f)(x);
    let second = |x: &Array| grad(|x| total(&first(x)?))(x);
    let x = sample_values([3], 0.4, 1.6);
    let third = grad(|x| total(&second(x)?))(&x).unwrap();
    // (x² sin x)''' = 6 cos x - 6x sin x - x² cos x
    let expected: Vec<f64> =
        numbers(&x).iter().map(|x| 6.0 * x.cos() - 6.0 * x * x.sin() - x * x * x.cos()).collect();
    assert_close(&values::<f64>(&third), &expected, 1e-10, "third derivative");
}

#[test]
fn nested_derivatives_do_not_confuse_perturbations() {
    // d/dx (x * d/dy (x + y) at y = 1) = 1, not 2.
    let f = |x: &Array| {
        let inner = grad(|y| Ok(x + y))(&Array::scalar(1.0, DType::Float64))?;
        Ok(x * inner)
    };
    assert_eq!(values::<f64>(&grad(f)(&Array::scalar(1.0, DType::Float64)).unwrap()), [1.0]);
    let forward = |x: &[Array]| {
        let one = [Array::scalar(1.0, DType::Float64)];
        let (_, inner) = jvp(|y| Ok(vec![&x[0] + &y[0]]), &one, &one)?;
        Ok(vec![&x[0] * &inner[0]])
    };
    let one = [Array::scalar(1.0, DType::Float64)];
    assert_eq!(values::<f64>(&jvp(forward, &one, &one).unwrap().1[0]), [1.0]);
}

#[test]
fn hessian_vector_products_in_all_mode_combinations() {
    let f = |x: &Array| weighted(program, x);
    let x = sample_values([3, 3], -1.0, 1.0);
    let v = weights(x.shape());
    let (_, forward_over_reverse) = jvp(|x| Ok(vec![grad(f)(&x[0])?]), &[x.clone()], &[v.clone()]).unwrap();
    let reverse_over_forward = grad(|x| {
        let (_, pushed) = jvp(|x| Ok(vec![f(&x[0])?]), &[x.clone()], &[v.clone()])?;
        Ok(pushed[0].clone())
    })(&x)
    .unwrap();
    assert_close(
        &values::<f64>(&forward_over_reverse[0]),
        &values::<f64>(&reverse_over_forward),
        1e-9,
        "Hessian times vector",
    );
    let twice = grad(|x| total(&(grad(f)(x)? * &v)))(&x).unwrap();
    assert_close(&values::<f64>(&twice), &values::<f64>(&reverse_over_forward), 1e-9, "Hessian times vector");
}

#[test]
fn vmap_matches_loops() {
    let elements: Vec<Array> = (0..3).map(|i| sample_values([4, 4], -1.0, 1.0) * (0.4 + i as f64)).collect();
    for in_axis in [0, 1, 2, -1] {
        for out_axis in [0, 1, -1] {
            check_vmap("program", program, &elements, in_axis, out_axis);
        }
    }
    let elements: Vec<Array> = (0..2).map(|i| sample_values([3], 0.3, 0.7) + 0.1 * i as f64).collect();
    for &(name, f, low, high) in UNARY {
        let middle = f64::midpoint(low, high);
        check_vmap(name, f, &[sample_values([3], low, middle), sample_values([3], middle, high)], 0, 0);
    }
    let other = sample_values([2, 3], 0.3, 2.0);
    for &(name, f) in BINARY {
        check_vmap(name, |x| f(x, &other), &elements, 0, 0);
        check_vmap(name, |x| f(&other, x), &elements, -1, -1);
    }
    check_vmap("select", |x| ops::select(&ops::greater(x, &other)?, x, &other), &elements, 1, 0);
    for kind in [
        ReduceKind::Sum,
        ReduceKind::Prod,
        ReduceKind::Min,
        ReduceKind::Max,
        ReduceKind::All,
        ReduceKind::Any,
    ] {
        check_vmap(kind.name(), |x| reduce(kind, &[0], x), &elements, 0, 0);
    }
    check_vmap("stop_gradient", ops::stop_gradient, &elements, 0, 0);
    check_vmap("astype", |x| ops::astype(x, DType::Float32), &elements, 0, 0);
}

#[test]
fn unmapped_inputs_and_constant_outputs() {
    let (x, w) = (ramp([2, 3]), ramp([3]));
    let f = |a: &[Array]| Ok(vec![&a[0] * &a[1], ops::exp(&a[1])?, ramp([2])]);
    let outputs = vmap(f, &[Some(0), None], &[Some(0), Some(1), Some(0)])(&[x.clone(), w.clone()]).unwrap();
    assert_eq!(values::<f32>(&outputs[0]), values::<f32>(&(&x * &w)));
    assert_eq!(outputs[1].shape(), &Shape::from([3, 2]));
    assert_eq!(outputs[2].shape(), &Shape::from([2, 2]));
    let shared = vmap(f, &[Some(0), None], &[Some(0), None, None])(&[x.clone(), w.clone()]).unwrap();
    assert_eq!(shared[1].shape(), &Shape::from([3]));
    let error = vmap(f, &[Some(0), None], &[None])(&[x.clone(), w.clone()]).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().starts_with("[vmap] out_axes is None"));
    let error = vmap(f, &[Some(0), Some(0)], &[Some(0)])(&[x.clone(), w]).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().contains("differ: 2 and 3"));
    let error = vmap(f, &[None], &[Some(0)])(&[x.clone(), x.clone()]).unwrap_err();
    assert!(error.kind() == ErrorKind::Value);
    let error = vmap(f, &[Some(2)], &[Some(0)])(&[x.clone(), x.clone()]).unwrap_err();
    assert!(error.kind() == ErrorKind::Axis);
    let read = |a: &[Array]| a[0].item().map(|_| a.to_vec());
    let error = vmap(read, &[Some(0)], &[Some(0)])(&[ramp([2])]).unwrap_err();
    assert!(error.kind() == ErrorKind::NoValue && error.to_string().contains("traced by vmap"));
}

#[test]
fn vmap_composes_with_grad_and_jvp() {
    let f = |x: &Array| weighted(program, x);
    let elements: Vec<Array> = (0..3).map(|i| sample_values([3, 3], -1.0, 1.0) * (0.5 + i as f64)).collect();
    check_vmap("vmap(grad)", |x| grad(f)(x), &elements, 0, 0);
    check_vmap(
        "vmap(jvp)",
        |x| Ok(jvp(|x| Ok(vec![program(&x[0])?]), &[x.clone()], &[x.clone()])?.1[0].clone()),
        &elements,
        1,
        0,
    );
    let batch = stack(&elements, 0);
    let mapped =
        |x: &Array| Ok(vmap(|x| Ok(vec![program(&x[0])?]), &[Some(0)], &[Some(0)])(&[x.clone()])?[0].clone());
    check_gradient("grad(vmap)", mapped, &batch);
    // Nested vmap.
    let pairs = |x: &Array, y: &Array| -> Result<Array> {
        let row = |a: &[Array]| {
            let inner = vmap(|b: &[Array]| Ok(vec![&b[0] * &b[1] + &a[0]]), &[None, Some(0)], &[Some(0)]);
            inner(&[a[0].clone(), y.clone()])
        };
        Ok(vmap(row, &[Some(0)], &[Some(0)])(&[x.clone()])?[0].clone())
    };
    let (x, y) = (sample_values([2], 1.0, 2.0), sample_values([3], 1.0, 2.0));
    let expected: Vec<f64> =
        numbers(&x).iter().flat_map(|a| numbers(&y).into_iter().map(move |b| a * b + a)).collect();
    assert_close(&numbers(&pairs(&x, &y).unwrap()), &expected, 1e-12, "vmap(vmap)");
    check_gradient("grad(vmap(vmap))", |x| pairs(x, &y), &x);
    check_gradient("grad(vmap(vmap))", |y| pairs(&x, y), &y);
}

#[test]
fn jacobians_by_vmap_of_vjp_and_jvp() {
    let x = sample_values([3], 0.5, 1.5);
    let f = |x: &Array| Ok(ops::sin(x)? * reduce(ReduceKind::Sum, &[0], &ops::square(x)?)?);
    let basis = ops::eye(3, 3, 0, DType::Float64).unwrap();
    let rows =
        vmap(|ct: &[Array]| Ok(vjp(|x| Ok(vec![f(&x[0])?]), &[x.clone()], ct)?.1), &[Some(0)], &[Some(0)]);
    let columns =
        vmap(|t: &[Array]| Ok(jvp(|x| Ok(vec![f(&x[0])?]), &[x.clone()], t)?.1), &[Some(0)], &[Some(1)]);
    let (reverse, forward) = (rows(&[basis.clone()]).unwrap(), columns(&[basis]).unwrap());
    assert_close(&numbers(&reverse[0]), &numbers(&forward[0]), 1e-12, "Jacobian");
}

#[test]
fn transforms_of_a_long_chain_use_bounded_stack() {
    let length = 1_000_000;
    let run = move || {
        let trace = Trace::with_data(&[array(&[1.0f32], [1])]).unwrap();
        let mut y = trace.inputs[0].clone();
        for i in 0..length {
            y = if i % 2 == 0 { ops::negative(&y) } else { ops::add(&y, &trace.inputs[0]) }.unwrap();
        }
        let inputs = trace.end();
        let one = array(&[1.0f32], [1]);
        let pulled = pull_back(&inputs, &[y.clone()], &[one.clone()]).unwrap();
        let pushed = transforms::push_forward(&inputs, &[y], &[one]).unwrap();
        // y -> x - y, twice: back to y.
        assert_eq!(values::<f32>(&pulled[0]), [1.0]);
        assert_eq!(values::<f32>(&pushed[0]), [1.0]);
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn arrays_release_their_inputs_after_a_trace() {
    let x = ramp([4]);
    let (value, gradients) = value_and_grad(|x| total(&ops::exp(&x[0])?), &[0])(&[x]).unwrap();
    umber_core::eval(&[value.clone(), gradients[0].clone()]).unwrap();
    assert!(value.node().inputs().is_empty());
    assert!(gradients[0].node().inputs().is_empty());
}
