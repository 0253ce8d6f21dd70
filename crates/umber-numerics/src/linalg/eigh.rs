//! Eigh: the real eigenvalues of Hermitian matrices, and orthonormal eigenvectors.

use std::sync::{Mutex, PoisonError};

use faer::diag::{DiagMut, DiagRef};
use faer::linalg::evd::tridiag::tridiag_in_place;
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, MatMut, MatRef, Par, Spec};
use num_traits::One;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::{Field, are_numbers, centre, nan};
use umber_kernels::shared::Target;
use umber_kernels::threads::parallel_for;
use umber_kernels::{View, ViewMut};

/// From this size on the vectors of one matrix are worth several threads.
const LARGE: usize = 192;
/// Vectors that are brought back together.
const COLUMNS: usize = 64;

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
        let reduction = if to.is_some() && n >= LARGE { Some(Reduction::new(n)?) } else { None };
        Ok((filled(T::zero(), n * n)?, filled(T::zero(), n)?, basis, Workspace::new(need)?, reduction))
    };
    each(
        from.count(),
        cost(n, n, n).saturating_mul(4),
        scratch,
        |index, (matrix, found, basis, workspace, reduction)| {
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
                if let Some(reduction) = reduction {
                    reduction.decompose(matrix, found, basis, workspace)
                } else {
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
                }
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

/// Room to decompose a large matrix by way of a tridiagonal one.
struct Reduction<T> {
    n: usize,
    /// Reflections that are applied together.
    block: usize,
    /// Their factors, a column a reflection.
    factors: Vec<T>,
    diagonal: Vec<T>,
    below: Vec<T>,
    /// For each part of the vectors.
    workspaces: Vec<Mutex<Workspace>>,
}

impl<T: Field> Reduction<T> {
    fn new(n: usize) -> Result<Reduction<T>, Failure> {
        let block = recommended_block_size::<T>(n, n);
        let need = apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(n - 1, block, COLUMNS);
        let workspaces = (0..n.div_ceil(COLUMNS)).map(|_| Workspace::new(need).map(Mutex::new));
        Ok(Reduction {
            n,
            block,
            factors: filled(T::zero(), block * (n - 1))?,
            diagonal: filled(T::zero(), n)?,
            below: filled(T::zero(), n)?,
            workspaces: workspaces.collect::<Result<_, _>>()?,
        })
    }

    /// As [`self_adjoint_evd`], which brings vectors back on one thread; the matrix is used up.
    fn decompose(
        &mut self,
        matrix: &mut [T],
        values: &mut [T],
        vectors: &mut [T],
        workspace: &mut Workspace,
    ) -> bool {
        let (n, block) = (self.n, self.block);
        tridiag_in_place(
            MatMut::from_column_major_slice_mut(matrix, n, n),
            MatMut::from_column_major_slice_mut(&mut self.factors, block, n - 1),
            Par::Seq,
            workspace.stack(),
            Spec::default(),
        );
        for i in 0..n {
            self.diagonal[i] = matrix[i * n + i];
            self.below[i] = if i + 1 < n { matrix[i * n + i + 1] } else { T::zero() };
        }
        let done = tridiagonal_self_adjoint_evd(
            DiagRef::from_slice(&self.diagonal),
            DiagRef::from_slice(&self.below),
            DiagMut::from_slice_mut(values),
            Some(MatMut::from_column_major_slice_mut(vectors, n, n)),
            Par::Seq,
            workspace.stack(),
            Spec::default(),
        );
        let reflections = MatRef::from_column_major_slice(matrix, n, n).submatrix(1, 0, n - 1, n - 1);
        let factors = MatRef::from_column_major_slice(&self.factors, block, n - 1);
        let (vectors, workspaces) = (Target::over(vectors), &self.workspaces);
        parallel_for(workspaces.len(), |part| {
            let first = part * COLUMNS;
            let width = COLUMNS.min(n - first);
            let start = vectors.at((first * n) as isize);
            // SAFETY: columns that this part alone uses.
            let columns = unsafe { std::slice::from_raw_parts_mut(start, n * width) };
            let mut workspace = workspaces[part].lock().unwrap_or_else(PoisonError::into_inner);
            apply_block_householder_sequence_on_the_left_in_place_with_conj(
                reflections,
                factors,
                Conj::No,
                MatMut::from_column_major_slice_mut(columns, n, width).subrows_mut(1, n - 1),
                Par::Seq,
                workspace.stack(),
            );
        });
        done.is_ok()
    }
}
