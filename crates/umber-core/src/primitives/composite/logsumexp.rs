//! LogSumExp: the logarithm of the sum of exponentials along the last axis.

use smallvec::smallvec;
use umber_types::{BinaryKind, ReduceKind, Result, UnaryKind};

use super::{Decompose, Softmax, batch_rows, drop_last, last_axis, softmax};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, Tangents, rule};
use crate::primitives::reduce::{Reduce, sum};
use crate::primitives::rules::{
    add, binary, broadcast, conj, constant, mul, reshape, sub, unary, zeros_like,
};
use crate::primitives::select::Select;
use crate::validation::Site;

/// `y = log(sum(exp(x - m))) + m` with `m = max(x)`, along the last axis, which is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct LogSumExp;

impl LogSumExp {
    /// The derivative: the softmax of the input, and zero where all terms are `exp(-inf)`.
    fn derivative(at: &Point<'_>) -> Result<Array> {
        let (x, y) = (&at.inputs[0], &at.outputs[0]);
        let derivative = softmax(x, Softmax { precise: true })?;
        let mut column = y.shape().clone();
        column.push(1);
        let is_empty_sum = binary(BinaryKind::Equal, y, &constant(y, f64::NEG_INFINITY))?;
        let is_empty_sum = broadcast(&reshape(&is_empty_sum, column)?, x.shape())?;
        Array::record_one(Select, &[&is_empty_sum, &zeros_like(&derivative), &derivative])
    }
}

impl Decompose for LogSumExp {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let x = inputs[0];
        Ok(ArraySpec { shape: x.shape[..x.shape.ndim() - 1].into(), dtype: x.dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = &inputs[0];
        let largest = Array::record_one(Reduce { kind: ReduceKind::Max, axes: last_axis(x) }, &[x])?;
        // An infinite maximum is not subtracted: `inf - inf` is NaN.
        let is_finite = binary(BinaryKind::Equal, &sub(&largest, &largest)?, &zeros_like(&largest))?;
        let shift = Array::record_one(Select, &[&is_finite, &largest, &zeros_like(&largest)])?;
        let exponentials = unary(UnaryKind::Exp, &sub(x, &broadcast(&shift, x.shape())?)?)?;
        let column = add(&unary(UnaryKind::Log, &sum(&exponentials, &last_axis(x))?)?, &shift)?;
        Ok(vec![drop_last(&column)?])
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let mut column = cotangents[0].shape().clone();
            column.push(1);
            let ct = broadcast(&reshape(&cotangents[0], column)?, at.inputs[0].shape())?;
            Ok(smallvec![Some(mul(&ct, &conj(&LogSumExp::derivative(at)?)?)?)])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = tangents[0].as_ref().expect("jvp rules run with a tangent");
            Ok(vec![drop_last(&sum(&mul(t, &LogSumExp::derivative(at)?)?, &last_axis(t))?)?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        batch_rows(*self, inputs)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::softmax::logsumexp(inputs[0], output);
            Ok(())
        })
    }
}
