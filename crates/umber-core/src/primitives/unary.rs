//! Unary: functions of one element.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LN_10, PI, TAU};

use smallvec::smallvec;
use umber_types::tape::unary_dtype;
use umber_types::{BinaryKind, Result, Scalar, UnaryKind};

use super::rules::{
    add, batch_elementwise, binary, cast, conj, constant, div, mul, neg, polynomial, sub, unary, zeros_like,
};
use super::select::Select;
use crate::backend::elementwise;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, ElementFunction, FusionRole, Point, Primitive, Rule, Tangents, rule,
};
use crate::validation::Site;

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Unary(pub UnaryKind);

/// The form of a derivative.
enum Derivative {
    /// d(out)/d(in) at each element.
    Factor(Array),
    /// The output does not change with the input.
    Zero,
    /// A complex function that is not holomorphic, like the ones below: `vjp` and `jvp` treat each separately.
    Abs,
    Sign,
    Conjugate,
    Real,
    Imag,
}

impl Unary {
    /// d(out)/d(in). Both vjp and jvp come from this.
    fn derivative(self, x: &Array, y: &Array) -> Result<Derivative> {
        use UnaryKind::*;
        let one = || constant(x, 1.0);
        let square = || unary(Square, x);
        let factor = match self.0 {
            Abs if x.dtype().is_complex() => return Ok(Derivative::Abs),
            Sign if x.dtype().is_complex() => return Ok(Derivative::Sign),
            Conjugate => return Ok(Derivative::Conjugate),
            Real => return Ok(Derivative::Real),
            Imag => return Ok(Derivative::Imag),
            Sign | Floor | Ceil | Round | Trunc | LogicalNot | BitwiseInvert | IsNan | IsInf | IsFinite
            | SignBit | BitCount | Exponent => return Ok(Derivative::Zero),
            Abs => unary(Sign, x)?,
            Negative => constant(x, -1.0),
            Square => mul(x, &constant(x, 2.0))?,
            Sqrt => div(&constant(x, 0.5), y)?,
            Rsqrt => mul(&constant(x, -0.5), &div(y, x)?)?,
            Reciprocal => neg(&unary(Square, y)?)?,
            Exp => y.clone(),
            Expm1 => add(y, &one())?,
            Log => unary(Reciprocal, x)?,
            Log2 => div(&constant(x, 1.0 / LN_2), x)?,
            Log10 => div(&constant(x, 1.0 / LN_10), x)?,
            Log1p => unary(Reciprocal, &add(x, &one())?)?,
            Sin => unary(Cos, x)?,
            Cos => neg(&unary(Sin, x)?)?,
            Tan => add(&unary(Square, y)?, &one())?,
            Arcsin => Unary::arcsine_slope(x)?,
            Arccos => neg(&Unary::arcsine_slope(x)?)?,
            // 1 / (1 + x²) as 1 / ((x + i)(x - i)): x² overflows for large x, the factors do not.
            Arctan if x.dtype().is_complex() => {
                let i = constant(x, Scalar::Complex(0.0, 1.0));
                mul(&unary(Reciprocal, &add(x, &i)?)?, &unary(Reciprocal, &sub(x, &i)?)?)?
            }
            Arctan => unary(Square, &unary(Reciprocal, &binary(BinaryKind::Hypot, x, &one())?)?)?,
            Sinh => unary(Cosh, x)?,
            Cosh => unary(Sinh, x)?,
            Tanh => sub(&one(), &unary(Square, y)?)?,
            Arcsinh if x.dtype().is_complex() => {
                let times_i = mul(x, &constant(x, Scalar::Complex(0.0, 1.0)))?;
                mul(&unary(Rsqrt, &add(&one(), &times_i)?)?, &unary(Rsqrt, &sub(&one(), &times_i)?)?)?
            }
            Arcsinh => unary(Reciprocal, &binary(BinaryKind::Hypot, x, &one())?)?,
            // The product of roots keeps the branch for complex arguments.
            Arccosh => mul(&unary(Rsqrt, &sub(x, &one())?)?, &unary(Rsqrt, &add(x, &one())?)?)?,
            // 1 - x² as (1 - x)(1 + x), which neither overflows nor cancels near one.
            Arctanh => mul(&unary(Reciprocal, &sub(&one(), x)?)?, &unary(Reciprocal, &add(&one(), x)?)?)?,
            Erf => mul(&constant(x, 2.0 / PI.sqrt()), &unary(Exp, &neg(&square()?)?)?)?,
            ErfInv => mul(&constant(x, PI.sqrt() / 2.0), &unary(Exp, &unary(Square, y)?)?)?,
            Sigmoid => mul(y, &sub(&one(), y)?)?,
            Erfc => mul(&constant(x, -2.0 / PI.sqrt()), &unary(Exp, &neg(&square()?)?)?)?,
            Exp2 => mul(y, &constant(x, LN_2))?,
            Cbrt => unary(Reciprocal, &mul(&constant(x, 3.0), &unary(Square, y)?)?)?,
            LogGamma => unary(Digamma, x)?,
            Digamma => binary(BinaryKind::Polygamma, &one(), x)?,
            Gamma => mul(y, &unary(Digamma, x)?)?,
            Erfcx => Unary::erfcx_slope(x, y)?,
            ErfcInv => mul(&constant(x, -PI.sqrt() / 2.0), &unary(Exp, &unary(Square, y)?)?)?,
            Ndtr => {
                let exponent = mul(&constant(x, -0.5), &square()?)?;
                mul(&constant(x, 1.0 / TAU.sqrt()), &unary(Exp, &exponent)?)?
            }
            LogNdtr => {
                let scaled = unary(Erfcx, &mul(x, &constant(x, -FRAC_1_SQRT_2))?)?;
                div(&constant(x, (2.0 / PI).sqrt()), &scaled)?
            }
            Logit => unary(Reciprocal, &mul(x, &sub(&one(), x)?)?)?,
            Entr => neg(&add(&unary(Log, x)?, &one())?)?,
            Expi => div(&unary(Exp, x)?, x)?,
            Exp1 => neg(&div(&unary(Exp, &neg(x)?)?, x)?)?,
            Spence => Unary::spence_slope(x)?,
            I0 => unary(I1, x)?,
            I0e => sub(&unary(I1e, x)?, &mul(&unary(Sign, x)?, y)?)?,
            I1 => sub(&unary(I0, x)?, &Unary::quotient(I1, y, x)?)?,
            J0 => neg(&unary(J1, x)?)?,
            J1 => sub(&unary(J0, x)?, &Unary::quotient(J1, y, x)?)?,
            Y0 => neg(&unary(Y1, x)?)?,
            Y1 => sub(&unary(Y0, x)?, &div(y, x)?)?,
            K0 => neg(&unary(K1, x)?)?,
            K1 => neg(&add(&unary(K0, x)?, &div(y, x)?)?)?,
            K0e => sub(y, &unary(K1e, x)?)?,
            K1e => sub(&sub(y, &unary(K0e, x)?)?, &div(y, x)?)?,
            I1e => {
                let unscaled = sub(&unary(I0e, x)?, &Unary::quotient(I1e, y, x)?)?;
                sub(&unscaled, &mul(&unary(Sign, x)?, y)?)?
            }
        };
        Ok(Derivative::Factor(factor))
    }

    /// `1 / √(1 - x²)` as `1 / (√(1 - x) √(1 + x))`, which neither overflows nor cancels near one; principal branch for
    /// complex `x`.
    fn arcsine_slope(x: &Array) -> Result<Array> {
        let one = constant(x, 1.0);
        mul(&unary(UnaryKind::Rsqrt, &sub(&one, x)?)?, &unary(UnaryKind::Rsqrt, &add(&one, x)?)?)
    }

    /// `y / x` for `y = i1(x)`, `i1e(x)` or `j1(x)`; near zero by the power series (DLMF 10.2.2, 10.25.2), which can be
    /// differentiated again.
    fn quotient(kind: UnaryKind, y: &Array, x: &Array) -> Result<Array> {
        let magnitude = unary(UnaryKind::Abs, x)?;
        let is_near = binary(BinaryKind::Less, &magnitude, &constant(x, 1.0))?;
        let near = Array::record_one(Select, &[&is_near, x, &zeros_like(x)])?;
        let far = Array::record_one(Select, &[&is_near, &constant(x, 1.0), x])?;
        let sign = if kind == UnaryKind::J1 { -1.0 } else { 1.0 };
        let mut coefficients = [0.5; 12];
        for k in 1..coefficients.len() {
            coefficients[k] = sign * coefficients[k - 1] / (4 * k * (k + 1)) as f64;
        }
        let mut series = polynomial(&unary(UnaryKind::Square, &near)?, &coefficients)?;
        if kind == UnaryKind::I1e {
            series = mul(&series, &unary(UnaryKind::Exp, &neg(&unary(UnaryKind::Abs, &near)?)?)?)?;
        }
        Array::record_one(Select, &[&is_near, &series, &div(y, &far)?])
    }

    /// `2 (x y - 1/√π)` for `y = erfcx(x)`; its asymptotic series where the terms cancel (DLMF 7.12.1).
    fn erfcx_slope(x: &Array, y: &Array) -> Result<Array> {
        let is_far = binary(BinaryKind::Greater, x, &constant(x, 10.0))?;
        let far = Array::record_one(Select, &[&is_far, x, &constant(x, 10.0)])?;
        let near = Array::record_one(Select, &[&is_far, &constant(x, 10.0), x])?;
        let mut coefficients = [-1.0 / PI.sqrt(); 12];
        for k in 1..coefficients.len() {
            coefficients[k] = coefficients[k - 1] * -((2 * k + 1) as f64) / 2.0;
        }
        let inverse = unary(UnaryKind::Square, &unary(UnaryKind::Reciprocal, &far)?)?;
        let series = mul(&inverse, &polynomial(&inverse, &coefficients)?)?;
        let difference = sub(&mul(&near, y)?, &constant(x, 1.0 / PI.sqrt()))?;
        Array::record_one(Select, &[&is_far, &series, &mul(&difference, &constant(x, 2.0))?])
    }

    /// `log x / (1 - x)`; near one by its power series, which can be differentiated.
    fn spence_slope(x: &Array) -> Result<Array> {
        let distance = sub(&constant(x, 1.0), x)?;
        let is_near = binary(BinaryKind::Less, &unary(UnaryKind::Abs, &distance)?, &constant(x, 0.1))?;
        let near = Array::record_one(Select, &[&is_near, &distance, &zeros_like(x)])?;
        let coefficients: [f64; 17] = std::array::from_fn(|k| -1.0 / (k + 1) as f64);
        let series = polynomial(&near, &coefficients)?;
        let far = Array::record_one(Select, &[&is_near, &constant(x, 0.5), x])?;
        let quotient = div(&unary(UnaryKind::Log, &far)?, &sub(&constant(x, 1.0), &far)?)?;
        Array::record_one(Select, &[&is_near, &series, &quotient])
    }

    /// The derivative of `z / |z|` in direction `t`: the component of `t` orthogonal to `z`, divided by `|z|`; zero at zero.
    /// As a real linear map it is self-adjoint.
    fn sign_derivative(z: &Array, t: &Array) -> Result<Array> {
        let phase = unary(UnaryKind::Sign, z)?;
        let parallel = cast(&unary(UnaryKind::Real, &mul(&conj(&phase)?, t)?)?, z.dtype())?;
        let orthogonal = sub(t, &mul(&phase, &parallel)?)?;
        let zero = zeros_like(z);
        let is_zero = binary(BinaryKind::Equal, z, &zero)?;
        let safe = Array::record_one(Select, &[&is_zero, &constant(z, 1.0), z])?;
        let magnitude = cast(&unary(UnaryKind::Abs, &safe)?, z.dtype())?;
        Array::record_one(Select, &[&is_zero, &zero, &div(&orthogonal, &magnitude)?])
    }
}

impl Primitive for Unary {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype: unary_dtype(self.0, inputs[0].dtype) }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        Some(Generalized::elementwise(*self, change))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, ct) = (&at.inputs[0], &cotangents[0]);
            let pulled = match self.derivative(x, &at.outputs[0])? {
                Derivative::Factor(factor) => mul(ct, &conj(&factor)?)?,
                Derivative::Zero => zeros_like(x),
                Derivative::Abs => mul(&cast(ct, x.dtype())?, &unary(UnaryKind::Sign, x)?)?,
                Derivative::Sign => Unary::sign_derivative(x, &cast(ct, x.dtype())?)?,
                Derivative::Imag if x.dtype().is_complex() => {
                    mul(&cast(ct, x.dtype())?, &constant(x, Scalar::Complex(0.0, 1.0)))?
                }
                Derivative::Imag => zeros_like(x),
                Derivative::Conjugate => conj(ct)?,
                Derivative::Real => cast(ct, x.dtype())?,
            };
            Ok(smallvec![Some(pulled)])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let x = &at.inputs[0];
            let t = tangents[0].as_ref().expect("jvp rules run with a tangent");
            let pushed = match self.derivative(x, &at.outputs[0])? {
                Derivative::Factor(factor) => mul(t, &factor)?,
                Derivative::Zero => zeros_like(&at.outputs[0]),
                Derivative::Abs => unary(UnaryKind::Real, &mul(t, &conj(&unary(UnaryKind::Sign, x)?)?)?)?,
                Derivative::Sign => Unary::sign_derivative(x, t)?,
                Derivative::Conjugate | Derivative::Real | Derivative::Imag => unary(self.0, t)?,
            };
            Ok(vec![pushed])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Step(ElementFunction::Unary(self.0))
    }

    fn is_exact(&self) -> bool {
        matches!(
            self.0,
            UnaryKind::Abs
                | UnaryKind::Negative
                | UnaryKind::Sign
                | UnaryKind::Square
                | UnaryKind::Sqrt
                | UnaryKind::Floor
                | UnaryKind::Ceil
                | UnaryKind::Round
                | UnaryKind::Trunc
                | UnaryKind::LogicalNot
                | UnaryKind::BitwiseInvert
                | UnaryKind::IsNan
                | UnaryKind::IsInf
                | UnaryKind::IsFinite
                | UnaryKind::SignBit
                | UnaryKind::BitCount
        )
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        elementwise(ElementFunction::Unary(self.0), task)
    }
}
