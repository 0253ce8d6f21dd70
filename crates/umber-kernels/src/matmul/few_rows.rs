//! Products of 16-bit floats with few rows, or columns: bound by memory, so the large matrix is read in place, once, and
//! widened in registers.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use umber_types::{bf16, f16};

use super::lanes::{Lanes, Source};
use super::multiply::{FEW_ROWS, Multiply};
use super::pack::pack;
use super::product::{Into, Matrix, Product};
use super::{across, dot, scratch, stream};
use crate::halves::{bf16_to_f32, f16_to_f32};

/// Elements of the small matrix that are kept widened, in the first cache.
const KEPT: usize = 8192;
/// Least depth of sums along memory; lesser ones are cheaper across it.
const DEEP: usize = 32;

/// Compute `a @ b`, or answer `false` where that is no product for this way.
pub(super) fn product<T: Multiply<Wide = f32> + Source<f32>>(product: &Product<T, f32>) -> bool {
    let Product { m, n, a, b, out, out_row, .. } = *product;
    if m <= FEW_ROWS && rows(product) {
        return true;
    }
    if n > FEW_ROWS {
        return false;
    }
    // The transposed product has few rows.
    let flipped =
        Product { m: n, n: m, a: b.transposed(), b: a.transposed(), out_row: m as isize, ..*product };
    if n == 1 && out_row == 1 {
        return rows(&flipped);
    }
    scratch::with(n * m, |sums: &mut [f32]| {
        let done = rows(&Product { out: sums.as_mut_ptr(), ..flipped });
        if done {
            for i in 0..m {
                for j in 0..n {
                    // SAFETY: inside the product's output.
                    unsafe { *out.offset(i as isize * out_row).add(j) = sums[j * m + i] };
                }
            }
        }
        done
    })
}

/// [`product`] for few rows.
fn rows<T: Multiply<Wide = f32> + Source<f32>>(product: &Product<T, f32>) -> bool {
    let Product { m, n, k, b, out, out_row, .. } = *product;
    let is_along = b.rows == 1 && k >= DEEP;
    if !is_along && b.columns != 1 {
        return false;
    }
    let depth = (KEPT / m.max(1)).min(k);
    scratch::with(m * depth, |left: &mut [f32]| {
        for u in (0..k).step_by(depth) {
            let part = product.depths(u..k.min(u + depth));
            pack(part.a, m, part.k, left, part.k, T::widen);
            let a = Matrix { start: left.as_ptr(), rows: part.k as isize, columns: 1 };
            let part = Product { m, n, k: part.k, a, b: part.b, out, out_row };
            let into = if u == 0 { Into::Fresh } else { Into::Sum };
            if is_along {
                dot::product(&part, into);
            } else if m == 1 {
                stream::product(&part, into);
            } else {
                if into == Into::Fresh {
                    part.fill_out(0.0);
                }
                let done = across::product(&part);
                stream::product(&part.columns(done..n), Into::Sum);
            }
        }
    });
    true
}

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
                    // SAFETY: the caller's; vectors of this length are used only where the processor has them.
                    16 => return unsafe { std::mem::transmute_copy(&$widen16(_mm256_loadu_si256(from.cast()))) },
                    // SAFETY: as above.
                    8 => return unsafe { std::mem::transmute_copy(&$widen8(_mm_loadu_si128(from.cast()))) },
                    _ => {}
                }
                let mut lanes = [0.0; 16];
                for (i, lane) in lanes.iter_mut().enumerate().take(V::COUNT) {
                    // SAFETY: the caller's.
                    *lane = $widen(unsafe { from.add(i).read() });
                }
                // SAFETY: no vector of float32 is longer.
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
    // SAFETY: the caller's.
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bits))) }
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn bf16_by_8(bits: __m128i) -> __m256 {
    // SAFETY: the caller's.
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits))) }
}
