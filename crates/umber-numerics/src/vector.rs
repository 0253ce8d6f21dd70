//! SIMD vectors whose lanes belong to different lines or matrices, for each instruction set.
//!
//! Intrinsics, because squares of lanes are transposed in registers, and the eight rows of a butterfly must stay in
//! registers.

#[cfg(target_arch = "x86_64")]
mod x86;

use num_traits::Float;
use umber_kernels_base::isa::level;

/// A SIMD register.
///
/// # Safety
///
/// All functions need the instruction set of the vector, which [`WithSimd::run`] guarantees, and pointers valid for all
/// lanes.
pub(crate) trait Vector: Copy {
    /// The element type.
    type Lane: Float + Send + Sync + 'static;
    /// As many vectors as each has lanes.
    type Square: AsMut<[Self]> + AsRef<[Self]> + Copy;
    /// Number of lanes.
    const LANES: usize;

    unsafe fn splat(x: Self::Lane) -> Self;
    unsafe fn load(from: *const Self::Lane) -> Self;
    unsafe fn store(self, to: *mut Self::Lane);
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * a + b`
    unsafe fn mul_add(self, a: Self, b: Self) -> Self;
    /// `self * a - b`
    unsafe fn mul_sub(self, a: Self, b: Self) -> Self;
    /// `b - self * a`
    unsafe fn neg_mul_add(self, a: Self, b: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    unsafe fn abs(self) -> Self;
    /// Bit mask of the lanes that are greater than those of `other`; the first lane is the lowest bit.
    unsafe fn gt_mask(self, other: Self) -> u32;
    /// As [`Vector::gt_mask`], for equality.
    unsafe fn eq_mask(self, other: Self) -> u32;
    /// Lanes of `then` where `self > other`, elsewhere of `otherwise`.
    unsafe fn select_gt(self, other: Self, then: Self, otherwise: Self) -> Self;
    /// Lanes of `then` where `self == other`, elsewhere of `otherwise`.
    unsafe fn select_eq(self, other: Self, then: Self, otherwise: Self) -> Self;
    /// Prefetch the cache line of an address, which need not be valid.
    unsafe fn prefetch(at: *const Self::Lane);
    /// The even and the odd lanes of two vectors.
    unsafe fn deinterleave(a: Self, b: Self) -> [Self; 2];
    /// Inverse of [`Vector::deinterleave`].
    unsafe fn interleave(a: Self, b: Self) -> [Self; 2];
    /// Reverse the lanes.
    unsafe fn reversed(self) -> Self;
    /// A square in which each vector is `x`.
    unsafe fn square(x: Self) -> Self::Square;
    /// Transpose a square.
    unsafe fn transpose(x: &mut Self::Square);
}

/// A computation that is generic over the vector type.
pub(crate) trait WithSimd<T> {
    /// Its result.
    type Output;

    /// All functions called in loops must be `#[inline(always)]`, or they are not compiled for the instruction set.
    ///
    /// # Safety
    /// The processor has the instruction set of the vectors.
    unsafe fn run<V: Vector<Lane = T>>(self) -> Self::Output;
}

/// A single lane, for scalar code.
#[derive(Clone, Copy)]
pub(crate) struct ScalarLane<T>(pub(super) T);

impl<T: Float + Send + Sync + 'static> Vector for ScalarLane<T> {
    type Lane = T;
    type Square = [Self; 1];
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        ScalarLane(x)
    }
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { ScalarLane(*from) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { *to = self.0 }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        ScalarLane(self.0 + other.0)
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        ScalarLane(self.0 - other.0)
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        ScalarLane(self.0 * other.0)
    }
    #[inline(always)]
    unsafe fn mul_add(self, a: Self, b: Self) -> Self {
        ScalarLane(self.0 * a.0 + b.0)
    }
    #[inline(always)]
    unsafe fn mul_sub(self, a: Self, b: Self) -> Self {
        ScalarLane(self.0 * a.0 - b.0)
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, a: Self, b: Self) -> Self {
        ScalarLane(b.0 - self.0 * a.0)
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        ScalarLane(self.0 / other.0)
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        ScalarLane(self.0.abs())
    }
    #[inline(always)]
    unsafe fn gt_mask(self, other: Self) -> u32 {
        u32::from(self.0 > other.0)
    }
    #[inline(always)]
    unsafe fn eq_mask(self, other: Self) -> u32 {
        u32::from(self.0 == other.0)
    }
    #[inline(always)]
    unsafe fn select_gt(self, other: Self, then: Self, otherwise: Self) -> Self {
        if self.0 > other.0 { then } else { otherwise }
    }
    #[inline(always)]
    unsafe fn select_eq(self, other: Self, then: Self, otherwise: Self) -> Self {
        if self.0 == other.0 { then } else { otherwise }
    }
    #[inline(always)]
    unsafe fn prefetch(_: *const T) {}
    #[inline(always)]
    unsafe fn deinterleave(a: Self, b: Self) -> [Self; 2] {
        [a, b]
    }
    #[inline(always)]
    unsafe fn interleave(a: Self, b: Self) -> [Self; 2] {
        [a, b]
    }
    #[inline(always)]
    unsafe fn reversed(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn square(x: Self) -> [Self; 1] {
        [x]
    }
    #[inline(always)]
    unsafe fn transpose(_: &mut [Self; 1]) {}
}

/// An element type of the vectors of this processor.
pub(crate) trait Lane: Float + Send + Sync + 'static {
    /// Run a computation with the best vectors.
    fn dispatch<W: WithSimd<Self>>(work: W) -> W::Output;
    /// Their number of lanes, 1 without vectors.
    fn lanes() -> usize;
    /// Round to the nearest value.
    fn of(x: f64) -> Self;
}

macro_rules! lane {
    ($t:ident, $n:literal, $wide:ident, $half:ident) => {
        impl Lane for $t {
            fn dispatch<W: WithSimd<$t>>(work: W) -> W::Output {
                #[cfg(target_arch = "x86_64")]
                match level() {
                    // SAFETY: level 2 is AVX-512.
                    2 => return unsafe { x86::$wide(work) },
                    // SAFETY: level 1 is AVX2.
                    1 => return unsafe { x86::$half(work) },
                    _ => {}
                }
                // SAFETY: scalar code needs no instruction set.
                unsafe { work.run::<ScalarLane<$t>>() }
            }
            fn lanes() -> usize {
                if level() == 0 { 1 } else { $n << level() }
            }
            fn of(x: f64) -> $t {
                x as $t
            }
        }
    };
}
lane!(f32, 4, wide32, half32);
lane!(f64, 2, wide64, half64);
