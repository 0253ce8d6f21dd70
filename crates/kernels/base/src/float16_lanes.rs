//! float16 and bfloat16 loaded as vectors of float32.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use umber_types::{bf16, f16};

use crate::float16::{bf16_to_f32, f16_to_f32};
use crate::lanes::{Lanes, Source};

macro_rules! sources {
    ($($ty:ty: $widen:ident, $widen16:ident $widen8:ident;)*) => {$(
        impl Source<f32> for $ty {
            #[inline(always)]
            fn term(self) -> f32 {
                $widen(self)
            }

            #[inline(always)]
            unsafe fn load<V: Lanes<f32>>(from: *const $ty) -> V {
                #[cfg(target_arch = "x86_64")]
                match V::COUNT {
                    // SAFETY: the elements are readable by the caller's contract; sixteen lanes are used only with AVX-512.
                    16 => return unsafe { std::mem::transmute_copy(&$widen16(_mm256_loadu_si256(from.cast()))) },
                    // SAFETY: as above; eight lanes are used only with AVX2 and F16C.
                    8 => return unsafe { std::mem::transmute_copy(&$widen8(_mm_loadu_si128(from.cast()))) },
                    _ => {}
                }
                let mut lanes = [0.0; 16];
                for (i, lane) in lanes.iter_mut().enumerate().take(V::COUNT) {
                    // SAFETY: guaranteed by the caller of this function.
                    *lane = $widen(unsafe { from.add(i).read() });
                }
                // SAFETY: the array has the elements of the longest vector of float32.
                unsafe { V::load(lanes.as_ptr()) }
            }
        }
    )*};
}
sources! {
    bf16: bf16_to_f32, bf16_by_16 bf16_by_8;
    f16: f16_to_f32, _mm512_cvtph_ps _mm256_cvtph_ps;
}

/// # Safety
/// The processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn bf16_by_16(bits: __m256i) -> __m512 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bits))) }
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn bf16_by_8(bits: __m128i) -> __m256 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits))) }
}
