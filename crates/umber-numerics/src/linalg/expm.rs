//! Exponentials of square matrices, by scaling and squaring.
//!
//! A. H. Al-Mohy, N. J. Higham, "A new scaling and squaring algorithm for the matrix exponential", SIAM J. Matrix Anal. Appl.
//! 31 (2009), with the Padé approximant of order 13. The scaling depends on the growth of the matrix powers and not on the
//! norm, which may be much larger and would cause additional squarings with their rounding errors.

use faer::linalg::lu::partial_pivoting::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::Float;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::field::{Field, all_finite, nan};
use super::lu::Factors;
use umber_kernels_base::{View, ViewMut};

/// Coefficients of the approximant.
const COEFFICIENTS: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];
/// The bound on the growth up to which the approximant is accurate to rounding (θ₁₃ of the paper).
const BOUND: f64 = 4.25;
/// The inverse of the first coefficient of the approximant's backward error, of degree 27.
const BACKWARD: f64 = 1.1325077560602111e35;
/// Twice the approximant's order: the number of bits by which halving the matrix reduces the backward error.
const ORDERS: f64 = 26.0;
/// Maximum number of halvings; with more, every float64 underflows.
const MAX_SCALINGS: f64 = 4096.0;

/// The exponential of each matrix. Matrices with infinities or NaN have NaN everywhere.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn expm(a: View, x: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => exponentials::<T>(a, x), else => panic!("matrices of {}", a.dtype()))
}

fn exponentials<T: Field>(a: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, to) = (Matrices::<T>::of(a), Results::<T>::of(x, 2));
    let n = from.rows();
    for_each_matrix(
        from.count(),
        cost(n, n, n).saturating_mul(10),
        || Scratch::<T>::new(n),
        |index, scratch| {
            from.load(index, &mut scratch.a);
            if all_finite(&scratch.a) {
                scratch.exponentiate();
            } else {
                scratch.x.fill(nan());
            }
            to.store(index, &scratch.x, n, n);
            true
        },
    )
}

struct Scratch<T> {
    n: usize,
    a: Vec<T>,
    /// Even powers of the scaled matrix: the second, fourth and sixth.
    powers: [Vec<T>; 3],
    /// Terms of odd and even degree.
    odd: Vec<T>,
    even: Vec<T>,
    x: Vec<T>,
    factors: Factors<T>,
    workspace: Workspace,
}

impl<T: Field> Scratch<T> {
    fn new(n: usize) -> Result<Scratch<T>, Failure> {
        let zeros = || filled(T::zero(), n * n);
        Ok(Scratch {
            n,
            a: zeros()?,
            powers: [zeros()?, zeros()?, zeros()?],
            odd: zeros()?,
            even: zeros()?,
            x: zeros()?,
            factors: Factors::new(n, n)?,
            workspace: Workspace::new(solve_in_place_scratch::<usize, T>(n, n, Par::Seq))?,
        })
    }

    fn exponentiate(&mut self) {
        let n = self.n;
        let diagonal: Vec<T> = (0..n).map(|i| self.a[i * n + i]).collect();
        let [is_upper, is_lower] = self.triangles();
        let (is_triangular, is_transposed) = (is_upper || is_lower, is_lower && !is_upper);
        if is_transposed {
            // LU preserves the zeros below the diagonal, but its row exchanges would not preserve those above.
            transpose_in_place(n, &mut self.a);
        }
        let scalings = self.scalings();
        let half = of_double::<T>(0.5);
        scale(&mut self.a, half, scalings);
        self.approximate();
        let mut scaled = diagonal.clone();
        for remaining in (0..=scalings).rev() {
            if is_triangular {
                // The diagonal is computed directly, without the rounding errors of the squarings.
                scaled.copy_from_slice(&diagonal);
                scale(&mut scaled, half, remaining);
                for (i, &element) in scaled.iter().enumerate() {
                    self.x[i * n + i] = element.exponential();
                }
            }
            if remaining > 0 {
                multiply(n, &self.x, &self.x, &mut self.even);
                std::mem::swap(&mut self.x, &mut self.even);
            }
        }
        if is_transposed {
            transpose_in_place(n, &mut self.x);
        }
    }

    /// Whether the matrix is upper triangular, and whether it is lower triangular.
    fn triangles(&self) -> [bool; 2] {
        let n = self.n;
        let triangles: [fn(usize, usize) -> bool; 2] =
            [|row, column| row > column, |row, column| row < column];
        triangles.map(|is_in_triangle| {
            (0..n * n).all(|at| !is_in_triangle(at % n, at / n) || self.a[at] == T::zero())
        })
    }

    /// Number of times the matrix is halved.
    fn scalings(&mut self) -> u32 {
        let n = self.n;
        let norm = norm(n, &self.a);
        if norm <= BOUND {
            return 0;
        }
        let [second, fourth, sixth] = &mut self.powers;
        multiply(n, &self.a, &self.a, second);
        multiply(n, second, second, fourth);
        multiply(n, second, fourth, sixth);
        multiply(n, fourth, fourth, &mut self.even);
        multiply(n, fourth, sixth, &mut self.odd);
        let growth = |power: &[T], degree: f64| self::norm(n, power).powf(1.0 / degree);
        let (sixth, eighth, tenth) = (growth(sixth, 6.0), growth(&self.even, 8.0), growth(&self.odd, 10.0));
        let growth = sixth.max(eighth).min(eighth.max(tenth));
        // Overflowed powers give no information.
        let growth = if growth.is_finite() { growth.min(norm) } else { norm };
        let scalings = (growth / BOUND).log2().ceil().clamp(0.0, MAX_SCALINGS);
        (scalings + self.backward_scalings(norm, scalings)).min(MAX_SCALINGS) as u32
    }

    /// Number of additional halvings for matrices whose elements cancel in their powers.
    fn backward_scalings(&self, norm: f64, scalings: f64) -> f64 {
        let n = self.n;
        let scale = (-scalings).exp2();
        // The logarithm of the norm of the 27th power of the absolute values, by matrix-vector products.
        let (mut row, mut logarithm) = (vec![1.0; n], 0.0);
        for _ in 0..27 {
            let product = self.a.chunks_exact(n).map(|column| {
                let terms = column.iter().zip(&row);
                terms.map(|(element, &x)| to_double::<T>(element.magnitude()) * scale * x).sum::<f64>()
            });
            row = product.collect();
            let max = row.iter().copied().fold(0.0, f64::max);
            if max == 0.0 || !max.is_finite() {
                return 0.0;
            }
            for x in &mut row {
                *x /= max;
            }
            logarithm += max.log2();
        }
        let error = logarithm - (norm * scale).log2() - BACKWARD.log2();
        ((error - f64::EPSILON.log2() + 1.0) / ORDERS).ceil().max(0.0)
    }

    /// Evaluate the approximant at `a` into `x`.
    fn approximate(&mut self) {
        let n = self.n;
        let [second, fourth, sixth] = &mut self.powers;
        multiply(n, &self.a, &self.a, second);
        multiply(n, second, second, fourth);
        multiply(n, second, fourth, sixth);
        let powers = [&*second, &*fourth, &*sixth];
        let of_degrees = |degrees: [usize; 3]| degrees.map(|i| of_double(COEFFICIENTS[i]));
        combine(n, &mut self.x, T::zero(), &powers, of_degrees([9, 11, 13]));
        multiply(n, sixth, &self.x, &mut self.odd);
        combine(n, &mut self.x, T::zero(), &powers, of_degrees([8, 10, 12]));
        multiply(n, sixth, &self.x, &mut self.even);
        let low = [1, 0].map(|i| of_double::<T>(COEFFICIENTS[i]));
        combine(n, &mut self.x, low[0], &powers, of_degrees([3, 5, 7]));
        for (x, &odd) in self.x.iter_mut().zip(&self.odd) {
            *x += odd;
        }
        multiply(n, &self.a, &self.x, &mut self.odd);
        combine(n, &mut self.x, low[1], &powers, of_degrees([2, 4, 6]));
        for ((x, even), &odd) in self.x.iter_mut().zip(&mut self.even).zip(&self.odd) {
            let sum = *x + *even;
            *even = sum - odd;
            *x = sum + odd;
        }
        self.factors.factor_columns(&self.even);
        solve_in_place(
            self.factors.matrix(),
            self.factors.matrix(),
            self.factors.order(),
            MatMut::from_column_major_slice_mut(&mut self.x, n, n),
            Par::Seq,
            self.workspace.stack(),
        );
    }
}

/// The 1-norm: the maximum of the columns' absolute sums.
fn norm<T: Field>(n: usize, a: &[T]) -> f64 {
    let sum = |column: &[T]| column.iter().map(|element| to_double::<T>(element.magnitude())).sum::<f64>();
    a.chunks_exact(n.max(1)).map(sum).fold(0.0, |max, sum| if sum > max || sum.is_nan() { sum } else { max })
}

/// Transpose a square matrix.
fn transpose_in_place<T>(n: usize, a: &mut [T]) {
    for i in 0..n {
        for j in 0..i {
            a.swap(i * n + j, j * n + i);
        }
    }
}

/// Multiply by a factor `times` times, stopping at zero.
fn scale<T: Field>(elements: &mut [T], factor: T, times: u32) {
    for element in elements {
        for _ in 0..times {
            if *element == T::zero() {
                break;
            }
            *element *= factor;
        }
    }
}

fn of_double<T: Field>(value: f64) -> T {
    T::of_real(num_traits::cast(value).unwrap_or_else(T::Magnitude::nan))
}

fn to_double<T: Field>(value: T::Magnitude) -> f64 {
    num_traits::cast(value).unwrap_or(f64::NAN)
}

/// `out = constant I + sum of factors times powers`
fn combine<T: Field>(n: usize, out: &mut [T], constant: T, powers: &[&Vec<T>; 3], factors: [T; 3]) {
    for (i, element) in out.iter_mut().enumerate() {
        *element = powers[0][i] * factors[0] + powers[1][i] * factors[1] + powers[2][i] * factors[2];
    }
    for i in 0..n {
        out[i * n + i] += constant;
    }
}

fn multiply<T: Field>(n: usize, left: &[T], right: &[T], out: &mut [T]) {
    matmul(
        MatMut::from_column_major_slice_mut(out, n, n),
        Accum::Replace,
        MatRef::from_column_major_slice(left, n, n),
        MatRef::from_column_major_slice(right, n, n),
        T::one(),
        Par::Seq,
    );
}
