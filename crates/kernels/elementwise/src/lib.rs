//! Elementwise kernels, programs of them in one pass over memory, and arrays made of a rule.

pub mod create;
pub mod elementwise;
pub mod float8;
pub mod tape;
