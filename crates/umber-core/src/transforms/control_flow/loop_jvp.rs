//! Forward-mode rule of loops.

use umber_types::Result;

use super::loop_rules::{LoopInputs, count_true, record, scatter_results, split_by};
use super::{chosen, derivative_spec, pushed, reaches, trace_function, zero};
use crate::graph::{Array, ArraySpec};
use crate::primitives::control_flow::{Iteration, Loop, LoweredCache};

/// The context of a loop's jvp.
struct Forward<'a> {
    iteration: &'a Iteration,
    has_tangent: LoopInputs<'a, bool>,
    /// Which carries have nonzero tangents in some iteration.
    active: Vec<bool>,
}

/// A loop that carries the tangents of the carry in addition to the carry.
pub(super) fn push_loop(
    repeated: &Loop,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let iteration = &*repeated.0;
    let has_tangent: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let active = reaches(&iteration.body.program, iteration.carry, &has_tangent);
    let forward = Forward { iteration, has_tangent: LoopInputs::of(iteration, &has_tangent), active };
    let mut is_nonzero = Vec::new();
    let (body, captured) = trace_function(iteration.construct, forward.arguments(), |arguments| {
        forward.step(arguments, &mut is_nonzero)
    })?;
    let [carry, t_carry, rows, t_rows, ..] = forward.counts();
    let tangent_iteration = Iteration {
        construct: iteration.construct,
        body,
        carry: carry + t_carry,
        rows: rows + t_rows,
        sums: count_true(&is_nonzero[..iteration.sums]),
        length: iteration.length,
        order: iteration.order,
        keeps: false,
        lowered: LoweredCache::default(),
    };
    let results = record(tangent_iteration, forward.inputs(inputs, tangents), captured)?;
    let [_, carry, others] = split_by(&results, [carry, t_carry, count_true(&is_nonzero)]);
    let mut results = scatter_results(carry, &forward.active, None);
    results.extend(scatter_results(others, &is_nonzero, None));
    Ok(results)
}

impl Forward<'_> {
    /// Number of arguments of each kind in the body: carry, rows and constants, each followed by its tangents.
    fn counts(&self) -> [usize; 6] {
        let constants = self.has_tangent.constants.len();
        let (rows, moving_rows) = (self.iteration.rows, count_true(self.has_tangent.rows));
        [
            self.iteration.carry,
            count_true(&self.active),
            rows,
            moving_rows,
            constants,
            count_true(self.has_tangent.constants),
        ]
    }

    fn arguments(&self) -> Vec<ArraySpec> {
        let specs = LoopInputs::of(self.iteration, self.iteration.body.arguments());
        let with_tangents = |specs: &[ArraySpec], flags: &[bool]| -> Vec<ArraySpec> {
            specs.iter().cloned().chain(chosen(specs, flags).map(derivative_spec)).collect()
        };
        let mut all = with_tangents(specs.carry, &self.active);
        all.extend(with_tangents(specs.rows, self.has_tangent.rows));
        all.extend(with_tangents(specs.constants, self.has_tangent.constants));
        all
    }

    fn inputs(&self, primals: &[Array], tangents: &[Option<Array>]) -> Vec<Array> {
        let (primals, tangents) =
            (LoopInputs::of(self.iteration, primals), LoopInputs::of(self.iteration, tangents));
        let mut all = primals.carry.to_vec();
        for (i, tangent) in tangents.carry.iter().enumerate().filter(|(i, _)| self.active[*i]) {
            all.push(tangent.clone().unwrap_or_else(|| zero(&self.iteration.body.arguments()[i])));
        }
        all.extend(primals.rows.iter().chain(tangents.rows.iter().flatten()).cloned());
        all.extend(primals.constants.iter().chain(tangents.constants.iter().flatten()).cloned());
        all
    }

    /// One iteration, which returns the carry and the tangents of carry, terms and rows.
    fn step(&self, arguments: &[Array], is_nonzero: &mut Vec<bool>) -> Result<Vec<Array>> {
        let [c, t_c, x, t_x, k, t_k] = split_by(arguments, self.counts());
        let all: Vec<Array> = c.iter().chain(x).chain(k).cloned().collect();
        let (carry, rows, constants) = (
            chosen(c, &self.active),
            chosen(x, self.has_tangent.rows),
            chosen(k, self.has_tangent.constants),
        );
        let sources: Vec<Array> = carry.chain(rows).chain(constants).cloned().collect();
        let tangents: Vec<Array> = t_c.iter().chain(t_x).chain(t_k).cloned().collect();
        let (mut values, changes) = pushed(&self.iteration.body.program, &all, &sources, &tangents)?;
        let (carry, others) = changes.split_at(self.iteration.carry);
        *is_nonzero = others.iter().map(Option::is_some).collect();
        values.truncate(self.iteration.carry);
        for (i, change) in carry.iter().enumerate().filter(|(i, _)| self.active[*i]) {
            values.push(change.clone().unwrap_or_else(|| zero(&self.iteration.body.arguments()[i])));
        }
        values.extend(others.iter().flatten().cloned());
        Ok(values)
    }
}
