//! Branch: one of several functions, selected by an index (`cond` and `switch`).

use std::sync::Arc;

use umber_types::{DType, Result};

use super::{Body, Construct, ControlFlow, LoweredCache, needs_evaluator};
use crate::generalization::{Change, Generalized};
use crate::graph::{ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule};
use crate::validation::Site;

/// The functions of a branch: their arguments and outputs have equal shapes and dtypes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Choice {
    /// The public function that recorded it.
    pub construct: Construct,
    /// The functions; at least one.
    pub bodies: Vec<Body>,
    #[serde(skip)]
    pub(crate) lowered: LoweredCache,
}

/// One of several functions. Inputs are `(index, arguments…)`; the index is an int32 scalar within bounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Branch(pub Arc<Choice>);

impl Branch {
    /// One of `bodies`.
    pub fn new(construct: Construct, bodies: Vec<Body>) -> Branch {
        Branch(Choice { construct, bodies, lowered: LoweredCache::default() }.into())
    }
}

impl Primitive for Branch {
    fn name(&self) -> &'static str {
        self.0.construct.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        for body in &self.0.bodies {
            body.check(self.0.construct, inputs.get(1..).unwrap_or_default())?;
        }
        Ok(self.0.bodies[0].outputs.iter().cloned().collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        self.0.bodies.iter().try_for_each(|body| body.validate(site))?;
        let have_equal_outputs = self.0.bodies.windows(2).all(|pair| pair[0].outputs == pair[1].outputs);
        site.must(have_equal_outputs && !self.0.bodies.is_empty(), "functions with equal outputs")?;
        let is_index = site.ndim(0) == 0 && site.inputs.first().is_some_and(|i| i.dtype == DType::Int32);
        site.must(is_index, "the index of a branch")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let specs: Vec<ArraySpec> = change.new[1..].iter().map(|&spec| spec.clone()).collect();
        let bodies = self.0.bodies.iter().map(|body| body.refined(change, &specs));
        Some(Generalized::of(Branch::new(self.0.construct, bodies.collect::<Option<_>>()?)))
    }

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[crate::graph::Array]) -> Rule<Cotangents> {
        None
    }

    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    fn is_index(&self, input: usize) -> bool {
        input == 0
    }

    fn control_flow(&self) -> Option<ControlFlow<'_>> {
        Some(ControlFlow::Branch(self))
    }

    fn eval_cpu(&self, _task: &mut CpuTask<'_>) -> Result<()> {
        Err(needs_evaluator(self.0.construct))
    }
}
