//! MatMul: batched matrix products.

use umber_types::{Result, Shape, ensure};

use super::rules::{add, batch, conj, reshape, swap_last, zeros_like};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents, batch_size, rule,
};
use crate::validation::Site;

/// `[..., m, k]` times `[..., k, n]`; both inputs have the same batch axes and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct MatMul;

/// The product of two stacks of matrices with equal batch axes.
pub(crate) fn matmul(a: &Array, b: &Array) -> Result<Array> {
    Array::record_one(MatMul, &[a, b])
}

/// `[batch_size, m, k]` times an unbatched `[k, n]`, as a single product with `batch_size * m` rows.
fn fold_rows(a: &Array, b: &Array) -> Result<Array> {
    let (batch_size, rows, depth) = (a.shape()[0], a.shape()[1], a.shape()[2]);
    let tall = reshape(a, [batch_size * rows, depth])?;
    reshape(&matmul(&tall, b)?, [batch_size, rows, b.shape()[1]])
}

impl Primitive for MatMul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (a, b) = (&inputs[0].shape, &inputs[1].shape);
        let batch = a.ndim() - 2;
        debug_assert_eq!(a[..batch], b[..batch]);
        ensure!(a[batch + 1] == b[batch], Value("matmul"), "inner dimensions differ: {a} @ {b}");
        let shape: Shape = a[..=batch].iter().copied().chain([b[batch + 1]]).collect();
        Ok(ArraySpec { shape, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2)?;
        site.must(site.ndim(0) >= 2 && site.ndim(0) == site.ndim(1), "matrices")?;
        site.same_batch(2)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let [a, b] = [0, 1].map(|i| &change.new[i].shape);
        let batch = a.ndim() - 2;
        let axes = change.factored.iter().any(Option::is_some).then(|| {
            let mut factored_axes = change.parts(0);
            factored_axes[batch + 1].clone_from(&change.parts(1)[batch + 1]);
            factored_axes
        });
        (a[..batch] == b[..batch]).then(|| Generalized { op: MatMul.into(), axes })
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let ct = &cotangents[0];
            at.pull(|i| {
                let other = swap_last(&conj(&at.inputs[1 - i])?)?;
                if i == 0 { matmul(ct, &other) } else { matmul(&other, ct) }.map(Some)
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let left = tangents[0].as_ref().map(|t| matmul(t, &at.inputs[1])).transpose()?;
            let right = tangents[1].as_ref().map(|t| matmul(&at.inputs[0], t)).transpose()?;
            Ok(vec![match (left, right) {
                (Some(left), Some(right)) => add(&left, &right)?,
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => zeros_like(&at.outputs[0]),
            }])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (a, b) = (&inputs[0], &inputs[1]);
            if a.batched && !b.batched && b.ndim() == 2 {
                return Ok(vec![Batched::yes(fold_rows(&a.array, &b.array)?)]);
            }
            let batch_size = batch_size(inputs);
            Ok(vec![Batched::yes(matmul(&batch(a, batch_size)?, &batch(b, batch_size)?)?)])
        })
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Product
    }

    fn eager_reads(&self, inputs: &[&Array], specs: &[ArraySpec]) -> Option<usize> {
        let depth = inputs[0].shape().last().copied().unwrap_or(0);
        Some(depth.saturating_mul(specs[0].shape.size()))
    }

    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        let (depth, results) = (*inputs[0].shape.last()?, outputs[0].shape.size());
        Some(2 * depth as u64 * results as u64)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::matmul::matmul(inputs[0], inputs[1], output);
            Ok(())
        })
    }
}
