//! Lu: LU factorisation with partial pivoting: a row-permuted matrix as a unit lower times an upper triangular matrix.

use smallvec::smallvec;
use umber_numerics::linalg::Form;
use umber_types::{DType, Result, Shape};

use super::{
    adjoint, adjoint_times, batch_of, columns, columns_from, concatenated, described, first_columns,
    first_rows, identity, lower, rows, rows_from, solve, times_adjoint, upper, vmap_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::gather::Places;
use crate::primitives::rules::{add, broadcast, cast, reshape, sub};
use crate::validation::Site;

/// Of matrices `[..., m, n]`: both factors packed in one matrix, the pivots (row exchanges), and the new index of each row
/// (uint32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Lu;

/// The unit lower triangular factor of a packed matrix.
pub(crate) fn unpack_lower(packed: &Array) -> Result<Array> {
    let size = rows(packed).min(columns(packed));
    let left = first_columns(packed, size)?;
    let unit = identity(packed, size)?;
    if rows(packed) == size {
        return add(&lower(&left, -1)?, &unit);
    }
    let top = add(&lower(&first_rows(&left, size)?, -1)?, &unit)?;
    concatenated(top, rows_from(&left, size)?, 2)
}

/// The upper triangular factor of a packed matrix.
pub(crate) fn unpack_upper(packed: &Array) -> Result<Array> {
    upper(&first_rows(packed, rows(packed).min(columns(packed)))?, 0)
}

/// `b a⁻ᴴ` for triangular `a`.
fn over_adjoint(form: Form, a: &Array, b: &Array) -> Result<Array> {
    adjoint(&solve("lu_factor", form, a, &adjoint(b)?)?)
}

/// The cotangent of the row-permuted matrix from that of the packed factors. The ones on the diagonal of `L` and the zeros of
/// both factors are constants.
///
/// Leading square block: `L⁻ᴴ (tril(Lᴴ ctL, -1) + triu(ctU Uᴴ)) U⁻ᴴ`. Further rows of `L` and columns of `U` are solutions
/// of triangular systems with the factors of that block, so that they add to its cotangents.
fn pull(packed: &Array, ct: &Array) -> Result<Array> {
    let (m, n) = (rows(packed), columns(packed));
    let size = m.min(n);
    let square = first_columns(&first_rows(packed, size)?, size)?;
    let mut ct_l = lower(&first_columns(&first_rows(ct, size)?, size)?, -1)?;
    let mut ct_u = upper(&first_columns(&first_rows(ct, size)?, size)?, 0)?;
    let (mut lower_rows, mut right_columns) = (None, None);
    if m > size {
        let pulled = over_adjoint(Form::Upper, &square, &rows_from(ct, size)?)?;
        ct_u = sub(&ct_u, &upper(&adjoint_times(&rows_from(packed, size)?, &pulled)?, 0)?)?;
        lower_rows = Some(pulled);
    }
    if n > size {
        let pulled = solve("lu_factor", Form::UnitUpper, &adjoint(&square)?, &columns_from(ct, size)?)?;
        ct_l = sub(&ct_l, &lower(&times_adjoint(&pulled, &columns_from(packed, size)?)?, -1)?)?;
        right_columns = Some(pulled);
    }
    let unit_lower = unpack_lower(&square)?;
    let inner = add(
        &lower(&adjoint_times(&unit_lower, &ct_l)?, -1)?,
        &upper(&times_adjoint(&ct_u, &upper(&square, 0)?)?, 0)?,
    )?;
    let left = solve("lu_factor", Form::UnitUpper, &adjoint(&square)?, &inner)?;
    let leading = over_adjoint(Form::Upper, &square, &left)?;
    match (lower_rows, right_columns) {
        (Some(lower_rows), _) => concatenated(leading, lower_rows, 2),
        (None, Some(right_columns)) => concatenated(leading, right_columns, 1),
        (None, None) => Ok(leading),
    }
}

impl Primitive for Lu {
    fn name(&self) -> &'static str {
        "linalg.lu_factor"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let shape = &inputs[0].shape;
        let (batch, m, n) = (batch_of(shape), shape[shape.ndim() - 2], shape[shape.ndim() - 1]);
        let vector = |length: usize| -> Shape { batch.iter().copied().chain([length]).collect() };
        Ok(smallvec![
            inputs[0].clone(),
            ArraySpec { shape: vector(m.min(n)), dtype: DType::UInt32 },
            ArraySpec { shape: vector(m), dtype: DType::UInt32 },
        ])
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.matrices(0)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let packed = &at.outputs[0];
            let reordered = pull(packed, &cotangents[0])?;
            // Row `i` of the matrix is row `row_indices[i]` of the product of the factors.
            let row_indices = cast(&at.outputs[2], DType::UInt32)?;
            let mut shape = row_indices.shape().clone();
            shape.push(1);
            let indices = broadcast(&reshape(&row_indices, shape)?, packed.shape())?;
            Ok(smallvec![Some(Places::along("linalg.lu", packed.ndim() - 2, indices).read(&reordered)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let batch: Shape = batch_of(inputs[0].shape()).into();
            let [packed, pivots, row_indices] = outputs else { unreachable!("lu has three outputs") };
            let outcome = umber_numerics::linalg::lu(inputs[0], packed, pivots, row_indices);
            described(outcome, "lu_factor", "has no factors", &batch)
        })
    }
}
