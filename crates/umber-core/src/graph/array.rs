//! The array handle.

use std::fmt;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use umber_kernels::View;
use umber_types::layout::{Strides, row_major_strides};
use umber_types::{DType, Device, Element, Layout, Result, Scalar, Shape, bail, ensure};

use super::node::RecordContext;
use super::tracing::{self, TraceScope};
use super::{Inputs, Node, Output, Storage};
use crate::backend::transfer;
use crate::memory::Buffer;
use crate::op::Op;
use crate::primitives::create::Full;
use crate::primitives::leaf::Leaf;
use crate::source_line::current_source_line;

/// One output of a lazy computation. A clone is another handle to it; its value never changes.
#[derive(Clone)]
pub struct Array {
    node: Arc<Node>,
    output: u32,
}

/// Shape and dtype.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ArraySpec {
    /// Lengths of the axes.
    pub shape: Shape,
    /// Type of the elements.
    pub dtype: DType,
}

/// The specs of a node's outputs.
pub type Specs = SmallVec<[ArraySpec; 1]>;

impl ArraySpec {
    /// A spec of a shape and a dtype.
    pub fn new(shape: impl Into<Shape>, dtype: DType) -> ArraySpec {
        ArraySpec { shape: shape.into(), dtype }
    }
}

impl From<ArraySpec> for Specs {
    fn from(spec: ArraySpec) -> Specs {
        smallvec![spec]
    }
}

impl Array {
    /// A handle to an output of a node.
    #[inline]
    pub(crate) fn of(node: Arc<Node>, output: u32) -> Array {
        debug_assert!((output as usize) < node.outputs.len());
        Array { node, output }
    }

    /// An evaluated array over existing memory.
    pub(crate) fn from_storage(storage: Storage, dtype: DType) -> Result<Array> {
        ensure!(
            storage.fits(dtype),
            Value("array"),
            "shape {} of {dtype} does not fit a buffer of {} bytes",
            storage.layout.shape,
            storage.buffer.bytes()
        );
        Ok(Array::over(storage, dtype))
    }

    /// An evaluated array over a buffer that contains its layout.
    #[inline]
    pub(crate) fn over(storage: Storage, dtype: DType) -> Array {
        let Storage { buffer, layout } = storage;
        Array::placed(buffer, dtype, |shape, own| {
            shape.clone_from(&layout.shape);
            *own = layout;
        })
    }

    /// An evaluated array over new memory in row-major order, with unspecified content.
    #[inline]
    pub(crate) fn unwritten(shape: &Shape, dtype: DType) -> Result<Array> {
        let buffer = Buffer::allocate(shape.size().saturating_mul(dtype.size()))?;
        Ok(Array::placed(buffer, dtype, |own, layout| {
            own.clone_from(shape);
            layout.shape.clone_from(shape);
            layout.strides = row_major_strides(shape);
        }))
    }

    /// An evaluated array over a buffer. `set_layout` receives the shape and layout of a scalar and sets both to the same shape,
    /// within the buffer.
    #[inline(always)]
    pub(crate) fn placed(
        buffer: Arc<Buffer>,
        dtype: DType,
        set_layout: impl FnOnce(&mut Shape, &mut Layout),
    ) -> Array {
        let layout = Layout { shape: Shape::scalar(), strides: Strides::new(), offset: 0 };
        let node =
            Node::single(Leaf::Data, (None, None), dtype, RecordContext::untraced(), |_, _, output| {
                let storage = output.storage.put(Storage { buffer, layout });
                set_layout(&mut output.spec.shape, &mut storage.layout);
            });
        let array = Array { node, output: 0 };
        debug_assert!(
            array
                .storage()
                .is_some_and(|storage| storage.fits(dtype) && storage.layout.shape == *array.shape())
        );
        array
    }

    /// A contiguous copy of an evaluated array, on the same device.
    pub fn copied(&self) -> Result<Array> {
        let Some(storage) = self.storage() else {
            bail!(Value("copy"), "array of shape {} is not evaluated", self.shape());
        };
        Array::from_storage(transfer::copied(storage, self.dtype())?, self.dtype())
    }

    /// The array as an argument of a function whose operations run later: a copy of its current value if others can write its
    /// memory.
    pub(crate) fn snapshot(&self) -> Result<Array> {
        if self.is_externally_mutable() && !self.is_traced() { self.copied() } else { Ok(self.clone()) }
    }

    /// An array with a copy of the elements, in row-major order.
    pub fn from_slice<T: Element>(elements: &[T], shape: impl Into<Shape>) -> Result<Array> {
        let shape = shape.into();
        ensure!(
            shape.is_addressable() && elements.len() == shape.size(),
            Value("array"),
            "cannot fill shape {} with {} elements",
            shape,
            elements.len()
        );
        let mut storage = Storage::allocate(&shape, T::DTYPE)?;
        if let Some(mut view) = storage.view_mut(T::DTYPE)
            && let Some(slice) = view.as_mut_slice()
        {
            slice.copy_from_slice(elements);
        }
        Array::from_storage(storage, T::DTYPE)
    }

    /// An array with a copy of elements stored in row-major order, made by the calling thread.
    ///
    /// # Safety
    /// `start` must be valid for reads of `shape.size()` elements of `dtype`.
    pub(crate) unsafe fn from_dense(start: *const u8, shape: &Shape, dtype: DType) -> Result<Array> {
        let array = Array::unwritten(shape, dtype)?;
        let buffer = &array.storage().expect("unwritten arrays are evaluated").buffer;
        let own = buffer.host_start().expect("new buffers are in host memory");
        // SAFETY: `start` is valid for reads of the buffer's bytes, and the new buffer has no other reference.
        unsafe { std::ptr::copy_nonoverlapping(start, own.as_ptr(), buffer.bytes()) };
        Ok(array)
    }

    /// A 0-d constant, which fusion embeds in its kernels.
    pub fn scalar(value: impl Into<Scalar>, dtype: DType) -> Array {
        Array::full(Shape::scalar(), value, dtype)
    }

    /// An array filled with one value.
    ///
    /// # Panics
    /// If the number of elements exceeds the address space.
    pub fn full(shape: impl Into<Shape>, value: impl Into<Scalar>, dtype: DType) -> Array {
        let shape = shape.into();
        assert!(shape.is_addressable(), "[full] memory cannot address as many elements as shape {shape} has");
        Array::filled(&shape, value.into(), dtype)
    }

    /// [`Array::full`] that clones the shape.
    #[inline]
    pub(crate) fn filled(shape: &Shape, value: Scalar, dtype: DType) -> Array {
        let op = Full { value: Scalar::Bool(false) };
        let context = RecordContext { origin: current_source_line(), ..RecordContext::untraced() };
        let node = Node::single(op, (None, None), dtype, context, |op, _, output| {
            if let Op::Full(full) = op {
                full.value = value.cast(dtype);
            }
            output.spec.shape.clone_from(shape);
        });
        Array { node, output: 0 }
    }

    /// An argument of a function being traced: a spec without data. `op` names the transformation.
    pub(crate) fn placeholder(op: Leaf, spec: ArraySpec, trace_scope: Option<&TraceScope>) -> Array {
        let context = RecordContext { trace_scope: trace_scope.cloned(), ..RecordContext::untraced() };
        let node = Node::build(op, Inputs::new(), Output::one(spec, None), context);
        Array { node, output: 0 }
    }

    /// The same value as a new array, traced by a transformation.
    ///
    /// If others can write its memory, the value is copied now, so that value and gradient are of the same argument.
    pub(crate) fn traced_copy(&self, trace_scope: &TraceScope) -> Result<Array> {
        let source = if self.is_externally_mutable() { self.copied()? } else { self.clone() };
        let storage = source.storage().cloned();
        let trace_scope = TraceScope::outermost([trace_scope].into_iter().chain(self.node.trace_scope()));
        let (op, spec) = (Leaf::Copy, self.spec().clone());
        let node = Node::build(
            op,
            smallvec![source],
            Output::one(spec, storage),
            RecordContext { stream: self.node.stream, trace_scope, origin: None },
        );
        Ok(Array { node, output: 0 })
    }

    /// Shape and dtype.
    #[inline]
    pub fn spec(&self) -> &ArraySpec {
        &self.node.outputs[self.output as usize].spec
    }

    /// Lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.spec().shape
    }

    /// Type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.spec().dtype
    }

    /// Number of axes.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.shape().ndim()
    }

    /// Number of elements.
    #[inline]
    pub fn size(&self) -> usize {
        self.shape().size()
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> usize {
        self.size().saturating_mul(self.dtype().size())
    }

    /// The node this is an output of.
    #[inline]
    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// The index of this output of the node.
    #[inline]
    pub(crate) fn output(&self) -> usize {
        self.output as usize
    }

    /// All outputs of a node.
    pub(crate) fn outputs_of(node: &Arc<Node>) -> SmallVec<[Array; 1]> {
        (0..node.outputs.len()).map(|i| Array { node: Arc::clone(node), output: i as u32 }).collect()
    }

    /// Memory and layout of the elements, once evaluated.
    #[inline]
    pub(crate) fn storage(&self) -> Option<&Storage> {
        self.node.outputs[self.output as usize].storage.get()
    }

    /// The elements for reading, once evaluated, if they are in host memory.
    #[inline]
    pub(crate) fn view(&self) -> Option<View<'_>> {
        Some(self.storage()?.host()?.view(self.dtype()))
    }

    /// The device whose memory holds the elements, or on which the operation that computes them runs.
    pub fn device(&self) -> Device {
        self.storage().map_or(self.node.stream.device, |storage| storage.buffer.device())
    }

    /// The storage, if a view of it needs no operation: none for memory that others can write, whose value is read when the
    /// operation is recorded, and none while a transformation records operations.
    #[inline]
    pub(crate) fn seen(&self) -> Option<&Storage> {
        let is_untraced = tracing::depth() == 0 && !self.is_traced();
        self.storage().filter(|storage| is_untraced && !storage.buffer.is_externally_mutable())
    }

    /// Whether its value has been computed.
    #[inline]
    pub fn is_evaluated(&self) -> bool {
        self.storage().is_some()
    }

    /// Whether its value is in host memory, so that reading does not wait.
    #[inline]
    pub fn is_on_host(&self) -> bool {
        self.storage().is_some_and(|storage| storage.buffer.is_on_host())
    }

    /// Whether an active transformation traces it.
    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.node.is_traced()
    }

    /// Whether code outside the framework can write its memory.
    #[inline]
    pub(crate) fn is_externally_mutable(&self) -> bool {
        self.storage().is_some_and(|storage| storage.buffer.is_externally_mutable())
    }

    /// Whether both are the same output of the same node.
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.node, &other.node) && self.output == other.output
    }

    /// Identity: equal for two handles if and only if [`Array::is_same`].
    pub fn id(&self) -> (usize, u32) {
        (Arc::as_ptr(&self.node) as usize, self.output)
    }

    /// The constant this array is filled with, if it was recorded as one and has no memory yet.
    pub(crate) fn constant(&self) -> Option<Scalar> {
        let Op::Full(full) = &self.node.op else { return None };
        (!self.is_evaluated()).then_some(full.value)
    }

    /// The node, if this was the last handle to it.
    pub(crate) fn into_last_node(self) -> Option<Node> {
        Arc::into_inner(self.node)
    }

    /// The storage, if this was the last handle to the node: memory to reuse for other elements.
    pub(crate) fn into_unique_storage(self) -> Option<Storage> {
        let output = self.output();
        self.into_last_node()?.into_storage(output)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({} {}, {})", self.shape(), self.dtype(), self.node.op.name())
    }
}
