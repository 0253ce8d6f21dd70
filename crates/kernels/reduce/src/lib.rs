//! Reductions over any axes, scans, and row-wise operations: softmax, normalisation, rotary position embeddings.

pub mod arg_reduce;
pub mod moments;
pub mod norm;
pub mod reduce;
pub mod rope;
pub mod scan;
pub mod softmax;
