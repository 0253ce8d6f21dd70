//! Reverse-mode rule of loops.

use umber_types::Result;

use super::loop_rules::{LoopInputs, count_true, record, scatter_results, split_by};
use super::{chosen, derivative_spec, reaches, trace_function, vjp_of, zero};
use crate::graph::{Array, ArraySpec};
use crate::primitive::Cotangents;
use crate::primitives::control_flow::{Iteration, Loop, LoweredCache};
use crate::primitives::rules::cast;

/// The context of a loop's backward pass.
struct Backward<'a> {
    iteration: &'a Iteration,
    needs_cotangent: LoopInputs<'a, bool>,
    /// Which carries depend on inputs that need a cotangent.
    active: Vec<bool>,
    /// The nonzero cotangents of sums and of stacked rows.
    ct_sums: &'a [Option<Array>],
    ct_rows: &'a [Option<Array>],
}

/// Which of the inputs that need a cotangent have a nonzero one.
#[derive(Default)]
struct NonzeroCotangents {
    rows: Vec<bool>,
    constants: Vec<bool>,
}

/// A loop in reverse order over the saved carries of all iterations.
///
/// It carries the cotangents of the carry, sums those of constants and stacks those of rows. Each iteration recomputes the body,
/// so that the forward pass only saves the carries.
pub(super) fn pull_loop(
    repeated: &Loop,
    inputs: &[Array],
    outputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let repeated = &repeated.keeping();
    let iteration = &*repeated.0;
    let mut outputs = outputs.to_vec();
    let mut cotangents = cotangents.to_vec();
    if outputs.len() < iteration.body.outputs.len() {
        outputs = record(iteration.clone(), inputs.to_vec(), Vec::new())?;
        cotangents.resize(outputs.len(), None);
    }
    let saved_carries = &outputs[outputs.len() - iteration.carry..];
    let [ct_carry, ct_sums, ct_rows] =
        split_by(&cotangents, [iteration.carry, iteration.sums, repeated.sequences()]);
    let active = reaches(&iteration.body.program, iteration.carry, needs_cotangent);
    let backward = Backward {
        iteration,
        needs_cotangent: LoopInputs::of(iteration, needs_cotangent),
        active,
        ct_sums,
        ct_rows,
    };
    let mut nonzero = NonzeroCotangents::default();
    let (body, captured) = trace_function(iteration.construct, backward.arguments(), |arguments| {
        backward.step(arguments, &mut nonzero)
    })?;
    let [carry, saved, rows, ct_rows, ..] = backward.counts();
    let backward_iteration = Iteration {
        construct: iteration.construct,
        body,
        carry,
        rows: saved + rows + ct_rows,
        sums: count_true(&nonzero.constants),
        length: iteration.length,
        order: iteration.order.reversed(),
        keeps: false,
        lowered: LoweredCache::default(),
    };
    let results = record(backward_iteration, backward.inputs(inputs, saved_carries, ct_carry)?, captured)?;
    let [carry, constants, rows] =
        split_by(&results, [carry, count_true(&nonzero.constants), count_true(&nonzero.rows)]);
    let carry = scatter_results(carry, &backward.active, None);
    let rows = scatter_results(rows, backward.needs_cotangent.rows, Some(&nonzero.rows));
    let constants = scatter_results(constants, backward.needs_cotangent.constants, Some(&nonzero.constants));
    let results = carry.into_iter().chain(rows).chain(constants).zip(needs_cotangent);
    Ok(results.map(|(ct, &needs_cotangent)| ct.filter(|_| needs_cotangent)).collect())
}

impl Backward<'_> {
    /// Number of arguments of each kind in the backward body: cotangents of the carry; the carry, rows, cotangents of
    /// rows; constants, cotangents of sums.
    fn counts(&self) -> [usize; 6] {
        let count_nonzero = |cts: &[Option<Array>]| cts.iter().flatten().count();
        let constants = self.iteration.body.arguments().len() - self.iteration.carry - self.iteration.rows;
        let (ct_rows, ct_sums) = (count_nonzero(self.ct_rows), count_nonzero(self.ct_sums));
        [count_true(&self.active), self.iteration.carry, self.iteration.rows, ct_rows, constants, ct_sums]
    }

    /// Specs of sums and rows of the forward body.
    fn outputs(&self) -> (&[ArraySpec], &[ArraySpec]) {
        self.iteration.body.outputs[self.iteration.carry..].split_at(self.iteration.sums)
    }

    fn arguments(&self) -> Vec<ArraySpec> {
        let specs = LoopInputs::of(self.iteration, self.iteration.body.arguments());
        let (sums, rows) = self.outputs();
        let derivatives = |specs: &[ArraySpec], cts: &[Option<Array>]| -> Vec<ArraySpec> {
            let nonzero = specs.iter().zip(cts).filter(|(_, ct)| ct.is_some());
            nonzero.map(|(spec, _)| derivative_spec(spec)).collect()
        };
        chosen(specs.carry, &self.active)
            .map(derivative_spec)
            .chain(specs.carry.iter().cloned())
            .chain(specs.rows.iter().cloned())
            .chain(derivatives(rows, self.ct_rows))
            .chain(specs.constants.iter().cloned())
            .chain(derivatives(sums, self.ct_sums))
            .collect()
    }

    fn inputs(
        &self,
        inputs: &[Array],
        saved_carries: &[Array],
        ct_carry: &[Option<Array>],
    ) -> Result<Vec<Array>> {
        let inputs = LoopInputs::of(self.iteration, inputs);
        let (sums, rows) = self.outputs();
        let mut all = Vec::new();
        for (i, spec) in self.iteration.body.arguments()[..self.iteration.carry].iter().enumerate() {
            match &ct_carry[i] {
                _ if !self.active[i] => {}
                Some(ct) => all.push(cast(ct, spec.dtype.inexact())?),
                None => all.push(zero(spec)),
            }
        }
        all.extend(saved_carries.iter().chain(inputs.rows).cloned());
        all.extend(nonzero_cotangents(self.ct_rows, rows)?);
        all.extend(inputs.constants.iter().cloned());
        all.extend(nonzero_cotangents(self.ct_sums, sums)?);
        Ok(all)
    }

    /// One iteration of the backward pass, which returns the cotangents of carry, constants and rows.
    fn step(&self, arguments: &[Array], nonzero: &mut NonzeroCotangents) -> Result<Vec<Array>> {
        let [ct_c, c, x, ct_y, k, ct_s] = split_by(arguments, self.counts());
        let all: Vec<Array> = c.iter().chain(x).chain(k).cloned().collect();
        let (carry, rows, constants) = (
            chosen(c, &self.active),
            chosen(x, self.needs_cotangent.rows),
            chosen(k, self.needs_cotangent.constants),
        );
        let sources: Vec<Array> = carry.chain(rows).chain(constants).cloned().collect();
        let is_nonzero = |cts: &[Option<Array>]| cts.iter().map(Option::is_some).collect::<Vec<bool>>();
        let cts = scatter_results(ct_c, &self.active, None)
            .into_iter()
            .chain(scatter_results(ct_s, &is_nonzero(self.ct_sums), None))
            .chain(scatter_results(ct_y, &is_nonzero(self.ct_rows), None));
        let results = vjp_of(&self.iteration.body.program, &all, &sources, cts.collect())?;
        let counts =
            [ct_c.len(), count_true(self.needs_cotangent.rows), count_true(self.needs_cotangent.constants)];
        let [carry, rows, constants] = split_by(&results, counts);
        *nonzero = NonzeroCotangents { rows: is_nonzero(rows), constants: is_nonzero(constants) };
        let specs = chosen(self.iteration.body.arguments(), &self.active);
        let carry = carry.iter().zip(specs).map(|(ct, spec)| ct.clone().unwrap_or_else(|| zero(spec)));
        Ok(carry.chain(constants.iter().chain(rows).flatten().cloned()).collect())
    }
}

/// The nonzero cotangents, in the dtype of cotangents of such values.
fn nonzero_cotangents(cotangents: &[Option<Array>], specs: &[ArraySpec]) -> Result<Vec<Array>> {
    let nonzero = cotangents.iter().zip(specs).filter_map(|(ct, spec)| Some((ct.as_ref()?, spec)));
    nonzero.map(|(ct, spec)| cast(ct, spec.dtype.inexact())).collect()
}
