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

/// One output of a lazy computation. Cloning shares it; it never changes.
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
    /// A spec from its parts.
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

    /// An evaluated array over memory that exists.
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

    /// An evaluated array over memory that its layout stays in.
    #[inline]
    pub(crate) fn over(storage: Storage, dtype: DType) -> Array {
        let Storage { buffer, layout } = storage;
        Array::placed(buffer, dtype, |shape, own| {
            shape.clone_from(&layout.shape);
            *own = layout;
        })
    }

    /// An evaluated array in memory of its own that nobody has written yet, in row-major order.
    #[inline]
    pub(crate) fn unwritten(shape: &Shape, dtype: DType) -> Result<Array> {
        let buffer = Buffer::allocate(shape.size().saturating_mul(dtype.size()))?;
        Ok(Array::placed(buffer, dtype, |own, layout| {
            own.clone_from(shape);
            layout.shape.clone_from(shape);
            layout.strides = row_major_strides(shape);
        }))
    }

    /// An evaluated array in this memory, whose shape and layout, those of a scalar so far, `place` writes: alike, and within it.
    #[inline(always)]
    pub(crate) fn placed(
        buffer: Arc<Buffer>,
        dtype: DType,
        place: impl FnOnce(&mut Shape, &mut Layout),
    ) -> Array {
        let layout = Layout { shape: Shape::scalar(), strides: Strides::new(), offset: 0 };
        let node =
            Node::single(Leaf::Data, (None, None), dtype, RecordContext::untraced(), |_, _, output| {
                let storage = output.storage.put(Storage { buffer, layout });
                place(&mut output.spec.shape, &mut storage.layout);
            });
        let array = Array { node, output: 0 };
        debug_assert!(
            array
                .storage()
                .is_some_and(|storage| storage.fits(dtype) && storage.layout.shape == *array.shape())
        );
        array
    }

    /// A dense copy that shares nothing, on the same device, of an evaluated array.
    pub fn copied(&self) -> Result<Array> {
        let Some(storage) = self.storage() else {
            bail!(Value("copy"), "array of shape {} is not evaluated", self.shape());
        };
        Array::from_storage(transfer::copied(storage, self.dtype())?, self.dtype())
    }

    /// The array as an argument of a function whose operations run later than they are written: of memory that others can
    /// write, what is there now.
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

    /// An array with a copy of elements that lie in row-major order, made by the calling thread.
    ///
    /// # Safety
    /// The bytes of as many elements as the shape has are readable from `start` on.
    pub(crate) unsafe fn from_dense(start: *const u8, shape: &Shape, dtype: DType) -> Result<Array> {
        let array = Array::unwritten(shape, dtype)?;
        let buffer = &array.storage().expect("it is there").buffer;
        let own = buffer.host_start().expect("memory of the host");
        // SAFETY: the caller's promise, for as many bytes as were allocated, which nobody else has seen.
        unsafe { std::ptr::copy_nonoverlapping(start, own.as_ptr(), buffer.bytes()) };
        Ok(array)
    }

    /// A 0-d array; a constant that fusion takes into its kernels.
    pub fn scalar(value: impl Into<Scalar>, dtype: DType) -> Array {
        Array::full(Shape::scalar(), value, dtype)
    }

    /// An array with one value everywhere.
    ///
    /// # Panics
    /// If memory cannot address as many elements.
    pub fn full(shape: Shape, value: impl Into<Scalar>, dtype: DType) -> Array {
        assert!(shape.is_addressable(), "[full] memory cannot address as many elements as shape {shape} has");
        Array::filled(&shape, value.into(), dtype)
    }

    /// [`Array::full`], of a shape that others have, too.
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

    /// An argument of a function being traced: no data, only a spec; `op` says of which transformation.
    pub(crate) fn placeholder(op: Leaf, spec: ArraySpec, trace_scope: Option<&TraceScope>) -> Array {
        let context = RecordContext { trace_scope: trace_scope.cloned(), ..RecordContext::untraced() };
        let node = Node::build(op, Inputs::new(), Output::one(spec, None), context);
        Array { node, output: 0 }
    }

    /// The same value as a new traced array, from which a transformation follows what is computed.
    ///
    /// Of memory that others can write it takes what is there now: value and gradient are of the same argument.
    pub(crate) fn traced_copy(&self, trace_scope: &TraceScope) -> Result<Array> {
        let now = if self.is_externally_mutable() { self.copied()? } else { self.clone() };
        let storage = now.storage().cloned();
        let trace_scope = TraceScope::outermost([trace_scope].into_iter().chain(self.node.trace_scope()));
        let (op, spec) = (Leaf::Copy, self.spec().clone());
        let node = Node::build(
            op,
            smallvec![now],
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

    /// Which output of the node.
    #[inline]
    pub(crate) fn output(&self) -> usize {
        self.output as usize
    }

    /// All outputs of a node.
    pub(crate) fn outputs_of(node: &Arc<Node>) -> SmallVec<[Array; 1]> {
        (0..node.outputs.len()).map(|i| Array { node: Arc::clone(node), output: i as u32 }).collect()
    }

    /// Where the elements are, once evaluated.
    #[inline]
    pub(crate) fn storage(&self) -> Option<&Storage> {
        self.node.outputs[self.output as usize].storage.get()
    }

    /// The elements for reading, once evaluated, if they are in memory of the host.
    #[inline]
    pub(crate) fn view(&self) -> Option<View<'_>> {
        Some(self.storage()?.host()?.view(self.dtype()))
    }

    /// The device whose memory the elements are in, or where the operation runs that computes them.
    pub fn device(&self) -> Device {
        self.storage().map_or(self.node.stream.device, |storage| storage.buffer.device())
    }

    /// Where the elements are that another layout may show without an operation: not of memory that others can write, whose
    /// values are taken when it is recorded, nor where a transformation sees the operations of a program.
    #[inline]
    pub(crate) fn seen(&self) -> Option<&Storage> {
        let is_shown = tracing::depth() == 0 && !self.is_traced();
        self.storage().filter(|storage| is_shown && !storage.buffer.is_externally_mutable())
    }

    /// Is the value there?
    #[inline]
    pub fn is_evaluated(&self) -> bool {
        self.storage().is_some()
    }

    /// Is the value in memory of the host, so that there is nothing to wait for?
    #[inline]
    pub fn is_on_host(&self) -> bool {
        self.storage().is_some_and(|storage| storage.buffer.is_on_host())
    }

    /// Is it followed by a transformation that goes on?
    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.node.is_traced()
    }

    /// Can its memory be written from outside?
    #[inline]
    pub(crate) fn is_externally_mutable(&self) -> bool {
        self.storage().is_some_and(|storage| storage.buffer.is_externally_mutable())
    }

    /// Is it the same output of the same node?
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.node, &other.node) && self.output == other.output
    }

    /// A number that is the same for two handles exactly when [`Array::is_same`].
    pub fn id(&self) -> (usize, u32) {
        (Arc::as_ptr(&self.node) as usize, self.output)
    }

    /// The constant this array is full of, if it was recorded as one and has no memory yet that could be written.
    pub(crate) fn constant(&self) -> Option<Scalar> {
        let Op::Full(full) = &self.node.op else { return None };
        (!self.is_evaluated()).then_some(full.value)
    }

    /// The node, if this was the last handle to it.
    pub(crate) fn into_last_node(self) -> Option<Node> {
        Arc::into_inner(self.node)
    }

    /// Memory that nothing else holds, ready to hold other elements: the buffer of an array given up.
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
