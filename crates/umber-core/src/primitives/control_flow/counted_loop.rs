//! Loop: a function applied a known number of times.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, Shape, Stream, ensure};

use super::{Body, Construct, ControlFlow, LoweredCache, needs_evaluator};
use crate::generalization::{Change, Generalized};
use crate::graph::program::Operand;
use crate::graph::tracing::{Residuals, residuals};
use crate::graph::{Array, ArraySpec, Inputs, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule};
use crate::primitives::leaf::Leaf;
use crate::validation::Site;

/// Which end of the sequences comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// The beginning.
    Forwards,
    /// The end.
    Backwards,
}

impl Order {
    /// The other one.
    #[must_use]
    pub fn reversed(self) -> Order {
        match self {
            Order::Forwards => Order::Backwards,
            Order::Backwards => Order::Forwards,
        }
    }

    /// Which element of `length` has its turn in iteration `iteration`.
    pub fn place(self, iteration: usize, length: usize) -> usize {
        match self {
            Order::Forwards => iteration,
            Order::Backwards => length - 1 - iteration,
        }
    }
}

/// A function of `(carry…, rows…, constants…)` that answers `(carry…, terms…, rows…)`, and how often it is applied.
///
/// The operation takes `(carry…, sequences…, constants…)` and gives `(carry…, sums…, sequences…)`: each iteration gets
/// the carry of the one before and one row of every sequence; terms are added up, rows are stacked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Iteration {
    /// What users know it by.
    pub construct: Construct,
    /// The function.
    pub body: Body,
    /// How many arrays go from one iteration to the next.
    pub carry: usize,
    /// How many arrays are read row by row.
    pub rows: usize,
    /// How many outputs are summed over all iterations.
    pub sums: usize,
    /// Number of iterations.
    pub length: usize,
    /// Which row comes first.
    pub order: Order,
    /// Are the last sequences given the carries that iterations began with? The backward pass reads them.
    pub keeps: bool,
    #[serde(skip)]
    pub(crate) lowered: LoweredCache,
}

/// A function applied a known number of times.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Loop(pub Arc<Iteration>);

impl Loop {
    /// The same loop that also gives the carries its iterations began with.
    pub fn keeping(&self) -> Loop {
        if self.0.keeps {
            return self.clone();
        }
        let mut iteration = Iteration::clone(&self.0);
        for place in 0..iteration.carry {
            iteration.body.program.outputs.push(Operand::Slot(place as u32));
            iteration.body.outputs.push(iteration.body.program.arguments[place].clone());
        }
        iteration.keeps = true;
        Loop(iteration.into())
    }

    /// Record it; with residuals beside its outputs, if the derivative that is being traced will want them.
    pub fn record_on(&self, inputs: Inputs, stream: Stream) -> Result<SmallVec<[Array; 1]>> {
        let is_wanted = residuals() == Residuals::Kept && self.0.carry > 0 && !self.0.keeps;
        if !is_wanted || !inputs.iter().any(Array::is_traced) {
            return Array::record_on(self.clone(), inputs, stream);
        }
        // Copies, since a handle to a node keeps all its outputs: what a user holds on to must not keep residuals.
        let outputs = Array::record_on(self.keeping(), inputs, stream)?;
        let own = outputs.into_iter().take(self.0.body.outputs.len());
        own.map(|output| Array::record_one(Leaf::Copy, &[&output])).collect()
    }

    /// How many of its outputs are sequences.
    pub fn sequences(&self) -> usize {
        self.0.body.outputs.len() - self.0.carry - self.0.sums
    }
}

/// A sequence of `length` such rows.
pub(crate) fn stacked(row: &ArraySpec, length: usize) -> ArraySpec {
    let shape: Shape = std::iter::once(length).chain(row.shape.iter().copied()).collect();
    ArraySpec { shape, dtype: row.dtype }
}

impl Primitive for Loop {
    fn name(&self) -> &'static str {
        self.0.construct.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let Iteration { body, carry, rows, sums, length, .. } = &*self.0;
        let row = |sequence: &&ArraySpec| {
            let shape = sequence.shape.iter().skip(1).copied().collect();
            ArraySpec { shape, dtype: sequence.dtype }
        };
        for sequence in inputs.iter().skip(*carry).take(*rows) {
            ensure!(
                sequence.shape.first() == Some(length),
                Value(self.0.construct.name()),
                "sequences differ in length: shape {}, expected {length} rows",
                sequence.shape
            );
        }
        let sequences: Vec<ArraySpec> = inputs.iter().skip(*carry).take(*rows).map(row).collect();
        let given: Vec<&ArraySpec> = inputs.iter().take(*carry).copied().chain(&sequences).collect();
        let given: Vec<&ArraySpec> =
            given.into_iter().chain(inputs.iter().skip(carry + rows).copied()).collect();
        body.check(self.0.construct, &given)?;
        let whole = |(i, spec): (usize, &ArraySpec)| {
            if i < carry + sums { spec.clone() } else { stacked(spec, *length) }
        };
        Ok(body.outputs.iter().enumerate().map(whole).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let Iteration { body, carry, rows, sums, length, keeps, .. } = &*self.0;
        body.validate(site)?;
        let kept = if *keeps { *carry } else { 0 };
        let fits = carry.saturating_add(*rows) <= body.arguments().len()
            && carry.saturating_add(*sums).saturating_add(kept) <= body.outputs.len()
            && body.outputs[..*carry] == body.arguments()[..*carry];
        site.must(fits, "a function that returns its carry")?;
        let rows = site.inputs.iter().skip(*carry).take(*rows);
        let mut lengths = rows.map(|input| input.shape.first().copied());
        site.must(lengths.all(|own| own == Some(*length)), &format!("sequences of {length}"))
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let mut iteration = (*self.0).clone();
        let rows = iteration.carry..iteration.carry + iteration.rows;
        let row = |(i, spec): (usize, &&ArraySpec)| {
            let skipped = usize::from(rows.contains(&i));
            ArraySpec { shape: spec.shape.iter().skip(skipped).copied().collect(), dtype: spec.dtype }
        };
        let given: Vec<ArraySpec> = change.new.iter().enumerate().map(row).collect();
        if iteration.rows > 0 {
            iteration.length = *change.new[iteration.carry].shape.first()?;
        }
        iteration.body = iteration.body.refined(change, &given)?;
        Some(Generalized::of(Loop(Arc::new(iteration))))
    }

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        None
    }

    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    fn control_flow(&self) -> Option<ControlFlow<'_>> {
        Some(ControlFlow::Loop(self))
    }

    fn eval_cpu(&self, _task: &mut CpuTask<'_>) -> Result<()> {
        Err(needs_evaluator(self.0.construct))
    }
}
