//! IndexedMatMul: sums of products of matrices gathered from stacks. Its derivatives are of the same kind.

use umber_types::{BinaryKind, DType, Result, Scalar, Shape, ensure};

use super::gather::{iota, named};
use super::matmul::MatMul;
use super::rules::{add, batch, binary, broadcast, cast, conj, constant, reshape, swap_last, zeros_like};
use super::select::Select;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Inputs: stacks of matrices `a` and `b`, and three lists of indices: `out[r]` is the sum of `a[left[s]] @ b[right[s]]` over
/// all `s` with `targets[s] = r`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct IndexedMatMul {
    /// How many matrices the result has.
    pub count: usize,
    /// The function that was called, which messages name; files do not keep it.
    #[serde(skip, default = "unnamed")]
    pub op: &'static str,
}

/// The function named in error messages of a program loaded from a file, which does not store the name.
fn unnamed() -> &'static str {
    "gather_mm"
}

/// The sums of products of gathered matrices; `count` is the number of results.
pub(crate) fn indexed_matmul(
    op: &'static str,
    count: usize,
    [a, b]: [&Array; 2],
    [left, right, targets]: [&Array; 3],
) -> Result<Array> {
    Array::record_one(IndexedMatMul { count, op }, &[a, b, left, right, targets])
}

/// Indices into the concatenation of the stacks of all batch elements: `index + batch_element * length`.
///
/// Negative indices count from the end of a stack if `end` equals `length`; other indices out of bounds of their own stack
/// become out of bounds of the concatenation. With `end = length + 1`, `length` itself is in bounds (the end of a segment)
/// and negative indices are out of bounds.
pub(crate) fn offset_batch_indices(
    index: &Batched,
    batch_size: usize,
    length: usize,
    end: usize,
) -> Result<Array> {
    let index = batch(index, batch_size)?;
    let scalar = |value: usize| constant(&index_zeros(&index), value as i64);
    let index = if index.dtype() == DType::UInt64 {
        // Values above the int64 maximum would become negative and count from the end.
        binary(BinaryKind::Minimum, &index, &constant(&index, i64::MAX))?
    } else {
        index.clone()
    };
    let index = cast(&index, DType::Int64)?;
    let (zero, stack_length) = (scalar(0), scalar(length));
    let is_negative = Array::record_one(super::binary::Binary(BinaryKind::Less), &[&index, &zero])?;
    let from_end = if end == length { add(&index, &stack_length)? } else { constant(&index, -1) };
    let index = Array::record_one(Select, &[&is_negative, &from_end, &index])?;
    let shifted = add(&index, &binary(BinaryKind::Multiply, &iota(index.shape(), 0)?, &stack_length)?)?;
    let compare = |kind, bound: &Array| Array::record_one(super::binary::Binary(kind), &[&index, bound]);
    let above = compare(BinaryKind::GreaterEqual, &scalar(if end == length { length } else { length + 1 }))?;
    let below = compare(BinaryKind::Less, &zero)?;
    let outside = scalar(batch_size * length + 1);
    let shifted = Array::record_one(Select, &[&above, &outside, &shifted])?;
    Array::record_one(Select, &[&below, &outside, &shifted])
}

fn index_zeros(index: &Array) -> Array {
    Array::full(index.shape().clone(), Scalar::Int(0), DType::Int64)
}

/// `x` with its first two axes merged.
pub(crate) fn merge_batch(x: &Array) -> Result<Array> {
    let mut shape = x.shape().clone();
    let first = shape.remove(0);
    shape.as_mut_slice()[0] *= first;
    reshape(x, shape)
}

/// `x` with its first axis split into `[batch_size, length]`.
pub(crate) fn split_first_axis(x: &Array, batch_size: usize, length: usize) -> Result<Array> {
    let shape: Shape = [batch_size, length].into_iter().chain(x.shape()[1..].iter().copied()).collect();
    reshape(x, shape)
}

impl Primitive for IndexedMatMul {
    fn name(&self) -> &'static str {
        "gather_mm"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (a, b) = (&inputs[0].shape, &inputs[1].shape);
        ensure!(
            a.ndim() == 3 && b.ndim() == 3 && a[2] == b[1],
            Value(self.op),
            "inner dimensions differ: {a} @ {b}"
        );
        ensure!(
            inputs[2..].iter().all(|index| index.dtype.is_integer() && index.shape == inputs[2].shape),
            Value(self.op),
            "indices must be integers of equal shape"
        );
        Ok(ArraySpec { shape: Shape::from([self.count, a[1], b[2]]), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(5)?;
        site.must(site.inputs[0].dtype == site.inputs[1].dtype, "equal dtypes")?;
        site.must(site.ndim(2) == 1, "lists of indices")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let [a, b, left, right, targets] = at.inputs else { unreachable!("five inputs") };
            let ct = &cotangents[0];
            let adjoint_of = |x: &Array| swap_last(&conj(x)?);
            at.pull(|i| match i {
                0 => indexed_matmul(self.op, a.shape()[0], [ct, &adjoint_of(b)?], [targets, right, left])
                    .map(Some),
                1 => indexed_matmul(self.op, b.shape()[0], [&adjoint_of(a)?, ct], [left, targets, right])
                    .map(Some),
                _ => Ok(None),
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let [a, b, left, right, targets] = at.inputs else { unreachable!("five inputs") };
            let product =
                |a: &Array, b: &Array| indexed_matmul(self.op, self.count, [a, b], [left, right, targets]);
            Ok(vec![match (&tangents[0], &tangents[1]) {
                (Some(da), Some(db)) => add(&product(da, b)?, &product(a, db)?)?,
                (Some(da), None) => product(da, b)?,
                (None, Some(db)) => product(a, db)?,
                (None, None) => zeros_like(&at.outputs[0]),
            }])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            // An unbatched stack is not copied for each batch element; its indices need no offset.
            let stack_and_indices = |i: usize, stack: &Batched| -> Result<(Array, Array)> {
                if stack.batched {
                    let length = stack.shape()[0];
                    let index = offset_batch_indices(&inputs[i], batch_size, length, length)?;
                    Ok((merge_batch(&stack.array)?, merge_batch(&index)?))
                } else {
                    Ok((stack.array.clone(), merge_batch(&batch(&inputs[i], batch_size)?)?))
                }
            };
            let (a, left) = stack_and_indices(2, &inputs[0])?;
            let (b, right) = stack_and_indices(3, &inputs[1])?;
            let targets =
                merge_batch(&offset_batch_indices(&inputs[4], batch_size, self.count, self.count)?)?;
            let out = indexed_matmul(self.op, batch_size * self.count, [&a, &b], [&left, &right, &targets])?;
            Ok(vec![Batched::yes(split_first_axis(&out, batch_size, self.count)?)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input >= 2
    }

    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        MatMul.flops(inputs, outputs)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::matmul::indexed(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], output)
                .map_err(|error| named(self.op, error))
        })
    }
}

/// `0, 1, …, count - 1`.
pub(crate) fn each(count: usize) -> Result<Array> {
    iota(&Shape::from([count]), 0)
}

/// `index` broadcast to a shape and flattened.
pub(crate) fn listed(index: &Array, shape: &Shape) -> Result<Array> {
    reshape(&broadcast(index, shape)?, [shape.size()])
}
