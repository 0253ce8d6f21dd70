//! Eigh: the real eigenvalues of Hermitian matrices, and orthonormal eigenvectors.

use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{MatMut, MatRef, Par, Spec};
use num_traits::One;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::{Field, are_numbers, centre, nan};
use umber_kernels::{View, ViewMut};

/// The eigenvalues of each matrix in ascending order, and where asked for a matrix with an eigenvector a column. Only
/// the lower triangle is read, and of its diagonal the real part. Matrices with infinities or NaN have NaN everywhere.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn eigh(a: View, values: &ViewMut, vectors: Option<&ViewMut>) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => factor::<T>(a, values, vectors), else => panic!("matrices of {}", a.dtype()))
}

fn factor<T: Field>(a: View, values: &ViewMut, vectors: Option<&ViewMut>) -> Result<(), Failure> {
    let from = Matrices::<T>::of(a);
    let n = from.rows();
    if n == 0 {
        return Ok(());
    }
    let values = Results::<T::Magnitude>::of(values, 1);
    let to = vectors.map(|vectors| Results::<T>::of(vectors, 2));
    let wanted = if to.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let scratch = || {
        let need = self_adjoint_evd_scratch::<T>(n, wanted, Par::Seq, Spec::default());
        let basis = filled(T::zero(), if to.is_some() { n * n } else { 0 })?;
        Ok((filled(T::zero(), n * n)?, filled(T::zero(), n)?, basis, Workspace::new(need)?))
    };
    each(
        from.count(),
        cost(n, n, n).saturating_mul(4),
        scratch,
        |index, (matrix, found, basis, workspace)| {
            from.load(index, matrix);
            for column in 1..n {
                matrix[column * n..column * n + column].fill(T::zero());
            }
            for i in 0..n {
                matrix[i * n + i] = T::of_real(matrix[i * n + i].real_part());
            }
            let mut scale = T::Magnitude::one();
            let done = if are_numbers(matrix) {
                scale = centre(matrix);
                let width = if to.is_some() { n } else { 0 };
                let u = MatMut::from_column_major_slice_mut(basis, n, width);
                self_adjoint_evd(
                    MatRef::from_column_major_slice(matrix, n, n),
                    DiagMut::from_slice_mut(found),
                    to.is_some().then_some(u),
                    Par::Seq,
                    workspace.stack(),
                    Spec::default(),
                )
                .is_ok()
            } else {
                found.fill(nan());
                basis.fill(nan());
                true
            };
            values.write(index, |part| {
                for (value, found) in part.iter_mut().zip(found) {
                    *value = found.real_part() * scale;
                }
            });
            if let Some(to) = to {
                to.store(index, basis, n, n);
            }
            done
        },
    )
}
