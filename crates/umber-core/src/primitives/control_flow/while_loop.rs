//! While: a function applied while a data-dependent condition holds.

use std::sync::Arc;

use umber_types::{DType, Result, Shape};

use super::{Body, Construct, ControlFlow, LoweredCache, needs_evaluator};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule};
use crate::validation::Site;

/// Two functions of `(carry…, constants…)`: one returns a bool scalar, the other the next carry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Condition {
    /// The public function that recorded it.
    pub construct: Construct,
    /// Returns true if there is a next iteration.
    pub condition: Body,
    /// Returns the next carry.
    pub body: Body,
    /// The end of the loop if the condition still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    #[serde(skip)]
    pub(crate) lowered: LoweredCache,
}

/// A limit on the number of iterations, which gives the loop a reverse mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Limit {
    /// The maximum number of iterations.
    pub iterations: usize,
    /// The backward pass saves the carry of every n-th iteration; at least 1.
    pub saved_every: usize,
}

/// A function applied while a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct While(pub Arc<Condition>);

impl While {
    /// `body` applied while `condition` holds; both take the same arguments.
    pub fn new(construct: Construct, condition: Body, body: Body, limit: Option<Limit>) -> While {
        While(Condition { construct, condition, body, limit, lowered: LoweredCache::default() }.into())
    }
}

impl Primitive for While {
    fn name(&self) -> &'static str {
        self.0.construct.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        self.0.condition.check(self.0.construct, inputs)?;
        self.0.body.check(self.0.construct, inputs)?;
        Ok(self.0.body.outputs.iter().cloned().collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let (condition, body) = (&self.0.condition, &self.0.body);
        condition.validate(site)?;
        body.validate(site)?;
        let expected = [ArraySpec::new(Shape::scalar(), DType::Bool)];
        let fits = condition.outputs == expected
            && body.arguments().starts_with(&body.outputs)
            && self.0.limit.is_none_or(|limit| limit.saved_every > 0);
        site.must(fits, "a condition and a function that returns its carry")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let specs: Vec<ArraySpec> = change.new.iter().map(|&spec| spec.clone()).collect();
        let [condition, body] = [&self.0.condition, &self.0.body].map(|body| body.refined(change, &specs));
        Some(Generalized::of(While::new(self.0.construct, condition?, body?, self.0.limit)))
    }

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        None
    }

    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    fn control_flow(&self) -> Option<ControlFlow<'_>> {
        Some(ControlFlow::While(self))
    }

    fn eval_cpu(&self, _task: &mut CpuTask<'_>) -> Result<()> {
        Err(needs_evaluator(self.0.construct))
    }
}
