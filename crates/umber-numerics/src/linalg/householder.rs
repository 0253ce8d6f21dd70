//! Householder reflections that make a matrix upper triangular: a QR decomposition whose `Q` is not formed.

use std::sync::Mutex;

use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transposed,
};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Conj, MatMut, MatRef, Par, Spec};

use super::Failure;
use super::batch::{Workspace, filled};
use super::field::Field;
use super::panels::{self, PanelWorkspace};

/// The reflections of one matrix, and scratch to compute them.
pub(super) struct Householder<T> {
    rows: usize,
    columns: usize,
    /// Reflections that are applied together.
    block: usize,
    /// The matrix, column-major; afterwards `R`, with the vectors of the reflections below its diagonal.
    pub(super) matrix: Vec<T>,
    /// The triangular factors of the blocks, one after the other.
    factors: Vec<T>,
    scratch: PanelWorkspace<T>,
    /// One for each column chunk.
    workspaces: Vec<Mutex<Workspace>>,
}

impl<T: Field> Householder<T> {
    /// For matrices of a size, with reflections applied to at most `width` columns.
    pub(super) fn new(rows: usize, columns: usize, width: usize) -> Result<Self, Failure> {
        let (size, widest) = (rows.min(columns), columns.max(width));
        let block = recommended_block_size::<T>(rows, columns).max(1);
        let need = qr_in_place_scratch::<T>(rows, columns, block, Par::Seq, Spec::default())
            .or(apply_scratch::<T>(rows, block, widest));
        let chunk = apply_scratch::<T>(rows, block, panels::chunk_width(widest));
        Ok(Householder {
            rows,
            columns,
            block,
            matrix: filled(T::zero(), rows * columns)?,
            factors: filled(T::zero(), block * size)?,
            scratch: PanelWorkspace::new(rows * block.min(size), Workspace::new(need)?)?,
            workspaces: (0..panels::chunk_count(widest))
                .map(|_| Ok(Mutex::new(Workspace::new(chunk)?)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Number of reflections.
    pub(super) fn size(&self) -> usize {
        self.rows.min(self.columns)
    }

    /// Factor the matrix; `reload` restores it if it must be factored again.
    pub(super) fn factor(&mut self, reload: impl FnOnce(&mut [T])) {
        if self.size() == 0 {
            return;
        }
        if self.size() < panels::MIN_QR {
            if self.factor_unblocked() {
                return;
            }
            reload(&mut self.matrix);
        }
        let Householder { rows, block, matrix, factors, scratch, workspaces, .. } = self;
        panels::qr(matrix, *rows, factors, *block, scratch, workspaces);
    }

    /// Returns whether faer used all columns; if not, the matrix is overwritten.
    fn factor_unblocked(&mut self) -> bool {
        let (rows, size, stack) = (self.rows, self.size(), self.scratch.workspace.stack());
        let matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, rows, self.columns);
        // Only the leading square, because with more columns than rows faer might skip one and use a later column instead.
        let (mut square, tail) = matrix.split_at_col_mut(size);
        let mut factors = MatMut::from_column_major_slice_mut(&mut self.factors, self.block, size);
        let info = qr_in_place(square.as_mut(), factors.as_mut(), Par::Seq, stack, Spec::default());
        if info.rank == size && tail.ncols() > 0 {
            apply_transposed(square.as_ref(), factors.as_ref(), Conj::Yes, tail, Par::Seq, stack);
        }
        info.rank == size
    }

    /// Apply all reflections to a column-major matrix with the same number of rows. If it is diagonal, `diagonal` saves work.
    pub(super) fn apply(&mut self, column_major: &mut [T], diagonal: bool) {
        if self.size() == 0 {
            return;
        }
        let (rows, size) = (self.rows, self.size());
        let basis = MatRef::from_column_major_slice(&self.matrix, rows, self.columns).get(.., ..size);
        let factors = MatRef::from_column_major_slice(&self.factors, self.block, size);
        if self.workspaces.len() > 1 {
            return panels::apply_householder(basis, factors, column_major, diagonal, &self.workspaces);
        }
        let columns = column_major.len() / rows;
        let to = MatMut::from_column_major_slice_mut(column_major, rows, columns);
        apply(basis, factors, Conj::No, to, Par::Seq, self.scratch.workspace.stack());
    }
}
