//! Checkpoint: the outputs of a function together with the function, which the gradient recomputes (rematerialisation).
//!
//! Inputs are the program's arguments and then its outputs, already computed; the node returns the latter. Its vjp, in
//! `transforms`, records the program again, so that no intermediate value of the function is saved for the gradient.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use umber_types::Result;

use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Program, Specs};
use crate::primitive::{Batched, Cotangents, Point, Primitive, Rule};
use crate::validation::{self, Site};

/// Outputs of a function that gradients recompute.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Checkpoint {
    /// The function.
    pub program: Arc<Program>,
}

// Shallow on purpose: nested checkpoints contain each other twice, so that a full hash takes time exponential in the depth.
impl Hash for Checkpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.program.arguments.hash(state);
        self.program.outputs.hash(state);
        self.program.steps.len().hash(state);
    }
}

impl Checkpoint {
    /// The inputs that are arguments of the program, and those that are its outputs.
    ///
    /// A node that is about to run may have released the arguments.
    pub fn split<'a, T>(&self, inputs: &'a [T]) -> (&'a [T], &'a [T]) {
        inputs.split_at(inputs.len() - self.program.outputs.len())
    }
}

impl Primitive for Checkpoint {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(self.split(inputs).1.iter().map(|&spec| spec.clone()).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let outputs = validation::outputs(&self.program)?;
        let expected = self.program.arguments.iter().chain(&outputs);
        site.must(site.inputs.iter().copied().eq(expected), "a function's arguments and outputs")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let specs: Vec<ArraySpec> = self.split(&change.new).0.iter().map(|&spec| spec.clone()).collect();
        let program = (change.refined)(&self.program, &specs)?.program;
        Some(Generalized::of(Checkpoint { program: Arc::new(program) }))
    }

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        None
    }

    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
        Some(Ok(self.split(inputs).1.to_vec()))
    }

    fn forwards(&self) -> bool {
        true
    }
}
