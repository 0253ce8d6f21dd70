//! Attention by blocks with online softmax: the full matrix of scores is never stored.
//!
//! M. Milakov and N. Gimelshein, Online normalizer calculation for softmax, 2018; T. Dao et al., FlashAttention, 2022. `problem`
//! defines the operands and the masking, `operand` reads them, `forward` and `backward` compute.

mod backward;
mod forward;
mod operand;
mod problem;

pub use backward::{Gradients, attention_gradient};
pub use forward::attention;
pub use problem::{AttentionInputs, AttentionOptions};
