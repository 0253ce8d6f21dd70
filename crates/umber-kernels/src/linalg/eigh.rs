//! Eigh: the real eigenvalues of Hermitian matrices, and orthonormal eigenvectors.

use faer::diag::{DiagMut, DiagRef};
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{MatMut, MatRef, Par, Spec};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::{Field, are_numbers, nan};
use super::tridiagonal::Tridiagonal;
use crate::{View, ViewMut};

/// Rows from which on a matrix is worth being shared out among threads.
const LARGE: usize = 256;

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
    let scratch = || Decomposer::<T>::new(n, to.is_some());
    each(from.count(), cost(n, n, n).saturating_mul(4), scratch, |index, eigh| {
        let matrix = eigh.matrix();
        from.load(index, matrix);
        for column in 1..n {
            matrix[column * n..column * n + column].fill(T::zero());
        }
        for i in 0..n {
            matrix[i * n + i] = T::of_real(matrix[i * n + i].real_part());
        }
        let done = eigh.decompose();
        values.write(index, |part| {
            for (value, found) in part.iter_mut().zip(&eigh.values) {
                *value = found.real_part();
            }
        });
        if let Some(to) = to {
            to.store(index, &eigh.vectors, n, n);
        }
        done
    })
}

/// Room for the decomposition of one matrix.
struct Decomposer<T> {
    n: usize,
    matrix: Vec<T>,
    values: Vec<T>,
    vectors: Vec<T>,
    has_vectors: bool,
    /// For matrices whose factors threads share.
    factors: Option<Tridiagonal<T>>,
    workspace: Workspace,
}

impl<T: Field> Decomposer<T> {
    fn new(n: usize, has_vectors: bool) -> Result<Self, Failure> {
        let wanted = if has_vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        let shared = n >= LARGE && T::IS_REAL && has_vectors;
        let block = recommended_block_size::<T>(n, n).max(1);
        Ok(Decomposer {
            n,
            matrix: filled(T::zero(), if shared { 0 } else { n * n })?,
            values: filled(T::zero(), n)?,
            vectors: filled(T::zero(), if has_vectors { n * n } else { 0 })?,
            has_vectors,
            factors: if shared { Some(Tridiagonal::new(n, block)?) } else { None },
            workspace: Workspace::new(self_adjoint_evd_scratch::<T>(n, wanted, Par::Seq, Spec::default()))?,
        })
    }

    /// Where the matrix is to be written, column by column.
    fn matrix(&mut self) -> &mut [T] {
        match &mut self.factors {
            Some(factors) => &mut factors.matrix,
            None => &mut self.matrix,
        }
    }

    /// Decompose the matrix; does it come to an end?
    fn decompose(&mut self) -> bool {
        if !are_numbers(self.matrix()) {
            self.values.fill(nan());
            self.vectors.fill(nan());
            return true;
        }
        let n = self.n;
        let values = DiagMut::from_slice_mut(&mut self.values);
        let width = if self.has_vectors { n } else { 0 };
        let vectors = MatMut::from_column_major_slice_mut(&mut self.vectors, n, width);
        let Some(factors) = &mut self.factors else {
            let matrix = MatRef::from_column_major_slice(&self.matrix, n, n);
            let vectors = self.has_vectors.then_some(vectors);
            let stack = self.workspace.stack();
            return self_adjoint_evd(matrix, values, vectors, Par::Seq, stack, Spec::default()).is_ok();
        };
        factors.factor();
        let done = tridiagonal_self_adjoint_evd(
            DiagRef::from_slice(&factors.diagonal),
            DiagRef::from_slice(&factors.beside),
            values,
            Some(vectors),
            Par::Seq,
            self.workspace.stack(),
            Spec::default(),
        );
        factors.apply(&mut self.vectors);
        done.is_ok()
    }
}
