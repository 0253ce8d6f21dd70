//! Cholesky: a Hermitian positive definite matrix as `L Lᴴ`.

use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par, Spec};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::field::Field;
use super::panels;
use umber_kernels_base::{View, ViewMut};

/// The lower triangular `L` with `a = L Lᴴ`. Only the lower triangle of `a` is read, and only the real part of its diagonal.
/// Matrices that are not positive definite, or contain NaN, have no factor.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn cholesky(a: View, l: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => factor::<T>(a, l), else => panic!("matrices of {}", a.dtype()))
}

fn factor<T: Field>(a: View, l: &ViewMut) -> Result<(), Failure> {
    let (from, to) = (Matrices::<T>::of(a), Results::<T>::of(l, 2));
    let n = from.rows();
    let scratch = || {
        let need = cholesky_in_place_scratch::<T>(n, Par::Seq, Spec::default());
        Ok((filled(T::zero(), n * n)?, Workspace::new(need)?))
    };
    for_each_matrix(from.count(), cost(n, n, n) / 3, scratch, |index, (matrix, workspace)| {
        from.load(index, matrix);
        for i in 0..n {
            matrix[i * n + i] = T::of_real(matrix[i * n + i].real_part());
        }
        let is_definite = if n >= panels::MIN_CHOLESKY {
            panels::cholesky(matrix, n, workspace)
        } else {
            let full = MatMut::from_column_major_slice_mut(matrix, n, n);
            let regular = LltRegularization::default();
            cholesky_in_place(full, regular, Par::Seq, workspace.stack(), Spec::default()).is_ok()
        };
        for (j, column) in matrix.chunks_exact_mut(n.max(1)).enumerate() {
            column[..j].fill(T::zero());
            // An imaginary part of the diagonal can only be a rounding error.
            column[j] = T::of_real(column[j].real_part());
        }
        to.store(index, matrix, n, n);
        is_definite
    })
}
