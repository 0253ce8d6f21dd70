//! Scratch memory from the caching allocator: no page faults for reused pages, and an error instead of an abort when memory
//! is exhausted. It counts towards neither the peak nor the limit, because its size depends on the number of threads.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::ptr::NonNull;

use umber_types::{Error, Result, bail};

use crate::allocator::{ALIGNMENT, Block, allocate_scratch, free, refused};

/// A vector of fixed capacity in scratch memory, aligned to a cache line.
#[derive(Debug)]
pub struct ScratchVec<T> {
    /// None if the capacity is zero bytes.
    block: Option<Block>,
    length: usize,
    capacity: usize,
    elements: PhantomData<T>,
}

// SAFETY: owns its memory, like a `Vec`.
unsafe impl<T: Send> Send for ScratchVec<T> {}
// SAFETY: owns its memory, like a `Vec`.
unsafe impl<T: Sync> Sync for ScratchVec<T> {}

impl<T: Copy> ScratchVec<T> {
    /// An empty vector with this capacity.
    ///
    /// # Errors
    /// If the allocation fails.
    pub fn new(capacity: usize) -> Result<ScratchVec<T>> {
        const { assert!(align_of::<T>() <= ALIGNMENT, "blocks are aligned for the elements") };
        let Some(bytes) = capacity.checked_mul(size_of::<T>()) else {
            bail!(Memory, "out of memory: {capacity} elements of scratch are too many to address");
        };
        let block = if bytes > 0 { Some(allocate_scratch(bytes)?) } else { None };
        Ok(ScratchVec { block, length: 0, capacity, elements: PhantomData })
    }

    /// [`ScratchVec::new`] for kernels and tasks that cannot return an error: a failed allocation unwinds with the error as
    /// payload and without a panic message; the kernel launcher catches it.
    pub fn new_or_unwind(capacity: usize) -> ScratchVec<T> {
        ScratchVec::new(capacity).unwrap_or_else(|error| unwind(error))
    }

    /// `length` elements, all equal to `value`.
    ///
    /// # Errors
    /// If the allocation fails.
    pub fn filled(value: T, length: usize) -> Result<ScratchVec<T>> {
        let mut vec = ScratchVec::new(length)?;
        vec.extend(std::iter::repeat_n(value, length));
        Ok(vec)
    }

    /// As [`ScratchVec::filled`]; a failed allocation unwinds, as in [`ScratchVec::new_or_unwind`].
    pub fn filled_or_unwind(value: T, length: usize) -> ScratchVec<T> {
        ScratchVec::filled(value, length).unwrap_or_else(|error| unwind(error))
    }

    fn start(&self) -> *mut T {
        self.block.as_ref().map_or_else(NonNull::dangling, |block| block.start().cast()).as_ptr()
    }

    /// The spare capacity after the elements.
    pub fn spare(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: inside the block, which is aligned for `T` and owned by this vector; without a block the slice is empty.
        unsafe {
            let first = self.start().add(self.length).cast();
            std::slice::from_raw_parts_mut(first, self.capacity - self.length)
        }
    }

    /// Add `count` elements that were written to the spare capacity.
    ///
    /// # Safety
    /// The first `count` elements of [`spare`](Self::spare) are initialised.
    pub unsafe fn grow(&mut self, count: usize) {
        assert!(count <= self.capacity - self.length, "room for {} elements", self.capacity);
        self.length += count;
    }

    /// Remove all elements.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Append elements.
    ///
    /// # Panics
    /// If they exceed the capacity.
    pub fn extend(&mut self, elements: impl IntoIterator<Item = T>) {
        let mut elements = elements.into_iter();
        let mut count = 0;
        for (slot, element) in self.spare().iter_mut().zip(&mut elements) {
            slot.write(element);
            count += 1;
        }
        self.length += count;
        assert!(
            self.length < self.capacity || elements.next().is_none(),
            "room for {} elements",
            self.capacity
        );
    }
}

/// An empty `Vec` with this capacity; a failed allocation unwinds, as in [`ScratchVec::new_or_unwind`].
pub fn vector_or_unwind<T>(capacity: usize) -> Vec<T> {
    let mut vector = Vec::new();
    if vector.try_reserve_exact(capacity).is_err() {
        unwind(refused(capacity.saturating_mul(size_of::<T>())));
    }
    vector
}

/// Collect into a `Vec`; a failed allocation unwinds, as in [`ScratchVec::new_or_unwind`].
pub fn collect_or_unwind<T>(elements: impl IntoIterator<Item = T>) -> Vec<T> {
    let elements = elements.into_iter();
    let (lower, upper) = elements.size_hint();
    let mut vector = vector_or_unwind(lower);
    if upper == Some(lower) {
        vector.extend(elements);
        return vector;
    }
    for element in elements {
        if vector.len() == vector.capacity() && vector.try_reserve(1).is_err() {
            unwind(refused(vector.len().saturating_mul(2 * size_of::<T>())));
        }
        vector.push(element);
    }
    vector
}

fn unwind(error: Error) -> ! {
    resume_unwind(Box::new(error))
}

/// Is this the unwind payload of a failed allocation?
#[cfg(test)]
pub fn is_memory_error(panic: Box<dyn std::any::Any + Send>) -> bool {
    panic.downcast::<Error>().is_ok_and(|error| error.kind() == umber_types::ErrorKind::Memory)
}

impl<T: Copy> Deref for ScratchVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the first `length` elements are initialised.
        unsafe { std::slice::from_raw_parts(self.start(), self.length) }
    }
}

impl<T: Copy> DerefMut for ScratchVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the first `length` elements are initialised, and `&mut self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.length) }
    }
}

impl<T> Drop for ScratchVec<T> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            free(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_elements_are_stored() {
        let mut vec = ScratchVec::new(5).expect("small");
        vec.extend([1u16, 2, 3]);
        assert_eq!(vec[..], [1, 2, 3]);
        assert_eq!(vec.spare().len(), 2);
        vec[1] = 7;
        vec.extend([4, 5]);
        assert_eq!(&vec[..], [1, 7, 3, 4, 5]);
        vec.clear();
        assert!(vec.is_empty());
        vec.extend(10..15);
        assert_eq!(&vec[..], [10, 11, 12, 13, 14]);
        vec.clear();
        for slot in &mut vec.spare()[..2] {
            slot.write(8);
        }
        // SAFETY: both elements were just written.
        unsafe { vec.grow(2) };
        assert_eq!(&vec[..], [8, 8]);
        assert_eq!(&ScratchVec::filled(2.5f64, 3).expect("small")[..], [2.5; 3]);
        assert!(ScratchVec::<f64>::filled(1.0, 0).expect("nothing").is_empty());
    }

    #[test]
    fn buffers_are_cache_line_aligned() {
        for count in [1, 7, 1000, 1 << 20] {
            let vec = ScratchVec::filled(0u8, count).expect("small");
            assert!((vec.as_ptr() as usize).is_multiple_of(ALIGNMENT));
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        for count in [usize::MAX, usize::MAX / 8, 1 << 58] {
            assert!(
                matches!(ScratchVec::<u64>::new(count), Err(error) if error.kind() == umber_types::ErrorKind::Memory)
            );
        }
    }

    #[test]
    fn impossible_sizes_unwind_as_errors() {
        for count in [1 << 58, usize::MAX] {
            let filled = std::panic::catch_unwind(|| drop(ScratchVec::filled_or_unwind(1f64, count)));
            assert!(is_memory_error(filled.expect_err("too much")));
            let vector = std::panic::catch_unwind(|| drop(vector_or_unwind::<f64>(count)));
            assert!(is_memory_error(vector.expect_err("too much")));
            let vec = std::panic::catch_unwind(|| drop(ScratchVec::<f64>::new_or_unwind(count)));
            assert!(is_memory_error(vec.expect_err("too much")));
            let list = std::panic::catch_unwind(|| drop(collect_or_unwind(std::iter::repeat_n(1f64, count))));
            assert!(is_memory_error(list.expect_err("too much")));
        }
        assert_eq!(ScratchVec::filled_or_unwind(3u8, 2)[..], [3, 3]);
        assert!(vector_or_unwind::<u8>(7).capacity() >= 7);
        assert_eq!(collect_or_unwind(0..9), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(collect_or_unwind((0..9).filter(|i| i % 2 == 0)), [0, 2, 4, 6, 8]);
    }

    #[test]
    #[should_panic(expected = "room for 2 elements")]
    fn exceeding_the_capacity_panics() {
        ScratchVec::new(2).expect("small").extend([1u8, 2, 3]);
    }
}
