//! Binary: functions of two elements of one dtype.

use umber_types::tape::binary_dtype;
use umber_types::{BinaryKind, Complex64, Result, Scalar, UnaryKind, bail};

use super::rules::{
    add, batch_elementwise, binary, conj, constant, div, mul, mul_absorbing, neg, sub, unary, zeros_like,
};
use super::select::Select;
use crate::backend::elementwise;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, ElementFunction, FusionRole, Point, Primitive, Rule, Tangents, rule,
};
use crate::validation::Site;

/// A function of two elements; both inputs have one shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Binary(pub BinaryKind);

impl Binary {
    /// `factor` times the derivative with respect to input `i`; `None` if the derivative is zero.
    ///
    /// `conjugate` conjugates the derivative, for `vjp`; `jvp` uses it as it is.
    fn derivative(self, at: &Point<'_>, i: usize, factor: &Array, conjugate: bool) -> Result<Option<Array>> {
        use BinaryKind::*;
        let (a, b, y) = (&at.inputs[0], &at.inputs[1], &at.outputs[0]);
        let conjugated = |x: Array| if conjugate { conj(&x) } else { Ok(x) };
        let times = |x: Array| mul(factor, &conjugated(x)?);
        // A selection, because an infinite factor times a zero mask would be NaN.
        let masked = |mask: Array| Array::record_one(Select, &[&mask, factor, &zeros_like(factor)]);
        let derived = match (self.0, i) {
            (Add, _) | (Subtract, 0) => factor.clone(),
            (Subtract, _) => neg(factor)?,
            (Multiply, 0) => times(b.clone())?,
            (Multiply, _) => times(a.clone())?,
            (MultiplyAbsorbing, _) => {
                mul_absorbing(factor, &conjugated(if i == 0 { b } else { a }.clone())?)?
            }
            (Divide, 0) => div(factor, &conjugated(b.clone())?)?,
            (Divide, _) => neg(&times(div(y, b)?)?)?,
            (Remainder, 0) => factor.clone(),
            (Remainder, _) => neg(&times(binary(FloorDivide, a, b)?)?)?,
            (Power, 0) => match b.constant().map(Scalar::as_complex) {
                Some((0.0, 0.0)) => return Ok(None),
                Some((re, im)) => {
                    let exponent: Scalar =
                        if im == 0.0 { (re - 1.0).into() } else { Complex64::new(re - 1.0, im).into() };
                    times(mul(b, &binary(Power, a, &constant(b, exponent))?)?)?
                }
                None => {
                    // b a^(b-1), set to zero at b = 0 if a is zero or so small that 1 / a is infinite. Other elements with
                    // b = 0 keep the formula, because second derivatives need its dependence on b.
                    let zero = zeros_like(b);
                    let is_flat =
                        binary(LogicalAnd, &has_infinite_reciprocal(a)?, &binary(Equal, b, &zero)?)?;
                    let base = Array::record_one(Select, &[&is_flat, &constant(a, 1.0), a])?;
                    let slope = mul(b, &binary(Power, &base, &sub(b, &constant(b, 1.0))?)?)?;
                    times(Array::record_one(Select, &[&is_flat, &zero, &slope])?)?
                }
            },
            (Power, _) => {
                // y log a; zero at a = 0, its limit for positive b.
                let is_zero = binary(Equal, a, &zeros_like(a))?;
                let base = Array::record_one(Select, &[&is_zero, &constant(a, 1.0), a])?;
                let slope = mul(y, &unary(UnaryKind::Log, &base)?)?;
                times(Array::record_one(Select, &[&is_zero, &zeros_like(a), &slope])?)?
            }
            (Maximum, 0) => masked(binary(Greater, a, b)?)?,
            (Maximum, _) => masked(binary(LessEqual, a, b)?)?,
            (Minimum, 0) => masked(binary(Less, a, b)?)?,
            (Minimum, _) => masked(binary(GreaterEqual, a, b)?)?,
            (LogAddExp, 0) => times(unary(UnaryKind::Sigmoid, &difference(a, b)?)?)?,
            (LogAddExp, _) => times(unary(UnaryKind::Sigmoid, &difference(b, a)?)?)?,
            (LogAddExp2, _) => {
                let difference = if i == 0 { difference(a, b)? } else { difference(b, a)? };
                let scaled = mul(&difference, &constant(a, std::f64::consts::LN_2))?;
                times(unary(UnaryKind::Sigmoid, &scaled)?)?
            }
            (Arctan2, _) => {
                // For inputs (y, x): d = (x dy - y dx) / r². Two divisions by r, because r² may overflow or underflow.
                let slope = if i == 0 { direction(b, a, b)? } else { neg(&direction(a, a, b)?)? };
                times(div(&slope, &binary(Hypot, a, b)?)?)?
            }
            (Hypot, _) => times(direction(if i == 0 { a } else { b }, a, b)?)?,
            (CopySign, 0) => {
                let signs_differ =
                    binary(NotEqual, &unary(UnaryKind::SignBit, a)?, &unary(UnaryKind::SignBit, b)?)?;
                times(Array::record_one(Select, &[&signs_differ, &constant(a, -1.0), &constant(a, 1.0)])?)?
            }
            (Fmod, 0) => factor.clone(),
            (Fmod, _) => neg(&times(unary(UnaryKind::Trunc, &div(a, b)?)?)?)?,
            (Ldexp, 0) => binary(Ldexp, factor, b)?,
            (Zeta, 0) => times(binary(ZetaSlope, a, b)?)?,
            // ∂ζ(s, q)/∂q = -s ζ(s + 1, q)
            (Zeta, _) => {
                let next = binary(Zeta, &add(a, &constant(a, 1.0))?, b)?;
                neg(&times(mul(a, &next)?)?)?
            }
            (ZetaSlope, 1) => {
                let successor = add(a, &constant(a, 1.0))?;
                let slope = mul(a, &binary(ZetaSlope, &successor, b)?)?;
                neg(&times(add(&binary(Zeta, &successor, b)?, &slope)?)?)?
            }
            (Polygamma, 1) => times(binary(Polygamma, &add(a, &constant(a, 1.0))?, b)?)?,
            (GammaInc, 0) => times(binary(GammaIncSlope, a, b)?)?,
            (GammaIncC, 0) => neg(&times(binary(GammaIncSlope, a, b)?)?)?,
            (GammaInc, _) => times(gamma_slope(a, b)?)?,
            (GammaIncC, _) => neg(&times(gamma_slope(a, b)?)?)?,
            (GammaIncSlope, 1) => {
                let slope = sub(&unary(UnaryKind::Log, b)?, &unary(UnaryKind::Digamma, a)?)?;
                times(mul_absorbing(&gamma_slope(a, b)?, &slope)?)?
            }
            // By the implicit function theorem. Both probabilities have the same derivative of the root with respect to a.
            (GammaIncInv | GammaIncCInv, 0) => {
                // The ends, zero and infinity, are those of every a.
                let zero = zeros_like(y);
                let is_end = binary(LogicalOr, &binary(Equal, y, &zero)?, &unary(UnaryKind::IsInf, y)?)?;
                let root = Array::record_one(Select, &[&is_end, &constant(y, 1.0), y])?;
                let slope = neg(&div(&binary(GammaIncSlope, a, &root)?, &gamma_slope(a, &root)?)?)?;
                times(Array::record_one(Select, &[&is_end, &zero, &slope])?)?
            }
            (GammaIncInv, _) => div(factor, &gamma_slope(a, y)?)?,
            (GammaIncCInv, _) => neg(&div(factor, &gamma_slope(a, y)?)?)?,
            (GammaDensity, 0) => {
                let successor = add(a, &constant(a, 1.0))?;
                let slope = sub(&unary(UnaryKind::Log, b)?, &unary(UnaryKind::Digamma, &successor)?)?;
                times(mul(y, &slope)?)?
            }
            (GammaDensity, _) => {
                let before = binary(GammaDensity, &sub(a, &constant(a, 1.0))?, b)?;
                times(sub(&before, y)?)?
            }
            (BetaLn, _) => times(beta_slope(if i == 0 { a } else { b }, a, b)?)?,
            (Beta, _) => times(mul(y, &beta_slope(if i == 0 { a } else { b }, a, b)?)?)?,
            (Expn, 1) => neg(&times(binary(Expn, &sub(a, &constant(a, 1.0))?, b)?)?)?,
            (RelEntr, 0) => times(add(&unary(UnaryKind::Log, &div(a, b)?)?, &constant(a, 1.0))?)?,
            (RelEntr, _) => neg(&times(div(a, b)?)?)?,
            (GammaIncSlope | ZetaSlope, _) => bail!(
                Value(if self.0 == ZetaSlope { Zeta.name() } else { GammaInc.name() }),
                "the second derivative with respect to the first argument is not available; take differences of the first"
            ),
            (Polygamma | Expn, _) => bail!(
                Value(self.0.name()),
                "the derivative of {} with respect to its first argument is not available; wrap that in stop_gradient",
                self.0.name()
            ),
            (
                CopySign | Ldexp | Gcd | FloorDivide | Equal | NotEqual | Less | LessEqual | Greater
                | GreaterEqual | LogicalAnd | LogicalOr | BitwiseAnd | BitwiseOr | BitwiseXor | LeftShift
                | RightShift,
                _,
            ) => return Ok(None),
        };
        Ok(Some(derived))
    }
}

/// The derivative of `gammainc(a, x)` with respect to `x`.
fn gamma_slope(a: &Array, x: &Array) -> Result<Array> {
    binary(BinaryKind::GammaDensity, &sub(a, &constant(a, 1.0))?, x)
}

/// The derivative of `log B(a, b)` with respect to `component`, which is `a` or `b` (DLMF 5.12.1).
fn beta_slope(component: &Array, a: &Array, b: &Array) -> Result<Array> {
    sub(&unary(UnaryKind::Digamma, component)?, &unary(UnaryKind::Digamma, &add(a, b)?)?)
}

/// Is an element zero or so small that `1 / a` is infinite?
fn has_infinite_reciprocal(a: &Array) -> Result<Array> {
    let magnitude = unary(UnaryKind::Abs, a)?;
    unary(UnaryKind::IsInf, &div(&constant(&magnitude, 1.0), &magnitude)?)
}

/// `component / hypot(a, b)` where `component` is `a` or `b`. Its limit where the hypotenuse overflows or an input is
/// infinite, zero at the origin.
fn direction(component: &Array, a: &Array, b: &Array) -> Result<Array> {
    use BinaryKind::*;
    let size = binary(Maximum, &unary(UnaryKind::Abs, a)?, &unary(UnaryKind::Abs, b)?)?;
    let is_zero = binary(Equal, &size, &zeros_like(&size))?;
    let is_infinite = unary(UnaryKind::IsInf, &size)?;
    let one = constant(&size, 1.0);
    let size = Array::record_one(Select, &[&binary(LogicalOr, &is_zero, &is_infinite)?, &one, &size])?;
    // If one component is infinite, a finite one scales to zero; two infinite ones scale to equal magnitudes.
    let scaled = |x: &Array| {
        let sign = unary(UnaryKind::Sign, x)?;
        let among_infinite =
            Array::record_one(Select, &[&unary(UnaryKind::IsInf, x)?, &sign, &zeros_like(x)])?;
        Array::record_one(Select, &[&is_infinite, &among_infinite, &div(x, &size)?])
    };
    let radius = binary(Hypot, &scaled(a)?, &scaled(b)?)?;
    let radius = Array::record_one(Select, &[&is_zero, &one, &radius])?;
    div(&scaled(component)?, &radius)
}

/// `a - b`, zero for equal infinities. Equal finite values are subtracted too, so that the derivative is right there.
fn difference(a: &Array, b: &Array) -> Result<Array> {
    let is_same = binary(BinaryKind::Equal, a, b)?;
    let is_same = binary(BinaryKind::LogicalAnd, &is_same, &unary(UnaryKind::IsInf, a)?)?;
    Array::record_one(Select, &[&is_same, &zeros_like(a), &sub(a, b)?])
}

impl Primitive for Binary {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        debug_assert_eq!(inputs[0], inputs[1]);
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype: binary_dtype(self.0, inputs[0].dtype) }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.alike(2)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        Some(Generalized::elementwise(*self, change))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            at.pull(|i| {
                let pulled = self.derivative(at, i, &cotangents[0], true)?;
                Ok(Some(pulled.unwrap_or_else(|| zeros_like(&at.inputs[i]))))
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let mut total: Option<Array> = None;
            for (i, tangent) in tangents.iter().enumerate() {
                let Some(tangent) = tangent else { continue };
                if let Some(pushed) = self.derivative(at, i, tangent, false)? {
                    total = Some(match total {
                        Some(sum) => add(&sum, &pushed)?,
                        None => pushed,
                    });
                }
            }
            Ok(vec![total.unwrap_or_else(|| zeros_like(&at.outputs[0]))])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Step(ElementFunction::Binary(self.0))
    }

    fn is_exact(&self) -> bool {
        self.0.returns_bool()
            || matches!(
                self.0,
                BinaryKind::Add
                    | BinaryKind::Subtract
                    | BinaryKind::Multiply
                    | BinaryKind::Divide
                    | BinaryKind::Maximum
                    | BinaryKind::Minimum
                    | BinaryKind::BitwiseAnd
                    | BinaryKind::BitwiseOr
                    | BinaryKind::BitwiseXor
            )
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        elementwise(ElementFunction::Binary(self.0), task)
    }
}
