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

/// The direction of the iteration over the sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// From the first row to the last.
    Forwards,
    /// From the last row to the first.
    Backwards,
}

impl Order {
    /// The opposite direction.
    #[must_use]
    pub fn reversed(self) -> Order {
        match self {
            Order::Forwards => Order::Backwards,
            Order::Backwards => Order::Forwards,
        }
    }

    /// The index of the row, out of `length`, that iteration number `iteration` reads.
    pub fn place(self, iteration: usize, length: usize) -> usize {
        match self {
            Order::Forwards => iteration,
            Order::Backwards => length - 1 - iteration,
        }
    }
}

/// A function of `(carry…, rows…, constants…)` that returns `(carry…, terms…, rows…)`, and the number of iterations.
///
/// The operation takes `(carry…, sequences…, constants…)` and returns `(carry…, sums…, sequences…)`. Each iteration gets the
/// carry of the previous one and one row of every sequence; terms are summed over the iterations, rows are stacked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Iteration {
    /// The public function that recorded it.
    pub construct: Construct,
    /// The function.
    pub body: Body,
    /// Number of arrays in the carry.
    pub carry: usize,
    /// Number of input sequences, of which each iteration reads one row.
    pub rows: usize,
    /// Number of outputs that are summed over all iterations.
    pub sums: usize,
    /// Number of iterations.
    pub length: usize,
    /// Direction of the iteration.
    pub order: Order,
    /// Are the last output sequences the carries at the start of each iteration? The backward pass needs them as residuals.
    pub keeps: bool,
    #[serde(skip)]
    pub(crate) lowered: LoweredCache,
}

/// A function applied a known number of times.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Loop(pub Arc<Iteration>);

impl Loop {
    /// The same loop with the carry at the start of each iteration as further output sequences.
    pub fn keeping(&self) -> Loop {
        if self.0.keeps {
            return self.clone();
        }
        let mut iteration = Iteration::clone(&self.0);
        for argument in 0..iteration.carry {
            iteration.body.program.outputs.push(Operand::Slot(argument as u32));
            iteration.body.outputs.push(iteration.body.program.arguments[argument].clone());
        }
        iteration.keeps = true;
        Loop(iteration.into())
    }

    /// Record the loop. While a derivative that needs residuals is traced, the node also outputs these; they are not returned.
    pub fn record_on(&self, inputs: Inputs, stream: Stream) -> Result<SmallVec<[Array; 1]>> {
        let needs_residuals = residuals() == Residuals::Kept && self.0.carry > 0 && !self.0.keeps;
        if !needs_residuals || !inputs.iter().any(Array::is_traced) {
            return Array::record_on(self.clone(), inputs, stream);
        }
        // An array keeps all outputs of its node alive. Copies let the residuals be freed while the user holds the results.
        let outputs = Array::record_on(self.keeping(), inputs, stream)?;
        let results = outputs.into_iter().take(self.0.body.outputs.len());
        results.map(|output| Array::record_one(Leaf::Copy, &[&output])).collect()
    }

    /// Number of outputs that are sequences.
    pub fn sequences(&self) -> usize {
        self.0.body.outputs.len() - self.0.carry - self.0.sums
    }
}

/// The spec of a sequence of `length` rows.
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
        let row_specs: Vec<ArraySpec> = inputs.iter().skip(*carry).take(*rows).map(row).collect();
        let specs: Vec<&ArraySpec> = inputs.iter().take(*carry).copied().chain(&row_specs).collect();
        let specs: Vec<&ArraySpec> =
            specs.into_iter().chain(inputs.iter().skip(carry + rows).copied()).collect();
        body.check(self.0.construct, &specs)?;
        let output_spec = |(i, spec): (usize, &ArraySpec)| {
            if i < carry + sums { spec.clone() } else { stacked(spec, *length) }
        };
        Ok(body.outputs.iter().enumerate().map(output_spec).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let Iteration { body, carry, rows, sums, length, keeps, .. } = &*self.0;
        body.validate(site)?;
        let residuals = if *keeps { *carry } else { 0 };
        let fits = carry.saturating_add(*rows) <= body.arguments().len()
            && carry.saturating_add(*sums).saturating_add(residuals) <= body.outputs.len()
            && body.outputs[..*carry] == body.arguments()[..*carry];
        site.must(fits, "a function that returns its carry")?;
        let rows = site.inputs.iter().skip(*carry).take(*rows);
        let mut lengths = rows.map(|input| input.shape.first().copied());
        site.must(lengths.all(|row_count| row_count == Some(*length)), &format!("sequences of {length}"))
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let mut iteration = (*self.0).clone();
        let rows = iteration.carry..iteration.carry + iteration.rows;
        let row = |(i, spec): (usize, &&ArraySpec)| {
            let skipped = usize::from(rows.contains(&i));
            ArraySpec { shape: spec.shape.iter().skip(skipped).copied().collect(), dtype: spec.dtype }
        };
        let specs: Vec<ArraySpec> = change.new.iter().enumerate().map(row).collect();
        if iteration.rows > 0 {
            iteration.length = *change.new[iteration.carry].shape.first()?;
        }
        iteration.body = iteration.body.refined(change, &specs)?;
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
