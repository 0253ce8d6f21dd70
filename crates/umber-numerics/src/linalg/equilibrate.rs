//! Equilibration: scale the rows and columns of a matrix so that their norms are close to one, by powers of two, which is
//! exact (D. Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices", RAL-TR-2001-034).
//!
//! Pivots near the limits of a float's range have no representable inverse. The equilibrated matrix has an inverse, solutions
//! and a determinant without intermediate overflow or underflow, from which those of the original matrix are recovered.

use num_traits::{Float, NumCast, One};

use super::Failure;
use super::batch::filled;
use super::field::{Field, all_finite};

/// Iterations: each halves the remaining exponents, which have at most eleven bits.
const STEPS: usize = 11;

/// Elements checked at a time.
const RUN: usize = 256;

/// The exponents of the powers of two by which the rows and columns of a matrix were multiplied.
#[derive(Default)]
pub(super) struct Equilibration {
    rows: Vec<i32>,
    columns: Vec<i32>,
    /// Whether any scaling was applied.
    is_scaled: bool,
}

impl Equilibration {
    /// For matrices of a size, without scaling.
    pub(super) fn new(rows: usize, columns: usize) -> Result<Equilibration, Failure> {
        Ok(Equilibration { rows: filled(0, rows)?, columns: filled(0, columns)?, is_scaled: false })
    }

    /// Scale a matrix, unless its elements are within the safe range already.
    pub(super) fn scale<T: Field>(&mut self, column_major: &mut [T]) {
        // Without an early exit within a run, so that the loop is vectorised.
        let is_extreme =
            |run: &[T]| run.iter().fold(false, |any, value| any | is_extreme(T::abs1_impl(value)));
        // Matrices with infinities or NaN are not scaled.
        self.is_scaled = column_major.chunks(RUN).any(is_extreme) && all_finite(column_major);
        if !self.is_scaled {
            return;
        }
        self.rows.fill(0);
        self.columns.fill(0);
        // Ruiz's iteration: rows and columns are scaled simultaneously by the square root of their maximum, so that neither
        // takes precedence. All exponents are determined before the matrix is scaled, since intermediate scalings might
        // underflow.
        let m = self.rows.len();
        for _ in 0..STEPS {
            let (mut rows, mut columns) = (vec![None; m], vec![None; self.columns.len()]);
            for (j, values) in column_major.chunks_exact(m).enumerate() {
                for (i, value) in values.iter().enumerate() {
                    let power = exponent(*value).map(|power| power + self.rows[i] + self.columns[j]);
                    rows[i] = rows[i].max(power);
                    columns[j] = columns[j].max(power);
                }
            }
            let max = rows.iter().zip(&mut self.rows).chain(columns.iter().zip(&mut self.columns));
            max.for_each(|(max, power)| *power -= max.unwrap_or(0) / 2);
        }
        for (column, values) in self.columns.iter().zip(column_major.chunks_exact_mut(m)) {
            values.iter_mut().zip(&self.rows).for_each(|(value, row)| scale_by_power(value, row + column));
        }
    }

    /// Convert the inverse of the scaled matrix to that of the original matrix.
    pub(super) fn unscale_inverse<T: Field>(&self, column_major: &mut [T]) {
        if self.is_scaled {
            for (&row, values) in self.rows.iter().zip(column_major.chunks_exact_mut(self.columns.len())) {
                let values = values.iter_mut().zip(&self.columns);
                values.for_each(|(value, &column)| scale_by_power(value, row + column));
            }
        }
    }

    /// Solve systems with the original matrix: scale the right sides, call `solve` for the scaled matrix, and unscale the
    /// solutions.
    pub(super) fn solve_scaled<T: Field>(&self, column_major: &mut [T], solve: impl FnOnce(&mut [T])) {
        if !self.is_scaled {
            return solve(column_major);
        }
        let size = self.rows.len();
        // Right sides that would overflow are additionally scaled down, one exponent per column.
        let limit = bound::<T::Magnitude>() / 2;
        let excess = |values: &[T]| {
            let powers =
                values.iter().zip(&self.rows).filter_map(|(value, row)| Some(exponent(*value)? + row));
            powers.max().map_or(0, |max| (max - limit).max(0))
        };
        let excesses: Vec<i32> = column_major.chunks_exact(size).map(excess).collect();
        for (values, excess) in column_major.chunks_exact_mut(size).zip(&excesses) {
            values.iter_mut().zip(&self.rows).for_each(|(value, row)| scale_by_power(value, row - excess));
        }
        solve(column_major);
        for (values, excess) in column_major.chunks_exact_mut(size).zip(&excesses) {
            values
                .iter_mut()
                .zip(&self.columns)
                .for_each(|(value, column)| scale_by_power(value, column + excess));
        }
    }

    /// Convert the determinant of the scaled matrix to that of the original one.
    pub(super) fn unscale_determinant<T: Field>(&self, mut determinant: T) -> T {
        scale_by_power(&mut determinant, -self.power());
        determinant
    }

    /// The logarithm to add to that of the scaled determinant's magnitude.
    pub(super) fn log_determinant<M: Float>(&self) -> M {
        let power = <M as NumCast>::from(-self.power()).unwrap_or_else(M::zero);
        power * <M as NumCast>::from(std::f64::consts::LN_2).unwrap_or_else(M::zero)
    }

    /// The exponent of the power of two that multiplied the determinant.
    fn power(&self) -> i32 {
        if self.is_scaled { self.rows.iter().chain(&self.columns).sum() } else { 0 }
    }
}

/// The maximum exponent of a power of two whose inverse is also a normal number.
fn bound<M: Float>() -> i32 {
    M::max_value().log2().to_i32().unwrap_or(0) - 2
}

/// Bounds between which products of two magnitudes and inverses stay in range.
pub(super) fn safe_range<M: Float>() -> [M; 2] {
    [M::min_positive_value().sqrt(), M::max_value().sqrt()]
}

/// Whether a magnitude is nonzero and outside [`safe_range`].
fn is_extreme<M: Float>(magnitude: M) -> bool {
    let [low, high] = safe_range::<M>();
    magnitude > high || (magnitude < low && magnitude != M::zero())
}

/// The exponent of the largest power of two that is at most the magnitude; `None` for zero.
fn exponent<T: Field>(value: T) -> Option<i32> {
    let size = Float::min(T::abs1_impl(&value), T::Magnitude::max_value());
    let (mantissa, power, _) = Float::integer_decode(size);
    (mantissa != 0).then(|| <i32 as From<i16>>::from(power) + 63 - mantissa.leading_zeros() as i32)
}

/// Multiply by a power of two that may itself be out of range.
fn scale_by_power<T: Field>(value: &mut T, mut power: i32) {
    let two = T::Magnitude::one() + T::Magnitude::one();
    while power != 0 {
        let step = power.clamp(-bound::<T::Magnitude>(), bound::<T::Magnitude>());
        *value *= T::of_real(Float::powi(two, step));
        power -= step;
    }
}
