//! Rows of floats, processed in blocks in the compute type.
//!
//! A block is read from any dtype and stride into a buffer, padded to whole vectors, and rounded once when it is written
//! back.

use num_traits::Float;
use umber_types::{Element, bf16, f16};

use crate::arrays::array_of;
use crate::caches::Aligned;
use crate::float16::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::isa::{vectorised, vectorised_by_avx2};
use crate::max_exp_sum;

/// Elements per block.
pub const BLOCK: usize = 2048;
/// Number of independent accumulators; blocks are padded to a multiple of it.
pub const LANES: usize = 16;
/// Number of eight-element partial sums that are formed before they are added to the accumulators.
const WIDE: usize = 64;
/// Elements of a row between prefetches: a multiple of the summation loop's step.
pub const SEGMENT: usize = 8 * WIDE;

/// A float dtype.
pub trait Real: Element {
    /// The type used for arithmetic.
    type Compute: Compute;
    /// Is the compute type the dtype itself, so that storing an intermediate result loses nothing?
    const IS_COMPUTE: bool;
    /// The lowest finite value, in the compute type.
    const LOWEST: Self::Compute;
    /// Convert to the compute type.
    fn widen(self) -> Self::Compute;
    /// Convert from the compute type, rounding to nearest.
    fn narrow(value: Self::Compute) -> Self;
}

/// A float type used for arithmetic.
pub trait Compute: Element + Float + Default {
    /// `e^x` for `x` not above zero, or NaN.
    fn exp_of_nonpositive(self) -> Self;
    /// Write `e^(x - max)` of `count` elements, a multiple of [`LANES`] of which none exceeds `max`, and add the results to
    /// `sums`.
    ///
    /// # Safety
    /// `count` elements are readable at `from` and writable at `to`; the ranges are equal or disjoint.
    #[inline(always)]
    unsafe fn exponentials(from: *const Self, to: *mut Self, count: usize, max: Self, sums: &mut Sums) {
        for i in 0..count {
            // SAFETY: `i < count`, and both ranges hold `count` elements.
            unsafe { *to.add(i) = (*from.add(i) - max).exp_of_nonpositive() };
        }
        // SAFETY: `count` elements were just written.
        sums.add(unsafe { std::slice::from_raw_parts(to, count) }, |value| value);
    }
    /// The maximum, NaN if any element is; `None` if there is no specialised loop.
    #[inline(always)]
    fn max_of(_values: &[Self]) -> Option<Self> {
        None
    }
    /// Convert to float64.
    fn wide(self) -> f64;
    /// Round to the nearest value.
    fn nearest(value: f64) -> Self;
    /// Convert exactly.
    fn of_f32(value: f32) -> Self;
    /// Round to the nearest integer, ties to even.
    fn to_even(self) -> Self;
    /// Convert a small non-negative integer.
    fn small(self) -> u32;
}

macro_rules! reals {
    ($($ty:ty, $work:ty, $is_work:expr, $lowest:expr, $widen:expr, $narrow:expr;)*) => { $(
        impl Real for $ty {
            type Compute = $work;
            const IS_COMPUTE: bool = $is_work;
            const LOWEST: $work = $lowest;
            #[inline(always)]
            fn widen(self) -> $work {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(value: $work) -> $ty {
                $narrow(value)
            }
        }
    )* };
}

reals! {
    f16, f32, false, f16::MIN.to_f32_const(), f16_to_f32, f32_to_f16;
    bf16, f32, false, bf16::MIN.to_f32_const(), bf16_to_f32, f32_to_bf16;
    f32, f32, true, f32::MIN, std::convert::identity, std::convert::identity;
    f64, f64, true, f64::MIN, std::convert::identity, std::convert::identity;
}

impl Compute for f32 {
    #[inline(always)]
    fn exp_of_nonpositive(self) -> f32 {
        // e^x = 2^n e^r with |r| <= ln 2 / 2. Adding 1.5 2^23 rounds to an integer, which is then in the low bits.
        const ROUND: f32 = 12_582_912.0;
        // ln 2 in two parts; the first has few enough bits that n times it is exact.
        const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
        let x = if self < -104.0 { -104.0 } else { self };
        let rounded = x * std::f32::consts::LOG2_E + ROUND;
        let n = rounded - ROUND;
        let r = x - n * LN_2[0] - n * LN_2[1];
        // Minimax polynomial, relative error 3.1e-9.
        let p = 0.001_381_459_8 * r + 0.008_368_717;
        let p = p * r + 0.041_668_39;
        let p = p * r + 0.166_665_21;
        let p = p * r + 0.499_999_94;
        let p = p * (r * r) + r + 1.0;
        // Two factors: 2^n itself may be subnormal.
        let n = (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
        let half = n >> 1;
        let power = |n: i32| f32::from_bits((n.wrapping_add(127) << 23) as u32);
        p * power(half) * power(n.wrapping_sub(half))
    }
    #[inline(always)]
    unsafe fn exponentials(from: *const f32, to: *mut f32, count: usize, max: f32, sums: &mut Sums) {
        // SAFETY: the ranges are valid by this function's contract.
        unsafe {
            if !max_exp_sum::exponentials(from, to, count, max, &mut sums.0) {
                for i in 0..count {
                    *to.add(i) = (*from.add(i) - max).exp_of_nonpositive();
                }
                sums.add(std::slice::from_raw_parts(to, count), |value| value);
            }
        }
    }
    #[inline(always)]
    fn max_of(values: &[f32]) -> Option<f32> {
        max_exp_sum::max_of(values)
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn nearest(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn of_f32(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn to_even(self) -> f32 {
        self.round_ties_even()
    }
    #[inline(always)]
    fn small(self) -> u32 {
        self as i32 as u32
    }
}

impl Compute for f64 {
    #[inline(always)]
    fn exp_of_nonpositive(self) -> f64 {
        // As for float32.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
        let x = if self < -746.0 { -746.0 } else { self };
        let rounded = x * std::f64::consts::LOG2_E + ROUND;
        let n = rounded - ROUND;
        let r = x - n * LN_2[0] - n * LN_2[1];
        // The Taylor series; its next term is below 5e-18.
        let mut p = 1.0 / 6_227_020_800.0;
        for factorial in [
            479_001_600.0,
            39_916_800.0,
            3_628_800.0,
            362_880.0,
            40_320.0,
            5040.0,
            720.0,
            120.0,
            24.0,
            6.0,
            2.0,
        ] {
            p = p * r + 1.0 / factorial;
        }
        let p = p * (r * r) + r + 1.0;
        let n = (rounded.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64) as i32;
        let half = n >> 1;
        let power = |n: i32| f64::from_bits((n.wrapping_add(1023) as i64 as u64) << 52);
        p * power(half) * power(n.wrapping_sub(half))
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn nearest(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn of_f32(value: f32) -> f64 {
        value.into()
    }
    #[inline(always)]
    fn to_even(self) -> f64 {
        self.round_ties_even()
    }
    #[inline(always)]
    fn small(self) -> u32 {
        self as i32 as u32
    }
}

/// A buffer for one block.
pub struct Buffer<W> {
    values: Aligned<[W; BLOCK]>,
}

impl<W: Compute> Default for Buffer<W> {
    /// A buffer of zeros.
    fn default() -> Buffer<W> {
        Buffer { values: Aligned([W::default(); BLOCK]) }
    }
}

impl<W: Compute> Buffer<W> {
    /// Read `count` elements, at most [`BLOCK`], `stride` apart; returns them, padded with `padding` to whole vectors.
    ///
    /// # Safety
    /// The elements are readable.
    #[inline(always)]
    pub unsafe fn load<T: Real<Compute = W>>(
        &mut self,
        src: *const T,
        stride: isize,
        count: usize,
        padding: W,
    ) -> &mut [W] {
        let padded = count.next_multiple_of(LANES);
        let values = &mut self.values.0[..padded];
        // The pointer of an empty row may be invalid.
        if stride == 1 && count > 0 {
            // SAFETY: the `count` elements are readable and contiguous.
            let src = unsafe { std::slice::from_raw_parts(src, count) };
            for (value, &element) in values.iter_mut().zip(src) {
                *value = element.widen();
            }
        } else {
            for (i, value) in values[..count].iter_mut().enumerate() {
                // SAFETY: the elements are readable by this function's contract.
                *value = unsafe { *src.wrapping_offset(i as isize * stride) }.widen();
            }
        }
        values[count..].fill(padding);
        values
    }
}

/// Write the first `count` values to contiguous elements.
///
/// # Safety
/// The elements are writable, and no other thread accesses them.
#[inline(always)]
pub unsafe fn store<T: Real>(values: &[T::Compute], dst: *mut T, count: usize) {
    // SAFETY: the elements are exclusively writable by this function's contract. Every bit pattern is valid, even of
    // uninitialised elements.
    let dst = unsafe { std::slice::from_raw_parts_mut(dst, count) };
    for (element, &value) in dst.iter_mut().zip(values) {
        *element = T::narrow(value);
    }
}

/// Replace each value by `e^(value - max)` and return the sum. The values fill whole vectors, and none exceeds `max`.
#[inline(always)]
pub fn exp_in_place<W: Compute>(values: &mut [W], max: W) -> f64 {
    let start = values.as_mut_ptr();
    let mut sums = Sums::default();
    // SAFETY: source and destination are the same slice.
    unsafe { W::exponentials(start, start, values.len(), max, &mut sums) };
    sums.total()
}

/// As [`max_of`], if the compute type has a specialised loop.
#[inline(always)]
fn max_in_registers<T: Real>(elements: &[T]) -> Option<T::Compute> {
    if T::IS_COMPUTE {
        // SAFETY: the element type is its own compute type.
        let values = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) };
        return T::Compute::max_of(values);
    }
    let mut max = T::Compute::max_of(&[])?;
    let mut buffer = [T::Compute::default(); 8 * LANES];
    for chunk in elements.chunks(buffer.len()) {
        for (value, &element) in buffer.iter_mut().zip(chunk) {
            *value = element.widen();
        }
        max = maximum(max, T::Compute::max_of(&buffer[..chunk.len()])?);
    }
    Some(max)
}

/// The maximum of the elements, NaN if any is.
#[inline(always)]
pub fn max_of<T: Real>(elements: &[T]) -> T::Compute {
    if let Some(max) = max_in_registers(elements) {
        return max;
    }
    // Several independent vectors hide the latency of the comparison.
    let mut lanes = [T::Compute::neg_infinity(); 4 * LANES];
    let mut vectors = elements.chunks_exact(4 * LANES);
    for vector in &mut vectors {
        for (lane, &element) in lanes.iter_mut().zip(vector) {
            *lane = maximum(*lane, element.widen());
        }
    }
    // A fixed trip count keeps the accumulators in registers; with a variable one the compiler spills them.
    let mut folded = lanes;
    for (lane, &element) in folded.iter_mut().zip(vectors.remainder()) {
        *lane = maximum(*lane, element.widen());
    }
    let mut width = folded.len();
    while width > 1 {
        width /= 2;
        for j in 0..width {
            folded[j] = maximum(folded[j], folded[j + width]);
        }
    }
    folded[0]
}

/// The larger of two values, or NaN if either is.
#[inline(always)]
pub fn maximum<W: Compute>(a: W, b: W) -> W {
    if (b > a) | b.is_nan() { b } else { a }
}

/// The sum of `f` over padded values: trees of eight in the compute type, accumulated in float64.
#[inline(always)]
pub fn sum_of<W: Compute>(values: &[W], f: impl Fn(W) -> W + Copy) -> f64 {
    let mut sums = Sums::default();
    sums.add(values, f);
    sums.total()
}

/// For each index, the sum of `f` over the elements of eight rows.
///
/// A separate array, so that the compiler vectorises at the width of the narrow type and not of the widened sums.
#[inline(always)]
pub fn tree_of_eight<W: Compute, const N: usize>(rows: [&[W; N]; 8], f: impl Fn(W, usize) -> W) -> [W; N] {
    let mut sums = [W::default(); N];
    for (j, sum) in sums.iter_mut().enumerate() {
        let pair = |k: usize| f(rows[k][j], j) + f(rows[k + 1][j], j);
        *sum = (pair(0) + pair(2)) + (pair(4) + pair(6));
    }
    sums
}

/// Add `f` of each value to the lanes, in trees of eight rows of `N` values; returns the remaining values.
#[inline(always)]
fn add_trees<'v, W: Compute, const N: usize>(
    lanes: &mut [f64; LANES],
    values: &'v [W],
    f: impl Fn(W) -> W,
) -> &'v [W] {
    let mut blocks = values.chunks_exact(8 * N);
    for block in &mut blocks {
        let rows: [&[W; N]; 8] = array_of(|k| block[k * N..].first_chunk().expect("eight rows"));
        for sums in tree_of_eight(rows, |value, _| f(value)).as_chunks::<LANES>().0 {
            for (lane, sum) in lanes.iter_mut().zip(sums) {
                *lane += sum.wide();
            }
        }
    }
    blocks.remainder()
}

/// Independent accumulators, reduced at the end.
#[derive(Default)]
#[repr(align(64))]
pub struct Sums([f64; LANES]);

impl Sums {
    /// Add `f` of each of the padded values.
    #[inline(always)]
    pub fn add<W: Compute>(&mut self, values: &[W], f: impl Fn(W) -> W + Copy) {
        let mut lanes = self.0;
        let tail = add_trees::<W, WIDE>(&mut lanes, values, f);
        let tail = add_trees::<W, LANES>(&mut lanes, tail, f);
        for vector in tail.chunks_exact(LANES) {
            for (lane, &value) in lanes.iter_mut().zip(vector) {
                *lane += f(value).wide();
            }
        }
        self.0 = lanes;
    }

    /// As [`Sums::add`]; `before` is called with the start index of each segment before it is added.
    #[inline(always)]
    pub fn add_segments<W: Compute>(
        &mut self,
        values: &[W],
        f: impl Fn(W) -> W + Copy,
        before: impl Fn(usize),
    ) {
        for (i, segment) in values.chunks(SEGMENT).enumerate() {
            before(i * SEGMENT);
            self.add(segment, f);
        }
    }

    /// The sum of the accumulators.
    #[inline(always)]
    pub fn total(self) -> f64 {
        let mut lanes = self.0;
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            for j in 0..width {
                lanes[j] += lanes[j + width];
            }
        }
        lanes[0]
    }
}

/// As [`vectorised`], but without AVX-512 for rows that are computed in float64.
#[inline(always)]
pub fn vectorised_rows<T: Real, R>(body: impl FnOnce() -> R) -> R {
    if const { size_of::<T::Compute>() == 8 } { vectorised_by_avx2(body) } else { vectorised(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_accurate() {
        for i in 0..400_000u32 {
            let x = -(i as f32) * 2.7e-4;
            let (actual, exact) = (x.exp_of_nonpositive(), (x as f64).exp());
            let unit = (exact * f64::from(f32::EPSILON)).max(f64::from(f32::from_bits(1)));
            assert!((actual as f64 - exact).abs() <= unit, "exp({x}) = {actual}, not {exact}");
            let x = f64::from(x) * 6.9;
            let (actual, exact) = (x.exp_of_nonpositive(), x.exp());
            let unit = (exact * f64::EPSILON * 2.0).max(f64::from_bits(2));
            assert!((actual - exact).abs() <= unit, "exp({x}) = {actual}, not {exact}");
        }
        assert_eq!(f32::NEG_INFINITY.exp_of_nonpositive(), 0.0);
        assert_eq!(f64::NEG_INFINITY.exp_of_nonpositive(), 0.0);
        assert_eq!(0f32.exp_of_nonpositive(), 1.0);
        assert_eq!(0f64.exp_of_nonpositive(), 1.0);
        assert!(f32::NAN.exp_of_nonpositive().is_nan());
        assert!(f64::NAN.exp_of_nonpositive().is_nan());
    }
}
