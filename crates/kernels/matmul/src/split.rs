//! Splits a batch of products into tasks for the threads.

use std::ops::Range;

use umber_kernels_base::View;
use umber_kernels_base::caches::{STREAM_FROM, nontemporal_stores_pay};
use umber_kernels_base::isa::level;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_kernels_base::transpose::Stores;
use umber_types::{Element, Shape};

use super::copy::copy;
use super::epilogue::{Epilogue, compute_block, compute_parallel, stride};
use super::multiply::{MAX_GEMV_ROWS, Multiply};
use super::product::{Matrix, Product};
use super::{gemm, low_rank};

/// Minimum work of a task, in nanoseconds.
const NS_PER_JOB: f64 = 15_000.0;
/// Work, in nanoseconds, from which tasks are made smaller for load balance.
const NS_LARGE: f64 = 4e6;
/// Approximate bandwidth of one thread from a shared cache, in bytes per nanosecond.
const BANDWIDTH: f64 = 30.0;

/// A matrix of at least `LONG` bytes is split by depth if the tasks' shares of its rows would have fewer than `ROW` bytes.
const LONG: usize = 1 << 20;
const ROW: usize = 16 << 10;
/// Rows, columns and depth from which a column-major left operand is transposed before it is read; also the number of rows
/// transposed together.
const MIN_TRANSPOSED: usize = 512;
const TRANSPOSED_ROWS: usize = 64;
/// Blocks of a result with fewer elements are not passed to the callback separately.
const MIN_ELEMENTS: usize = 1 << 12;
/// Minimum columns of a block for the callback: elementwise kernels are slow on shorter rows.
const MIN_BLOCK_COLUMNS: usize = 256;

/// Called with the rows (of all matrices, one below the other) and the columns of each computed block.
pub(super) type OnBlock<'f> = &'f (dyn Fn(Range<usize>, Range<usize>) + Sync);

/// The matrices of a batch: the first one, and the strides of the batch axes.
#[derive(Clone, Copy)]
pub(super) struct Stack<'a, T> {
    first: Matrix<T>,
    strides: &'a [isize],
}

/// A batched product: `out = alpha * (a @ b) + beta * c` for every matrix of the batch.
pub(super) struct BatchedGemm<'a, T: Multiply> {
    pub(super) batch: &'a [usize],
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) a: Stack<'a, T>,
    pub(super) b: Stack<'a, T>,
    /// The addend and `beta`, if there is an addend.
    pub(super) c: Option<(Stack<'a, T>, T::Acc)>,
    pub(super) alpha: T::Acc,
    pub(super) out: *mut T,
}

// SAFETY: the pointers are those of views, valid on all threads; tasks write disjoint parts of `out`.
unsafe impl<T: Multiply> Sync for BatchedGemm<'_, T> {}

impl<'a, T: Element> Stack<'a, T> {
    /// The matrices in the last two axes of a view.
    pub(super) fn of(view: &View<'a>) -> Stack<'a, T> {
        let (strides, matrix) = view.strides().split_at(view.strides().len() - 2);
        Stack { first: Matrix { start: view.start_as(), rows: matrix[0], columns: matrix[1] }, strides }
    }

    /// Matrix `index` of the batch in row-major order.
    #[inline]
    fn matrix(&self, batch: &[usize], index: usize) -> Matrix<T> {
        let Some((&outermost, inner)) = self.strides.split_first() else { return self.first };
        let mut rest = index;
        let mut offset = 0;
        for (&length, &stride) in batch.iter().skip(1).zip(inner).rev() {
            offset += (rest % length) as isize * stride;
            rest /= length;
        }
        offset += rest as isize * outermost;
        Matrix { start: self.first.start.wrapping_offset(offset), ..self.first }
    }

    /// The whole batch as one matrix with the rows of all, if strides can express it.
    fn folded(view: &View<'a>, rows: usize) -> Option<Stack<'a, T>> {
        let columns = *view.shape().last()?;
        let layout = view.layout().reshape(&Shape::from([rows, columns]))?;
        let first = Matrix { start: view.start_as(), rows: layout.strides[0], columns: layout.strides[1] };
        Some(Stack { first, strides: &[] })
    }
}

impl<'a, T: Multiply> BatchedGemm<'a, T> {
    /// One product with the rows of the whole batch, if all share the right operand.
    pub(super) fn folded(&self, a: &View<'a>, c: Option<&View<'a>>) -> Option<BatchedGemm<'a, T>> {
        let shared =
            self.batch.iter().zip(self.b.strides).all(|(&length, &stride)| length == 1 || stride == 0);
        if self.batch.is_empty() || !shared {
            return None;
        }
        let m = self.batch.iter().product::<usize>() * self.m;
        let c = match (self.c, c) {
            (Some((_, beta)), Some(c)) => Some((Stack::folded(c, m)?, beta)),
            _ => None,
        };
        let b = Stack { strides: &[], ..self.b };
        Some(BatchedGemm { batch: &[], m, a: Stack::folded(a, m)?, b, c, ..*self })
    }

    /// Compute all products. Returns whether every block was passed to `on_block`; blocks may be too small for that.
    pub(super) fn run(&self, on_block: Option<OnBlock<'_>>) -> bool {
        let count: usize = self.batch.iter().product();
        let jobs = self.jobs(count);
        if count == 1 && jobs > 1 && gemm::is_shared::<T::Acc>(self.m, self.n, self.k) {
            let (product, epilogue) = self.product(0);
            compute_parallel(&product, epilogue, on_block);
            return on_block.is_some();
        }
        if count == 1 && jobs > 1 && self.packs_left() {
            return self.run_with_left_packed(on_block);
        }
        let min_blocks = if count >= jobs { 1 } else { jobs.div_ceil(count) };
        let grid = self.grid(min_blocks);
        if count == 1 && jobs > 1 && (grid.count() == 1 || self.reads_rows(jobs)) {
            self.split_depth(jobs);
            return false;
        }
        let is_wide = grid.columns >= self.n.min(MIN_BLOCK_COLUMNS);
        // With regular stores, a fused epilogue reads the blocks from the caches.
        let allows_nontemporal = on_block.is_none() && self.k <= low_rank::DEPTH && nontemporal_stores_pay();
        let written = count.saturating_mul(self.m * self.n).saturating_mul(size_of::<T>());
        let stores =
            if allows_nontemporal && written >= STREAM_FROM { Stores::NonTemporal } else { Stores::Cached };
        let is_large = grid.rows.min(self.m) * grid.columns.min(self.n) >= MIN_ELEMENTS;
        let on_block = on_block.filter(|_| count == 1 || is_large).filter(|_| is_wide);
        let blocks = grid.count();
        let total = count * blocks;
        let chunks = jobs.clamp(1, total);
        let is_bare = blocks == 1 && on_block.is_none() && stores == Stores::Cached && self.is_bare();
        let bare = |index: usize| {
            let Product { m, n, k, a, b, out, out_row } = self.product(index).0;
            Product { m, n, k, a, b, out: out.cast::<T::Acc>(), out_row }
        };
        parallel_for(if jobs == 1 { 1 } else { chunks }, |chunk| {
            let range = total * chunk / chunks..total * (chunk + 1) / chunks;
            if is_bare && range.len() > 1 && T::multiply_each(range.clone(), &bare) {
                return;
            }
            for job in range {
                if blocks == 1 && on_block.is_none() {
                    let (product, epilogue) = self.product(job);
                    compute_block(&product, epilogue, stores);
                    continue;
                }
                let (product, epilogue) = self.product(job / blocks);
                let (rows, columns) = grid.block(job % blocks);
                compute_block(
                    &product.rows(rows.clone()).columns(columns.clone()),
                    epilogue.at(rows.start, columns.start),
                    stores,
                );
                if let Some(on_block) = on_block {
                    let above = job / blocks * self.m;
                    on_block(above + rows.start..above + rows.end, columns);
                }
            }
        });
        on_block.is_some()
    }

    /// Is it cheaper to transpose the left operand once than in every task that reads it?
    fn packs_left(&self) -> bool {
        let Matrix { rows, columns, .. } = self.a.first;
        let is_large = self.m.min(self.n).min(self.k) >= MIN_TRANSPOSED;
        let fits_cached_scratch = self.m * stride(self.k) * size_of::<T>() <= scratch::MAX_CACHED_BYTES;
        T::DIRECT && T::Acc::IN_REGISTERS && rows == 1 && columns != 1 && is_large && fits_cached_scratch
    }

    /// As [`run`](Self::run) for one product, with a row-major copy of the left operand.
    fn run_with_left_packed(&self, on_block: Option<OnBlock<'_>>) -> bool {
        let (product, row) = (self.product(0).0, stride(self.k));
        scratch::with(self.m * row, |transposed: &mut [T]| {
            let to = Target::over(transposed);
            parallel_ranges(self.m, TRANSPOSED_ROWS, |rows| {
                let Product { m, k, a, .. } = product.rows(rows.clone());
                // SAFETY: these rows of the copy belong to this task.
                let to =
                    unsafe { std::slice::from_raw_parts_mut(to.at((rows.start * row) as isize), m * row) };
                copy(a, m, k, to, row);
            });
            let first = Matrix { start: to.at(0), rows: row as isize, columns: 1 };
            BatchedGemm { a: Stack { first, strides: &[] }, ..*self }.run(on_block)
        })
    }

    /// Is memory read faster if tasks split the depth, since their shares of rows are short?
    fn reads_rows(&self, jobs: usize) -> bool {
        let is_short = self.n / jobs * size_of::<T>() < ROW;
        self.m == 1
            && self.b.first.columns == 1
            && is_short
            && self.n <= self.k
            && self.k * self.n * size_of::<T>() >= LONG
            && level() < 2
    }

    /// True if the results are plain products, without an epilogue.
    fn is_bare(&self) -> bool {
        T::DIRECT && self.k > 0 && self.c.is_none() && self.alpha == T::Acc::factor(1.0)
    }

    /// The number of tasks for which the work suffices.
    fn jobs(&self, count: usize) -> usize {
        let (m, n, k) = (self.m as f64, self.n as f64, self.k as f64);
        let bytes = (m * k + k * n + m * n) * size_of::<T>() as f64;
        let nanoseconds = count as f64 * (m * n * k / T::speed()).max(bytes / BANDWIDTH);
        let threads = num_threads();
        let jobs = ((nanoseconds / NS_PER_JOB) as usize).min(threads * 4);
        if jobs < 2 || threads == 1 {
            1
        } else if jobs < threads {
            jobs
        } else {
            // A multiple of the number of threads; large tasks waste less on packing.
            jobs.min(if nanoseconds > NS_LARGE { jobs } else { threads * 2 }) / threads * threads
        }
    }

    /// Split the result into about `blocks` blocks, as square as possible.
    fn grid(&self, blocks: usize) -> Grid {
        let line = (64 / size_of::<T>()).max(4);
        let (max_rows, max_columns) = (self.m.div_ceil(MAX_GEMV_ROWS * 2), self.n.div_ceil(line));
        let mut best = (f64::INFINITY, 1, 1);
        for row_blocks in 1..=blocks.min(max_rows) {
            let column_blocks = (blocks / row_blocks).clamp(1, max_columns);
            if row_blocks * column_blocks * 2 <= blocks
                && (row_blocks, column_blocks) != (1, 1)
                && row_blocks < max_rows
            {
                continue;
            }
            // Every task transposes the part of a column-major right operand that it reads.
            let transpose_cost = if self.b.first.columns == 1 { 1.0 } else { 4.0 };
            let read =
                self.m as f64 * column_blocks as f64 + transpose_cost * self.n as f64 * row_blocks as f64;
            let cost = read * (blocks as f64 / (row_blocks * column_blocks) as f64);
            if cost < best.0 {
                best = (cost, row_blocks, column_blocks);
            }
        }
        let (_, row_blocks, column_blocks) = best;
        let rows = self.m.div_ceil(row_blocks).next_multiple_of(if row_blocks == 1 { 1 } else { 8 });
        let columns =
            self.n.div_ceil(column_blocks).next_multiple_of(if column_blocks == 1 { 1 } else { line });
        Grid { m: self.m, n: self.n, rows, columns }
    }

    /// Product `index` of the batch, with its epilogue.
    #[inline]
    fn product(&self, index: usize) -> (Product<T>, Epilogue<T>) {
        let BatchedGemm { batch, m, n, k, a, b, out, .. } = *self;
        let out = out.wrapping_add(index * m * n);
        let product = Product {
            m,
            n,
            k,
            a: a.matrix(batch, index),
            b: b.matrix(batch, index),
            out,
            out_row: n as isize,
        };
        let c = self.c.map(|(c, beta)| (c.matrix(batch, index), beta));
        (product, Epilogue { alpha: self.alpha, c })
    }

    /// Compute one small product of large depth (split-K): every task sums a range of the depth.
    fn split_depth(&self, jobs: usize) {
        let (product, epilogue) = self.product(0);
        let Product { m, n, k, a, b, out, out_row } = product;
        let jobs = jobs.min(k).max(1);
        let mut sums = vec![T::Acc::ZERO; jobs * m * n];
        let partials = Product { m, n, k, a, b, out: sums.as_mut_ptr(), out_row };
        parallel_for(jobs, |job| {
            let partial = partials.depths(k * job / jobs..k * (job + 1) / jobs);
            T::multiply(&Product { out: partial.out.wrapping_add(job * m * n), ..partial });
        });
        let (first, others) = sums.split_at_mut(m * n);
        for partial in others.chunks_exact(m * n) {
            for (sum, &term) in first.iter_mut().zip(partial) {
                *sum = T::Acc::plus(*sum, term);
            }
        }
        // SAFETY: `out` has m rows of n elements, which this call exclusively writes.
        unsafe { epilogue.store(first, n, n, out, out_row) };
    }
}

/// A result split into blocks.
struct Grid {
    m: usize,
    n: usize,
    rows: usize,
    columns: usize,
}

impl Grid {
    fn blocks_per_row(&self) -> usize {
        self.n.div_ceil(self.columns)
    }

    fn count(&self) -> usize {
        self.m.div_ceil(self.rows) * self.blocks_per_row()
    }

    fn block(&self, index: usize) -> (Range<usize>, Range<usize>) {
        let (row, column) =
            (index / self.blocks_per_row() * self.rows, index % self.blocks_per_row() * self.columns);
        (row..self.m.min(row + self.rows), column..self.n.min(column + self.columns))
    }
}
