//! Sums of products of matrices selected from stacks by indices.

use umber_kernels_base::indices::{BATCH, Indices, batches};
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;
use umber_kernels_base::scratch_vec::{ScratchVec, collect_or_unwind};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_base::{View, ViewMut};
use umber_types::Result;

use super::copy::pack;
use super::multiply::Multiply;
use super::product::{Beta, Matrix, Product};
use crate::match_multiply;

/// For smaller depths, several products are merged into one of larger depth.
const MIN_DEPTH: usize = 64;
/// For fewer rows, products with the same right matrix are merged into one with more rows.
const MIN_JOINED_ROWS: usize = 16;
/// The maximum depth, or number of rows, of a merged product.
const MERGED: usize = 512;

/// `out[r] = sum over s with outputs_of[s] = r of a[left[s]] @ b[right[s]]`, for stacks of matrices `[p, m, k]`, `[q, k, n]` and
/// `[r, m, n]`; the three index arrays have as many elements.
///
/// Strides are arbitrary; `out` is dense. Negative indices count from the end. Sums are computed as in
/// [`matmul`](super::matmul).
///
/// # Errors
/// If an index is out of bounds of its stack.
///
/// # Panics
/// If dtypes or shapes do not match.
pub fn indexed(a: View, b: View, left: View, right: View, outputs_of: View, out: ViewMut) -> Result<()> {
    assert!(
        left.size() == right.size() && left.size() == outputs_of.size(),
        "the index arrays have the same size"
    );
    assert!(out.layout().is_contiguous(), "the output is dense");
    let (left, right) = (read(left, a.shape()[0])?, read(right, b.shape()[0])?);
    let outputs_of = read(outputs_of, out.shape()[0])?;
    match_multiply!(a, b, out; T => run::<T>(a, b, [&left, &right, &outputs_of], out))
}

/// Read indices into an axis of this length, as offsets from its start.
pub fn read(view: View, length: usize) -> Result<ScratchVec<usize>> {
    let indices = Indices::new(&[length], &[1], &[view], &[0], &[1]);
    let mut result = ScratchVec::new(indices.count())?;
    let mut offsets = [0; BATCH];
    for batch in batches(0..indices.count()) {
        indices.offsets(batch.clone(), &mut offsets)?;
        result.extend(offsets[..batch.len()].iter().map(|&offset| offset.unsigned_abs()));
    }
    Ok(result)
}

/// Group the indices of `keys` by key (a counting sort): key `i` has `order[starts[i]..starts[i + 1]]`.
pub fn sorted(keys: &[usize], count: usize) -> Result<(ScratchVec<usize>, ScratchVec<usize>)> {
    let (mut starts_vec, mut order_vec) =
        (ScratchVec::filled(0, count + 1)?, ScratchVec::filled(0, keys.len())?);
    let (starts, order) = (&mut starts_vec[..], &mut order_vec[..]);
    for &key in keys {
        starts[key + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    // Each start is advanced to the end of its key, which is the start of the next one.
    for (i, &key) in keys.iter().enumerate() {
        order[starts[key]] = i;
        starts[key] += 1;
    }
    starts.copy_within(..count, 1);
    starts[0] = 0;
    Ok((starts_vec, order_vec))
}

/// A stack of matrices.
#[derive(Clone, Copy)]
struct Stack<T> {
    start: Source<T>,
    stride: isize,
    rows: isize,
    columns: isize,
}

impl<T: Multiply> Stack<T> {
    fn of(view: &View) -> Stack<T> {
        let strides = view.strides();
        Stack { start: Source::of(view), stride: strides[0], rows: strides[1], columns: strides[2] }
    }

    fn matrix(&self, index: usize) -> Matrix<T> {
        Matrix { start: self.start.at(index as isize * self.stride), rows: self.rows, columns: self.columns }
    }
}

/// A matrix in the accumulator type: in place if the elements have it, else a copy.
fn widened<T: Multiply>(
    from: Matrix<T>,
    rows: usize,
    columns: usize,
    memory: &mut [T::Acc],
) -> Matrix<T::Acc> {
    if T::DIRECT {
        return Matrix { start: from.start.cast(), rows: from.rows, columns: from.columns };
    }
    pack(from, rows, columns, memory, columns, T::widen);
    Matrix { start: memory.as_ptr(), rows: columns as isize, columns: 1 }
}

fn run<T: Multiply>(a: View, b: View, [left, right, outputs_of]: [&[usize]; 3], out: ViewMut) -> Result<()> {
    let &[count, m, n] = out.shape() else { panic!("a stack of matrices has three axes") };
    let k = a.shape()[2];
    assert!(a.shape()[1] == m && b.shape()[1..] == [k, n], "the shapes of the matrices match");
    if m * n == 0 {
        return Ok(());
    }
    let task =
        Task { m, n, k, a: Stack::<T>::of(&a), b: Stack::<T>::of(&b), out: Target::of(&out), left, right };
    let (starts, order) = sorted(outputs_of, count)?;
    let is_single = starts.windows(2).all(|pair| pair[1] - pair[0] <= 1);
    if is_single && m < MIN_JOINED_ROWS && k > 0 && outputs_of.len() > b.shape()[0] {
        for r in (0..count).filter(|&r| starts[r] == starts[r + 1]) {
            task.sum(r, &[], 0..n);
        }
        let (starts, order) = sorted(right, b.shape()[0])?;
        let step = (MERGED / m).max(1);
        let runs = collect_or_unwind(starts.windows(2).flat_map(|pair| order[pair[0]..pair[1]].chunks(step)));
        parallel_for(runs.len(), |i| task.merge_rows(runs[i], outputs_of));
        return Ok(());
    }
    let threads = if outputs_of.len() * m * n * k > 1 << 18 { num_threads() } else { 1 };
    let column_chunks = threads.div_ceil(count.max(1)).min(n.div_ceil(64));
    parallel_for(count * column_chunks, |job| {
        let (r, chunk) = (job / column_chunks, job % column_chunks);
        task.sum(
            r,
            &order[starts[r]..starts[r + 1]],
            n * chunk / column_chunks..n * (chunk + 1) / column_chunks,
        );
    });
    Ok(())
}

struct Task<'a, T> {
    m: usize,
    n: usize,
    k: usize,
    a: Stack<T>,
    b: Stack<T>,
    out: Target<T>,
    left: &'a [usize],
    right: &'a [usize],
}

impl<T: Multiply> Task<'_, T> {
    /// Compute some columns of matrix `r` of the result, the sum of these products.
    fn sum(&self, r: usize, products: &[usize], columns: std::ops::Range<usize>) {
        let Task { m, k, .. } = *self;
        let n = columns.len();
        let max = if k < MIN_DEPTH { (MERGED / k.max(1)).max(1) } else { 1 };
        let merged = max.min(products.len().max(1));
        let depth = if T::DIRECT && merged == 1 { 0 } else { merged * k };
        scratch::with(m * n + depth * (m + n), |memory: &mut [T::Acc]| {
            let (sums, memory) = memory.split_at_mut(m * n);
            let (lefts, rights) = memory.split_at_mut(depth * m);
            sums.fill(T::Acc::ZERO);
            for group in products.chunks(merged).filter(|_| k > 0) {
                let depth = group.len() * k;
                let (x, y) = if let [one] = group {
                    let y = self.b.matrix(self.right[*one]).from(0, columns.start);
                    (widened(self.a.matrix(self.left[*one]), m, k, lefts), widened(y, k, n, rights))
                } else {
                    for (i, &s) in group.iter().enumerate() {
                        pack(self.a.matrix(self.left[s]), m, k, &mut lefts[i * k..], depth, T::widen);
                        let y = self.b.matrix(self.right[s]).from(0, columns.start);
                        pack(y, k, n, &mut rights[i * k * n..], n, T::widen);
                    }
                    (
                        Matrix { start: lefts.as_ptr(), rows: depth as isize, columns: 1 },
                        Matrix { start: rights.as_ptr(), rows: n as isize, columns: 1 },
                    )
                };
                let out = sums.as_mut_ptr();
                let product = Product { m, n, k: depth, a: x, b: y, out, out_row: n as isize };
                T::multiply_acc(&product, Beta::One);
            }
            for (i, line) in sums.chunks_exact(n).enumerate() {
                self.store(r, i, columns.start, line);
            }
        });
    }

    /// Compute products with the same right matrix, each for its own output, as one product with the rows of all.
    fn merge_rows(&self, products: &[usize], outputs_of: &[usize]) {
        let Task { m, n, k, .. } = *self;
        let rows = products.len() * m;
        let right_len = if T::DIRECT { 0 } else { k * n };
        scratch::with(rows * (k + n) + right_len, |memory: &mut [T::Acc]| {
            let (lefts, memory) = memory.split_at_mut(rows * k);
            let (sums, rights) = memory.split_at_mut(rows * n);
            for (lefts, &s) in lefts.chunks_exact_mut(m * k).zip(products) {
                pack(self.a.matrix(self.left[s]), m, k, lefts, k, T::widen);
            }
            let x = Matrix { start: lefts.as_ptr(), rows: k as isize, columns: 1 };
            let y = widened(self.b.matrix(self.right[products[0]]), k, n, rights);
            let out = sums.as_mut_ptr();
            T::multiply_acc(&Product { m: rows, n, k, a: x, b: y, out, out_row: n as isize }, Beta::Zero);
            for (i, line) in sums.chunks_exact(n).enumerate() {
                self.store(outputs_of[products[i / m]], i % m, 0, line);
            }
        });
    }

    /// Write columns of a row of matrix `r`.
    fn store(&self, r: usize, row: usize, column: usize, sums: &[T::Acc]) {
        let first = self.out.shifted(((r * self.m + row) * self.n + column) as isize);
        for (i, &sum) in sums.iter().enumerate() {
            // SAFETY: the element is inside the output, in rows and columns that only this task writes.
            unsafe { *first.at(i as isize) = T::narrow(sum) };
        }
    }
}
