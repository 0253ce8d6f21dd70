//! Solve: systems of linear equations.

use faer::linalg::lu::partial_pivoting::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place,
    solve_unit_upper_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::Field;
use super::lu::Factors;
use umber_kernels::{View, ViewMut};

/// What is known of the elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Form {
    /// Nothing.
    General,
    /// Those above the diagonal are zero, whatever they say.
    Lower,
    /// Those below the diagonal are zero, whatever they say.
    Upper,
    /// As [`Form::Lower`], with a diagonal of ones, whatever it says.
    UnitLower,
    /// As [`Form::Upper`], with a diagonal of ones, whatever it says.
    UnitUpper,
}

impl Form {
    /// The form of the transposed matrix.
    #[must_use]
    pub fn transposed(self) -> Form {
        match self {
            Form::General => Form::General,
            Form::Lower => Form::Upper,
            Form::Upper => Form::Lower,
            Form::UnitLower => Form::UnitUpper,
            Form::UnitUpper => Form::UnitLower,
        }
    }
}

/// The `x` with `a x = b` for square `a` of some form. Singular matrices have none.
///
/// # Panics
/// If dtypes and shapes do not fit together.
pub fn solve(form: Form, a: View, b: View, x: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => match form {
        Form::General => general::<T>(a, b, x),
        Form::Lower | Form::Upper | Form::UnitLower | Form::UnitUpper => triangular::<T>(form, a, b, x),
    }, else => panic!("matrices of {}", a.dtype()))
}

fn general<T: Field>(a: View, b: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, right, to) = (Matrices::<T>::of(a), Matrices::<T>::of(b), Results::<T>::of(x, 2));
    let (n, columns) = (from.rows(), right.columns());
    let scratch = || {
        let need = solve_in_place_scratch::<usize, T>(n, columns, Par::Seq);
        Ok((Factors::<T>::new(n, n)?, filled(T::zero(), n * columns)?, Workspace::new(need)?))
    };
    each(from.count(), cost(n, n, n + columns), scratch, |index, (factors, values, workspace)| {
        factors.factor(&from, index);
        right.load(index, values);
        let target = MatMut::from_column_major_slice_mut(values, n, columns);
        solve_in_place(
            factors.matrix(),
            factors.matrix(),
            factors.order(),
            target,
            Par::Seq,
            workspace.stack(),
        );
        to.store(index, values, n, columns);
        !factors.is_singular()
    })
}

fn triangular<T: Field>(form: Form, a: View, b: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, right, to) = (Matrices::<T>::of(a), Matrices::<T>::of(b), Results::<T>::of(x, 2));
    let (n, columns) = (from.rows(), right.columns());
    let scratch = || Ok((filled(T::zero(), n * n)?, filled(T::zero(), n * columns)?));
    each(from.count(), cost(n, n, columns.max(1)), scratch, |index, (matrix, values)| {
        from.load(index, matrix);
        right.load(index, values);
        let left = MatRef::from_column_major_slice(matrix, n, n);
        let target = MatMut::from_column_major_slice_mut(values, n, columns);
        let is_singular = || (0..n).any(|i| matrix[i * n + i] == T::zero());
        let is_solvable = match form {
            Form::General => unreachable!("general matrices are factored first"),
            Form::Lower => {
                solve_lower_triangular_in_place(left, target, Par::Seq);
                !is_singular()
            }
            Form::Upper => {
                solve_upper_triangular_in_place(left, target, Par::Seq);
                !is_singular()
            }
            Form::UnitLower => {
                solve_unit_lower_triangular_in_place(left, target, Par::Seq);
                true
            }
            Form::UnitUpper => {
                solve_unit_upper_triangular_in_place(left, target, Par::Seq);
                true
            }
        };
        to.store(index, values, n, columns);
        is_solvable
    })
}
