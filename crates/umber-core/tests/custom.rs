//! Custom functions, checkpoints and Jacobians from Rust, and traces that cross threads.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{array, ramp, values};
use umber_core::compile::compile;
use umber_core::ops;
use umber_core::transforms::{
    Batched, checkpoint, custom_function, grad, hessian, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp,
    vmap,
};
use umber_core::{Array, DType, Error, KeepAxes, Result, eval};

fn total(x: &Array) -> Result<Array> {
    ops::sum(x, None, KeepAxes::No)
}

#[test]
fn custom_rules_compose_with_all_transforms() {
    let tenfold = || {
        custom_function(|x: &[Array]| Ok(vec![ops::square(&x[0])?]))
            .vjp(|x, ct, _| Ok(vec![Some(&ct[0] * &x[0] * 20.0)]))
            .jvp(|x, t| Ok(vec![t[0].as_ref().map(|t| t * &x[0] * 20.0)]))
    };
    let x = array(&[1.0f32, 2.0, 3.0], [3]);
    let expected = [20.0, 40.0, 60.0];
    let f = tenfold();
    let gradient = grad(|x| total(&f.call(std::slice::from_ref(x))?[0]))(&x).unwrap();
    assert_eq!(values::<f32>(&gradient), expected);
    let (_, pushed) = jvp(|x| f.call(x), std::slice::from_ref(&x), &[array(&[1.0f32; 3], [3])]).unwrap();
    assert_eq!(values::<f32>(&pushed[0]), expected);
    let f = tenfold();
    let batched = vmap(move |x: &[Array]| f.call(x), &[Some(0)], &[Some(0)]);
    let gradient = grad(|x| total(&batched(std::slice::from_ref(x))?[0]))(&x).unwrap();
    assert_eq!(values::<f32>(&gradient), expected);
    let (_, pushed) = jvp(|x| batched(x), std::slice::from_ref(&x), &[array(&[1.0f32; 3], [3])]).unwrap();
    assert_eq!(values::<f32>(&pushed[0]), expected);
    let f = tenfold();
    let compiled = compile(move |x: &[Array]| f.call(x));
    let gradient = grad(|x| total(&compiled(std::slice::from_ref(x))?[0]))(&x).unwrap();
    assert_eq!(values::<f32>(&gradient), expected);
    assert_eq!(values::<f32>(&compiled(&[x]).unwrap()[0]), [1.0, 4.0, 9.0]);
}

#[test]
fn vmap_uses_the_custom_rule() {
    let f = custom_function(|x: &[Array]| Ok(vec![x[0].clone()]))
        .vmap(|x| Ok(vec![Batched::yes(&x[0].array * 5.0)]));
    let batched = vmap(move |x: &[Array]| f.call(x), &[Some(0)], &[Some(0)]);
    assert_eq!(values::<f32>(&batched(&[array(&[1.0f32, 2.0], [2])]).unwrap()[0]), [5.0, 10.0]);
}

#[test]
fn invalid_results_of_rules_are_errors() {
    let x = ramp([3]);
    let f = custom_function(|x: &[Array]| Ok(vec![x[0].clone()]))
        .vjp(|_, _, _| Ok(vec![]))
        .jvp(|_, _| Ok(vec![Some(ramp([2]))]))
        .vmap(|_| Ok(vec![Batched::yes(ramp([7]))]));
    let starts_with = |error: Error, prefix: &str| {
        assert!(error.to_string().starts_with(prefix), "{error}");
    };
    let error = vjp(|x| f.call(x), std::slice::from_ref(&x), std::slice::from_ref(&x)).unwrap_err();
    starts_with(
        error,
        "[custom_function] the vjp rule returned 0 values, expected one for each of 1 arguments",
    );
    let error = jvp(|x| f.call(x), std::slice::from_ref(&x), std::slice::from_ref(&x)).unwrap_err();
    starts_with(error, "[custom_function] the jvp rule returned shape (2,) for output 0, expected (3,)");
    let error = vmap(|x: &[Array]| f.call(x), &[Some(0)], &[Some(0)])(&[x]).unwrap_err();
    starts_with(
        error,
        "[custom_function] the vmap rule returned shape (7,) for output 0, expected () for each of 3 batch elements",
    );
}

#[test]
fn checkpoints_have_the_same_gradients() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let w = ramp([2, 2]);
    let weights = w.clone();
    let f = checkpoint(move |x: &[Array]| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(vec![ops::tanh(&ops::matmul(&x[0], &weights)?)?])
    });
    let plain = |x: &[Array]| total(&ops::tanh(&ops::matmul(&x[0], &w)?)?);
    let x = ramp([3, 2]);
    let (value, gradients) = value_and_grad(|x| total(&f(x)?[0]), &[0])(std::slice::from_ref(&x)).unwrap();
    let (expected, expected_gradients) = value_and_grad(plain, &[0])(std::slice::from_ref(&x)).unwrap();
    eval(&[value.clone(), gradients[0].clone()]).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(values::<f32>(&value), values::<f32>(&expected));
    assert_eq!(values::<f32>(&gradients[0]), values::<f32>(&expected_gradients[0]));
    let twice = grad(|x| total(&grad(|x| total(&f(std::slice::from_ref(x))?[0]))(x)?))(&x).unwrap();
    let expected = grad(|x| total(&grad(|x| plain(std::slice::from_ref(x)))(x)?))(&x).unwrap();
    for (a, b) in values::<f32>(&twice).iter().zip(values::<f32>(&expected)) {
        assert!((a - b).abs() < 1e-5);
    }
}

#[test]
fn gradients_of_values_computed_on_another_thread() {
    let on_thread = |x: &Array| -> Array {
        let x = x.clone();
        std::thread::spawn(move || {
            let y = &x * &x;
            y.eval().unwrap();
            y
        })
        .join()
        .unwrap()
    };
    let gradient = grad(|x| total(&on_thread(x)))(&array(&[1.0f32, 2.0], [2])).unwrap();
    assert_eq!(values::<f32>(&gradient), [2.0, 4.0]);
}

#[test]
fn forward_and_reverse_mode_jacobians_are_equal() {
    let f = |x: &[Array]| Ok(vec![ops::outer(&ops::sin(&x[0])?, &x[1])?, total(&x[0])?]);
    let inputs = [ramp([3]), ramp([2])];
    let (rows, columns) = (jacrev(f)(&inputs).unwrap(), jacfwd(f)(&inputs).unwrap());
    for (row, column) in rows.iter().flatten().zip(columns.iter().flatten()) {
        assert_eq!(row.spec(), column.spec());
        assert_eq!(values::<f32>(row), values::<f32>(column));
    }
    assert_eq!(rows[0][1].shape(), &umber_core::Shape::from([3, 2, 2]));
    let second = hessian(|x: &[Array]| total(&(&x[0] * &x[0] * &x[0])))(&[ramp([2])]).unwrap();
    let x = values::<f32>(&ramp([2]));
    assert_eq!(values::<f32>(&second[0][0]), [6.0 * x[0], 0.0, 0.0, 6.0 * x[1]]);
    let (_, linear) = linearize(|x| Ok(vec![ops::square(&x[0])?]), &[ramp([2])]).unwrap();
    assert!(linear.call(&[ramp([3])]).is_err());
    assert_eq!(linear.call(&[ops::ones([2], DType::Int32)]).unwrap()[0].dtype(), DType::Float32);
}
