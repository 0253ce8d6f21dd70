//! Means in double-word precision, and variances and standard deviations computed from them.

use std::ops::Range;

use smallvec::smallvec;
use umber_types::{Axes, BinaryKind, DType, Result, UnaryKind};

use super::{Composite, Decompose, Parameter, centred};
use crate::generalization::any_lengths;
use crate::graph::tracing::are_lengths_free;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, Tangents, rule};
use crate::primitives::number_of_elements::NumberOfElements;
use crate::primitives::reduce::{mean, sum};
use crate::primitives::rules::{
    binary, broadcast, cast, constant, div, mul, sub, unary, widened, zeros_like,
};
use crate::primitives::select::Select;
use crate::validation::Site;

/// The spec of a reduction over axes, which keep length one, in the dtype that `x` computes in.
fn reduced(x: &ArraySpec, axes: Range<usize>) -> ArraySpec {
    let mut shape = x.shape.to_vec();
    shape[axes].fill(1);
    ArraySpec::new(shape, if x.dtype.is_half() { DType::Float32 } else { x.dtype })
}

/// `mean(x)` over adjacent axes, which keep length one, as an unevaluated sum of two numbers: the mean rounded to the dtype that
/// `x` computes in, and its rounding error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct MeanParts {
    /// The first of the axes.
    pub first: u32,
    /// Number of axes.
    pub count: u32,
}

impl MeanParts {
    fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    fn axes(self) -> Axes {
        Axes::sorted(self.range())
    }
}

impl Decompose for MeanParts {
    fn name(&self) -> &'static str {
        "mean"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let spec = reduced(inputs[0], self.range());
        Ok([spec.clone(), spec].into_iter().collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = widened(&inputs[0])?;
        let high = mean(&x, &self.axes())?;
        let low = mean(&sub(&x, &broadcast(&high, x.shape())?)?, &self.axes())?;
        Ok(vec![high, low])
    }

    /// `ct / n` for the rounded mean; the rounding error counts as a constant.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = &at.inputs[0];
            let ct = &cotangents[0];
            let count = NumberOfElements { axes: self.axes(), dtype: ct.dtype() }.record(x)?;
            let quotient = div(ct, &broadcast(&count, ct.shape())?)?;
            Ok(smallvec![Some(broadcast(&cast(&quotient, x.dtype())?, x.shape())?)])
        })
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = widened(tangents[0].as_ref().expect("jvp rules run with a tangent"))?;
            let high = mean(&t, &self.axes())?;
            let low = zeros_like(&high);
            Ok(vec![high, low])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batched = MeanParts { first: self.first + 1, ..*self };
            let input = smallvec![inputs[0].array.clone()];
            Ok(Batched::all(Array::record(Composite::MeanParts(batched), input)?))
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let [high, low] = outputs else { unreachable!("two outputs") };
            umber_kernels::moments::mean_parts(inputs[0], self.range(), high.reborrow(), low.reborrow());
            Ok(())
        })
    }
}

/// The measure of dispersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Measure {
    /// The variance.
    Variance,
    /// The standard deviation.
    Deviation,
}

/// `sum((x - mean(x))^2) / max(n - ddof, 0)` or its square root, over adjacent axes, which keep length one, in the dtype that `x`
/// computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Dispersion {
    /// The first of the axes.
    pub first: u32,
    /// Number of axes.
    pub count: u32,
    /// Subtracted from the number of elements: the lost degrees of freedom.
    pub ddof: Parameter,
    /// Which measure.
    pub measure: Measure,
}

impl Dispersion {
    fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    fn axes(self) -> Axes {
        Axes::sorted(self.range())
    }

    /// The degrees of freedom, the divisor of the sum of squares.
    fn freedom(self, shape: &[usize]) -> f64 {
        let count: usize = shape[self.range()].iter().product();
        (count as f64 - self.ddof.value()).max(0.0)
    }

    /// The derivative of the measure with respect to `x` without the factor that [`Dispersion::scaled`] applies: `x - mean(x)`
    /// for the variance, `(x - mean(x)) / deviation` for the standard deviation, zero if all elements are equal.
    fn unscaled_derivative(self, x: &Array, measured: &Array) -> Result<Array> {
        let deviations = centred(x, &self.axes())?;
        if self.measure == Measure::Variance {
            return Ok(deviations);
        }
        // Divide by the deviation alone: its product with the degrees of freedom may overflow or underflow.
        let is_zero = binary(BinaryKind::Equal, measured, &zeros_like(measured))?;
        let safe = Array::record_one(Select, &[&is_zero, &constant(measured, 1.0), measured])?;
        let ratio = div(&deviations, &broadcast(&safe, x.shape())?)?;
        Array::record_one(Select, &[&broadcast(&is_zero, x.shape())?, &zeros_like(&ratio), &ratio])
    }

    /// `ct` times the constant factor of the derivative: `2 / freedom` or `1 / freedom`.
    fn scaled(self, ct: &Array, x: &Array) -> Result<Array> {
        let degree = if self.measure == Measure::Variance { 2.0 } else { 1.0 };
        if !x.is_traced() || !are_lengths_free() {
            return mul(ct, &constant(ct, degree / self.freedom(x.shape())));
        }
        let count = NumberOfElements { axes: self.axes(), dtype: DType::Float64 }.record(x)?;
        let freedom = sub(&count, &constant(&count, self.ddof.value()))?;
        let freedom = binary(BinaryKind::Maximum, &freedom, &zeros_like(&freedom))?;
        let factor = cast(&div(&constant(&freedom, degree), &freedom)?, ct.dtype())?;
        mul(ct, &broadcast(&factor, ct.shape())?)
    }
}

impl Decompose for Dispersion {
    fn name(&self) -> &'static str {
        match self.measure {
            Measure::Variance => "var",
            Measure::Deviation => "std",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(reduced(inputs[0], self.range()).into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let deviations = centred(&inputs[0], &self.axes())?;
        let squares = unary(UnaryKind::Square, &cast(&deviations, DType::Float64)?)?;
        let total = sum(&squares, &self.axes())?;
        let variance = div(&total, &constant(&total, self.freedom(inputs[0].shape())))?;
        let measured = match self.measure {
            Measure::Variance => variance,
            Measure::Deviation => unary(UnaryKind::Sqrt, &variance)?,
        };
        Ok(vec![cast(&measured, deviations.dtype())?])
    }

    /// `2 ct (x - mean(x)) / freedom` for the variance, `ct (x - mean(x)) / (freedom deviation)` for the deviation.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = &at.inputs[0];
            let ct = self.scaled(&cotangents[0], x)?;
            let pulled = mul(&broadcast(&ct, x.shape())?, &self.unscaled_derivative(x, &at.outputs[0])?)?;
            Ok(smallvec![Some(cast(&pulled, x.dtype())?)])
        })
    }

    /// The sum of the derivative times `t`.
    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let x = &at.inputs[0];
            let t = widened(tangents[0].as_ref().expect("jvp rules run with a tangent"))?;
            let total = sum(&mul(&self.unscaled_derivative(x, &at.outputs[0])?, &t)?, &self.axes())?;
            Ok(vec![self.scaled(&total, x)?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batched = Dispersion { first: self.first + 1, ..*self };
            let input = smallvec![inputs[0].array.clone()];
            Ok(Batched::all(Array::record(Composite::Dispersion(batched), input)?))
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let measure = match self.measure {
            Measure::Variance => umber_kernels::moments::Dispersion::Variance,
            Measure::Deviation => umber_kernels::moments::Dispersion::Deviation,
        };
        task.run_one(|inputs, output| {
            let freedom = self.freedom(inputs[0].shape());
            umber_kernels::moments::dispersion(inputs[0], self.range(), freedom, measure, output);
            Ok(())
        })
    }
}
