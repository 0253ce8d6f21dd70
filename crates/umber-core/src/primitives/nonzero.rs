//! Nonzero: where the elements of rows are true.
//!
//! How many places there are is said when the node is recorded: by whoever looked at the values, or by the user.

use smallvec::smallvec;
use umber_types::{DType, Result, ensure};

use super::rules::{reshape, zeros_like};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// Inputs: bool, shape B + (n,). The result, uint32 (int64 where that cannot hold n) of shape B + (size,), has the places of the true elements of each
/// row in ascending order; where there are fewer, the rest is n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Nonzero {
    /// How many places each row has room for.
    pub size: usize,
}

impl Nonzero {
    /// The first `size` places where `mask`, seen as one row, is true.
    pub(crate) fn of(mask: &Array, size: usize) -> Result<Array> {
        Array::record_one(Nonzero { size }, &[&reshape(mask, [mask.size()])?])
    }
}

impl Primitive for Nonzero {
    fn name(&self) -> &'static str {
        "nonzero"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let mask = inputs[0];
        ensure!(
            mask.dtype == DType::Bool && mask.shape.ndim() > 0,
            Value("nonzero"),
            "mask must be bool with at least one axis, got shape {} and dtype {}",
            mask.shape,
            mask.dtype
        );
        let shape = mask.shape.with(mask.shape.ndim() - 1, self.size);
        let length = mask.shape[mask.shape.ndim() - 1];
        let dtype = if u32::try_from(length).is_ok() { DType::UInt32 } else { DType::Int64 };
        Ok(ArraySpec { shape, dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(vec![Batched::yes(Array::record_one(*self, &[&inputs[0].array])?)]))
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::nonzero(inputs[0], output);
            Ok(())
        })
    }
}
