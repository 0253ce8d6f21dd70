//! Numbers that carry a derivative, for functions whose parameters have no derivative in closed form: a series or continued
//! fraction is differentiated term by term.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number, with or without a derivative.
pub(super) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// A number with this value. The derivative is computed only where it is kept.
    fn new(value: f64, slope: impl FnOnce() -> f64) -> Self;

    /// The number itself.
    fn value(self) -> f64;

    /// Its derivative; zero where none is kept.
    fn slope(self) -> f64;

    /// `self * factor + term`, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;

    /// Whether `self` changes `sum` by no more than this relative error, in value and derivative.
    fn is_negligible(self, sum: Self, tolerance: f64) -> bool;

    /// A number that does not depend on the parameter.
    fn constant(value: f64) -> Self {
        Self::new(value, || 0.0)
    }

    fn sqrt(self) -> Self {
        let root = self.value().sqrt();
        Self::new(root, || 0.5 * self.slope() / root)
    }
}

impl Real for f64 {
    fn new(value: f64, _slope: impl FnOnce() -> f64) -> f64 {
        value
    }

    fn value(self) -> f64 {
        self
    }

    fn slope(self) -> f64 {
        0.0
    }

    fn mul_add(self, factor: f64, term: f64) -> f64 {
        f64::mul_add(self, factor, term)
    }

    fn is_negligible(self, sum: f64, tolerance: f64) -> bool {
        self.abs() <= tolerance * sum.abs()
    }
}

/// A value and its derivative.
#[derive(Clone, Copy)]
pub(super) struct Dual {
    value: f64,
    slope: f64,
}

impl Dual {
    /// The parameter itself, whose derivative is one.
    pub(super) fn parameter(value: f64) -> Dual {
        Dual { value, slope: 1.0 }
    }
}

impl Real for Dual {
    fn new(value: f64, slope: impl FnOnce() -> f64) -> Dual {
        Dual { value, slope: slope() }
    }

    fn value(self) -> f64 {
        self.value
    }

    fn slope(self) -> f64 {
        self.slope
    }

    fn mul_add(self, factor: Dual, term: Dual) -> Dual {
        Dual {
            value: self.value.mul_add(factor.value, term.value),
            slope: self.slope.mul_add(factor.value, self.value.mul_add(factor.slope, term.slope)),
        }
    }

    fn is_negligible(self, sum: Dual, tolerance: f64) -> bool {
        self.value.is_negligible(sum.value, tolerance) && self.slope.is_negligible(sum.slope, tolerance)
    }
}

impl Add for Dual {
    type Output = Dual;

    fn add(self, other: Dual) -> Dual {
        Dual { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Dual;

    fn sub(self, other: Dual) -> Dual {
        Dual { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Dual;

    fn mul(self, other: Dual) -> Dual {
        Dual {
            value: self.value * other.value,
            slope: self.slope.mul_add(other.value, self.value * other.slope),
        }
    }
}

impl Div for Dual {
    type Output = Dual;

    fn div(self, other: Dual) -> Dual {
        let value = self.value / other.value;
        Dual { value, slope: (-value).mul_add(other.slope, self.slope) / other.value }
    }
}

impl Neg for Dual {
    type Output = Dual;

    fn neg(self) -> Dual {
        Dual { value: -self.value, slope: -self.slope }
    }
}
