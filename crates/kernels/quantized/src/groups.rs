//! Groups: computation of scales and codes.

use umber_kernels_base::dense::dense;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{Compute, Real};
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, Quantization, QuantizationMode, match_dtype};

use super::LARGEST_GROUP;
use super::fp8::{
    LARGEST_FP4, LARGEST_FP8, from_e8m0, from_fp4, from_fp8, round_to_odd, to_e8m0, to_fp4, to_fp8,
};

/// Minimum scale in affine mode.
const SMALLEST_SCALE: f64 = 1e-7;
/// Independent accumulators in the search for extrema, so that it vectorises.
const LANES: usize = 16;

/// A group's scale, bias and codes.
struct Group<W> {
    /// In affine mode.
    scale: W,
    /// In affine mode.
    bias: W,
    /// In the other modes.
    scale_code: u8,
    codes: [u32; LARGEST_GROUP],
}

/// Quantise groups along the last axis of `src`, of any float dtype, to words, scales and (in affine mode) biases.
///
/// In NVFP4, `largest` holds the maximum magnitude of each of several equal chunks of the rows as float32; the scales are
/// relative to it.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn quantize(format: Quantization, src: View, largest: Option<View>, outputs: &mut [ViewMut]) {
    match_dtype!(float src.dtype(), T => {
        let [words, rest @ ..] = outputs else { panic!("an output for the words") };
        let words = Target::over(words.as_mut_slice::<u32>().expect("dense uint32"));
        let mut rest = rest.iter_mut();
        let scales = rest.next().expect("an output for the scales");
        let codes = (scales.dtype() == DType::UInt8).then(|| Target::<u8>::of(scales));
        let scales = codes.is_none().then(|| Target::<T>::of(scales));
        let biases = rest.next().map(|biases| Target::<T>::of(biases));
        let group_words = format.words_of_group();
        assert!(src.shape().last().is_some_and(|length| length % format.group_size() == 0), "rows are whole groups");
        each_group::<T>(format, src, largest, |g, values, factor| {
            let mut group = Group::new(format);
            group.quantize::<T>(format, values, factor);
            // SAFETY: the elements of this group in dense outputs, which only this thread writes.
            unsafe {
                if let (Some(scales), Some(biases)) = (scales, biases) {
                    *scales.at(g as isize) = T::narrow(group.scale);
                    *biases.at(g as isize) = T::narrow(group.bias);
                }
                if let Some(codes) = codes {
                    *codes.at(g as isize) = group.scale_code;
                }
                let to = words.at((g * group_words) as isize);
                pack(&group.codes[..values.len()], format.bits(), std::slice::from_raw_parts_mut(to, group_words));
            }
        });
    }, else => panic!("floats are quantised"));
}

/// Round `src` to its quantised values, in float32 (float64 for float64). `largest` is as for [`quantize`], but its part of
/// the scale is left out.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn rounded(format: Quantization, src: View, largest: Option<View>, out: ViewMut) {
    assert!(out.layout().is_contiguous(), "the output is dense");
    match_dtype!(float src.dtype(), T => {
        let target = Target::<<T as Real>::Compute>::of(&out);
        each_group::<T>(format, src, largest, |g, values, factor| {
            let mut group = Group::new(format);
            group.quantize::<T>(format, values, factor);
            for (i, &code) in group.codes[..values.len()].iter().enumerate() {
                let value = group.value::<T>(format.mode(), code);
                // SAFETY: inside this group's part of the output, which only this thread writes.
                unsafe { *target.at((g * format.group_size() + i) as isize) = value };
            }
        });
    }, else => panic!("floats are quantised"));
}

/// Call `body` with the index of each group, its elements, and the factor for its scales.
fn each_group<T: Real>(
    format: Quantization,
    src: View,
    largest: Option<View>,
    body: impl Fn(usize, &[T::Compute], T::Compute) + Sync,
) {
    let (size, values) = (format.group_size(), dense::<T>(src));
    let count = values.len() / size;
    let largest = largest.map(dense::<f32>);
    let unit = (LARGEST_FP4 * LARGEST_FP8) as f32;
    parallel_ranges(count, (1 << 13) / size, |range| {
        let mut widened = [T::Compute::default(); LARGEST_GROUP];
        for g in range {
            let group = &values[g * size..][..size];
            widened.iter_mut().zip(group).for_each(|(widened, &value)| *widened = value.widen());
            let factor = match &largest {
                Some(all) => T::Compute::of_f32(unit / all[g * all.len() / count]),
                None => T::Compute::nearest(1.0),
            };
            body(g, &widened[..size], factor);
        }
    });
}

/// Pack codes into a string of bits, lowest bits first.
fn pack(codes: &[u32], bits: usize, words: &mut [u32]) {
    let (mut bits_buffer, mut filled, mut next) = (0u64, 0, 0);
    for &code in codes {
        bits_buffer |= u64::from(code) << filled;
        filled += bits;
        if filled >= 32 {
            words[next] = bits_buffer as u32;
            (bits_buffer, filled, next) = (bits_buffer >> 32, filled - 32, next + 1);
        }
    }
}

/// Minimum and maximum; NaN is ignored.
#[inline(always)]
fn extrema<W: Compute>(values: &[W]) -> (W, W) {
    let (mut low, mut high) = ([W::infinity(); LANES], [W::neg_infinity(); LANES]);
    for values in values.chunks_exact(LANES) {
        for i in 0..LANES {
            low[i] = if values[i] < low[i] { values[i] } else { low[i] };
            high[i] = if values[i] > high[i] { values[i] } else { high[i] };
        }
    }
    for i in 1..LANES {
        low[0] = if low[i] < low[0] { low[i] } else { low[0] };
        high[0] = if high[i] > high[0] { high[i] } else { high[0] };
    }
    (low[0], high[0])
}

impl<W: Compute> Group<W> {
    fn new(format: Quantization) -> Group<W> {
        debug_assert!(format.group_size() <= LARGEST_GROUP);
        let zero = W::default();
        Group { scale: zero, bias: zero, scale_code: 0, codes: [0; LARGEST_GROUP] }
    }

    /// Compute the scale, bias and codes of some values.
    fn quantize<T: Real<Compute = W>>(&mut self, format: Quantization, values: &[W], factor: W) {
        vectorised(
            #[inline(always)]
            || match format.mode() {
                QuantizationMode::Affine => self.affine(format.bits(), values),
                QuantizationMode::Mxfp4 | QuantizationMode::Mxfp8 | QuantizationMode::Nvfp4 => {
                    self.floats::<T>(format.mode(), values, factor);
                }
            },
        );
    }

    /// Affine mode: the end of the range that is farther from zero is exact, and so is zero if it is in the range.
    #[inline(always)]
    fn affine(&mut self, bits: usize, values: &[W]) {
        let (low, high) = extrema(values);
        let top = W::nearest(((1u32 << bits) - 1).into());
        let smallest = W::of_f32(SMALLEST_SCALE as f32);
        let width = (high - low) / top;
        // Not `max`, so that a NaN scale stays NaN.
        let scale = if width < smallest { smallest } else { width };
        if bits == 1 {
            (self.scale, self.bias) = (scale, low);
        } else {
            let below = low.abs() > high.abs();
            let edge = if below { low } else { high };
            let scale = if below { scale } else { -scale };
            let steps = (edge / scale).to_even();
            let has_steps = steps != W::default();
            self.scale = if has_steps { edge / steps } else { scale };
            self.bias = if has_steps { edge } else { W::default() };
        }
        let (scale, bias) = (self.scale, self.bias);
        for (code, &value) in self.codes.iter_mut().zip(values) {
            let steps = W::to_even((value - bias) / scale);
            // NaN becomes code zero.
            let steps = if steps > W::default() { steps } else { W::default() };
            *code = W::small(if steps < top { steps } else { top });
        }
    }

    /// FP4 and FP8 modes.
    #[inline(always)]
    fn floats<T: Real<Compute = W>>(&mut self, mode: QuantizationMode, values: &[W], factor: W) {
        let (low, high) = extrema(values);
        let magnitude = if low.abs() > high.abs() { low.abs() } else { high.abs() };
        // If all elements are NaN.
        let magnitude = if high < low { W::default() } else { magnitude };
        let is_fp8 = mode == QuantizationMode::Mxfp8;
        let top = W::nearest(if is_fp8 { LARGEST_FP8 } else { LARGEST_FP4 });
        let scale = T::narrow(magnitude / top).widen() * factor;
        self.scale_code = match mode {
            QuantizationMode::Nvfp4 => to_fp8(round_to_odd(scale.wide())) as u8,
            _ => to_e8m0(scale.wide()),
        };
        let scale = W::of_f32(self.scale_value(mode));
        if scale == W::default() {
            return;
        }
        for (code, &value) in self.codes.iter_mut().zip(values) {
            let value = T::narrow(value / scale).widen() * factor;
            let value = round_to_odd(value.wide());
            *code = if is_fp8 { to_fp8(value) } else { to_fp4(value) };
        }
    }

    #[inline(always)]
    fn scale_value(&self, mode: QuantizationMode) -> f32 {
        match mode {
            QuantizationMode::Nvfp4 => from_fp8(self.scale_code.into()),
            _ => from_e8m0(self.scale_code),
        }
    }

    /// The value of a code, with scales rounded as they are stored.
    fn value<T: Real<Compute = W>>(&self, mode: QuantizationMode, code: u32) -> W {
        match mode {
            QuantizationMode::Affine => {
                let (scale, bias) = (T::narrow(self.scale).widen(), T::narrow(self.bias).widen());
                W::nearest(code.into()) * scale + bias
            }
            QuantizationMode::Mxfp8 => W::of_f32(from_fp8(code)) * W::of_f32(self.scale_value(mode)),
            QuantizationMode::Mxfp4 | QuantizationMode::Nvfp4 => {
                W::of_f32(from_fp4(code)) * W::of_f32(self.scale_value(mode))
            }
        }
    }
}
