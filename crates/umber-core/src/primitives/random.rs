//! RandomBits: uniformly distributed bits that depend on a key alone.

use smallvec::smallvec;
use umber_types::{DType, Result, Shape};

use super::rules::zeros_like;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// Uint32 from keys of two words: keys `[..., 2]` give `[..., *shape]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RandomBits {
    /// What one key gives.
    pub shape: Shape,
}

impl Primitive for RandomBits {
    fn name(&self) -> &'static str {
        "random_bits"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let keys = &inputs[0].shape;
        let batch = keys[..keys.ndim() - 1].iter().copied();
        Ok(ArraySpec { shape: batch.chain(self.shape.iter().copied()).collect(), dtype: DType::UInt32 }
            .into())
    }

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(vec![Batched::yes(Array::record_one(self.clone(), &[&inputs[0].array])?)]))
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::random::random_bits(inputs[0], DType::UInt32.size(), output);
            Ok(())
        })
    }
}
