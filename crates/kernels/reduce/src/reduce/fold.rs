//! The operations of each reduction for each dtype, in tables.

use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Div};

use num_traits::Float;
use umber_kernels_base::float16::{bf16_to_f32, f16_to_f32};
use umber_kernels_base::order::MinMax;
use umber_types::{Bool, Complex, Complex32, Complex64, Element, bf16, f16};

/// Elements of a block that are merged by a tree before they are accumulated.
pub(super) const TREE: usize = 8;

/// Instruction sets that a fold is compiled for, besides the baseline.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Vectors {
    /// Baseline only: vector instructions would not make it faster.
    None,
    /// AVX2: wider vectors do not help because memory is the limit, or the fold is rare.
    Avx2,
    /// AVX2 and AVX-512.
    Avx512,
}

/// A reduction of elements of one type.
///
/// Elements are loaded into lanes; a few lanes are merged by a tree; totals accumulate lanes and are combined with each
/// other.
pub(crate) trait Fold: 'static {
    /// The element type of the source.
    type In: Element;
    /// The type of short trees, which round little.
    type Lane: Copy;
    /// The type of long sums.
    type Total: Copy + Send + Sync;
    /// The element type of the result.
    type Out: Element;

    /// The instruction sets that are worth their code size.
    const VECTORS: Vectors;
    /// Whether there is a separate loop for windows of a few rows, as pooling needs.
    const HAS_WINDOWS: bool;
    /// Whether several short runs have separate totals, which are reduced later. It pays if totals are wider than elements,
    /// or if there are many lanes.
    const SEPARATE_TOTALS: bool;
    /// Whether totals are exact, however many lanes they accumulate.
    const EXACT: bool;
    /// The total of no elements.
    const IDENTITY: Self::Total;

    /// Convert an element to a lane.
    fn load(value: Self::In) -> Self::Lane;
    /// Merge two lanes.
    fn merge(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// Merge eight lanes.
    #[inline(always)]
    fn merge_eight([a, b, c, d, e, f, g, h]: [Self::Lane; 8]) -> Self::Lane {
        let (a, b, c, d) = (Self::merge(a, b), Self::merge(c, d), Self::merge(e, f), Self::merge(g, h));
        Self::merge(Self::merge(a, b), Self::merge(c, d))
    }
    /// Merge eight elements.
    #[inline(always)]
    fn tree(element: impl Fn(usize) -> Self::In) -> Self::Lane {
        Self::merge_eight([
            Self::load(element(0)),
            Self::load(element(1)),
            Self::load(element(2)),
            Self::load(element(3)),
            Self::load(element(4)),
            Self::load(element(5)),
            Self::load(element(6)),
            Self::load(element(7)),
        ])
    }
    /// Accumulate the elements of a block into each total.
    #[inline(always)]
    fn accumulate_block<const N: usize>(block: &[Self::In], totals: &mut [Self::Total; N]) {
        let block = &block[..TREE * N];
        for (j, total) in totals.iter_mut().enumerate() {
            *total = Self::accumulate(*total, Self::tree(|k| block[k * N + j]));
        }
    }
    /// Whether to accumulate vectors in sequence if there is no full block, and rows of column strips if totals are wider
    /// than lanes. Otherwise the compiler emits a loop that gathers element by element. Used for floats whose conversion
    /// takes several instructions.
    const SEQUENTIAL: bool =
        <Self::In as Element>::DTYPE.is_half() && size_of::<Self::Lane>() > size_of::<Self::In>();
    /// Accumulate less than a block.
    #[inline(always)]
    fn accumulate_tail<const N: usize>(run: &[Self::In], totals: &mut [Self::Total; N]) {
        let mut run = run;
        if const { Self::SEQUENTIAL } {
            let mut vectors = run.chunks_exact(N);
            for vector in &mut vectors {
                Self::accumulate_vector(vector, totals);
            }
            return Self::accumulate_vector(vectors.remainder(), totals);
        }
        if let Some((four, tail)) = run.split_at_checked(4 * N) {
            let lane = |i: usize| Self::load(four[i]);
            for (j, total) in totals.iter_mut().enumerate() {
                let first = Self::merge(lane(j), lane(N + j));
                let second = Self::merge(lane(2 * N + j), lane(3 * N + j));
                *total = Self::accumulate(*total, Self::merge(first, second));
            }
            run = tail;
        }
        if let Some((two, tail)) = run.split_at_checked(2 * N) {
            for (j, total) in totals.iter_mut().enumerate() {
                *total = Self::accumulate(*total, Self::merge(Self::load(two[j]), Self::load(two[N + j])));
            }
            run = tail;
        }
        if let Some((one, tail)) = run.split_at_checked(N) {
            Self::accumulate_vector(one, totals);
            run = tail;
        }
        Self::accumulate_vector(run, totals);
    }
    /// Accumulate a vector, or the beginning of one.
    #[inline(always)]
    fn accumulate_vector<const N: usize>(vector: &[Self::In], totals: &mut [Self::Total; N]) {
        for (total, &value) in totals.iter_mut().zip(vector) {
            *total = Self::accumulate(*total, Self::load(value));
        }
    }
    /// Accumulate a lane into a total.
    fn accumulate(total: Self::Total, lane: Self::Lane) -> Self::Total;
    /// Combine two totals.
    fn combine(a: Self::Total, b: Self::Total) -> Self::Total;
    /// Complete the total of a number of elements, before it is rounded.
    #[inline(always)]
    fn complete(total: Self::Total, _elements: usize) -> Self::Total {
        total
    }
    /// Convert a total to a result.
    fn finish(total: Self::Total) -> Self::Out;
    /// Whether no further element can change this total.
    #[inline(always)]
    fn is_absorbing(_total: Self::Total) -> bool {
        false
    }
}

/// A kind of sum that is divided by the number of elements before it is rounded.
pub(crate) struct Mean<F>(PhantomData<F>);

impl<F: Fold> Fold for Mean<F>
where
    F::Total: Div<f64, Output = F::Total>,
{
    type In = F::In;
    type Lane = F::Lane;
    type Total = F::Total;
    type Out = F::Out;
    const VECTORS: Vectors = F::VECTORS;
    const HAS_WINDOWS: bool = F::HAS_WINDOWS;
    const SEPARATE_TOTALS: bool = F::SEPARATE_TOTALS;
    const EXACT: bool = F::EXACT;
    const SEQUENTIAL: bool = F::SEQUENTIAL;
    const IDENTITY: F::Total = F::IDENTITY;
    #[inline(always)]
    fn load(value: F::In) -> F::Lane {
        F::load(value)
    }
    #[inline(always)]
    fn merge(a: F::Lane, b: F::Lane) -> F::Lane {
        F::merge(a, b)
    }
    #[inline(always)]
    fn accumulate_block<const N: usize>(block: &[F::In], totals: &mut [F::Total; N]) {
        F::accumulate_block(block, totals);
    }
    #[inline(always)]
    fn accumulate(total: F::Total, lane: F::Lane) -> F::Total {
        F::accumulate(total, lane)
    }
    #[inline(always)]
    fn combine(a: F::Total, b: F::Total) -> F::Total {
        F::combine(a, b)
    }
    #[inline(always)]
    fn complete(total: F::Total, elements: usize) -> F::Total {
        total / elements as f64
    }
    #[inline(always)]
    fn finish(total: F::Total) -> F::Out {
        F::finish(total)
    }
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])* pub(crate) struct $name<T>(PhantomData<T>);)*
    };
}

reductions! {
    /// Sum in the dtype of the source.
    Sum,
    /// Product in the dtype of the source.
    Prod,
    /// Minimum element.
    Min,
    /// Maximum element.
    Max,
    /// Whether all elements are true.
    All,
    /// Whether any element is true.
    Any,
    /// Sum of narrow integers as int32.
    SumInt32,
    /// Product of narrow integers as int32.
    ProdInt32,
    /// Sum of squares in the dtype of the source.
    SumSquares,
    /// Sum of squares of float32 as float64.
    SumSquaresWide,
    /// Sum of float32 as float64.
    SumWide,
    /// Logarithm of the sum of exponentials, for scans only: the reduction has its own kernel.
    LogSumExp
}

macro_rules! has_separate_totals {
    (Sum, $in:ty) => {
        true
    };
    (SumInt32, $in:ty) => {
        false
    };
    (SumSquares, $in:ty) => {
        true
    };
    (SumSquaresWide, $in:ty) => {
        true
    };
    (SumWide, $in:ty) => {
        true
    };
    ($other:ident, $in:ty) => {
        size_of::<$in>() == 1
    };
}

macro_rules! has_windows {
    (Sum) => {
        true
    };
    (Min) => {
        true
    };
    (Max) => {
        true
    };
    ($other:ident) => {
        false
    };
}

macro_rules! is_exact {
    (Min, $total:ty) => {
        true
    };
    (Max, $total:ty) => {
        true
    };
    ($other:ident, $total:ty) => {
        !<$total as Element>::DTYPE.is_inexact()
    };
}

/// One `impl Fold`: types, the identity, loading, the lane operation, and the conversions of lanes and totals.
macro_rules! fold {
    (
        $name:ident<$in:ty> { $lane:ty => $total:ty => $out:ty, from $identity:expr,
        load $load:expr, by $merge:expr, $combine:expr, widen $widen:expr, finish $finish:expr, vectors $vectors:ident
        $(, eight $eight:expr)? $(, block $block:ident)? $(, absorbing $absorbing:expr)? }
    ) => {
        impl Fold for $name<$in> {
            type In = $in;
            type Lane = $lane;
            type Total = $total;
            type Out = $out;
            const VECTORS: Vectors = Vectors::$vectors;
            const HAS_WINDOWS: bool = has_windows!($name);
            const SEPARATE_TOTALS: bool = has_separate_totals!($name, $in);
            const EXACT: bool = is_exact!($name, $total);
            const IDENTITY: $total = $identity;
            #[inline(always)]
            fn load(value: $in) -> $lane {
                $load(value)
            }
            #[inline(always)]
            fn merge(a: $lane, b: $lane) -> $lane {
                $merge(a, b)
            }
            $(
                #[inline(always)]
                fn merge_eight(lanes: [$lane; 8]) -> $lane {
                    $eight(lanes)
                }
            )?
            $(
                const SEQUENTIAL: bool = false;
                #[inline(always)]
                fn accumulate_block<const N: usize>(block: &[$in], totals: &mut [$total; N]) {
                    $block(block, totals);
                }
            )?
            #[inline(always)]
            fn accumulate(total: $total, lane: $lane) -> $total {
                $combine(total, $widen(lane))
            }
            #[inline(always)]
            fn combine(a: $total, b: $total) -> $total {
                $combine(a, b)
            }
            #[inline(always)]
            fn finish(total: $total) -> $out {
                $finish(total)
            }
            $(
                #[inline(always)]
                fn is_absorbing(total: $total) -> bool {
                    $absorbing(total)
                }
            )?
        }
    };
}

#[inline(always)]
fn identity<T>(value: T) -> T {
    value
}

#[inline(always)]
fn add<T: std::ops::Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

#[inline(always)]
fn multiply<T: std::ops::Mul<Output = T>>(a: T, b: T) -> T {
    a * b
}

/// Sum a block of bfloat16 as 32-bit words of two neighbours each: the upper half of a word is a float32 when the lower is
/// masked, the lower half after a shift.
#[inline(always)]
fn add_pairs<const N: usize>(block: &[bf16], totals: &mut [f64; N]) {
    let block = &block[..TREE * N];
    let words = block.as_ptr().cast::<[u8; 4]>();
    let (lower, upper) = totals.split_at_mut(N / 2);
    for (j, (lower, upper)) in lower.iter_mut().zip(upper).enumerate() {
        // SAFETY: the block has `TREE` times as many words as there are lower totals.
        let word = |k: usize| u32::from_ne_bytes(unsafe { *words.add(k * (N / 2) + j) });
        *lower += f64::from(Sum::<f32>::tree(|k| f32::from_bits(word(k) << 16)));
        *upper += f64::from(Sum::<f32>::tree(|k| f32::from_bits(word(k) & !0xffff)));
    }
}

/// Minimum and maximum of two and of eight, with NaN propagation. The selection by a comparison compiles to the minimum and
/// maximum instructions, which do not propagate NaN themselves, so NaN is checked separately.
macro_rules! extremes {
    ($($two:ident $eight:ident $of_numbers:ident $before:tt;)*) => { $(
        #[inline(always)]
        fn $of_numbers<T: Float>(a: T, b: T) -> T {
            if b $before a { b } else { a }
        }
        #[inline(always)]
        fn $two<T: Float>(a: T, b: T) -> T {
            let chosen = $of_numbers(a, b);
            if b.is_nan() { T::nan() } else { chosen }
        }
        #[inline(always)]
        fn $eight<T: Float>([a, b, c, d, e, f, g, h]: [T; 8]) -> T {
            let is_nan = (a.is_nan() | b.is_nan())
                | (c.is_nan() | d.is_nan())
                | (e.is_nan() | f.is_nan())
                | (g.is_nan() | h.is_nan());
            let (a, b, c, d) = ($of_numbers(a, b), $of_numbers(c, d), $of_numbers(e, f), $of_numbers(g, h));
            let chosen = $of_numbers($of_numbers(a, b), $of_numbers(c, d));
            if is_nan { T::nan() } else { chosen }
        }
    )* };
}
extremes! {
    minimum minimum_of_eight min_of_numbers <;
    maximum maximum_of_eight max_of_numbers >;
}

#[inline(always)]
fn widen_complex(value: Complex32) -> Complex64 {
    Complex::new(value.re as f64, value.im as f64)
}

#[inline(always)]
fn narrow_complex(value: Complex64) -> Complex32 {
    Complex::new(value.re as f32, value.im as f32)
}

/// `log(exp a + exp b)`
fn log_add_exp(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    // The difference of equal infinities would be NaN; NaN inputs propagate.
    if high == low && high.is_infinite() { high } else { high + (low - high).exp().ln_1p() }
}

fn complex_log_add_exp(a: Complex64, b: Complex64) -> Complex64 {
    let (high, low) = if a.re > b.re { (a, b) } else { (b, a) };
    if low.re == f64::NEG_INFINITY { high } else { high + (Complex::new(1.0, 0.0) + (low - high).exp()).ln() }
}

// Signedness does not matter for wrapping sums and products, nor for truth values.
macro_rules! unsigned {
    ($($ty:ident)*) => { $(
        fold!(Sum<$ty> { $ty => $ty => $ty, from 0, load identity,
            by $ty::wrapping_add, $ty::wrapping_add, widen identity, finish identity, vectors Avx2 });
        fold!(Prod<$ty> { $ty => $ty => $ty, from 1, load identity,
            by $ty::wrapping_mul, $ty::wrapping_mul, widen identity, finish identity, vectors None });
        truths!($ty, $ty, identity);
    )* };
}

macro_rules! integers {
    ($($ty:ident)*) => { $(
        fold!(Min<$ty> { $ty => $ty => $ty, from $ty::MAX, load identity,
            by MinMax::minimum, MinMax::minimum, widen identity, finish identity, vectors Avx2 });
        fold!(Max<$ty> { $ty => $ty => $ty, from $ty::MIN, load identity,
            by MinMax::maximum, MinMax::maximum, widen identity, finish identity, vectors Avx2 });
    )* };
}

macro_rules! floats {
    ($($ty:ty, $word:ty, $lane:ident, $load:expr, $finish:expr, $finish_exact:expr $(, block $block:ident)?;)*) => { $(
        fold!(Sum<$ty> { $lane => f64 => $ty, from 0.0, load $load,
            by add, add, widen f64::from, finish $finish, vectors Avx512 $(, block $block)? });
        // Products overflow float32 on the way more easily than sums.
        fold!(Prod<$ty> { f64 => f64 => $ty, from 1.0, load |value| f64::from($load(value)),
            by multiply, multiply, widen identity, finish $finish, vectors Avx2 });
        fold!(Min<$ty> { $lane => $lane => $ty, from $lane::INFINITY, load $load,
            by minimum, minimum, widen identity, finish $finish_exact, vectors Avx512, eight minimum_of_eight });
        fold!(Max<$ty> { $lane => $lane => $ty, from $lane::NEG_INFINITY, load $load,
            by maximum, maximum, widen identity, finish $finish_exact, vectors Avx512, eight maximum_of_eight });
        fold!(LogSumExp<$ty> { f64 => f64 => $ty, from f64::NEG_INFINITY, load |value| f64::from($load(value)),
            by log_add_exp, log_add_exp, widen identity, finish $finish, vectors None });
        truths!($ty, $word, |value: $ty| value.to_bits() << 1);
    )* };
}

macro_rules! complexes {
    ($($ty:ident, $real:ident, $word:ty, $widen:expr, $finish:expr;)*) => { $(
        fold!(Sum<$ty> { $ty => Complex64 => $ty, from Complex::new(0.0, 0.0), load identity,
            by add, add, widen $widen, finish $finish, vectors None });
        fold!(Prod<$ty> { Complex64 => Complex64 => $ty, from Complex::new(1.0, 0.0), load $widen,
            by multiply, multiply, widen identity, finish $finish, vectors None });
        fold!(Min<$ty> { $ty => $ty => $ty, from Complex::new($real::INFINITY, $real::INFINITY), load identity,
            by MinMax::minimum, MinMax::minimum, widen identity, finish identity, vectors None });
        fold!(Max<$ty> { $ty => $ty => $ty, from Complex::new($real::NEG_INFINITY, $real::NEG_INFINITY), load identity,
            by MinMax::maximum, MinMax::maximum, widen identity, finish identity, vectors None });
        fold!(LogSumExp<$ty> { Complex64 => Complex64 => $ty, from Complex::new(f64::NEG_INFINITY, 0.0), load $widen,
            by complex_log_add_exp, complex_log_add_exp, widen identity, finish $finish, vectors None });
        truths!($ty, $word, |value: $ty| (value.re.to_bits() | value.im.to_bits()) << 1);
    )* };
}

/// All and any, by a word that is zero where an element is false: the bits of a float without its sign.
macro_rules! truths {
    ($ty:ty, $word:ty, $bits:expr) => {
        // The highest bit of `x | -x` is set unless x is zero. A comparison would be converted to and from a mask.
        fold!(All<$ty> { $word => $word => Bool, from !0, load |value| {
                let bits: $word = $bits(value);
                bits | bits.wrapping_neg()
            },
            by BitAnd::bitand, BitAnd::bitand, widen identity, finish |total| Bool::from(total > !0 >> 1), vectors Avx2,
            absorbing |total| total <= !0 >> 1 });
        fold!(Any<$ty> { $word => $word => Bool, from 0, load $bits,
            by BitOr::bitor, BitOr::bitor, widen identity, finish |total| Bool::from(total != 0), vectors Avx2,
            absorbing |total| total != 0 });
    };
}

unsigned!(u8 u16 u32 u64);
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

floats! {
    f16, u16, f32, f16_to_f32, f16::from_f64, f16::from_f32;
    bf16, u16, f32, bf16_to_f32, bf16::from_f64, bf16::from_f32, block add_pairs;
    f32, u32, f32, identity, |total| total as f32, identity;
    f64, u64, f64, identity, identity, identity;
}

complexes! {
    Complex32, f32, u32, widen_complex, narrow_complex;
    Complex64, f64, u64, identity, identity;
}

#[inline(always)]
fn square<T: Copy + std::ops::Mul<Output = T>>(value: T) -> T {
    value * value
}

fold!(SumSquares<f32> { f32 => f64 => f32, from 0.0, load square,
    by add, add, widen f64::from, finish |total| total as f32, vectors Avx512 });
fold!(SumSquares<f64> { f64 => f64 => f64, from 0.0, load square,
    by add, add, widen identity, finish identity, vectors Avx512 });
fold!(SumWide<f32> { f64 => f64 => f64, from 0.0, load f64::from,
    by add, add, widen identity, finish identity, vectors Avx2 });
fold!(SumSquaresWide<f32> { f64 => f64 => f64, from 0.0, load |value| square(f64::from(value)),
    by add, add, widen identity, finish identity, vectors Avx2 });

macro_rules! narrow_integers {
    ($($ty:ty, $load:expr;)*) => { $(
        fold!(SumInt32<$ty> { i32 => i32 => i32, from 0, load $load,
            by i32::wrapping_add, i32::wrapping_add, widen identity, finish identity, vectors Avx2 });
        fold!(ProdInt32<$ty> { i32 => i32 => i32, from 1, load $load,
            by i32::wrapping_mul, i32::wrapping_mul, widen identity, finish identity, vectors None });
    )* };
}

narrow_integers! {
    Bool, |value: Bool| value.get() as i32;
    u8, i32::from;
    i8, i32::from;
    u16, i32::from;
    i16, i32::from;
}
