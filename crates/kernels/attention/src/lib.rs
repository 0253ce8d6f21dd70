//! Attention and the gated delta rule.

pub mod attention;
pub mod gated_delta;
