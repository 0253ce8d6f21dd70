//! Operations, transforms and control flow have the same results as on the CPU.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::time::Duration;

use common::{accelerator, array, assert_in_order, assert_same, numbers};
use umber_core::compile::compile;
use umber_core::ops::{self, Precision, ScanOrder};
use umber_core::transforms::control_flow::{ScanOptions, cond, fori_loop, map, scan, while_loop};
use umber_core::transforms::{value_and_grad, vmap};
use umber_core::types::SortOrder;
use umber_core::{Array, DType, KeepAxes, Result};
use umber_simulated::{Config, Simulated};

fn device() -> Simulated {
    accelerator(Config { seed: 3, delay: Duration::from_micros(100), ..Config::default() })
}

#[test]
fn elementwise_operations() {
    let device = device();
    assert_same("arithmetic", || {
        let (x, y) = (numbers([7, 9]), numbers([9]));
        let z = ops::tanh(&(&x * &y + 1.5))?;
        let is_large = ops::greater(&z, &Array::from(0.25f32))?;
        Ok(vec![&z - &x, ops::astype(&z, DType::Float16)?, is_large])
    });
    assert_same("several dtypes", || {
        let i = array(&[1i32, -2, 3, -4], [4]);
        Ok(vec![
            &i * &i,
            ops::astype(&i, DType::UInt8)?,
            ops::astype(&i, DType::Complex64).and_then(|z| ops::real(&z))?,
        ])
    });
    assert_in_order(&device);
}

#[test]
fn other_operations() {
    let device = device();
    assert_same("products and reductions", || {
        let (x, w) = (numbers([5, 8]), numbers([8, 6]));
        let y = ops::matmul(&x, &w)?;
        let flat = ops::reshape(&y, [30])?;
        Ok(vec![
            ops::sum(&y, Some(&[0]), KeepAxes::No)?,
            ops::argmax(&y, Some(1), KeepAxes::Yes)?,
            ops::softmax(&y, Some(&[-1]), Precision::Native)?,
            ops::sort(&flat, Some(0), SortOrder::Ascending)?,
            ops::cumsum(&y, ScanOrder::along(1), None)?,
        ])
    });
    assert_same("indexing and concatenation", || {
        let x = numbers([6, 4]);
        let rows = ops::take(&x, &array(&[5i32, 0, -1], [3]), Some(0))?;
        Ok(vec![ops::concatenate(&[&rows, &x], Some(0))?, rows])
    });
    assert_same("creation", || {
        let range = ops::arange(0.0, 12.0, 1.0, DType::Float32)?;
        Ok(vec![ops::eye(3, 4, 1, DType::Float32)?, &range + &ops::zeros([12], DType::Float32), range])
    });
    assert_same("random numbers", || {
        let key = ops::random::key(7)?;
        Ok(vec![ops::random::uniform(
            &Array::from(0.0f32),
            &Array::from(1.0f32),
            [20],
            DType::Float32,
            Some(&key),
        )?])
    });
    assert_same("decompositions", || {
        let x = numbers([4, 4]);
        let square = ops::matmul(&x, &ops::transpose(&x, None)?)? + &ops::eye(4, 4, 0, DType::Float32)?;
        Ok(vec![ops::linalg::inv(&square)?, ops::linalg::cholesky(&square, ops::linalg::Triangle::Lower)?])
    });
    assert_in_order(&device);
}

#[test]
fn views() {
    let device = device();
    assert_same("views", || {
        let x = &numbers([4, 6]) + 1.0;
        let transposed = ops::transpose(&x, None)?;
        let broadcast = ops::broadcast_to(&ops::reshape(&transposed, [6, 4, 1])?, [6, 4, 3])?;
        let halves = ops::split(&x, ops::Split::Sections(2), 1)?;
        Ok(vec![
            &halves[0] * &halves[1],
            transposed,
            broadcast,
            halves[1].clone(),
            ops::flip(&x, Some(&[1]))?,
        ])
    });
    assert_same("views of evaluated arrays", || {
        let x = &numbers([4, 6]) + 1.0;
        x.eval()?;
        let transposed = ops::transpose(&x, None)?;
        let flat = ops::reshape(&transposed, [24])?;
        Ok(vec![flat, ops::view(&x, DType::Int32)?, &transposed * 2.0])
    });
    assert_same("empty arrays", || {
        let empty = ops::zeros([0, 3], DType::Float32);
        Ok(vec![ops::sum(&empty, Some(&[0]), KeepAxes::No)?, &empty + &empty])
    });
    assert_in_order(&device);
}

/// The loss of a small perceptron.
fn loss(x: &[Array]) -> Result<Array> {
    let hidden = ops::tanh(&(ops::matmul(&x[0], &x[1])? + &x[2]))?;
    let out = ops::matmul(&hidden, &x[3])?;
    ops::mean(&ops::square(&(&out - 0.5))?, None, KeepAxes::No)
}

fn parameters() -> [Array; 4] {
    [numbers([8, 5]), numbers([5, 7]), numbers([7]), numbers([7, 2])]
}

#[test]
fn gradients() {
    let device = device();
    assert_same("value_and_grad", || {
        let (value, gradients) = value_and_grad(loss, &[1, 2, 3])(&parameters())?;
        Ok([vec![value], gradients].concat())
    });
    assert_same("gradient descent", || {
        let step = value_and_grad(loss, &[1, 2, 3]);
        let mut all = parameters();
        for _ in 0..10 {
            let (_, gradients) = step(&all)?;
            for (parameter, gradient) in all[1..].iter_mut().zip(gradients) {
                *parameter = &*parameter - &(gradient * 0.1);
            }
            umber_core::eval(&all[1..])?;
        }
        Ok(all[1..].to_vec())
    });
    assert_same("vmap", || {
        let f = |x: &[Array]| Ok(vec![ops::sum(&(&x[0] * &x[1]), None, KeepAxes::No)?]);
        vmap(f, &[Some(0), None], &[Some(0)])(&[numbers([3, 5]), numbers([5])])
    });
    assert_in_order(&device);
}

#[test]
fn compiled_functions() {
    let device = device();
    assert_same("compile", || {
        let step = compile(|x: &[Array]| {
            let (value, gradients) = value_and_grad(loss, &[1, 2, 3])(x)?;
            let update = |(x, gradient): (&Array, &Array)| x - &(gradient * 0.1);
            Ok([vec![value], x[1..].iter().zip(&gradients).map(update).collect()].concat())
        });
        let mut all = parameters().to_vec();
        let mut value = Array::from(0.0f32);
        for _ in 0..5 {
            let mut outputs = step(&all)?;
            value = outputs.remove(0);
            all.splice(1.., outputs);
        }
        Ok([vec![value], all[1..].to_vec()].concat())
    });
    assert_in_order(&device);
}

#[test]
fn loops_and_branches() {
    let device = device();
    assert_same("scan", || {
        let body = |carry: &[Array], row: &[Array]| {
            let sum = &carry[0] * 0.5 + &row[0];
            Ok((vec![sum.clone()], vec![ops::square(&sum)?]))
        };
        let init = [ops::zeros([4], DType::Float32)];
        let scanned = scan(body, &init, &[numbers([20, 4])], None, ScanOptions::default())?;
        Ok([scanned.carry, scanned.stacked].concat())
    });
    assert_same("gradient of a scan", || {
        let f = |x: &[Array]| {
            let body = |carry: &[Array], row: &[Array]| {
                Ok((vec![ops::tanh(&(&carry[0] * &x[1] + &row[0]))?], vec![]))
            };
            let scanned = scan(body, &[numbers([4])], &[x[0].clone()], None, ScanOptions::default())?;
            ops::sum(&scanned.carry[0], None, KeepAxes::No)
        };
        let (value, gradients) = value_and_grad(f, &[0, 1])(&[numbers([9, 4]), numbers([4])])?;
        Ok([vec![value], gradients].concat())
    });
    assert_same("while_loop", || {
        let is_small =
            |x: &[Array]| ops::less(&ops::sum(&x[0], None, KeepAxes::No)?, &Array::from(1000.0f32));
        while_loop(is_small, |x| Ok(vec![&x[0] * 1.5 + 1.0]), &[numbers([5])])
    });
    assert_same("fori_loop", || {
        let body = |i: &Array, carry: &[Array]| Ok(vec![&carry[0] * 0.9 + ops::astype(i, DType::Float32)?]);
        fori_loop(0.into(), 12.into(), body, &[numbers([5])], ScanOptions::default())
    });
    assert_same("map", || {
        let norm = |x: &[Array]| Ok(vec![ops::sqrt(&ops::sum(&ops::square(&x[0])?, None, KeepAxes::No)?)?]);
        map(norm, &[numbers([6, 5])])
    });
    for flag in [false, true] {
        assert_same("cond", || {
            let x = numbers([5]);
            let sum = ops::sum(&x, None, KeepAxes::No)?;
            let pred =
                if flag { ops::less(&sum, &(&sum + 1.0))? } else { ops::greater(&sum, &(&sum + 1.0))? };
            cond(&pred, |x| Ok(vec![&x[0] * 2.0]), |x| Ok(vec![&x[0] - 1.0]), &[x])
        });
    }
    assert_in_order(&device);
}

#[test]
fn results_without_kernels_are_on_the_device() {
    let device = device();
    assert_same("constants", || {
        let zeros = ops::zeros([3], DType::Float32);
        Ok(vec![&zeros + 1.0, zeros])
    });
    assert_same("constants of compiled functions", || {
        let f = compile(|x: &[Array]| Ok(vec![&x[0] * 2.0, ops::ones([2], DType::Float32)]));
        f(&[numbers([4])])
    });
    assert_same("loops without iterations", || {
        let x = &numbers([4]) + 0.0;
        let never = |x: &[Array]| ops::less(&ops::sum(&x[0], None, KeepAxes::No)?, &Array::from(-1000.0f32));
        while_loop(never, |x| Ok(vec![&x[0] * 1.5]), &[x])
    });
    assert_same("a branch without operations", || {
        let x = &numbers([4]) + 0.0;
        let pred = ops::less(&ops::sum(&x, None, KeepAxes::No)?, &Array::from(1000.0f32))?;
        cond(&pred, |x| Ok(x.to_vec()), |x| Ok(vec![&x[0] - 1.0]), &[x])
    });
    assert_same("a scan that carries a constant", || {
        let body = |carry: &[Array], row: &[Array]| {
            Ok((vec![&carry[0] + &row[0], ops::ones([4], DType::Float32)], vec![row[0].clone()]))
        };
        let zeros = ops::zeros([4], DType::Float32);
        let scanned = scan(body, &[zeros.clone(), zeros], &[numbers([3, 4])], None, ScanOptions::default())?;
        Ok([scanned.carry, scanned.stacked].concat())
    });
    assert_in_order(&device);
}

#[test]
fn results_from_host_arguments_are_on_the_device() {
    let device = device();
    assert_same("views of arrays on the host", || {
        let x = numbers([4, 6]);
        Ok(vec![ops::transpose(&x, None)? + 0.0, ops::sum(&ops::reshape(&x, [24])?, None, KeepAxes::No)?])
    });
    assert_same("loops over arrays on the host", || {
        let never = |x: &[Array]| ops::less(&ops::sum(&x[0], None, KeepAxes::No)?, &Array::from(-1000.0f32));
        while_loop(never, |x| Ok(vec![&x[0] * 1.5]), &[numbers([4])])
    });
    assert_same("a branch that returns an array on the host", || {
        let x = numbers([4]);
        let pred = ops::less(&ops::sum(&x, None, KeepAxes::No)?, &Array::from(1000.0f32))?;
        cond(&pred, |x| Ok(x.to_vec()), |x| Ok(vec![&x[0] - 1.0]), &[x])
    });
    assert_in_order(&device);
}
