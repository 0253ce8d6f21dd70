//! Which operations are evaluated eagerly and which are recorded. The switch is global, so that this test has its own process.
#![allow(clippy::unwrap_used, reason = "tests read better so")]

mod common;

use common::{ramp, values};
use umber_core::compile::compile;
use umber_core::graph::ArrayInternals;
use umber_core::{Array, Result, eager, ops};
use umber_types::KeepAxes;

type Function = fn(&[Array]) -> Result<Vec<Array>>;

/// The outputs of a function or of its compiled form, and the values that recorded operations give.
fn called(f: Function, is_compiled: bool, arguments: &[Array]) -> (Vec<Array>, Vec<Vec<f32>>) {
    eager::enable(false);
    let expected = f(arguments).unwrap().iter().map(values).collect();
    eager::enable(true);
    let outputs = if is_compiled { compile(f)(arguments) } else { f(arguments) };
    (outputs.unwrap(), expected)
}

#[test]
fn small_arrays_are_evaluated_eagerly() {
    let functions: [Function; 4] = [
        |x| Ok(vec![&x[0] * &x[1] + 1.0]),
        |x| Ok(vec![&x[0] + &x[1], (&x[0] + &x[1]) * 2.0]),
        |x| Ok(vec![ops::sum(&(&x[0] * &x[1] + 0.5), Some(&[1]), KeepAxes::No)?]),
        |x| Ok(vec![ops::matmul(&x[0], &x[1])?, ops::tanh(&x[0])?]),
    ];
    for (f, is_compiled) in functions.into_iter().flat_map(|f| [(f, false), (f, true)]) {
        let arguments = [ramp([4, 3]), ramp([3])];
        let (outputs, expected) = called(f, is_compiled, &arguments);
        for (output, expected) in outputs.iter().zip(expected) {
            assert!(output.is_evaluated() && output.node().inputs().is_empty());
            assert_eq!(values::<f32>(output), expected);
        }
        assert_eq!(
            values::<f32>(&arguments[0]),
            values::<f32>(&ramp([4, 3])),
            "arguments are not overwritten"
        );
    }

    // Recorded instead: large arrays, unevaluated inputs, long compiled functions.
    let f: Function = |x| Ok(vec![(&x[0] + 1.0) * &x[0]]);
    for is_compiled in [false, true] {
        let (outputs, expected) = called(f, is_compiled, &[ramp([100, 100])]);
        assert!(!outputs[0].is_evaluated());
        assert_eq!(values::<f32>(&outputs[0]), expected[0]);

        eager::enable(false);
        let pending = ramp([4]) + 1.0;
        eager::enable(true);
        let arguments = std::slice::from_ref(&pending);
        let output = if is_compiled { compile(f)(arguments) } else { f(arguments) };
        let output = output.unwrap().remove(0);
        assert!(!output.is_evaluated() && !pending.is_evaluated());
        let expected = values::<f32>(&ramp([4])).into_iter().map(|x| (x + 1.0 + 1.0) * (x + 1.0));
        assert_eq!(values::<f32>(&output), expected.collect::<Vec<_>>());
    }
    let steps: Function = |x| {
        let step = |y: Array, _| ops::tanh(&(y + &x[0]));
        Ok(vec![(0..20).try_fold(x[0].clone(), step)?])
    };
    let (outputs, expected) = called(steps, true, &[ramp([1000])]);
    assert!(!outputs[0].is_evaluated());
    assert_eq!(values::<f32>(&outputs[0]), expected[0]);
}
