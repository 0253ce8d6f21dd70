//! What a program cannot reach through this crate: each of these does not compile.
//!
//! Memory, kernels and recorded operations trust what they are given. So a program that may not use `unsafe` must not be able to
//! give them anything.
//!
//! ```compile_fail,E0432
//! use umber::graph::Storage;
//! ```
//!
//! ```compile_fail,E0432
//! use umber::kernels::View;
//! ```
//!
//! ```compile_fail,E0432
//! use umber::memory::Buffer;
//! ```
//!
//! ```compile_fail,E0432
//! use umber::backend::Backend;
//! ```
//!
//! ```compile_fail,E0432
//! use umber::ArrayInternals;
//! ```
//!
//! Neither memory nor the graph can be had from an array:
//!
//! ```compile_fail,E0624
//! let _ = umber::Array::from(1.0f32).storage();
//! ```
//!
//! ```compile_fail,E0624
//! let _ = umber::Array::from(1.0f32).view();
//! ```
//!
//! ```compile_fail,E0624
//! let _ = umber::Array::from(1.0f32).node();
//! ```
//!
//! A type is an element only if its author promises that its bytes are one:
//!
//! ```compile_fail,E0200
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Wide([u64; 8]);
//! impl umber::Element for Wide {
//!     const DTYPE: umber::DType = umber::DType::UInt8;
//! }
//! ```
