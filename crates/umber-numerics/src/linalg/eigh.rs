//! Eigenvalues and orthonormal eigenvectors of Hermitian matrices.

use std::sync::{Mutex, PoisonError};

use faer::diag::{DiagMut, DiagRef};
use faer::linalg::evd::{
    ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch,
    tridiagonal_self_adjoint_evd,
};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::{Auto, Conj, MatMut, MatRef, Par, Spec};
use num_traits::One;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::field::{Field, all_finite, nan, scale_to_unit};
use super::tridiagonal::{COLUMNS, Tridiagonal};
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_for;
use umber_kernels_base::{View, ViewMut};

/// Minimum size for several threads per matrix and for divide and conquer, whose result is checked.
const LARGE: usize = 128;

/// The eigenvalues of each matrix in ascending order, and optionally a matrix with the eigenvectors as columns. Only the
/// lower triangle is read, and only the real part of its diagonal. Matrices with infinities or NaN have NaN everywhere.
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
    let compute_vectors = if to.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let scratch = || {
        let need = self_adjoint_evd_scratch::<T>(n, compute_vectors, Par::Seq, Spec::default());
        let basis = filled(T::zero(), if to.is_some() { n * n } else { 0 })?;
        let large = if n >= LARGE { Some(TridiagonalSolver::new(n, compute_vectors)?) } else { None };
        Ok((filled(T::zero(), n * n)?, filled(T::zero(), n)?, basis, Workspace::new(need)?, large))
    };
    for_each_matrix(
        from.count(),
        cost(n, n, n).saturating_mul(4),
        scratch,
        |index, (matrix, eigenvalues, basis, workspace, large)| {
            from.load(index, matrix);
            for column in 1..n {
                matrix[column * n..column * n + column].fill(T::zero());
            }
            for i in 0..n {
                matrix[i * n + i] = T::of_real(matrix[i * n + i].real_part());
            }
            let mut scale = T::Magnitude::one();
            let done = if all_finite(matrix) {
                scale = scale_to_unit(matrix);
                if let Some(large) = large {
                    large.decompose(matrix, eigenvalues, to.is_some().then_some(&mut **basis), workspace)
                } else {
                    let width = if to.is_some() { n } else { 0 };
                    let u = MatMut::from_column_major_slice_mut(basis, n, width);
                    self_adjoint_evd(
                        MatRef::from_column_major_slice(matrix, n, n),
                        DiagMut::from_slice_mut(eigenvalues),
                        to.is_some().then_some(u),
                        Par::Seq,
                        workspace.stack(),
                        Spec::default(),
                    )
                    .is_ok()
                }
            } else {
                eigenvalues.fill(nan());
                basis.fill(nan());
                true
            };
            values.write(index, |out| {
                for (value, eigenvalue) in out.iter_mut().zip(eigenvalues) {
                    *value = eigenvalue.real_part() * scale;
                }
            });
            if let Some(to) = to {
                to.store(index, basis, n, n);
            }
            done
        },
    )
}

/// Scratch for the decomposition of a large matrix by way of a tridiagonal one.
struct TridiagonalSolver<T> {
    tridiagonal: Tridiagonal<T>,
    /// One for each chunk of the eigenvectors.
    workspaces: Vec<Mutex<Workspace>>,
}

impl<T: Field> TridiagonalSolver<T> {
    fn new(n: usize, compute_vectors: ComputeEigenvectors) -> Result<TridiagonalSolver<T>, Failure> {
        let tridiagonal = Tridiagonal::new(n)?;
        let chunks = if compute_vectors == ComputeEigenvectors::Yes { n.div_ceil(COLUMNS) } else { 0 };
        let need = apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
            n - 1,
            tridiagonal.block(),
            COLUMNS,
        );
        let workspaces = (0..chunks).map(|_| Workspace::new(need).map(Mutex::new));
        Ok(TridiagonalSolver { tridiagonal, workspaces: workspaces.collect::<Result<_, _>>()? })
    }

    /// As faer's [`self_adjoint_evd`], but on several threads.
    fn decompose(
        &mut self,
        matrix: &[T],
        values: &mut [T],
        mut vectors: Option<&mut [T]>,
        workspace: &mut Workspace,
    ) -> bool {
        let n = values.len();
        self.tridiagonal.reduce(matrix, vectors.is_some(), workspace);
        let scale = T::of_real(self.tridiagonal.normalise());
        let mut solve = |values: &mut [T], vectors: Option<&mut [T]>, parameters| {
            tridiagonal_self_adjoint_evd(
                DiagRef::from_slice(&self.tridiagonal.diagonal),
                DiagRef::from_slice(&self.tridiagonal.subdiagonal),
                DiagMut::from_slice_mut(values),
                vectors.map(|vectors| MatMut::from_column_major_slice_mut(vectors, n, n)),
                Par::Seq,
                workspace.stack(),
                Spec::new(parameters),
            )
            .is_ok()
        };
        let default_parameters = <SelfAdjointEvdParams as Auto<T>>::auto();
        let mut done = solve(values, vectors.as_deref_mut(), default_parameters);
        if let Some(vectors) = vectors.as_deref_mut()
            && !(done && self.tridiagonal.is_solved_by(values, vectors))
        {
            // Divide and conquer may fail or be inaccurate; then QR iteration, which is slower, is used for the whole matrix.
            done = solve(
                values,
                Some(vectors),
                SelfAdjointEvdParams { recursion_threshold: usize::MAX, ..default_parameters },
            );
        }
        for value in values.iter_mut() {
            *value *= scale;
        }
        let Some(vectors) = vectors else { return done };
        let (reflections, factors) = self.tridiagonal.reflections();
        let (vectors, workspaces) = (Target::over(vectors), &self.workspaces);
        parallel_for(workspaces.len(), |chunk| {
            let first = chunk * COLUMNS;
            let width = COLUMNS.min(n - first);
            let start = vectors.at((first * n) as isize);
            // SAFETY: columns that only this chunk uses.
            let columns = unsafe { std::slice::from_raw_parts_mut(start, n * width) };
            let mut workspace = workspaces[chunk].lock().unwrap_or_else(PoisonError::into_inner);
            apply_block_householder_sequence_on_the_left_in_place_with_conj(
                reflections,
                factors,
                Conj::No,
                MatMut::from_column_major_slice_mut(columns, n, width).subrows_mut(1, n - 1),
                Par::Seq,
                workspace.stack(),
            );
        });
        done
    }
}
