//! Expm: the exponential of square matrices, by scaling and squaring.
//!
//! N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl.
//! 26 (2005): Padé's approximant of order 13 in double, of order 7 in single precision.

use faer::linalg::lu::partial_pivoting::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::Float;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::{Field, are_numbers, nan};
use super::lu::Factors;
use umber_kernels::{View, ViewMut};

/// Coefficients of the approximants, and the norms up to which they are exact to rounding.
const DOUBLE: ([f64; 14], f64) = (
    [
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
    ],
    5.371920351148152,
);
const SINGLE: ([f64; 8], f64) =
    ([17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0], 3.925724783138660);

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
    each(
        from.count(),
        cost(n, n, n).saturating_mul(10),
        || Scratch::<T>::new(n),
        |index, scratch| {
            from.load(index, &mut scratch.a);
            if are_numbers(&scratch.a) {
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
        let room = || filled(T::zero(), n * n);
        Ok(Scratch {
            n,
            a: room()?,
            powers: [room()?, room()?, room()?],
            odd: room()?,
            even: room()?,
            x: room()?,
            factors: Factors::new(n, n)?,
            workspace: Workspace::new(solve_in_place_scratch::<usize, T>(n, n, Par::Seq))?,
        })
    }

    fn exponentiate(&mut self) {
        let n = self.n;
        let columns = self.a.chunks_exact(n.max(1));
        let norm = columns
            .map(|column| column.iter().fold(0.0, |sum, element| sum + to_double::<T>(element.magnitude())))
            .fold(0.0, f64::max);
        let is_double = T::Magnitude::epsilon() < of_double::<T>(1e-10).real_part();
        let (coefficients, bound): (&[f64], f64) =
            if is_double { (&DOUBLE.0, DOUBLE.1) } else { (&SINGLE.0, SINGLE.1) };
        let squarings = if norm > bound { (norm / bound).log2().ceil().min(4096.0) as i32 } else { 0 };
        let scale = of_double::<T>(0.5);
        for _ in 0..squarings {
            self.a.iter_mut().for_each(|element| *element *= scale);
        }
        self.approximate(coefficients);
        for _ in 0..squarings {
            multiply(n, &self.x, &self.x, &mut self.even);
            std::mem::swap(&mut self.x, &mut self.even);
        }
    }

    /// `x`: the approximant with these coefficients at `a`.
    fn approximate(&mut self, coefficients: &[f64]) {
        let n = self.n;
        let [second, fourth, sixth] = &mut self.powers;
        multiply(n, &self.a, &self.a, second);
        multiply(n, second, second, fourth);
        multiply(n, second, fourth, sixth);
        let powers = [&*second, &*fourth, &*sixth];
        if coefficients.len() > 8 {
            combine(n, &mut self.x, T::zero(), &powers, [9, 11, 13].map(|i| of_double(coefficients[i])));
            multiply(n, sixth, &self.x, &mut self.odd);
            combine(n, &mut self.x, T::zero(), &powers, [8, 10, 12].map(|i| of_double(coefficients[i])));
            multiply(n, sixth, &self.x, &mut self.even);
        } else {
            self.odd.fill(T::zero());
            self.even.fill(T::zero());
        }
        let low = [1, 0].map(|i| of_double::<T>(coefficients[i]));
        combine(n, &mut self.x, low[0], &powers, [3, 5, 7].map(|i| of_double(coefficients[i])));
        for (x, &odd) in self.x.iter_mut().zip(&self.odd) {
            *x += odd;
        }
        multiply(n, &self.a, &self.x, &mut self.odd);
        combine(n, &mut self.x, low[1], &powers, [2, 4, 6].map(|i| of_double(coefficients[i])));
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

fn of_double<T: Field>(value: f64) -> T {
    T::of_real(num_traits::cast(value).unwrap_or_else(T::Magnitude::nan))
}

fn to_double<T: Field>(value: T::Magnitude) -> f64 {
    num_traits::cast(value).unwrap_or(f64::NAN)
}

/// `out = constant I + sum of factors times powers`.
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
