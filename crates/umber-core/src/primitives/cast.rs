//! Cast: the elements converted to another dtype.

use smallvec::smallvec;
use umber_types::tape::Step;
use umber_types::{DType, Result};

use super::rules::{batch_elementwise, cast, linear_jvp};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// Conversion to a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cast(pub DType);

impl Primitive for Cast {
    fn name(&self) -> &'static str {
        "astype"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype: self.0 }.into())
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok(smallvec![Some(cast(&cotangents[0], at.inputs[0].dtype())?)]))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(*self, tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        super::fused::run_step(Step::Cast { x: 0, to: self.0 }, task)
    }
}
