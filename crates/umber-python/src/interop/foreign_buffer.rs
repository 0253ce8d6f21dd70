//! Foreign memory: a description by its producer is validated, then the memory is shared or copied.

use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use umber_core::types::ErrorKind;

use pyo3::prelude::*;
use umber_core::graph::{ArrayInternals, Storage};
use umber_core::memory::{Access, Buffer, ExternalWrites, is_mapped};
use umber_core::types::layout::Strides;
use umber_core::{Array, DType, Error, Layout, Shape};

use super::formats::ByteOrder;
use crate::enter::{OrRaise, enter, to_exception};

/// The exception for memory that cannot be shared as requested, which is both a `BufferError` and a `ValueError`.
pub(super) fn refuse(text: String) -> PyErr {
    to_exception(Error::new(ErrorKind::Buffer, text))
}

/// The argument `copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    /// `None`: share where possible.
    IfNeeded,
    /// `True`.
    Always,
    /// `False`: raise where a copy is needed.
    Never,
}

impl Copying {
    pub(super) fn of(copy: Option<bool>) -> Copying {
        match copy {
            None => Copying::IfNeeded,
            Some(true) => Copying::Always,
            Some(false) => Copying::Never,
        }
    }

    /// Raise if a copy is necessary but not allowed.
    pub(super) fn allow(self, why: &str) -> PyResult<()> {
        if self == Copying::Never {
            return Err(refuse(format!("[asarray] {why}, but copy=False")));
        }
        Ok(())
    }
}

/// Maximum number of bytes to copy on one thread: below it, starting threads costs more than the copy.
pub(super) const SMALL: usize = 1 << 14;

/// Foreign memory as its producer describes it.
pub(super) struct ForeignBuffer {
    pub(super) start: *mut u8,
    pub(super) dtype: DType,
    pub(super) order: ByteOrder,
    pub(super) shape: Shape,
    /// In bytes.
    pub(super) strides: Strides,
    pub(super) access: Access,
    pub(super) stability: ExternalWrites,
    pub(super) provenance: Provenance,
}

/// Provenance of a described address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
    /// From the owner of the memory.
    Owner,
    /// Must lie within a buffer described by its owner.
    Within(Range<usize>),
    /// Untrusted: the operating system is asked whether the memory is mapped.
    Untrusted,
}

/// What to do with described memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImportAction {
    /// There are no elements.
    Empty,
    Shared,
    /// Kernels could read it, but a copy is requested.
    Copied,
    /// Kernels cannot read it.
    Gathered,
}

/// Validated memory that can become an array.
pub(super) struct CheckedBuffer<'a> {
    from: &'a ForeignBuffer,
    /// The lowest address of an element, and the number of bytes from it.
    start: NonNull<u8>,
    span: usize,
    /// Offset of the element at index zero from it.
    offset: usize,
    action: ImportAction,
}

impl ForeignBuffer {
    /// Decide whether it can become an array, and whether that needs a copy.
    pub(super) fn check(&self, copying: Copying) -> PyResult<CheckedBuffer<'_>> {
        let itemsize = self.dtype.size();
        let too_large = || {
            refuse(format!(
                "[asarray] shape {:?} and strides {:?} are too large to address",
                &self.shape[..],
                self.strides
            ))
        };
        let mut bytes = itemsize;
        for &length in self.shape.iter() {
            bytes = bytes
                .checked_mul(length.max(1))
                .filter(|&b| isize::try_from(b).is_ok())
                .ok_or_else(too_large)?;
        }
        if self.shape.size() == 0 {
            let start = NonNull::dangling();
            return Ok(CheckedBuffer { from: self, start, span: 0, offset: 0, action: ImportAction::Empty });
        }
        if self.start.is_null() {
            return Err(refuse("[asarray] the described memory has no address".into()));
        }
        let (mut low, mut high) = (0isize, 0isize);
        for (&length, &stride) in self.shape.iter().zip(&self.strides) {
            let extent =
                isize::try_from(length - 1).ok().and_then(|n| n.checked_mul(stride)).ok_or_else(too_large)?;
            if extent < 0 {
                low = low.checked_add(extent).ok_or_else(too_large)?;
            } else {
                high = high.checked_add(extent).ok_or_else(too_large)?;
            }
        }
        let span = high
            .checked_sub(low)
            .and_then(|span| usize::try_from(span).ok()?.checked_add(itemsize))
            .ok_or_else(too_large)?;
        let start = NonNull::new(self.start.wrapping_offset(low)).ok_or_else(too_large)?;
        self.check_is_mapped(start, span)?;
        let action = self.action(copying)?;
        Ok(CheckedBuffer { from: self, start, span, offset: low.unsigned_abs(), action })
    }

    fn check_is_mapped(&self, start: NonNull<u8>, span: usize) -> PyResult<()> {
        match &self.provenance {
            Provenance::Owner => Ok(()),
            Provenance::Within(bounds) => {
                let first = start.as_ptr() as usize;
                let is_inside =
                    first >= bounds.start && first.checked_add(span).is_some_and(|end| end <= bounds.end);
                if is_inside {
                    return Ok(());
                }
                Err(refuse(format!(
                    "[asarray] shape, strides and offset reach outside the memory: {span} bytes from byte {} \
                     of {}",
                    first.wrapping_sub(bounds.start).cast_signed(),
                    bounds.len()
                )))
            }
            Provenance::Untrusted if is_mapped(start.as_ptr(), span) => Ok(()),
            Provenance::Untrusted => Err(refuse(format!(
                "[asarray] the described memory is not mapped: {span} bytes at address {start:p}"
            ))),
        }
    }

    fn action(&self, copying: Copying) -> PyResult<ImportAction> {
        // Sizes are powers of two here and below, which avoids divisions: they would dominate the cost of an import.
        let is_multiple = |bytes: usize, unit: usize| bytes & (unit - 1) == 0;
        let mut axes = self.strides.iter().zip(self.shape.iter());
        let is_aligned = is_multiple(self.start as usize, self.dtype.alignment())
            && axes.all(|(&stride, &n)| n <= 1 || is_multiple(stride.unsigned_abs(), self.dtype.size()));
        if !is_aligned {
            copying.allow("misaligned elements require a copy")?;
        } else if self.order == ByteOrder::Swapped {
            copying.allow("foreign byte order requires a copy")?;
        } else {
            return Ok(if copying == Copying::Always { ImportAction::Copied } else { ImportAction::Shared });
        }
        Ok(ImportAction::Gathered)
    }
}

impl CheckedBuffer<'_> {
    /// Copy the memory into an array.
    ///
    /// # Safety
    /// Every element that shape and strides reach is readable during the call.
    pub(super) unsafe fn copy_if_needed(&self, py: Python<'_>) -> PyResult<Option<Array>> {
        match self.action {
            ImportAction::Empty => {
                let storage = Storage::allocate(&self.from.shape, self.from.dtype).or_raise()?;
                Array::from_storage(storage, self.from.dtype).or_raise().map(Some)
            }
            ImportAction::Shared => Ok(None),
            ImportAction::Copied if self.span <= SMALL && self.is_dense() => {
                // SAFETY: dense memory starts at its lowest address, and the caller guarantees that it is readable.
                unsafe { Array::from_dense(self.start.as_ptr(), &self.from.shape, self.from.dtype) }
                    .or_raise()
                    .map(Some)
            }
            ImportAction::Copied => {
                // SAFETY: the caller guarantees that the memory is readable during the call, which the array does not outlive.
                let array = unsafe { self.over(Box::new(())) }?;
                enter(py, || array.copied()).map(Some)
            }
            // SAFETY: the caller guarantees that every element is readable during the call.
            ImportAction::Gathered => unsafe { self.gather() }.map(Some),
        }
    }

    /// Create an array over the memory, which `keep` keeps alive.
    ///
    /// # Safety
    /// Every element that shape and strides reach is readable while `keep` lives.
    pub(super) unsafe fn share(&self, keep: Box<dyn Any + Send + Sync>) -> PyResult<Array> {
        // SAFETY: the caller guarantees that every element is readable while `keep` lives.
        unsafe { self.over(keep) }
    }

    /// Create an array that shares the memory, or copies it if necessary.
    ///
    /// # Safety
    /// As for [`CheckedBuffer::share`].
    pub(super) unsafe fn take(&self, py: Python<'_>, keep: Box<dyn Any + Send + Sync>) -> PyResult<Array> {
        // SAFETY: the caller guarantees that every element is readable while `keep` lives.
        match unsafe { self.copy_if_needed(py) }? {
            Some(copy) => Ok(copy),
            // SAFETY: the caller guarantees that every element is readable while `keep` lives.
            None => unsafe { self.share(keep) },
        }
    }

    /// # Safety
    /// As for [`CheckedBuffer::share`].
    unsafe fn over(&self, keep: Box<dyn Any + Send + Sync>) -> PyResult<Array> {
        // SAFETY: the caller guarantees that the span covered by shape and strides is readable while `keep` lives.
        let buffer =
            unsafe { Buffer::foreign(self.start, self.span, self.from.access, self.from.stability, keep) };
        let shape = self.from.shape.clone();
        let shift = self.from.dtype.size().trailing_zeros();
        let mut strides = Strides::from_slice(&self.from.strides);
        for (stride, &length) in strides.iter_mut().zip(shape.iter()) {
            *stride = if length <= 1 { 0 } else { *stride >> shift };
        }
        let layout = Layout { shape, strides, offset: self.offset >> shift };
        Array::from_storage(Storage::new(Arc::new(buffer), layout), self.from.dtype).or_raise()
    }

    /// Whether the elements are dense and in row-major order.
    fn is_dense(&self) -> bool {
        let mut step = self.from.dtype.size() as isize;
        self.from.shape.iter().zip(&self.from.strides).rev().all(|(&length, &stride)| {
            let follows = length == 1 || stride == step;
            step *= length as isize;
            follows
        })
    }

    /// Copy element by element, for memory that kernels cannot read.
    ///
    /// # Safety
    /// As for [`CheckedBuffer::copy_if_needed`].
    unsafe fn gather(&self) -> PyResult<Array> {
        let itemsize = self.from.dtype.size();
        let unit = self.from.dtype.alignment();
        let mut storage =
            Storage::allocate(&Shape::from([self.from.shape.size() * itemsize]), DType::UInt8).or_raise()?;
        let mut view = storage.view_mut(DType::UInt8).expect("fresh storage is unique");
        let bytes: &mut [u8] = view.as_mut_slice().expect("fresh storage is dense");
        for (i, element) in bytes.chunks_exact_mut(itemsize).enumerate() {
            let (mut remaining, mut offset) = (i, 0isize);
            for (&length, &stride) in self.from.shape.iter().zip(&self.from.strides).rev() {
                offset += (remaining % length) as isize * stride;
                remaining /= length;
            }
            let source = self.from.start.wrapping_offset(offset);
            // SAFETY: `source` is the address of an element, which the caller guarantees to be readable.
            unsafe { std::ptr::copy_nonoverlapping(source, element.as_mut_ptr(), itemsize) };
            if self.from.order == ByteOrder::Swapped {
                element.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            }
        }
        let layout = Layout::contiguous(self.from.shape.clone());
        Array::from_storage(storage.with_layout(layout), self.from.dtype).or_raise()
    }
}
