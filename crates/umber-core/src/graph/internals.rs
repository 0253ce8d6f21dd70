//! What the other crates of the framework see of an array, and programs that use it do not.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::View;
use umber_types::{DType, Result, Scalar, Shape};

use super::{Array, Inputs, Node, Storage};
use crate::op::Op;

/// The memory and the graph behind an [`Array`].
///
/// A trait, so that a crate sees them only where it imports this.
pub trait ArrayInternals: Sized {
    /// An evaluated array over memory that exists.
    ///
    /// # Errors
    /// If the layout reaches outside of the buffer.
    fn from_storage(storage: Storage, dtype: DType) -> Result<Self>;

    /// An array with a copy of elements that lie in row-major order, made by the calling thread.
    ///
    /// # Safety
    /// The bytes of as many elements as the shape has are readable from `start` on.
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

    /// The array as an argument of a function whose operations run later than they are written: of memory that others
    /// can write, a copy of what it holds now.
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

    /// Can its memory be written from outside?
    fn is_externally_mutable(&self) -> bool;

    /// Is it followed by a transformation that goes on?
    fn is_traced(&self) -> bool;

    /// The constant this array is full of, if it was recorded as one and has no memory yet that could be written.
    fn constant(&self) -> Option<Scalar>;
}

impl ArrayInternals for Array {
    fn from_storage(storage: Storage, dtype: DType) -> Result<Array> {
        Array::from_storage(storage, dtype)
    }

    unsafe fn from_dense(start: *const u8, shape: &Shape, dtype: DType) -> Result<Array> {
        // SAFETY: passed on from the caller.
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
