//! What codes stand for before they are scaled: integers, or small floats.

use umber_types::{Quantization, QuantizationMode};

use super::fp8::{from_fp4, from_fp8};
use crate::isa::vectorised;

/// The levels of all codes in some words, which hold whole groups.
pub(super) fn levels(how: Quantization, words: &[u32], out: &mut [f32]) {
    debug_assert_eq!(words.len() * 32, out.len() * how.bits());
    match (how.mode(), how.bits()) {
        (QuantizationMode::Mxfp4 | QuantizationMode::Nvfp4, _) => whole::<4, 8>(words, out, from_fp4),
        (QuantizationMode::Mxfp8, _) => bytes(words, out, from_fp8),
        (QuantizationMode::Affine, 1) => whole::<1, 32>(words, out, integer),
        (QuantizationMode::Affine, 2) => whole::<2, 16>(words, out, integer),
        (QuantizationMode::Affine, 3) => across::<3>(words, out),
        (QuantizationMode::Affine, 4) => whole::<4, 8>(words, out, integer),
        (QuantizationMode::Affine, 5) => across::<5>(words, out),
        (QuantizationMode::Affine, 6) => across::<6>(words, out),
        (QuantizationMode::Affine, _) => bytes(words, out, integer),
    }
}

#[inline(always)]
fn integer(code: u32) -> f32 {
    code as i32 as f32
}

/// Codes of which a word holds a whole number, `COUNT`.
#[inline(always)]
fn whole<const BITS: usize, const COUNT: usize>(words: &[u32], out: &mut [f32], level: impl Fn(u32) -> f32) {
    vectorised(
        #[inline(always)]
        || {
            // Of a length that is known: the shifts become those of one vector.
            for (&word, out) in words.iter().zip(out.as_chunks_mut::<COUNT>().0) {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = level(word >> (i * BITS) & ((1 << BITS) - 1));
                }
            }
        },
    );
}

/// Codes of eight bits.
#[inline(always)]
fn bytes(words: &[u32], out: &mut [f32], level: impl Fn(u32) -> f32) {
    if cfg!(target_endian = "big") {
        return whole::<8, 4>(words, out, level);
    }
    // SAFETY: the same memory, of which every byte is a number.
    let codes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 4) };
    vectorised(
        #[inline(always)]
        || {
            for (&code, out) in codes.iter().zip(out) {
                *out = level(u32::from(code));
            }
        },
    );
}

/// Codes that cross the borders of words: 32 of them fill `BITS` words.
fn across<const BITS: usize>(words: &[u32], out: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for (words, out) in words.chunks_exact(BITS).zip(out.chunks_exact_mut(32)) {
                for (part, out) in out.chunks_exact_mut(8).enumerate() {
                    let (first, shift) = (part * 8 * BITS / 32, part * 8 * BITS % 32);
                    let high = if first + 1 < BITS { u64::from(words[first + 1]) } else { 0 };
                    let string = (u64::from(words[first]) | high << 32) >> shift;
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = integer((string >> (i * BITS)) as u32 & ((1 << BITS) - 1));
                    }
                }
            }
        },
    );
}
