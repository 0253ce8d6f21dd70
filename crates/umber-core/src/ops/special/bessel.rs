//! Bessel functions of orders zero and one (DLMF 10).

use umber_types::{Result, UnaryKind};

use super::{example, unary, unary_functions};
use crate::graph::Array;

unary_functions! {
    /// Bessel function of the first kind and order zero of each element.
    j0 J0: [0.0, f64::INFINITY] => [1.0, 0.0],
    /// Bessel function of the first kind and order one of each element.
    j1 J1: [0.0, f64::INFINITY] => [0.0, 0.0],
    /// Bessel function of the second kind and order zero of each element; NaN below zero.
    y0 Y0: [0.0, f64::INFINITY] => [f64::NEG_INFINITY, 0.0],
    /// Bessel function of the second kind and order one of each element; NaN below zero.
    y1 Y1: [0.0, f64::INFINITY] => [f64::NEG_INFINITY, 0.0],
    /// Modified Bessel function of the second kind and order zero of each element; NaN below zero.
    k0 K0: [0.0, f64::INFINITY] => [f64::INFINITY, 0.0],
    /// Scaled modified Bessel function of the second kind and order zero: `exp(x) * k0(x)`.
    k0e K0e: [0.0, f64::INFINITY] => [f64::INFINITY, 0.0],
    /// Modified Bessel function of the second kind and order one of each element; NaN below zero.
    k1 K1: [0.0, f64::INFINITY] => [f64::INFINITY, 0.0],
    /// Scaled modified Bessel function of the second kind and order one: `exp(x) * k1(x)`.
    k1e K1e: [0.0, f64::INFINITY] => [f64::INFINITY, 0.0],
}
