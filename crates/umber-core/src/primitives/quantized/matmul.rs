//! QuantizedMatMul: products of dense and quantised matrices, optionally gathered from stacks.

use smallvec::SmallVec;
pub use umber_kernels::quantized::Transposed;
use umber_kernels::quantized::{BatchIndices, Product as Kernel};
use umber_types::{Quantization, Result, Shape, ensure};

use super::super::gather::named;
use super::super::indexed_matmul::{indexed_matmul, merge_batch, offset_batch_indices, split_first_axis};
use super::super::matmul::MatMul;
use super::super::rules::{
    add, batch, cast, mul, reshape, swap_last, tangent_or_zero, transpose, zeros_like,
};
use super::{group_sums, levels, row_length, validate_arrays};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// The parameters of a product with a quantised matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Product {
    /// The storage format of the right matrices.
    #[serde(rename = "how")]
    pub format: Quantization,
    /// Are the right matrices transposed?
    #[serde(rename = "turned")]
    pub transposed: Transposed,
}

/// Inputs: a stack of left matrices `x`, `[p, m, k]`, and stacks of words, scales and (in affine mode) biases, `[q, rows, …]`,
/// of right matrices `w`. With `count`, three lists of indices follow: `out[r]` is the sum of `x[left[s]] @ w[right[s]]` over
/// all `s` with `targets[s] = r`. Without it, `p = q` and `out[r] = x[r] @ w[r]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct QuantizedMatMul {
    /// Format and transposition of the right matrices.
    pub product: Product,
    /// Number of matrices in the result if the operands are gathered.
    pub count: Option<usize>,
}

/// The product of a stack of matrices with a quantised stack, given by its words, scales and biases in `arrays`;
/// `batch_indices` are the count and the index lists of [`QuantizedMatMul`].
pub(crate) fn quantized_matmul(
    product: Product,
    x: &Array,
    arrays: &[Array],
    batch_indices: Option<(usize, [&Array; 3])>,
) -> Result<Array> {
    let count = batch_indices.map(|(count, _)| count);
    let mut inputs: SmallVec<[&Array; 7]> = std::iter::once(x).chain(arrays).collect();
    inputs.extend(batch_indices.into_iter().flat_map(|(_, indices)| indices));
    Array::record_one(QuantizedMatMul { product, count }, &inputs)
}

/// Merge the batch axis of `vmap` into the rows: `[batch_size, p, m, k]` to `[p, batch_size * m, k]`.
fn batch_as_rows(x: &Array) -> Result<Array> {
    let [batch_size, p, m, k] = x.shape()[..] else { unreachable!("a batch of stacks") };
    reshape(&transpose(x, &[1, 0, 2, 3])?, [p, batch_size * m, k])
}

impl Product {
    fn flipped(self) -> Product {
        let transposed = match self.transposed {
            Transposed::Yes => Transposed::No,
            Transposed::No => Transposed::Yes,
        };
        Product { transposed, ..self }
    }
}

impl QuantizedMatMul {
    /// Number of arrays that store the right matrices.
    fn array_count(&self) -> usize {
        if self.product.format.has_biases() { 3 } else { 2 }
    }

    /// The left stack, the arrays of the right stack, and the index lists.
    fn inputs<'a, T>(&self, inputs: &'a [T]) -> (&'a T, &'a [T], &'a [T]) {
        let (arrays, batch_indices) = inputs[1..].split_at(self.array_count());
        (&inputs[0], arrays, batch_indices)
    }

    fn record(&self, x: &Array, arrays: &[Array], batch_indices: &[Array]) -> Result<Array> {
        let batch_indices = match (self.count, batch_indices) {
            (Some(count), [left, right, targets]) => Some((count, [left, right, targets])),
            _ => None,
        };
        quantized_matmul(self.product, x, arrays, batch_indices)
    }

    /// The cotangent of the dequantised right matrices, in the dtype of `x`.
    fn dense_cotangent(&self, at: &Point<'_>, ct: &Array) -> Result<Array> {
        let (x, arrays, batch_indices) = self.inputs(at.inputs);
        let (a, b) = match self.product.transposed {
            Transposed::Yes => (swap_last(ct)?, x.clone()),
            Transposed::No => (swap_last(x)?, ct.clone()),
        };
        match (batch_indices, self.product.transposed) {
            ([left, right, targets], Transposed::Yes) => {
                indexed_matmul("gather_qmm", arrays[0].shape()[0], [&a, &b], [targets, left, right])
            }
            ([left, right, targets], Transposed::No) => {
                indexed_matmul("gather_qmm", arrays[0].shape()[0], [&a, &b], [left, targets, right])
            }
            _ => super::super::matmul::matmul(&a, &b),
        }
    }
}

impl Primitive for QuantizedMatMul {
    fn name(&self) -> &'static str {
        if self.count.is_some() { "gather_qmm" } else { "quantized_matmul" }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (x, arrays, batch_indices) = self.inputs(inputs);
        let length = row_length(self.name(), self.product.format, arrays)?;
        let rows = arrays[0].shape[1];
        let (k, n) = match self.product.transposed {
            Transposed::Yes => (length, rows),
            Transposed::No => (rows, length),
        };
        ensure!(
            x.shape.ndim() == 3 && x.shape[2] == k,
            Value(self.name()),
            "inner dimensions differ: x of shape {}, quantised matrix of {k} by {n}",
            x.shape
        );
        ensure!(
            batch_indices
                .iter()
                .all(|index| index.dtype.is_integer() && index.shape == batch_indices[0].shape),
            Value("gather_qmm"),
            "indices must be integers of equal shape"
        );
        let count = self.count.unwrap_or(x.shape[0]);
        Ok(ArraySpec { shape: Shape::from([count, x.shape[1], n]), dtype: x.dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let (arrays, batch_indices) = (self.array_count(), if self.count.is_some() { 3 } else { 0 });
        site.takes(1 + arrays + batch_indices)?;
        validate_arrays(self.product.format, site, &site.inputs[1..=arrays])?;
        let are_stacks = site.inputs[0].dtype.is_floating() && site.ndim(0) == 3 && site.ndim(1) == 3;
        site.must(are_stacks, "stacks of matrices of real numbers")?;
        let has_equal_batch = self.count.is_some() || site.inputs[0].shape[0] == site.inputs[1].shape[0];
        site.must(has_equal_batch, "equal batch shapes")
    }

    any_lengths!();

    /// With `w = scale * level + bias`, the cotangent of a scale is the sum of `level * ct(w)` over its group, and that of a
    /// bias the sum of `ct(w)`.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let ct = &cotangents[0];
            let (x, arrays, batch_indices) = self.inputs(at.inputs);
            let format = self.product.format;
            let needs_weights = at.needs_cotangent[1..=arrays.len()].contains(&true);
            let dense =
                (needs_weights && format.has_biases()).then(|| self.dense_cotangent(at, ct)).transpose()?;
            at.pull(|i| match (i, &dense) {
                (0, _) => {
                    let flipped = self.product.flipped();
                    let batch_indices = match batch_indices {
                        [left, right, targets] => Some((x.shape()[0], [targets, right, left])),
                        _ => None,
                    };
                    quantized_matmul(flipped, ct, arrays, batch_indices).map(Some)
                }
                (2, Some(dense)) => {
                    let levels = cast(&levels(format, &arrays[0], &arrays[1])?, dense.dtype())?;
                    cast(&group_sums(format, &mul(dense, &levels)?)?, arrays[1].dtype()).map(Some)
                }
                (3, Some(dense)) => cast(&group_sums(format, dense)?, arrays[2].dtype()).map(Some),
                _ => Ok(None),
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let (x, arrays, batch_indices) = self.inputs(at.inputs);
            let of_x = tangents[0].as_ref().map(|dx| self.record(dx, arrays, batch_indices)).transpose()?;
            let of_weights = match arrays {
                [words, scales, biases] if tangents[2].is_some() || tangents[3].is_some() => {
                    let [scales, biases] =
                        [(2, scales), (3, biases)].map(|(i, x)| tangent_or_zero(tangents[i].as_ref(), x));
                    Some(self.record(x, &[words.clone(), scales, biases], batch_indices)?)
                }
                _ => None,
            };
            Ok(vec![match (of_x, of_weights) {
                (Some(a), Some(b)) => add(&a, &b)?,
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => zeros_like(&at.outputs[0]),
            }])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let (x, arrays, batch_indices) = self.inputs(inputs);
            let share_right = arrays.iter().all(|input| !input.batched);
            let unbatched: Vec<Array> = arrays.iter().map(|input| input.array.clone()).collect();
            if batch_indices.is_empty() && share_right {
                // The batch axis becomes part of the rows.
                let out = self.record(&batch_as_rows(&x.array)?, &unbatched, &[])?;
                let (p, n) = (out.shape()[0], out.shape()[2]);
                let out = reshape(&out, [p, batch_size, x.shape()[1], n])?;
                return Ok(vec![Batched::yes(transpose(&out, &[1, 0, 2, 3])?)]);
            }
            if batch_indices.is_empty() {
                let stack = |input: &Batched| merge_batch(&batch(input, batch_size)?);
                let arrays = arrays.iter().map(stack).collect::<Result<Vec<_>>>()?;
                let out = self.record(&stack(x)?, &arrays, &[])?;
                return Ok(vec![Batched::yes(split_first_axis(&out, batch_size, x.shape()[0])?)]);
            }
            // An unbatched stack is not copied for each batch element; its indices need no offset.
            let index = |index: &Batched, is_stacked: bool, length: usize| -> Result<Array> {
                if is_stacked {
                    merge_batch(&offset_batch_indices(index, batch_size, length, length)?)
                } else {
                    merge_batch(&batch(index, batch_size)?)
                }
            };
            let stack = |input: &Batched, is_stacked: bool| -> Result<Array> {
                if is_stacked { merge_batch(&batch(input, batch_size)?) } else { Ok(input.array.clone()) }
            };
            let count = self.count.expect("with indices");
            let batch_indices = [
                index(&batch_indices[0], x.batched, x.shape()[0])?,
                index(&batch_indices[1], !share_right, arrays[0].shape()[0])?,
                index(&batch_indices[2], true, count)?,
            ];
            let arrays = arrays.iter().map(|input| stack(input, !share_right)).collect::<Result<Vec<_>>>()?;
            let batched = QuantizedMatMul { count: Some(batch_size * count), ..*self };
            let out = batched.record(&stack(x, x.batched)?, &arrays, &batch_indices)?;
            Ok(vec![Batched::yes(split_first_axis(&out, batch_size, count)?)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        let is_factor = self.product.format.has_biases() && (2..=3).contains(&input);
        input != 0 && !is_factor
    }

    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        MatMul.flops(inputs, outputs)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let Product { format, transposed } = self.product;
        task.run_one(|inputs, output| {
            let (&x, arrays, batch_indices) = self.inputs(inputs);
            let batch_indices = match *batch_indices {
                [left, right, places] => Some(BatchIndices { left, right, places }),
                _ => None,
            };
            let (words, scales, biases) = (arrays[0], arrays[1], arrays.get(2).copied());
            let product = Kernel { format, transposed, x, words, scales, biases, batch_indices };
            umber_kernels::quantized::matmul(&product, output).map_err(|error| named(self.name(), error))
        })
    }
}
