//! Packed GEMM: blocks of both operands are packed in the order in which the micro-kernel reads them.
//!
//! A *block* of rows of the left matrix stays in L2, a *panel* of a few columns of the right matrix in L1. Both are split at
//! the same depths whatever the number of threads. The scheme is that of Goto and van de Geijn, "Anatomy of high-performance
//! matrix multiplication" (ACM Transactions on Mathematical Software 34, 2008).

mod interleave;
mod kernel;
mod pack;

use std::ops::{Range, RangeInclusive};

use umber_kernels_base::isa::level;
use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};

use super::multiply::{LARGE, MAX_GEMV_ROWS, Multiply};
use super::product::{Beta, Product};
use super::skinny;
use super::split::OnBlock;
use kernel::{MAX_ROWS, MIN_ROWS, Tile, VECTORS, balanced_ranges, max_rows};
use pack::{Columns, block, pack_left, scratch_len};

/// Bytes of a panel and of the rows of a tile: roughly L1.
const L1_BYTES: usize = 34 << 10;
/// Bytes of a block, which shares L2 with panels.
const L2_BYTES: usize = 150 << 10;
/// Columns of the right matrix per strip: all blocks are multiplied with a packed strip before the next one is packed.
const STRIP: usize = 2048;
/// Columns that are packed together: a few cache lines of each row.
const GROUP: usize = 128;
/// Columns of the widest panel.
const MAX_PANEL: usize = 32;
/// Number of multiply-adds from which packing pays.
const MIN_MULTIPLICATIONS: usize = 48 * 48 * 48;
/// Minimum ratio of rows to columns of a tall product.
const TALL: usize = 16;
/// The minimum depth: below it, writing the result takes about as long as computing it.
const MIN_DEPTH: usize = 16;
/// Row counts for which the `gemm` crate packs a large matrix at a loss with 64-byte vectors, and the minimum size of that
/// matrix, or of a thread's share of it.
const SKINNY_ROWS: RangeInclusive<usize> = 16..=128;
const MIN_SKINNY_BYTES: usize = 2 << 20;
/// The maximum depth of short sums.
const MAX_SHORT_DEPTH: usize = 128;
/// Rows and columns from which threads share the packed right matrix.
const MIN_SHARED: usize = 192;
/// As [`STRIP`] for a shared packed matrix, and the maximum size of that in bytes.
const SHARED_STRIP: usize = 1024;
const SHARED_BYTES: usize = 8 << 20;
/// The minimum rows of a shared block, since each block reads all panels.
const MIN_SHARED_ROWS: usize = MAX_ROWS;

/// Is this kernel preferred for one thread's product of this shape? It is with 32-byte vectors; with longer ones the `gemm`
/// crate is faster (but see `suits_skinny`), as it is for small and for tall matrices, whose left operand it does not pack.
pub fn is_suitable<S: Multiply>(m: usize, n: usize, k: usize) -> bool {
    let bytes = k.saturating_mul(n).saturating_mul(size_of::<S::Acc>());
    let min_rows = if bytes < LARGE { MAX_GEMV_ROWS + 1 } else { MAX_GEMV_ROWS / 2 };
    let is_large = m.saturating_mul(n).saturating_mul(k) > MIN_MULTIPLICATIONS;
    let is_tall = S::DIRECT && m > TALL * n;
    has_vectors::<S::Acc>() && m >= min_rows && n >= MAX_PANEL / 2 && k >= MIN_DEPTH && is_large && !is_tall
}

/// Is this kernel preferred for one thread's product with 64-byte vectors? The `gemm` crate is faster there, except for some
/// rows times a large matrix, and for short sums of a column-major one, where [`skinny`] would have to transpose the result.
pub(super) fn suits_skinny<T: Ring>(product: &Product<T>) -> bool {
    let Product { m, n, k, b, .. } = *product;
    if !T::IN_REGISTERS || level() != 2 || n < MAX_PANEL || k < MIN_DEPTH {
        return false;
    }
    let is_large = k.saturating_mul(n).saturating_mul(size_of::<T>()) >= MIN_SKINNY_BYTES;
    if b.columns == 1 {
        is_large && SKINNY_ROWS.contains(&m)
    } else {
        let (skinny_max, max) = (*skinny::ROWS.end(), *SKINNY_ROWS.end());
        is_large && m > skinny_max && m <= max || m > max / 4 && m <= skinny_max && k <= MAX_SHORT_DEPTH
    }
}

/// True if the threads share the packed right matrix.
pub(super) fn is_shared<T: Ring>(m: usize, n: usize, k: usize) -> bool {
    has_vectors::<T>() && m.min(n) >= MIN_SHARED && k >= MIN_DEPTH
}

fn has_vectors<T: Ring>() -> bool {
    T::IN_REGISTERS && level() == 1
}

/// Compute `a @ b` on this thread.
pub(super) fn product<S: Multiply<Acc = T> + Source<T>, T: Ring>(product: &Product<S, T>, beta: Beta) {
    let Product { m, n, k, .. } = *product;
    let (depth, height) = (depth::<T>(k), height::<T>(m, k));
    // Panels that only one block reads are not kept.
    let (group_columns, packed_columns) =
        if height < m { (GROUP, STRIP.min(n.next_multiple_of(GROUP))) } else { (2 * GROUP, 2 * GROUP) };
    scratch::with(
        block::<T>(height, depth) + packed_columns * depth + scratch_len(depth),
        |memory: &mut [T]| {
            let (left, memory) = memory.split_at_mut(block::<T>(height, depth));
            let (right, scratch) = memory.split_at_mut(packed_columns * depth);
            for strip in strips(n, STRIP) {
                for depths in strips(k, depth) {
                    let overwrite = beta == Beta::Zero && depths.start == 0;
                    let slice = product.columns(strip.clone()).depths(depths);
                    for rows in balanced_ranges(m, height) {
                        let is_first = rows.start == 0;
                        let block = slice.rows(rows);
                        pack_left(block.a, block.m, block.k, left, scratch);
                        for group in strips(block.n, group_columns) {
                            let from = if height < m { group.start * block.k } else { 0 };
                            let chunk = block.columns(group);
                            let right = &mut right[from..from + padded_columns(chunk.n) * chunk.k];
                            if is_first {
                                pack_right(&chunk, right, scratch);
                            }
                            with_widest(BlockByPanels { chunk: &chunk, left, right, overwrite });
                        }
                    }
                }
            }
        },
    );
}

/// Compute `a @ b` on all threads; `done` is called with the rows and columns of each complete block of the result.
pub(super) fn shared<S: Multiply<Acc = T> + Source<T>, T: Ring>(product: &Product<S, T>, done: OnBlock<'_>) {
    let Product { m, n, k, .. } = *product;
    let depth = depth::<T>(k);
    let width = n.div_ceil(n.div_ceil(SHARED_STRIP)).next_multiple_of(GROUP);
    let max_depth = k.min((SHARED_BYTES / (width * size_of::<T>()) / depth).max(1) * depth);
    let rows = shared_rows(m, height::<T>(m, k));
    let block_columns = width.div_ceil((4 * num_threads()).div_ceil(rows.len())).next_multiple_of(2 * GROUP);
    scratch::with(width * max_depth, |right: &mut [T]| {
        for strip in strips(n, width) {
            let columns = strips(strip.len(), block_columns);
            let blocks: Vec<_> = columns
                .flat_map(|columns| rows.iter().map(move |rows| (rows.clone(), columns.clone())))
                .collect();
            for depths in strips(k, max_depth) {
                let (overwrite, complete) = (depths.start == 0, depths.end == k);
                let slice = product.columns(strip.clone()).depths(depths);
                let right = pack_shared(&slice, depth, right);
                parallel_for(blocks.len(), |index| {
                    let (rows, columns) = blocks[index].clone();
                    let chunk = slice.rows(rows.clone()).columns(columns.clone());
                    scratch::with(block::<T>(chunk.m, depth) + scratch_len(depth), |memory: &mut [T]| {
                        let (left, scratch) = memory.split_at_mut(block::<T>(chunk.m, depth));
                        for depths in strips(chunk.k, depth) {
                            let overwrite = overwrite && depths.start == 0;
                            let right = &right
                                [depths.start * padded_columns(slice.n) + columns.start * depths.len()..];
                            let chunk = chunk.depths(depths);
                            pack_left(chunk.a, chunk.m, chunk.k, left, scratch);
                            with_widest(BlockByPanels { chunk: &chunk, left, right, overwrite });
                        }
                    });
                    if complete {
                        done(rows, strip.start + columns.start..strip.start + columns.end);
                    }
                });
            }
        }
    });
}

/// Pack columns of the right matrix, one depth range after another.
fn pack_shared<'a, S: Multiply<Acc = T> + Source<T>, T: Ring>(
    slice: &Product<S, T>,
    depth: usize,
    right: &'a mut [T],
) -> &'a [T] {
    let (groups, depths) = (slice.n.div_ceil(GROUP), slice.k.div_ceil(depth));
    let to = Target::over(&mut right[..padded_columns(slice.n) * slice.k]);
    parallel_for(groups * depths, |index| {
        let (first, top) = (index % groups * GROUP, index / groups * depth);
        let chunk = slice.depths(top..slice.k.min(top + depth)).columns(first..slice.n.min(first + GROUP));
        let start = to.at((top * padded_columns(slice.n) + first * chunk.k) as isize);
        // SAFETY: each group of columns and depth range has its own disjoint range of the buffer.
        let right = unsafe { std::slice::from_raw_parts_mut(start, padded_columns(chunk.n) * chunk.k) };
        scratch::with(scratch_len(depth), |scratch: &mut [T]| pack_right(&chunk, right, scratch));
    });
    right
}

/// Number of packed columns for this many columns, including padding.
fn padded_columns(columns: usize) -> usize {
    columns.next_multiple_of(MAX_PANEL)
}

/// Blocks of rows for dynamic scheduling: small ones last, for load balance.
fn shared_rows(m: usize, height: usize) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < m {
        let left = m - start;
        let rows = (left / (2 * num_threads()))
            .next_multiple_of(max_rows())
            .clamp(MIN_SHARED_ROWS, height.max(MIN_SHARED_ROWS));
        // The remainder is at least one tile.
        let rows = if left < rows + MIN_ROWS { left } else { rows };
        blocks.push(start..start + rows);
        start += rows;
    }
    blocks
}

/// The maximum depth of a block.
fn depth<T>(k: usize) -> usize {
    let vector = if level() == 2 { 64 } else { 32 };
    let max = L1_BYTES / (VECTORS * vector + max_rows() * size_of::<T>());
    k.div_ceil(k.div_ceil(max))
}

/// The maximum rows of a block.
fn height<T>(m: usize, k: usize) -> usize {
    m.min(L2_BYTES / (depth::<T>(k) * size_of::<T>()) / max_rows() * max_rows())
}

/// Split `0..length` into ranges of length `strip`; the last one may be shorter.
fn strips(length: usize, strip: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length).step_by(strip).map(move |start| start..length.min(start + strip))
}

/// Pack columns of the right matrix.
fn pack_right<S: Multiply<Acc = T> + Source<T>, T: Ring>(
    chunk: &Product<S, T>,
    to: &mut [T],
    scratch: &mut [T],
) {
    with_widest(Columns { from: chunk.b, depth: chunk.k, count: chunk.n, to, scratch });
}

/// Multiply a block by panels.
struct BlockByPanels<'a, S, T> {
    chunk: &'a Product<S, T>,
    left: &'a [T],
    right: &'a [T],
    overwrite: bool,
}

impl<S: Multiply<Acc = T>, T: Ring> VectorLoop<T> for BlockByPanels<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let BlockByPanels { chunk: &Product { m, n, k, out, out_row, .. }, left, right, overwrite } = self;
        let width = VECTORS * V::COUNT;
        let tiles = balanced_ranges(m, max_rows());
        for first in (0..n).step_by(width) {
            let panel = right[first * k..][..width * k].as_ptr();
            for rows in tiles.clone() {
                let to = out.wrapping_offset(rows.start as isize * out_row).wrapping_add(first);
                let left = left[rows.start * k..][..rows.len() * k].as_ptr();
                let tile = Tile { left, panel, depth: k, out: to, out_row, overwrite };
                if first + width <= n {
                    // SAFETY: the tile is inside the product's shape.
                    unsafe { tile.run::<V, FUSED>(rows.len()) };
                } else {
                    // SAFETY: the rows and the first columns of the tile are inside the product's shape.
                    unsafe { edge_tile::<T, V, FUSED>(&tile, rows.len(), n - first) };
                }
            }
        }
    }
}

/// Compute rows of a tile of which only the first `columns` are inside the result.
///
/// # Safety
/// As for [`Tile::run`], but only the columns of the result are writable.
#[inline(always)]
unsafe fn edge_tile<T: Ring, V: Lanes<T>, const FUSED: bool>(tile: &Tile<T>, rows: usize, columns: usize) {
    let mut sums = [T::ZERO; MAX_ROWS * MAX_PANEL];
    let width = VECTORS * V::COUNT;
    let full = Tile { out: sums.as_mut_ptr(), out_row: width as isize, overwrite: true, ..*tile };
    // SAFETY: the sums hold a tile; the result is writable by this function's contract.
    unsafe {
        full.run::<V, FUSED>(rows);
        for (row, sums) in sums.chunks_exact(width).enumerate().take(rows) {
            let to = tile.out.wrapping_offset(row as isize * tile.out_row);
            for (column, &sum) in sums.iter().enumerate().take(columns) {
                let to = to.add(column);
                *to = if tile.overwrite { sum } else { T::plus(*to, sum) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::Matrix;

    /// Compare a product of small integers with the definition, for row-major and column-major operands.
    fn check<T: Ring + Multiply<Acc = T> + std::fmt::Debug>(
        [m, n, k]: [usize; 3],
        is_column_major: [bool; 2],
    ) {
        let numbers = |rows: usize, columns: usize, seed: usize| -> Vec<T> {
            (0..rows * columns).map(|i| T::factor(((i * 7919 + seed) % 17) as f64 - 8.0)).collect()
        };
        let (a, b, mut out) = (numbers(m, k, 3), numbers(k, n, 5), numbers(m, n, 0));
        let matrix = |of: &[T], rows: usize, columns: usize, is_column_major: bool| {
            let (rows, columns) = if is_column_major { (1, rows) } else { (columns, 1) };
            Matrix { start: of.as_ptr(), rows: rows as isize, columns: columns as isize }
        };
        let (a, b) = (matrix(&a, m, k, is_column_major[0]), matrix(&b, k, n, is_column_major[1]));
        let before = out.clone();
        let terms = |row, column| {
            // SAFETY: the indices are inside the matrices.
            (0..k).map(move |i| unsafe { (*a.at(row, i), *b.at(i, column)) })
        };
        for beta in [Beta::One, Beta::Zero] {
            product(&Product { m, n, k, a, b, out: out.as_mut_ptr(), out_row: n as isize }, beta);
            for (at, (&actual, &before)) in out.iter().zip(&before).enumerate() {
                let start = if beta == Beta::One { before } else { T::ZERO };
                let sum = terms(at / n, at % n).fold(start, |sum, (x, y)| T::add_product::<false>(sum, x, y));
                assert_eq!(actual, sum, "{m} by {k} by {n}, is_column_major: {is_column_major:?}, {beta:?}");
            }
        }
    }

    #[test]
    fn products_of_any_size_match_the_definition() {
        let rows = (MIN_ROWS..=2 * MAX_ROWS + 3).chain([100, 133]);
        for (m, column_major) in
            rows.flat_map(|m| [[false, false], [true, false], [false, true]].map(|x| (m, x)))
        {
            for [n, k] in [[16, 5], [33, 16], [70, 31], [129, 9]] {
                check::<f32>([m, n, k], column_major);
                check::<f64>([m, n, k], column_major);
            }
        }
        check::<f32>([150, 300, 700], [false; 2]);
        check::<f64>([150, 300, 400], [true; 2]);
    }
}
