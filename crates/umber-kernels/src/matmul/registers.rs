//! Vectors of floats in the registers of x86-64: arrays of floats are not always kept in them.
//!
//! Invariant: a vector is used only in a loop that was compiled for the features it needs, into which its methods
//! are inlined; only `with_widest` chooses the vector, after it has asked the processor for the features.

use std::arch::x86_64::*;

use super::lanes::Lanes;

macro_rules! registers {
    ($($vector:ty: $count:literal $ty:ty, $load:ident $store:ident $splat:ident $add_product:ident;)*) => {$(
        impl Lanes<$ty> for $vector {
            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(value: $ty) -> Self {
                // SAFETY: the module invariant.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $ty) -> Self {
                // SAFETY: the module invariant, and the caller's.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $ty) {
                // SAFETY: the module invariant, and the caller's.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            fn add_product<const FUSED: bool>(self, x: Self, y: Self) -> Self {
                // SAFETY: the module invariant.
                unsafe { $add_product(x, y, self) }
            }

            #[inline(always)]
            fn total(self) -> $ty {
                let mut lanes = [0.0; $count];
                // SAFETY: the array is as long as the vector.
                unsafe { self.store(lanes.as_mut_ptr()) };
                Lanes::<$ty>::total(lanes)
            }
        }
    )*};
}

registers! {
    __m512: 16 f32, _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_fmadd_ps;
    __m512d: 8 f64, _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_fmadd_pd;
    __m256: 8 f32, _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_fmadd_ps;
    __m256d: 4 f64, _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_fmadd_pd;
    __m128: 4 f32, _mm_loadu_ps _mm_storeu_ps _mm_set1_ps add_product_ps;
    __m128d: 2 f64, _mm_loadu_pd _mm_storeu_pd _mm_set1_pd add_product_pd;
}

/// Not every x86-64 processor has a fused multiply-add.
#[inline(always)]
unsafe fn add_product_ps(x: __m128, y: __m128, sum: __m128) -> __m128 {
    // SAFETY: every x86-64 processor has SSE.
    unsafe { _mm_add_ps(sum, _mm_mul_ps(x, y)) }
}

/// As [`add_product_ps`].
#[inline(always)]
unsafe fn add_product_pd(x: __m128d, y: __m128d, sum: __m128d) -> __m128d {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { _mm_add_pd(sum, _mm_mul_pd(x, y)) }
}
