//! Ternary: functions of three elements of one floating dtype.

use umber_types::{Result, TernaryKind, UnaryKind, bail};

use super::rules::{add, batch_elementwise, constant, mul, mul_absorbing, neg, sub, unary, zeros_like};
use crate::backend::elementwise;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, ElementFunction, FusionRole, Point, Primitive, Rule, Tangents, rule,
};
use crate::validation::Site;

/// A function of three elements; the inputs have one shape and floating dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Ternary(pub TernaryKind);

impl Ternary {
    /// `factor` times the derivative with respect to input `i`; `None` if that is zero.
    fn derivative(self, at: &Point<'_>, i: usize, factor: &Array) -> Result<Option<Array>> {
        let (a, b, x, y) = (&at.inputs[0], &at.inputs[1], &at.inputs[2], &at.outputs[0]);
        let one = constant(x, 1.0);
        let own = |kind: TernaryKind| Array::record_one(Ternary(kind), &[a, b, x]);
        let density = |a: &Array, b: &Array| Array::record_one(Ternary(TernaryKind::BetaDensity), &[a, b, x]);
        let slope = match (self.0, i) {
            (TernaryKind::BetaInc, 0) => own(TernaryKind::BetaIncSlopeA)?,
            (TernaryKind::BetaInc, 1) => own(TernaryKind::BetaIncSlopeB)?,
            (TernaryKind::BetaInc, _) => density(a, b)?,
            // (a + b - 1) times the difference of the densities of lower order, which is finite at the ends.
            (TernaryKind::BetaDensity, 2) => {
                let difference = sub(&density(&sub(a, &one)?, b)?, &density(a, &sub(b, &one)?)?)?;
                mul(&sub(&add(a, b)?, &one)?, &difference)?
            }
            (TernaryKind::BetaDensity, _) => density_slope(y, [a, b], x, i)?,
            (TernaryKind::BetaIncSlopeA, 2) => density_slope(&density(a, b)?, [a, b], x, 0)?,
            (TernaryKind::BetaIncSlopeB, 2) => density_slope(&density(a, b)?, [a, b], x, 1)?,
            (TernaryKind::BetaIncSlopeA | TernaryKind::BetaIncSlopeB, _) => bail!(
                Value(TernaryKind::BetaInc.name()),
                "the second derivatives with respect to the first two arguments are not available; take differences of the first"
            ),
        };
        mul(factor, &slope).map(Some)
    }
}

/// The derivative of `density`, that of the beta distribution at `x`, with respect to parameter `i`.
fn density_slope(density: &Array, parameters: [&Array; 2], x: &Array, i: usize) -> Result<Array> {
    let digamma = |x: &Array| unary(UnaryKind::Digamma, x);
    let logarithm = if i == 0 { unary(UnaryKind::Log, x)? } else { unary(UnaryKind::Log1p, &neg(x)?)? };
    let of_beta = sub(&digamma(parameters[i])?, &digamma(&add(parameters[0], parameters[1])?)?)?;
    mul_absorbing(density, &sub(&logarithm, &of_beta)?)
}

impl Primitive for Ternary {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[0].clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.alike(3)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        Some(Generalized::elementwise(*self, change))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            at.pull(|i| {
                let pulled = self.derivative(at, i, &cotangents[0])?;
                Ok(Some(pulled.unwrap_or_else(|| zeros_like(&at.inputs[i]))))
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let mut total = zeros_like(&at.outputs[0]);
            for (i, tangent) in tangents.iter().enumerate() {
                let Some(tangent) = tangent else { continue };
                if let Some(pushed) = self.derivative(at, i, tangent)? {
                    total = add(&total, &pushed)?;
                }
            }
            Ok(vec![total])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Step(ElementFunction::Ternary(self.0))
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        elementwise(ElementFunction::Ternary(self.0), task)
    }
}
