//! Equilibrium: rows and columns of a matrix brought near one by powers of two, which is exact (D. Ruiz, "A scaling
//! algorithm to equilibrate both rows and columns norms in matrices", RAL-TR-2001-034).
//!
//! Pivots near the ends of a float's range have no inverse within it. The matrix brought near one has its inverse and
//! its solutions, which are brought back; and its determinant, whose products would leave the range on the way.

use num_traits::{Float, NumCast, One};

use super::Failure;
use super::batch::filled;
use super::field::{Field, are_numbers};

/// Steps of the iteration: each halves what is left of powers that have eleven binary digits.
const STEPS: usize = 11;

/// Elements looked at together.
const RUN: usize = 256;

/// By which powers of two the rows and columns of a matrix were multiplied.
#[derive(Default)]
pub(super) struct Equilibration {
    rows: Vec<i32>,
    columns: Vec<i32>,
    /// Were any?
    is_moved: bool,
}

impl Equilibration {
    /// Of a matrix of a size, left as it is.
    pub(super) fn new(rows: usize, columns: usize) -> Result<Equilibration, Failure> {
        Ok(Equilibration { rows: filled(0, rows)?, columns: filled(0, columns)?, is_moved: false })
    }

    /// Bring a matrix of numbers near one, unless it is there.
    pub(super) fn scale<T: Field>(&mut self, columns_first: &mut [T]) {
        // A run of elements is looked at whole, which vectors do; a loop that may end at any element is none.
        let is_extreme =
            |run: &[T]| run.iter().fold(false, |any, value| any | is_extreme(T::abs1_impl(value)));
        // What is infinite stays so.
        self.is_moved = columns_first.chunks(RUN).any(is_extreme) && are_numbers(columns_first);
        if !self.is_moved {
            return;
        }
        self.rows.fill(0);
        self.columns.fill(0);
        // Ruiz's iteration: rows and columns come down or up by the root of their greatest at once, so that neither takes
        // what is the other's. Powers are known before anything is multiplied, which might lose what comes back.
        let m = self.rows.len();
        for _ in 0..STEPS {
            let (mut rows, mut columns) = (vec![None; m], vec![None; self.columns.len()]);
            for (j, values) in columns_first.chunks_exact(m).enumerate() {
                for (i, value) in values.iter().enumerate() {
                    let power = exponent(*value).map(|power| power + self.rows[i] + self.columns[j]);
                    rows[i] = rows[i].max(power);
                    columns[j] = columns[j].max(power);
                }
            }
            let max = rows.iter().zip(&mut self.rows).chain(columns.iter().zip(&mut self.columns));
            max.for_each(|(max, power)| *power -= max.unwrap_or(0) / 2);
        }
        for (column, values) in self.columns.iter().zip(columns_first.chunks_exact_mut(m)) {
            values.iter_mut().zip(&self.rows).for_each(|(value, row)| scale_by_power(value, row + column));
        }
    }

    /// The inverse of the matrix as it was, from that of the one that was brought.
    pub(super) fn unscale_inverse<T: Field>(&self, columns_first: &mut [T]) {
        if self.is_moved {
            for (&row, values) in self.rows.iter().zip(columns_first.chunks_exact_mut(self.columns.len())) {
                let values = values.iter_mut().zip(&self.columns);
                values.for_each(|(value, &column)| scale_by_power(value, row + column));
            }
        }
    }

    /// Solutions for the matrix as it was: its right sides as `solve` answers them for the one that was brought.
    pub(super) fn solve_scaled<T: Field>(&self, columns_first: &mut [T], solve: impl FnOnce(&mut [T])) {
        if !self.is_moved {
            return solve(columns_first);
        }
        let size = self.rows.len();
        // Right sides that would leave the range come down together, as far as they have to.
        let scratch = bound::<T::Magnitude>() / 2;
        let excess = |values: &[T]| {
            let powers =
                values.iter().zip(&self.rows).filter_map(|(value, row)| Some(exponent(*value)? + row));
            powers.max().map_or(0, |most| (most - scratch).max(0))
        };
        let excesses: Vec<i32> = columns_first.chunks_exact(size).map(excess).collect();
        for (values, excess) in columns_first.chunks_exact_mut(size).zip(&excesses) {
            values.iter_mut().zip(&self.rows).for_each(|(value, row)| scale_by_power(value, row - excess));
        }
        solve(columns_first);
        for (values, excess) in columns_first.chunks_exact_mut(size).zip(&excesses) {
            values
                .iter_mut()
                .zip(&self.columns)
                .for_each(|(value, column)| scale_by_power(value, column + excess));
        }
    }

    /// The determinant of the matrix as it was.
    pub(super) fn unscale_determinant<T: Field>(&self, mut determinant: T) -> T {
        scale_by_power(&mut determinant, -self.power());
        determinant
    }

    /// What is to be added to the logarithm of the determinant's size.
    pub(super) fn log_determinant<M: Float>(&self) -> M {
        let power = <M as NumCast>::from(-self.power()).unwrap_or_else(M::zero);
        power * <M as NumCast>::from(std::f64::consts::LN_2).unwrap_or_else(M::zero)
    }

    /// By which power of two the determinant was multiplied.
    fn power(&self) -> i32 {
        if self.is_moved { self.rows.iter().chain(&self.columns).sum() } else { 0 }
    }
}

/// The greatest power of two of which the inverse is a normal number as well.
fn bound<M: Float>() -> i32 {
    M::max_value().log2().to_i32().unwrap_or(0) - 2
}

/// Magnitudes between which neither the product of two numbers nor an inverse leaves the range.
pub(super) fn safe_range<M: Float>() -> [M; 2] {
    [M::min_positive_value().sqrt(), M::max_value().sqrt()]
}

/// Is this not zero, and beyond what is [`safe_range`]?
fn is_extreme<M: Float>(magnitude: M) -> bool {
    let [low, high] = safe_range::<M>();
    magnitude > high || (magnitude < low && magnitude != M::zero())
}

/// The power of two next below a number; none for zero.
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
