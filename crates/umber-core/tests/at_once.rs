//! What is computed without a plan, and what waits for one.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::sync::{Mutex, PoisonError};

use common::{ramp, values};
use umber_core::compile::compile;
use umber_core::eval::at_once;
use umber_core::{Array, Result, ops};
use umber_types::KeepAxes;

/// Nothing is computed at once while another thread makes a plan, as other tests do.
static PLANNING: Mutex<()> = Mutex::new(());

type Function = fn(&[Array]) -> Result<Vec<Array>>;

/// A call of a compiled function, which is to be the same as a call of `f`.
fn called(f: Function, arguments: &[Array]) -> (Vec<Array>, Vec<Vec<f32>>) {
    let outputs = compile(f)(arguments).unwrap();
    let expected = f(arguments).unwrap().iter().map(values).collect();
    (outputs, expected)
}

#[test]
fn regions_of_few_elements_are_computed_at_once() {
    let _planning = PLANNING.lock().unwrap_or_else(PoisonError::into_inner);
    let functions: [Function; 3] = [
        |x| Ok(vec![&x[0] * &x[1] + 1.0]),
        // Two outputs of one node.
        |x| Ok(vec![&x[0] + &x[1], (&x[0] + &x[1]) * 2.0]),
        |x| Ok(vec![ops::sum(&(&x[0] * &x[1] + 0.5), Some(&[1]), KeepAxes::No)?]),
    ];
    for f in functions {
        let arguments = [ramp([4, 3]), ramp([3])];
        let (outputs, expected) = called(f, &arguments);
        assert!(outputs.iter().all(|output| !output.is_evaluated()), "a call only records");
        assert!(at_once(&outputs[0]));
        for (output, expected) in outputs.iter().zip(expected) {
            assert!(output.is_evaluated() && output.node().inputs().is_empty());
            assert_eq!(values::<f32>(output), expected);
        }
        assert_eq!(values::<f32>(&arguments[0]), values::<f32>(&ramp([4, 3])), "nothing is written over");
    }
}

#[test]
fn what_is_large_or_lacks_inputs_waits() {
    let _planning = PLANNING.lock().unwrap_or_else(PoisonError::into_inner);
    let f: Function = |x| Ok(vec![(&x[0] + 1.0) * &x[0]]);
    let (outputs, expected) = called(f, &[ramp([100, 100])]);
    assert!(!at_once(&outputs[0]) && !outputs[0].is_evaluated());
    assert_eq!(values::<f32>(&outputs[0]), expected[0]);

    let pending = ramp([4]) + 1.0;
    let output = compile(f)(&[pending.clone()]).unwrap().remove(0);
    assert!(!at_once(&output) && !output.is_evaluated() && !pending.is_evaluated());
    assert_eq!(values::<f32>(&output), values::<f32>(&f(&[pending]).unwrap()[0]));
}

#[test]
fn many_steps_on_some_elements_wait() {
    let _planning = PLANNING.lock().unwrap_or_else(PoisonError::into_inner);
    let f: Function = |x| {
        let step = |made: Array, _| ops::tanh(&(made + &x[0]));
        Ok(vec![(0..20).try_fold(x[0].clone(), step)?])
    };
    let (outputs, expected) = called(f, &[ramp([1000])]);
    assert!(!at_once(&outputs[0]));
    assert_eq!(values::<f32>(&outputs[0]), expected[0]);
}
