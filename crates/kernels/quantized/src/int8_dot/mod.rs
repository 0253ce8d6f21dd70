//! Fixed-point products with a transposed quantised matrix, for processors with int8 dot products (AVX-512 VNNI, AMX).
//!
//! Codes are integers, or FP4 (E2M1) values, which are halves of integers. Each group of a left row is a power of two times
//! integers, split into three int8 limbs if no element is much larger than its neighbours, else into four. The products of a
//! group's codes with one limb accumulate exactly in int32. Codes are centred, so that adding biases causes little
//! cancellation. Rounding occurs only in the split and in the sums over groups: three limbs round as finely as the largest
//! element of the group is rounded, four 256 times finer. Where most elements are not far below the maximum of their group,
//! this is as accurate as float32; other rows use the float kernels. No code is converted to float here. [`k_parallel`]
//! handles a few rows, with SIMD lanes along the depth; [`m_parallel`] more rows, one per lane, unless the processor has AMX
//! ([`amx`]). All pack the left rows first ([`packed_rows`]).

mod amx;
mod k_parallel;
mod m_parallel;
mod packed_rows;

use std::arch::x86_64::*;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::isa::{is_unlimited, level, vectorised};
use umber_types::{Quantization, QuantizationMode};

use super::LARGEST_GROUP;
use super::codes::FP4_ZERO_POINT;
use super::qgemm::{QGemm, max_abs, sum_over};
use super::unpack_bits::BYTES;

/// Lanes of a vector of 32-bit sums.
const LANES: usize = 16;
/// Minimum bytes of packed words per job.
const BYTES_PER_JOB: usize = 1 << 16;
/// Products of fewer rows than this use [`k_parallel`].
const MIN_M_PARALLEL_ROWS: usize = 12;
/// Valid exponents of the maximum magnitude of a row.
const EXPONENTS: std::ops::Range<i32> = -40..60;
/// Initial value of the third limb's sum, as a float32: its last bit is worth 2^-8, one unit of the third limb in terms of
/// the second. So integers added to its bits are added to its value, and the sums need no conversion.
const THIRD_LIMB_BIAS: f32 = 49152.0;
/// As [`THIRD_LIMB_BIAS`] for the fourth limb.
const FOURTH_LIMB_BIAS: f32 = 192.0;
/// Sums of the largest group, with the corrections of [`initial_sums`], must not carry out of the mantissa of those floats.
const _: () = assert!((LARGEST_GROUP << 14) + (3 << 15) < 1 << 22);
/// Minimum exponent of a group: smaller elements are negligible compared with the maximum of their row.
const MIN_EXPONENT: i32 = -64;

/// Whether this kernel suits a product.
pub(super) fn is_suitable(product: &QGemm) -> bool {
    let format = product.quantized.format;
    let is_k_parallel = product.rows < MIN_M_PARALLEL_ROWS;
    let is_format_suitable = format.mode() != QuantizationMode::Mxfp8
        && (!is_k_parallel || k_parallel::is_suitable(format.bits()));
    let has_safe_exponent = || {
        vectorised(
            #[inline(always)]
            || {
                let mut all = true;
                for row in product.x.chunks_exact(product.depth()) {
                    all &= has_safe_exponent(row);
                }
                all
            },
        )
    };
    is_format_suitable && is_available() && has_safe_exponent() && product.has_no_outliers()
}

fn is_available() -> bool {
    level() == 2 && is_unlimited() && is_x86_feature_detected!("avx512vnni")
}

/// Whether the maximum magnitude of a row is zero or within [`EXPONENTS`].
#[inline(always)]
fn has_safe_exponent(row: &[f32]) -> bool {
    let largest = max_abs(row);
    largest == 0.0 || EXPONENTS.contains(&exponent(largest))
}

/// Whether the elements of all groups are close enough in magnitude for three limbs. Their rounding error, up to 2^-23 of the
/// maximum, is then comparable to that of float32 sums. Formats without biases need four limbs, because many of their weights
/// may be exactly zero.
fn are_three_limbs_enough(product: &QGemm) -> bool {
    /// Bound on the maximum magnitude of a group, relative to its mean.
    const MAX_RATIO: f32 = 8.0;
    let size = product.quantized.format.group_size() as f32;
    product.quantized.format.has_biases()
        && vectorised(
            #[inline(always)]
            || {
                let mut all = true;
                for group in product.groups() {
                    all &= max_abs(group) * size <= MAX_RATIO * sum_over(group, f32::abs);
                }
                all
            },
        )
}

/// The smallest `e` with `value < 2**e`, for a value that is not denormal.
fn exponent(value: f32) -> i32 {
    (value.to_bits() >> 23) as i32 - 126
}

fn power(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

/// The limbs of a group, the most significant first.
type Limbs<const D: usize> = [[i8; LARGEST_GROUP]; D];

/// Split a group into limbs; returns the scale of a product of 1 in the second limb with 1 above the zero point.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn to_limbs<const D: usize>(format: Quantization, group: &[f32], limbs: &mut Limbs<D>) -> f32 {
    let (scale, limb_scale) = scale_of::<D>(format, group);
    let scale = _mm512_set1_ps(scale);
    assert!(group.len() <= LARGEST_GROUP, "the group fits the limbs");
    for (i, elements) in group.chunks(LANES).enumerate() {
        let mask = u16::MAX >> (LANES - elements.len());
        // SAFETY: the mask limits the load to the group.
        let elements = unsafe { _mm512_maskz_loadu_ps(mask, elements.as_ptr()) };
        let mut remaining = _mm512_cvtps_epi32(_mm512_mul_ps(elements, scale));
        for limbs in limbs.iter_mut().rev() {
            // SAFETY: the limbs have space for a full vector, since their length is a multiple of the lanes.
            unsafe {
                _mm_storeu_si128(limbs.as_mut_ptr().add(i * LANES).cast(), _mm512_cvtepi32_epi8(remaining));
            };
            // The limb is signed, so the remaining bits are rounded up if it is negative.
            remaining = _mm512_srai_epi32::<8>(_mm512_add_epi32(remaining, _mm512_set1_epi32(128)));
        }
    }
    limb_scale
}

/// The factor that converts a group to integers of `D` limbs, and the scale that [`to_limbs`] returns.
#[inline(always)]
fn scale_of<const D: usize>(format: Quantization, group: &[f32]) -> (f32, f32) {
    let bits = 8 * D as i32 - 1;
    // The top limb may be at most 127, so the maximum must stay below 127.5 of its units, not 128.
    let exponent = exponent(max_abs(group) * (1.0 + 1.0 / 128.0)).max(MIN_EXPONENT);
    let halves = i32::from(!format.has_biases());
    (power(bits - exponent), power(exponent - 15 - halves))
}

/// The sum of a group, rounded once.
#[inline(always)]
fn sum(group: &[f32]) -> f32 {
    sum_over(group, f64::from) as f32
}

/// The code that counts as zero, so that the products largely cancel where the weights do.
fn zero_point(format: Quantization) -> u8 {
    match (format.has_biases(), format.bits()) {
        (false, _) => FP4_ZERO_POINT,
        (_, 1) => 0,
        (_, bits) => 1 << (bits - 1),
    }
}

/// Whether sums may count codes from zero: with all codes of a group in one lane they must not carry out of the mantissa of
/// [`THIRD_LIMB_BIAS`] and [`FOURTH_LIMB_BIAS`].
fn fits_from_zero<const D: usize>(format: Quantization) -> bool {
    let offset = if D == 4 { FOURTH_LIMB_BIAS as usize * 256 } else { 0 };
    format.group_size() * ((1 << format.bits()) - 1) * 128 + offset < 1 << 22
}

/// Whether the codes of a column are counted from the zero point and not from zero.
///
/// The sums of codes and of biases are rounded separately and mostly cancel, so the smaller biases are better. If the weights
/// have one sign, these are the biases relative to zero.
#[inline(always)]
fn uses_zero_point(format: Quantization, scales: &[f32], biases: &[f32]) -> bool {
    let zero_point = f32::from(zero_point(format));
    let mut gains = [0.0; LANES];
    for (scales, biases) in scales.chunks(LANES).zip(biases.chunks(LANES)) {
        for ((gain, scale), bias) in gains.iter_mut().zip(scales).zip(biases) {
            *gain += bias.abs() - scale.mul_add(zero_point, *bias).abs();
        }
    }
    gains.iter().sum::<f32>() >= 0.0
}

/// Adjust the biases of a column to its zero point, unless its codes should and may be counted from zero; returns whether the
/// zero point is used. FP4 formats have no biases and always use it.
#[inline(always)]
fn apply_zero_point<const D: usize>(format: Quantization, scales: &[f32], biases: &mut [f32]) -> bool {
    if !format.has_biases() {
        biases.fill(0.0);
        return true;
    }
    let uses_zero_point = uses_zero_point(format, scales, biases) || !fits_from_zero::<D>(format);
    if uses_zero_point {
        let zero_point = f32::from(zero_point(format));
        for (bias, scale) in biases.iter_mut().zip(scales) {
            *bias = scale.mul_add(zero_point, *bias);
        }
    }
    uses_zero_point
}

/// The zero point times the sum of the limbs. The vectors of the limbs are `step` bytes apart, and such sets of vectors
/// `stride` bytes apart.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn zero_point_sums<const D: usize>(
    format: Quantization,
    limbs: &[i8],
    step: usize,
    stride: usize,
) -> [__m512i; D] {
    let zero_point = _mm512_set1_epi8(zero_point(format) as i8);
    let mut sums = [_mm512_setzero_si512(); D];
    for limbs in limbs.chunks(stride) {
        for (limb, sum) in sums.iter_mut().enumerate() {
            let limbs = limbs[limb * step..][..BYTES].as_ptr();
            // SAFETY: a vector of limbs.
            *sum = unsafe { _mm512_dpbusd_epi32(*sum, zero_point, _mm512_loadu_si512(limbs.cast())) };
        }
    }
    sums
}

/// The initial sums of each limb: the negative of what the zero point contributes, so that codes count from it.
///
/// The second limb starts with zero, and its part is carried to its neighbours, so that a kernel may continue with the
/// shifted sums of the first. From the third limb on the sums are bits of floats, as [`combine_limbs`] expects them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn initial_sums<const D: usize>(mut sums: [__m512i; D]) -> [__m512i; D] {
    let above = _mm512_srai_epi32::<8>(_mm512_add_epi32(sums[1], _mm512_set1_epi32(128)));
    let below = _mm512_sub_epi32(_mm512_slli_epi32::<8>(sums[1]), _mm512_slli_epi32::<16>(above));
    sums[0] = _mm512_add_epi32(sums[0], above);
    sums[1] = _mm512_setzero_si512();
    sums[2] = _mm512_add_epi32(sums[2], below);
    // Added to the bits of each limb, and subtracted as a number from a more significant limb.
    let mut offsets = [0; D];
    offsets[0] = -(THIRD_LIMB_BIAS as i32) / 256;
    offsets[2] = THIRD_LIMB_BIAS.to_bits() as i32;
    if D == 4 {
        offsets[2] -= FOURTH_LIMB_BIAS as i32 * 256;
        offsets[3] = FOURTH_LIMB_BIAS.to_bits() as i32;
    }
    array_of(|limb| _mm512_sub_epi32(_mm512_set1_epi32(offsets[limb]), sums[limb]))
}

/// Compute a product for which [`is_suitable`] returned true.
pub(super) fn compute(product: &QGemm) {
    if amx::is_suitable(product) {
        return if are_three_limbs_enough(product) { amx::run::<3>(product) } else { amx::run::<4>(product) };
    }
    let is_k_parallel = product.rows < MIN_M_PARALLEL_ROWS;
    // SAFETY: `is_suitable` checked the instructions.
    unsafe {
        match (is_k_parallel, are_three_limbs_enough(product)) {
            (true, true) => k_parallel::run::<3>(product),
            (true, false) => k_parallel::run::<4>(product),
            (false, true) => m_parallel::run::<3>(product),
            (false, false) => m_parallel::run::<4>(product),
        }
    };
}

/// Combine the sums of three or four limbs, in units of the second limb: `pair` is the integer sum of the first two, and the
/// others are floats already. So only the conversion of `pair` and the additions round.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn combine_limbs<const D: usize>(pair: __m512i, sums: &[__m512i; D]) -> __m512 {
    let mut sum = _mm512_cvtepi32_ps(pair);
    for &limb in &sums[2..] {
        sum = _mm512_add_ps(sum, _mm512_castsi512_ps(limb));
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umber_types::{Layout, Shape};

    use super::*;
    use crate::packed::QuantizedRows;
    use umber_kernels_base::View;
    use umber_kernels_base::shared::Target;

    proptest! {
        #[test]
        fn limbs_represent_their_value(values in prop::collection::vec(-1e3f32..1e3, 1..65), shift in -40i32..40) {
            let values: Vec<f32> = values.into_iter().map(|x| x * power(shift)).collect();
            check_limbs::<3>(&values)?;
            check_limbs::<4>(&values)?;
        }
    }

    #[test]
    fn limbs_represent_values_just_below_a_power_of_two() {
        for values in [[-510.1042], [511.99997], [508.03], [508.04]] {
            check_limbs::<3>(&values).expect("three limbs");
            check_limbs::<4>(&values).expect("four limbs");
        }
    }

    fn check_limbs<const D: usize>(values: &[f32]) -> Result<(), TestCaseError> {
        if !is_available() {
            return Ok(());
        }
        let format = Quantization::new("quantize", QuantizationMode::Affine, None, None).unwrap();
        let mut limbs = [[0; LARGEST_GROUP]; D];
        // SAFETY: the processor has the instructions.
        let limb_scale =
            f64::from(unsafe { to_limbs(format, values, &mut limbs) }) * 256f64.powi(2 - D as i32);
        // Half a unit of the last limb, with the headroom for the top limb.
        let bound = f64::from(max_abs(values)) * (1.0 + 1.0 / 128.0) * 2f64.powi(1 - 8 * D as i32);
        for (i, value) in values.iter().enumerate() {
            let number = limbs.iter().fold(0, |sum: i64, limb| 256 * sum + i64::from(limb[i]));
            let error = number as f64 * limb_scale - f64::from(*value);
            prop_assert!(error.abs() <= bound, "{value}: {number}");
        }
        Ok(())
    }

    /// A kernel that computes a product.
    type Run = fn(&QGemm);

    /// The maximum error of a product, relative to the sum of the magnitudes of its terms. The rows have groups of uneven
    /// magnitudes, or such that three limbs are enough.
    fn error(format: Quantization, [rows, columns, groups]: [usize; 3], uneven: bool, run: Run) -> f64 {
        let length = groups * format.group_size();
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        let words: Vec<u32> = (0..columns * format.words(length)).map(|_| next() ^ next() << 16).collect();
        let mut floats = |count: usize, exponents: i32| -> Vec<f32> {
            (0..count)
                .map(|_| (next() as f32 / (1u32 << 30) as f32 - 1.0) * power(next() as i32 % exponents))
                .collect()
        };
        let (scales, biases) = (floats(columns * groups, 5), floats(columns * groups, 5));
        let mut x = floats(rows * length, if uneven { 5 } else { 2 });
        // One group is zero, one very small.
        x[..format.group_size()].fill(0.0);
        x[rows * length - format.group_size()..].iter_mut().for_each(|x| *x *= 1e-20);
        if uneven {
            x[length - 1] = 1e6;
        }
        let of = |shape: &[usize]| Layout::contiguous(Shape::from(shape));
        let (shape, packed_shape) = (of(&[columns, groups]), of(&[columns, format.words(length)]));
        // E8M0 scales from 1/128 to 128, or float8 scales without the code 127, which is NaN.
        let code_count = if format.mode() == QuantizationMode::Nvfp4 { 127 } else { 255 };
        let small: Vec<u8> =
            (0..columns * groups).map(|i| ((i * 37 % 15 + 120) % code_count) as u8).collect();
        let (scales, biases) = if format.has_biases() {
            (View::of(&scales, &shape), Some(View::of(&biases, &shape)))
        } else {
            (View::of(&small, &shape), None)
        };
        let quantized = QuantizedRows::new(format, View::of(&words, &packed_shape), scales, biases, length);
        let mut out = vec![f32::NAN; rows * columns];
        let out_start = Target::over(&mut out);
        let product = QGemm { quantized: &quantized, first: 0, x: &x, rows, columns, out: out_start };
        assert_eq!(are_three_limbs_enough(&product), !uneven && format.has_biases());
        run(&product);
        let (mut line, mut scales, mut biases) = (vec![0f64; length], vec![0f64; groups], vec![0f64; groups]);
        let mut worst = 0f64;
        for column in 0..columns {
            quantized.read(column, 0, &mut line);
            quantized.scales(column, 0, &mut scales);
            let half = if quantized.biases(column, 0, &mut biases) {
                f64::from((1u32 << format.bits()) - 1) / 2.0
            } else {
                6.0
            };
            for (r, x) in x.chunks_exact(length).enumerate() {
                let terms = x.iter().zip(&line);
                let exact: f64 = terms.map(|(&x, &w)| f64::from(x) * w).sum();
                let magnitudes = x.iter().enumerate().map(|(i, &x)| {
                    // Uses the maximum weight of the group, since rounding depends on that.
                    let g = i / format.group_size();
                    let zero_point = if format.has_biases() { biases[g] + scales[g] * half } else { 0.0 };
                    f64::from(x).abs() * ((scales[g] * half).abs() + zero_point.abs())
                });
                let difference = (f64::from(out[r * columns + column]) - exact).abs();
                worst = worst.max(difference / magnitudes.sum::<f64>().max(1e-30));
            }
        }
        worst
    }

    /// Check products for these rows, columns and groups: `even` runs on rows for which three limbs are enough.
    pub(super) fn check_products(bits: i64, shapes: &[[usize; 3]], [even, uneven]: [Run; 2]) {
        let mut formats: Vec<_> =
            [32, 64, 128].into_iter().map(|size| (QuantizationMode::Affine, size)).collect();
        if bits == 4 {
            formats.extend([(QuantizationMode::Mxfp4, 32), (QuantizationMode::Nvfp4, 16)]);
        }
        for (mode, size) in formats {
            let format = Quantization::new("quantize", mode, Some(size), Some(bits)).unwrap();
            for &shape in shapes {
                for (is_uneven, run) in [(false, even), (true, uneven)] {
                    let error = error(format, shape, is_uneven, run);
                    assert!(error <= 3e-7, "{mode:?}, {bits} bits in {size}, {shape:?}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn products_are_as_accurate_as_in_float32() {
        if !is_available() {
            return;
        }
        let shapes = [
            [1, 1, 1],
            [1, 9, 3],
            [3, 4, 2],
            [5, 7, 5],
            [6, 17, 3],
            [16, 70, 2],
            [17, 5, 7],
            [33, 9, 2],
            [70, 3, 1],
        ];
        for bits in [1, 2, 3, 4, 5, 6, 8] {
            let min_rows = if k_parallel::is_suitable(bits as usize) { 0 } else { MIN_M_PARALLEL_ROWS };
            let shapes: Vec<_> = shapes.into_iter().filter(|&[rows, ..]| rows >= min_rows).collect();
            check_products(bits, &shapes, [compute; 2]);
        }
    }

    /// Check rows with limbs of maximum magnitude: 120, 127, 127 or -120, -128, -128 in three limbs.
    pub(super) fn check_max_limbs(rows: usize, run: Run) {
        let format = Quantization::new("quantize", QuantizationMode::Affine, Some(128), Some(8)).unwrap();
        let [high, low] = [120 << 16 | 127 << 8 | 127, 120 << 16 | 128 << 8 | 128]
            .map(|number: i32| number as f32 / (1 << 23) as f32);
        for (x, code) in [(high, 0u32), (high, 255), (-low, 0), (-low, 255)] {
            let (words, scale, bias) = ([code * 0x0101_0101; 32], [1.0f32], [0.5f32]);
            let (x, mut out) = (vec![x; rows * 128], vec![f32::NAN; rows]);
            let of = |length: usize| Layout::contiguous(Shape::from([1, length]));
            let (shape, one) = (of(32), of(1));
            let (scales, biases) = (View::of(&scale, &one), View::of(&bias, &one));
            let quantized = QuantizedRows::new(format, View::of(&words, &shape), scales, Some(biases), 128);
            let (columns, start) = (1, Target::over(&mut out));
            run(&QGemm { quantized: &quantized, first: 0, x: &x, rows, columns, out: start });
            check_sums(&out, 128.0 * x[0] * (code as f32 + 0.5));
        }
    }

    #[test]
    fn sums_of_max_limbs_do_not_overflow() {
        if !is_available() {
            return;
        }
        // SAFETY: the processor has the instructions.
        unsafe {
            check_max_limbs(1, |product| k_parallel::run::<4>(product));
            check_max_limbs(1, |product| k_parallel::run::<3>(product));
            check_max_limbs(16, |product| m_parallel::run::<4>(product));
            check_max_limbs(16, |product| m_parallel::run::<3>(product));
        }
    }

    fn check_sums(actual: &[f32], expected: f32) {
        for actual in actual {
            let error = (actual - expected).abs();
            assert!(error <= 128.0 * 128.0 * 2f32.powi(-22), "{actual} instead of {expected}");
        }
    }

    #[test]
    fn rows_of_moderate_magnitude_are_suitable() {
        let format = Quantization::new("quantize", QuantizationMode::Affine, Some(32), Some(4)).unwrap();
        let odd = Quantization::new("quantize", QuantizationMode::Affine, Some(32), Some(5)).unwrap();
        // A product with an empty matrix, whose rows are ones and `x`.
        let is_suitable = |format: Quantization, x: f32| {
            let none = |length| Layout::contiguous(Shape::from([0, length]));
            let (words, groups) = (none(format.words(32)), none(1));
            let factors = View::of::<f32>(&[], &groups);
            let quantized =
                QuantizedRows::new(format, View::of::<u32>(&[], &words), factors, Some(factors), 32);
            let (x, out) = ([[1.0; 32], [x; 32]].concat(), Target::over(&mut []));
            is_suitable(&QGemm { quantized: &quantized, first: 0, x: &x, rows: 2, columns: 0, out })
        };
        assert_eq!(is_suitable(format, 1e-10), is_available());
        assert_eq!(is_suitable(format, 0.0), is_available());
        for unsuitable in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-20, 1e-45, 1e20] {
            assert!(!is_suitable(format, unsuitable), "{unsuitable}");
        }
        assert_eq!(is_suitable(odd, 1.0), is_available() && k_parallel::is_suitable(5));
    }
}
