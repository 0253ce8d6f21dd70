//! Reverse mode through loops.

use umber_types::Result;

use super::loop_rules::{Parts, among, count, cut, record};
use super::{chosen, derivative_spec, reaches, trace_function, vjp_of, zero};
use crate::graph::{Array, ArraySpec};
use crate::primitive::Cotangents;
use crate::primitives::control_flow::{Iteration, Loop, LoweredCache};
use crate::primitives::rules::cast;

/// What a backward pass goes by.
struct Backward<'a> {
    it: &'a Iteration,
    needs_cotangent: Parts<'a, bool>,
    /// Which carries depend on an input that needs a cotangent.
    active: Vec<bool>,
    /// The cotangents of sums and of sequences, where there are any.
    ct_sums: &'a [Option<Array>],
    ct_rows: &'a [Option<Array>],
}

/// Which of the inputs that need a cotangent have one.
#[derive(Default)]
struct Found {
    rows: Vec<bool>,
    constants: Vec<bool>,
}

/// A loop in the opposite order over the carries that the iterations began with.
///
/// It carries the cotangents of the carry, sums those of constants and stacks those of rows. In each iteration the body
/// runs once more, so that of the forward pass only the carries are kept.
pub(super) fn pull_loop(
    repeated: &Loop,
    inputs: &[Array],
    outputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let repeated = &repeated.keeping();
    let it = &*repeated.0;
    let mut outputs = outputs.to_vec();
    let mut cotangents = cotangents.to_vec();
    if outputs.len() < it.body.outputs.len() {
        outputs = record(it.clone(), inputs.to_vec(), Vec::new())?;
        cotangents.resize(outputs.len(), None);
    }
    let kept = &outputs[outputs.len() - it.carry..];
    let [ct_carry, ct_sums, ct_rows] = cut(&cotangents, [it.carry, it.sums, repeated.sequences()]);
    let active = reaches(&it.body.program, it.carry, needs_cotangent);
    let backward = Backward { it, needs_cotangent: Parts::of(it, needs_cotangent), active, ct_sums, ct_rows };
    let mut found = Found::default();
    let (body, captured) =
        trace_function(it.construct, backward.arguments(), |arguments| backward.step(arguments, &mut found))?;
    let [carry, saved, rows, ct_rows, ..] = backward.counts();
    let iteration = Iteration {
        construct: it.construct,
        body,
        carry,
        rows: saved + rows + ct_rows,
        sums: count(&found.constants),
        length: it.length,
        order: it.order.reversed(),
        keeps: false,
        lowered: LoweredCache::default(),
    };
    let results = record(iteration, backward.inputs(inputs, kept, ct_carry)?, captured)?;
    let [carry, constants, rows] = cut(&results, [carry, count(&found.constants), count(&found.rows)]);
    let carry = among(carry, &backward.active, None);
    let rows = among(rows, backward.needs_cotangent.rows, Some(&found.rows));
    let constants = among(constants, backward.needs_cotangent.constants, Some(&found.constants));
    let results = carry.into_iter().chain(rows).chain(constants).zip(needs_cotangent);
    Ok(results.map(|(ct, &is_needed)| ct.filter(|_| is_needed)).collect())
}

impl Backward<'_> {
    /// How many arguments of each kind the backward body takes: cotangents of the carry; the carry, rows, cotangents of
    /// rows; constants, cotangents of sums.
    fn counts(&self) -> [usize; 6] {
        let there = |cts: &[Option<Array>]| cts.iter().flatten().count();
        let constants = self.it.body.arguments().len() - self.it.carry - self.it.rows;
        let (ct_rows, ct_sums) = (there(self.ct_rows), there(self.ct_sums));
        [count(&self.active), self.it.carry, self.it.rows, ct_rows, constants, ct_sums]
    }

    /// What sums and rows of the forward body are.
    fn outputs(&self) -> (&[ArraySpec], &[ArraySpec]) {
        self.it.body.outputs[self.it.carry..].split_at(self.it.sums)
    }

    fn arguments(&self) -> Vec<ArraySpec> {
        let specs = Parts::of(self.it, self.it.body.arguments());
        let (sums, rows) = self.outputs();
        let derivatives = |specs: &[ArraySpec], cts: &[Option<Array>]| -> Vec<ArraySpec> {
            let there = specs.iter().zip(cts).filter(|(_, ct)| ct.is_some());
            there.map(|(spec, _)| derivative_spec(spec)).collect()
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

    fn inputs(&self, given: &[Array], kept: &[Array], ct_carry: &[Option<Array>]) -> Result<Vec<Array>> {
        let given = Parts::of(self.it, given);
        let (sums, rows) = self.outputs();
        let mut all = Vec::new();
        for (i, spec) in self.it.body.arguments()[..self.it.carry].iter().enumerate() {
            match &ct_carry[i] {
                _ if !self.active[i] => {}
                Some(ct) => all.push(cast(ct, spec.dtype.inexact())?),
                None => all.push(zero(spec)),
            }
        }
        all.extend(kept.iter().chain(given.rows).cloned());
        all.extend(filled_with_zeros(self.ct_rows, rows)?);
        all.extend(given.constants.iter().cloned());
        all.extend(filled_with_zeros(self.ct_sums, sums)?);
        Ok(all)
    }

    /// One iteration of the backward pass: `(carry…, terms…, rows…)`, all of them cotangents.
    fn step(&self, arguments: &[Array], found: &mut Found) -> Result<Vec<Array>> {
        let [ct_c, c, x, ct_y, k, ct_s] = cut(arguments, self.counts());
        let all: Vec<Array> = c.iter().chain(x).chain(k).cloned().collect();
        let (carry, rows, constants) = (
            chosen(c, &self.active),
            chosen(x, self.needs_cotangent.rows),
            chosen(k, self.needs_cotangent.constants),
        );
        let sources: Vec<Array> = carry.chain(rows).chain(constants).cloned().collect();
        let there = |cts: &[Option<Array>]| cts.iter().map(Option::is_some).collect::<Vec<bool>>();
        let cts = among(ct_c, &self.active, None)
            .into_iter()
            .chain(among(ct_s, &there(self.ct_sums), None))
            .chain(among(ct_y, &there(self.ct_rows), None));
        let results = vjp_of(&self.it.body.program, &all, &sources, cts.collect())?;
        let counts = [ct_c.len(), count(self.needs_cotangent.rows), count(self.needs_cotangent.constants)];
        let [carry, rows, constants] = cut(&results, counts);
        *found = Found { rows: there(rows), constants: there(constants) };
        let specs = chosen(self.it.body.arguments(), &self.active);
        let carry = carry.iter().zip(specs).map(|(ct, spec)| ct.clone().unwrap_or_else(|| zero(spec)));
        Ok(carry.chain(constants.iter().chain(rows).flatten().cloned()).collect())
    }
}

/// The cotangents that there are, in the dtype that cotangents of such values have.
fn filled_with_zeros(cotangents: &[Option<Array>], like: &[ArraySpec]) -> Result<Vec<Array>> {
    let there = cotangents.iter().zip(like).filter_map(|(ct, spec)| Some((ct.as_ref()?, spec)));
    there.map(|(ct, spec)| cast(ct, spec.dtype.inexact())).collect()
}
