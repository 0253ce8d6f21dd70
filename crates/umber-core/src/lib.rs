//! The framework. Lazy arrays, primitives with all their rules, transforms, evaluation on the CPU.
//!
//! Imports `umber-types`, `umber-kernels` and `umber-numerics`.
//!
//! Read in this order: [`graph`] (arrays and their graph), [`primitive`] (the trait of an operation), [`primitives`]
//! (its implementations), [`ops`] (the functions users call), [`runtime`] (how graphs run), [`transforms`]
//! (how graphs are rewritten).

// Every match lists all variants, so that a new primitive, kind or dtype is a compile error where it needs a decision.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod apply;
pub mod backend;
pub mod compile;
pub mod device;
pub mod eager;

pub mod export;
pub mod frontend;
pub mod generalization;
pub mod graph;
pub mod memory;
pub mod observer;
pub mod op;
pub mod ops;
mod passes;
mod plan;
pub mod primitive;
pub mod primitives;
pub mod runtime;
mod source_line;
pub mod transforms;
pub mod validation;

pub use graph::{Array, ArraySpec};
pub use runtime::{async_eval, eval, synchronize};
pub use umber_types as types;
pub use umber_types::{
    Axes, DType, Device, DeviceType, Error, KeepAxes, Layout, Result, Scalar, Shape, Stream,
};
