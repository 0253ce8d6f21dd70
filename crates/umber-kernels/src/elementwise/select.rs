//! `a` where a condition holds, else `b`: block functions by element size, since only bits move.

use umber_types::{Bool, DType};

use super::{Entry, Kernel, LANES};

/// The bits of an element.
trait Bits: Copy {
    fn either(condition: bool, a: Self, b: Self) -> Self;
}

macro_rules! bits {
    ($($ty:ty)*) => { $(
        impl Bits for $ty {
            // Not by `if`: the compiler would choose between addresses, and gather.
            #[inline(always)]
            fn either(condition: bool, a: $ty, b: $ty) -> $ty {
                b ^ ((a ^ b) & <$ty>::from(condition).wrapping_neg())
            }
        }
    )* };
}
bits!(u8 u16 u32 u64);

impl Bits for [u64; 2] {
    #[inline(always)]
    fn either(condition: bool, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        std::array::from_fn(|i| u64::either(condition, a[i], b[i]))
    }
}

#[inline(always)]
unsafe fn blend<T: Bits>(d: *mut T, condition: *const Bool, a: *const T, b: *const T, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: the contract of `Kernel`.
    let (d, condition, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(d, n),
            std::slice::from_raw_parts(condition, n),
            std::slice::from_raw_parts(a, n),
            std::slice::from_raw_parts(b, n),
        )
    };
    for (d, ((condition, &a), &b)) in d.iter_mut().zip(condition.iter().zip(a).zip(b)) {
        *d = T::either(condition.get(), a, b);
    }
}

unsafe fn portable<T: Bits>(d: *mut u8, condition: *const u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: passed on.
    unsafe { blend::<T>(d.cast(), condition.cast(), a.cast(), b.cast(), n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<T: Bits>(d: *mut u8, condition: *const u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: passed on.
    unsafe { blend::<T>(d.cast(), condition.cast(), a.cast(), b.cast(), n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<T: Bits>(d: *mut u8, condition: *const u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: passed on.
    unsafe { blend::<T>(d.cast(), condition.cast(), a.cast(), b.cast(), n) }
}

const fn instances<T: Bits>() -> Entry {
    #[cfg(target_arch = "x86_64")]
    let kernels: [Kernel; 3] = [portable::<T>, avx2::<T>, avx512::<T>];
    #[cfg(not(target_arch = "x86_64"))]
    let kernels: [Kernel; 3] = [portable::<T>; 3];
    Entry { kernels, past_caches: None, exact: false, cost: 1 }
}

/// The block function for elements of the (computing) dtype.
pub(crate) fn entry(dtype: DType) -> Entry {
    match dtype.size() {
        1 => const { instances::<u8>() },
        2 => const { instances::<u16>() },
        4 => const { instances::<u32>() },
        8 => const { instances::<u64>() },
        _ => const { instances::<[u64; 2]>() },
    }
}
