//! Vectors whose lanes are numbers of different lines or matrices, for each instruction set.
//!
//! Intrinsics, since squares of lanes are to be transposed in registers, and butterflies of eight rows to stay in them.

#[cfg(target_arch = "x86_64")]
mod x86;

use num_traits::Float;
use umber_kernels_base::isa::level;

/// As many numbers as a register holds.
///
/// # Safety
/// All functions may only be called where the instruction set of the vector is there, as [`WithSimd::run`] can be sure of.
pub(crate) trait Vector: Copy {
    /// What lanes hold.
    type Lane: Float + Send + Sync + 'static;
    /// As many vectors as one has lanes.
    type Square: AsMut<[Self]> + AsRef<[Self]> + Copy;
    /// How many lanes there are.
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
    /// A bit for each lane, the first one lowest: is it greater than that of the other?
    unsafe fn gt_mask(self, other: Self) -> u32;
    /// As [`Vector::gt_mask`]: is it equal?
    unsafe fn eq_mask(self, other: Self) -> u32;
    /// Lanes of `then` where `self` is greater than `other`, elsewhere of `otherwise`.
    unsafe fn select_gt(self, other: Self, then: Self, otherwise: Self) -> Self;
    /// Lanes of `then` where `self` equals `other`, elsewhere of `otherwise`.
    unsafe fn select_eq(self, other: Self, then: Self, otherwise: Self) -> Self;
    /// Have the cache line of an address, which need not be one of memory, brought near.
    unsafe fn prefetch(at: *const Self::Lane);
    /// The even and the odd lanes of two vectors.
    unsafe fn deinterleave(a: Self, b: Self) -> [Self; 2];
    /// Inverse of [`Vector::deinterleave`].
    unsafe fn interleave(a: Self, b: Self) -> [Self; 2];
    /// The last lane first.
    unsafe fn reversed(self) -> Self;
    /// A square of splats.
    unsafe fn square(x: Self) -> Self::Square;
    /// Transpose.
    unsafe fn transpose(x: &mut Self::Square);
}

/// Something to do with vectors of the best instruction set.
pub(crate) trait WithSimd<T> {
    /// What comes of it.
    type Output;

    /// Everything called in loops must be `#[inline(always)]`, or it is not compiled for the instruction set.
    ///
    /// # Safety
    /// The processor has the instruction set of the vectors.
    unsafe fn run<V: Vector<Lane = T>>(self) -> Self::Output;
}

/// One lane, for numbers on their own.
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
        // SAFETY: the caller's.
        unsafe { ScalarLane(*from) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller's.
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

/// A type of lane, and the vectors of it that this processor has.
pub(crate) trait Lane: Float + Send + Sync + 'static {
    /// Do something with them.
    fn dispatch<W: WithSimd<Self>>(work: W) -> W::Output;
    /// How many lanes they have; 1 where there are none.
    fn lanes() -> usize;
    /// The nearest.
    fn of(x: f64) -> Self;
}

macro_rules! lane {
    ($t:ident, $n:literal, $wide:ident, $half:ident) => {
        impl Lane for $t {
            fn dispatch<W: WithSimd<$t>>(work: W) -> W::Output {
                #[cfg(target_arch = "x86_64")]
                match level() {
                    // SAFETY: the level says so.
                    2 => return unsafe { x86::$wide(work) },
                    // SAFETY: as above.
                    1 => return unsafe { x86::$half(work) },
                    _ => {}
                }
                // SAFETY: that needs nothing.
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
