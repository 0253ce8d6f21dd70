//! Systems of linear equations.

use faer::linalg::lu::partial_pivoting::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place,
    solve_unit_upper_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::batched_solve::Systems;
use super::equilibrate::Equilibration;
use super::field::Field;
use super::lu::Factors;
use umber_kernels_base::{View, ViewMut};

/// Which elements of a matrix are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Form {
    /// All.
    General,
    /// Those on and below the diagonal; the others count as zero.
    Lower,
    /// Those on and above the diagonal; the others count as zero.
    Upper,
    /// As [`Form::Lower`], with a diagonal of ones that is not read.
    UnitLower,
    /// As [`Form::Upper`], with a diagonal of ones that is not read.
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

/// Solve `a x = b` for square `a` of a given form. Singular matrices have no solution.
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
    let unsolved = T::solve_batched(&Systems { left: from, right, solutions: to });
    let count = unsolved.as_ref().map_or(from.count(), Vec::len);
    let index = |at: usize| unsolved.as_ref().map_or(at, |unsolved| unsolved[at]);
    let outcome =
        for_each_matrix(count, cost(n, n, n + columns), scratch, |at, (factors, values, workspace)| {
            let index = index(at);
            factors.factor_equilibrated(&from, index);
            right.load(index, values);
            factors.equilibration.solve_scaled(values, |values| {
                let target = MatMut::from_column_major_slice_mut(values, n, columns);
                let (matrix, order) = (factors.matrix(), factors.order());
                solve_in_place(matrix, matrix, order, target, Par::Seq, workspace.stack());
            });
            to.store(index, values, n, columns);
            !factors.is_singular()
        });
    outcome.map_err(|failure| match failure {
        Failure::Matrix(at) => Failure::Matrix(index(at)),
        Failure::Memory(_) => failure,
    })
}

fn triangular<T: Field>(form: Form, a: View, b: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, right, to) = (Matrices::<T>::of(a), Matrices::<T>::of(b), Results::<T>::of(x, 2));
    let (n, columns) = (from.rows(), right.columns());
    let (is_unit, is_lower) = match form {
        Form::General => unreachable!("general matrices are factored first"),
        Form::Lower => (false, true),
        Form::Upper => (false, false),
        Form::UnitLower => (true, true),
        Form::UnitUpper => (true, false),
    };
    let scratch =
        || Ok((filled(T::zero(), n * n)?, filled(T::zero(), n * columns)?, Equilibration::new(n, n)?));
    for_each_matrix(
        from.count(),
        cost(n, n, columns.max(1)),
        scratch,
        |index, (matrix, values, equilibration)| {
            from.load(index, matrix);
            right.load(index, values);
            // The unit diagonal is not stored, so the matrix cannot be scaled.
            if !is_unit {
                clear_other_triangle(is_lower, matrix, n);
                equilibration.scale(matrix);
            }
            equilibration.solve_scaled(values, |values| {
                let left = MatRef::from_column_major_slice(matrix, n, n);
                let target = MatMut::from_column_major_slice_mut(values, n, columns);
                match (is_unit, is_lower) {
                    (false, true) => solve_lower_triangular_in_place(left, target, Par::Seq),
                    (false, false) => solve_upper_triangular_in_place(left, target, Par::Seq),
                    (true, true) => solve_unit_lower_triangular_in_place(left, target, Par::Seq),
                    (true, false) => solve_unit_upper_triangular_in_place(left, target, Par::Seq),
                }
            });
            to.store(index, values, n, columns);
            is_unit || (0..n).all(|i| matrix[i * n + i] != T::zero())
        },
    )
}

/// Set the unused triangle to zero.
fn clear_other_triangle<T: Field>(is_lower: bool, column_major: &mut [T], n: usize) {
    for (j, column) in column_major.chunks_exact_mut(n.max(1)).enumerate() {
        let other = if is_lower { &mut column[..j] } else { &mut column[j + 1..] };
        other.fill(T::zero());
    }
}
