//! Lazy, differentiable arrays that share memory.
//!
//! An [`Array`] records operations and computes when its value is read. Elementwise chains become one kernel by
//! themselves; [`transforms`] turn functions into their gradients, Jacobian products and batched forms.
//!
//! ```
//! use umber::{Array, ops};
//!
//! let x = Array::from_slice(&[0.0f32, 1.0, 2.0], [3])?;
//! let y = ops::exp(&(&x * 2.0))?; // recorded, not computed
//! assert_eq!(y.to_vec::<f32>()?[0], 1.0); // computed here, as one kernel
//! # Ok::<(), umber::Error>(())
//! ```

pub use umber_core::{
    Array, ArraySpec, Axes, DType, Device, DeviceType, Error, KeepAxes, Layout, Result, Scalar, Shape,
    Stream, compile, device, eval, graph, memory, ops, transforms,
};
pub use umber_io as io;
pub use umber_kernels as kernels;
pub use umber_types as types;
