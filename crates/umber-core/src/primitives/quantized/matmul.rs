//! QuantizedMatMul: products of matrices with quantised ones, which indices may pick from stacks.

use smallvec::SmallVec;
pub use umber_kernels::quantized::Transposed;
use umber_kernels::quantized::{BatchIndices, Product as Kernel};
use umber_types::{Quantization, Result, Shape, ensure};

use super::super::gather::named;
use super::super::indexed_matmul::{indexed_matmul, joined, parted, split_batch};
use super::super::rules::{
    add, batch, cast, mul, reshape, swap_last, tangent_or_zero, transpose, zeros_like,
};
use super::{group_sums, levels, row_length, validate_parts};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// What a product is, whatever it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Product {
    /// How the right matrices are stored.
    pub how: Quantization,
    /// Are they turned?
    pub turned: Transposed,
}

/// Inputs: stacks of left matrices `[p, m, k]`, of words, scales and (in affine mode) biases `[q, rows, …]`; then, with a
/// `count`, three lists of indices: `out[r]` is the sum of `x[left[s]] @ w[right[s]]` over all `s` with `places[s] = r`.
/// Without, `p = q` and matrices of equal numbers meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct QuantizedMatMul {
    /// What is done.
    pub product: Product,
    /// How many matrices the result has, where indices pick.
    pub count: Option<usize>,
}

/// The product of a stack with a quantised one: `float_parts` are words, scales and biases; `batch_indices` as for [`QuantizedMatMul`].
pub(crate) fn quantized_matmul(
    product: Product,
    x: &Array,
    parts: &[Array],
    batch_indices: Option<(usize, [&Array; 3])>,
) -> Result<Array> {
    let count = batch_indices.map(|(count, _)| count);
    let mut inputs: SmallVec<[&Array; 7]> = std::iter::once(x).chain(parts).collect();
    inputs.extend(batch_indices.into_iter().flat_map(|(_, indices)| indices));
    Array::record_one(QuantizedMatMul { product, count }, &inputs)
}

/// Where an array's axes go when lanes become rows: `[batch_size, p, m, k]` to `[p, batch_size * m, k]`.
fn batch_as_rows(x: &Array) -> Result<Array> {
    let [batch_size, p, m, k] = x.shape()[..] else { unreachable!("lanes of stacks") };
    reshape(&transpose(x, &[1, 0, 2, 3])?, [p, batch_size * m, k])
}

impl Product {
    fn flipped(self) -> Product {
        let turned = match self.turned {
            Transposed::Yes => Transposed::No,
            Transposed::No => Transposed::Yes,
        };
        Product { turned, ..self }
    }
}

impl QuantizedMatMul {
    fn parts(&self) -> usize {
        if self.product.how.has_biases() { 3 } else { 2 }
    }

    /// Left stack, parts of the right one, and the indices.
    fn inputs<'a, T>(&self, inputs: &'a [T]) -> (&'a T, &'a [T], &'a [T]) {
        let (parts, batch_indices) = inputs[1..].split_at(self.parts());
        (&inputs[0], parts, batch_indices)
    }

    fn record(&self, x: &Array, parts: &[Array], batch_indices: &[Array]) -> Result<Array> {
        let batch_indices = match (self.count, batch_indices) {
            (Some(count), [left, right, places]) => Some((count, [left, right, places])),
            _ => None,
        };
        quantized_matmul(self.product, x, parts, batch_indices)
    }

    /// The cotangent of the right matrices as if they were not quantised, in the dtype of `x`.
    fn dense_cotangent(&self, at: &Point<'_>, ct: &Array) -> Result<Array> {
        let (x, parts, batch_indices) = self.inputs(at.inputs);
        let (a, b) = match self.product.turned {
            Transposed::Yes => (swap_last(ct)?, x.clone()),
            Transposed::No => (swap_last(x)?, ct.clone()),
        };
        match (batch_indices, self.product.turned) {
            ([left, right, places], Transposed::Yes) => {
                indexed_matmul(parts[0].shape()[0], [&a, &b], [places, left, right])
            }
            ([left, right, places], Transposed::No) => {
                indexed_matmul(parts[0].shape()[0], [&a, &b], [left, places, right])
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
        let (x, parts, batch_indices) = self.inputs(inputs);
        let length = row_length(self.name(), self.product.how, parts)?;
        let rows = parts[0].shape[1];
        let (k, n) = match self.product.turned {
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
        let (parts, batch_indices) = (self.parts(), if self.count.is_some() { 3 } else { 0 });
        site.takes(1 + parts + batch_indices)?;
        validate_parts(self.product.how, site, &site.inputs[1..=parts])?;
        let are_stacks = site.inputs[0].dtype.is_floating() && site.ndim(0) == 3 && site.ndim(1) == 3;
        site.must(are_stacks, "stacks of matrices of real numbers")?;
        let is_whole = self.count.is_some() || site.inputs[0].shape[0] == site.inputs[1].shape[0];
        site.must(is_whole, "equal batch shapes")
    }

    any_lengths!();

    /// The cotangent of a weight is that of its group's scale once for each step of its code.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let ct = &cotangents[0];
            let (x, parts, batch_indices) = self.inputs(at.inputs);
            let how = self.product.how;
            let needs_weights = at.wanted[1..=parts.len()].iter().any(|&wanted| wanted);
            let dense =
                (needs_weights && how.has_biases()).then(|| self.dense_cotangent(at, ct)).transpose()?;
            at.pull(|i| match (i, &dense) {
                (0, _) => {
                    let flipped = self.product.flipped();
                    let batch_indices = match batch_indices {
                        [left, right, places] => Some((x.shape()[0], [places, right, left])),
                        _ => None,
                    };
                    quantized_matmul(flipped, ct, parts, batch_indices).map(Some)
                }
                (2, Some(dense)) => {
                    let levels = cast(&levels(how, &parts[0], &parts[1])?, dense.dtype())?;
                    cast(&group_sums(how, &mul(dense, &levels)?)?, parts[1].dtype()).map(Some)
                }
                (3, Some(dense)) => cast(&group_sums(how, dense)?, parts[2].dtype()).map(Some),
                _ => Ok(None),
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let (x, parts, batch_indices) = self.inputs(at.inputs);
            let of_x = tangents[0].as_ref().map(|dx| self.record(dx, parts, batch_indices)).transpose()?;
            let of_parts = match parts {
                [words, scales, biases] if tangents[2].is_some() || tangents[3].is_some() => {
                    let moved =
                        [(2, scales), (3, biases)].map(|(i, x)| tangent_or_zero(tangents[i].as_ref(), x));
                    let [scales, biases] = moved;
                    Some(self.record(x, &[words.clone(), scales, biases], batch_indices)?)
                }
                _ => None,
            };
            Ok(vec![match (of_x, of_parts) {
                (Some(a), Some(b)) => add(&a, &b)?,
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => zeros_like(&at.outputs[0]),
            }])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let (x, parts, batch_indices) = self.inputs(inputs);
            let share_right = parts.iter().all(|part| !part.batched);
            let plain: Vec<Array> = parts.iter().map(|part| part.array.clone()).collect();
            if batch_indices.is_empty() && share_right {
                // Lanes are more rows.
                let out = self.record(&batch_as_rows(&x.array)?, &plain, &[])?;
                let (p, n) = (out.shape()[0], out.shape()[2]);
                let out = reshape(&out, [p, batch_size, x.shape()[1], n])?;
                return Ok(vec![Batched::yes(transpose(&out, &[1, 0, 2, 3])?)]);
            }
            if batch_indices.is_empty() {
                let stack = |input: &Batched| joined(&batch(input, batch_size)?);
                let parts = parts.iter().map(stack).collect::<Result<Vec<_>>>()?;
                let out = self.record(&stack(x)?, &parts, &[])?;
                return Ok(vec![Batched::yes(parted(&out, batch_size, x.shape()[0])?)]);
            }
            // A stack that all lanes share needs no second copy: its indices stay as they are.
            let index = |index: &Batched, is_stacked: bool, length: usize| -> Result<Array> {
                if is_stacked {
                    joined(&split_batch(index, batch_size, length, length)?)
                } else {
                    joined(&batch(index, batch_size)?)
                }
            };
            let stack = |input: &Batched, is_stacked: bool| -> Result<Array> {
                if is_stacked { joined(&batch(input, batch_size)?) } else { Ok(input.array.clone()) }
            };
            let count = self.count.expect("with indices");
            let batch_indices = [
                index(&batch_indices[0], x.batched, x.shape()[0])?,
                index(&batch_indices[1], !share_right, parts[0].shape()[0])?,
                index(&batch_indices[2], true, count)?,
            ];
            let parts = parts.iter().map(|part| stack(part, !share_right)).collect::<Result<Vec<_>>>()?;
            let whole = QuantizedMatMul { count: Some(batch_size * count), ..*self };
            let out = whole.record(&stack(x, x.batched)?, &parts, &batch_indices)?;
            Ok(vec![Batched::yes(parted(&out, batch_size, count)?)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        let is_factor = self.product.how.has_biases() && (2..=3).contains(&input);
        input != 0 && !is_factor
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let Product { how, turned } = self.product;
        task.run_one(|inputs, output| {
            let (&x, parts, batch_indices) = self.inputs(inputs);
            let batch_indices = match *batch_indices {
                [left, right, places] => Some(BatchIndices { left, right, places }),
                _ => None,
            };
            let (words, scales, biases) = (parts[0], parts[1], parts.get(2).copied());
            let product = Kernel { format: how, transposed: turned, x, words, scales, biases, batch_indices };
            umber_kernels::quantized::matmul(&product, output).map_err(|error| named(self.name(), error))
        })
    }
}
