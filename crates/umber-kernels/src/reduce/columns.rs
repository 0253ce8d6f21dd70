//! Folds many neighbouring results at once, one row of elements after another.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::fold::Fold;
use super::rows::SharedTotals;
use super::{GRAIN, Task, parts, vectorised_for};
use crate::nest::{Loop, Nest};
use crate::threads::parallel_for;

/// Results folded at once.
const TILE: usize = 1024;
/// Results folded at once when their elements must first be brought together.
const STRIDED_TILE: usize = 128;

/// How the work is cut: for each outer result, tiles of neighbouring results, each in parts of rows.
struct Cut {
    outer: usize,
    tiles: usize,
    tile: usize,
    parts: usize,
    /// Rows laid end to end so that narrow ones fill vectors.
    joined: usize,
}

/// Fold every result of the task, whose loop over neighbouring results was taken out.
pub(super) fn fold<F: Fold>(task: &Task<F>, results: Loop<2>) {
    let rows = task.reduced.count();
    let cut = cut(task, results, rows);
    let items = cut.outer * cut.tiles;
    if cut.parts == 1 {
        let per_item = rows.max(1) * results.length.min(cut.tile);
        let per_chunk = (GRAIN / per_item.max(1)).max(1);
        parallel_for(items.div_ceil(per_chunk), |chunk| {
            fold_items(task, results, &cut, chunk * per_chunk..items.min((chunk + 1) * per_chunk));
        });
        return;
    }
    let mut totals = vec![F::NOTHING; items * cut.parts * cut.tile];
    let shared = SharedTotals(totals.as_mut_ptr());
    parallel_for(items * cut.parts, |i| {
        let (item, part) = (i / cut.parts, i % cut.parts);
        let (src, _, width) = place(task, results, &cut, item);
        let range = rows * part / cut.parts..rows * (part + 1) / cut.parts;
        // SAFETY: every task writes its own stretch of the vector, which outlives the call.
        let totals = unsafe { std::slice::from_raw_parts_mut(shared.at(i * cut.tile), width) };
        fold_tile::<F>(src, results.strides[0], &task.reduced, range, cut.joined, totals);
    });
    for item in 0..items {
        let (_, dst, width) = place(task, results, &cut, item);
        let totals = &totals[item * cut.parts * cut.tile..(item + 1) * cut.parts * cut.tile];
        for j in 0..width {
            let part_totals = totals[j..].iter().step_by(cut.tile);
            let total = part_totals.fold(F::NOTHING, |a, &b| F::join(a, b));
            // SAFETY: the place comes from the layout of the destination.
            unsafe { dst.offset(j as isize * results.strides[1]).write(F::finish(total)) };
        }
    }
}

fn cut<F: Fold>(task: &Task<F>, results: Loop<2>, rows: usize) -> Cut {
    let width = results.length;
    let is_dense = results.strides[0] == 1;
    let step = task.reduced.inner();
    let is_one_block = is_dense && task.reduced.loops().len() == 1 && step.strides[0] == width as isize;
    let joined = if is_one_block && width <= 64 { (512 / width).min(rows / 2).max(1) } else { 1 };
    let tile = width.min(if is_dense { TILE } else { STRIDED_TILE });
    let outer = task.kept.count();
    let tiles = width.div_ceil(tile);
    Cut { outer, tiles, tile, parts: parts(outer * tiles, rows * tile), joined }
}

/// Where an item reads and writes, and how many results it has.
fn place<F: Fold>(
    task: &Task<F>,
    results: Loop<2>,
    cut: &Cut,
    item: usize,
) -> (*const F::In, *mut F::Out, usize) {
    let (outer, tile) = (item / cut.tiles, item % cut.tiles);
    let first = tile * cut.tile;
    let mut at = [0; 2];
    task.kept.walk(outer..outer + 1, |offsets| at = offsets);
    let src = task.src.wrapping_offset(at[0] + first as isize * results.strides[0]);
    let dst = task.dst.wrapping_offset(at[1] + first as isize * results.strides[1]);
    (src, dst, cut.tile.min(results.length - first))
}

fn fold_items<F: Fold>(task: &Task<F>, results: Loop<2>, cut: &Cut, items: Range<usize>) {
    let rows = task.reduced.count();
    let mut totals = [MaybeUninit::<F::Total>::uninit(); TILE];
    for item in items {
        let (src, dst, width) = place(task, results, cut, item);
        for total in &mut totals[..width] {
            total.write(F::NOTHING);
        }
        // SAFETY: that many totals were written above.
        let totals = unsafe { std::slice::from_raw_parts_mut(totals.as_mut_ptr().cast::<F::Total>(), width) };
        fold_tile::<F>(src, results.strides[0], &task.reduced, 0..rows, cut.joined, totals);
        for (j, &total) in totals.iter().enumerate() {
            // SAFETY: the place comes from the layout of the destination; tasks have disjoint results.
            unsafe { dst.offset(j as isize * results.strides[1]).write(F::finish(total)) };
        }
    }
}

/// Add the rows in `range` of `reduced` to `totals`, whose elements lie `stride` apart in each row.
fn fold_tile<F: Fold>(
    src: *const F::In,
    stride: isize,
    reduced: &Nest<1>,
    range: Range<usize>,
    joined: usize,
    totals: &mut [F::Total],
) {
    if joined > 1 {
        fold_joined::<F>(src, range, joined, totals);
    } else if stride == 1 {
        fold_rows::<F>(reduced, range, totals, |at, _| src.wrapping_offset(at));
    } else {
        let width = totals.len();
        let mut stage = [MaybeUninit::<[F::In; STRIDED_TILE]>::uninit(); 8];
        fold_rows::<F>(reduced, range, totals, |at, turn| {
            let row = src.wrapping_offset(at);
            let staged = stage[turn].as_mut_ptr().cast::<F::In>();
            for j in 0..width {
                // SAFETY: the layout of the source holds this element; a tile is no wider than the stage.
                unsafe { staged.add(j).write(*row.offset(j as isize * stride)) };
            }
            staged
        });
    }
}

/// Add rows to `totals`, eight at a time. `row` makes the row at an offset dense; it stays so for eight calls.
fn fold_rows<F: Fold>(
    reduced: &Nest<1>,
    range: Range<usize>,
    totals: &mut [F::Total],
    mut row: impl FnMut(isize, usize) -> *const F::In,
) {
    let mut rows = [std::ptr::null(); 8];
    let mut turn = 0;
    reduced.walk(range, |[at]| {
        rows[turn] = row(at, turn);
        turn += 1;
        if turn == 8 {
            turn = 0;
            absorb_rows::<F>(rows, 8, totals);
        }
    });
    absorb_rows::<F>(rows, turn, totals);
}

/// Add the first `count` rows, each as long as `totals`.
#[inline(never)]
fn absorb_rows<F: Fold>(rows: [*const F::In; 8], count: usize, totals: &mut [F::Total]) {
    let width = totals.len();
    // SAFETY: rows are as long as there are totals; those past `count` are not looked at.
    let row = |k: usize| unsafe { std::slice::from_raw_parts(rows[k], width) };
    if count == 8 {
        let rows = std::array::from_fn(row);
        vectorised_for::<F, _>(
            #[inline(always)]
            move || absorb_eight::<F>(rows, totals),
        );
        return;
    }
    for k in 0..count {
        let row = row(k);
        let totals = &mut *totals;
        vectorised_for::<F, _>(
            #[inline(always)]
            move || absorb_one::<F>(row, totals),
        );
    }
}

#[inline(always)]
fn absorb_eight<F: Fold>(rows: [&[F::In]; 8], totals: &mut [F::Total]) {
    let width = totals.len();
    // Equal lengths that the compiler sees are checked once, not at every element.
    let [a, b, c, d, e, f, g, h] = rows.map(|row| &row[..width]);
    for j in 0..width {
        let first = F::merge(F::merge(F::load(a[j]), F::load(b[j])), F::merge(F::load(c[j]), F::load(d[j])));
        let second = F::merge(F::merge(F::load(e[j]), F::load(f[j])), F::merge(F::load(g[j]), F::load(h[j])));
        totals[j] = F::absorb(totals[j], F::merge(first, second));
    }
}

#[inline(always)]
fn absorb_one<F: Fold>(row: &[F::In], totals: &mut [F::Total]) {
    for (total, &value) in totals.iter_mut().zip(row) {
        *total = F::absorb(*total, F::load(value));
    }
}

/// Narrow dense rows, folded as if `joined` of them were one.
fn fold_joined<F: Fold>(src: *const F::In, range: Range<usize>, joined: usize, totals: &mut [F::Total]) {
    let width = totals.len();
    let rows = range.len() / joined;
    let first = src.wrapping_add(range.start * width);
    let mut wide = [F::NOTHING; TILE];
    let wide = &mut wide[..width * joined];
    let mut step = Nest::new(&[], [&[]]);
    step.push(Loop { length: rows, strides: [(width * joined) as isize] });
    fold_rows::<F>(&step, 0..rows, wide, |at, _| first.wrapping_offset(at));
    for group in wide.chunks_exact(width) {
        for (total, &more) in totals.iter_mut().zip(group) {
            *total = F::join(*total, more);
        }
    }
    let rest = range.len() - rows * joined;
    // SAFETY: the rows are dense, so the last ones are one run that the layout of the source holds.
    let rest = unsafe { std::slice::from_raw_parts(first.wrapping_add(rows * joined * width), rest * width) };
    for row in rest.chunks_exact(width) {
        absorb_one::<F>(row, totals);
    }
}
