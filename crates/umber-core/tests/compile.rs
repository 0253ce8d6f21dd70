//! Compile: values and derivatives of compiled functions, trace caching, composition with other transforms.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

#[path = "common/calculus.rs"]
mod calculus;

use std::cell::Cell;
use std::ops::Mul;
use std::sync::Arc;

use calculus::{assert_close, numbers, sample_values, total, weighted, weights};
use common::{array, ramp, values};
use umber_core::compile::{self, CompiledGraph, compile};
use umber_core::graph::ArrayInternals;
use umber_core::graph::tracing::Lengths;
use umber_core::graph::walk::topological;
use umber_core::primitives::reduce::Reduce;
use umber_core::primitives::reshape::Reshape;
use umber_core::primitives::transpose::Transpose;
use umber_core::transforms::{grad, jvp, vmap};
use umber_core::{Array, Axes, DType, Result, Shape, ops};
use umber_types::{ErrorKind, ReduceKind};

fn sum(axis: usize, x: &Array) -> Result<Array> {
    Array::record_one(Reduce { kind: ReduceKind::Sum, axes: Axes::one(axis) }, &[x])
}

/// Two elementwise regions around a reduction.
fn program(x: &Array) -> Result<Array> {
    let e = ops::exp(&(x * 0.5 - 0.25))?;
    ops::add(&(&e / sum(1, &e)?), &ops::square(&ops::tanh(x)?)?)
}

/// `f` as a function of lists of arrays.
fn listed(f: impl Fn(&Array) -> Result<Array>) -> impl Fn(&[Array]) -> Result<Vec<Array>> {
    move |x| Ok(vec![f(&x[0])?])
}

/// A compiled function of one array.
fn compiled(f: impl Fn(&Array) -> Result<Array>) -> impl Fn(&Array) -> Result<Array> {
    let call = compile(listed(f));
    move |x| Ok(call(std::slice::from_ref(x))?.remove(0))
}

/// The graph of `f` for arguments with the spec of `x`.
fn graph_of(f: impl Fn(&Array) -> Result<Array>, x: &Array) -> CompiledGraph {
    let tracing = compile::begin(std::slice::from_ref(x), Lengths::Fixed);
    let outputs = [f(&tracing.trace.inputs[0]).unwrap()];
    tracing.end(&outputs).compile().unwrap()
}

/// The names of the nodes of a call's graph, without leaves.
fn names(graph: &CompiledGraph, x: &Array) -> Vec<&'static str> {
    let outputs = graph.call(std::slice::from_ref(x)).unwrap();
    let nodes = topological(&outputs);
    nodes.iter().filter(|node| !node.inputs().is_empty()).map(|node| node.op().name()).collect()
}

#[test]
fn compiled_functions_compute_the_same_values() {
    let call = compiled(program);
    for scale in [1.0, -2.0, 0.5] {
        let x = sample_values([3, 4], -1.0, 1.0) * scale;
        assert_close(&numbers(&call(&x).unwrap()), &numbers(&program(&x).unwrap()), 1e-12, "compiled");
    }
}

#[test]
fn a_function_is_traced_once_per_spec() {
    let traced = Cell::new(0);
    let call = compiled(|x| {
        traced.set(traced.get() + 1);
        Ok(x * x)
    });
    for _ in 0..3 {
        assert_eq!(values::<f32>(&call(&array(&[3.0f32], [1])).unwrap()), [9.0]);
    }
    assert_eq!(traced.get(), 1);
    assert_eq!(values::<f32>(&call(&array(&[3.0f32, 2.0], [2])).unwrap()), [9.0, 4.0]);
    assert_eq!(values::<i32>(&call(&array(&[3i32], [1])).unwrap()), [9]);
    assert_eq!(traced.get(), 3);
    assert_eq!(values::<f32>(&call(&array(&[5.0f32], [1])).unwrap()), [25.0]);
    assert_eq!(traced.get(), 3);
}

#[test]
fn elementwise_regions_become_single_nodes() {
    let x = sample_values([3, 4], -1.0, 1.0);
    let graph = graph_of(program, &x);
    assert_eq!(names(&graph, &x), ["fused", "sum", "fused"]);
}

#[test]
fn a_reduction_ends_a_region() {
    let x = sample_values([3, 4], -1.0, 1.0);
    let centred = |x: &Array| {
        let mean = sum(1, x)? * 0.25;
        sum(1, &ops::square(&ops::subtract(x, &mean)?)?)
    };
    assert_eq!(names(&graph_of(centred, &x), &x), ["sum", "fused", "fused"]);
    // A value that is read by more than the reduction is stored.
    let shared = |x: &Array| {
        let y = ops::exp(x)?;
        ops::add(&y, &sum(1, &y)?)
    };
    assert_eq!(names(&graph_of(shared, &x), &x), ["fused", "sum", "fused"]);
    let call = compiled(centred);
    assert_close(&numbers(&call(&x).unwrap()), &numbers(&centred(&x).unwrap()), 1e-6, "value");
    let expected = grad(|x| total(&centred(x)?))(&x).unwrap();
    let from_compiled = grad(|x| total(&call(x)?))(&x).unwrap();
    assert_close(&numbers(&from_compiled), &numbers(&expected), 1e-6, "grad(compile)");
}

#[test]
fn common_subexpressions_and_identities_are_eliminated() {
    let x = ramp([2, 3]);
    let twice = |x: &Array| ops::add(&sum(0, x)?, &sum(0, x)?);
    assert_eq!(names(&graph_of(twice, &x), &x), ["sum", "fused"]);
    // Inverse transposes and reshapes cancel; a product with one and the subtraction of zero are identities.
    let identity = |x: &Array| {
        let transpose = |x: &Array| Array::record_one(Transpose { permutation: [1, 0].into() }, &[x]);
        let y = transpose(&transpose(x)?)?;
        let reshape = |x: &Array, shape: Shape| Array::record_one(Reshape { shape }, &[x]);
        let y = reshape(&reshape(&y, [6].into())?, [2, 3].into())?;
        ops::subtract(&(y * 1.0), &Array::scalar(0.0, DType::Float32))
    };
    let graph = graph_of(identity, &x);
    let outputs = graph.call(&[x.clone()]).unwrap();
    assert!(outputs[0].is_same(&x));
    // The addition of zero is not an identity: -0 + 0 is +0.
    let minus_zero = array(&[-0.0f32], [1]);
    let graph = graph_of(|x| Ok(x + 0.0), &minus_zero);
    let sum = graph.call(&[minus_zero]).unwrap().remove(0);
    assert_eq!(values::<f32>(&sum)[0].to_bits(), 0);
}

#[test]
fn dead_code_is_not_computed() {
    let x = ramp([2, 3]);
    let graph = graph_of(
        |x| {
            ops::exp(&sum(0, x)?)?;
            Ok(x * 2.0)
        },
        &x,
    );
    assert_eq!(names(&graph, &x), ["fused"]);
}

#[test]
fn arguments_constants_and_captured_arrays_can_be_outputs() {
    let captured = ramp([2]);
    let call = compile(|x| {
        let range = ops::arange(0.0, 3.0, 1.0, DType::Float32)?;
        Ok(vec![x[0].clone(), captured.clone(), &captured * 2.0, range, &x[0] + &captured])
    });
    for scale in [1.0f32, 2.0] {
        let x = array(&[scale, scale], [2]);
        let outputs = call(&[x.clone()]).unwrap();
        assert!(outputs[0].is_same(&x));
        assert!(outputs[1].is_same(&captured));
        assert_eq!(values::<f32>(&outputs[2]), values::<f32>(&(&captured * 2.0)));
        assert_eq!(values::<f32>(&outputs[3]), [0.0, 1.0, 2.0]);
        assert_eq!(values::<f32>(&outputs[4]), values::<f32>(&(&x + &captured)));
    }
    let no_outputs = compile(|_| Ok(vec![]));
    assert!(no_outputs(&[]).unwrap().is_empty());
}

#[test]
fn captured_arrays_are_distinguished() {
    let (a, b) = (ops::exp(&ramp([2])).unwrap(), ops::exp(&ramp([2]).mul(2.0)).unwrap());
    let expected: Vec<f32> = values::<f32>(&a).iter().zip(values::<f32>(&b)).map(|(a, b)| a - b).collect();
    // Once evaluated, the captured arrays are leaves of equal spec.
    let call = compiled(|x| Ok(ops::multiply(x, &a)? - ops::multiply(x, &b)?));
    assert_eq!(values::<f32>(&call(&array(&[1.0f32, 1.0], [2])).unwrap()), expected);
}

#[test]
fn reading_an_argument_fails_and_ends_the_trace() {
    let call = compiled(|x| Ok(if x.item()?.as_bool() { x * 2.0 } else { x.clone() }));
    let error = call(&array(&[1.0f32], [1])).unwrap_err();
    assert!(error.kind() == ErrorKind::NoValue && error.to_string().contains("traced by compile"));
    assert_eq!(umber_core::graph::tracing::depth(), 0);
    let x = ramp([2]);
    let error = graph_of(|x| Ok(x * 2.0), &x).call(&[ramp([3])]).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().starts_with("[compile]"));
}

#[test]
fn dropping_the_function_drops_its_graphs() {
    let captured = ramp([5]);
    let node = Arc::downgrade(captured.node());
    let call = compiled(move |x| Ok(x + &captured));
    call(&ramp([5])).unwrap();
    assert!(node.upgrade().is_some());
    drop(call);
    assert!(node.upgrade().is_none());
}

#[test]
fn derivatives_of_compiled_functions() {
    let x = sample_values([3, 4], -1.0, 1.0);
    let call = compiled(program);
    // A first call without transforms, so that the graph comes from the cache.
    call(&x).unwrap();
    let expected = grad(|x| weighted(program, x))(&x).unwrap();
    let from_compiled = grad(|x| weighted(&call, x))(&x).unwrap();
    assert_close(&numbers(&from_compiled), &numbers(&expected), 1e-12, "grad(compile)");
    let second = |f: &dyn Fn(&Array) -> Result<Array>| {
        grad(|x| total(&ops::square(&grad(|x| weighted(f, x))(x)?)?))(&x).unwrap()
    };
    assert_close(&numbers(&second(&call)), &numbers(&second(&program)), 1e-10, "grad(grad(compile))");
    let pushed = |f: &dyn Fn(&Array) -> Result<Array>| {
        jvp(|x| Ok(vec![f(&x[0])?]), &[x.clone()], &[weights(x.shape())]).unwrap().1.remove(0)
    };
    assert_close(&numbers(&pushed(&call)), &numbers(&pushed(&program)), 1e-12, "jvp(compile)");
}

#[test]
fn stop_gradient_works_in_compiled_functions() {
    let call = compiled(|x| ops::multiply(x, &ops::stop_gradient(&(x * 3.0))?));
    let x = ramp([4]);
    call(&x).unwrap();
    let gradient = grad(|x| total(&call(x)?))(&x).unwrap();
    assert_eq!(values::<f32>(&gradient), values::<f32>(&(&x * 3.0)));
}

#[test]
fn compile_composes_with_grad_and_vmap() {
    let x = sample_values([3, 4], -1.0, 1.0);
    let gradient = |x: &Array| grad(|x| weighted(program, x))(x);
    let call = compiled(gradient);
    for scale in [1.0, 0.5] {
        let x = &x * scale;
        assert_close(&numbers(&call(&x).unwrap()), &numbers(&gradient(&x).unwrap()), 1e-12, "compile(grad)");
    }
    let batch = sample_values([2, 3, 4], -1.0, 1.0);
    let mapped = |f: &dyn Fn(&Array) -> Result<Array>, x: &Array| {
        Ok(vmap(|x| Ok(vec![f(&x[0])?]), &[Some(0)], &[Some(0)])(&[x.clone()])?.remove(0))
    };
    let expected = numbers(&mapped(&gradient, &batch).unwrap());
    assert_close(&numbers(&mapped(&call, &batch).unwrap()), &expected, 1e-12, "vmap(compile(grad))");
    let outer = compiled(|x| mapped(&call, x));
    assert_close(&numbers(&outer(&batch).unwrap()), &expected, 1e-12, "compile(vmap(compile(grad)))");
}

#[test]
fn a_graph_that_captured_traced_arrays_is_not_cached() {
    let (x, scale) = (ramp([3]), Cell::new(1.0));
    let inner = std::cell::RefCell::new(None::<Array>);
    let call = compiled(|x| Ok(x * inner.borrow().as_ref().expect("set before the call")));
    for factor in [1.0, 2.0] {
        scale.set(factor);
        let gradient = grad(|w| {
            inner.replace(Some(w * scale.get()));
            total(&call(&x)?)
        })(&ramp([3]))
        .unwrap();
        assert_eq!(values::<f32>(&gradient), values::<f32>(&(&x * factor)));
    }
}

#[test]
fn transforms_see_through_fused_nodes() {
    let x = sample_values([3, 4], -1.0, 1.0);
    let fused = |x: &Array| {
        let y = graph_of(program, x).fused_program().replay(std::slice::from_ref(x))?.remove(0);
        assert_eq!(y.node().op().name(), "fused");
        Ok(y)
    };
    let derivative = |f: &dyn Fn(&Array) -> Result<Array>| grad(|x| weighted(f, x))(&x).unwrap();
    assert_close(&numbers(&derivative(&fused)), &numbers(&derivative(&program)), 1e-12, "grad");
    let pushed = |f: &dyn Fn(&Array) -> Result<Array>| {
        jvp(|x| Ok(vec![f(&x[0])?]), &[x.clone()], &[weights(x.shape())]).unwrap().1.remove(0)
    };
    assert_close(&numbers(&pushed(&fused)), &numbers(&pushed(&program)), 1e-12, "jvp");
    let batch = sample_values([2, 3, 4], -1.0, 1.0);
    let mapped = |f: &dyn Fn(&Array) -> Result<Array>| {
        vmap(|x| Ok(vec![f(&x[0])?]), &[Some(0)], &[Some(0)])(&[batch.clone()]).unwrap().remove(0)
    };
    assert_close(&numbers(&mapped(&fused)), &numbers(&mapped(&program)), 1e-12, "vmap");
}

#[test]
fn calls_from_several_threads_share_the_graph() {
    let cache = compile::Cache::default();
    let x = ramp([16]);
    let graph = graph_of(|x| ops::exp(&(x * 2.0)), &x);
    cache.keep(std::slice::from_ref(&x), b"options", graph);
    assert!(cache.find(std::slice::from_ref(&x), b"others").is_none());
    let expected = values::<f32>(&ops::exp(&(&x * 2.0)).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let graph = cache.find(std::slice::from_ref(&x), b"options").unwrap();
                    assert_eq!(values::<f32>(&graph.call(std::slice::from_ref(&x)).unwrap()[0]), expected);
                }
            });
        }
    });
    assert!(cache.find(&[ramp([17])], b"options").is_none());
}

#[test]
fn a_long_chain_compiles_in_a_small_stack() {
    let run = || {
        let call = compiled(|x| {
            let mut y = x.clone();
            for i in 0..200_000 {
                y = if i % 2 == 0 { ops::negative(&y)? } else { ops::subtract(x, &y)? };
            }
            Ok(y)
        });
        // y -> x + y every second step.
        let y = call(&array(&[0.5f32], [1])).unwrap();
        assert_eq!(values::<f32>(&y), [0.5 * 100_001.0]);
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn the_cache_evicts_the_least_recently_used_graph() {
    let cache = compile::Cache::default();
    for i in 0..compile::cache::CAPACITY {
        assert!(cache.find(&[], &i.to_le_bytes()).is_none());
        cache.keep(&[], &i.to_le_bytes(), i);
    }
    assert!(cache.find(&[], &0usize.to_le_bytes()).is_some());
    assert!(cache.find(&[], b"one more").is_none());
    cache.keep(&[], b"one more", 0);
    assert_eq!(cache.len(), compile::cache::CAPACITY);
    assert!(cache.find(&[], &0usize.to_le_bytes()).is_some());
    assert!(cache.find(&[], &1usize.to_le_bytes()).is_none());
    assert!(cache.find(&[], b"one more").is_some());
}
