//! Random numbers: a draw depends only on its key and shape.
//!
//! A call without a key takes one from the process-wide state (`state.rs`); inside `vmap`, batch index `i` uses row `i` of that
//! key split. MLX's functions make exactly one draw, so the same key gives the same numbers.

mod choices;
mod continuous;
mod counts;
mod families;
mod multivariate;
mod orders;
mod state;

pub use self::choices::{Replacement, Samples, bernoulli, categorical, choice, randint};
pub use self::continuous::{gumbel, laplace, normal, truncated_normal, uniform};
pub use self::counts::{binomial, geometric, multinomial, poisson};
pub use self::families::{beta, chisquare, dirichlet, exponential, f, gamma, lognormal, t, vonmises};
pub use self::multivariate::multivariate_normal;
pub use self::orders::{permutation, permuted, shuffle};
pub use self::state::{key, seed, set_state, split, state};

use umber_types::{DType, Result, Shape, ensure};

use crate::graph::Array;
use crate::primitives::random::RandomBits;

/// A key is two words of uint32.
fn check_key(op: &str, key: &Array) -> Result<()> {
    ensure!(
        key.dtype() == DType::UInt32 && key.shape()[..] == [2],
        Value(op),
        "key must have shape (2,) and dtype uint32, got shape {} and dtype {}",
        key.shape(),
        key.dtype()
    );
    Ok(())
}

/// Fail for dtypes that are not real floating-point, and for float8.
fn check_real(op: &str, dtype: DType) -> Result<()> {
    ensure!(
        dtype.is_floating() && !dtype.is_float8(),
        Value(op),
        "dtype {dtype} is not supported, expected real floating-point numbers"
    );
    Ok(())
}

/// Uint32 elements from a key.
fn bits(op: &str, key: &Array, shape: Shape) -> Result<Array> {
    check_key(op, key)?;
    Array::record_one(RandomBits { shape }, &[key])
}

/// The caller's key, or one from the state.
fn key_or_next(key: Option<&Array>) -> Result<Array> {
    match key {
        Some(key) => Ok(key.clone()),
        None => state::next_key(),
    }
}
