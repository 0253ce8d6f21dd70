//! `where`: `a` where the condition is true, else `b`. Block functions by element size, since only bits are copied.

use umber_kernels_base::arrays::array_of;
use umber_types::{Bool, DType};

use super::{Entry, LANES, instances};

/// The bits of an element.
trait Bits: Copy {
    fn select(condition: bool, a: Self, b: Self) -> Self;
}

macro_rules! bits {
    ($($ty:ty)*) => { $(
        impl Bits for $ty {
            // Bitwise, without `if`: the compiler would select between addresses and emit gathers.
            #[inline(always)]
            fn select(condition: bool, a: $ty, b: $ty) -> $ty {
                b ^ ((a ^ b) & <$ty>::from(condition).wrapping_neg())
            }
        }
    )* };
}
bits!(u8 u16 u32 u64);

impl Bits for [u64; 2] {
    #[inline(always)]
    fn select(condition: bool, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        array_of(|i| u64::select(condition, a[i], b[i]))
    }
}

#[inline(always)]
unsafe fn blend<T: Bits>(d: *mut T, condition: *const Bool, a: *const T, b: *const T, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, condition, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(d, n),
            std::slice::from_raw_parts(condition, n),
            std::slice::from_raw_parts(a, n),
            std::slice::from_raw_parts(b, n),
        )
    };
    for (d, ((condition, &a), &b)) in d.iter_mut().zip(condition.iter().zip(a).zip(b)) {
        *d = T::select(condition.get(), a, b);
    }
}

instances!(
    fn kernels<T: Bits>,
    |d, condition, a, b, n, _Set| blend::<T>(d.cast(), condition.cast(), a.cast(), b.cast(), n)
);

const fn entry_of<T: Bits>() -> Entry {
    Entry { kernels: kernels::<T>(), nontemporal: None, exact: false, cost: 1 }
}

/// The block function for elements of the (computing) dtype.
pub(crate) fn entry(dtype: DType) -> Entry {
    match dtype.size() {
        1 => const { entry_of::<u8>() },
        2 => const { entry_of::<u16>() },
        4 => const { entry_of::<u32>() },
        8 => const { entry_of::<u64>() },
        _ => const { entry_of::<[u64; 2]>() },
    }
}
