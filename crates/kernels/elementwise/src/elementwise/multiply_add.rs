//! `a b + c` in one pass, rounded twice like the two separate steps; saves storing and reloading the product.

use umber_types::{BinaryKind, DType};

use super::{Entry, LANES, instances};

/// A float dtype that is computed in itself.
trait Float: Copy + std::ops::Mul<Output = Self> + std::ops::Add<Output = Self> {}
impl Float for f32 {}
impl Float for f64 {}

#[inline(always)]
unsafe fn body<T: Float>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, a, b, c) = unsafe {
        (
            std::slice::from_raw_parts_mut(d.cast::<T>(), n),
            std::slice::from_raw_parts(a.cast::<T>(), n),
            std::slice::from_raw_parts(b.cast::<T>(), n),
            std::slice::from_raw_parts(c.cast::<T>(), n),
        )
    };
    for (d, ((&a, &b), &c)) in d.iter_mut().zip(a.iter().zip(b).zip(c)) {
        *d = a * b + c;
    }
}

instances!(fn kernels<T: Float>, |d, a, b, c, n, _Set| body::<T>(d, a, b, c, n));

const fn entry_of<T: Float>() -> Entry {
    Entry { kernels: kernels::<T>(), nontemporal: None, exact: false, cost: 2 }
}

/// The block function of a multiplication followed by `kind`, if there is one.
pub(crate) fn entry(kind: BinaryKind, dtype: DType) -> Option<Entry> {
    match (kind, dtype) {
        (BinaryKind::Add, DType::Float16 | DType::BFloat16 | DType::Float32) => {
            Some(const { entry_of::<f32>() })
        }
        (BinaryKind::Add, DType::Float64) => Some(const { entry_of::<f64>() }),
        _ => None,
    }
}
