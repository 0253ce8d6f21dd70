//! Inverses of square matrices.

use faer::linalg::triangular_solve::{solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, Par};
use num_traits::Float;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, cost, filled, for_each_matrix};
use super::field::Field;
use super::lu::Factors;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_for;
use umber_kernels_base::{View, ViewMut};

/// Columns that are solved for together.
const COLUMNS: usize = 128;

/// The treatment of singular matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum OnSingular {
    /// They have no result.
    Fail,
    /// Their inverse is infinite.
    Infinity,
}

/// The inverse of each matrix.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn inverse(on_singular: OnSingular, a: View, x: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => inverses::<T>(on_singular, a, x), else => panic!("matrices of {}", a.dtype()))
}

fn inverses<T: Field>(on_singular: OnSingular, a: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, to) = (Matrices::<T>::of(a), Results::<T>::of(x, 2));
    let n = from.rows();
    for_each_matrix(
        from.count(),
        cost(n, n, n),
        || Inverter::<T>::new(n),
        |index, inverter| {
            inverter.factors.factor_equilibrated(&from, index);
            if inverter.factors.is_singular() {
                to.write(index, |out| out.fill(T::of_real(T::Magnitude::infinity())));
                return on_singular == OnSingular::Infinity;
            }
            to.store(index, inverter.invert(), n, n);
            true
        },
    )
}

/// Scratch for the factors of one matrix and its inverse.
pub(super) struct Inverter<T> {
    /// The factors.
    pub(super) factors: Factors<T>,
    n: usize,
    values: Vec<T>,
    /// Columns of the inverse, in the row order of the factors.
    columns: Vec<T>,
}

impl<T: Field> Inverter<T> {
    pub(super) fn new(n: usize) -> Result<Inverter<T>, Failure> {
        Ok(Inverter {
            factors: Factors::new(n, n)?,
            n,
            values: filled(T::zero(), n * n)?,
            columns: filled(T::zero(), n * n)?,
        })
    }

    /// The inverse of the factored matrix, column-major.
    pub(super) fn invert(&mut self) -> &[T] {
        let (n, factors) = (self.n, &self.factors);
        let (target, columns) = (Target::over(&mut self.values), Target::over(&mut self.columns));
        parallel_for(n.div_ceil(COLUMNS), |chunk| {
            let first = chunk * COLUMNS;
            let width = COLUMNS.min(n - first);
            // SAFETY: columns that only this chunk uses.
            let columns =
                unsafe { std::slice::from_raw_parts_mut(columns.at((first * n) as isize), n * width) };
            columns.fill(T::zero());
            for (j, column) in columns.chunks_exact_mut(n).enumerate() {
                column[first + j] = T::one();
            }
            // The zeros above the diagonal remain zeros under forward substitution.
            let lower = factors.matrix().submatrix(first, first, n - first, n - first);
            let mut unknown = MatMut::from_column_major_slice_mut(&mut *columns, n, width);
            let below = unknown.as_mut().subrows_mut(first, n - first);
            solve_unit_lower_triangular_in_place(lower, below, Par::Seq);
            solve_upper_triangular_in_place(factors.matrix(), unknown, Par::Seq);
            for (j, column) in columns.chunks_exact(n).enumerate() {
                let offset = factors.old_row(first + j) * n;
                // SAFETY: a column that only this chunk writes, since the row permutation is injective.
                unsafe { std::slice::from_raw_parts_mut(target.at(offset as isize), n) }
                    .copy_from_slice(column);
            }
        });
        self.factors.equilibration.unscale_inverse(&mut self.values);
        &self.values
    }
}
