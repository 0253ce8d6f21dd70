//! Items that are not reachable through this crate: none of these examples compiles.
//!
//! Memory, kernels and recorded operations do not check their inputs. A program without `unsafe` must therefore not be able to
//! create such inputs itself.
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
//! An array gives no access to its memory or to the graph:
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
//! To implement `Element` is unsafe: the author promises that the bytes of the type are an element of the dtype.
//!
//! ```compile_fail,E0200
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Wide([u64; 8]);
//! impl umber::Element for Wide {
//!     const DTYPE: umber::DType = umber::DType::UInt8;
//! }
//! ```
