//! RmsNorm: division by the root mean square along the last axis.

use umber_types::{BinaryKind, DType, KeepAxes, ReduceKind, Result, UnaryKind};

use super::{Decompose, Parameter, batch_rows, broadcast_parameter, check_weight, last_axis, mean_last};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, rule};
use crate::primitives::reduce::{Reduce, mean};
use crate::primitives::rules::{
    add, binary, broadcast, cast, constant, div, mul, power_of_two, same_spec, sub, unary, unbroadcast,
    widened,
};
use crate::validation::Site;

/// `y = x / sqrt(mean(x²) + eps) * weight` along the last axis; the weight is a second input, of the dtype of `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct RmsNorm {
    /// Added to the mean square, so that the square root is not zero.
    pub epsilon: Parameter,
    /// Is there a weight?
    pub has_weight: bool,
}

impl RmsNorm {
    /// `1 / sqrt(mean(x²) + eps)`, broadcast to the shape of `x`.
    fn scale(&self, x: &Array) -> Result<Array> {
        let epsilon = self.epsilon.value();
        let scale = if x.dtype() == DType::Float64 {
            // Divided by a power of two near the largest magnitude, elements have squares that do not overflow.
            let unit = power_of_two(&magnitude(x, epsilon.sqrt())?)?;
            // Two divisions: the square of `unit` may overflow or underflow.
            let epsilon = div(&div(&constant(&unit, epsilon), &unit)?, &unit)?;
            div(&inverse_root(&div(x, &broadcast(&unit, x.shape())?)?, &epsilon)?, &unit)?
        } else {
            let wide = cast(x, DType::Float64)?;
            let epsilon =
                Array::full(x.shape().reduced(&last_axis(x), KeepAxes::Yes), epsilon, DType::Float64);
            cast(&inverse_root(&wide, &epsilon)?, x.dtype())?
        };
        broadcast(&scale, x.shape())
    }
}

/// `1 / sqrt(mean(x²) + eps)` along the last axis, which keeps length one.
fn inverse_root(x: &Array, epsilon: &Array) -> Result<Array> {
    let squares = mean(&unary(UnaryKind::Square, x)?, &last_axis(x))?;
    unary(UnaryKind::Rsqrt, &add(&squares, epsilon)?)
}

/// The largest magnitude along the last axis, which keeps length one, but at least `min`.
fn magnitude(x: &Array, min: f64) -> Result<Array> {
    let largest = Reduce { kind: ReduceKind::Max, axes: last_axis(x) };
    let largest = Array::record_one(largest, &[&unary(UnaryKind::Abs, x)?])?;
    binary(BinaryKind::Maximum, &largest, &constant(&largest, min))
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

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = widened(&inputs[0])?;
        let mut y = mul(&x, &self.scale(&x)?)?;
        if self.has_weight {
            y = mul(&y, &broadcast_parameter(&inputs[1], &y)?)?;
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
                    let g = if self.has_weight {
                        mul(&ct, &broadcast_parameter(&at.inputs[1], &ct)?)?
                    } else {
                        ct.clone()
                    };
                    let projection = mul(&unit, &mean_last(&mul(&g, &unit)?)?)?;
                    mul(&scale, &sub(&g, &projection)?)?
                } else {
                    unbroadcast(&mul(&ct, &unit)?, at.inputs[i].shape())?
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
            umber_kernels::norm::rms_norm(inputs[0], inputs.get(1).copied(), epsilon, output);
            Ok(())
        })
    }
}
