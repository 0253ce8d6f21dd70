//! Matrices factored by panels: some neighbouring columns are factored by faer, and then what they do to the others is done to parts
//! of these on all threads. The panel after it comes first, and is factored by one thread while the others go on.
//!
//! Parts are of one size whatever the number of threads, and so are results. Each step writes parts that do not overlap
//! ([`Shared`]).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transposed,
};
use faer::linalg::lu::partial_pivoting::factor::lu_in_place;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::qr_in_place;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place_with_conj, solve_unit_lower_triangular_in_place,
};
use faer::{Accum, Conj, MatMut, MatRef, Par, Spec};

use super::batch::Workspace;
use super::field::Field;
use umber_kernels::shared::Target;
use umber_kernels::threads::parallel_for;

/// Matrices with fewer rows or columns are factored whole: parts of them are too small for what they save.
pub(super) const LEAST: usize = 768;
/// The same for QR decompositions, which take four times as long.
pub(super) const LEAST_QR: usize = 384;
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

/// The parts of a range.
fn parts_of(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(PART).map(move |start| start..range.end.min(start + PART))
}

/// Call `body` with each part of a range, on all threads.
fn each_part(range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
    parallel_for(parts(range.len()), |part| {
        let start = range.start + part * PART;
        body(start..range.end.min(start + PART));
    });
}

/// How many parts so many rows or columns have.
pub(super) fn parts(count: usize) -> usize {
    count.div_ceil(PART)
}

/// As faer's `cholesky_in_place`, of the lower triangle of a square matrix; answers whether it is positive definite.
pub(super) fn cholesky<T: Field>(columns_first: &mut [T], n: usize, workspace: &mut Workspace) -> bool {
    let whole = Shared::over(columns_first, n);
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        each_part(start..n, |rows| {
            // SAFETY: parts are of rows of their own of the panel; what is read lies left of it.
            unsafe {
                let (left, above) = (whole.read(rows.clone(), 0..start), whole.read(start..end, 0..start));
                let panel = whole.part(rows, start..end);
                matmul(panel, Accum::Add, left, above.adjoint(), -T::one(), Par::Seq);
            }
        });
        // SAFETY: nothing else is used.
        let diagonal = unsafe { whole.part(start..end, start..end) };
        let regular = LltRegularization::default();
        if cholesky_in_place(diagonal, regular, Par::Seq, workspace.stack(), Spec::default()).is_err() {
            return false;
        }
        each_part(end..n, |rows| {
            // SAFETY: parts are of rows of their own, below what is read.
            unsafe {
                let diagonal = whole.read(start..end, start..end);
                let below = whole.part(rows, start..end).transpose_mut();
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
    let whole = Shared::over(columns_first, rows);
    let size = rows.min(whole.columns);
    for (i, row) in old_rows.iter_mut().enumerate() {
        *row = i;
    }
    let panels = Mutex::new(LuPanels {
        order,
        inverse: &mut *new_rows,
        workspace,
        exchanges: 0,
        moves: Moves(Vec::new()),
    });
    // SAFETY: nothing else is used.
    unsafe { held(&panels).factor(whole, 0..size.min(PANEL)) };
    for start in (0..size).step_by(PANEL) {
        let end = size.min(start + PANEL);
        let moves = std::mem::replace(&mut held(&panels).moves, Moves(Vec::new()));
        moves.apply(&mut old_rows[start..]);
        let ahead = end..size.min(end + PANEL);
        let others: Vec<_> = parts_of(0..start).chain(parts_of(ahead.end..whole.columns)).collect();
        let update = |columns: Range<usize>| {
            // SAFETY: parts are of columns of their own; what is read is in the panel.
            unsafe {
                for column in columns.clone() {
                    let values = whole.part(start..rows, column..column + 1);
                    moves.apply(std::slice::from_raw_parts_mut(values.as_ptr_mut(), rows - start));
                }
                // Left of the panel only rows are exchanged.
                if columns.start >= end {
                    let mut top = whole.part(start..end, columns.clone());
                    let triangle = whole.read(start..end, start..end);
                    solve_unit_lower_triangular_in_place(triangle, top.as_mut(), Par::Seq);
                    let (left, rest) = (whole.read(end..rows, start..end), whole.part(end..rows, columns));
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
                unsafe { held(&panels).factor(whole, ahead.clone()) };
            }
        });
    }
    let exchanges = held(&panels).exchanges;
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
    moves: Moves,
}

impl LuPanels<'_> {
    /// Factor some columns, from the row on that has the number of the first.
    ///
    /// # Safety
    /// Nobody else uses the columns.
    unsafe fn factor<T: Field>(&mut self, whole: Shared<T>, columns: Range<usize>) {
        let start = columns.start;
        let (order, inverse) = (&mut self.order[start..], &mut self.inverse[start..]);
        // SAFETY: the caller's promise.
        let panel = unsafe { whole.part(start..whole.rows, columns) };
        let stack = self.workspace.stack();
        let (info, _) = lu_in_place(panel, order, inverse, Par::Seq, stack, Spec::default());
        self.exchanges += info.transposition_count;
        self.moves = Moves::of(&self.order[start..]);
    }
}

/// Where the rows come from that a panel's exchanges moved: at most two for each of its columns.
struct Moves(Vec<(usize, usize)>);

impl Moves {
    /// Those of an order, which says which row comes to each place.
    fn of(order: &[usize]) -> Moves {
        let moved = order.iter().enumerate().map(|(to, &from)| (to, from)).filter(|(to, from)| to != from);
        let moves = Moves(moved.collect());
        assert!(moves.0.len() <= 2 * PANEL, "two rows for each exchange");
        moves
    }

    fn apply<V: Copy>(&self, values: &mut [V]) {
        let Some(&first) = values.first() else { return };
        let mut kept = [first; 2 * PANEL];
        for (kept, (_, from)) in kept.iter_mut().zip(&self.0) {
            *kept = values[*from];
        }
        for (kept, (to, _)) in kept.iter().zip(&self.0) {
            values[*to] = *kept;
        }
    }
}

/// As faer's `qr_in_place`, with a workspace for that and for each of the [`parts`] of the columns; or answers `false` where the
/// columns of a panel depend on each other.
pub(super) fn qr<T: Field>(
    columns_first: &mut [T],
    rows: usize,
    reflections: &mut [T],
    block: usize,
    workspace: &mut Workspace,
    workspaces: &[Mutex<Workspace>],
) -> bool {
    let whole = Shared::over(columns_first, rows);
    let size = rows.min(whole.columns);
    let coefficients = Shared::over(reflections, block);
    let workspace = Mutex::new(workspace);
    let is_whole = AtomicBool::new(true);
    let factor = |panel: Range<usize>, workspace: &mut Workspace| {
        let (start, count) = (panel.start, panel.len());
        // SAFETY: called where nobody else uses the panel.
        let (columns, factor) =
            unsafe { (whole.part(start..rows, panel.clone()), coefficients.part(0..count, panel)) };
        let info = qr_in_place(columns, factor, Par::Seq, workspace.stack(), Spec::default());
        is_whole.fetch_and(info.rank == count, Ordering::Relaxed);
    };
    factor(0..size.min(block), &mut held(&workspace));
    for start in (0..size).step_by(block) {
        let end = size.min(start + block);
        let ahead = end..size.min(end + block);
        let others: Vec<_> = parts_of(ahead.end..whole.columns).collect();
        let update = |columns: Range<usize>, workspace: &mut Workspace| {
            // SAFETY: parts are of columns of their own; what is read is in the panel.
            unsafe {
                apply_transposed(
                    whole.read(start..rows, start..end),
                    coefficients.read(0..end - start, start..end),
                    Conj::Yes,
                    whole.part(start..rows, columns),
                    Par::Seq,
                    workspace.stack(),
                );
            }
        };
        if !is_whole.load(Ordering::Relaxed) {
            return false;
        }
        parallel_for(1 + others.len(), |task| {
            if task > 0 {
                update(others[task - 1].clone(), &mut held(&workspaces[task - 1]));
            } else if !ahead.is_empty() {
                let mut workspace = held(&workspace);
                update(ahead.clone(), &mut workspace);
                factor(ahead.clone(), &mut workspace);
            }
        });
    }
    is_whole.into_inner()
}

/// Apply all reflections to a diagonal matrix, a part of its columns at a time.
pub(super) fn reflect<T: Field>(
    basis: MatRef<'_, T>,
    reflections: MatRef<'_, T>,
    columns_first: &mut [T],
    workspaces: &[Mutex<Workspace>],
) {
    let whole = Shared::over(columns_first, basis.nrows());
    let count = parts(whole.columns);
    parallel_for(count, |index| {
        // What takes longest comes first.
        let start = (count - 1 - index) * PART;
        let end = whole.columns.min(start + PART);
        // Those that begin below the diagonal meet zeros.
        let first = ..end.min(basis.ncols());
        let (basis, reflections) = (basis.get(.., first), reflections.get(.., first));
        let mut workspace = held(&workspaces[index]);
        // SAFETY: parts are of columns of their own.
        let part = unsafe { whole.part(0..whole.rows, start..end) };
        apply(basis, reflections, Conj::No, part, Par::Seq, workspace.stack());
    });
}

/// Columns of the widest part.
pub(super) fn width(columns: usize) -> usize {
    columns.min(PART)
}

/// What a mutex guards, which only one task at a time asks for. What a panic left there is overwritten.
fn held<V>(guarded: &Mutex<V>) -> MutexGuard<'_, V> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
