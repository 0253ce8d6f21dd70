//! Softmax: exponentials along the last axis divided by their sum.

use smallvec::smallvec;
use umber_types::{DType, ReduceKind, Result, UnaryKind};

use super::{Decompose, batch_rows, last_axis, sum_last};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, Tangents, rule};
use crate::primitives::reduce::Reduce;
use crate::primitives::rules::{broadcast, cast, conj, div, mul, same_spec, sub, unary};
use crate::validation::Site;

/// `y = exp(x - max(x)) / sum(exp(x - max(x)))` along the last axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Softmax {
    /// Are 16-bit floats computed in float32?
    pub precise: bool,
}

impl Softmax {
    /// The derivative applied to `t`: `y (t - sum(y t))`. It is symmetric, so that jvp and vjp share it.
    fn derivative(y: &Array, t: &Array) -> Result<Array> {
        mul(y, &sub(t, &sum_last(&mul(t, y)?)?)?)
    }
}

impl Decompose for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let dtype = inputs[0].dtype();
        let x = if self.precise && dtype.is_half() { &cast(&inputs[0], DType::Float32)? } else { &inputs[0] };
        if x.size() == 0 {
            return Ok(vec![inputs[0].clone()]);
        }
        let largest = Array::record_one(Reduce { kind: ReduceKind::Max, axes: last_axis(x) }, &[x])?;
        let exponentials = unary(UnaryKind::Exp, &sub(x, &broadcast(&largest, x.shape())?)?)?;
        Ok(vec![cast(&div(&exponentials, &sum_last(&exponentials)?)?, dtype)?])
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok(smallvec![Some(Softmax::derivative(&conj(&at.outputs[0])?, &cotangents[0])?)]))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = tangents[0].as_ref().expect("jvp rules run with a tangent");
            Ok(vec![Softmax::derivative(&at.outputs[0], t)?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        batch_rows(*self, inputs)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::softmax::softmax(inputs[0], output);
            Ok(())
        })
    }
}
