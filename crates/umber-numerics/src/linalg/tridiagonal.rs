//! Symmetric matrices made tridiagonal by reflections (Golub and Van Loan, Matrix Computations, 8.3.1), on all threads.
//!
//! A reflection reaches the rest of the matrix together with the product that the next one needs, so that a step goes once
//! through the lower triangle, as faer's does on one thread. Squares along the diagonal, as wide as a vector, are kept whole:
//! columns below them begin where vectors do.
//!
//! Invariant: a part of a step writes its own columns of the matrix and of the product, and sums of its own.

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

/// As many lanes as a vector has at most.
const LANES: usize = 16;
/// Columns that are changed together, so that what they share is read once for them.
const COLUMNS_PER_STEP: usize = 4;
/// Parts of a step at most; their sums are added up by one thread.
const PARTS: usize = 8;
/// Eigenvectors that a thread takes at a time.
pub(super) const COLUMNS: usize = 64;
/// Columns of what is left from which on a step has as many parts, a hand-off costing less than what it saves.
const LARGE: usize = 512;
/// The same for half as many.
const MEDIUM: usize = 256;

/// A Hermitian matrix, and what becomes of it: `Q T Qᴴ` with a tridiagonal `T`.
pub(super) struct Tridiagonal<T> {
    n: usize,
    /// Elements from one column to the next.
    leading: usize,
    /// Column by column; at first the lower triangle, then below that of `T` what reflections are made of.
    matrix: AlignedVec<T>,
    /// Reflections that are applied together.
    block: usize,
    /// Their factors, a column a reflection.
    factors: Vec<T>,
    /// The diagonal of `T`, and what is below it.
    pub(super) diagonal: Vec<T>,
    pub(super) below: Vec<T>,
    /// The last reflection and its product, the next one and its product, and sums of each part of a step.
    rows: AlignedVec<T>,
}

impl<T: Field> Tridiagonal<T> {
    /// Room for matrices of `n` rows, of which there is at least one.
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
            below: filled(T::zero(), n)?,
            rows: AlignedVec::new((4 + PARTS) * leading)?,
        })
    }

    /// Reduce a matrix that is given column by column, of which the lower triangle is read; above it are zeros. If
    /// `are_wanted`, reflections can be applied afterwards.
    pub(super) fn reduce(&mut self, matrix: &[T], are_wanted: bool, workspace: &mut Workspace) {
        let (n, leading) = (self.n, self.leading);
        for (column, from) in self.matrix.elements().chunks_exact_mut(leading).zip(matrix.chunks_exact(n)) {
            column[..n].copy_from_slice(from);
        }
        if T::tridiagonalize(self) {
            if are_wanted {
                self.join_reflections();
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
            self.below[i] = if i + 1 < n { matrix[i * leading + i + 1] } else { T::zero() };
        }
    }

    /// Bring the greatest element of `T` near one by a power of two, and answer that power: eigenvectors come from steps that
    /// compare what they find with one. What would vanish if it were squared becomes zero: of a part of `T` that has nothing else
    /// no step would come to an end, since its elements are divided by the greatest of them.
    pub(super) fn normalise(&mut self) -> T::Magnitude {
        let elements = || self.diagonal.iter().chain(&self.below).map(|x| x.magnitude());
        let max = elements().fold(T::Magnitude::zero(), Float::max);
        if max.is_zero() {
            return T::Magnitude::one();
        }
        let power = nearest_power_of_two(max);
        let inverse = T::of_real(Float::recip(power));
        let threshold = Float::sqrt(<T::Magnitude as Float>::min_positive_value());
        for x in self.diagonal.iter_mut().chain(&mut self.below) {
            *x *= inverse;
            if x.magnitude() < threshold {
                *x = T::zero();
            }
        }
        power
    }

    /// Are these the eigenvalues of `T` and, one after another, its eigenvectors?
    ///
    /// Measured: elements of `T v - λ v` are up to a hundred rounding errors beside a greatest element near one, some thousand
    /// where halves were joined badly.
    pub(super) fn is_solved_by(&self, values: &[T], vectors: &[T]) -> bool {
        let (n, diagonal, below) = (self.n, &self.diagonal, &self.below);
        let two = T::Magnitude::one() + T::Magnitude::one();
        let most = <T::Magnitude as Float>::epsilon() * Float::powi(two, 8);
        let is_far = AtomicBool::new(false);
        parallel_for(n.div_ceil(COLUMNS), |part| {
            let columns = part * COLUMNS..n.min((part + 1) * COLUMNS);
            let are_near = columns.into_iter().all(|j| {
                let (value, vector) = (values[j], &vectors[j * n..(j + 1) * n]);
                (0..n).all(|i| {
                    let mut rest = (diagonal[i] - value) * vector[i];
                    if i > 0 {
                        rest += below[i - 1] * vector[i - 1];
                    }
                    if i + 1 < n {
                        rest += below[i].conjugate() * vector[i + 1];
                    }
                    rest.magnitude() <= most
                })
            });
            is_far.fetch_or(!are_near, Ordering::Relaxed);
        });
        !is_far.into_inner()
    }

    /// What `Q` is made of, as faer applies it: the reflections, and the factors of blocks of them.
    pub(super) fn reflections(&self) -> (MatRef<'_, T>, MatRef<'_, T>) {
        let factors = MatRef::from_column_major_slice(&self.factors, self.block, self.n - 1);
        (householder_essentials(&self.matrix, self.n, self.leading), factors)
    }

    /// How many reflections are applied together.
    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// Let the factors, the first of each column being that of a single reflection, be those of blocks.
    fn join_reflections(&mut self) {
        let (n, block) = (self.n, self.block);
        let reflections = householder_essentials(&self.matrix, n, self.leading);
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

/// What reflections are made of, below the diagonal.
fn householder_essentials<T: Field>(matrix: &AlignedVec<T>, n: usize, leading: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice_with_stride(matrix.as_slice(), n, n, leading).submatrix(
        1,
        0,
        n - 1,
        n - 1,
    )
}

/// As [`Field::tridiagonalize`], for real numbers.
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
        std::array::from_fn(|_| vectors.next().expect("four of them"));
    for k in 0..n - 1 {
        let column = &mut matrix[k * leading..k * leading + n];
        let (head, tail) = column[k + 1..].split_first_mut().expect("not the last column");
        let factor = make_householder_in_place(head, ColMut::from_slice_mut(tail)).tau;
        scratch.factors[k * block] = factor;
        next[k.saturating_sub(1)..=k].fill(T::zero());
        next[k + 1] = T::one();
        next[k + 2..n].copy_from_slice(tail);

        let first = k + 1;
        let parts = Parts::of(first / lanes * lanes, leading, lanes);
        let target = Target::over(matrix);
        let products = Target::over(product);
        let groups = num_threads().min(parts.count);
        parallel_for(groups, |group| {
            // The same parts fall to the same thread, in whose cache they are, if threads are as many as groups.
            for part in parts.count * group / groups..parts.count * (group + 1) / groups {
                let columns = parts.columns(part);
                T::dispatch(Pass {
                    matrix: target,
                    leading,
                    columns: columns.start.max(first)..columns.end,
                    last: [last, last_product],
                    next,
                    product: products,
                    sums: sums.shifted((part * leading) as isize),
                });
            }
        });
        // The column that is reflected next.
        let (column, after) = (first * leading, (first + 1) * leading);
        T::dispatch(StepEnd {
            parts,
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
        // Rows that are done are not touched any more.
        last[k] = T::zero();
        last_product[k] = T::zero();
    }
    true
}

/// How the columns of what is left are parted, so that parts are about as large: their size alone decides.
#[derive(Clone, Copy)]
struct Parts {
    count: usize,
    first: usize,
    end: usize,
    lanes: usize,
}

impl Parts {
    fn of(first: usize, end: usize, lanes: usize) -> Parts {
        let count = match end - first {
            LARGE.. => PARTS,
            MEDIUM.. => PARTS / 2,
            _ => 1,
        };
        Parts { count, first, end, lanes }
    }

    /// From the first column that is a multiple of lanes.
    fn columns(&self, part: usize) -> Range<usize> {
        self.start(part)..self.start(part + 1)
    }

    fn start(&self, part: usize) -> usize {
        let before = 1.0 - (1.0 - part as f64 / self.count as f64).sqrt();
        let vectors = (self.end - self.first) / self.lanes;
        self.first + (before * vectors as f64).round() as usize * self.lanes
    }
}

/// A part of a step: `A -= l pᵀ + p lᵀ` with the last reflection and its product, and for the next one `A v`.
struct Pass<'a, T> {
    matrix: Target<T>,
    leading: usize,
    columns: Range<usize>,
    last: [&'a [T]; 2],
    next: &'a [T],
    /// What comes of elements on and below the diagonal, for their columns.
    product: Target<T>,
    /// What comes of those below, for their rows.
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
        // SAFETY: the vectors are the caller's; columns, product and sums have `leading` elements, and this part's are its own.
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
                        square.change(&scales, self.element(block, column)).mul(square.next);
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

/// Neighbouring columns, from a row on; answers how many.
///
/// # Safety
/// The vectors are there, the columns and rows of the matrix, and as many totals.
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
    // SAFETY: the caller's.
    unsafe {
        let scales: [Scales<V>; N] = std::array::from_fn(|i| Scales::load(pass, column + i));
        let mut dots = [V::splat(num_traits::zero()); N];
        for row in (from..pass.leading).step_by(V::LANES) {
            let rows = Rows::<V>::load(pass, row);
            let sums = pass.sums.at(row as isize);
            let mut sum = V::load(sums);
            for i in 0..N {
                let changed = rows.change(&scales[i], pass.element(row, column + i));
                dots[i] = changed.mul_add(rows.next, dots[i]);
                sum = changed.mul_add(scales[i].next, sum);
            }
            sum.store(sums);
        }
        for (total, dot) in totals.iter_mut().zip(dots) {
            *total = total.add(dot);
        }
    }
    N
}

/// Elements of the reflections and of the product that are those of some rows.
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
        // SAFETY: the caller's, who has the vectors, and as many elements.
        unsafe {
            Rows {
                last: V::load(pass.last[0].as_ptr().add(row)),
                product: V::load(pass.last[1].as_ptr().add(row)),
                next: V::load(pass.next.as_ptr().add(row)),
            }
        }
    }

    /// Take the last reflection's part from some elements of a column.
    #[inline(always)]
    unsafe fn change(&self, scales: &Scales<V>, elements: *mut V::Lane) -> V {
        // SAFETY: the caller's.
        unsafe {
            let changed = self.last.neg_mul_add(scales.product, V::load(elements));
            let changed = self.product.neg_mul_add(scales.last, changed);
            changed.store(elements);
            changed
        }
    }
}

/// The elements of a column, in every lane.
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
        // SAFETY: the caller's, who has the vectors.
        unsafe {
            Scales {
                last: V::splat(pass.last[0][column]),
                product: V::splat(pass.last[1][column]),
                next: V::splat(pass.next[column]),
            }
        }
    }
}

/// The end of a step: what the parts found is one product `y = A v / τ - v (vᵀ A v) / 2τ²`, and the column after the reflected
/// one loses its part of the reflection.
struct StepEnd<'a, T> {
    parts: Parts,
    next: &'a [T],
    product: &'a mut [T],
    sums: Target<T>,
    /// Of `τ`.
    inverse: T,
    /// The column.
    first: usize,
    column: &'a mut [T],
    leading: usize,
}

impl<T: Lane> WithSimd<T> for StepEnd<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let StepEnd { parts, next, product, sums, inverse, first, column, leading } = self;
        assert!(
            [next.len(), product.len(), column.len()] == [leading; 3] && leading.is_multiple_of(V::LANES)
        );
        let start = first / V::LANES * V::LANES;
        let rows = || (start..leading).step_by(V::LANES);
        let (next_at, product_at, column_at) = (next.as_ptr(), product.as_mut_ptr(), column.as_mut_ptr());
        // SAFETY: the vectors are the caller's; all rows have `leading` elements, and sums of a part those from its first column on.
        unsafe {
            for part in 0..parts.count {
                let sums = sums.shifted((part * leading) as isize);
                for row in (parts.start(part)..leading).step_by(V::LANES) {
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
                let changed = V::load(next_at.add(row)).neg_mul_add(half, V::load(product_at.add(row)));
                changed.store(product_at.add(row));
            }
            let scale = V::splat(*product_at.add(first));
            for row in rows() {
                let changed = V::load(next_at.add(row)).neg_mul_add(scale, V::load(column_at.add(row)));
                // The reflection has a one in this row.
                changed.sub(V::load(product_at.add(row))).store(column_at.add(row));
            }
        }
    }
}

/// Elements that begin at a cache line.
struct AlignedVec<T> {
    elements: Vec<T>,
    start: usize,
}

impl<T: Field> AlignedVec<T> {
    /// Zeros.
    fn new(count: usize) -> Result<AlignedVec<T>, Failure> {
        let elements = filled(T::zero(), count.saturating_add(LANES))?;
        // The types have sixteen elements a line or fewer.
        let start = elements.as_ptr().align_offset(64).min(LANES);
        Ok(AlignedVec { elements, start })
    }

    fn elements(&mut self) -> &mut [T] {
        let places = self.places();
        &mut self.elements[places]
    }

    fn as_slice(&self) -> &[T] {
        &self.elements[self.places()]
    }

    fn places(&self) -> Range<usize> {
        self.start..self.elements.len() - LANES + self.start
    }
}
