//! Vectors of codes.

use umber_kernels_base::lanes::Lanes;

use crate::kinds::FP8;

/// A vector of floats, and the vector of words that holds their codes.
pub(super) trait Codes: Lanes<f32> {
    type Words: Copy;
    /// Whether integer codes are converted in place, without a shift, except for those at the upper end of a word. The packed
    /// left rows are then divided by the power of two of each position.
    const UNSHIFTED: bool = false;
    /// Load words.
    ///
    /// # Safety
    /// A vector of words is readable.
    unsafe fn words(from: *const u32) -> Self::Words;
    /// Load a vector of packed units, whose bits [`unit_of`](crate::kinds::unit_of) gives, one to each word. They are
    /// contiguous; the bits above them are unspecified.
    ///
    /// # Safety
    /// A vector of units is readable.
    unsafe fn units<const KIND: u8>(from: *const u32) -> Self::Words;
    /// The values of the lowest codes of the words.
    fn level<const KIND: u8>(words: Self::Words) -> Self;
    /// The values of float8 codes: [`level`](Self::level) at every step.
    #[inline(always)]
    fn float8s(words: Self::Words) -> [Self; 4] {
        step_by_step(words)
    }
    /// The codes of a step, multiplied by the power of two of their position, except for those at the upper end.
    fn unshifted<const KIND: u8>(_words: Self::Words, _step: usize) -> Self {
        unreachable!("only for vectors with UNSHIFTED")
    }
    /// Shift the lowest codes out of the words.
    fn next<const KIND: u8>(words: Self::Words) -> Self::Words;
    /// Load a vector and permute its lanes.
    ///
    /// # Safety
    /// A vector of floats is readable, and the indices are less than the number of lanes.
    unsafe fn gather(from: *const f32, permutation: Self::Words) -> Self;
}

/// [`Codes::float8s`] with correct NaN.
#[inline(always)]
pub(super) fn step_by_step<V: Codes>(mut words: V::Words) -> [V; 4] {
    let mut levels = [V::splat(0.0); 4];
    for level in &mut levels {
        *level = V::level::<FP8>(words);
        words = V::next::<FP8>(words);
    }
    levels
}
