//! Pointers into views that several tasks use concurrently.

use crate::{View, ViewMut};

/// A pointer for tasks that write disjoint elements.
#[derive(Clone, Copy)]
pub struct Target<T>(*mut T);

// SAFETY: users write disjoint elements of a view to which they have exclusive access.
unsafe impl<T: Send> Sync for Target<T> {}
// SAFETY: users write disjoint elements of a view to which they have exclusive access.
unsafe impl<T: Send> Send for Target<T> {}

impl<T> Target<T> {
    /// The elements of a view, reinterpreted as another type of the same size or as bytes.
    pub fn of(view: &ViewMut) -> Target<T> {
        debug_assert!(size_of::<T>() == view.dtype().size() || size_of::<T>() == 1);
        Target(view.start().cast())
    }

    /// The same address, for elements of another type.
    pub fn cast<U>(self) -> Target<U> {
        Target(self.0.cast())
    }

    /// The elements of a slice, which must outlive all uses.
    pub fn over(slice: &mut [T]) -> Target<T> {
        Target(slice.as_mut_ptr())
    }

    /// A target that starts at an offset.
    #[inline(always)]
    pub fn shifted(self, offset: isize) -> Target<T> {
        Target(self.at(offset))
    }

    /// The element at an offset.
    #[inline(always)]
    pub fn at(self, offset: isize) -> *mut T {
        self.0.wrapping_offset(offset)
    }
}

/// A pointer for tasks that read.
#[derive(Clone, Copy)]
pub struct Source<T>(*const T);

// SAFETY: shared reads of a view do not conflict.
unsafe impl<T: Sync> Sync for Source<T> {}

impl<T> Source<T> {
    /// The elements of a view, reinterpreted as another type of the same size or as bytes.
    pub fn of(view: &View) -> Source<T> {
        debug_assert!(size_of::<T>() == view.dtype().size() || size_of::<T>() == 1);
        Source(view.start().cast())
    }

    /// The same address, for elements of another type.
    pub fn cast<U>(self) -> Source<U> {
        Source(self.0.cast())
    }

    /// A source that starts at an offset.
    #[inline(always)]
    pub fn shifted(self, offset: isize) -> Source<T> {
        Source(self.at(offset))
    }

    /// The element at an offset.
    #[inline(always)]
    pub fn at(self, offset: isize) -> *const T {
        self.0.wrapping_offset(offset)
    }
}
