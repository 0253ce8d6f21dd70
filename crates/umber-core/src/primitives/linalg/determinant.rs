//! Determinants, and the adjugate that their derivative needs.

use smallvec::smallvec;
use umber_numerics::linalg::OnSingular;
use umber_types::{Result, Shape};

use super::{
    Inverse, adjoint, as_matrix, batch_of, described, diagonal_of, imaginary, rows, sum_last, vmap_stack,
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

/// The sign (or phase) of the determinant, zero for singular matrices, and the logarithm of its absolute value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SignedLog;

/// The transposed cofactor matrix: `det(a) a⁻¹`, or its limit where `a` is singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Adjugate;

/// Each matrix of `x` times its element of `factors`.
fn times(x: &Array, factors: &Array) -> Result<Array> {
    mul(x, &broadcast(&as_matrix(factors)?, x.shape())?)
}

/// Up to this many rows `n`, adjugates are differentiated through their `n²` minors of `(n - 1)²` elements each.
const MAX_MINOR_ROWS: usize = 8;

/// The cotangent of `a` from that of its adjugate, whose element `[i, j]` is `(-1)^(i + j)` times the determinant of `a`
/// without row `j` and column `i`.
fn pull_minors(a: &Array, ct: &Array) -> Result<Array> {
    let n = rows(a);
    if n < 2 {
        return Ok(zeros_like(a));
    }
    // `selectors[i] @ m` is `m` without its i-th row.
    let is_selected = |i: usize, row: usize, from: usize| from == row + usize::from(row >= i);
    let indices = (0..n).flat_map(|i| (0..n - 1).flat_map(move |row| (0..n).map(move |from| (i, row, from))));
    let selectors: Vec<f32> =
        indices.map(|(i, row, from)| f32::from(u8::from(is_selected(i, row, from)))).collect();
    let signs: Vec<f32> =
        (0..n * n).map(|k| if (k / n + k % n).is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
    let selectors = cast(&Array::from_slice(&selectors, [n, n - 1, n])?, a.dtype())?;
    let signs = cast(&Array::from_slice(&signs, [n, n])?, a.dtype())?;
    let without_row = ops::expand_dims(&selectors, &[0])?;
    let without_column = ops::expand_dims(&swap_last(&selectors)?, &[1])?;
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

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::determinant(inputs[0], &output);
            described(outcome, "det", "has no determinant", batch_of(inputs[0].shape()))
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

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let [sign, log] = outputs else { unreachable!("slogdet has two outputs") };
            let outcome = umber_numerics::linalg::sign_and_log_determinant(inputs[0], sign, log);
            described(outcome, "slogdet", "has no determinant", batch_of(inputs[0].shape()))
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

    // Small matrices use the definition by minors, whose derivatives of any order exist at singular matrices too. Larger
    // matrices use det(a) a⁻¹, so that second derivatives of their determinants need regular matrices.
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

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::adjugate(inputs[0], &output);
            described(outcome, "det", "has singular values that do not converge", batch_of(inputs[0].shape()))
        })
    }
}
