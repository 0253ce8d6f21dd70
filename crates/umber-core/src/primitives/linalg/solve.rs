//! Solve: systems of linear equations.

use smallvec::SmallVec;
use umber_numerics::linalg::Form;
use umber_types::{Result, Shape};

use super::{adjoint, batch_of, described, lower, times_adjoint, upper};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, batch_size, rule};
use crate::primitives::rules::{batch, neg, reshape, transpose};
use crate::validation::Site;

/// The solution `x` of `a x = b`: `a` of shape `[..., n, n]`, `b` of shape `[..., n, k]`, with equal batch axes and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Solve {
    /// The structure of `a`: general or triangular.
    pub form: Form,
    /// The public function named in error messages; files do not store it.
    #[serde(skip, default = "name")]
    pub name: &'static str,
}

/// [`Solve`], in the derivative of the function `name`.
pub(crate) fn solve(name: &'static str, form: Form, a: &Array, b: &Array) -> Result<Array> {
    Array::record_one(Solve { form, name }, &[a, b])
}

/// One `[n, n]` matrix for all right-hand sides `[..., n, k]`, which become columns of one right-hand side.
pub(crate) fn solve_shared(op: Solve, a: &Array, b: &Array) -> Result<Array> {
    let ndim = b.ndim();
    let order: SmallVec<[usize; 6]> =
        std::iter::once(ndim - 2).chain(0..ndim - 2).chain([ndim - 1]).collect();
    let rows_first = transpose(b, &order)?;
    let n = b.shape()[ndim - 2];
    let count: usize = rows_first.shape()[1..].iter().product();
    let x = Array::record_one(op, &[a, &reshape(&rows_first, [n, count])?])?;
    let inverse: SmallVec<[usize; 6]> = (1..ndim - 1).chain([0, ndim - 1]).collect();
    transpose(&reshape(&x, rows_first.shape().clone())?, &inverse)
}

/// The function named in error messages of a loaded program.
fn name() -> &'static str {
    "solve"
}

impl Primitive for Solve {
    fn name(&self) -> &'static str {
        "linalg.solve"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[1].clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2)?;
        site.square(0)?;
        site.matrices(1)?;
        site.must(
            site.ndim(0) == site.ndim(1) && site.last(0, 1) == site.last(1, 2),
            "equal numbers of rows",
        )?;
        site.same_batch(2)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let op = Solve { form: self.form.transposed(), ..*self };
            let pulled = Array::record_one(op, &[&adjoint(&at.inputs[0])?, &cotangents[0]])?;
            at.pull(|i| {
                if i == 1 {
                    return Ok(Some(pulled.clone()));
                }
                let dense = neg(&times_adjoint(&pulled, &at.outputs[0])?)?;
                Ok(Some(match self.form {
                    Form::General => dense,
                    Form::Lower => lower(&dense, 0)?,
                    Form::Upper => upper(&dense, 0)?,
                    Form::UnitLower => lower(&dense, -1)?,
                    Form::UnitUpper => upper(&dense, 1)?,
                }))
            })
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (a, b) = (&inputs[0], &inputs[1]);
            if !a.batched && a.ndim() == 2 {
                return Ok(vec![Batched::yes(solve_shared(*self, &a.array, &b.array)?)]);
            }
            let batch_size = batch_size(inputs);
            Ok(vec![Batched::yes(Array::record_one(
                *self,
                &[&batch(a, batch_size)?, &batch(b, batch_size)?],
            )?)])
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::solve(self.form, inputs[0], inputs[1], &output);
            let batch: Shape = batch_of(inputs[0].shape()).into();
            described(outcome, self.name, "is singular", &batch)
        })
    }
}
