//! Arrays made element by element, in a plain loop.
//!
//! `std::array::from_fn` and `map` are five functions for each use, and in kernels, which are made for many types, a seventh of
//! all that is compiled.

use std::mem::MaybeUninit;

/// The array of what `make` says of each place.
#[inline(always)]
pub fn array_of<T: Copy, const N: usize>(make: impl Fn(usize) -> T) -> [T; N] {
    let mut array = [const { MaybeUninit::<T>::uninit() }; N];
    let mut place = 0;
    while place < N {
        array[place].write(make(place));
        place += 1;
    }
    // SAFETY: the loop wrote every element; an array of them has the layout of one of `MaybeUninit`.
    unsafe { std::mem::transmute_copy(&array) }
}

#[cfg(test)]
mod tests {
    use super::array_of;

    #[test]
    fn every_place_is_made() {
        assert_eq!(array_of::<usize, 5>(|place| place * place), [0, 1, 4, 9, 16]);
        assert_eq!(array_of::<u8, 0>(|_| 1), []);
    }
}
