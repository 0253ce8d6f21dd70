//! ShiftedLogSumExp: the maximum of the last axis, and the log-sum-exp of the differences from it.

use smallvec::smallvec;
use umber_types::{BinaryKind, ReduceKind, Result, Shape, UnaryKind};

use super::{Composite, Decompose, batch_rows, drop_last, last_axis, work};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, Tangents, rule};
use crate::primitives::reduce::{Reduce, sum};
use crate::primitives::rules::{
    binary, broadcast, cast, constant, mul, neg, reshape, sub, unary, widened, zeros_like,
};
use crate::primitives::select::Select;
use crate::validation::Site;

/// `m = max(x)` and `y = log(sum(exp(x - m)))` along the last axis, which is removed, in the dtype that `x` computes in.
///
/// `(x - m) - y` is the logarithm of the softmax. It does not cancel for large `m`, unlike `x - logsumexp(x)`.
///
/// Derivatives treat `m` as a constant. They are right only for results that do not depend on `m`, like this difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ShiftedLogSumExp;

/// The two outputs of [`ShiftedLogSumExp`].
pub(crate) struct Shifted {
    /// The maximum.
    pub(crate) max: Array,
    /// `log(sum(exp(x - max)))`.
    pub(crate) log: Array,
}

/// [`ShiftedLogSumExp`] of an array with at least one axis; complex numbers have no kernel.
pub(crate) fn shifted_logsumexp(x: &Array) -> Result<Shifted> {
    let outputs = if x.dtype().is_complex() {
        ShiftedLogSumExp.decompose(std::slice::from_ref(x))?
    } else {
        Array::record(Composite::ShiftedLogSumExp(ShiftedLogSumExp), smallvec![x.clone()])?.into_vec()
    };
    let [max, log] = <[Array; 2]>::try_from(outputs).expect("two outputs");
    Ok(Shifted { max, log })
}

/// A value for each row, repeated along the last axis of `shape`.
fn along_rows(values: &Array, shape: &Shape) -> Result<Array> {
    let column: Shape = values.shape().iter().copied().chain([1]).collect();
    broadcast(&reshape(values, column)?, shape)
}

impl ShiftedLogSumExp {
    /// The derivative of `y` for constant `m`: the softmax of the input, and zero where all terms are `exp(-inf)`.
    fn derivative(at: &Point<'_>) -> Result<Array> {
        let (x, max, log) = (widened(&at.inputs[0])?, &at.outputs[0], &at.outputs[1]);
        // An infinite maximum is not subtracted: `inf - inf` is NaN.
        let is_empty_sum = binary(BinaryKind::Equal, max, &constant(max, f64::NEG_INFINITY))?;
        let shift = Array::record_one(Select, &[&is_empty_sum, &zeros_like(max), max])?;
        let exponentials = unary(UnaryKind::Exp, &sub(&x, &along_rows(&shift, x.shape())?)?)?;
        mul(&exponentials, &along_rows(&unary(UnaryKind::Exp, &neg(log)?)?, x.shape())?)
    }
}

impl Decompose for ShiftedLogSumExp {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let x = inputs[0];
        let spec = ArraySpec { shape: x.shape[..x.shape.ndim() - 1].into(), dtype: work(x.dtype) };
        Ok([spec.clone(), spec].into_iter().collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = &widened(&inputs[0])?;
        let max = Array::record_one(Reduce { kind: ReduceKind::Max, axes: last_axis(x) }, &[x])?;
        // An infinite maximum is not subtracted: `inf - inf` is NaN.
        let is_finite = binary(BinaryKind::Equal, &sub(&max, &max)?, &zeros_like(&max))?;
        let shift = Array::record_one(Select, &[&is_finite, &max, &zeros_like(&max)])?;
        let exponentials = unary(UnaryKind::Exp, &sub(x, &broadcast(&shift, x.shape())?)?)?;
        let total = sum(&exponentials, &last_axis(x))?;
        let total = Array::record_one(Select, &[&is_finite, &total, &constant(&total, 1.0)])?;
        Ok(vec![drop_last(&max)?, drop_last(&unary(UnaryKind::Log, &total)?)?])
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = &at.inputs[0];
            let ct = along_rows(&cotangents[1], x.shape())?;
            Ok(smallvec![Some(cast(&mul(&ct, &ShiftedLogSumExp::derivative(at)?)?, x.dtype())?)])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = widened(tangents[0].as_ref().expect("jvp rules run with a tangent"))?;
            let pushed = drop_last(&sum(&mul(&t, &ShiftedLogSumExp::derivative(at)?)?, &last_axis(&t))?)?;
            Ok(vec![zeros_like(&at.outputs[0]), pushed])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        batch_rows(*self, inputs)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let [maxima, logs] = outputs else { unreachable!("two outputs") };
            umber_kernels::softmax::shifted_logsumexp(inputs[0], maxima.reborrow(), logs.reborrow());
            Ok(())
        })
    }
}
