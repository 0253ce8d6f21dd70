//! Branch-free mathematical functions, so that loops over them vectorise.
//!
//! float32 functions are within 1.6 ulp, sigmoid within 2; those computed in f64 (tan, asinh, acosh, atanh,
//! power, atan2, logaddexp) within 1. The vectorised float64 functions are within 2 ulp (erfinv 3), the
//! others are the system's or libm's. `docs/usage/accuracy.md` has the measurements. All follow IEEE 754 for infinities,
//! NaN, signed zeros and subnormals. Polynomials were fitted for these reductions with 50 digits (minimax, coefficients
//! rounded one by one, lowest first).

pub mod bessel;
pub mod beta;
pub mod complex;
mod dual;
pub mod entropy;
pub mod error_function;
pub mod exponential_integral;
pub mod float32;
pub mod float64;
pub mod gamma;
pub mod incomplete_beta;
pub mod incomplete_gamma;
pub mod integer;
pub mod inverse_incomplete_gamma;
