//! While: a function applied for as long as a condition on its values holds.

use std::sync::Arc;

use umber_types::{DType, Result, Shape};

use super::{Body, Construct, ControlFlow, LoweredCache, needs_evaluator};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule};
use crate::validation::Site;

/// Functions of `(carry…, constants…)`: one answers a bool scalar, the other the next carry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Condition {
    /// What users know it by.
    pub construct: Construct,
    /// Go on?
    pub condition: Body,
    /// What is done then.
    pub body: Body,
    #[serde(skip)]
    pub(crate) lowered: LoweredCache,
}

/// A function applied for as long as a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct While(pub Arc<Condition>);

impl While {
    /// `body` for as long as `condition` holds; both take the same arguments.
    pub fn new(construct: Construct, condition: Body, body: Body) -> While {
        While(Condition { construct, condition, body, lowered: LoweredCache::default() }.into())
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
        let answer = [ArraySpec::new(Shape::scalar(), DType::Bool)];
        let fits = condition.outputs == answer && body.arguments().starts_with(&body.outputs);
        site.must(fits, "a condition and a function that returns its carry")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let given: Vec<ArraySpec> = change.new.iter().map(|&spec| spec.clone()).collect();
        let [condition, body] = [&self.0.condition, &self.0.body].map(|body| body.refined(change, &given));
        Some(Generalized::of(While::new(self.0.construct, condition?, body?)))
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
