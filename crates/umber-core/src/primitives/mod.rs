//! The primitives, one family a file: a struct and all its rules.
//!
//! Each file has the same order: the struct, `infer`, `validate`, `generalize`, `vjp`, `jvp`, `vmap`, fusion and view rules,
//! `eval_cpu`. `ops` checks and promotes the inputs before it records a primitive; for a program loaded from a file,
//! `validate` repeats the checks. Inputs of an elementwise primitive have equal shapes and dtypes.

pub mod arg_reduce;
pub mod binary;
pub mod broadcast;
pub mod callback;
pub mod cast;
pub mod checkpoint;
pub mod composite;
pub mod concatenate;
pub mod control;
pub mod control_flow;
pub mod convolution;
pub mod create;
pub mod custom;
pub mod fft;
pub mod float8;
pub mod fused;
pub mod gather;
pub mod indexed_matmul;
pub mod leaf;
pub mod linalg;
pub mod matmul;
pub(crate) mod merged_axes;
pub mod nonzero;
pub mod number_of_elements;
mod product_rules;
pub mod quantized;
pub mod random;
pub mod reduce;
pub mod region;
pub mod reshape;
pub(crate) mod rules;
pub mod scan;
pub mod scatter;
pub mod search;
pub mod segmented_matmul;
pub mod select;
pub mod slice;
pub mod slice_update;
pub mod sort;
pub mod ternary;
pub(crate) mod transfer;
pub mod transpose;
pub mod unary;
pub mod view;
