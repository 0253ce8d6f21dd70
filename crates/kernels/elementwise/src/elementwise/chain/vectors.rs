//! The x86-64 vector types that chains accumulate in.
//!
//! Invariant: a vector type is used only in a loop that is compiled for its instruction set, into which its methods are
//! inlined; [`chain`](super::chain) selects the loop by the processor's features.

use std::arch::x86_64::*;

use crate::elementwise::float16_convert::{round_avx512, round_f16c};

const FLOATS_ONLY: &str = "integer chains have no such links";
const FLOAT32_ONLY: &str = "only float32 converts from other types";

/// A vector register. Arithmetic is bitwise identical to that of the block functions.
pub(super) trait Vector: Copy {
    /// Number of elements.
    const COUNT: usize;
    /// Bytes of an element.
    const SIZE: usize;
    /// True if float16, bfloat16 and int32 operands are converted to these elements.
    const CONVERTS: bool;

    fn zero() -> Self;
    fn one() -> Self;
    /// The element with these bits in all lanes; excess high bits are ignored.
    fn splat(bits: u64) -> Self;
    fn add(self, x: Self) -> Self;
    fn subtract(self, x: Self) -> Self;
    fn multiply(self, x: Self) -> Self;
    /// For floats only, like all the following methods except loads and stores.
    fn divide(self, _x: Self) -> Self {
        unreachable!("{FLOATS_ONLY}")
    }
    /// `self` if it is NaN or greater, else `x`.
    fn maximum(self, _x: Self) -> Self {
        unreachable!("{FLOATS_ONLY}")
    }
    /// `self` if it is NaN or less, else `x`.
    fn minimum(self, _x: Self) -> Self {
        unreachable!("{FLOATS_ONLY}")
    }
    fn negative(self) -> Self {
        unreachable!("{FLOATS_ONLY}")
    }
    fn abs(self) -> Self {
        unreachable!("{FLOATS_ONLY}")
    }
    fn sqrt(self) -> Self {
        unreachable!("{FLOATS_ONLY}")
    }
    /// # Safety
    /// The elements are readable.
    unsafe fn load(from: *const u8) -> Self;
    /// # Safety
    /// The elements are writable.
    unsafe fn store(self, to: *mut u8);
    /// A non-temporal store.
    ///
    /// # Safety
    /// The elements are writable, and aligned to the size of the vector.
    unsafe fn stream(self, to: *mut u8);
    /// # Safety
    /// `COUNT` bfloat16 elements are readable; `CONVERTS` is true, as for the next four methods.
    unsafe fn load_bfloat16(_from: *const u8) -> Self {
        unreachable!("{FLOAT32_ONLY}")
    }
    /// # Safety
    /// `COUNT` 32-bit integers are readable.
    unsafe fn load_integers(_from: *const u8) -> Self {
        unreachable!("{FLOAT32_ONLY}")
    }
    /// # Safety
    /// As [`Vector::load_bfloat16`].
    unsafe fn load_float16(_from: *const u8) -> Self {
        unreachable!("{FLOAT32_ONLY}")
    }
    /// # Safety
    /// Twice `COUNT` 16-bit elements are writable, aligned to 64 bytes for non-temporal stores.
    unsafe fn store_bfloat16(_pair: [Self; 2], _to: *mut u8, _nontemporal: bool) {
        unreachable!("{FLOAT32_ONLY}")
    }
    /// # Safety
    /// As [`Vector::store_bfloat16`].
    unsafe fn store_float16(_pair: [Self; 2], _to: *mut u8, _nontemporal: bool) {
        unreachable!("{FLOAT32_ONLY}")
    }
}

/// A call of one intrinsic.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: the module's invariant, and the contract of the calling method.
        unsafe { $call }
    };
}

/// The methods that both float types have in both widths.
macro_rules! arithmetic {
    ($element:ty, $zero:ident $splat:ident $add:ident $subtract:ident $multiply:ident $divide:ident $sqrt:ident
     $load:ident $store:ident $stream:ident, $bits:ty) => {
        const COUNT: usize = size_of::<Self>() / size_of::<$element>();
        const SIZE: usize = size_of::<$element>();

        #[inline(always)]
        fn zero() -> Self {
            instruction!($zero())
        }
        #[inline(always)]
        fn one() -> Self {
            instruction!($splat(1.0))
        }
        #[inline(always)]
        fn splat(bits: u64) -> Self {
            instruction!($splat(<$element>::from_bits(bits as $bits)))
        }
        #[inline(always)]
        fn add(self, x: Self) -> Self {
            instruction!($add(self, x))
        }
        #[inline(always)]
        fn subtract(self, x: Self) -> Self {
            instruction!($subtract(self, x))
        }
        #[inline(always)]
        fn multiply(self, x: Self) -> Self {
            instruction!($multiply(self, x))
        }
        #[inline(always)]
        fn divide(self, x: Self) -> Self {
            instruction!($divide(self, x))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            instruction!($sqrt(self))
        }
        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            instruction!($load(from.cast()))
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            instruction!($store(to.cast(), self))
        }
        #[inline(always)]
        unsafe fn stream(self, to: *mut u8) {
            instruction!($stream(to.cast(), self))
        }
    };
}

/// Maximum, minimum and sign operations. For NaN and for equal zeros, `maxps` and `minps` return their second operand.
macro_rules! by_masks {
    ($is_nan:ident $select:ident $max:ident $min:ident $and_not:ident $xor:ident $splat:ident) => {
        #[inline(always)]
        fn maximum(self, x: Self) -> Self {
            instruction!($select(self, $max(self, x), $is_nan(self)))
        }
        #[inline(always)]
        fn minimum(self, x: Self) -> Self {
            instruction!($select(self, $min(self, x), $is_nan(self)))
        }
        #[inline(always)]
        fn negative(self) -> Self {
            instruction!($xor(self, $splat(-0.0)))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            instruction!($and_not($splat(-0.0), self))
        }
    };
}

macro_rules! selections {
    ($($name:ident $is_nan:ident: $vector:ty, $mask:ty, |$a:ident, $b:ident, $m:ident| $select:expr, $compare:expr;)*) => {$(
        /// Lanes of the first vector where the mask is set, else of the second.
        #[inline(always)]
        unsafe fn $name($a: $vector, $b: $vector, $m: $mask) -> $vector {
            // SAFETY: the module's invariant.
            unsafe { $select }
        }
        #[inline(always)]
        unsafe fn $is_nan($a: $vector) -> $mask {
            // SAFETY: the module's invariant.
            unsafe { $compare }
        }
    )*};
}

selections! {
    select_16 nan_16: __m512, __mmask16, |a, b, m| _mm512_mask_mov_ps(b, m, a), _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a);
    select_8d nan_8d: __m512d, __mmask8, |a, b, m| _mm512_mask_mov_pd(b, m, a), _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, a);
    select_8 nan_8: __m256, __m256, |a, b, m| _mm256_blendv_ps(b, a, m), _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a);
    select_4d nan_4d: __m256d, __m256d, |a, b, m| _mm256_blendv_pd(b, a, m), _mm256_cmp_pd::<_CMP_UNORD_Q>(a, a);
}

impl Vector for __m512 {
    const CONVERTS: bool = true;
    arithmetic!(f32, _mm512_setzero_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_sqrt_ps
        _mm512_loadu_ps _mm512_storeu_ps _mm512_stream_ps, u32);
    by_masks!(nan_16 select_16 _mm512_max_ps _mm512_min_ps _mm512_andnot_ps _mm512_xor_ps _mm512_set1_ps);

    #[inline(always)]
    unsafe fn load_bfloat16(from: *const u8) -> Self {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe {
            let wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(wide))
        }
    }

    #[inline(always)]
    unsafe fn load_integers(from: *const u8) -> Self {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe { _mm512_cvtepi32_ps(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_float16(from: *const u8) -> Self {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_bfloat16(pair: [Self; 2], to: *mut u8, nontemporal: bool) {
        for (i, x) in pair.into_iter().enumerate() {
            // SAFETY: the caller's contract, and the module's invariant.
            unsafe {
                let bits = _mm512_castps_si512(x);
                let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
                let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
                let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(1 << 22));
                let wide = _mm512_mask_mov_epi32(rounded, nan_16(x), quiet);
                let float16s = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(wide));
                store_float16s(to.add(i * size_of::<__m256i>()), float16s, nontemporal);
            }
        }
    }

    #[inline(always)]
    unsafe fn store_float16(pair: [Self; 2], to: *mut u8, nontemporal: bool) {
        for (i, x) in pair.into_iter().enumerate() {
            // SAFETY: the caller's contract, and the module's invariant.
            unsafe { store_float16s(to.add(i * size_of::<__m256i>()), round_avx512(x), nontemporal) }
        }
    }
}

/// # Safety
/// Sixteen 16-bit elements are writable, and aligned for non-temporal stores.
#[inline(always)]
unsafe fn store_float16s(to: *mut u8, float16s: __m256i, nontemporal: bool) {
    // SAFETY: the caller's contract, and the module's invariant.
    unsafe {
        if nontemporal {
            _mm256_stream_si256(to.cast(), float16s);
        } else {
            _mm256_storeu_si256(to.cast(), float16s);
        }
    }
}

impl Vector for __m512d {
    const CONVERTS: bool = false;
    arithmetic!(f64, _mm512_setzero_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_sqrt_pd
        _mm512_loadu_pd _mm512_storeu_pd _mm512_stream_pd, u64);
    by_masks!(nan_8d select_8d _mm512_max_pd _mm512_min_pd _mm512_andnot_pd _mm512_xor_pd _mm512_set1_pd);
}

impl Vector for __m256 {
    const CONVERTS: bool = true;
    arithmetic!(f32, _mm256_setzero_ps _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_sqrt_ps
        _mm256_loadu_ps _mm256_storeu_ps _mm256_stream_ps, u32);
    by_masks!(nan_8 select_8 _mm256_max_ps _mm256_min_ps _mm256_andnot_ps _mm256_xor_ps _mm256_set1_ps);

    #[inline(always)]
    unsafe fn load_bfloat16(from: *const u8) -> Self {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe {
            let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
        }
    }

    #[inline(always)]
    unsafe fn load_integers(from: *const u8) -> Self {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe { _mm256_cvtepi32_ps(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_float16(from: *const u8) -> Self {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_bfloat16([low, high]: [Self; 2], to: *mut u8, nontemporal: bool) {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe {
            // `packus` interleaves by 128-bit lanes; the permutation restores the order.
            let float16s = _mm256_packus_epi32(rounded_8(low), rounded_8(high));
            store_float16s(to, _mm256_permute4x64_epi64::<0b11_01_10_00>(float16s), nontemporal);
        }
    }

    #[inline(always)]
    unsafe fn store_float16([low, high]: [Self; 2], to: *mut u8, nontemporal: bool) {
        // SAFETY: the caller's contract, and the module's invariant.
        unsafe {
            let float16s = _mm256_set_m128i(round_f16c(high), round_f16c(low));
            store_float16s(to, float16s, nontemporal);
        }
    }
}

/// The bits of floats rounded to bfloat16.
///
/// # Safety
/// The caller is compiled for AVX2.
#[inline(always)]
unsafe fn rounded_8(x: __m256) -> __m256i {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let bits = _mm256_castps_si256(x);
        let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
        let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
        let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(1 << 22));
        let wide = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan_8(x)));
        _mm256_srli_epi32::<16>(wide)
    }
}

impl Vector for __m256d {
    const CONVERTS: bool = false;
    arithmetic!(f64, _mm256_setzero_pd _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_sqrt_pd
        _mm256_loadu_pd _mm256_storeu_pd _mm256_stream_pd, u64);
    by_masks!(nan_4d select_4d _mm256_max_pd _mm256_min_pd _mm256_andnot_pd _mm256_xor_pd _mm256_set1_pd);
}

/// 32-bit integers with wrapping arithmetic, which is the same for signed and unsigned ones.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Words512(__m512i);
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Words256(__m256i);

macro_rules! words {
    ($($vector:ident, $splat:ident $add:ident $subtract:ident $multiply:ident $load:ident $store:ident $stream:ident;)*) => {$(
        impl Vector for $vector {
            const COUNT: usize = size_of::<Self>() / 4;
            const SIZE: usize = 4;
            const CONVERTS: bool = false;

            #[inline(always)]
            fn zero() -> Self {
                Self::splat(0)
            }
            #[inline(always)]
            fn one() -> Self {
                Self::splat(1)
            }
            #[inline(always)]
            fn splat(bits: u64) -> Self {
                instruction!($vector($splat(bits as i32)))
            }
            #[inline(always)]
            fn add(self, x: Self) -> Self {
                instruction!($vector($add(self.0, x.0)))
            }
            #[inline(always)]
            fn subtract(self, x: Self) -> Self {
                instruction!($vector($subtract(self.0, x.0)))
            }
            #[inline(always)]
            fn multiply(self, x: Self) -> Self {
                instruction!($vector($multiply(self.0, x.0)))
            }
            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                instruction!($vector($load(from.cast())))
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                instruction!($store(to.cast(), self.0))
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut u8) {
                instruction!($stream(to.cast(), self.0))
            }
        }
    )*};
}

words! {
    Words512, _mm512_set1_epi32 _mm512_add_epi32 _mm512_sub_epi32 _mm512_mullo_epi32
        _mm512_loadu_si512 _mm512_storeu_si512 _mm512_stream_si512;
    Words256, _mm256_set1_epi32 _mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32
        _mm256_loadu_si256 _mm256_storeu_si256 _mm256_stream_si256;
}
