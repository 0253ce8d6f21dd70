//! Reductions over any axes, scans, and what is computed of each row: softmax, normalisation, rotary positions.

pub mod arg_reduce;
pub mod moments;
pub mod norm;
pub mod reduce;
pub mod rope;
pub mod scan;
pub mod softmax;
