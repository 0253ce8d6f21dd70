//! `x^y` of float32 in two loops: a single one would need more registers than there are.
#![expect(clippy::cast_ptr_alignment, reason = "the contract of `Kernel` includes alignment")]

use umber_kernels_base::isa::Isa;
use umber_kernels_base::math::float32;

use super::{Entry, LANES, instances};

/// Elements per batch: their exponents are stored in L1 between the loops.
const BATCH: usize = 512;

#[inline(always)]
unsafe fn body<I: Isa>(d: *mut u8, x: *const u8, y: *const u8, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, x, y) = unsafe {
        (
            std::slice::from_raw_parts_mut(d.cast::<f32>(), n),
            std::slice::from_raw_parts(x.cast::<f32>(), n),
            std::slice::from_raw_parts(y.cast::<f32>(), n),
        )
    };
    let (mut high, mut low) = ([0.0; BATCH], [0.0; BATCH]);
    for ((d, x), y) in d.chunks_mut(BATCH).zip(x.chunks(BATCH)).zip(y.chunks(BATCH)) {
        let mut is_any_rare = false;
        for (((high, low), &x), &y) in high.iter_mut().zip(&mut low).zip(x).zip(y) {
            is_any_rare |= float32::power_is_rare(x, y);
            (*high, *low) = float32::exponent_of_power::<I>(x, y);
        }
        for ((((d, &high), &low), &x), &y) in d.iter_mut().zip(&high).zip(&low).zip(x).zip(y) {
            *d = float32::power_of_exponent::<I>((high, low), x, y);
        }
        if is_any_rare {
            d.iter_mut().zip(x.iter().zip(y)).for_each(|(d, (&x, &y))| *d = float32::power::<I>(x, y));
        }
    }
}

instances!(fn kernels, |d, x, y, _c, n, Set| body::<Set>(d, x, y, n));

/// The block function.
pub(crate) const fn entry() -> Entry {
    Entry { kernels: kernels(), nontemporal: None, exact: false, cost: 15 }
}
