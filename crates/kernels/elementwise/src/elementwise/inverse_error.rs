//! The inverse error function of float32 in two passes: the central approximation for all elements, then the complete function
//! for blocks with arguments outside the central interval, which are rare for uniformly distributed arguments.
#![expect(clippy::cast_ptr_alignment, reason = "the contract of `Kernel` includes alignment")]

use umber_kernels_base::isa::Isa;
use umber_kernels_base::math::float32;

use super::{Entry, LANES, instances};

/// Elements per check for arguments outside the central interval.
const BLOCK: usize = LANES;
/// Elements per batch of the complete function.
const BATCH: usize = 16;

#[inline(always)]
unsafe fn body<I: Isa>(d: *mut u8, x: *const u8, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, x) = unsafe {
        (std::slice::from_raw_parts_mut(d.cast::<f32>(), n), std::slice::from_raw_parts(x.cast::<f32>(), n))
    };
    for (d, x) in d.as_chunks_mut::<BLOCK>().0.iter_mut().zip(x.as_chunks::<BLOCK>().0) {
        let mut is_any_outside = false;
        for (d, &x) in d.iter_mut().zip(x) {
            is_any_outside |= !float32::erfinv_is_central(x);
            *d = float32::erfinv_central::<I>(x);
        }
        if !is_any_outside {
            continue;
        }
        for (d, x) in d.as_chunks_mut::<BATCH>().0.iter_mut().zip(x.as_chunks::<BATCH>().0) {
            let mut is_any_outside = false;
            for &x in x {
                is_any_outside |= !float32::erfinv_is_central(x);
            }
            if is_any_outside {
                for (d, &x) in d.iter_mut().zip(x) {
                    let complete = float32::erfinv(x);
                    *d = if float32::erfinv_is_central(x) { *d } else { complete };
                }
            }
        }
    }
}

instances!(fn kernels, |d, x, _b, _c, n, Set| body::<Set>(d, x, n));

/// The block function.
pub(crate) const fn entry() -> Entry {
    Entry { kernels: kernels(), nontemporal: None, exact: false, cost: 6 }
}
