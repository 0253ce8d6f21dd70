//! Attention and gated delta rules.

pub mod attention;
pub mod gated_delta;
