//! Attention without a matrix of all scores: blocks of them, of which only maxima and sums are kept.
//!
//! M. Milakov and N. Gimelshein, Online normalizer calculation for softmax, 2018; T. Dao et al., FlashAttention, 2022. `problem`
//! says what is computed, `operand` reads it, `forward` computes it, `backward` its derivative.

mod backward;
mod forward;
mod operand;
mod problem;

pub use backward::{Gradients, attention_gradient};
pub use forward::attention;
pub use problem::{AttentionInputs, AttentionOptions};
