//! Lazy, differentiable arrays that share memory.
//!
//! An [`Array`] records operations and is computed when its value is read. Chains of elementwise operations are fused into one
//! kernel; [`transforms`] turn functions into their gradients, Jacobian products and batched versions.
//!
//! ```
//! use umber::Array;
//!
//! let x = Array::from([0.0f32, 1.0, 2.0]);
//! let y = (&x * 2.0).exp()?; // recorded, not computed
//! assert_eq!(y.to_vec::<f32>()?[0], 1.0); // computed here, as one kernel
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Arrays from Rust values
//!
//! The Rust type determines the [`DType`], and nested Rust arrays become axes. [`Array::from_nested`] takes nested vectors, whose
//! lengths may disagree, [`Array::from_slice`] a shape; [`ops::creation`] and [`ops::random`] create arrays from parameters. A shape
//! is a number, array, slice, tuple or vector.
//!
//! ```
//! use umber::{Array, DType, Shape, ops};
//!
//! let matrix = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
//! let mask = Array::from(vec![true, false]);
//! let squares: Array = (0..5).map(|i| i * i).collect();
//! let grid = Array::from_slice(&[1u8, 2, 3, 4, 5, 6], [2, 3])?;
//! let zeros = ops::zeros(grid.shape(), DType::BFloat16);
//! assert_eq!((grid.shape(), mask.dtype()), (&Shape::from([2, 3]), DType::Bool));
//! assert_eq!(zeros.dtype(), DType::BFloat16);
//! assert_eq!(squares.to_string(), "array([0, 1, 4, 9, 16], dtype=int32)");
//! assert_eq!(matrix.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! Arrays implement serde's traits: dtype, shape and bytes. The feature `ndarray` adds conversions from and to the arrays of that
//! crate.
//!
//! # Operators, methods and functions
//!
//! [`ops`] contains the functions, by group; the common ones are methods of [`Array`], too. Dtypes are promoted and shapes
//! broadcast, as in NumPy; a scalar operand takes the dtype of the array. Operators are the same functions, but they panic where
//! the functions return an error. A literal on the left has a suffix (`1f64 - &x`) where the result is used within the same
//! expression: Rust does not know its type otherwise.
//!
//! Methods take axes as `..` for all, a number, an array, slice, tuple or vector; [`keep`] keeps reduced axes with length one.
//!
//! ```
//! use umber::{Array, DType, KeepAxes, keep, ops};
//!
//! let x = Array::from([[1.0f32, 2.0], [3.0, 5.0]]);
//! let centred = &x - x.mean(keep(1))?; // (2, 2) - (2, 1)
//! assert_eq!(centred.to_vec::<f32>()?, [-0.5, 0.5, -1.0, 1.0]);
//! assert!(x.mean(keep(1))?.equals(&ops::mean(&x, Some(&[1]), KeepAxes::Yes)?)?); // the same as a function
//! assert_eq!(x.clip(2, 4)?.reshape([4])?.max(..)?.item()?.as_f64(), 4.0);
//! assert_eq!((Array::from([1u8]) + 1).dtype(), DType::UInt8);
//! assert_eq!((Array::from([1u8]) / 2).dtype(), DType::Float32);
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Comparisons
//!
//! Arrays do not implement `PartialEq`, since a comparison evaluates and may fail: [`Array::equals`] compares two arrays, and
//! methods such as [`Array::less`] compare the elements. Tests use [`assert_array_eq!`] and [`assert_allclose!`].
//!
//! ```
//! use umber::{Array, assert_allclose, assert_array_eq};
//!
//! let x = Array::from([1.0f32, 2.0, 3.0]);
//! assert_array_eq!(x.less(2.5)?, [true, true, false]);
//! assert_allclose!(x.mean(..)?, 2.0f32);
//! assert!((&x + 1).equals(&Array::from([2, 3, 4]))?); // dtypes are promoted
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Lazy evaluation
//!
//! Operations only record a graph. [`Array::to_vec`], [`Array::item`] and printing compute what they need;
//! [`eval`] computes several arrays together, [`async_eval`] in the background.
//!
//! ```
//! use umber::{Array, eval};
//!
//! let x = Array::from([1.0f32, 2.0]);
//! let (sum, product) = (&x + &x, &x * &x);
//! assert!(!sum.is_evaluated());
//! eval(&[sum.clone(), product.clone()])?;
//! assert!(sum.is_evaluated() && product.is_evaluated());
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Indexing
//!
//! [`s!`] builds an index as Python does: numbers, ranges, ranges with a step, `...`, `NewAxis`, index arrays, masks.
//! Arrays are immutable: [`Array::set`] replaces the array in the variable by an updated one. [`Array::rows`] and `for` loops
//! iterate over the first axis.
//!
//! ```
//! use umber::{Array, s};
//!
//! let mut a = Array::from([[1, 2, 3], [4, 5, 6]]);
//! assert_eq!(a.get(s![-1, ..2])?.to_vec::<i32>()?, [4, 5]);
//! assert_eq!(a.get(s![.., ..; -1])?.to_vec::<i32>()?, [3, 2, 1, 6, 5, 4]);
//! let is_even = (&a % 2).equal(0)?;
//! assert_eq!(a.get(s![&is_even])?.to_vec::<i32>()?, [2, 4, 6]);
//! a.set(s![&is_even], 0)?;
//! assert_eq!(a.to_vec::<i32>()?, [1, 0, 3, 0, 5, 0]);
//! for row in &a {
//!     assert_eq!(row.size(), 3);
//! }
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Gradients, batches, compiled functions
//!
//! [`transforms`] and [`compile`] take functions of arrays and return functions of arrays; they can be nested in any order.
//!
//! ```
//! use umber::compile::compile;
//! use umber::transforms::{grad, value_and_grad, vmap};
//! use umber::{Array, Result};
//!
//! let cube = |x: &Array| Ok(x * x * x);
//! let slope = grad(cube);
//! assert_eq!(slope(&Array::from(2.0f32))?.item()?.as_f64(), 12.0);
//! assert_eq!(grad(slope)(&Array::from(2.0f32))?.item()?.as_f64(), 12.0); // the second derivative, 6 x
//!
//! let loss = |inputs: &[Array]| -> Result<Array> { (&inputs[0] - &inputs[1]).square()?.sum(..) };
//! let (weights, target) = (Array::from([1.0f32, 2.0]), Array::from([0.0f32, 0.0]));
//! let (value, gradients) = value_and_grad(loss, &[0])(&[weights, target])?;
//! assert_eq!(value.item()?.as_f64(), 5.0);
//! assert_eq!(gradients[0].to_vec::<f32>()?, [2.0, 4.0]);
//!
//! // The dot product of two vectors, mapped over the rows of a matrix and traced once.
//! let dot = |inputs: &[Array]| Ok(vec![inputs[0].inner(&inputs[1])?]);
//! let dots = compile(vmap(dot, &[Some(0), None], &[Some(0)]));
//! let rows = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
//! assert_eq!(dots(&[rows, Array::from([1.0f32, 10.0])])?[0].to_vec::<f32>()?, [21.0, 43.0]);
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Files
//!
//! [`io::load`] maps a file of any format into memory; [`io::npy`], [`io::npz`], [`io::safetensors`] and [`io::gguf`] read and
//! write one format each. Loaded arrays are read from the file when they are used. A file is written completely or not at all.
//!
//! ```
//! use umber::{Array, io};
//!
//! let path = std::env::temp_dir().join(format!("umber-tour-{}.safetensors", std::process::id()));
//! io::safetensors::save(&path, &[("weight".into(), Array::from([1.0f32, 2.0]))], None)?;
//! let contents = io::safetensors::load(&path)?;
//! assert_eq!(contents.array("weight")?.to_vec::<f32>()?, [1.0, 2.0]);
//! assert!(contents.array("bias").is_err()); // the error lists the names in the file
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Threads
//!
//! Arrays can be sent to and shared between threads, also before they are evaluated: the first thread that needs a value computes
//! it, and the others wait. Kernels split large work over a thread pool. Draws without a key share one state of the process: threads
//! that should draw the same numbers in each run use keys of their own, from [`ops::random::split`].
//!
//! ```
//! use umber::Array;
//!
//! let x = Array::from([4.0f32, 9.0]).sqrt()?; // pending
//! let sum = |offset: f64| (&x + offset).sum(..)?.item();
//! let (first, second) = std::thread::scope(|scope| {
//!     let other = scope.spawn(|| sum(1.0));
//!     (sum(0.0), other.join().expect("it does not panic"))
//! });
//! assert_eq!((first?.as_f64(), second?.as_f64()), (5.0, 7.0));
//! # Ok::<(), umber::Error>(())
//! ```
//!
//! # Errors
//!
//! Functions return an [`Error`] with a kind, the operation that failed, and the rule that was broken; its text contains the
//! last two. A failed call has no side effects. In programs with errors of other libraries, `?` converts it to `Box<dyn Error>`.
//!
//! ```
//! use umber::{Array, ErrorKind, ops};
//!
//! let (a, b) = (Array::from([1, 2]), Array::from([1, 2, 3]));
//! let error = ops::add(&a, &b).expect_err("the shapes do not broadcast");
//! assert_eq!((error.kind(), error.op()), (ErrorKind::Value, Some("add")));
//! assert_eq!(error.to_string(), "[add] shapes (2,) and (3,) cannot be broadcast");
//! ```

pub mod assertions;
pub mod export;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(doctest)]
mod sealed;

pub use umber_core::ops::{self, keep};
pub use umber_core::{Array, ArraySpec, async_eval, eval, s, synchronize};
pub use umber_types::{
    Axes, Bool, Complex, Complex32, Complex64, DType, Device, DeviceType, Element, Elements, Error,
    ErrorKind, IntoElements, KeepAxes, Kind, Nested, NestedVectors, Quantization, QuantizationMode, Result,
    Scalar, Shape, Stream, Value, bf16, f16,
};

/// Transformations of functions of arrays: derivatives, batches, loops and branches.
pub mod transforms {
    pub use umber_core::transforms::{
        Batched, CallbackBatches, CustomFunction, Jacobians, Linear, LinearSolver, TransposeSolve,
        checkpoint, custom_function, custom_linear_solve, custom_root, eval_shape, grad, hessian, jacfwd,
        jacrev, jvp, linearize, pure_callback, value_and_grad, vjp, vmap,
    };

    /// Loops and branches that are recorded as one operation, for any number of iterations.
    pub mod control_flow {
        pub use umber_core::transforms::control_flow::{
            Bound, BranchFunction, Checkpoint, Order, RowFunction, ScanOptions, Scanned, associative_scan,
            bounded_while_loop, cond, fori_loop, map, map_batches, scan, switch, while_loop,
        };
    }
}

/// Functions that are traced once for each combination of shapes and dtypes.
pub mod compile {
    pub use umber_core::compile::{compile, disable, enable, is_enabled};
}

/// Devices, streams, and the threads that kernels use.
pub mod device {
    pub use umber_core::device::{
        available, clear_streams, current_stream, default_device, default_stream, device_count, is_available,
        new_stream, num_threads, set_default_device, set_default_stream, set_num_threads,
    };
}

/// Host memory in use, its limits, and the cache of freed blocks.
pub mod memory {
    pub use umber_core::memory::allocator::{
        clear_cache, get_active_memory, get_cache_memory, get_memory_limit, get_peak_memory,
        reset_peak_memory, set_cache_limit, set_memory_limit,
    };
}

/// Files: npy, npz, safetensors, GGUF.
pub mod io {
    pub use umber_io::{
        Format, Loaded, Mapping, Progress, Put, Source, Target, Value, gguf, load, npy, npz, read,
        safetensors,
    };
}

/// The README's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
