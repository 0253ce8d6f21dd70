//! SegmentedMatMul: matrix products over segments of an axis. The two kinds are closed under differentiation.

use umber_types::{DType, Result, Shape, ensure};

use super::gather::named;
use super::indexed_matmul::{merge_batch, offset_batch_indices, split_first_axis};
use super::rules::{add, batch, conj, move_axis, swap_last, zeros_like};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// The kind of product. The third input, `[segments, 2]` of int64, holds start and end of each segment of the axis of
/// length `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SegmentedMatMul {
    /// `[m, k]` and `[k, n]` to `[segments, m, n]`: `out[s] = x[:, start:end] @ y[start:end]` for segment `s`.
    Sums,
    /// `[k, n]` and `[segments, n, m]` to `[k, m]`: `out[i]` is the sum of `x[i] @ y[s]` over the segments that contain `i`.
    Rows,
}

impl SegmentedMatMul {
    pub(crate) fn record(self, x: &Array, y: &Array, segments: &Array) -> Result<Array> {
        Array::record_one(self, &[x, y, segments])
    }
}

impl Primitive for SegmentedMatMul {
    fn name(&self) -> &'static str {
        "segmented_mm"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let [x, y, segments] = [0, 1, 2].map(|i| &inputs[i].shape);
        ensure!(
            inputs[2].dtype == DType::Int64 && segments.ndim() == 2 && segments[1] == 2,
            Value("segmented_mm"),
            "last axis of segments must have length 2, got shape {segments}"
        );
        let (fits, shape) = match self {
            SegmentedMatMul::Sums => (x[1] == y[0], Shape::from([segments[0], x[0], y[1]])),
            SegmentedMatMul::Rows => (x[1] == y[1] && y[0] == segments[0], Shape::from([x[0], y[2]])),
        };
        ensure!(fits, Value("segmented_mm"), "inner dimensions differ: {x} @ {y}");
        Ok(ArraySpec { shape, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(3)?;
        site.must(site.inputs[0].dtype == site.inputs[1].dtype, "equal dtypes")?;
        let are_matrices = site.ndim(0) == 2 && (2..=3).contains(&site.ndim(1)) && site.ndim(2) == 2;
        site.must(are_matrices, "matrices")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let [x, y, segments] = at.inputs else { unreachable!("three inputs") };
            let (ct, adjoint_of) = (&cotangents[0], |x: &Array| swap_last(&conj(x)?));
            at.pull(|i| {
                Ok(match (self, i) {
                    (SegmentedMatMul::Sums, 0) => {
                        let transposed_ct =
                            SegmentedMatMul::Rows.record(&conj(y)?, &swap_last(ct)?, segments)?;
                        Some(swap_last(&transposed_ct)?)
                    }
                    (SegmentedMatMul::Sums, 1) => {
                        Some(SegmentedMatMul::Rows.record(&adjoint_of(x)?, ct, segments)?)
                    }
                    (SegmentedMatMul::Rows, 0) => {
                        Some(SegmentedMatMul::Rows.record(ct, &adjoint_of(y)?, segments)?)
                    }
                    (SegmentedMatMul::Rows, 1) => {
                        Some(SegmentedMatMul::Sums.record(&adjoint_of(x)?, ct, segments)?)
                    }
                    (SegmentedMatMul::Sums | SegmentedMatMul::Rows, _) => None,
                })
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let [x, y, segments] = at.inputs else { unreachable!("three inputs") };
            Ok(vec![match (&tangents[0], &tangents[1]) {
                (Some(dx), Some(dy)) => add(&self.record(dx, y, segments)?, &self.record(x, dy, segments)?)?,
                (Some(dx), None) => self.record(dx, y, segments)?,
                (None, Some(dy)) => self.record(x, dy, segments)?,
                (None, None) => zeros_like(&at.outputs[0]),
            }])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            // The segmented axes of all batch elements are concatenated; segments are shifted to match.
            let batch_size = batch_size(inputs);
            let (x, y) = (batch(&inputs[0], batch_size)?, batch(&inputs[1], batch_size)?);
            let (length, count) = (y.shape()[1], inputs[2].shape()[0]);
            Ok(vec![Batched::yes(match self {
                SegmentedMatMul::Sums => {
                    let wide = move_axis(&x, 0, 1)?;
                    let shape = Shape::from([wide.shape()[0], batch_size * wide.shape()[2]]);
                    let wide = super::rules::reshape(&wide, shape)?;
                    let segments =
                        merge_batch(&offset_batch_indices(&inputs[2], batch_size, length, length + 1)?)?;
                    split_first_axis(&self.record(&wide, &merge_batch(&y)?, &segments)?, batch_size, count)?
                }
                SegmentedMatMul::Rows => {
                    let length = x.shape()[1];
                    let segments =
                        merge_batch(&offset_batch_indices(&inputs[2], batch_size, length, length + 1)?)?;
                    split_first_axis(
                        &self.record(&merge_batch(&x)?, &merge_batch(&y)?, &segments)?,
                        batch_size,
                        length,
                    )?
                }
            })])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input == 2
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        if !task.inputs[2].layout.is_contiguous() {
            task.inputs[2] = task.host(2).to_dense(DType::Int64)?;
        }
        let kernel = match self {
            SegmentedMatMul::Sums => umber_kernels::matmul::segmented_sums,
            SegmentedMatMul::Rows => umber_kernels::matmul::segmented_rows,
        };
        task.run_one(|inputs, output| {
            kernel(inputs[0], inputs[1], inputs[2], output).map_err(|error| named("segmented_mm", error))
        })
    }
}
