//! Inverse iteration: an eigenvector of a known eigenvalue.
//!
//! The usual algorithm computes the eigenvectors of a triangular matrix by back substitution. If eigenvalues of a non-normal
//! matrix coincide, the elements may grow by the inverse of the precision from one row to the next, and overflow. One step of
//! inverse iteration needs no triangular form, and its elements can be rescaled on the way: Ipsen, "Computing an eigenvector
//! with inverse iteration" (SIAM Review 39, 1997). For such matrices more than one step may move away from the eigenvectors.

use num_complex::Complex64;
use num_traits::Zero;

use super::Failure;
use super::batch::filled;

/// Vectors with larger elements are rescaled.
const LARGE: f64 = 1e100;
/// Maximum number of random start vectors.
const STARTS: u64 = 5;

/// A decomposition `q @ h @ q.H` with `h` in upper Hessenberg form (zero below the first subdiagonal).
pub(super) struct Hessenberg {
    n: usize,
    /// Row-major.
    h: Vec<Complex64>,
    /// Column-major.
    q: Vec<Complex64>,
    /// Maximum magnitude of the elements of `h`.
    norm: f64,
    /// Scratch for the elimination, and for the vector it solves for.
    upper: Vec<Complex64>,
    vector: Vec<Complex64>,
}

impl Hessenberg {
    /// Reduce a matrix of finite elements, given in column-major order, by Householder reflections.
    pub(super) fn of(matrix: impl Iterator<Item = Complex64>, n: usize) -> Result<Hessenberg, Failure> {
        let mut a = filled(Complex64::zero(), n * n)?;
        a.iter_mut().zip(matrix).for_each(|(to, from)| *to = from);
        let mut q = filled(Complex64::zero(), n * n)?;
        q.iter_mut().step_by(n + 1).for_each(|element| *element = 1.0.into());
        let (mut v, mut sums) = (filled(Complex64::zero(), n)?, filled(Complex64::zero(), n)?);
        for k in 0..n.saturating_sub(2) {
            let v = &mut v[k + 1..];
            v.copy_from_slice(&a[k * n + k + 1..][..n - k - 1]);
            let length = norm(v);
            if norm(&v[1..]) == 0.0 {
                continue;
            }
            v[0] += if v[0].is_zero() { length.into() } else { v[0] / v[0].norm() * length };
            let length = norm(v);
            for element in v.iter_mut() {
                *element /= length;
            }
            for column in a.chunks_exact_mut(n).skip(k) {
                let column = &mut column[k + 1..];
                let projection: Complex64 = v.iter().zip(&*column).map(|(v, x)| v.conj() * x).sum();
                column.iter_mut().zip(&*v).for_each(|(x, v)| *x -= v * projection * 2.0);
            }
            for matrix in [&mut a, &mut q] {
                sums.fill(Complex64::zero());
                for (column, v) in matrix.chunks_exact(n).skip(k + 1).zip(&*v) {
                    sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * v);
                }
                for (column, v) in matrix.chunks_exact_mut(n).skip(k + 1).zip(&*v) {
                    column.iter_mut().zip(&sums).for_each(|(x, sum)| *x -= sum * v.conj() * 2.0);
                }
            }
        }
        let mut h = filled(Complex64::zero(), n * n)?;
        for (i, row) in h.chunks_exact_mut(n).enumerate() {
            for j in i.saturating_sub(1)..n {
                row[j] = a[j * n + i];
            }
        }
        let norm = h.iter().fold(0.0f64, |norm, element| norm.max(element.norm()));
        let (upper, vector) = (filled(Complex64::zero(), n * n)?, filled(Complex64::zero(), n)?);
        Ok(Hessenberg { n, h, q, norm, upper, vector })
    }

    /// Compute a unit eigenvector for `value`, with a residual of about `precision` times the norm of the matrix. Different
    /// `seed`s are likely to give different eigenvectors of a multiple eigenvalue. Real matrices and values give real
    /// vectors.
    pub(super) fn eigenvector(
        &mut self,
        value: Complex64,
        seed: usize,
        precision: f64,
        out: &mut [Complex64],
    ) {
        let tolerance = 10.0 * self.n as f64 * precision * self.norm;
        let mut best = f64::INFINITY;
        for attempt in 0..STARTS {
            let residual = self.step(value, seed as u64 * STARTS + attempt);
            if residual < best {
                best = residual;
                out.fill(Complex64::zero());
                for (column, x) in self.q.chunks_exact(self.n).zip(&self.vector) {
                    out.iter_mut().zip(column).for_each(|(out, q)| *out += q * x);
                }
            }
            if best <= tolerance {
                break;
            }
        }
    }

    /// Solve `(h - value I) x = s` for a random vector `s`; returns the residual of `x` as an eigenvector.
    fn step(&mut self, value: Complex64, start: u64) -> f64 {
        let Hessenberg { n, ref h, norm: scale, ref mut upper, vector: ref mut x, .. } = *self;
        upper.copy_from_slice(h);
        upper.iter_mut().step_by(n + 1).for_each(|element| *element -= value);
        // Distant points in the sequence of random numbers.
        let mut random_state = start << 32;
        for element in x.iter_mut() {
            *element = random(&mut random_state).into();
        }
        let mut residual = norm(x);
        // Smaller pivots count as zero.
        let threshold = (f64::EPSILON * scale).max(f64::MIN_POSITIVE / f64::EPSILON);
        let pivot = |element: Complex64| if element.norm() < threshold { threshold.into() } else { element };
        for k in 0..n.saturating_sub(1) {
            let (row, next) = upper[k * n..][..2 * n].split_at_mut(n);
            if next[k].norm() > row[k].norm() {
                row[k..].swap_with_slice(&mut next[k..]);
                x.swap(k, k + 1);
            }
            row[k] = pivot(row[k]);
            let factor = next[k] / row[k];
            if !factor.is_zero() {
                next[k..].iter_mut().zip(&row[k..]).for_each(|(next, row)| *next -= factor * row);
                let term = factor * x[k];
                x[k + 1] -= term;
            }
        }
        for i in (0..n).rev() {
            let row = &upper[i * n..][..n];
            let sum: Complex64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(row, x)| row * x).sum();
            x[i] = (x[i] - sum) / pivot(row[i]);
            let large = x[i].norm();
            if large > LARGE {
                for element in x.iter_mut() {
                    *element /= large;
                }
                residual /= large;
            }
        }
        let length = norm(x);
        for element in x.iter_mut() {
            *element /= length;
        }
        residual / length
    }
}

/// The Euclidean norm of a vector.
fn norm(vector: &[Complex64]) -> f64 {
    let max = vector.iter().fold(0.0f64, |max, element| max.max(element.norm()));
    if max == 0.0 {
        return 0.0;
    }
    max * vector.iter().map(|element| (element / max).norm_sqr()).sum::<f64>().sqrt()
}

/// A random number in [-1.5, -0.5] or [0.5, 1.5]: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    let size = 0.5 + (bits >> 11) as f64 / (1u64 << 53) as f64;
    if bits & 1 == 0 { size } else { -size }
}
