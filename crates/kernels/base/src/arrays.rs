//! Arrays built element by element, in a plain loop.
//!
//! `std::array::from_fn` and `map` expand to five functions per use, which adds up to a seventh of all compiled code in kernels
//! with many instances.

use std::mem::MaybeUninit;

/// The array of `f(i)` for every index `i`.
#[inline(always)]
pub fn array_of<T: Copy, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut array = [const { MaybeUninit::<T>::uninit() }; N];
    let mut i = 0;
    while i < N {
        array[i].write(f(i));
        i += 1;
    }
    // SAFETY: the loop initialised every element, and `[MaybeUninit<T>; N]` has the layout of `[T; N]`.
    unsafe { std::mem::transmute_copy(&array) }
}

#[cfg(test)]
mod tests {
    use super::array_of;

    #[test]
    fn every_element_is_computed() {
        assert_eq!(array_of::<usize, 5>(|i| i * i), [0, 1, 4, 9, 16]);
        assert_eq!(array_of::<u8, 0>(|_| 1), []);
    }
}
