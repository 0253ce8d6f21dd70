//! The element types of matrices.

use std::ops::Neg;

use faer::traits::{ComplexField, RealField};
use num_traits::{Float, NumAssign};
use umber_types::{Complex, Element};

use super::batched_solve::{self, Systems};
use super::tridiagonal::{self, Tridiagonal};

/// A real or complex number, with faer's operations and some that its traits lack.
pub(super) trait Field:
    Element + ComplexField<Real = Self::Magnitude> + NumAssign + Neg<Output = Self>
{
    /// The real type of the same precision.
    type Magnitude: Field<Magnitude = Self::Magnitude> + RealField + Float;

    /// The complex conjugate.
    fn conjugate(self) -> Self;
    /// The absolute value.
    fn magnitude(self) -> Self::Magnitude;
    /// The real part.
    fn real_part(self) -> Self::Magnitude;
    /// The number with this real part and no imaginary part.
    fn of_real(value: Self::Magnitude) -> Self;
    /// Its exponential.
    fn exponential(self) -> Self;
    /// Divide by a real number, component by component: a complex division would square the divisor, which may overflow or
    /// underflow.
    fn divided_by(self, divisor: Self::Magnitude) -> Self;
    /// Whether it is neither infinite nor NaN.
    fn is_finite_number(self) -> bool;
    /// See [`batched_solve::solve`]; returns `None` for complex systems.
    fn solve_batched(systems: &Systems<'_, Self>) -> Option<Vec<usize>>;
    /// Reduce the matrix of a [`Tridiagonal`], and store the scalar of each reflection in the first row of the factors.
    /// Returns false, and leaves the matrix unchanged, if there are no vectors for this type.
    fn tridiagonalize(scratch: &mut Tridiagonal<Self>) -> bool;
}

macro_rules! real_fields {
    ($($ty:ty),*) => {$(
        impl Field for $ty {
            type Magnitude = $ty;

            fn conjugate(self) -> Self {
                self
            }
            fn magnitude(self) -> $ty {
                Float::abs(self)
            }
            fn real_part(self) -> $ty {
                self
            }
            fn of_real(value: $ty) -> Self {
                value
            }
            fn divided_by(self, divisor: $ty) -> Self {
                self / divisor
            }
            fn exponential(self) -> Self {
                Float::exp(self)
            }
            fn is_finite_number(self) -> bool {
                Float::is_finite(self)
            }
            fn solve_batched(systems: &Systems<'_, $ty>) -> Option<Vec<usize>> {
                batched_solve::solve(systems)
            }
            fn tridiagonalize(scratch: &mut Tridiagonal<$ty>) -> bool {
                tridiagonal::tridiagonalize(scratch)
            }
        }

        impl Field for Complex<$ty> {
            type Magnitude = $ty;

            fn conjugate(self) -> Self {
                Complex::new(self.re, -self.im)
            }
            fn magnitude(self) -> $ty {
                Float::hypot(self.re, self.im)
            }
            fn real_part(self) -> $ty {
                self.re
            }
            fn of_real(value: $ty) -> Self {
                Complex::new(value, 0.0)
            }
            fn divided_by(self, divisor: $ty) -> Self {
                Complex::new(self.re / divisor, self.im / divisor)
            }
            fn exponential(self) -> Self {
                let (size, (sine, cosine)) = (Float::exp(self.re), Float::sin_cos(self.im));
                Complex::new(size * cosine, size * sine)
            }
            fn is_finite_number(self) -> bool {
                Float::is_finite(self.re) && Float::is_finite(self.im)
            }
            fn solve_batched(_: &Systems<'_, Self>) -> Option<Vec<usize>> {
                None
            }
            fn tridiagonalize(_: &mut Tridiagonal<Self>) -> bool {
                false
            }
        }
    )*};
}

real_fields!(f32, f64);

/// Whether all values are finite.
pub(super) fn all_finite<T: Field>(values: &[T]) -> bool {
    values.iter().all(|value| value.is_finite_number())
}

/// Scale values whose squares would overflow or underflow close to one by a power of two, which is exact. Returns the factor
/// that undoes the scaling.
pub(super) fn scale_to_unit<T: Field>(values: &mut [T]) -> T::Magnitude {
    let max = values.iter().fold(num_traits::zero(), |max: T::Magnitude, value| {
        Float::max(max, Float::min(value.magnitude(), T::Magnitude::max_value()))
    });
    let root = |bound: T::Magnitude| Float::sqrt(Float::sqrt(bound));
    let is_extreme =
        max > root(T::Magnitude::max_value()) || max < root(<T::Magnitude as Float>::min_positive_value());
    if !is_extreme || max == num_traits::zero() {
        return num_traits::one();
    }
    let power = nearest_power_of_two(max);
    let inverse = T::of_real(Float::recip(power));
    for value in values.iter_mut() {
        *value *= inverse;
    }
    power
}

/// A power of two near a positive number, such that it and its inverse are normal numbers.
pub(super) fn nearest_power_of_two<R: Float>(number: R) -> R {
    let bound = R::max_value().log2().to_i32().unwrap_or(0) - 2;
    let exponent = number.log2().to_i32().unwrap_or(0).clamp(-bound, bound);
    (R::one() + R::one()).powi(exponent)
}

/// NaN.
pub(super) fn nan<T: Field>() -> T {
    T::of_real(T::Magnitude::nan())
}
