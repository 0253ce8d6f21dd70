//! Solve: systems of linear equations.

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
    let others = T::solve_batched(&Systems { left: from, right, solutions: to });
    let count = others.as_ref().map_or(from.count(), Vec::len);
    let index = |at: usize| others.as_ref().map_or(at, |others| others[at]);
    let outcome =
        for_each_matrix(count, cost(n, n, n + columns), scratch, |at, (factors, values, workspace)| {
            let index = index(at);
            factors.factor_equilibrated(&from, index);
            right.load(index, values);
            factors.equilibrium.solve_scaled(values, |values| {
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
        |index, (matrix, values, equilibrium)| {
            from.load(index, matrix);
            right.load(index, values);
            // Ones that are not stored cannot be multiplied.
            if !is_unit {
                clear_other_triangle(is_lower, matrix, n);
                equilibrium.scale(matrix);
            }
            equilibrium.solve_scaled(values, |values| {
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

/// Let the triangle that does not count be zero.
fn clear_other_triangle<T: Field>(is_lower: bool, columns_first: &mut [T], n: usize) {
    for (j, column) in columns_first.chunks_exact_mut(n.max(1)).enumerate() {
        let other = if is_lower { &mut column[..j] } else { &mut column[j + 1..] };
        other.fill(T::zero());
    }
}
