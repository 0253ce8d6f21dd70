//! Elements with sums and products, and vectors of them with the processor's width.

use num_complex::Complex;
use umber_types::{Bool, Element};

#[cfg(target_arch = "x86_64")]
use crate::isa::level;

/// An element type with a sum and a product. Integers wrap (unsigned ones are processed as signed); for bool the sum is *or* and
/// the product *and*.
pub trait Ring: Element {
    /// The identity of the sum.
    const ZERO: Self;
    /// A vector of 64 bytes.
    type Lanes64: Lanes<Self>;
    /// A vector of 32 bytes.
    type Lanes32: Lanes<Self>;
    /// A vector of 16 bytes.
    type Lanes16: Lanes<Self>;
    /// Are vectors registers, rather than arrays?
    const IN_REGISTERS: bool = false;

    /// `sum + x * y`, rounded once if `FUSED` and the type rounds.
    fn add_product<const FUSED: bool>(sum: Self, x: Self, y: Self) -> Self;
    /// `x + y`.
    fn plus(x: Self, y: Self) -> Self;
    /// A factor of `addmm` as an element.
    fn factor(value: f64) -> Self;
}

/// A vector of elements: an array, or a register.
pub trait Lanes<T>: Copy {
    /// Number of elements.
    const COUNT: usize;
    /// The value in all lanes.
    fn splat(value: T) -> Self;
    /// Read from memory of any alignment.
    ///
    /// # Safety
    /// `COUNT` elements are readable.
    unsafe fn load(from: *const T) -> Self;
    /// Write to memory of any alignment.
    ///
    /// # Safety
    /// `COUNT` elements are writable.
    unsafe fn store(self, to: *mut T);
    /// As [`Lanes::store`], but with non-temporal stores.
    ///
    /// # Safety
    /// `COUNT` elements are writable, aligned to the size of a vector.
    #[inline(always)]
    unsafe fn store_nontemporal(self, to: *mut T) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { self.store(to) }
    }
    /// `self + x * y`, lane by lane.
    fn add_product<const FUSED: bool>(self, x: Self, y: Self) -> Self;
    /// The sum of the lanes, by a tree.
    fn reduce_sum(self) -> T;
}

/// Element types from which vectors of `T` are loaded: `T` itself, or a narrower type.
pub trait Source<T: Ring>: Copy {
    /// This value as a `T`.
    fn term(self) -> T;
    /// Read from memory of any alignment.
    ///
    /// # Safety
    /// `V::COUNT` elements are readable.
    unsafe fn load<V: Lanes<T>>(from: *const Self) -> V;
}

impl<T: Ring> Source<T> for T {
    #[inline(always)]
    fn term(self) -> T {
        self
    }

    #[inline(always)]
    unsafe fn load<V: Lanes<T>>(from: *const T) -> V {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { V::load(from) }
    }
}

impl<T: Ring, const N: usize> Lanes<T> for [T; N] {
    const COUNT: usize = N;

    #[inline(always)]
    fn splat(value: T) -> Self {
        [value; N]
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { from.cast::<[T; N]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { to.cast::<[T; N]>().write_unaligned(self) }
    }

    #[inline(always)]
    fn add_product<const FUSED: bool>(mut self, x: Self, y: Self) -> Self {
        for i in 0..N {
            self[i] = T::add_product::<FUSED>(self[i], x[i], y[i]);
        }
        self
    }

    #[inline(always)]
    fn reduce_sum(mut self) -> T {
        let mut width = N / 2;
        while width > 0 {
            for i in 0..width {
                self[i] = T::plus(self[i], self[i + width]);
            }
            width /= 2;
        }
        self[0]
    }
}

macro_rules! integer_rings {
    ($($ty:ty: $n64:literal $n32:literal $n16:literal),*) => {$(
        impl Ring for $ty {
            const ZERO: $ty = 0;
            type Lanes64 = [$ty; $n64];
            type Lanes32 = [$ty; $n32];
            type Lanes16 = [$ty; $n16];
            #[inline(always)]
            fn add_product<const FUSED: bool>(sum: $ty, x: $ty, y: $ty) -> $ty {
                sum.wrapping_add(x.wrapping_mul(y))
            }
            #[inline(always)]
            fn plus(x: $ty, y: $ty) -> $ty {
                x.wrapping_add(y)
            }
            #[inline(always)]
            fn factor(value: f64) -> $ty {
                value as i64 as $ty
            }
        }
    )*};
}
integer_rings! {
    i8: 64 32 16, i16: 32 16 8, i32: 16 8 4, i64: 8 4 2
}

macro_rules! float_rings {
    ($($ty:ident: $n64:literal $n32:literal $n16:literal $v64:ident $v32:ident $v16:ident, $c64:literal $c32:literal $c16:literal;)*) => {$(
        impl Ring for $ty {
            const ZERO: $ty = 0.0;
            const IN_REGISTERS: bool = true;
            #[cfg(target_arch = "x86_64")]
            type Lanes64 = std::arch::x86_64::$v64;
            #[cfg(target_arch = "x86_64")]
            type Lanes32 = std::arch::x86_64::$v32;
            #[cfg(target_arch = "x86_64")]
            type Lanes16 = std::arch::x86_64::$v16;
            #[cfg(not(target_arch = "x86_64"))]
            type Lanes64 = [$ty; $n64];
            #[cfg(not(target_arch = "x86_64"))]
            type Lanes32 = [$ty; $n32];
            #[cfg(not(target_arch = "x86_64"))]
            type Lanes16 = [$ty; $n16];
            #[inline(always)]
            fn add_product<const FUSED: bool>(sum: $ty, x: $ty, y: $ty) -> $ty {
                if FUSED { x.mul_add(y, sum) } else { sum + x * y }
            }
            #[inline(always)]
            fn plus(x: $ty, y: $ty) -> $ty {
                x + y
            }
            #[inline(always)]
            fn factor(value: f64) -> $ty {
                value as $ty
            }
        }
        impl Ring for Complex<$ty> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            type Lanes64 = [Self; $c64];
            type Lanes32 = [Self; $c32];
            type Lanes16 = [Self; $c16];
            #[inline(always)]
            fn add_product<const FUSED: bool>(sum: Self, x: Self, y: Self) -> Self {
                let fma = <$ty as Ring>::add_product::<FUSED>;
                Complex::new(
                    fma(fma(sum.re, x.re, y.re), -x.im, y.im),
                    fma(fma(sum.im, x.re, y.im), x.im, y.re),
                )
            }
            #[inline(always)]
            fn plus(x: Self, y: Self) -> Self {
                x + y
            }
            #[inline(always)]
            fn factor(value: f64) -> Self {
                Complex::new(value as $ty, 0.0)
            }
        }
    )*};
}
float_rings! {
    f32: 16 8 4 __m512 __m256 __m128, 8 4 2;
    f64: 8 4 2 __m512d __m256d __m128d, 4 2 1;
}

impl Ring for Bool {
    const ZERO: Bool = Bool(0);
    type Lanes64 = [Bool; 64];
    type Lanes32 = [Bool; 32];
    type Lanes16 = [Bool; 16];
    #[inline(always)]
    fn add_product<const FUSED: bool>(sum: Bool, x: Bool, y: Bool) -> Bool {
        Bool(sum.0 | (u8::from(x.0 != 0) & u8::from(y.0 != 0)))
    }
    #[inline(always)]
    fn plus(x: Bool, y: Bool) -> Bool {
        Bool(x.0 | y.0)
    }
    #[inline(always)]
    fn factor(value: f64) -> Bool {
        Bool::from(value != 0.0)
    }
}

/// A loop written for any vector width.
pub trait VectorLoop<T: Ring> {
    /// The result of the loop.
    type Output;
    /// The loop; must be `#[inline(always)]`, like all functions that it calls.
    fn run<V: Lanes<T>, const FUSED: bool>(self) -> Self::Output;
}

/// Run a loop with the widest vectors of this processor.
#[inline(always)]
pub fn with_widest<T: Ring, L: VectorLoop<T>>(body: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    match level() {
        // Vectors of integers and complex numbers are arrays, which gain nothing from AVX-512.
        // SAFETY: the level guarantees AVX-512, FMA and F16C.
        2 if const { T::IN_REGISTERS } => return unsafe { with_avx512(body) },
        // SAFETY: the level guarantees AVX2, FMA and F16C.
        1 | 2 => return unsafe { with_avx2(body) },
        _ => {}
    }
    // Every aarch64 processor has fused multiply-add, but not every x86-64 one.
    body.run::<T::Lanes16, { cfg!(target_arch = "aarch64") }>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")]
unsafe fn with_avx512<T: Ring, L: VectorLoop<T>>(body: L) -> L::Output {
    body.run::<T::Lanes64, true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn with_avx2<T: Ring, L: VectorLoop<T>>(body: L) -> L::Output {
    body.run::<T::Lanes32, true>()
}
