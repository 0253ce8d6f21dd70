//! Elementwise kernels, fused elementwise programs, array creation and float8 conversion.

pub mod create;
pub mod elementwise;
pub mod float8;
pub mod tape;
