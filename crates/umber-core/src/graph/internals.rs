//! Access to an array's memory and graph for the framework's other crates; user programs do not see it.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::View;
use umber_types::{DType, Result, Scalar, Shape};

use super::{Array, Inputs, Node, Storage};
use crate::op::Op;

/// The memory and the graph behind an [`Array`].
///
/// A trait, so that these methods are visible only where it is imported.
pub trait ArrayInternals: Sized {
    /// An evaluated array over existing memory.
    ///
    /// # Errors
    /// If the layout exceeds the buffer.
    fn from_storage(storage: Storage, dtype: DType) -> Result<Self>;

    /// An array with a copy of elements stored in row-major order, made by the calling thread.
    ///
    /// # Safety
    /// `start` must be valid for reads of `shape.size()` elements of `dtype`.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    unsafe fn from_dense(start: *const u8, shape: &Shape, dtype: DType) -> Result<Self>;

    /// Record an operation; returns its outputs.
    ///
    /// # Errors
    /// If the operation does not take these inputs.
    fn record(op: impl Into<Op>, inputs: Inputs) -> Result<SmallVec<[Self; 1]>>;

    /// Record an operation with one output.
    ///
    /// # Errors
    /// If the operation does not take these inputs.
    fn record_one(op: impl Into<Op>, inputs: &[&Self]) -> Result<Self>;

    /// The array as an argument of a function whose operations run later: a copy of its current value if others can write its
    /// memory.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    fn snapshot(&self) -> Result<Self>;

    /// The elements' memory, once evaluated.
    fn storage(&self) -> Option<&Storage>;

    /// The elements for reading, once evaluated, if they are in memory of the host.
    fn view(&self) -> Option<View<'_>>;

    /// The node this is an output of.
    fn node(&self) -> &Arc<Node>;

    /// Whether code outside the framework can write its memory.
    fn is_externally_mutable(&self) -> bool;

    /// Whether an active transformation traces it.
    fn is_traced(&self) -> bool;

    /// The constant this array is filled with, if it was recorded as one and has no memory yet.
    fn constant(&self) -> Option<Scalar>;
}

impl ArrayInternals for Array {
    fn from_storage(storage: Storage, dtype: DType) -> Result<Array> {
        Array::from_storage(storage, dtype)
    }

    unsafe fn from_dense(start: *const u8, shape: &Shape, dtype: DType) -> Result<Array> {
        // SAFETY: the caller keeps the contract of this function, which is that of `Array::from_dense`.
        unsafe { Array::from_dense(start, shape, dtype) }
    }

    fn record(op: impl Into<Op>, inputs: Inputs) -> Result<SmallVec<[Array; 1]>> {
        Array::record(op, inputs)
    }

    fn record_one(op: impl Into<Op>, inputs: &[&Array]) -> Result<Array> {
        Array::record_one(op, inputs)
    }

    fn snapshot(&self) -> Result<Array> {
        Array::snapshot(self)
    }

    #[inline]
    fn storage(&self) -> Option<&Storage> {
        Array::storage(self)
    }

    #[inline]
    fn view(&self) -> Option<View<'_>> {
        Array::view(self)
    }

    #[inline]
    fn node(&self) -> &Arc<Node> {
        Array::node(self)
    }

    #[inline]
    fn is_externally_mutable(&self) -> bool {
        Array::is_externally_mutable(self)
    }

    #[inline]
    fn is_traced(&self) -> bool {
        Array::is_traced(self)
    }

    fn constant(&self) -> Option<Scalar> {
        Array::constant(self)
    }
}
