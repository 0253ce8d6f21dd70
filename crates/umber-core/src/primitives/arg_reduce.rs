//! ArgReduce: the index of the minimum or maximum along an axis.

use smallvec::smallvec;
use umber_types::{ArgReduceKind, DType, Result};

use super::rules::zeros_like;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// Indices along `axis`, which keeps length one: of the first among equal elements, and of the first NaN if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ArgReduce {
    /// Minimum or maximum.
    pub kind: ArgReduceKind,
    /// Along which axis.
    pub axis: usize,
}

impl Primitive for ArgReduce {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: inputs[0].shape.with(self.axis, 1), dtype: DType::UInt32 }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.axis(self.axis)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let inner = ArgReduce { kind: self.kind, axis: self.axis + 1 };
            Ok(vec![Batched::yes(Array::record_one(inner, &[&inputs[0].array])?)])
        })
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::arg_reduce::arg_reduce(self.kind, inputs[0], self.axis, output);
            Ok(())
        })
    }
}
