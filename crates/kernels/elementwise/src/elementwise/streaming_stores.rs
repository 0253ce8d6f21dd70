//! Block functions with non-temporal stores, a few cache lines at a time.
//!
//! For functions that return bool: the output is a fraction of the input, so buffering a block of it in L1 stalls the reads.
//! Outputs of the operands' width may be buffered.
#![expect(clippy::cast_ptr_alignment, reason = "blocks of LANES elements are cache-line aligned")]

use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
use std::mem::MaybeUninit;

use umber_kernels_base::isa::Isa;
use umber_types::{DType, Element};

use super::{Kernel, LANES, Map1, Map2, loop1, loop2};

/// Write the [`LANES`] elements that `compute` produces with non-temporal stores.
///
/// # Safety
/// `compute` fills [`LANES`] elements; as many are writable at `to`, which is aligned to 16 bytes.
#[inline(always)]
unsafe fn stream<D: Copy>(to: *mut u8, compute: impl FnOnce(*mut u8)) {
    let mut block = [const { MaybeUninit::<D>::uninit() }; LANES];
    compute(block.as_mut_ptr().cast());
    let from: *const __m128i = block.as_ptr().cast();
    for i in 0..size_of_val(&block) / size_of::<__m128i>() {
        // SAFETY: guaranteed by the caller of this function; SSE2 is part of x86-64.
        unsafe { _mm_stream_si128(to.cast::<__m128i>().add(i), _mm_loadu_si128(from.add(i))) };
    }
}

#[inline(always)]
unsafe fn streaming_loop1<O: Map1, I: Isa>(d: *mut u8, a: *const u8, n: usize) {
    for i in (0..n).step_by(LANES) {
        // SAFETY: the contract of `Kernel`; the destination is cache-line aligned, see [`nontemporal1`].
        unsafe {
            let a = a.add(i * size_of::<O::A>());
            stream::<O::D>(d.add(i * size_of::<O::D>()), |block| loop1::<O, I>(block, a, LANES));
        }
    }
}

#[inline(always)]
unsafe fn streaming_loop2<O: Map2, I: Isa>(d: *mut u8, a: *const u8, b: *const u8, n: usize) {
    for i in (0..n).step_by(LANES) {
        // SAFETY: the contract of `Kernel`; the destination is cache-line aligned, see [`nontemporal2`].
        unsafe {
            let (a, b) = (a.add(i * size_of::<O::A>()), b.add(i * size_of::<O::A>()));
            stream::<O::D>(d.add(i * size_of::<O::D>()), |block| loop2::<O, I>(block, a, b, LANES));
        }
    }
}

super::instances!(fn kernels1<O: Map1>, |d, a, _b, _c, n, Set| streaming_loop1::<O, Set>(d, a, n));
super::instances!(fn kernels2<O: Map2>, |d, a, b, _c, n, Set| streaming_loop2::<O, Set>(d, a, b, n));

/// The kernels for each instruction set, if the function returns bool; the destination must be cache-line aligned.
pub(super) const fn nontemporal1<O: Map1>() -> Option<[Kernel; 3]> {
    if is_bool::<O::D>() { Some(kernels1::<O>()) } else { None }
}

/// As [`nontemporal1`].
pub(super) const fn nontemporal2<O: Map2>() -> Option<[Kernel; 3]> {
    if is_bool::<O::D>() { Some(kernels2::<O>()) } else { None }
}

const fn is_bool<T: Element>() -> bool {
    matches!(T::DTYPE, DType::Bool)
}
