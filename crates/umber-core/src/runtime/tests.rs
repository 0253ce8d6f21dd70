//! Planning of graphs, and recovery after a failed step.

use std::sync::Arc;

use umber_types::Result;

use super::pending::plan;
use crate::compile::compile;
use crate::graph::Array;
use crate::ops;

/// Number of kernels that compute an array.
fn kernels(array: &Array) -> Result<usize> {
    let pending = plan(std::slice::from_ref(array))?;
    Ok(pending.and_then(|pending| pending.plan.clone()).map_or(0, |plan| plan.len()))
}

/// A step of a random program on two square matrices.
fn stage(kind: u32, [x, y]: [&Array; 2]) -> Result<Array> {
    match kind % 8 {
        0 => ops::tanh(x),
        1 => ops::add(x, y),
        2 => ops::multiply(x, &Array::from(3.0f32)),
        3 => ops::subtract(x, &ops::max(x, Some(&[1]), umber_types::KeepAxes::Yes)?),
        4 => ops::matmul(x, y),
        // Outside of compiled functions views are created when recorded, so no stage is a view.
        5 => ops::square(x),
        6 => ops::maximum(x, y),
        _ => ops::sort(x, Some(0), umber_types::SortOrder::Ascending),
    }
}

#[test]
fn compiling_a_part_adds_no_kernels() -> Result<()> {
    let numbers: Vec<f32> = (0..40 * 40).map(|i| (i % 91) as f32 - 45.0).collect();
    let (x, y) = (Array::from_slice(&numbers, [40, 40])?, Array::from_slice(&numbers, [40, 40])?);
    let mut state = 1u32;
    let mut next = || {
        // The linear congruential generator of Numerical Recipes.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    for program in 0..250 {
        let kinds: Vec<u32> = (0..next() % 7 + 2).map(|_| next()).collect();
        let first = next() as usize % kinds.len();
        let last = first + next() as usize % (kinds.len() - first) + 1;
        let run = |from: &[u32], x: &Array| from.iter().try_fold(x.clone(), |x, &kind| stage(kind, [&x, &y]));
        let part = compile(|x: &[Array]| Ok(vec![run(&kinds[first..last], &x[0])?]));
        let before = run(&kinds[..first], &x)?;
        let compiled = run(&kinds[last..], &part(&[before])?[0])?;
        let plain = run(&kinds, &x)?;
        assert!(kernels(&compiled)? <= kernels(&plain)?, "program {program}: {kinds:?} {first}..{last}");
        assert!(compiled.equals(&plain)?, "program {program}");
    }
    Ok(())
}

#[test]
fn graphs_with_different_constants_share_a_plan() -> Result<()> {
    let x = Array::from_slice(&[1.0f32; 2000], [2000])?;
    let graph = |factor: f32, term: f32| {
        ops::tanh(&ops::add(&ops::multiply(&x, &Array::from(factor))?, &Array::from(term))?)
    };
    let plan_of = |array: Array| match plan(std::slice::from_ref(&array)) {
        Ok(Some(pending)) => pending.plan.clone().expect("an unevaluated array has a plan"),
        _ => unreachable!("not evaluated"),
    };
    let first = plan_of(graph(2.0, 1.0)?);
    assert!(Arc::ptr_eq(&first, &plan_of(graph(2.0, 1.0)?)));
    assert!(Arc::ptr_eq(&first, &plan_of(graph(3.0, 5.0)?)));
    // Equal constants share a register in a kernel, so the plan depends on which are equal.
    let equal = plan_of(graph(2.0, 2.0)?);
    assert!(!Arc::ptr_eq(&first, &equal));
    assert!(Arc::ptr_eq(&equal, &plan_of(graph(f32::NAN, f32::NAN)?)));
    // The constants of a compiled function are part of its operation.
    let part = compile(|x: &[Array]| Ok(vec![ops::multiply(&x[0], &Array::from(2.0f32))?]));
    let plus_constant =
        |term: f32| ops::add(&part(std::slice::from_ref(&x))?.swap_remove(0), &Array::from(term));
    assert!(!Arc::ptr_eq(&plan_of(plus_constant(2.0)?), &plan_of(plus_constant(3.0)?)));
    assert_eq!(plus_constant(2.0)?.to_vec::<f32>()?[0], 4.0);
    assert_eq!(plus_constant(3.0)?.to_vec::<f32>()?[0], 5.0);
    assert_eq!(graph(f32::NAN, 0.0)?.to_vec::<f32>()?[0].to_bits() & 0x7fc0_0000, 0x7fc0_0000);
    assert_eq!(graph(2.0, -2.0)?.to_vec::<f32>()?[0], 0.0);
    Ok(())
}

#[test]
fn failed_steps_restore_their_inputs() -> Result<()> {
    // When the last step fails, the product is stored in a slot only.
    let x = Array::from_slice(&[1.0f32; 2500], [50, 50])?;
    let gathered = {
        let rows = ops::astype(
            &ops::add(&ops::max(&x, Some(&[1]), umber_types::KeepAxes::No)?, &Array::from(99.0f32))?,
            umber_types::DType::Int32,
        )?;
        ops::take(
            &ops::sort(&ops::matmul(&x, &x)?, Some(0), umber_types::SortOrder::Ascending)?,
            &rows,
            Some(0),
        )?
    };
    let errors = [0; 3].map(|_| gathered.eval().expect_err("the index is out of bounds").to_string());
    assert!(errors[0].contains("100"), "{}", errors[0]);
    assert!(errors[0] == errors[1] && errors[1] == errors[2], "{errors:?}");
    Ok(())
}
