//! Samples decoded, changed and batched.

pub mod sound;
