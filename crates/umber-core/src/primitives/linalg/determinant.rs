//! Determinants: the product of a matrix's eigenvalues, and what its derivative is made of.

use smallvec::smallvec;
use umber_numerics::linalg::OnSingular;
use umber_types::{Result, Shape};

use super::{
    Inverse, adjoint, as_matrix, batch_of, diagonal_of, explained, imaginary, rows, sum_last, taller_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::ops;
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, broadcast, cast, conj, mul, same_spec, sub, swap_last, zeros_like};
use crate::validation::Site;

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

/// Up to this size adjugates are differentiated through their `n²` minors, of `(n - 1)²` elements each.
const MAX_MINOR_ROWS: usize = 8;

/// The cotangent of `a` from that of its adjugate, whose element `[i, j]` is `(-1)^(i + j)` times the determinant of `a`
/// without row `j` and column `i`.
fn pull_minors(a: &Array, ct: &Array) -> Result<Array> {
    let n = rows(a);
    if n < 2 {
        return Ok(zeros_like(a));
    }
    // `others[i]` takes the rows of a matrix but the i-th.
    let is_taken = |i: usize, row: usize, from: usize| from == row + usize::from(row >= i);
    let places = (0..n).flat_map(|i| (0..n - 1).flat_map(move |row| (0..n).map(move |from| (i, row, from))));
    let others: Vec<f32> = places.map(|(i, row, from)| f32::from(u8::from(is_taken(i, row, from)))).collect();
    let signs: Vec<f32> =
        (0..n * n).map(|k| if (k / n + k % n).is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
    let others = cast(&Array::from_slice(&others, [n, n - 1, n])?, a.dtype())?;
    let signs = cast(&Array::from_slice(&signs, [n, n])?, a.dtype())?;
    let without_row = ops::expand_dims(&others, &[0])?;
    let without_column = ops::expand_dims(&swap_last(&others)?, &[1])?;
    let minors = ops::matmul(&ops::matmul(&without_row, &ops::expand_dims(a, &[-3, -4])?)?, &without_column)?;
    let cofactors = adjoint(&Array::record_one(Adjugate, &[&minors])?)?;
    let pulled = times(&cofactors, &mul(ct, &broadcast(&signs, ct.shape())?)?)?;
    let minor_terms =
        ops::matmul(&ops::matmul(&swap_last(&without_row)?, &pulled)?, &swap_last(&without_column)?)?;
    ops::sum(&minor_terms, Some(&[-4, -3]), umber_types::KeepAxes::No)
}

impl Primitive for Determinant {
    fn name(&self) -> &'static str {
        "linalg.det"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: batch_of(&inputs[0].shape).into(), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

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
            let outcome = umber_numerics::linalg::determinant(inputs[0], &output);
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

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    // With t = tr(a⁻¹ da): d(log) = re t, d(sign) = i sign im t.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (a, sign) = (&at.inputs[0], &at.outputs[0]);
            let inverse = Inverse { on_singular: OnSingular::Fail, name: "slogdet" };
            let x = adjoint(&Array::record_one(inverse, &[a])?)?;
            let times_i = imaginary(&mul(&conj(sign)?, &cotangents[0])?)?;
            let factors = add(&cast(&cotangents[1], a.dtype())?, &times_i)?;
            Ok(smallvec![Some(times(&x, &factors)?)])
        })
    }

    taller_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let [sign, log] = outputs else { unreachable!("slogdet has two outputs") };
            let outcome = umber_numerics::linalg::sign_and_log_determinant(inputs[0], sign, log);
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

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    // Of its definition through minors while they are few, so that further derivatives are exact at any matrix; else of
    // det(a) a⁻¹, so that second derivatives of large determinants need regular matrices.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            if rows(&at.inputs[0]) <= MAX_MINOR_ROWS {
                return Ok(smallvec![Some(pull_minors(&at.inputs[0], &cotangents[0])?)]);
            }
            let ct = &cotangents[0];
            let inverse = Inverse { on_singular: OnSingular::Fail, name: "det" };
            let x = adjoint(&Array::record_one(inverse, &[&at.inputs[0]])?)?;
            let y = adjoint(&at.outputs[0])?;
            let trace = sum_last(&diagonal_of(&matmul(&y, ct)?)?)?;
            let inner = matmul(&matmul(&y, ct)?, &x)?;
            Ok(smallvec![Some(sub(&times(&x, &trace)?, &inner)?)])
        })
    }

    taller_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::adjugate(inputs[0], &output);
            explained(outcome, "det", "has singular values that do not converge", batch_of(inputs[0].shape()))
        })
    }
}
