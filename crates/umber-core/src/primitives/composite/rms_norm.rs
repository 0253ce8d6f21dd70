//! RmsNorm: division by the root mean square along the last axis.

use umber_types::{Result, UnaryKind};

use super::{Decompose, Parameter, check_weight, mean_last, spread};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Rule, rule};
use crate::primitives::rules::{add, cast, constant, mul, same_spec, sub, unary, unbroadcast, widened};

/// `y = x / sqrt(mean(x²) + eps) * weight` along the last axis; the weight is a second input, of the dtype of `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct RmsNorm {
    /// Keeps the root away from zero.
    pub epsilon: Parameter,
    /// Is there a second input?
    pub has_weight: bool,
}

impl RmsNorm {
    /// `1 / sqrt(mean(x²) + eps)`, spread out over `x`.
    fn scale(&self, x: &Array) -> Result<Array> {
        let mean = mean_last(&unary(UnaryKind::Square, x)?)?;
        unary(UnaryKind::Rsqrt, &add(&mean, &constant(&mean, self.epsilon.value()))?)
    }
}

impl Decompose for RmsNorm {
    fn name(&self) -> &'static str {
        "rms_norm"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        if self.has_weight {
            check_weight("rms_norm", "weight", inputs[0], inputs[1])?;
        }
        Ok(same_spec(inputs))
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = widened(&inputs[0])?;
        let mut y = mul(&x, &self.scale(&x)?)?;
        if self.has_weight {
            y = mul(&y, &spread(&inputs[1], &y)?)?;
        }
        Ok(vec![cast(&y, inputs[0].dtype())?])
    }

    /// With `s` the scale, `u = x s` and `g = ct weight`: `s (g - u mean(g u))` for `x`, `sum(ct u)` for the weight.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, ct) = (widened(&at.inputs[0])?, widened(&cotangents[0])?);
            let scale = self.scale(&x)?;
            let unit = mul(&x, &scale)?;
            at.pull(|i| {
                let pulled = if i == 0 {
                    let g =
                        if self.has_weight { mul(&ct, &spread(&at.inputs[1], &ct)?)? } else { ct.clone() };
                    let along = mul(&unit, &mean_last(&mul(&g, &unit)?)?)?;
                    mul(&scale, &sub(&g, &along)?)?
                } else {
                    unbroadcast(&mul(&ct, &unit)?, at.inputs[i].shape())?
                };
                cast(&pulled, at.inputs[i].dtype()).map(Some)
            })
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let epsilon = self.epsilon.value();
        task.run_one(|inputs, output| {
            umber_kernels::norm::rms_norm(inputs[0], inputs.get(1).copied(), epsilon, output);
            Ok(())
        })
    }
}
