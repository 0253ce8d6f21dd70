//! A real symmetric matrix as `Q T Qᵀ` with tridiagonal `T`, its columns shared out among threads.
//!
//! Reflections are kept as faer keeps them, which multiplies by `Q`. How the work is cut depends on the sizes alone, so that
//! results do not depend on the number of threads.

use std::sync::{Mutex, PoisonError};

use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply, make_householder_in_place,
    upgrade_householder_factor,
};
use faer::{ColMut, Conj, MatMut, MatRef, Par};

use super::Failure;
use super::batch::{Workspace, filled};
use super::field::Field;
use crate::isa::vectorised;
use crate::shared::Target;
use crate::threads::parallel_for;

/// Numbers summed side by side.
const LANES: usize = 16;
/// Elements of the triangle that are worth a part of their own.
const PART: usize = 16 << 10;
/// Parts of the triangle at most.
const PARTS: usize = 8;
/// Columns that are multiplied by `Q` together.
const COLUMNS: usize = 128;

/// Room for the factors of one matrix.
pub(super) struct Tridiagonal<T> {
    n: usize,
    block: usize,
    /// The matrix, of which the lower triangle is read and replaced by the reflections.
    pub(super) matrix: Vec<T>,
    factors: Vec<T>,
    /// The diagonal of `T`.
    pub(super) diagonal: Vec<T>,
    /// Elements beside the diagonal.
    pub(super) beside: Vec<T>,
    /// The last reflection, what goes with it, and the next reflection.
    vectors: [Vec<T>; 3],
    /// Each part's products of its columns with the reflection.
    products: Vec<T>,
    /// faer's, for each part of the columns that `Q` is multiplied by.
    rooms: Vec<Mutex<Workspace>>,
}

impl<T: Field> Tridiagonal<T> {
    /// For matrices of `n` rows, two or more, `block` reflections of which are applied together.
    pub(super) fn new(n: usize, block: usize) -> Result<Tridiagonal<T>, Failure> {
        let zeros = |count| filled(T::zero(), count);
        let need = apply_scratch::<T>(n - 1, block, COLUMNS);
        let rooms = (0..n.div_ceil(COLUMNS)).map(|_| Ok(Mutex::new(Workspace::new(need)?)));
        Ok(Tridiagonal {
            n,
            block,
            matrix: zeros(n * n)?,
            factors: zeros(block * (n - 1))?,
            diagonal: zeros(n)?,
            beside: zeros(n)?,
            vectors: [zeros(n)?, zeros(n)?, zeros(n)?],
            products: zeros(PARTS * n)?,
            rooms: rooms.collect::<Result<_, Failure>>()?,
        })
    }

    /// Factor the matrix.
    pub(super) fn factor(&mut self) {
        let Tridiagonal { n, block, .. } = *self;
        let [u, w, x] = &mut self.vectors;
        for k in 0..n {
            let column = &mut self.matrix[k * n + k..][..n - k];
            if k > 0 {
                let (u_k, w_k) = (u[k], w[k]);
                for ((a, &u), &w) in column.iter_mut().zip(&u[k..]).zip(&w[k..]) {
                    *a -= u * w_k + w * u_k;
                }
            }
            self.diagonal[k] = column[0];
            if k + 1 == n {
                break;
            }
            let (head, tail) = column[1..].split_at_mut(1);
            let info = make_householder_in_place(&mut head[0], ColMut::from_slice_mut(tail));
            let tau = T::of_real(info.tau);
            (self.beside[k], self.factors[k * block]) = (head[0], tau);
            x[k + 1] = T::one();
            x[k + 2..].copy_from_slice(tail);
            let rest = Rest { n, first: k + 1, has_update: k > 0, u, w, x };
            let product = rest.update(&mut self.matrix, &mut self.products);
            // w = p / tau - (pᵀ x) / (2 tau²) x, for the update by - x wᵀ - w xᵀ.
            let inverse = T::one() / tau;
            let along = product.iter().zip(&x[k + 1..]).fold(T::zero(), |sum, (&p, &x)| sum + p * x);
            let half = along * inverse * inverse / (T::one() + T::one());
            for ((w, &p), &x) in w[k + 1..].iter_mut().zip(product).zip(&x[k + 1..]) {
                *w = p * inverse - half * x;
            }
            std::mem::swap(u, x);
        }
        self.join_factors();
    }

    /// What faer applies blocks of reflections by.
    fn join_factors(&mut self) {
        let Tridiagonal { n, block, .. } = *self;
        let below = MatRef::from_column_major_slice(&self.matrix, n, n).submatrix(1, 0, n - 1, n - 1);
        let mut factors = MatMut::from_column_major_slice_mut(&mut self.factors, block, n - 1);
        for j in (0..n - 1).step_by(block) {
            let width = block.min(n - 1 - j);
            let mut part = factors.as_mut().submatrix_mut(0, j, width, width);
            for k in 0..width {
                part[(k, k)] = part[(0, k)];
            }
            upgrade_householder_factor(part, below.submatrix(j, j, n - 1 - j, width), width, 1, Par::Seq);
        }
    }

    /// Multiply `Q` by a matrix that is stored column by column.
    pub(super) fn apply(&self, columns_first: &mut [T]) {
        let Tridiagonal { n, block, .. } = *self;
        let below = MatRef::from_column_major_slice(&self.matrix, n, n).submatrix(1, 0, n - 1, n - 1);
        let factors = MatRef::from_column_major_slice(&self.factors, block, n - 1);
        let target = Target::over(columns_first);
        parallel_for(self.rooms.len(), |part| {
            let width = COLUMNS.min(n - part * COLUMNS);
            // SAFETY: columns that this part alone writes.
            let columns = unsafe {
                std::slice::from_raw_parts_mut(target.at((part * COLUMNS * n) as isize), width * n)
            };
            let columns = MatMut::from_column_major_slice_mut(columns, n, width).subrows_mut(1, n - 1);
            let mut room = self.rooms[part].lock().unwrap_or_else(PoisonError::into_inner);
            apply(below, factors, Conj::No, columns, Par::Seq, room.stack());
        });
    }
}

/// What is left to be factored: rows and columns from `first` on.
struct Rest<'a, T> {
    n: usize,
    first: usize,
    /// Has the last reflection still to be applied?
    has_update: bool,
    u: &'a [T],
    w: &'a [T],
    x: &'a [T],
}

impl<T: Field> Rest<'_, T> {
    /// Apply the last reflection, and multiply the result by the next one.
    fn update<'m>(&self, matrix: &mut [T], products: &'m mut [T]) -> &'m [T] {
        let size = self.n - self.first;
        let parts = (size * size / 2 / PART).clamp(1, PARTS);
        // Columns of the triangle that hold equally many elements.
        let start = |part: usize| {
            let share = 1.0 - (1.0 - part as f64 / parts as f64).sqrt();
            ((share * size as f64) as usize).min(size)
        };
        let (matrix, places) = (Target::over(matrix), Target::over(products));
        parallel_for(parts, |part| {
            let columns = start(part)..if part + 1 == parts { size } else { start(part + 1) };
            // SAFETY: sums that this part alone writes.
            let below = unsafe { std::slice::from_raw_parts_mut(places.at((part * self.n) as isize), size) };
            below.fill(T::zero());
            for j in columns {
                let at = self.first + j;
                // SAFETY: a column that this part alone writes.
                let column = unsafe {
                    std::slice::from_raw_parts_mut(matrix.at((at * self.n + at) as isize), size - j)
                };
                let (u, w, x) = (&self.u[at..], &self.w[at..], &self.x[at..]);
                let below = &mut below[j..];
                let dot = vectorised(
                    #[inline(always)]
                    || {
                        if self.has_update {
                            pass::<T, true>(column, u, w, x, below)
                        } else {
                            pass::<T, false>(column, u, w, x, below)
                        }
                    },
                );
                below[0] += dot;
            }
        });
        let (first, rest) = products.split_at_mut(self.n);
        for part in rest.chunks_exact(self.n).take(parts - 1) {
            for (sum, &more) in first[..size].iter_mut().zip(part) {
                *sum += more;
            }
        }
        &first[..size]
    }
}

/// Update a column from the diagonal down; add its multiple below the diagonal to the products, and answer its own product.
#[inline(always)]
fn pass<T: Field, const UPDATE: bool>(column: &mut [T], u: &[T], w: &[T], x: &[T], below: &mut [T]) -> T {
    let (u_j, w_j, x_j) = (u[0], w[0], x[0]);
    let one = |a: T, u: T, w: T| if UPDATE { a - (u * w_j + w * u_j) } else { a };
    column[0] = one(column[0], u[0], w[0]);
    let head = column[0] * x_j;
    let (column, below) = (&mut column[1..], &mut below[1..]);
    let whole = column.len() / LANES * LANES;
    let (u, w, x) = (&u[1..], &w[1..], &x[1..]);
    let mut dots = [T::zero(); LANES];
    let vectors = column[..whole].chunks_exact_mut(LANES).zip(below[..whole].chunks_exact_mut(LANES));
    let others = u.chunks_exact(LANES).zip(w.chunks_exact(LANES)).zip(x.chunks_exact(LANES));
    for ((column, below), ((u, w), x)) in vectors.zip(others) {
        for l in 0..LANES {
            let a = one(column[l], u[l], w[l]);
            column[l] = a;
            dots[l] += a * x[l];
            below[l] += a * x_j;
        }
    }
    let mut sum = head;
    for l in whole..column.len() {
        column[l] = one(column[l], u[l], w[l]);
        sum += column[l] * x[l];
        below[l] += column[l] * x_j;
    }
    dots.iter().fold(sum, |sum, &dot| sum + dot)
}
