//! Blocked factorisations: faer factors a panel of neighbouring columns, and the update of the other columns is split into
//! chunks for all threads. The next panel is updated first, and one thread factors it while the others continue.
//!
//! The size of chunks does not depend on the number of threads, and so neither do results. Each step writes chunks that do
//! not overlap ([`SharedMatrix`]).

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transposed,
    upgrade_householder_factor,
};
use faer::linalg::lu::partial_pivoting::factor::lu_in_place;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::qr_in_place;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place_with_conj, solve_unit_lower_triangular_in_place,
};
use faer::{Accum, ColMut, ColRef, Conj, MatMut, MatRef, Par, Spec};
use num_traits::{Float, Zero};

use super::Failure;
use super::batch::{Workspace, filled};
use super::field::Field;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_for;

/// Positive definite matrices with fewer rows are factored unblocked, since splitting them would not pay.
pub(super) const MIN_CHOLESKY: usize = 768;
/// The same for LU decompositions, by the smaller of rows and columns. Panels pay even on one thread.
pub(super) const MIN_LU: usize = 256;
/// The same for QR decompositions, which take four times as long as Cholesky.
pub(super) const MIN_QR: usize = 384;
/// Multiple of the rounding error of a column below which its remainder counts as zero.
const ROUNDING: f64 = 4.0;
/// Columns of a panel.
const PANEL: usize = 64;
/// Columns, or rows, of a chunk.
const CHUNK: usize = 128;

/// A column-major matrix of which tasks write disjoint blocks.
#[derive(Clone, Copy)]
struct SharedMatrix<T> {
    start: Target<T>,
    rows: usize,
    columns: usize,
}

impl<T: Field> SharedMatrix<T> {
    fn over(column_major: &mut [T], rows: usize) -> SharedMatrix<T> {
        let columns = column_major.len() / rows;
        SharedMatrix { start: Target::over(column_major), rows, columns }
    }

    /// Pointer to the first element of a block.
    fn at(self, rows: &Range<usize>, columns: &Range<usize>) -> *mut T {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows of the matrix");
        assert!(columns.start <= columns.end && columns.end <= self.columns, "columns of the matrix");
        self.start.at((columns.start * self.rows + rows.start) as isize)
    }

    /// A block to write.
    ///
    /// # Safety
    ///
    /// The matrix outlives the block, and no other reference to its elements is used meanwhile.
    unsafe fn block_mut<'a>(self, rows: Range<usize>, columns: Range<usize>) -> MatMut<'a, T> {
        // SAFETY: the block is inside the matrix; the rest is guaranteed by the caller of this function.
        unsafe {
            MatMut::from_raw_parts_mut(
                self.at(&rows, &columns),
                rows.len(),
                columns.len(),
                1,
                self.rows as isize,
            )
        }
    }

    /// A block to read.
    ///
    /// # Safety
    ///
    /// The matrix outlives the block, and its elements are not written meanwhile.
    unsafe fn block<'a>(self, rows: Range<usize>, columns: Range<usize>) -> MatRef<'a, T> {
        // SAFETY: the block is inside the matrix; the rest is guaranteed by the caller of this function.
        unsafe {
            MatRef::from_raw_parts(self.at(&rows, &columns), rows.len(), columns.len(), 1, self.rows as isize)
        }
    }
}

/// Chunk number `index` of a range.
fn chunk_of(range: &Range<usize>, index: usize) -> Range<usize> {
    let start = range.start + index * CHUNK;
    start..range.end.min(start + CHUNK)
}

/// The chunks of a range.
fn chunks_of(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    (0..chunk_count(range.len())).map(move |index| chunk_of(&range, index))
}

/// Call `body` with each chunk of a range, on all threads.
fn for_each_chunk(range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
    parallel_for(chunk_count(range.len()), |index| body(chunk_of(&range, index)));
}

/// Number of chunks of `count` rows or columns.
pub(super) fn chunk_count(count: usize) -> usize {
    count.div_ceil(CHUNK)
}

/// As faer's `cholesky_in_place`, for the lower triangle of a square matrix; returns whether it is positive definite.
pub(super) fn cholesky<T: Field>(column_major: &mut [T], n: usize, workspace: &mut Workspace) -> bool {
    let matrix = SharedMatrix::over(column_major, n);
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        for_each_chunk(start..n, |rows| {
            // SAFETY: chunks are disjoint rows of the panel; what is read lies left of it.
            unsafe {
                let (left, above) =
                    (matrix.block(rows.clone(), 0..start), matrix.block(start..end, 0..start));
                let panel = matrix.block_mut(rows, start..end);
                matmul(panel, Accum::Add, left, above.adjoint(), -T::one(), Par::Seq);
            }
        });
        // SAFETY: no other block is in use.
        let diagonal = unsafe { matrix.block_mut(start..end, start..end) };
        let regular = LltRegularization::default();
        if cholesky_in_place(diagonal, regular, Par::Seq, workspace.stack(), Spec::default()).is_err() {
            return false;
        }
        for_each_chunk(end..n, |rows| {
            // SAFETY: chunks are disjoint rows, below the block that is read.
            unsafe {
                let diagonal = matrix.block(start..end, start..end);
                let below = matrix.block_mut(rows, start..end).transpose_mut();
                solve_lower_triangular_in_place_with_conj(diagonal, Conj::Yes, below, Par::Seq);
            }
        });
    }
    true
}

/// As faer's `lu_in_place`; returns the number of row exchanges. `order` is scratch with one element per row.
pub(super) fn lu<T: Field>(
    column_major: &mut [T],
    [old_rows, new_rows, order]: [&mut [usize]; 3],
    workspace: &mut Workspace,
) -> usize {
    let rows = old_rows.len();
    let matrix = SharedMatrix::over(column_major, rows);
    let size = rows.min(matrix.columns);
    for (i, row) in old_rows.iter_mut().enumerate() {
        *row = i;
    }
    let panels = Mutex::new(LuPanels {
        order,
        inverse: &mut *new_rows,
        workspace,
        exchanges: 0,
        moves: RowSwaps(Vec::new()),
    });
    // SAFETY: no other block is in use.
    unsafe { lock(&panels).factor(matrix, 0..size.min(PANEL)) };
    for start in (0..size).step_by(PANEL) {
        let end = size.min(start + PANEL);
        let moves = std::mem::replace(&mut lock(&panels).moves, RowSwaps(Vec::new()));
        moves.apply(&mut old_rows[start..]);
        let next_panel = end..size.min(end + PANEL);
        let chunks: Vec<_> = chunks_of(0..start).chain(chunks_of(next_panel.end..matrix.columns)).collect();
        let update = |columns: Range<usize>| {
            // SAFETY: chunks are disjoint columns; what is read is in the panel.
            unsafe {
                for column in columns.clone() {
                    let values = matrix.block_mut(start..rows, column..column + 1);
                    moves.apply(std::slice::from_raw_parts_mut(values.as_ptr_mut(), rows - start));
                }
                // Left of the panel rows are only exchanged.
                if columns.start >= end {
                    let mut top = matrix.block_mut(start..end, columns.clone());
                    let triangle = matrix.block(start..end, start..end);
                    solve_unit_lower_triangular_in_place(triangle, top.as_mut(), Par::Seq);
                    let (left, trailing) =
                        (matrix.block(end..rows, start..end), matrix.block_mut(end..rows, columns));
                    matmul(trailing, Accum::Add, left, top.as_ref(), -T::one(), Par::Seq);
                }
            }
        };
        parallel_for(1 + chunks.len(), |task| {
            if task > 0 {
                update(chunks[task - 1].clone());
            } else if !next_panel.is_empty() {
                update(next_panel.clone());
                // SAFETY: only this task uses the columns of the next panel.
                unsafe { lock(&panels).factor(matrix, next_panel.clone()) };
            }
        });
    }
    let exchanges = lock(&panels).exchanges;
    for (new, &old) in old_rows.iter().enumerate() {
        new_rows[old] = new;
    }
    exchanges
}

/// State of the panel factorisations of an LU decomposition.
struct LuPanels<'a> {
    order: &'a mut [usize],
    inverse: &'a mut [usize],
    workspace: &'a mut Workspace,
    exchanges: usize,
    /// The row moves of the last panel.
    moves: RowSwaps,
}

impl LuPanels<'_> {
    /// Factor some columns, below the row with the index of the first column.
    ///
    /// # Safety
    ///
    /// No other task uses these columns.
    unsafe fn factor<T: Field>(&mut self, matrix: SharedMatrix<T>, columns: Range<usize>) {
        let start = columns.start;
        let (order, inverse) = (&mut self.order[start..], &mut self.inverse[start..]);
        // SAFETY: guaranteed by the caller of this function.
        let panel = unsafe { matrix.block_mut(start..matrix.rows, columns) };
        let stack = self.workspace.stack();
        let (info, _) = lu_in_place(panel, order, inverse, Par::Seq, stack, Spec::default());
        self.exchanges += info.transposition_count;
        self.moves = RowSwaps::of(&self.order[start..]);
    }
}

/// The rows moved by a panel's exchanges, as pairs of new and old index: at most two per column.
struct RowSwaps(Vec<(usize, usize)>);

impl RowSwaps {
    /// From a permutation that gives the old index of each row.
    fn of(order: &[usize]) -> RowSwaps {
        let swaps = order.iter().enumerate().map(|(to, &from)| (to, from)).filter(|(to, from)| to != from);
        let moves = RowSwaps(swaps.collect());
        assert!(moves.0.len() <= 2 * PANEL, "at most two rows move per exchange");
        moves
    }

    fn apply<V: Copy>(&self, values: &mut [V]) {
        let Some(&first) = values.first() else { return };
        let mut saved = [first; 2 * PANEL];
        for (saved, (_, from)) in saved.iter_mut().zip(&self.0) {
            *saved = values[*from];
        }
        for (saved, (to, _)) in saved.iter().zip(&self.0) {
            values[*to] = *saved;
        }
    }
}

/// As faer's `qr_in_place`, with blocks of reflections of any size, and for columns that may be linearly dependent.
/// `workspaces` has one element for each of [`chunk_count`] column chunks.
pub(super) fn qr<T: Field>(
    column_major: &mut [T],
    rows: usize,
    reflections: &mut [T],
    block: usize,
    scratch: &mut PanelWorkspace<T>,
    workspaces: &[Mutex<Workspace>],
) {
    let matrix = SharedMatrix::over(column_major, rows);
    let size = rows.min(matrix.columns);
    let coefficients = SharedMatrix::over(reflections, block);
    let scratch = Mutex::new(scratch);
    let factor = |panel: Range<usize>, scratch: &mut PanelWorkspace<T>| {
        let start = panel.start;
        // SAFETY: called when no other task uses the panel or the rows above it.
        unsafe {
            let above = matrix.block(0..start, panel.clone());
            let columns = matrix.block_mut(start..rows, panel.clone());
            scratch.factor(above, columns, coefficients.block_mut(0..panel.len(), panel));
        }
    };
    factor(0..size.min(block), &mut lock(&scratch));
    for start in (0..size).step_by(block) {
        let end = size.min(start + block);
        let next_panel = end..size.min(end + block);
        let others: Vec<_> = chunks_of(next_panel.end..matrix.columns).collect();
        let update = |columns: Range<usize>, workspace: &mut Workspace| {
            // SAFETY: chunks are disjoint columns; what is read is in the panel.
            unsafe {
                apply_transposed(
                    matrix.block(start..rows, start..end),
                    coefficients.block(0..end - start, start..end),
                    Conj::Yes,
                    matrix.block_mut(start..rows, columns),
                    Par::Seq,
                    workspace.stack(),
                );
            }
        };
        parallel_for(1 + others.len(), |task| {
            if task > 0 {
                update(others[task - 1].clone(), &mut lock(&workspaces[task - 1]));
            } else if !next_panel.is_empty() {
                let mut scratch = lock(&scratch);
                update(next_panel.clone(), &mut scratch.workspace);
                factor(next_panel.clone(), &mut scratch);
            }
        });
    }
}

/// Scratch for the panels of a QR decomposition.
pub(super) struct PanelWorkspace<T> {
    pub(super) workspace: Workspace,
    /// The panel before it is factored.
    saved: Vec<T>,
}

impl<T: Field> PanelWorkspace<T> {
    /// For panels of this many elements, with a workspace for faer.
    pub(super) fn new(elements: usize, workspace: Workspace) -> Result<PanelWorkspace<T>, Failure> {
        Ok(PanelWorkspace { workspace, saved: filled(T::zero(), elements)? })
    }

    /// Compute the reflections that make a panel upper triangular, stored below its diagonal, and the triangular factor of
    /// their block. `above` is the part of the same columns that is already in `R`.
    ///
    /// faer skips columns whose remainder is below `16 m` rounding errors of the column, and drops the remainder; such panels
    /// are factored again column by column.
    fn factor(&mut self, above: MatRef<'_, T>, mut panel: MatMut<'_, T>, mut factor: MatMut<'_, T>) {
        let (rows, columns) = (panel.nrows(), panel.ncols());
        let saved = &mut self.saved[..rows * columns];
        MatMut::from_column_major_slice_mut(saved, rows, columns).copy_from(panel.as_ref());
        let stack = self.workspace.stack();
        let info = qr_in_place(panel.as_mut(), factor.as_mut(), Par::Seq, stack, Spec::default());
        if info.rank < columns || has_rounding(above, panel.as_ref()) {
            panel.copy_from(MatRef::from_column_major_slice(saved, rows, columns));
            householder_by_columns(above, panel, factor);
        }
    }
}

/// As [`PanelWorkspace::factor`], column by column, skipping only columns whose remainder is below the rounding error.
fn householder_by_columns<T: Field>(
    above: MatRef<'_, T>,
    mut panel: MatMut<'_, T>,
    mut factor: MatMut<'_, T>,
) {
    let columns = panel.ncols();
    let mut sums = vec![T::zero(); columns];
    let lengths =
        above.col_iter().zip(panel.as_ref().col_iter()).map(|(a, b)| (squares(a) + squares(b)).sqrt());
    let threshold: Vec<f64> = lengths.map(|length| rounding::<T>() * length).collect();
    for j in 0..columns {
        let (left, right) = panel.as_mut().split_at_col_mut(j + 1);
        let (mut above, mut tail) = left.col_mut(j).split_at_row_mut(j + 1);
        let tau = householder_vector(&mut above[j], tail.as_mut(), threshold[j]);
        factor[(j, j)] = T::of_real(tau);
        if tau.is_infinite() {
            continue;
        }
        let (mut above, mut below) = right.split_at_row_mut(j + 1);
        let count = below.ncols();
        let tail = tail.as_ref().as_mat();
        for (k, sum) in sums[..count].iter_mut().enumerate() {
            *sum = above[(j, k)];
        }
        let row = MatMut::from_row_major_slice_mut(&mut sums[..count], 1, count);
        matmul(row, Accum::Add, tail.adjoint(), below.as_ref(), T::one(), Par::Seq);
        for (k, sum) in sums[..count].iter_mut().enumerate() {
            *sum = sum.divided_by(tau);
            above[(j, k)] -= *sum;
        }
        let row = MatRef::from_row_major_slice(&sums[..count], 1, count);
        matmul(below.as_mut(), Accum::Add, tail, row, -T::one(), Par::Seq);
    }
    upgrade_householder_factor(factor, panel.as_ref(), columns, 1, Par::Seq);
}

/// Whether the remainder of some column is below the rounding error. Reflections preserve the norm of a column, part of which
/// is in `above`.
fn has_rounding<T: Field>(above: MatRef<'_, T>, panel: MatRef<'_, T>) -> bool {
    (0..panel.ncols()).any(|j| {
        let length = (squares(above.col(j)) + squares(panel.col(j).subrows(0, j + 1))).sqrt();
        wide(panel[(j, j)].magnitude()) <= rounding::<T>() * length
    })
}

/// Relative threshold, compared with the norm of a column, below which a remainder counts as rounding error.
fn rounding<T: Field>() -> f64 {
    ROUNDING * wide(T::Magnitude::epsilon())
}

fn squares<T: Field>(column: ColRef<'_, T>) -> f64 {
    column.iter().map(|&value| square(value)).sum()
}

/// In float64, since long sums in float32 would lose accuracy.
fn wide<R: Float>(value: R) -> f64 {
    num_traits::cast(value).unwrap_or(f64::NAN)
}

fn square<T: Field>(value: T) -> f64 {
    wide(value.magnitude()).powi(2)
}

/// Compute the Householder reflection `I - v vᴴ / tau` that maps a column to a multiple of the first unit vector. `head`
/// becomes that multiple; `v` has first element 1, and its other elements overwrite `tail`. Returns `tau`, which is infinite
/// if no reflection is needed. If the norm of the column is at most `threshold`, it is set to zero.
fn householder_vector<T: Field>(head: &mut T, mut tail: ColMut<'_, T>, threshold: f64) -> T::Magnitude {
    let max_norm = |max: T::Magnitude, value: &T| Float::max(max, value.magnitude());
    let max = tail.as_ref().iter().fold(T::Magnitude::zero(), max_norm);
    if max == T::Magnitude::zero() {
        if wide(head.magnitude()) <= threshold {
            *head = T::zero();
        }
        return T::Magnitude::infinity();
    }
    let max = Float::max(max, head.magnitude());
    let narrow = |value: f64| num_traits::cast::<_, T::Magnitude>(value).unwrap_or(T::Magnitude::nan());
    let first = head.divided_by(max);
    let mut norm = square(first);
    for value in tail.as_mut().iter_mut() {
        *value = value.divided_by(max);
        norm += square(*value);
    }
    if norm.sqrt() * wide(max) <= threshold {
        *head = T::zero();
        tail.as_mut().fill(T::zero());
        return T::Magnitude::infinity();
    }
    let size = first.magnitude();
    let phase = if size == T::Magnitude::zero() { T::one() } else { first.divided_by(size) };
    let beta = -phase * T::of_real(narrow(norm.sqrt()));
    let pivot = first - beta;
    let mut squares = 1.0;
    for value in tail.as_mut().iter_mut() {
        *value /= pivot;
        squares += square(*value);
    }
    *head = beta * T::of_real(max);
    narrow(squares / 2.0)
}

/// Apply all reflections to a matrix in column chunks. If `diagonal`, the matrix is known to be zero below its diagonal.
pub(super) fn apply_householder<T: Field>(
    basis: MatRef<'_, T>,
    reflections: MatRef<'_, T>,
    column_major: &mut [T],
    diagonal: bool,
    workspaces: &[Mutex<Workspace>],
) {
    let matrix = SharedMatrix::over(column_major, basis.nrows());
    let count = chunk_count(matrix.columns);
    parallel_for(count, |index| {
        // The most expensive chunks first.
        let columns = chunk_of(&(0..matrix.columns), count - 1 - index);
        // Reflections that start below the diagonal block of the chunk only multiply zeros.
        let first = ..if diagonal { columns.end.min(basis.ncols()) } else { basis.ncols() };
        let (basis, reflections) = (basis.get(.., first), reflections.get(.., first));
        let mut workspace = lock(&workspaces[index]);
        // SAFETY: chunks are disjoint columns.
        let chunk = unsafe { matrix.block_mut(0..matrix.rows, columns) };
        apply(basis, reflections, Conj::No, chunk, Par::Seq, workspace.stack());
    });
}

/// Width of the largest chunk.
pub(super) fn chunk_width(columns: usize) -> usize {
    columns.min(CHUNK)
}

/// Lock a mutex that is never contended. Poisoning is ignored, since the contents are overwritten before use.
fn lock<V>(guarded: &Mutex<V>) -> MutexGuard<'_, V> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
