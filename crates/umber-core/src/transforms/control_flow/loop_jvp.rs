//! Forward mode through loops.

use umber_types::Result;

use super::loop_rules::{Parts, among, count, cut, record};
use super::{chosen, derivative_spec, pushed, reaches, trace_function, zero};
use crate::graph::{Array, ArraySpec};
use crate::primitives::control_flow::{Iteration, Loop, LoweredCache};

/// What a loop with tangents goes by.
struct Forward<'a> {
    it: &'a Iteration,
    moves: Parts<'a, bool>,
    /// Which carries have tangents in some iteration.
    active: Vec<bool>,
}

/// A loop that carries tangents beside the carry.
pub(super) fn push_loop(
    repeated: &Loop,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let it = &*repeated.0;
    let moving: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let active = reaches(&it.body.program, it.carry, &moving);
    let forward = Forward { it, moves: Parts::of(it, &moving), active };
    let mut has = Vec::new();
    let (body, captured) =
        trace_function(it.construct, forward.arguments(), |arguments| forward.step(arguments, &mut has))?;
    let [carry, t_carry, rows, t_rows, ..] = forward.counts();
    let iteration = Iteration {
        construct: it.construct,
        body,
        carry: carry + t_carry,
        rows: rows + t_rows,
        sums: count(&has[..it.sums]),
        length: it.length,
        order: it.order,
        keeps: false,
        lowered: LoweredCache::default(),
    };
    let results = record(iteration, forward.inputs(inputs, tangents), captured)?;
    let [_, carry, others] = cut(&results, [carry, t_carry, count(&has)]);
    let mut results = among(carry, &forward.active, None);
    results.extend(among(others, &has, None));
    Ok(results)
}

impl Forward<'_> {
    /// How many arguments of each kind the body takes: carry, rows and constants, each before its tangents.
    fn counts(&self) -> [usize; 6] {
        let constants = self.moves.constants.len();
        let (rows, moving) = (self.it.rows, count(self.moves.rows));
        [self.it.carry, count(&self.active), rows, moving, constants, count(self.moves.constants)]
    }

    fn arguments(&self) -> Vec<ArraySpec> {
        let specs = Parts::of(self.it, self.it.body.arguments());
        let with_tangents = |specs: &[ArraySpec], flags: &[bool]| -> Vec<ArraySpec> {
            specs.iter().cloned().chain(chosen(specs, flags).map(derivative_spec)).collect()
        };
        let mut all = with_tangents(specs.carry, &self.active);
        all.extend(with_tangents(specs.rows, self.moves.rows));
        all.extend(with_tangents(specs.constants, self.moves.constants));
        all
    }

    fn inputs(&self, given: &[Array], tangents: &[Option<Array>]) -> Vec<Array> {
        let (given, tangents) = (Parts::of(self.it, given), Parts::of(self.it, tangents));
        let mut all = given.carry.to_vec();
        for (i, tangent) in tangents.carry.iter().enumerate().filter(|(i, _)| self.active[*i]) {
            all.push(tangent.clone().unwrap_or_else(|| zero(&self.it.body.arguments()[i])));
        }
        all.extend(given.rows.iter().chain(tangents.rows.iter().flatten()).cloned());
        all.extend(given.constants.iter().chain(tangents.constants.iter().flatten()).cloned());
        all
    }

    /// One iteration: `(carry…, tangents of the carry…, tangents of terms…, tangents of rows…)`.
    fn step(&self, arguments: &[Array], has: &mut Vec<bool>) -> Result<Vec<Array>> {
        let [c, t_c, x, t_x, k, t_k] = cut(arguments, self.counts());
        let all: Vec<Array> = c.iter().chain(x).chain(k).cloned().collect();
        let (carry, rows, constants) =
            (chosen(c, &self.active), chosen(x, self.moves.rows), chosen(k, self.moves.constants));
        let sources: Vec<Array> = carry.chain(rows).chain(constants).cloned().collect();
        let tangents: Vec<Array> = t_c.iter().chain(t_x).chain(t_k).cloned().collect();
        let (mut values, changes) = pushed(&self.it.body.program, &all, &sources, &tangents)?;
        let (carry, others) = changes.split_at(self.it.carry);
        *has = others.iter().map(Option::is_some).collect();
        values.truncate(self.it.carry);
        for (i, change) in carry.iter().enumerate().filter(|(i, _)| self.active[*i]) {
            values.push(change.clone().unwrap_or_else(|| zero(&self.it.body.arguments()[i])));
        }
        values.extend(others.iter().flatten().cloned());
        Ok(values)
    }
}
