//! Vectors of floats in x86-64 registers, since the compiler does not always keep arrays in registers.
//!
//! Invariant: a vector type is used only in a loop that is compiled for its target features, into which its methods
//! are inlined; only `with_widest` selects the type, by the detected features. Products are fused only if the processor
//! supports it, which not every x86-64 processor does.

use std::arch::x86_64::*;

use crate::lanes::Lanes;

macro_rules! registers {
    ($($vector:ty: $count:literal $ty:ty, $load:ident $store:ident $stream:ident
        $splat:ident $add:ident $multiply:ident $fused:ident;)*) => {$(
        impl Lanes<$ty> for $vector {
            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(value: $ty) -> Self {
                // SAFETY: the module's invariant.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $ty) -> Self {
                // SAFETY: the module's invariant; the elements are readable by the caller's contract.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $ty) {
                // SAFETY: the module's invariant; the elements are writable by the caller's contract.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn store_nontemporal(self, to: *mut $ty) {
                // SAFETY: the module's invariant; the elements are writable and aligned by the caller's contract.
                unsafe { $stream(to, self) }
            }

            #[inline(always)]
            fn add_product<const FUSED: bool>(self, x: Self, y: Self) -> Self {
                // SAFETY: the module's invariant.
                unsafe { if FUSED { $fused(x, y, self) } else { $add(self, $multiply(x, y)) } }
            }

            #[inline(always)]
            fn reduce_sum(self) -> $ty {
                let mut lanes = [0.0; $count];
                // SAFETY: the array is as long as the vector.
                unsafe { self.store(lanes.as_mut_ptr()) };
                Lanes::<$ty>::reduce_sum(lanes)
            }
        }
    )*};
}

registers! {
    __m512: 16 f32, _mm512_loadu_ps _mm512_storeu_ps _mm512_stream_ps _mm512_set1_ps _mm512_add_ps _mm512_mul_ps _mm512_fmadd_ps;
    __m512d: 8 f64, _mm512_loadu_pd _mm512_storeu_pd _mm512_stream_pd _mm512_set1_pd _mm512_add_pd _mm512_mul_pd _mm512_fmadd_pd;
    __m256: 8 f32, _mm256_loadu_ps _mm256_storeu_ps _mm256_stream_ps _mm256_set1_ps _mm256_add_ps _mm256_mul_ps _mm256_fmadd_ps;
    __m256d: 4 f64, _mm256_loadu_pd _mm256_storeu_pd _mm256_stream_pd _mm256_set1_pd _mm256_add_pd _mm256_mul_pd _mm256_fmadd_pd;
    __m128: 4 f32, _mm_loadu_ps _mm_storeu_ps _mm_stream_ps _mm_set1_ps _mm_add_ps _mm_mul_ps _mm_fmadd_ps;
    __m128d: 2 f64, _mm_loadu_pd _mm_storeu_pd _mm_stream_pd _mm_set1_pd _mm_add_pd _mm_mul_pd _mm_fmadd_pd;
}
