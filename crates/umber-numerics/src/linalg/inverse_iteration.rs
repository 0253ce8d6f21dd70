//! Inverse iteration: an eigenvector of an eigenvalue that is known.
//!
//! From a triangular form of a matrix, eigenvectors are substituted backwards. Where eigenvalues of a matrix meet that is not
//! normal, elements grow by the inverse of the precision from one place to the next, and soon leave the range of any dtype. One
//! step of inverse iteration needs no triangular form, and what grows in it is scaled on the way: Ipsen, "Computing an eigenvector
//! with inverse iteration" (SIAM Review 39, 1997). More steps than one may lead away from the eigenvectors of such matrices.

use num_complex::Complex64;
use num_traits::Zero;

use super::Failure;
use super::batch::filled;

/// Elements above this are brought down.
const LARGE: f64 = 1e100;
/// Starts from which a vector is looked for.
const STARTS: u64 = 5;

/// A matrix `q @ h @ q.H` whose `h` has nothing below the diagonal next to its own.
pub(super) struct Hessenberg {
    n: usize,
    /// Row by row.
    h: Vec<Complex64>,
    /// Column by column.
    q: Vec<Complex64>,
    /// The greatest magnitude in `h`.
    norm: f64,
    /// Room for an upper triangle, and for the vector that it is solved for.
    upper: Vec<Complex64>,
    vector: Vec<Complex64>,
}

impl Hessenberg {
    /// That of a matrix of finite elements, given column by column, by reflections.
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
                let part: Complex64 = v.iter().zip(&*column).map(|(v, x)| v.conj() * x).sum();
                column.iter_mut().zip(&*v).for_each(|(x, v)| *x -= v * part * 2.0);
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

    /// A vector of length one that the matrix changes into `value` times itself, up to about `precision` times the size of the
    /// matrix. Others with the same value are likely to come from other `seed`s; real matrices and values have real vectors.
    pub(super) fn eigenvector(
        &mut self,
        value: Complex64,
        seed: usize,
        precision: f64,
        out: &mut [Complex64],
    ) {
        let enough = 10.0 * self.n as f64 * precision * self.norm;
        let mut best = f64::INFINITY;
        for start in 0..STARTS {
            let fault = self.step(value, seed as u64 * STARTS + start);
            if fault < best {
                best = fault;
                out.fill(Complex64::zero());
                for (column, x) in self.q.chunks_exact(self.n).zip(&self.vector) {
                    out.iter_mut().zip(column).for_each(|(out, q)| *out += q * x);
                }
            }
            if best <= enough {
                break;
            }
        }
    }

    /// Solve for a vector, `h` less `value` on its diagonal times it being a start; answers how far it is from an eigenvector.
    fn step(&mut self, value: Complex64, start: u64) -> f64 {
        let Hessenberg { n, ref h, norm: size, ref mut upper, vector: ref mut x, .. } = *self;
        upper.copy_from_slice(h);
        upper.iter_mut().step_by(n + 1).for_each(|element| *element -= value);
        // Starts are far apart in the sequence of numbers.
        let mut numbers = start << 32;
        for element in x.iter_mut() {
            *element = random(&mut numbers).into();
        }
        let mut fault = norm(x);
        // What cannot be told from zero.
        let threshold = (f64::EPSILON * size).max(f64::MIN_POSITIVE / f64::EPSILON);
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
            let known: Complex64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(row, x)| row * x).sum();
            x[i] = (x[i] - known) / pivot(row[i]);
            let large = x[i].norm();
            if large > LARGE {
                for element in x.iter_mut() {
                    *element /= large;
                }
                fault /= large;
            }
        }
        let length = norm(x);
        for element in x.iter_mut() {
            *element /= length;
        }
        fault / length
    }
}

/// The length of a vector.
fn norm(vector: &[Complex64]) -> f64 {
    let max = vector.iter().fold(0.0f64, |max, element| max.max(element.norm()));
    if max == 0.0 {
        return 0.0;
    }
    max * vector.iter().map(|element| (element / max).norm_sqr()).sum::<f64>().sqrt()
}

/// A number from -1.5 to -0.5 or from 0.5 to 1.5: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    let size = 0.5 + (bits >> 11) as f64 / (1u64 << 53) as f64;
    if bits & 1 == 0 { size } else { -size }
}
