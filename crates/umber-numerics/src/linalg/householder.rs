//! Reflections that take a matrix to an upper triangular one: a QR decomposition before its first factor is written out.

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

/// The reflections of one matrix, and room to find them.
pub(super) struct Householder<T> {
    rows: usize,
    columns: usize,
    /// Reflections that are applied together.
    block: usize,
    /// The matrix, column by column; then `R`, and the reflections' vectors below its diagonal.
    pub(super) matrix: Vec<T>,
    /// The blocks' triangular factors, side by side.
    factors: Vec<T>,
    scratch: PanelWorkspace<T>,
    /// For each part of the columns.
    parts: Vec<Mutex<Workspace>>,
}

impl<T: Field> Householder<T> {
    /// For matrices of a size, whose reflections are applied to so many columns.
    pub(super) fn new(rows: usize, columns: usize, width: usize) -> Result<Self, Failure> {
        let (size, widest) = (rows.min(columns), columns.max(width));
        let block = recommended_block_size::<T>(rows, columns).max(1);
        let need = qr_in_place_scratch::<T>(rows, columns, block, Par::Seq, Spec::default())
            .or(apply_scratch::<T>(rows, block, widest));
        let part = apply_scratch::<T>(rows, block, panels::width(widest));
        Ok(Householder {
            rows,
            columns,
            block,
            matrix: filled(T::zero(), rows * columns)?,
            factors: filled(T::zero(), block * size)?,
            scratch: PanelWorkspace::new(rows * block.min(size), Workspace::new(need)?)?,
            parts: (0..panels::parts(widest))
                .map(|_| Ok(Mutex::new(Workspace::new(part)?)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// How many reflections there are.
    pub(super) fn size(&self) -> usize {
        self.rows.min(self.columns)
    }

    /// Find those of the matrix, which `again` brings back.
    pub(super) fn find(&mut self, again: impl FnOnce(&mut [T])) {
        if self.size() == 0 {
            return;
        }
        if self.size() < panels::MIN_QR {
            if self.find_whole() {
                return;
            }
            again(&mut self.matrix);
        }
        let Householder { rows, block, matrix, factors, scratch, parts, .. } = self;
        panels::qr(matrix, *rows, factors, *block, scratch, parts);
    }

    /// Answers whether faer took all columns, or the matrix is lost.
    fn find_whole(&mut self) -> bool {
        let (rows, size, stack) = (self.rows, self.size(), self.scratch.workspace.stack());
        let matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, rows, self.columns);
        // faer may leave a column out and take one from behind, where there are more of them than rows.
        let (mut square, rest) = matrix.split_at_col_mut(size);
        let mut factors = MatMut::from_column_major_slice_mut(&mut self.factors, self.block, size);
        let info = qr_in_place(square.as_mut(), factors.as_mut(), Par::Seq, stack, Spec::default());
        if info.rank == size && rest.ncols() > 0 {
            apply_transposed(square.as_ref(), factors.as_ref(), Conj::Yes, rest, Par::Seq, stack);
        }
        info.rank == size
    }

    /// Apply them all to a matrix with so many rows, of which those after the `size` first have ones on the diagonal alone; or
    /// those before, too, if it is `diagonal`.
    pub(super) fn apply(&mut self, columns_first: &mut [T], diagonal: bool) {
        if self.size() == 0 {
            return;
        }
        let (rows, size) = (self.rows, self.size());
        let basis = MatRef::from_column_major_slice(&self.matrix, rows, self.columns).get(.., ..size);
        let factors = MatRef::from_column_major_slice(&self.factors, self.block, size);
        if self.parts.len() > 1 {
            return panels::apply_householder(basis, factors, columns_first, diagonal, &self.parts);
        }
        let columns = columns_first.len() / rows;
        let to = MatMut::from_column_major_slice_mut(columns_first, rows, columns);
        apply(basis, factors, Conj::No, to, Par::Seq, self.scratch.workspace.stack());
    }
}
