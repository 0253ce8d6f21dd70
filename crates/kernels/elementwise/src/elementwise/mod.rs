//! Block functions of the elementwise kinds: a tape step calls one for each block of elements.
//!
//! A scalar function is written once, as `Map1` or `Map2`; `Entry` holds its loop for each instruction set.
//! `unary`, `binary`, `ternary`, `cast` and `select` are the tables from kind and dtype to entry.
//!
//! Contract of every `Kernel`: `n` elements are accessible at each pointer, the destination overlaps no argument, and
//! `n` is a multiple of `LANES`, unless `Entry::exact` is true.

pub(crate) mod binary;
pub(crate) mod binary_complex;
pub(crate) mod cast;
pub(crate) mod chain;
#[cfg(target_arch = "x86_64")]
mod float16_convert;
mod inverse_error;
pub(crate) mod multiply_add;
mod power;
pub(crate) mod select;
#[cfg(target_arch = "x86_64")]
mod streaming_stores;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_streaming_stores.rs"]
mod streaming_stores;
pub(crate) mod ternary;
pub(crate) mod unary;
pub(crate) mod unary_complex;

use umber_kernels_base::isa::{Isa, Portable};
use umber_types::{DType, Element};

/// Vector kernels work on multiples of this many elements.
pub(crate) const LANES: usize = 64;

/// `kernel(destination, a, b, c, n)`; functions of fewer arguments ignore the rest.
pub(crate) type Kernel = unsafe fn(*mut u8, *const u8, *const u8, *const u8, usize);

/// A block function for each instruction set (see [`umber_kernels_base::isa::level`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) kernels: [Kernel; 3],
    /// Variants with non-temporal stores, for a destination aligned to a cache line.
    pub(crate) nontemporal: Option<[Kernel; 3]>,
    /// Takes any number of elements, one by one; other entries take multiples of [`LANES`].
    pub(crate) exact: bool,
    /// Approximate cost per element, in units of an addition.
    pub(crate) cost: u32,
}

/// A function of one element.
pub(crate) trait Map1 {
    type A: Element;
    type D: Element;
    /// Approximate cost per element, in units of an addition.
    const COST: u32 = 1;
    fn f<I: Isa>(a: Self::A) -> Self::D;
    /// Is this argument outside the domain of `f`? Then `slow` computes it, whatever block it is in.
    #[inline(always)]
    fn is_slow(_a: Self::A) -> bool {
        false
    }
    /// The function for every argument.
    #[inline(always)]
    fn slow(a: Self::A) -> Self::D {
        Self::f::<Portable>(a)
    }
}

/// A function of two elements of one type.
pub(crate) trait Map2 {
    type A: Element;
    type D: Element;
    /// Approximate cost per element, in units of an addition.
    const COST: u32 = 1;
    fn f<I: Isa>(a: Self::A, b: Self::A) -> Self::D;
    /// Are these arguments outside the domain of `f`? Then `slow` computes them.
    #[inline(always)]
    fn is_slow(_a: Self::A, _b: Self::A) -> bool {
        false
    }
    /// The function for all arguments.
    #[inline(always)]
    fn slow(a: Self::A, b: Self::A) -> Self::D {
        Self::f::<Portable>(a, b)
    }
}

#[inline(always)]
unsafe fn loop1<O: Map1, I: Isa>(d: *mut u8, a: *const u8, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, a): (&mut [O::D], &[O::A]) =
        unsafe { (std::slice::from_raw_parts_mut(d.cast(), n), std::slice::from_raw_parts(a.cast(), n)) };
    // Slow arguments are rare: the first loop only flags them, the second one recomputes them.
    let mut slow = false;
    for (d, &a) in d.iter_mut().zip(a) {
        slow |= O::is_slow(a);
        *d = O::f::<I>(a);
    }
    if slow {
        for (d, &a) in d.iter_mut().zip(a) {
            if O::is_slow(a) {
                *d = O::slow(a);
            }
        }
    }
}

#[inline(always)]
unsafe fn loop2<O: Map2, I: Isa>(d: *mut u8, a: *const u8, b: *const u8, n: usize) {
    let n = n / LANES * LANES;
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(d.cast::<O::D>(), n),
            std::slice::from_raw_parts(a.cast::<O::A>(), n),
            std::slice::from_raw_parts(b.cast::<O::A>(), n),
        )
    };
    let mut slow = false;
    for (d, (&a, &b)) in d.iter_mut().zip(a.iter().zip(b)) {
        slow |= O::is_slow(a, b);
        *d = O::f::<I>(a, b);
    }
    if slow {
        for (d, (&a, &b)) in d.iter_mut().zip(a.iter().zip(b)) {
            if O::is_slow(a, b) {
                *d = O::slow(a, b);
            }
        }
    }
}

/// Defines a function that returns three instances of a loop, each compiled for its instruction set.
macro_rules! instances {
    (
        $(#[$doc:meta])* $vis:vis fn $name:ident $(<$O:ident: $trait:ident>)?,
        |$d:ident, $a:ident, $b:ident, $c:ident, $n:ident, $I:ident| $body:expr
    ) => {
        $(#[$doc])*
        $vis const fn $name$(<$O: $trait>)?() -> [$crate::elementwise::Kernel; 3] {
            unsafe fn portable$(<$O: $trait>)?($d: *mut u8, $a: *const u8, $b: *const u8, $c: *const u8, $n: usize) {
                type $I = umber_kernels_base::isa::Portable;
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $body }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2$(<$O: $trait>)?($d: *mut u8, $a: *const u8, $b: *const u8, $c: *const u8, $n: usize) {
                type $I = umber_kernels_base::isa::Avx2;
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $body }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
            )]
            unsafe fn avx512$(<$O: $trait>)?($d: *mut u8, $a: *const u8, $b: *const u8, $c: *const u8, $n: usize) {
                type $I = umber_kernels_base::isa::Avx512;
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $body }
            }
            #[cfg(target_arch = "x86_64")]
            {
                [portable$(::<$O>)?, avx2$(::<$O>)?, avx512$(::<$O>)?]
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                [portable$(::<$O>)?; 3]
            }
        }
    };
}

instances!(fn kernels1<O: Map1>, |d, a, _b, _c, n, Set| loop1::<O, Set>(d, a, n));
instances!(fn kernels2<O: Map2>, |d, a, b, _c, n, Set| loop2::<O, Set>(d, a, b, n));

unsafe fn elementwise1<O: Map1>(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, a) =
        unsafe { (std::slice::from_raw_parts_mut(d.cast(), n), std::slice::from_raw_parts(a.cast(), n)) };
    d.iter_mut().zip(a).for_each(|(d, &a)| *d = O::f::<Portable>(a));
}

unsafe fn elementwise2<O: Map2>(d: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
    // SAFETY: by the contract of `Kernel`, `n` elements are accessible.
    let (d, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(d.cast(), n),
            std::slice::from_raw_parts(a.cast(), n),
            std::slice::from_raw_parts(b.cast(), n),
        )
    };
    d.iter_mut().zip(a.iter().zip(b)).for_each(|(d, (&a, &b))| *d = O::f::<Portable>(a, b));
}

impl Entry {
    /// A vectorised function of one element.
    pub(crate) const fn map1<O: Map1>() -> Entry {
        let (kernels, nontemporal) = (kernels1::<O>(), streaming_stores::nontemporal1::<O>());
        Entry { kernels, nontemporal, exact: false, cost: O::COST }
    }

    /// A vectorised function of two elements.
    pub(crate) const fn map2<O: Map2>() -> Entry {
        let (kernels, nontemporal) = (kernels2::<O>(), streaming_stores::nontemporal2::<O>());
        Entry { kernels, nontemporal, exact: false, cost: O::COST }
    }

    /// A function of one element that calls library functions, element by element.
    pub(crate) const fn exact1<O: Map1>() -> Entry {
        Entry { kernels: [elementwise1::<O>; 3], nontemporal: None, exact: true, cost: 40 }
    }

    /// A function of two elements that calls library functions, element by element.
    pub(crate) const fn exact2<O: Map2>() -> Entry {
        Entry { kernels: [elementwise2::<O>; 3], nontemporal: None, exact: true, cost: 40 }
    }
}

/// An entry from a closure-like body: `map1!(f32 => f32, I, |x| …)`, with `cost n` for expensive ones, and
/// `slow if … => …` for arguments outside the domain of the fast body; `exact1!` for bodies that call library functions.
macro_rules! map1 {
    ($A:ty => $D:ty, $I:ident, |$x:ident| $body:expr $(, cost $cost:expr)? $(, slow if $cond:expr => $slow:expr)?) => {{
        struct Op;
        impl $crate::elementwise::Map1 for Op {
            type A = $A;
            type D = $D;
            $(const COST: u32 = $cost;)?
            #[inline(always)]
            fn f<$I: umber_kernels_base::isa::Isa>($x: $A) -> $D {
                $body
            }
            $(
                #[inline(always)]
                fn is_slow($x: $A) -> bool {
                    $cond
                }
                #[inline(always)]
                fn slow($x: $A) -> $D {
                    $slow
                }
            )?
        }
        const { $crate::elementwise::Entry::map1::<Op>() }
    }};
}

macro_rules! exact1 {
    ($A:ty => $D:ty, |$x:ident| $body:expr) => {{
        struct Op;
        impl $crate::elementwise::Map1 for Op {
            type A = $A;
            type D = $D;
            #[inline(always)]
            fn f<I: umber_kernels_base::isa::Isa>($x: $A) -> $D {
                $body
            }
        }
        const { $crate::elementwise::Entry::exact1::<Op>() }
    }};
}

macro_rules! map2 {
    ($A:ty => $D:ty, $I:ident, |$x:ident, $y:ident| $body:expr $(, cost $cost:expr)? $(, slow if $cond:expr => $slow:expr)?) => {{
        struct Op;
        impl $crate::elementwise::Map2 for Op {
            type A = $A;
            type D = $D;
            $(const COST: u32 = $cost;)?
            #[inline(always)]
            fn f<$I: umber_kernels_base::isa::Isa>($x: $A, $y: $A) -> $D {
                $body
            }
            $(
                #[inline(always)]
                fn is_slow($x: $A, $y: $A) -> bool {
                    $cond
                }
                #[inline(always)]
                fn slow($x: $A, $y: $A) -> $D {
                    $slow
                }
            )?
        }
        const { $crate::elementwise::Entry::map2::<Op>() }
    }};
}

macro_rules! exact2 {
    ($A:ty => $D:ty, |$x:ident, $y:ident| $body:expr) => {{
        struct Op;
        impl $crate::elementwise::Map2 for Op {
            type A = $A;
            type D = $D;
            #[inline(always)]
            fn f<I: umber_kernels_base::isa::Isa>($x: $A, $y: $A) -> $D {
                $body
            }
        }
        const { $crate::elementwise::Entry::exact2::<Op>() }
    }};
}

use instances;
pub(crate) use {exact1, exact2, map1, map2};

/// The dtype in which values of `dtype` are computed: float16 and bfloat16 widen to float32.
pub(crate) const fn compute_dtype(dtype: DType) -> DType {
    if dtype.is_half() { DType::Float32 } else { dtype }
}
