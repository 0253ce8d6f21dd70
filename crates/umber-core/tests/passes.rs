//! The passes of compile on small programs, compared as text, and shape-generic traces.
#![allow(clippy::unwrap_used, reason = "tests read better so")]

mod common;

use common::{array, ramp, scalar, values};
use umber_core::compile::{self, ShapeGenericTrace, Traced, simplify};
use umber_core::graph::tracing::Lengths;
use umber_core::graph::{ArrayInternals, Program};
use umber_core::ops::linalg::Basis;
use umber_core::primitives::broadcast::Broadcast;
use umber_core::primitives::reduce::Reduce;
use umber_core::primitives::slice::{Slice, Window};
use umber_core::{Array, Axes, DType, KeepAxes, Result, ops, s};
use umber_types::ReduceKind;

/// The trace of a function for arguments with these specs.
fn traced(f: impl Fn(&[Array]) -> Result<Vec<Array>>, arguments: &[Array]) -> Traced {
    let tracing = compile::begin(arguments, Lengths::Free);
    let outputs = f(&tracing.trace.inputs).unwrap();
    tracing.end(&outputs)
}

fn one(f: impl Fn(&Array) -> Result<Array>) -> impl Fn(&[Array]) -> Result<Vec<Array>> {
    move |x| Ok(vec![f(&x[0])?])
}

#[track_caller]
fn check(program: &Program, expected: &str) {
    let lines =
        |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    assert_eq!(lines(&program.to_string()), lines(expected));
}

/// Check the simplified program of a function, and that its results are bitwise equal to those of the function.
#[track_caller]
fn check_simple(f: impl Fn(&[Array]) -> Result<Vec<Array>>, arguments: &[Array], expected: &str) {
    let traced = traced(&f, arguments);
    let graph = traced.compile().unwrap();
    check(graph.program(), expected);
    for (actual, expected) in graph.call(arguments).unwrap().iter().zip(f(arguments).unwrap()) {
        assert_eq!(actual.spec(), expected.spec());
        let bytes = |array: &Array| {
            array.eval().unwrap();
            array
                .copied()
                .unwrap()
                .storage()
                .unwrap()
                .host()
                .unwrap()
                .dense_bytes(array.dtype())
                .unwrap()
                .to_vec()
        };
        assert_eq!(bytes(actual), bytes(&expected));
    }
}

#[test]
fn common_subexpressions_are_merged() {
    check_simple(
        |x| Ok(vec![ops::exp(&(&x[0] * &x[1]))? + ops::exp(&(&x[1] * &x[0]))?]),
        &[ramp([2, 3]), ramp([2, 3])],
        "%0 : float32[2,3]
         %1 : float32[2,3]
         %2 = multiply %0 %1 : float32[2,3]
         %3 = exp %2 : float32[2,3]
         %4 = add %3 %3 : float32[2,3]
         return %4",
    );
    // Subtraction is not commutative, and neither is a maximum of zeros of different sign.
    check_simple(
        |x| Ok(vec![ops::maximum(&x[0], &x[1])? - ops::maximum(&x[1], &x[0])?]),
        &[ramp([2]), ramp([2])],
        "%0 : float32[2]
         %1 : float32[2]
         %2 = maximum %0 %1 : float32[2]
         %3 = maximum %1 %0 : float32[2]
         %4 = subtract %2 %3 : float32[2]
         return %4",
    );
}

#[test]
fn common_subexpressions_with_several_outputs_are_merged() {
    let f = |x: &[Array]| {
        let (q, _) = ops::linalg::qr(&x[0], Basis::Reduced)?;
        let (_, r) = ops::linalg::qr(&x[0], Basis::Reduced)?;
        Ok(vec![q, r])
    };
    check_simple(
        f,
        &[ramp([3, 3])],
        "%0 : float32[3,3]
         %1 %2 = linalg.qr %0 : float32[3,3] float32[3,3]
         return %1 %2",
    );
}

#[test]
fn constants_are_folded() {
    let f = one(|x| {
        let seven = ops::add(&ops::multiply(&scalar(2.0), &scalar(3.0))?, &scalar(1.0))?;
        let zeros = ops::negative(&Array::full([2, 2], 0.0, DType::Float32))?;
        ops::add(&(x * &seven), &zeros)
    });
    check_simple(
        f,
        &[ramp([2, 2])],
        "%0 : float32[2,2]
         %1 = multiply %0 7.0 : float32[2,2]
         return %1",
    );
}

#[test]
fn identities_are_removed() {
    let f = one(|x| {
        let y = ops::subtract(&ops::negative(&ops::negative(&(x * 1.0))?)?, &scalar(0.0))?;
        let y = ops::select(&ops::greater(&y, &scalar(0.5))?, &y, &y)?;
        ops::astype(&ops::astype(&y, DType::Float64)?, DType::Float32)
    });
    check_simple(f, &[ramp([2, 2])], "%0 : float32[2,2]\nreturn %0");
    // Not identities: -0 + 0 is +0, and complex infinity times one has a NaN component.
    check_simple(
        one(|x| Ok(x + 0.0)),
        &[array(&[-0.0f32], [1])],
        "%0 : float32[1]
         %1 = add %0 0.0 : float32[1]
         return %1",
    );
    check_simple(
        one(|x| ops::multiply(x, &Array::scalar(1.0, DType::Complex64))),
        &[ops::astype(&array(&[f32::INFINITY], [1]), DType::Complex64).unwrap()],
        "%0 : complex64[1]
         %1 = multiply %0 1.0+0.0i : complex64[1]
         return %1",
    );
}

#[test]
fn views_of_views_are_merged() {
    let f = |x: &[Array]| {
        let transposed = ops::transpose(&ops::transpose(&x[0], Some(&[1, 2, 0]))?, Some(&[2, 1, 0]))?;
        let flat = ops::reshape(&ops::reshape(&x[0], [6, 4])?, [24])?;
        let broadcast = ops::broadcast_to(&ops::expand_dims(&x[1], &[0])?, [5, 4])?;
        let broadcast = Array::record_one(Broadcast { shape: [2, 5, 4].into() }, &[&broadcast])?;
        Ok(vec![transposed, flat, broadcast])
    };
    check_simple(
        f,
        &[ramp([2, 3, 4]), ramp([4])],
        "%0 : float32[2,3,4]
         %1 : float32[4]
         %2 = transpose %0 : float32[2,4,3]
         %3 = reshape %0 : float32[24]
         %4 = broadcast_to %1 : float32[2,5,4]
         return %2 %3 %4",
    );
    let sliced = |x: &Array| {
        let every_second = |x: &Array, length: usize| {
            let starts = [x.size() - 1].into_iter().collect();
            let window = Window { starts, steps: [-2].into_iter().collect(), lengths: [length].into() };
            Array::record_one(Slice { window: Box::new(window), shape: [length].into() }, &[x])
        };
        every_second(&every_second(x, 4)?, 2)
    };
    check_simple(
        one(sliced),
        &[ramp([8])],
        "%0 : float32[8]
         %1 = slice %0 : float32[2]
         return %1",
    );
}

#[test]
fn lossless_intermediate_casts_are_removed() {
    let cast_twice =
        |intermediate: DType, to: DType| one(move |x| ops::astype(&ops::astype(x, intermediate)?, to));
    check_simple(
        cast_twice(DType::Float32, DType::Float64),
        &[ops::astype(&ramp([3]), DType::Float16).unwrap()],
        "%0 : float16[3]
         %1 = astype %0 : float64[3]
         return %1",
    );
    check_simple(
        cast_twice(DType::Int32, DType::Float32),
        &[ramp([3])],
        "%0 : float32[3]
         %1 = astype %0 : int32[3]
         %2 = astype %1 : float32[3]
         return %2",
    );
}

#[test]
fn random_bits_of_one_key_are_merged() {
    let draw = |key: &Array| {
        let (low, high) = (scalar(0.0), scalar(1.0));
        ops::random::uniform(&low, &high, [3], DType::Float32, Some(key))
    };
    let traced = traced(one(|key| ops::add(&draw(key)?, &draw(key)?)), &[ops::random::key(3).unwrap()]);
    let bits =
        |program: &Program| program.steps.iter().filter(|step| step.op.name() == "random_bits").count();
    assert_eq!(bits(traced.program()), 2);
    assert_eq!(bits(&simplify(traced.program()).unwrap()), 1);
}

#[test]
fn adjacent_elementwise_steps_are_fused() {
    let f = one(|x| {
        let e = ops::exp(&(x * 0.5 - 0.25))?;
        let sum = Array::record_one(Reduce { kind: ReduceKind::Sum, axes: Axes::one(1) }, &[&e])?;
        ops::add(&ops::divide(&e, &sum)?, &ops::square(&ops::tanh(x)?)?)
    });
    let graph = traced(f, &[ramp([3, 4])]).compile().unwrap();
    check(
        graph.program(),
        "%0 : float32[3,4]
         %1 = multiply %0 0.5 : float32[3,4]
         %2 = subtract %1 0.25 : float32[3,4]
         %3 = exp %2 : float32[3,4]
         %4 = sum %3 : float32[3,1]
         %5 = broadcast_to %4 : float32[3,4]
         %6 = divide %3 %5 : float32[3,4]
         %7 = tanh %0 : float32[3,4]
         %8 = square %7 : float32[3,4]
         %9 = add %6 %8 : float32[3,4]
         return %9",
    );
    check(
        graph.fused_program(),
        "%0 : float32[3,4]
         %1 = fused(0.5, multiply v0 v1, 0.25, subtract v2 v3, exp v4) %0 : float32[3,4]
         %2 = sum %1 : float32[3,1]
         %3 = fused(divide v0 v1, tanh v2, square v4, add v3 v5) %1 %2 %0 : float32[3,4]
         return %3",
    );
}

/// Check the fused program of a function, and that its results are bitwise equal to those of the function.
#[track_caller]
fn check_fused(f: impl Fn(&[Array]) -> Result<Vec<Array>>, arguments: &[Array], expected: &str) {
    let graph = traced(&f, arguments).compile().unwrap();
    check(graph.fused_program(), expected);
    let compiled = graph.call(arguments).unwrap();
    for (actual, expected) in compiled.iter().zip(f(arguments).unwrap()) {
        assert_eq!(values::<f32>(actual), values::<f32>(&expected));
    }
    // Also against the unfused program.
    let plain = graph.program().replay(arguments).unwrap();
    for (actual, expected) in compiled.iter().zip(plain) {
        assert_eq!(values::<f32>(actual), values::<f32>(&expected));
    }
}

#[test]
fn products_fuse_with_the_region_that_reads_them() {
    let layer = |x: &[Array]| ops::tanh(&ops::add(&ops::matmul(&x[0], &x[1])?, &x[2])?);
    check_fused(
        |x| Ok(vec![layer(x)?]),
        &[ramp([3, 4]), ramp([4, 5]), ramp([5])],
        "%0 : float32[3,4]
         %1 : float32[4,5]
         %2 : float32[5]
         %3 = fused(matmul; add v0 v1, tanh v2) %0 %1 %2 : float32[3,5]
         return %3",
    );
    // A batched operand is flattened to rows, and a residual connection is fused too.
    check_fused(
        |x| Ok(vec![ops::add(&x[3], &layer(x)?)?]),
        &[ramp([2, 3, 4]), ramp([4, 5]), ramp([5]), ramp([2, 3, 5])],
        "%0 : float32[2,3,4]
         %1 : float32[4,5]
         %2 : float32[5]
         %3 : float32[2,3,5]
         %4 = reshape %0 : float32[6,4]
         %5 = fused(matmul; add v0 v1, tanh v3, add v2 v4) %4 %1 %2 %3 : float32[2,3,5]
         return %5",
    );
}

#[test]
fn products_with_other_readers_are_not_fused() {
    check_fused(
        |x| {
            let product = ops::matmul(&x[0], &x[1])?;
            Ok(vec![ops::tanh(&product)?, product])
        },
        &[ramp([3, 4]), ramp([4, 5])],
        "%0 : float32[3,4]
         %1 : float32[4,5]
         %2 = matmul %0 %1 : float32[3,5]
         %3 = fused(tanh v0) %2 : float32[3,5]
         return %3 %2",
    );
    // The two products are one common subexpression, which only the region reads.
    check_fused(
        |x| {
            let tall = ops::reshape(&ops::matmul(&x[0], &x[1])?, [3, 5])?;
            Ok(vec![ops::multiply(&tall, &ops::matmul(&ops::reshape(&x[0], [3, 4])?, &x[1])?)?])
        },
        &[ramp([1, 3, 4]), ramp([4, 5])],
        "%0 : float32[1,3,4]
         %1 : float32[4,5]
         %2 = reshape %0 : float32[3,4]
         %3 = fused(matmul; multiply v0 v0) %2 %1 : float32[3,5]
         return %3",
    );
}

#[test]
fn dead_code_is_removed() {
    let f = one(|x| {
        ops::exp(&ops::sum(x, None, KeepAxes::No)?)?;
        Ok(x * 2.0)
    });
    check_simple(
        f,
        &[ramp([2])],
        "%0 : float32[2]
         %1 = multiply %0 2.0 : float32[2]
         return %1",
    );
}

/// A layer that transposes its weight: the traces capture different arrays.
fn layer(x: &Array, weight: &Array) -> Result<Array> {
    let y = ops::tanh(&ops::matmul(x, &ops::transpose(weight, None)?)?)?;
    ops::softmax(&y, Some(&[-1]), ops::Precision::Native)
}

#[test]
fn a_shape_generic_trace_covers_lengths_confirmed_by_a_second_trace() {
    let weight = ramp([5, 4]);
    let f = one(|x| layer(x, &weight));
    let generic_trace = ShapeGenericTrace::new(traced(&f, &[ramp([3, 4])]));
    let other = ramp([7, 4]);
    assert!(generic_trace.graph(std::slice::from_ref(&other)).is_none());
    generic_trace.learn(&traced(&f, std::slice::from_ref(&other)));
    for shape in [[7, 4], [9, 4], [3, 4]] {
        let x = ramp(shape);
        let actual =
            generic_trace.graph(std::slice::from_ref(&x)).unwrap().call(std::slice::from_ref(&x)).unwrap();
        assert_eq!(values::<f32>(&actual[0]), values::<f32>(&layer(&x, &weight).unwrap()));
    }
    // Not confirmed for other lengths of the last axis, nor for lengths one and zero.
    for shape in [[3, 5], [1, 4], [0, 4]] {
        assert!(generic_trace.graph(&[ramp(shape)]).is_none());
    }
    for rows in [0, 1] {
        assert!(generic_trace.learn(&traced(&f, &[ramp([rows, 4])])));
        assert!(generic_trace.graph(&[ramp([rows, 4])]).is_some());
    }
}

#[test]
fn a_shape_generic_trace_rejects_lengths_that_became_constants() {
    let f = one(|x| {
        let length = Array::from(x.shape()[0] as f32);
        ops::divide(&ops::sum(x, Some(&[0]), KeepAxes::No)?, &length)
    });
    let generic_trace = ShapeGenericTrace::new(traced(&f, &[ramp([4, 3])]));
    generic_trace.learn(&traced(&f, &[ramp([5, 3])]));
    assert!(generic_trace.graph(&[ramp([5, 3])]).is_none());
    generic_trace.learn(&traced(&f, &[ramp([4, 6])]));
    assert!(generic_trace.graph(&[ramp([4, 7])]).is_some());
    assert!(generic_trace.graph(&[ramp([5, 7])]).is_none());
}

#[test]
fn merged_axes_are_split_again_in_other_shapes() {
    let (weight, bias) = (ramp([4, 5]), ramp([5]));
    let f = one(|x| ops::add(&ops::matmul(x, &weight)?, &bias));
    let generic_trace = ShapeGenericTrace::new(traced(&f, &[ramp([2, 3, 4])]));
    generic_trace.learn(&traced(&f, &[ramp([6, 7, 4])]));
    assert_eq!(generic_trace.free().long, [[(0, 0)], [(0, 1)]]);
    let graph = generic_trace.graph(&[ramp([3, 2, 4])]).unwrap();
    check(
        graph.program(),
        "%0 : float32[3,2,4]
         %1 : float32[4,5]
         %2 : float32[5]
         %3 = broadcast_to %2 : float32[3,2,5]
         %4 = reshape %0 : float32[6,4]
         %5 = matmul %4 %1 : float32[6,5]
         %6 = reshape %5 : float32[3,2,5]
         %7 = add %6 %3 : float32[3,2,5]
         return %7",
    );
}

#[test]
fn failed_refinement_names_the_operation() {
    let program = traced(one(|x| ops::reshape(x, [2, 3, 4])), &[ramp([6, 4])]).program().clone();
    let refined = |rows: usize| program.refined(&[ramp([rows, 4]).spec().clone()]);
    assert_eq!(refined(6).unwrap(), program);
    assert!(refined(8).unwrap_err().to_string().contains("[reshape]"));
    assert!(program.refined(&[]).is_err());
}

#[test]
fn variances_are_shape_generic() {
    let f = one(|x| ops::var(x, Some(&[0]), KeepAxes::No, 1));
    let generic_trace = ShapeGenericTrace::new(traced(&f, &[ramp([4, 3])]));
    assert!(generic_trace.learn(&traced(&f, &[ramp([9, 3])])));
    for rows in [2, 5, 40] {
        let x = ramp([rows, 3]);
        let actual =
            generic_trace.graph(std::slice::from_ref(&x)).unwrap().call(std::slice::from_ref(&x)).unwrap();
        assert_eq!(values::<f32>(&actual[0]), values::<f32>(&f(std::slice::from_ref(&x)).unwrap()[0]));
    }
}

#[test]
fn slice_bounds_are_anchored_at_an_end_of_the_axis() {
    let slices: [fn(&Array) -> Result<Array>; 4] =
        [|x| x.get(s![1..]), |x| x.get(s![..-1]), |x| x.get(s![-2..]), |x| x.get(s![..3])];
    for slice in slices {
        let f = one(slice);
        let generic_trace = ShapeGenericTrace::new(traced(&f, &[ramp([5, 2])]));
        assert!(generic_trace.learn(&traced(&f, &[ramp([11, 2])])));
        for rows in [3, 4, 8] {
            let x = ramp([rows, 2]);
            let actual = generic_trace
                .graph(std::slice::from_ref(&x))
                .unwrap()
                .call(std::slice::from_ref(&x))
                .unwrap();
            assert_eq!(values::<f32>(&actual[0]), values::<f32>(&slice(&x).unwrap()));
        }
    }
    let f = one(|x| x.get(s![-4..]));
    let generic_trace = ShapeGenericTrace::new(traced(&f, &[ramp([5, 2])]));
    assert!(generic_trace.learn(&traced(&f, &[ramp([11, 2])])));
    // A slice whose start is clipped is not the same slice.
    assert!(generic_trace.graph(&[ramp([3, 2])]).is_none());
}
