//! A function run once on placeholders.

use umber_types::{DType, Result, Shape, ensure};

use super::{Closed, Construct};
use crate::graph::tracing::{self, BatchIndex, BatchIndexGuard};
use crate::graph::{Array, ArraySpec};
use crate::primitives::control_flow::Body;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{add, constant};
use crate::transforms::Trace;
use crate::transforms::trace::Tape;

/// How a front end names the array with a number: by its path in a tree.
pub type LeafName<'a> = &'a dyn Fn(usize) -> String;

/// A function is being followed: run it on `trace.inputs`.
#[derive(Debug)]
pub struct TracedFunction {
    /// The arguments, without values.
    pub trace: Trace,
    pub(super) construct: Construct,
    /// Counts iterations, for draws without a key; an argument of the function's own needs no other.
    counter: Option<Array>,
    batch_index: Option<BatchIndexGuard>,
}

/// What counts the iterations.
pub(super) enum Counter {
    /// There are none.
    None,
    /// An argument more, if something needs it.
    Own,
    /// The first argument.
    First,
}

impl TracedFunction {
    pub(super) fn begin(
        construct: Construct,
        specs: impl IntoIterator<Item = ArraySpec>,
        counter: &Counter,
    ) -> TracedFunction {
        let trace = Trace::placeholders(Leaf::Body(construct), specs);
        let index = match counter {
            Counter::None => None,
            Counter::First => Some(trace.inputs[0].clone()),
            Counter::Own => {
                let spec = ArraySpec::new(Shape::scalar(), DType::UInt32);
                Some(trace.another(Leaf::Body(construct), spec))
            }
        };
        let batch_index =
            index.clone().map(|index| tracing::push_batch_index(BatchIndex { index, count: None }));
        let counter = index.filter(|_| matches!(counter, Counter::Own));
        TracedFunction { trace, construct, counter, batch_index }
    }

    /// Does one of `outputs` depend on the number of the iteration?
    pub(super) fn counts(&self, outputs: &[Array]) -> bool {
        self.counter.as_ref().is_some_and(|index| {
            let tape = Tape::traced(std::slice::from_ref(index), outputs);
            !tape.nodes.is_empty()
        })
    }

    /// The body; with the counter as argument `at` where that is given, and its successor as that output.
    pub(super) fn end(self, mut outputs: Vec<Array>, at: Option<usize>) -> Result<Closed> {
        drop(self.batch_index);
        let mut placeholders = self.trace.inputs.clone();
        if let (Some(at), Some(index)) = (at, &self.counter) {
            placeholders.insert(at, index.clone());
            outputs.insert(at, add(index, &constant(index, 1.0))?);
        }
        Ok(Body::close(&placeholders, &outputs))
    }

    /// As [`TracedFunction::end`], for a function that answers no counter.
    pub(super) fn end_condition_trace(self, outputs: &[Array], at: Option<usize>) -> Closed {
        drop(self.batch_index);
        let mut placeholders = self.trace.inputs.clone();
        if let (Some(at), Some(index)) = (at, &self.counter) {
            placeholders.insert(at, index.clone());
        }
        Body::close(&placeholders, outputs)
    }
}

/// Refuse a carry that does not stay what it was.
pub(super) fn check_carry(
    construct: Construct,
    got: &[Array],
    expected: &[Array],
    name: LeafName<'_>,
) -> Result<()> {
    let op = construct.name();
    ensure!(
        got.len() == expected.len(),
        Value(op),
        "the function returned a carry of {} arrays, expected {}",
        got.len(),
        expected.len()
    );
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        ensure!(
            got.shape() == expected.shape(),
            Value(op),
            "the function returned {} with shape {}, expected shape {}: a carry must keep its shapes",
            name(i),
            got.shape(),
            expected.shape()
        );
        ensure!(
            got.dtype() == expected.dtype(),
            Type(op),
            "the function returned {} with dtype {}, expected dtype {}: a carry must keep its dtypes",
            name(i),
            got.dtype(),
            expected.dtype()
        );
    }
    Ok(())
}
