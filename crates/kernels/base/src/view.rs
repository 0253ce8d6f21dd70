//! Views: a pointer, a dtype and a layout.
//!
//! Invariant kept by the creator of a view: every element that the layout reaches lies inside one live allocation, aligned
//! for the dtype, and is readable (for [`ViewMut`] exclusively writable) while the view lives.

use std::marker::PhantomData;

use umber_types::{DType, Element, Layout};

/// Memory for reading.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    base: *const u8,
    dtype: DType,
    layout: &'a Layout,
}

/// Memory for writing.
#[derive(Debug)]
pub struct ViewMut<'a> {
    base: *mut u8,
    dtype: DType,
    layout: &'a Layout,
    exclusive: PhantomData<&'a mut u8>,
}

// SAFETY: the module invariant holds on every thread.
unsafe impl Send for View<'_> {}
// SAFETY: the module invariant holds on every thread; shared reads do not conflict.
unsafe impl Sync for View<'_> {}
// SAFETY: the module invariant holds on every thread; exclusive access moves with the view.
unsafe impl Send for ViewMut<'_> {}
// SAFETY: shared access to a ViewMut only hands out the pointer; writers split the index range among themselves.
unsafe impl Sync for ViewMut<'_> {}

/// The signed integer type of the same width for unsigned ones, other dtypes unchanged.
pub fn signed(dtype: DType) -> DType {
    match dtype {
        DType::UInt8 => DType::Int8,
        DType::UInt16 => DType::Int16,
        DType::UInt32 => DType::Int32,
        DType::UInt64 => DType::Int64,
        _ => dtype,
    }
}

impl<'a> View<'a> {
    /// A view of the buffer that starts at `base`; `layout.offset` counts from there.
    ///
    /// # Safety
    /// The module invariant holds for `'a`.
    pub unsafe fn new(base: *const u8, dtype: DType, layout: &'a Layout) -> View<'a> {
        debug_assert!(is_aligned(base, dtype, layout), "elements are aligned");
        View { base, dtype, layout }
    }

    /// A view of a slice; `layout.offset` counts from its start.
    ///
    /// # Panics
    /// If the layout reaches outside the slice.
    pub fn of<T: Element>(slice: &'a [T], layout: &'a Layout) -> View<'a> {
        assert_inside(layout, slice.len());
        View { base: slice.as_ptr().cast(), dtype: T::DTYPE, layout }
    }

    /// The dtype of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The same bits with unsigned integers reinterpreted as signed: for kernels with wrapping sums and products.
    pub fn into_signed(self) -> View<'a> {
        View { dtype: signed(self.dtype), ..self }
    }

    /// Shape and strides. The offset is already applied by [`View::start`].
    #[inline]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &'a [usize] {
        &self.layout.shape
    }

    /// Strides in elements.
    pub fn strides(&self) -> &'a [isize] {
        &self.layout.strides
    }

    /// Number of elements.
    #[inline]
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Address of the element at index zero.
    #[inline]
    pub fn start(&self) -> *const u8 {
        self.base.wrapping_add(self.layout.offset * self.dtype.size())
    }

    /// Address of the element at index zero, typed.
    pub fn start_as<T: Element>(&self) -> *const T {
        debug_assert_eq!(self.dtype.storage_dtype(), T::DTYPE);
        self.start().cast()
    }

    /// The elements as a slice, if they are dense and in row-major order.
    pub fn as_slice<T: Element>(&self) -> Option<&'a [T]> {
        if self.dtype.storage_dtype() != T::DTYPE || !self.layout.is_contiguous() {
            return None;
        }
        if self.size() == 0 {
            return Some(&[]);
        }
        // SAFETY: the module invariant; the elements are contiguous by the check above.
        Some(unsafe { std::slice::from_raw_parts(self.start_as(), self.size()) })
    }
}

impl<'a> ViewMut<'a> {
    /// A view of the buffer that starts at `base`; `layout.offset` counts from there.
    ///
    /// # Safety
    /// The module invariant holds for `'a`, and no other thread accesses the memory.
    pub unsafe fn new(base: *mut u8, dtype: DType, layout: &'a Layout) -> ViewMut<'a> {
        debug_assert!(is_aligned(base, dtype, layout), "elements are aligned");
        ViewMut { base, dtype, layout, exclusive: PhantomData }
    }

    /// A view of a slice; `layout.offset` counts from its start.
    ///
    /// # Panics
    /// If the layout reaches outside the slice, or reaches an element twice, which would be a data race between tasks.
    pub fn of<T: Element>(slice: &'a mut [T], layout: &'a Layout) -> ViewMut<'a> {
        assert_inside(layout, slice.len());
        assert!(!layout.is_overlapping(), "layout reaches an element of its slice twice");
        ViewMut { base: slice.as_mut_ptr().cast(), dtype: T::DTYPE, layout, exclusive: PhantomData }
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// As [`View::into_signed`].
    pub fn into_signed(self) -> ViewMut<'a> {
        ViewMut { dtype: signed(self.dtype), ..self }
    }

    /// Shape and strides.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &'a [usize] {
        &self.layout.shape
    }

    /// Strides in elements.
    pub fn strides(&self) -> &'a [isize] {
        &self.layout.strides
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Address of the element at index zero.
    pub fn start(&self) -> *mut u8 {
        self.base.wrapping_add(self.layout.offset * self.dtype.size())
    }

    /// Address of the element at index zero, typed.
    pub fn start_as<T: Element>(&self) -> *mut T {
        debug_assert_eq!(self.dtype.storage_dtype(), T::DTYPE);
        self.start().cast()
    }

    /// The same view with a shorter lifetime.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        ViewMut { base: self.base, dtype: self.dtype, layout: self.layout, exclusive: PhantomData }
    }

    /// The same memory for reading.
    pub fn as_view(&self) -> View<'_> {
        View { base: self.base, dtype: self.dtype, layout: self.layout }
    }

    /// The elements as a slice, if they are dense and in row-major order.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        if self.dtype.storage_dtype() != T::DTYPE || !self.layout.is_contiguous() {
            return None;
        }
        if self.size() == 0 {
            return Some(&mut []);
        }
        // SAFETY: the module invariant; the elements are contiguous by the check above, and `&mut self` is exclusive.
        Some(unsafe { std::slice::from_raw_parts_mut(self.start_as(), self.size()) })
    }
}

/// True if there are no elements, or they are aligned for their dtype.
fn is_aligned(base: *const u8, dtype: DType, layout: &Layout) -> bool {
    layout.size() == 0 || base.addr().is_multiple_of(dtype.alignment())
}

fn assert_inside(layout: &Layout, length: usize) {
    if let Some((low, high)) = layout.extent() {
        assert!(low >= 0 && high as usize <= length, "layout reaches outside its slice");
    }
}
