//! Determinants: the product of a matrix's eigenvalues, and what its derivative is made of.

use smallvec::smallvec;
use umber_kernels::linalg::OnSingular;
use umber_types::{Result, Shape};

use super::{
    Inverse, adjoint, as_matrix, batch_of, diagonal_of, explained, imaginary, sum_last, taller_stack,
};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, broadcast, cast, conj, mul, same_spec};

/// The determinant of square matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Determinant;

/// The determinant divided by its absolute value (or zero), and the logarithm of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SignedLog;

/// The transposed cofactors: `det(a) a⁻¹`, or its limit where `a` is singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Adjugate;

/// Each matrix of `x` times a number of `factors`.
fn times(x: &Array, factors: &Array) -> Result<Array> {
    mul(x, &broadcast(&as_matrix(factors)?, x.shape())?)
}

impl Primitive for Determinant {
    fn name(&self) -> &'static str {
        "linalg.det"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: batch_of(&inputs[0].shape).into(), dtype: inputs[0].dtype }.into())
    }

    // d(det a) = tr(adj(a) da), which is finite for singular matrices too.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let cofactors = adjoint(&Array::record_one(Adjugate, &[&at.inputs[0]])?)?;
            Ok(smallvec![Some(times(&cofactors, &cotangents[0])?)])
        })
    }

    taller_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_kernels::linalg::determinant(inputs[0], &output);
            explained(outcome, "det", "has no determinant", batch_of(inputs[0].shape()))
        })
    }
}

impl Primitive for SignedLog {
    fn name(&self) -> &'static str {
        "linalg.slogdet"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let shape: Shape = batch_of(&inputs[0].shape).into();
        let sign = ArraySpec { shape, dtype: inputs[0].dtype };
        let log = ArraySpec { dtype: sign.dtype.real(), ..sign.clone() };
        Ok(smallvec![sign, log])
    }

    // With t = tr(a⁻¹ da): d(log) = re t, d(sign) = i sign im t.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (a, sign) = (&at.inputs[0], &at.outputs[0]);
            let inverse = Inverse { on_singular: OnSingular::Fail, name: "slogdet" };
            let x = adjoint(&Array::record_one(inverse, &[a])?)?;
            let turned = imaginary(&mul(&conj(sign)?, &cotangents[0])?)?;
            let factors = add(&cast(&cotangents[1], a.dtype())?, &turned)?;
            Ok(smallvec![Some(times(&x, &factors)?)])
        })
    }

    taller_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let [sign, log] = outputs else { unreachable!("slogdet has two outputs") };
            let outcome = umber_kernels::linalg::sign_and_log_determinant(inputs[0], sign, log);
            explained(outcome, "slogdet", "has no determinant", batch_of(inputs[0].shape()))
        })
    }
}

impl Primitive for Adjugate {
    fn name(&self) -> &'static str {
        "linalg.adjugate"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    // Of det(a) a⁻¹, so that second derivatives of determinants need regular matrices.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let ct = &cotangents[0];
            let inverse = Inverse { on_singular: OnSingular::Fail, name: "det" };
            let x = adjoint(&Array::record_one(inverse, &[&at.inputs[0]])?)?;
            let y = adjoint(&at.outputs[0])?;
            let trace = sum_last(&diagonal_of(&matmul(&y, ct)?)?)?;
            let inner = matmul(&matmul(&y, ct)?, &x)?;
            Ok(smallvec![Some(crate::primitives::rules::sub(&times(&x, &trace)?, &inner)?)])
        })
    }

    taller_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_kernels::linalg::adjugate(inputs[0], &output);
            explained(outcome, "det", "has singular values that do not converge", batch_of(inputs[0].shape()))
        })
    }
}
