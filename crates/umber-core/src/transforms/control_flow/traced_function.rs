//! A function traced once on placeholders.

use umber_types::{DType, Result, Shape};

use super::{Closed, Construct};
use crate::graph::tracing::{self, BatchIndex, BatchIndexGuard};
use crate::graph::{Array, ArraySpec};
use crate::primitives::control_flow::Body;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{add, constant};
use crate::transforms::Trace;
use crate::transforms::trace::{Tape, check_like};

/// Names an array of a tree by its path, for a front end's errors.
pub type LeafName<'a> = &'a dyn Fn(usize) -> String;

/// A trace of a function in progress: run it on `trace.inputs`.
#[derive(Debug)]
pub struct TracedFunction {
    /// The arguments, without values.
    pub trace: Trace,
    pub(super) construct: Construct,
    /// Placeholder for the index of the iteration, for random draws without a key. `None` if the function has an index argument.
    counter: Option<Array>,
    batch_index: Option<BatchIndexGuard>,
}

/// The source of the iteration index.
pub(super) enum Counter {
    /// No iterations.
    None,
    /// An additional argument, if it is needed.
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

    /// Whether one of `outputs` depends on the index of the iteration.
    pub(super) fn counts(&self, outputs: &[Array]) -> bool {
        self.counter.as_ref().is_some_and(|index| {
            let tape = Tape::traced(std::slice::from_ref(index), outputs);
            !tape.nodes.is_empty()
        })
    }

    /// The body. If `position` is set, the iteration index is inserted as that argument, and its successor as that output.
    pub(super) fn end(self, mut outputs: Vec<Array>, position: Option<usize>) -> Result<Closed> {
        drop(self.batch_index);
        let mut placeholders = self.trace.inputs.clone();
        if let (Some(position), Some(index)) = (position, &self.counter) {
            placeholders.insert(position, index.clone());
            outputs.insert(position, add(index, &constant(index, 1.0))?);
        }
        Ok(Body::close(&placeholders, &outputs))
    }

    /// As [`TracedFunction::end`], for a function that does not return the iteration index.
    pub(super) fn end_condition_trace(self, outputs: &[Array], position: Option<usize>) -> Closed {
        drop(self.batch_index);
        let mut placeholders = self.trace.inputs.clone();
        if let (Some(position), Some(index)) = (position, &self.counter) {
            placeholders.insert(position, index.clone());
        }
        Body::close(&placeholders, outputs)
    }
}

/// Check that a carry keeps its number of arrays, shapes and dtypes.
pub(super) fn check_carry(
    construct: Construct,
    got: &[Array],
    expected: &[Array],
    name: LeafName<'_>,
) -> Result<()> {
    let returned = "the function returned a carry of";
    check_like(construct.name(), returned, got, expected, |i, property, got, expected| {
        let name = name(i);
        format!(
            "the function returned {name} with {property} {got}, expected {property} {expected}: a carry must keep its \
             {property}s"
        )
    })
}
