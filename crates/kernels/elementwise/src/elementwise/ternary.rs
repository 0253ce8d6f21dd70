//! Table of the block functions of three elements, by kind and dtype.

use umber_kernels_base::math::incomplete_beta::{beta_density, betainc, betainc_slope_a, betainc_slope_b};
use umber_types::{DType, TernaryKind};

use super::Entry;

/// A float dtype whose functions are computed in f64 and rounded once.
trait Float: Copy + Into<f64> {
    fn round(value: f64) -> Self;
}

impl Float for f32 {
    fn round(value: f64) -> f32 {
        value as f32
    }
}

impl Float for f64 {
    fn round(value: f64) -> f64 {
        value
    }
}

/// A function of three elements.
trait Map3 {
    fn f(a: f64, b: f64, c: f64) -> f64;
}

struct BetaInc;
struct BetaDensity;
struct BetaIncSlopeA;
struct BetaIncSlopeB;

impl Map3 for BetaInc {
    fn f(a: f64, b: f64, x: f64) -> f64 {
        betainc(a, b, x)
    }
}

impl Map3 for BetaDensity {
    fn f(a: f64, b: f64, x: f64) -> f64 {
        beta_density(a, b, x)
    }
}

impl Map3 for BetaIncSlopeA {
    fn f(a: f64, b: f64, x: f64) -> f64 {
        betainc_slope_a(a, b, x)
    }
}

impl Map3 for BetaIncSlopeB {
    fn f(a: f64, b: f64, x: f64) -> f64 {
        betainc_slope_b(a, b, x)
    }
}

unsafe fn elementwise3<O: Map3, T: Float>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
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
        *d = T::round(O::f(a.into(), b.into(), c.into()));
    }
}

const fn entry_of<O: Map3, T: Float>() -> Entry {
    Entry { kernels: [elementwise3::<O, T>; 3], nontemporal: None, exact: true, cost: 40 }
}

/// The block function, if the kind supports the (computing) dtype.
pub(crate) fn entry(kind: TernaryKind, dtype: DType) -> Option<Entry> {
    match (kind, dtype) {
        (TernaryKind::BetaInc, DType::Float32) => Some(const { entry_of::<BetaInc, f32>() }),
        (TernaryKind::BetaInc, DType::Float64) => Some(const { entry_of::<BetaInc, f64>() }),
        (TernaryKind::BetaDensity, DType::Float32) => Some(const { entry_of::<BetaDensity, f32>() }),
        (TernaryKind::BetaDensity, DType::Float64) => Some(const { entry_of::<BetaDensity, f64>() }),
        (TernaryKind::BetaIncSlopeA, DType::Float32) => Some(const { entry_of::<BetaIncSlopeA, f32>() }),
        (TernaryKind::BetaIncSlopeA, DType::Float64) => Some(const { entry_of::<BetaIncSlopeA, f64>() }),
        (TernaryKind::BetaIncSlopeB, DType::Float32) => Some(const { entry_of::<BetaIncSlopeB, f32>() }),
        (TernaryKind::BetaIncSlopeB, DType::Float64) => Some(const { entry_of::<BetaIncSlopeB, f64>() }),
        _ => None,
    }
}
