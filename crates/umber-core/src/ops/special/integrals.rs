//! Exponential integrals and the dilogarithm (DLMF 6, 8.19, 25.12).

use umber_types::{BinaryKind, Result, UnaryKind};

use super::{binary, binary_functions, example, unary, unary_functions};
use crate::graph::Array;

unary_functions! {
    /// Exponential integral Ei of each element: principal value of the integral of `exp(t) / t` to `x`.
    expi Expi: [0.0, f64::INFINITY] => [f64::NEG_INFINITY, f64::INFINITY],
    /// Exponential integral E1 of each element: the integral of `exp(-t) / t` from `x` to infinity.
    exp1 Exp1: [0.0, f64::INFINITY] => [f64::INFINITY, 0.0],
    /// Dilogarithm of `1 - x`: the integral of `log(t) / (1 - t)` from 1 to `x`.
    spence Spence: [1.0, 0.0] => [0.0, std::f64::consts::PI.powi(2) / 6.0],
}

binary_functions! {
    /// Generalised exponential integral of `x`, of whole order `n`.
    expn(n, x) Expn: [2.0, 3.0], [0.0, 0.0] => [1.0, 0.5],
}
