//! Random numbers: a draw depends on its key and shape alone.
//!
//! Without a key a function takes one from the process-wide state (`state.rs`), one for each call. Every function
//! makes exactly one draw, so the same key gives the same numbers as MLX does.

mod choices;
mod continuous;
mod orders;
mod state;

pub use self::choices::{Samples, bernoulli, categorical, randint};
pub use self::continuous::{gumbel, laplace, normal, truncated_normal, uniform};
pub use self::orders::{permutation, permuted};
pub use self::state::{key, seed, set_state, split, state};

use umber_types::{DType, Result, Shape, ensure};

use crate::graph::Array;
use crate::primitives::random::RandomBits;

/// Uint32 elements from a key.
fn bits(op: &str, key: &Array, shape: Shape) -> Result<Array> {
    ensure!(
        key.dtype() == DType::UInt32 && key.shape()[..] == [2],
        Value,
        "[{op}] got a key of shape {} and dtype {}, expected shape (2,) and dtype uint32",
        key.shape(),
        key.dtype()
    );
    Array::record_one(RandomBits { shape }, &[key])
}

/// The given key, or one from the state.
fn key_or_next(key: Option<&Array>) -> Result<Array> {
    match key {
        Some(key) => Ok(key.clone()),
        None => state::next_key(),
    }
}
