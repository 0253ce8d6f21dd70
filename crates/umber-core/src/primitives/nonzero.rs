//! Nonzero: the indices of true elements of rows.
//!
//! The number of indices is fixed when the node is recorded: the caller has counted the true elements, or the user gives a size.

use smallvec::smallvec;
use umber_types::{DType, Result, ensure};

use super::rules::{reshape, zeros_like};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// One input, bool, of shape B + (n,). The result of shape B + (size,), uint32 or int64 for larger n, holds the indices of the
/// true elements of each row in ascending order, padded with n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Nonzero {
    /// Number of indices per row.
    pub size: usize,
}

impl Nonzero {
    /// The indices of the first `size` true elements of the flattened `mask`.
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
