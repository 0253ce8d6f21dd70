//! The inverse of the error function of float32: a function for what lies in the middle, and where anything does not, which is
//! seldom for numbers that are drawn evenly, the complete one once more.
#![expect(clippy::cast_ptr_alignment, reason = "the contract of `Kernel` has elements aligned")]

use umber_kernels_base::isa::Isa;
use umber_kernels_base::math::float32;

use super::{Entry, LANES, instances};

/// Elements that are computed before it is asked whether all are in the middle.
const BLOCK: usize = LANES;
/// Elements that go through the complete function together.
const BATCH: usize = 16;

#[inline(always)]
unsafe fn body<I: Isa>(d: *mut u8, x: *const u8, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: the contract of `Kernel`.
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
