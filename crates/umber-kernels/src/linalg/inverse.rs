//! Inverse: the matrix that undoes a matrix.

use faer::linalg::lu::partial_pivoting::inverse::{inverse as invert, inverse_scratch};
use faer::{MatMut, Par};
use num_traits::Float;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::Field;
use super::lu::Factors;
use crate::{View, ViewMut};

/// What becomes of singular matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum OnSingular {
    /// They have no answer.
    Fail,
    /// The answer is infinite.
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
    each(
        from.count(),
        cost(n, n, n),
        || Inverter::<T>::new(n),
        |index, inverter| {
            inverter.factors.factor(&from, index);
            if inverter.factors.is_singular() {
                to.write(index, |part| part.fill(T::of_real(T::Magnitude::infinity())));
                return on_singular == OnSingular::Infinity;
            }
            to.store(index, inverter.invert(), n, n);
            true
        },
    )
}

/// Room for the factors of one matrix and its inverse.
pub(super) struct Inverter<T> {
    /// The factors.
    pub(super) factors: Factors<T>,
    n: usize,
    values: Vec<T>,
    workspace: Workspace,
}

impl<T: Field> Inverter<T> {
    pub(super) fn new(n: usize) -> Result<Inverter<T>, Failure> {
        Ok(Inverter {
            factors: Factors::new(n, n)?,
            n,
            values: filled(T::zero(), n * n)?,
            workspace: Workspace::new(inverse_scratch::<usize, T>(n, Par::Seq))?,
        })
    }

    /// The inverse of the matrix that was factored, column by column.
    pub(super) fn invert(&mut self) -> &[T] {
        invert(
            MatMut::from_column_major_slice_mut(&mut self.values, self.n, self.n),
            self.factors.matrix(),
            self.factors.matrix(),
            self.factors.order(),
            Par::Seq,
            self.workspace.stack(),
        );
        &self.values
    }
}
