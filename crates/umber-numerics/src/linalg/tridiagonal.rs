//! Reduction of symmetric matrices to tridiagonal form by Householder reflections (Golub and Van Loan, Matrix Computations,
//! 8.3.1), on all threads.
//!
//! The update of the trailing matrix by one reflection is fused with the matrix-vector product for the next one, so that each
//! step traverses the lower triangle once, as faer's single-threaded version does. Square blocks on the diagonal, as wide as
//! a vector, are stored in full, so that the columns below them begin at vector boundaries.
//!
//! Invariant: each chunk of a step writes its own columns of the matrix and of the product, and its own sums.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use faer::linalg::evd::tridiag::tridiag_in_place;
use faer::linalg::householder::{make_householder_in_place, upgrade_householder_factor};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{ColMut, MatMut, MatRef, Par, Spec};
use num_traits::{Float, One, Zero};
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};

use super::Failure;
use super::batch::{Workspace, filled};
use super::field::{Field, nearest_power_of_two};
use crate::vector::{Lane, Vector, WithSimd};

/// Maximum lanes of a vector.
const LANES: usize = 16;
/// Columns updated together, which share loads.
const COLUMNS_PER_STEP: usize = 4;
/// Maximum chunks of a step; their sums are added by one thread.
const MAX_CHUNKS: usize = 8;
/// Eigenvectors per task.
pub(super) const COLUMNS: usize = 64;
/// Minimum trailing columns for the maximum number of chunks, where synchronisation costs less than it saves.
const LARGE: usize = 512;
/// The same for half as many chunks.
const MEDIUM: usize = 256;

/// A Hermitian matrix, and its reduction `Q T Qᴴ` to a tridiagonal `T`.
pub(super) struct Tridiagonal<T> {
    n: usize,
    /// Leading dimension: distance between columns.
    leading: usize,
    /// Column-major; at first the lower triangle, afterwards the vectors of the reflections below the subdiagonal of `T`.
    matrix: AlignedVec<T>,
    /// Reflections per block.
    block: usize,
    /// The triangular factors of the blocks, with one column per reflection.
    factors: Vec<T>,
    /// The diagonal and the subdiagonal of `T`.
    pub(super) diagonal: Vec<T>,
    pub(super) subdiagonal: Vec<T>,
    /// The last reflection and its product, the next reflection and its product, and the sums of each chunk.
    rows: AlignedVec<T>,
}

impl<T: Field> Tridiagonal<T> {
    /// Scratch for matrices of `n >= 1` rows.
    pub(super) fn new(n: usize) -> Result<Tridiagonal<T>, Failure> {
        let leading = n.next_multiple_of(LANES);
        let block = recommended_block_size::<T>(n, n);
        Ok(Tridiagonal {
            n,
            leading,
            matrix: AlignedVec::new(leading.saturating_mul(leading))?,
            block,
            factors: filled(T::zero(), block * (n - 1))?,
            diagonal: filled(T::zero(), n)?,
            subdiagonal: filled(T::zero(), n)?,
            rows: AlignedVec::new((4 + MAX_CHUNKS) * leading)?,
        })
    }

    /// Reduce a column-major matrix. The lower triangle is read, and the upper one must be zero. If `keep_reflections`, the
    /// reflections can be applied afterwards.
    pub(super) fn reduce(&mut self, matrix: &[T], keep_reflections: bool, workspace: &mut Workspace) {
        let (n, leading) = (self.n, self.leading);
        for (column, from) in self.matrix.elements().chunks_exact_mut(leading).zip(matrix.chunks_exact(n)) {
            column[..n].copy_from_slice(from);
        }
        if T::tridiagonalize(self) {
            if keep_reflections {
                self.upgrade_factors();
            }
        } else {
            tridiag_in_place(
                MatMut::from_column_major_slice_with_stride_mut(self.matrix.elements(), n, n, leading),
                MatMut::from_column_major_slice_mut(&mut self.factors, self.block, n - 1),
                Par::Seq,
                workspace.stack(),
                Spec::default(),
            );
        }
        let matrix = self.matrix.elements();
        for i in 0..n {
            self.diagonal[i] = matrix[i * leading + i];
            self.subdiagonal[i] = if i + 1 < n { matrix[i * leading + i + 1] } else { T::zero() };
        }
    }

    /// Scale `T` by a power of two so that its maximum element is close to one, and return that power, because the
    /// eigenvector computation uses absolute thresholds. Elements whose square would underflow become zero: an unreduced
    /// block with only such elements would never converge, since they are divided by their maximum.
    pub(super) fn normalise(&mut self) -> T::Magnitude {
        let elements = || self.diagonal.iter().chain(&self.subdiagonal).map(|x| x.magnitude());
        let max = elements().fold(T::Magnitude::zero(), Float::max);
        if max.is_zero() {
            return T::Magnitude::one();
        }
        let power = nearest_power_of_two(max);
        let inverse = T::of_real(Float::recip(power));
        let threshold = Float::sqrt(<T::Magnitude as Float>::min_positive_value());
        for x in self.diagonal.iter_mut().chain(&mut self.subdiagonal) {
            *x *= inverse;
            if x.magnitude() < threshold {
                *x = T::zero();
            }
        }
        power
    }

    /// Whether these are the eigenvalues of `T` and its eigenvectors, column by column.
    ///
    /// The threshold is empirical: with a maximum element close to one, residuals `T v - λ v` are up to a hundred rounding
    /// errors, but some thousand if divide and conquer failed.
    pub(super) fn is_solved_by(&self, values: &[T], vectors: &[T]) -> bool {
        let (n, diagonal, subdiagonal) = (self.n, &self.diagonal, &self.subdiagonal);
        let two = T::Magnitude::one() + T::Magnitude::one();
        let max_residual = <T::Magnitude as Float>::epsilon() * Float::powi(two, 8);
        let is_inaccurate = AtomicBool::new(false);
        parallel_for(n.div_ceil(COLUMNS), |chunk| {
            let columns = chunk * COLUMNS..n.min((chunk + 1) * COLUMNS);
            let are_accurate = columns.into_iter().all(|j| {
                let (value, vector) = (values[j], &vectors[j * n..(j + 1) * n]);
                (0..n).all(|i| {
                    let mut residual = (diagonal[i] - value) * vector[i];
                    if i > 0 {
                        residual += subdiagonal[i - 1] * vector[i - 1];
                    }
                    if i + 1 < n {
                        residual += subdiagonal[i].conjugate() * vector[i + 1];
                    }
                    residual.magnitude() <= max_residual
                })
            });
            is_inaccurate.fetch_or(!are_accurate, Ordering::Relaxed);
        });
        !is_inaccurate.into_inner()
    }

    /// The vectors of the reflections and the triangular factors of their blocks, as faer applies them.
    pub(super) fn reflections(&self) -> (MatRef<'_, T>, MatRef<'_, T>) {
        let factors = MatRef::from_column_major_slice(&self.factors, self.block, self.n - 1);
        (householder_vectors(&self.matrix, self.n, self.leading), factors)
    }

    /// Number of reflections per block.
    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// Compute the triangular factors of blocks from the scalars of the single reflections, which are in the first row of the
    /// factors.
    fn upgrade_factors(&mut self) {
        let (n, block) = (self.n, self.block);
        let reflections = householder_vectors(&self.matrix, n, self.leading);
        let mut factors = MatMut::from_column_major_slice_mut(&mut self.factors, block, n - 1);
        for first in (0..n - 1).step_by(block) {
            let width = block.min(n - 1 - first);
            let mut factors = factors.as_mut().submatrix_mut(0, first, width, width);
            for i in 0..width {
                factors[(i, i)] = factors[(0, i)];
            }
            let reflections = reflections.submatrix(first, first, n - 1 - first, width);
            upgrade_householder_factor(factors, reflections, width, 1, Par::Seq);
        }
    }
}

/// The vectors of the reflections, below the diagonal.
fn householder_vectors<T: Field>(matrix: &AlignedVec<T>, n: usize, leading: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice_with_stride(matrix.as_slice(), n, n, leading).submatrix(
        1,
        0,
        n - 1,
        n - 1,
    )
}

/// As [`Field::tridiagonalize`], for real types.
pub(super) fn tridiagonalize<T: Field<Magnitude = T> + Lane>(scratch: &mut Tridiagonal<T>) -> bool {
    let lanes = T::lanes();
    if lanes == 1 {
        return false;
    }
    let (n, leading, block) = (scratch.n, scratch.leading, scratch.block);
    let matrix = scratch.matrix.elements();
    for first in (0..leading).step_by(lanes) {
        for (i, j) in (0..lanes).flat_map(|j| (0..j).map(move |i| (first + i, first + j))) {
            matrix[j * leading + i] = matrix[i * leading + j];
        }
    }
    let rows = scratch.rows.elements();
    rows.fill(T::zero());
    let (vectors, sums) = rows.split_at_mut(4 * leading);
    let sums = Target::over(sums);
    let mut vectors = vectors.chunks_exact_mut(leading);
    let [mut last, mut last_product, mut next, mut product] =
        std::array::from_fn(|_| vectors.next().expect("four vectors"));
    for k in 0..n - 1 {
        let column = &mut matrix[k * leading..k * leading + n];
        let (head, tail) = column[k + 1..].split_first_mut().expect("not the last column");
        let factor = make_householder_in_place(head, ColMut::from_slice_mut(tail)).tau;
        scratch.factors[k * block] = factor;
        next[k.saturating_sub(1)..=k].fill(T::zero());
        next[k + 1] = T::one();
        next[k + 2..n].copy_from_slice(tail);

        let first = k + 1;
        let chunks = Chunks::of(first / lanes * lanes, leading, lanes);
        let target = Target::over(matrix);
        let products = Target::over(product);
        let groups = num_threads().min(chunks.count);
        parallel_for(groups, |group| {
            // Chunks are assigned to the same thread in each step if there are as many threads as groups, and stay in its
            // cache.
            for chunk in chunks.count * group / groups..chunks.count * (group + 1) / groups {
                let columns = chunks.columns(chunk);
                T::dispatch(Pass {
                    matrix: target,
                    leading,
                    columns: columns.start.max(first)..columns.end,
                    last: [last, last_product],
                    next,
                    product: products,
                    sums: sums.shifted((chunk * leading) as isize),
                });
            }
        });
        // The column of the next reflection.
        let (column, after) = (first * leading, (first + 1) * leading);
        T::dispatch(StepEnd {
            chunks,
            next,
            product,
            sums,
            inverse: T::one() / factor,
            first,
            column: &mut matrix[column..after],
            leading,
        });
        std::mem::swap(&mut last, &mut next);
        std::mem::swap(&mut last_product, &mut product);
        // Finished rows no longer take part.
        last[k] = T::zero();
        last_product[k] = T::zero();
    }
    true
}

/// The split of the trailing columns into chunks of about equal area. It depends on their number only.
#[derive(Clone, Copy)]
struct Chunks {
    count: usize,
    first: usize,
    end: usize,
    lanes: usize,
}

impl Chunks {
    fn of(first: usize, end: usize, lanes: usize) -> Chunks {
        let count = match end - first {
            LARGE.. => MAX_CHUNKS,
            MEDIUM.. => MAX_CHUNKS / 2,
            _ => 1,
        };
        Chunks { count, first, end, lanes }
    }

    /// Column range of a chunk; it begins at a multiple of the lanes.
    fn columns(&self, chunk: usize) -> Range<usize> {
        self.start(chunk)..self.start(chunk + 1)
    }

    fn start(&self, chunk: usize) -> usize {
        let fraction = 1.0 - (1.0 - chunk as f64 / self.count as f64).sqrt();
        let vectors = (self.end - self.first) / self.lanes;
        self.first + (fraction * vectors as f64).round() as usize * self.lanes
    }
}

/// One chunk of a step: `A -= l pᵀ + p lᵀ` with the last reflection `l` and its product `p`, and `A v` for the next
/// reflection `v`.
struct Pass<'a, T> {
    matrix: Target<T>,
    leading: usize,
    columns: Range<usize>,
    last: [&'a [T]; 2],
    next: &'a [T],
    /// Contributions of elements on and below the diagonal to the product, by column.
    product: Target<T>,
    /// Contributions of elements below the diagonal, by row.
    sums: Target<T>,
}

impl<T: Lane> WithSimd<T> for Pass<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let leading = self.leading;
        let start = self.columns.start / V::LANES * V::LANES;
        assert!(self.last.iter().all(|row| row.len() == leading) && self.next.len() == leading);
        assert!(self.columns.end <= leading && leading.is_multiple_of(V::LANES));
        // SAFETY: guaranteed by the caller of this function; columns, product and sums have `leading` elements, and only this
        // chunk writes its own.
        unsafe {
            for row in (start..leading).step_by(V::LANES) {
                V::splat(T::zero()).store(self.sums.at(row as isize));
            }
            for block in (start..self.columns.end).step_by(V::LANES) {
                let first = block.max(self.columns.start);
                let mut dots = V::square(V::splat(T::zero()));
                let totals = dots.as_mut();
                let square = Rows::<V>::load(&self, block);
                for column in first..block + V::LANES {
                    let scales = Scales::<V>::load(&self, column);
                    totals[column - block] =
                        square.update(&scales, self.element(block, column)).mul(square.next);
                }
                let mut column = first;
                while column < block + V::LANES {
                    let totals = &mut totals[column - block..];
                    column += if column.is_multiple_of(COLUMNS_PER_STEP) {
                        update_columns::<V, COLUMNS_PER_STEP>(&self, column, block + V::LANES, totals)
                    } else {
                        update_columns::<V, 1>(&self, column, block + V::LANES, totals)
                    };
                }
                V::transpose(&mut dots);
                let mut total = V::splat(T::zero());
                for &dot in dots.as_ref() {
                    total = total.add(dot);
                }
                total.store(self.product.at(block as isize));
            }
        }
    }
}

impl<T: Lane> Pass<'_, T> {
    #[inline(always)]
    fn element(&self, row: usize, column: usize) -> *mut T {
        self.matrix.at((column * self.leading + row) as isize)
    }
}

/// Update `N` neighbouring columns, beginning with row `from`; returns `N`.
///
/// # Safety
///
/// The processor has the instruction set of `V`, the columns and rows are inside the matrix, and there are at least `N`
/// totals.
#[inline(always)]
unsafe fn update_columns<V: Vector, const N: usize>(
    pass: &Pass<'_, V::Lane>,
    column: usize,
    from: usize,
    totals: &mut [V],
) -> usize
where
    V::Lane: Lane,
{
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let scales: [Scales<V>; N] = std::array::from_fn(|i| Scales::load(pass, column + i));
        let mut dots = [V::splat(num_traits::zero()); N];
        for row in (from..pass.leading).step_by(V::LANES) {
            let rows = Rows::<V>::load(pass, row);
            let sums = pass.sums.at(row as isize);
            let mut sum = V::load(sums);
            for i in 0..N {
                let updated = rows.update(&scales[i], pass.element(row, column + i));
                dots[i] = updated.mul_add(rows.next, dots[i]);
                sum = updated.mul_add(scales[i].next, sum);
            }
            sum.store(sums);
        }
        for (total, dot) in totals.iter_mut().zip(dots) {
            *total = total.add(dot);
        }
    }
    N
}

/// A vector of rows of the reflections and of the product.
struct Rows<V> {
    last: V,
    product: V,
    next: V,
}

impl<V: Vector> Rows<V>
where
    V::Lane: Lane,
{
    #[inline(always)]
    unsafe fn load(pass: &Pass<'_, V::Lane>, row: usize) -> Rows<V> {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            Rows {
                last: V::load(pass.last[0].as_ptr().add(row)),
                product: V::load(pass.last[1].as_ptr().add(row)),
                next: V::load(pass.next.as_ptr().add(row)),
            }
        }
    }

    /// Apply the last reflection to a vector of elements of a column.
    #[inline(always)]
    unsafe fn update(&self, scales: &Scales<V>, elements: *mut V::Lane) -> V {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let updated = self.last.neg_mul_add(scales.product, V::load(elements));
            let updated = self.product.neg_mul_add(scales.last, updated);
            updated.store(elements);
            updated
        }
    }
}

/// The elements of the reflections and of the product in a column's row, broadcast to all lanes.
struct Scales<V> {
    last: V,
    product: V,
    next: V,
}

impl<V: Vector> Scales<V>
where
    V::Lane: Lane,
{
    #[inline(always)]
    unsafe fn load(pass: &Pass<'_, V::Lane>, column: usize) -> Scales<V> {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            Scales {
                last: V::splat(pass.last[0][column]),
                product: V::splat(pass.last[1][column]),
                next: V::splat(pass.next[column]),
            }
        }
    }
}

/// The end of a step: add the sums of the chunks to the product, complete it to `y = A v / τ - v (vᵀ A v) / 2τ²`, and apply
/// the reflection to the next column.
struct StepEnd<'a, T> {
    chunks: Chunks,
    next: &'a [T],
    product: &'a mut [T],
    sums: Target<T>,
    /// `1 / τ`.
    inverse: T,
    /// Index of the column.
    first: usize,
    column: &'a mut [T],
    leading: usize,
}

impl<T: Lane> WithSimd<T> for StepEnd<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let StepEnd { chunks, next, product, sums, inverse, first, column, leading } = self;
        assert!(
            [next.len(), product.len(), column.len()] == [leading; 3] && leading.is_multiple_of(V::LANES)
        );
        let start = first / V::LANES * V::LANES;
        let rows = || (start..leading).step_by(V::LANES);
        let (next_at, product_at, column_at) = (next.as_ptr(), product.as_mut_ptr(), column.as_mut_ptr());
        // SAFETY: guaranteed by the caller of this function; all rows have `leading` elements, and the sums of a chunk are
        // valid from its first column on.
        unsafe {
            for chunk in 0..chunks.count {
                let sums = sums.shifted((chunk * leading) as isize);
                for row in (chunks.start(chunk)..leading).step_by(V::LANES) {
                    let sum = V::load(sums.at(row as isize));
                    V::load(product_at.add(row)).add(sum).store(product_at.add(row));
                }
            }
            let mut dots = V::splat(T::zero());
            for row in rows() {
                let scaled = V::load(product_at.add(row)).mul(V::splat(inverse));
                scaled.store(product_at.add(row));
                dots = scaled.mul_add(V::load(next_at.add(row)), dots);
            }
            let mut lanes = [T::zero(); LANES];
            dots.store(lanes.as_mut_ptr());
            let dot = lanes.iter().fold(T::zero(), |sum, &lane| sum + lane);
            let half = V::splat(dot * inverse / (T::one() + T::one()));
            for row in rows() {
                let updated = V::load(next_at.add(row)).neg_mul_add(half, V::load(product_at.add(row)));
                updated.store(product_at.add(row));
            }
            let scale = V::splat(*product_at.add(first));
            for row in rows() {
                let updated = V::load(next_at.add(row)).neg_mul_add(scale, V::load(column_at.add(row)));
                // The reflection is one in this row.
                updated.sub(V::load(product_at.add(row))).store(column_at.add(row));
            }
        }
    }
}

/// A vector whose elements start at a cache line.
struct AlignedVec<T> {
    elements: Vec<T>,
    start: usize,
}

impl<T: Field> AlignedVec<T> {
    /// Allocate zeros.
    fn new(count: usize) -> Result<AlignedVec<T>, Failure> {
        let elements = filled(T::zero(), count.saturating_add(LANES))?;
        // The element types have at most sixteen elements per cache line.
        let start = elements.as_ptr().align_offset(64).min(LANES);
        Ok(AlignedVec { elements, start })
    }

    fn elements(&mut self) -> &mut [T] {
        let range = self.range();
        &mut self.elements[range]
    }

    fn as_slice(&self) -> &[T] {
        &self.elements[self.range()]
    }

    fn range(&self) -> Range<usize> {
        self.start..self.elements.len() - LANES + self.start
    }
}
