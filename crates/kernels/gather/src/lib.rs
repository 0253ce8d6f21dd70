//! Gather, scatter and nonzero kernels.

pub mod gather;
pub mod nonzero;
pub mod scatter;
