//! Search: binary search of insertion indices in sorted rows.

use smallvec::smallvec;
use umber_types::{DType, Result, Side, ensure};

use super::rules::{batch, zeros_like};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Inputs: ascending rows, shape B + (n,), and values, shape B + V, of one dtype. The result, uint32, is the insertion index
/// of each value in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Search {
    /// Is a value inserted before or after equal elements?
    pub side: Side,
}

impl Primitive for Search {
    fn name(&self) -> &'static str {
        "searchsorted"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (sorted, values) = (inputs[0], inputs[1]);
        let batch = sorted.shape.ndim().saturating_sub(1);
        ensure!(
            sorted.shape.ndim() > 0
                && sorted.dtype == values.dtype
                && values.shape.starts_with(&sorted.shape[..batch]),
            Value("searchsorted"),
            "sorted rows of shape {} and dtype {} do not match values of shape {} and dtype {}",
            sorted.shape,
            sorted.dtype,
            values.shape,
            values.dtype
        );
        Ok(ArraySpec { shape: values.shape.clone(), dtype: DType::UInt32 }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0])), Some(zeros_like(&at.inputs[1]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (sorted, values) = (&inputs[0], &inputs[1]);
            if !sorted.batched && sorted.ndim() == 1 {
                // An unbatched single row takes values of any shape.
                return Ok(vec![Batched::yes(Array::record_one(*self, &[&sorted.array, &values.array])?)]);
            }
            let batch_size = batch_size(inputs);
            let (sorted, values) = (batch(sorted, batch_size)?, batch(values, batch_size)?);
            Ok(vec![Batched::yes(Array::record_one(*self, &[&sorted, &values])?)])
        })
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::searchsorted(self.side, inputs[0], inputs[1], output);
            Ok(())
        })
    }
}

/// Insertion indices of `values` in the one-dimensional ascending `sorted` of the same dtype.
pub(crate) fn search(side: Side, sorted: &Array, values: &Array) -> Result<Array> {
    Array::record_one(Search { side }, &[sorted, values])
}
