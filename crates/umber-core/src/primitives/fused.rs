//! Fused: a fused region of elementwise nodes, optionally with a reduction or a product, as one node.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use umber_types::tape::Tape;
use umber_types::{Result, Shape, bail};

use crate::backend;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule};
use crate::primitives::matmul::MatMul;
use crate::primitives::region::{Region, RegionKind};
use crate::validation::Site;

/// A compiled region. Transforms replace it by its `expand`.
#[derive(Clone, Debug)]
pub struct Fused(pub Arc<Region>);

impl PartialEq for Fused {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.parts() == other.parts()
    }
}
impl Eq for Fused {}
impl Hash for Fused {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl Fused {
    /// The fields that equality and hashing compare.
    fn parts(&self) -> (&Tape, &Shape, &RegionKind) {
        (&self.0.tape, &self.0.shape, &self.0.kind)
    }
}

impl Primitive for Fused {
    fn name(&self) -> &'static str {
        "fused"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (factors, elements) = inputs.split_at(self.0.factors().min(inputs.len()));
        if !factors.is_empty() {
            let product = &MatMul.infer(factors)?[0];
            if product.shape.size() != self.0.shape.size() || product.shape.last() != self.0.shape.last() {
                bail!(
                    Value("fused"),
                    "matrix product has shape {}, expected {}",
                    product.shape,
                    self.0.shape
                );
            }
        }
        for (input, dtype) in elements.iter().zip(self.0.elements()) {
            if input.dtype != *dtype || !input.shape.broadcasts_to(&self.0.shape) {
                bail!(
                    Value("fused"),
                    "input has shape {} and dtype {}, expected {} and {dtype}",
                    input.shape,
                    input.dtype,
                    self.0.shape
                );
            }
        }
        self.0.specs()
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.is_no_step()
    }

    any_lengths!();

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        None
    }

    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
        Some(self.0.replay(inputs))
    }

    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        let product = if self.0.factors() > 0 { MatMul.flops(inputs, outputs)? } else { 0 };
        let is_product = usize::from(self.0.factors() > 0);
        let elementwise = (self.0.names().len() - is_product) * self.0.shape.size();
        Some(product + elementwise as u64)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        backend::region(&self.0, task)
    }
}
