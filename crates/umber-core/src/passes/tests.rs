//! Small programs before and after each pass.

use smallvec::smallvec;
use umber_types::{DType, KeepAxes, Result, SortOrder, Stream};

use super::fuse::fuse;
use super::hoist::hoist;
use super::inline::inline;
use super::specs_of;
use crate::compile::{self, Traced};
use crate::graph::program::{Operand, SourceLine, Step};
use crate::graph::tracing::Lengths;
use crate::graph::{Array, Program};
use crate::op::Op;
use crate::ops;
use crate::primitives::create::{Arange, ArangeParameters};
use crate::primitives::reshape::Reshape;

fn traced(f: impl Fn(&[Array]) -> Result<Vec<Array>>, arguments: &[Array]) -> Result<Traced> {
    let tracing = compile::begin(arguments, Lengths::Fixed);
    let outputs = f(&tracing.trace.inputs)?;
    Ok(tracing.end(&outputs))
}

fn matrix(rows: usize, columns: usize) -> Result<Array> {
    let numbers: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
    Array::from_slice(&numbers, [rows, columns])
}

fn check(program: &Program, expected: &str) {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&program.to_string()), lines(expected));
}

#[test]
fn elementwise_steps_are_fused() -> Result<()> {
    let x = matrix(3, 4)?;
    let f = |x: &[Array]| {
        let scaled = ops::add(&ops::multiply(&x[0], &Array::from(2.0f32))?, &Array::from(1.0f32))?;
        Ok(vec![ops::sum(&ops::tanh(&scaled)?, Some(&[1]), KeepAxes::No)?])
    };
    let program = traced(f, &[x])?.program().clone();
    let fused = fuse(&program, &specs_of(&program)?);
    check(
        &fused.program,
        "%0 : float32[3,4]
         %1 = fused(2.0, multiply v0 v1, 1.0, add v2 v3, tanh v4) %0 : float32[3,1]
         %2 = reshape %1 : float32[3]
         return %2",
    );
    assert_eq!(fused.slots, [0, 4, 5]);
    Ok(())
}

#[test]
fn unused_steps_are_removed() -> Result<()> {
    let f = |x: &[Array]| Ok(vec![ops::exp(&x[0])?, ops::sort(&x[0], Some(0), SortOrder::Ascending)?]);
    let mut program = traced(f, &[matrix(2, 2)?])?.program().clone();
    program.outputs.truncate(1);
    assert_eq!(fuse(&program, &specs_of(&program)?).program.steps.len(), 1);
    Ok(())
}

#[test]
fn fused_steps_are_inlined_and_fused_with_their_neighbours() -> Result<()> {
    let x = matrix(40, 40)?;
    let inner = traced(|x| Ok(vec![ops::tanh(&ops::multiply(&x[0], &x[0])?)?]), std::slice::from_ref(&x))?
        .compile()?;
    let outer = |x: &[Array]| {
        let inner_outputs = inner.fused_program().replay(&[ops::exp(&x[0])?])?;
        Ok(vec![ops::add(&inner_outputs[0], &x[0])?])
    };
    let program = traced(outer, &[x])?.program().clone();
    assert_eq!(program.steps.len(), 3);
    let Some(inlined) = inline(&program, &specs_of(&program)?)? else { panic!("a step is fused") };
    let names: Vec<&str> = inlined.program.steps.iter().map(|step| step.op.name()).collect();
    assert_eq!(names, ["exp", "multiply", "tanh", "add"]);
    assert_eq!(inlined.slots, [Some(0), Some(1), None, Some(2), Some(3)]);
    assert_eq!(inlined.roots, [0, 1, 1, 2]);
    assert_eq!(fuse(&inlined.program, &inlined.specs).program.steps.len(), 1);
    assert!(inline(&inlined.program, &inlined.specs)?.is_none());
    Ok(())
}

#[test]
fn steps_without_arguments_are_hoisted() -> Result<()> {
    let f = |x: &[Array]| Ok(vec![ops::multiply(&x[0], &ops::square(&x[1])?)?]);
    let mut program = traced(f, &[matrix(1, 4)?, matrix(1, 4)?])?.program().clone();
    assert!(hoist(&program)?.is_none());
    // A step computes the second argument instead; the step has the argument's slot.
    let parameters = ArangeParameters { start: 1.into(), step: 1.into(), length: 4, dtype: DType::Float32 };
    let reshape = Reshape { shape: [1, 4].into() };
    program.arguments.pop();
    let step =
        |op: Op, inputs| Step { op, stream: Stream::CPU, inputs, outputs: 1, origin: SourceLine::default() };
    program.steps.iter_mut().flat_map(|step| &mut step.inputs).chain(&mut program.outputs).for_each(
        |operand| {
            if let Operand::Slot(slot @ 1..) = operand {
                *slot += 1;
            }
        },
    );
    let new_steps = [
        step(Arange(Box::new(parameters)).into(), smallvec![]),
        step(reshape.into(), smallvec![Operand::Slot(1)]),
    ];
    program.steps.splice(0..0, new_steps);
    let Some(hoisted) = hoist(&program)? else { panic!("a step has no inputs") };
    assert_eq!(hoisted.arrays.last().map(Array::to_vec::<f32>).transpose()?, Some(vec![1.0, 4.0, 9.0, 16.0]));
    check(
        &hoisted.program,
        "%0 : float32[1,4]
         %1 : float32[4]
         %2 : float32[1,4]
         %3 : float32[1,4]
         %4 = multiply %0 %3 : float32[1,4]
         return %4",
    );
    Ok(())
}
