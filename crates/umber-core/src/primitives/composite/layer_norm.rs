//! LayerNorm: the last axis normalised to mean zero and variance one.

use umber_types::Result;

use super::{
    Decompose, Parameter, batch_rows, broadcast_parameter, centred, check_weight, deviation_last,
    inverse_length, last_axis, mean_last,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, rule};
use crate::primitives::rules::{add, broadcast, cast, mul, same_spec, sub, unbroadcast, widened};
use crate::validation::Site;

/// `y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias` along the last axis.
///
/// Weight and bias are optional further inputs in this order, of the dtype of `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct LayerNorm {
    /// Added to the variance, so that the square root is not zero.
    pub epsilon: Parameter,
    /// Is there a weight?
    pub has_weight: bool,
    /// Is there a bias?
    pub has_bias: bool,
}

impl LayerNorm {
    fn weight<T>(self, inputs: &[T]) -> Option<&T> {
        if self.has_weight { inputs.get(1) } else { None }
    }

    fn bias<T>(self, inputs: &[T]) -> Option<&T> {
        if self.has_bias { inputs.last() } else { None }
    }

    /// `(x - mean(x)) s` and `s = 1 / sqrt(var(x) + eps)`, broadcast to the shape of `x`, in the compute dtype.
    fn normalized(self, x: &Array) -> Result<(Array, Array)> {
        let deviation = deviation_last(x)?;
        let scale = inverse_length(&deviation, self.epsilon.value())?;
        let scale = broadcast(&scale, x.shape())?;
        Ok((mul(&centred(x, &last_axis(x))?, &scale)?, scale))
    }
}

impl Decompose for LayerNorm {
    fn name(&self) -> &'static str {
        "layer_norm"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        for (name, parameter) in [("weight", self.weight(inputs)), ("bias", self.bias(inputs))] {
            if let Some(parameter) = parameter {
                check_weight("layer_norm", name, inputs[0], parameter)?;
            }
        }
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let (mut y, _) = self.normalized(&inputs[0])?;
        if let Some(weight) = self.weight(inputs) {
            y = mul(&y, &broadcast_parameter(weight, &y)?)?;
        }
        if let Some(bias) = self.bias(inputs) {
            y = add(&y, &broadcast_parameter(bias, &y)?)?;
        }
        Ok(vec![cast(&y, inputs[0].dtype())?])
    }

    /// With `u` the normalized `x`, `s` its scale and `g = ct weight`: `s (g - mean(g) - u mean(g u))` for `x`,
    /// `sum(ct u)` for the weight and `sum(ct)` for the bias.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let ct = widened(&cotangents[0])?;
            let (unit, scale) = self.normalized(&at.inputs[0])?;
            at.pull(|i| {
                let pulled = if i == 0 {
                    let g = match self.weight(at.inputs) {
                        Some(weight) => mul(&ct, &broadcast_parameter(weight, &ct)?)?,
                        None => ct.clone(),
                    };
                    let projection = mul(&unit, &mean_last(&mul(&g, &unit)?)?)?;
                    mul(&scale, &sub(&sub(&g, &mean_last(&g)?)?, &projection)?)?
                } else if i == 1 && self.has_weight {
                    unbroadcast(&mul(&ct, &unit)?, at.inputs[i].shape())?
                } else {
                    unbroadcast(&ct, at.inputs[i].shape())?
                };
                cast(&pulled, at.inputs[i].dtype()).map(Some)
            })
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        batch_rows(*self, inputs)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let epsilon = self.epsilon.value();
        task.run_one(|inputs, output| {
            let (weight, bias) = (self.weight(inputs).copied(), self.bias(inputs).copied());
            umber_kernels::norm::layer_norm(inputs[0], weight, bias, epsilon, output);
            Ok(())
        })
    }
}
