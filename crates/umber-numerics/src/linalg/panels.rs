//! Matrices factored by panels: some neighbouring columns are factored by faer, and then what they do to the others is done to parts
//! of these on all threads. The panel after it comes first, and is factored by one thread while the others go on.
//!
//! Parts are of one size whatever the number of threads, and so are results. Each step writes parts that do not overlap
//! ([`Shared`]).

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

/// Positive definite matrices with fewer rows are factored whole: parts of them are too small for what they save.
pub(super) const MIN_CHOLESKY: usize = 768;
/// The same for LU decompositions, with fewer rows or columns; panels pay even on one thread.
pub(super) const MIN_LU: usize = 256;
/// The same for QR decompositions, which take four times as long as Cholesky's.
pub(super) const MIN_QR: usize = 384;
/// Rounding errors of a column that cannot be told from what is left of it.
const ROUNDING: f64 = 4.0;
/// Columns of a panel.
const PANEL: usize = 64;
/// Columns, or rows, of a part.
const PART: usize = 128;

/// A matrix that is stored column by column, of which tasks write parts.
#[derive(Clone, Copy)]
struct Shared<T> {
    start: Target<T>,
    rows: usize,
    columns: usize,
}

impl<T: Field> Shared<T> {
    fn over(columns_first: &mut [T], rows: usize) -> Shared<T> {
        let columns = columns_first.len() / rows;
        Shared { start: Target::over(columns_first), rows, columns }
    }

    /// Where a part begins.
    fn at(self, rows: &Range<usize>, columns: &Range<usize>) -> *mut T {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows of the matrix");
        assert!(columns.start <= columns.end && columns.end <= self.columns, "columns of the matrix");
        self.start.at((columns.start * self.rows + rows.start) as isize)
    }

    /// A part to write.
    ///
    /// # Safety
    /// The matrix outlives the part, and nobody else uses what is in it meanwhile.
    unsafe fn part<'a>(self, rows: Range<usize>, columns: Range<usize>) -> MatMut<'a, T> {
        // SAFETY: inside of the matrix; the caller's promise.
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

    /// A part to read.
    ///
    /// # Safety
    /// The matrix outlives the part, and nobody writes what is in it meanwhile.
    unsafe fn read<'a>(self, rows: Range<usize>, columns: Range<usize>) -> MatRef<'a, T> {
        // SAFETY: inside of the matrix; the caller's promise.
        unsafe {
            MatRef::from_raw_parts(self.at(&rows, &columns), rows.len(), columns.len(), 1, self.rows as isize)
        }
    }
}

/// A part of a range.
fn part_of(range: &Range<usize>, index: usize) -> Range<usize> {
    let start = range.start + index * PART;
    start..range.end.min(start + PART)
}

/// The parts of a range.
fn parts_of(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    (0..parts(range.len())).map(move |index| part_of(&range, index))
}

/// Call `body` with each part of a range, on all threads.
fn each_part(range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
    parallel_for(parts(range.len()), |index| body(part_of(&range, index)));
}

/// How many parts so many rows or columns have.
pub(super) fn parts(count: usize) -> usize {
    count.div_ceil(PART)
}

/// As faer's `cholesky_in_place`, of the lower triangle of a square matrix; answers whether it is positive definite.
pub(super) fn cholesky<T: Field>(columns_first: &mut [T], n: usize, workspace: &mut Workspace) -> bool {
    let matrix = Shared::over(columns_first, n);
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        each_part(start..n, |rows| {
            // SAFETY: parts are of rows of their own of the panel; what is read lies left of it.
            unsafe {
                let (left, above) = (matrix.read(rows.clone(), 0..start), matrix.read(start..end, 0..start));
                let panel = matrix.part(rows, start..end);
                matmul(panel, Accum::Add, left, above.adjoint(), -T::one(), Par::Seq);
            }
        });
        // SAFETY: nothing else is used.
        let diagonal = unsafe { matrix.part(start..end, start..end) };
        let regular = LltRegularization::default();
        if cholesky_in_place(diagonal, regular, Par::Seq, workspace.stack(), Spec::default()).is_err() {
            return false;
        }
        each_part(end..n, |rows| {
            // SAFETY: parts are of rows of their own, below what is read.
            unsafe {
                let diagonal = matrix.read(start..end, start..end);
                let below = matrix.part(rows, start..end).transpose_mut();
                solve_lower_triangular_in_place_with_conj(diagonal, Conj::Yes, below, Par::Seq);
            }
        });
    }
    true
}

/// As faer's `lu_in_place`: answers how many exchanges of rows there were. `order` is scratch, as long as there are rows.
pub(super) fn lu<T: Field>(
    columns_first: &mut [T],
    [old_rows, new_rows, order]: [&mut [usize]; 3],
    workspace: &mut Workspace,
) -> usize {
    let rows = old_rows.len();
    let matrix = Shared::over(columns_first, rows);
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
    // SAFETY: nothing else is used.
    unsafe { lock(&panels).factor(matrix, 0..size.min(PANEL)) };
    for start in (0..size).step_by(PANEL) {
        let end = size.min(start + PANEL);
        let moves = std::mem::replace(&mut lock(&panels).moves, RowSwaps(Vec::new()));
        moves.apply(&mut old_rows[start..]);
        let ahead = end..size.min(end + PANEL);
        let others: Vec<_> = parts_of(0..start).chain(parts_of(ahead.end..matrix.columns)).collect();
        let update = |columns: Range<usize>| {
            // SAFETY: parts are of columns of their own; what is read is in the panel.
            unsafe {
                for column in columns.clone() {
                    let values = matrix.part(start..rows, column..column + 1);
                    moves.apply(std::slice::from_raw_parts_mut(values.as_ptr_mut(), rows - start));
                }
                // Left of the panel only rows are exchanged.
                if columns.start >= end {
                    let mut top = matrix.part(start..end, columns.clone());
                    let triangle = matrix.read(start..end, start..end);
                    solve_unit_lower_triangular_in_place(triangle, top.as_mut(), Par::Seq);
                    let (left, rest) = (matrix.read(end..rows, start..end), matrix.part(end..rows, columns));
                    matmul(rest, Accum::Add, left, top.as_ref(), -T::one(), Par::Seq);
                }
            }
        };
        parallel_for(1 + others.len(), |task| {
            if task > 0 {
                update(others[task - 1].clone());
            } else if !ahead.is_empty() {
                update(ahead.clone());
                // SAFETY: as of updates: the panel's columns are this task's.
                unsafe { lock(&panels).factor(matrix, ahead.clone()) };
            }
        });
    }
    let exchanges = lock(&panels).exchanges;
    for (new, &old) in old_rows.iter().enumerate() {
        new_rows[old] = new;
    }
    exchanges
}

/// What factoring the panels of an LU decomposition needs and finds.
struct LuPanels<'a> {
    order: &'a mut [usize],
    inverse: &'a mut [usize],
    workspace: &'a mut Workspace,
    exchanges: usize,
    /// Of the last panel.
    moves: RowSwaps,
}

impl LuPanels<'_> {
    /// Factor some columns, from the row on that has the number of the first.
    ///
    /// # Safety
    /// Nobody else uses the columns.
    unsafe fn factor<T: Field>(&mut self, matrix: Shared<T>, columns: Range<usize>) {
        let start = columns.start;
        let (order, inverse) = (&mut self.order[start..], &mut self.inverse[start..]);
        // SAFETY: the caller's promise.
        let panel = unsafe { matrix.part(start..matrix.rows, columns) };
        let stack = self.workspace.stack();
        let (info, _) = lu_in_place(panel, order, inverse, Par::Seq, stack, Spec::default());
        self.exchanges += info.transposition_count;
        self.moves = RowSwaps::of(&self.order[start..]);
    }
}

/// Where the rows come from that a panel's exchanges moved: at most two for each of its columns.
struct RowSwaps(Vec<(usize, usize)>);

impl RowSwaps {
    /// Those of an order, which says which row comes to each place.
    fn of(order: &[usize]) -> RowSwaps {
        let moved = order.iter().enumerate().map(|(to, &from)| (to, from)).filter(|(to, from)| to != from);
        let moves = RowSwaps(moved.collect());
        assert!(moves.0.len() <= 2 * PANEL, "two rows for each exchange");
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

/// As faer's `qr_in_place`, with reflections in blocks of any size, of columns that may depend on each other; with a workspace for
/// each of the [`parts`] of the columns.
pub(super) fn qr<T: Field>(
    columns_first: &mut [T],
    rows: usize,
    reflections: &mut [T],
    block: usize,
    scratch: &mut PanelWorkspace<T>,
    workspaces: &[Mutex<Workspace>],
) {
    let matrix = Shared::over(columns_first, rows);
    let size = rows.min(matrix.columns);
    let coefficients = Shared::over(reflections, block);
    let scratch = Mutex::new(scratch);
    let factor = |panel: Range<usize>, scratch: &mut PanelWorkspace<T>| {
        let start = panel.start;
        // SAFETY: called where nobody else uses the panel, nor what is above it.
        unsafe {
            let above = matrix.read(0..start, panel.clone());
            let columns = matrix.part(start..rows, panel.clone());
            scratch.factor(above, columns, coefficients.part(0..panel.len(), panel));
        }
    };
    factor(0..size.min(block), &mut lock(&scratch));
    for start in (0..size).step_by(block) {
        let end = size.min(start + block);
        let ahead = end..size.min(end + block);
        let others: Vec<_> = parts_of(ahead.end..matrix.columns).collect();
        let update = |columns: Range<usize>, workspace: &mut Workspace| {
            // SAFETY: parts are of columns of their own; what is read is in the panel.
            unsafe {
                apply_transposed(
                    matrix.read(start..rows, start..end),
                    coefficients.read(0..end - start, start..end),
                    Conj::Yes,
                    matrix.part(start..rows, columns),
                    Par::Seq,
                    workspace.stack(),
                );
            }
        };
        parallel_for(1 + others.len(), |task| {
            if task > 0 {
                update(others[task - 1].clone(), &mut lock(&workspaces[task - 1]));
            } else if !ahead.is_empty() {
                let mut scratch = lock(&scratch);
                update(ahead.clone(), &mut scratch.workspace);
                factor(ahead.clone(), &mut scratch);
            }
        });
    }
}

/// What factoring panels of a QR decomposition needs.
pub(super) struct PanelWorkspace<T> {
    pub(super) workspace: Workspace,
    /// A panel as it was.
    saved: Vec<T>,
}

impl<T: Field> PanelWorkspace<T> {
    /// For panels of so many elements, with faer's scratch for them.
    pub(super) fn new(elements: usize, workspace: Workspace) -> Result<PanelWorkspace<T>, Failure> {
        Ok(PanelWorkspace { workspace, saved: filled(T::zero(), elements)? })
    }

    /// The reflections that make a panel upper triangular, below its diagonal, and their block's factor. Of the same columns, `above`
    /// has what is done.
    ///
    /// faer passes over columns of which little is left, up to `16 m` rounding errors of the column, and leaves that little away.
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

/// As [`PanelWorkspace::factor`], column by column, as long as more is left of them than rounding.
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

/// Is what is left of some column nothing but rounding? Reflections keep the lengths of columns, of which a part is above.
fn has_rounding<T: Field>(above: MatRef<'_, T>, panel: MatRef<'_, T>) -> bool {
    (0..panel.ncols()).any(|j| {
        let length = (squares(above.col(j)) + squares(panel.col(j).subrows(0, j + 1))).sqrt();
        wide(panel[(j, j)].magnitude()) <= rounding::<T>() * length
    })
}

/// What cannot be told from rounding, in lengths of a column.
fn rounding<T: Field>() -> f64 {
    ROUNDING * wide(T::Magnitude::epsilon())
}

fn squares<T: Field>(column: ColRef<'_, T>) -> f64 {
    column.iter().map(|&value| square(value)).sum()
}

/// In float64, since float32 would lose digits of sums of many.
fn wide<R: Float>(value: R) -> f64 {
    num_traits::cast(value).unwrap_or(f64::NAN)
}

fn square<T: Field>(value: T) -> f64 {
    wide(value.magnitude()).powi(2)
}

/// Let `I - v vᴴ / tau` take a column to its first element, which becomes what is left of the column; `v` begins with one, and its
/// other elements take the place of the column's. Answers `tau`, infinite if there is nothing to do. Where no more than `threshold` is
/// left of the column, it is zero.
fn householder_vector<T: Field>(head: &mut T, mut tail: ColMut<'_, T>, threshold: f64) -> T::Magnitude {
    let max_norm = |most: T::Magnitude, value: &T| Float::max(most, value.magnitude());
    let most = tail.as_ref().iter().fold(T::Magnitude::zero(), max_norm);
    if most == T::Magnitude::zero() {
        if wide(head.magnitude()) <= threshold {
            *head = T::zero();
        }
        return T::Magnitude::infinity();
    }
    let most = Float::max(most, head.magnitude());
    let narrow = |value: f64| num_traits::cast::<_, T::Magnitude>(value).unwrap_or(T::Magnitude::nan());
    let first = head.divided_by(most);
    let mut norm = square(first);
    for value in tail.as_mut().iter_mut() {
        *value = value.divided_by(most);
        norm += square(*value);
    }
    if norm.sqrt() * wide(most) <= threshold {
        *head = T::zero();
        tail.as_mut().fill(T::zero());
        return T::Magnitude::infinity();
    }
    let size = first.magnitude();
    let phase = if size == T::Magnitude::zero() { T::one() } else { first.divided_by(size) };
    let left = -phase * T::of_real(narrow(norm.sqrt()));
    let pivot = first - left;
    let mut squares = 1.0;
    for value in tail.as_mut().iter_mut() {
        *value /= pivot;
        squares += square(*value);
    }
    *head = left * T::of_real(most);
    narrow(squares / 2.0)
}

/// Apply all reflections to a matrix, which may be `diagonal`, a part of its columns at a time.
pub(super) fn apply_householder<T: Field>(
    basis: MatRef<'_, T>,
    reflections: MatRef<'_, T>,
    columns_first: &mut [T],
    diagonal: bool,
    workspaces: &[Mutex<Workspace>],
) {
    let matrix = Shared::over(columns_first, basis.nrows());
    let count = parts(matrix.columns);
    parallel_for(count, |index| {
        // What takes longest comes first.
        let columns = part_of(&(0..matrix.columns), count - 1 - index);
        // Those that begin below the diagonal meet zeros.
        let first = ..if diagonal { columns.end.min(basis.ncols()) } else { basis.ncols() };
        let (basis, reflections) = (basis.get(.., first), reflections.get(.., first));
        let mut workspace = lock(&workspaces[index]);
        // SAFETY: parts are of columns of their own.
        let part = unsafe { matrix.part(0..matrix.rows, columns) };
        apply(basis, reflections, Conj::No, part, Par::Seq, workspace.stack());
    });
}

/// Columns of the widest part.
pub(super) fn width(columns: usize) -> usize {
    columns.min(PART)
}

/// What a mutex guards, which only one task at a time asks for. What a panic left there is overwritten.
fn lock<V>(guarded: &Mutex<V>) -> MutexGuard<'_, V> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
