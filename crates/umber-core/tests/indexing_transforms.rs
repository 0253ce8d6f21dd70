//! Indexing and shaping under transforms: gradients, second derivatives, batches.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

#[path = "common/calculus.rs"]
mod calculus;

use calculus::{assert_close, differences, numbers, sample_values, weighted, weights};
use common::{array, values};
use umber_core::ops::indexing::{Index, get, update};
use umber_core::ops::{self, PadMode};
use umber_core::transforms::{grad, jvp, vmap};
use umber_core::{Array, DType, Result, Shape};
use umber_types::{Bool, ErrorKind, ScatterKind};

const KINDS: [ScatterKind; 5] =
    [ScatterKind::Set, ScatterKind::Add, ScatterKind::Multiply, ScatterKind::Maximum, ScatterKind::Minimum];

fn ints(elements: &[i32]) -> Array {
    array(elements, [elements.len()])
}

fn span(start: i64, stop: i64, step: i64) -> Index {
    Index::Slice { start: Some(start), stop: Some(stop), step: Some(step) }
}

fn mask() -> Array {
    array(&[1u8, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0].map(Bool), [4, 3])
}

/// Indices of every kind for an array of shape (4, 3).
fn indices() -> Vec<Vec<Index>> {
    vec![
        vec![Index::Int(-1)],
        vec![span(3, -5, -2), Index::NewAxis, Index::Int(1)],
        vec![Index::Array(ints(&[0, 2, 0, -1]))],
        vec![span(1, 4, 2), Index::Array(array(&[0, 2, 2, 1], [2, 2]))],
        vec![Index::Array(ints(&[0, 2, 0])), Index::NewAxis, Index::Array(ints(&[1, -1, 1]))],
        vec![Index::Array(ints(&[3, 3])), Index::Int(0)],
        vec![Index::Mask(mask())],
        vec![Index::Ellipsis, Index::Mask(array(&[Bool(1), Bool(0), Bool(1)], [3]))],
    ]
}

fn check(what: &str, f: impl Fn(&Array) -> Result<Array>, x: &Array) {
    let f = &f;
    let gradient = grad(move |x| weighted(f, x))(x).expect("pulls");
    let expected = differences(|x| weighted(f, x), x);
    assert_close(&numbers(&gradient), &expected, 1e-6, what);
    let direction = weights(x.shape());
    let (_, pushed) = jvp(
        |inputs| Ok(vec![weighted(f, &inputs[0])?]),
        std::slice::from_ref(x),
        std::slice::from_ref(&direction),
    )
    .expect("pushes");
    let directional: f64 = expected.iter().zip(numbers(&direction)).map(|(g, t)| g * t).sum();
    assert_close(&numbers(&pushed[0]), &[directional], 1e-6, what);
}

#[test]
fn gradients_of_indexing() {
    let x = sample_values([4, 3], -2.0, 2.0);
    for index in indices() {
        check(&format!("{index:?}"), |x| get(x, &index), &x);
        // Second derivatives.
        let squared = |x: &Array| ops::multiply(&get(x, &index)?, &get(x, &index)?);
        check(&format!("gradient of {index:?}"), grad(move |x| weighted(squared, x)), &x);
    }
}

#[test]
fn gradients_of_indexed_updates() {
    let x = sample_values([4, 3], 0.5, 2.0);
    for index in indices() {
        let shape = get(&x, &index).expect("fits").shape().clone();
        let new = sample_values(shape, -1.5, 2.5);
        for kind in KINDS {
            check(&format!("{kind:?} {index:?} by source"), |x| update(kind, x, &index, &new), &x);
            check(&format!("{kind:?} {index:?} by values"), |new| update(kind, &x, &index, new), &new);
            let scalar = array(&[1.3], Shape::scalar());
            check(&format!("{kind:?} {index:?} by one value"), |new| update(kind, &x, &index, new), &scalar);
        }
    }
}

#[test]
fn products_over_repeated_indices_have_second_derivatives() {
    let (x, new) = (sample_values([3], 0.5, 2.0), sample_values([4], 0.5, 2.0));
    let index = [Index::Array(ints(&[0, 0, 2, 0]))];
    let by_values = |new: &Array| update(ScatterKind::Multiply, &x, &index, new);
    check("gradient", grad(move |new| weighted(by_values, new)), &new);
}

#[test]
fn gradients_of_shaping() {
    type Function = fn(&Array) -> Result<Array>;
    let functions: &[(&str, Function)] = &[
        ("roll", |x| ops::roll(x, &[1, 2], Some(&[0, 1]))),
        ("flip", |x| ops::flip(x, Some(&[1]))),
        ("tile", |x| ops::tile(x, &[2, 3])),
        ("repeat", |x| ops::repeat(x, 2, Some(0))),
        ("pad constant", |x| ops::pad(x, &[(1, 2)], PadMode::Constant, &Array::scalar(0.5, DType::Float64))),
        ("pad edge", |x| ops::pad(x, &[(1, 2)], PadMode::Edge, x)),
        ("pad reflect", |x| ops::pad(x, &[(5, 4)], PadMode::Reflect, x)),
        ("pad symmetric", |x| ops::pad(x, &[(5, 4)], PadMode::Symmetric, x)),
        ("stack", |x| ops::stack(&[x, x], 1)),
        ("concatenate", |x| ops::concatenate(&[x, &ops::flip(x, None)?], Some(1))),
        ("diagonal", |x| ops::diagonal(x, -1, 0, 1)),
        ("trace", |x| ops::trace(x, 0, 0, 1, None)),
        ("diag", |x| ops::diag(&ops::flatten(x, 0, -1)?, -2)),
        ("tril", |x| ops::tril(x, -1)),
        ("triu", |x| ops::triu(x, 1)),
        ("as_strided", |x| ops::as_strided(x, Some(&[3, 4]), Some(&[2, 1]), 1)),
        ("contiguous", |x| ops::contiguous(&ops::transpose(x, None)?)),
        ("take", |x| ops::take(x, &array(&[2, 0, 2, -1], [2, 2]), Some(1))),
        ("take_along_axis", |x| ops::take_along_axis(x, &array(&[2, 0, 2, -1], [1, 4]), Some(1))),
        ("slice", |x| ops::dynamic_slice(x, &ints(&[1, 2]), &[1, 0], &[2, 2])),
    ];
    let x = sample_values([4, 3], -2.0, 2.0);
    for (name, f) in functions {
        check(name, f, &x);
        let batch = sample_values([2, 4, 3], -2.0, 2.0);
        let batched = vmap(move |x| Ok(vec![f(&x[0])?]), &[Some(0)], &[Some(0)]);
        let actual = batched(std::slice::from_ref(&batch)).expect("batches");
        let expected: Vec<Array> =
            ops::unstack(&batch, 0).expect("unstacks").iter().map(|x| f(x).expect("runs")).collect();
        let expected = ops::stack(&expected.iter().collect::<Vec<_>>(), 0).expect("equal shapes");
        assert_eq!(actual[0].shape(), expected.shape(), "{name}");
        assert_eq!(numbers(&actual[0]), numbers(&expected), "{name}");
    }
}

#[test]
fn batched_indices() {
    let x = sample_values([2, 4], -2.0, 2.0);
    let indices = array(&[0, 3, 1, 1], [2, 2]);
    let read = |inputs: &[Array]| Ok(vec![get(&inputs[0], &[Index::Array(inputs[1].clone())])?]);
    let actual = vmap(read, &[Some(0)], &[Some(0)])(&[x.clone(), indices.clone()]).expect("batches");
    let expected = ops::take_along_axis(&x, &indices, Some(1)).expect("in range");
    assert_eq!(numbers(&actual[0]), numbers(&expected));
    // The gradient of every batch element is a scatter with its own indices.
    let gradient = move |inputs: &[Array]| {
        let indices = inputs[1].clone();
        let sum = move |x: &Array| weighted(|x| get(x, &[Index::Array(indices.clone())]), x);
        Ok(vec![grad(sum)(&inputs[0])?])
    };
    let gradients = vmap(gradient, &[Some(0)], &[Some(0)])(&[x, indices]).expect("batches");
    let w = numbers(&weights(&Shape::from([2])));
    let rows = [w[0], 0.0, 0.0, w[1], 0.0, w[0] + w[1], 0.0, 0.0];
    assert_close(&numbers(&gradients[0]), &rows, 1e-12, "gradients");
}

#[test]
fn batched_masks_can_assign_but_not_select() {
    let x = sample_values([2, 3], -2.0, 2.0);
    let clipped = |inputs: &[Array]| {
        let x = &inputs[0];
        let negative = ops::less(x, &ops::subtract(x, x)?)?;
        Ok(vec![update(ScatterKind::Set, x, &[Index::Mask(negative)], &Array::scalar(0.0, DType::Float64))?])
    };
    let actual = vmap(clipped, &[Some(0)], &[Some(0)])(std::slice::from_ref(&x)).expect("assigns");
    let expected: Vec<f64> = numbers(&x).iter().map(|x| x.max(0.0)).collect();
    assert_eq!(numbers(&actual[0]), expected);
    let selected = |inputs: &[Array]| {
        let x = &inputs[0];
        Ok(vec![get(x, &[Index::Mask(ops::less(x, &ops::subtract(x, x)?)?)])?])
    };
    let error =
        vmap(selected, &[Some(0)], &[Some(0)])(std::slice::from_ref(&x)).expect_err("the mask has no value");
    assert!(
        error.kind() == ErrorKind::NoValue
            && error.to_string().contains("mask")
            && error.to_string().contains("vmap"),
        "{error}"
    );
    // Under grad the mask has a value.
    let gradient =
        grad(|x| weighted(|x| get(x, &[Index::Mask(ops::less(x, &ops::subtract(x, x)?)?)]), x))(&x);
    let w = weights(&Shape::from([6]));
    let mut w = numbers(&w).into_iter();
    let expected: Vec<f64> =
        numbers(&x).iter().map(|&x| if x < 0.0 { w.next().expect("enough") } else { 0.0 }).collect();
    assert_eq!(values::<f64>(&gradient.expect("pulls")), expected);
}
