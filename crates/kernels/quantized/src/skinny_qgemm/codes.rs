//! Vectors of codes.

use umber_kernels_base::lanes::Lanes;

use crate::kinds::FP8;

/// A vector of floats, and the words whose codes it can hold.
pub(super) trait Codes: Lanes<f32> {
    type Words: Copy;
    /// Are codes that stand for whole numbers worth taking where they lie in their words, without a shift but for those at the
    /// upper end? The left rows are laid out divided by what the places are worth.
    const UNSHIFTED: bool = false;
    /// Read words.
    ///
    /// # Safety
    /// There are so many.
    unsafe fn words(from: *const u32) -> Self::Words;
    /// Read a vector's words of so many bits as a kind says, which follow each other without gaps; the bits above them may be
    /// any.
    ///
    /// # Safety
    /// There are so many bits.
    unsafe fn units<const KIND: u8>(from: *const u32) -> Self::Words;
    /// What the lowest codes of the words stand for.
    fn level<const KIND: u8>(words: Self::Words) -> Self;
    /// What floats of eight bits stand for: [`level`](Self::level) at every step.
    #[inline(always)]
    fn float8s(words: Self::Words) -> [Self; 4] {
        step_by_step(words)
    }
    /// What the codes are at a step, at their places in the words, but for those at the upper end.
    fn unshifted<const KIND: u8>(_words: Self::Words, _step: usize) -> Self {
        unreachable!("codes are not taken in their places")
    }
    /// The words without their lowest codes.
    fn next<const KIND: u8>(words: Self::Words) -> Self::Words;
    /// For each lane the float at its place.
    ///
    /// # Safety
    /// As many floats as lanes can be read, and places are below that.
    unsafe fn gather(from: *const f32, permutation: Self::Words) -> Self;
}

/// [`Codes::float8s`], NaN among them or not.
#[inline(always)]
pub(super) fn step_by_step<V: Codes>(mut words: V::Words) -> [V; 4] {
    let mut dequantize_codes = [V::splat(0.0); 4];
    for level in &mut dequantize_codes {
        *level = V::level::<FP8>(words);
        words = V::next::<FP8>(words);
    }
    dequantize_codes
}
