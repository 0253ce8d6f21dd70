//! Storage: a shared buffer seen through a layout. A view is the same buffer under another layout.
//!
//! A layout may exceed the bounds of its buffer until it is read: every public function that makes a [`View`], a slice or
//! a [`crate::Array`] of a storage first checks the bounds for the requested dtype.

use std::ptr::NonNull;
use std::sync::Arc;

use umber_kernels::{View, ViewMut};
use umber_types::{DType, Layout, Result, Scalar, Shape};

use crate::memory::Buffer;

/// The memory and layout of an evaluated array.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The memory.
    pub(crate) buffer: Arc<Buffer>,
    /// Offset, shape and strides of the elements in the buffer.
    pub(crate) layout: Layout,
}

impl Storage {
    /// A buffer under a layout, whose offset and strides count elements from the start of the buffer.
    pub fn new(buffer: Arc<Buffer>, layout: Layout) -> Storage {
        Storage { buffer, layout }
    }

    /// The memory.
    #[inline]
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// Offset, shape and strides of the elements in the memory.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Contiguous storage on the host for an array of this shape, with unspecified content.
    #[inline]
    pub fn allocate(shape: &Shape, dtype: DType) -> Result<Storage> {
        let bytes = shape.size().saturating_mul(dtype.size());
        Ok(Storage { buffer: Buffer::allocate(bytes)?, layout: Layout::contiguous(shape.clone()) })
    }

    /// One element on the host that every index of `shape` maps to.
    pub fn splat(value: Scalar, shape: &Shape, dtype: DType) -> Result<Storage> {
        let mut storage = Storage::allocate(&Shape::scalar(), dtype)?;
        let bytes = value.to_bytes(dtype);
        let mut view = storage.view_mut(dtype).expect("fresh storage is unique");
        // SAFETY: the buffer was allocated for one element of this dtype.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), view.start(), dtype.size()) };
        let _ = &mut view;
        storage.layout = Layout::splat(shape.clone());
        Ok(storage)
    }

    /// The same memory under another layout.
    #[must_use]
    pub fn with_layout(&self, layout: Layout) -> Storage {
        Storage { buffer: Arc::clone(&self.buffer), layout }
    }

    /// The storage for reading on the host, if its memory is host memory.
    #[inline]
    pub fn host(&self) -> Option<HostStorage<'_>> {
        Some(HostStorage { storage: self, start: self.buffer.host_start()? })
    }

    /// [`Storage::host`] of storage that is known to be in host memory.
    #[inline]
    pub(crate) fn on_host(&self) -> HostStorage<'_> {
        self.host().expect("inputs of the CPU are in host memory")
    }

    /// Whether the elements are contiguous and the buffer holds little else. A small view would keep its whole buffer from being
    /// freed.
    pub(crate) fn is_dense_alone(&self, dtype: DType) -> bool {
        const LITTLE: usize = 16 << 10;
        let own = self.layout.size() * dtype.size();
        self.layout.is_contiguous() && (!self.buffer.is_owned() || self.buffer.bytes() <= own + LITTLE)
    }

    /// The elements for writing, if nothing else holds the buffer and it is memory of the host.
    ///
    /// # Panics
    /// If the layout exceeds the buffer, or maps two indices to one element.
    pub fn view_mut(&mut self, dtype: DType) -> Option<ViewMut<'_>> {
        self.check(dtype);
        assert!(
            self.layout.is_contiguous() || !self.layout.is_overlapping(),
            "a layout for writing reaches an element twice"
        );
        let buffer = Arc::get_mut(&mut self.buffer)?;
        // SAFETY: `check` keeps the layout inside the buffer, and `get_mut` proves that this is the only reference to it.
        Some(unsafe { ViewMut::new(buffer.host_start()?.as_ptr(), dtype, &self.layout) })
    }

    /// The same elements for reading and for writing, if nothing else holds the buffer: for kernels that read each element before
    /// they write it.
    pub(crate) fn view_in_place(&mut self, dtype: DType) -> Option<(View<'_>, ViewMut<'_>)> {
        self.check(dtype);
        let start = Arc::get_mut(&mut self.buffer)?.host_start()?.as_ptr();
        // SAFETY: as in `view_mut`; both views are of the same elements, which the kernel reads before it writes them.
        Some(unsafe { (View::new(start, dtype, &self.layout), ViewMut::new(start, dtype, &self.layout)) })
    }

    #[inline]
    fn check(&self, dtype: DType) {
        assert!(self.fits(dtype), "a layout reaches outside of its buffer");
    }

    /// Whether the layout stays inside the buffer.
    #[inline]
    pub fn fits(&self, dtype: DType) -> bool {
        self.layout.extent().is_none_or(|(low, high)| {
            low >= 0
                && (high as usize).checked_mul(dtype.size()).is_some_and(|end| end <= self.buffer.bytes())
        })
    }

    /// Whether a result of `shape` with elements of `size` bytes can overwrite this storage.
    pub fn is_donatable(&self, shape: &Shape, size: usize) -> bool {
        self.buffer.is_recyclable()
            && self.layout.offset == 0
            && self.layout.shape == *shape
            && self.layout.is_contiguous()
            && self.buffer.bytes() == shape.size() * size
            && Arc::strong_count(&self.buffer) == 1
    }
}

/// Storage in host memory, for reading: the input of CPU kernels and exports.
#[derive(Clone, Copy, Debug)]
pub struct HostStorage<'a> {
    storage: &'a Storage,
    start: NonNull<u8>,
}

impl<'a> HostStorage<'a> {
    /// Address of the first byte of the buffer.
    #[inline]
    pub fn start(self) -> NonNull<u8> {
        self.start
    }

    /// The elements.
    ///
    /// # Panics
    /// If the layout exceeds the buffer.
    #[inline]
    pub fn view(self, dtype: DType) -> View<'a> {
        self.storage.check(dtype);
        // SAFETY: `check` keeps the layout inside the buffer, which lives as long as the storage; no thread writes while it is
        // shared (see `memory::Buffer`).
        unsafe { View::new(self.start.as_ptr(), dtype, &self.storage.layout) }
    }

    /// The bytes of all elements in row-major order, if the layout is contiguous.
    pub fn dense_bytes(self, dtype: DType) -> Option<&'a [u8]> {
        if !self.storage.layout.is_contiguous() {
            return None;
        }
        let bytes = self.storage.layout.size() * dtype.size();
        if bytes == 0 {
            return Some(&[]);
        }
        // SAFETY: a contiguous layout covers this many bytes from its start, inside the buffer (`view` checks it).
        Some(unsafe { std::slice::from_raw_parts(self.view(dtype).start(), bytes) })
    }

    /// A contiguous copy of the elements.
    pub(crate) fn to_dense(self, dtype: DType) -> Result<Storage> {
        let mut copy = Storage::allocate(&self.storage.layout.shape, dtype)?;
        let view = copy.view_mut(dtype).expect("fresh storage is unique");
        umber_kernels::tape::copy(self.view(dtype), view);
        Ok(copy)
    }
}
