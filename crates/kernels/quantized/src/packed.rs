//! Packed rows of a quantised matrix, and their dequantisation.

use std::borrow::Cow;
#[cfg(target_arch = "x86_64")]
use std::ops::Range;

use umber_kernels_base::View;
use umber_kernels_base::dense::dense;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{Compute, Real};
#[cfg(target_arch = "x86_64")]
use umber_kernels_base::{caches::LINE, isa::prefetch};
use umber_types::{DType, Quantization, QuantizationMode, bf16, f16};

use super::codes::dequantize_codes;
use super::fp8::{from_e8m0, from_fp8};

/// Maximum number of elements dequantised at a time.
const MAX_SEGMENT: usize = 512;
/// Maximum number of groups among them.
const GROUPS: usize = MAX_SEGMENT / 16;

/// Scales or biases as they are stored.
enum GroupParameters<'a> {
    Float16(Cow<'a, [f16]>),
    BFloat16(Cow<'a, [bf16]>),
    Float32(Cow<'a, [f32]>),
    Float64(Cow<'a, [f64]>),
    Powers(Cow<'a, [u8]>),
    Fp8(Cow<'a, [u8]>),
}

/// Rows of codes with their scales and biases.
pub(super) struct QuantizedRows<'a> {
    pub(super) format: Quantization,
    words: Cow<'a, [u32]>,
    /// Words of a row.
    row_words: usize,
    /// Groups of a row.
    pub(super) groups: usize,
    scales: GroupParameters<'a>,
    biases: Option<GroupParameters<'a>>,
}

impl<'a> GroupParameters<'a> {
    fn new(mode: QuantizationMode, view: View<'a>) -> GroupParameters<'a> {
        match (view.dtype(), mode) {
            (DType::Float16, _) => GroupParameters::Float16(dense(view)),
            (DType::BFloat16, _) => GroupParameters::BFloat16(dense(view)),
            (DType::Float32, _) => GroupParameters::Float32(dense(view)),
            (DType::Float64, _) => GroupParameters::Float64(dense(view)),
            (DType::UInt8, QuantizationMode::Mxfp4 | QuantizationMode::Mxfp8) => {
                GroupParameters::Powers(dense(view))
            }
            (DType::UInt8, QuantizationMode::Nvfp4) => GroupParameters::Fp8(dense(view)),
            _ => panic!("scales are floats or codes"),
        }
    }

    /// Read as many as `out` holds, beginning with number `start`.
    fn read<W: Compute>(&self, start: usize, out: &mut [W]) {
        fn convert<F: Copy, W: Compute>(from: &[F], start: usize, out: &mut [W], to: impl Fn(F) -> W) {
            let from = &from[start..][..out.len()];
            vectorised(
                #[inline(always)]
                || out.iter_mut().zip(from).for_each(|(out, &from)| *out = to(from)),
            );
        }
        match self {
            GroupParameters::Float16(values) => convert(values, start, out, |x| W::of_f32(x.widen())),
            GroupParameters::BFloat16(values) => convert(values, start, out, |x| W::of_f32(x.widen())),
            GroupParameters::Float32(values) => convert(values, start, out, W::of_f32),
            GroupParameters::Float64(values) => convert(values, start, out, W::nearest),
            GroupParameters::Powers(codes) => convert(codes, start, out, |x| W::of_f32(from_e8m0(x))),
            GroupParameters::Fp8(codes) => convert(codes, start, out, |x| W::of_f32(from_fp8(u32::from(x)))),
        }
    }

    /// Some of them: borrowed if they are float32, else converted into `memory`.
    #[cfg(target_arch = "x86_64")]
    fn floats<'b>(&'b self, range: Range<usize>, memory: &'b mut [f32]) -> &'b [f32] {
        if let GroupParameters::Float32(values) = self {
            return &values[range];
        }
        let memory = &mut memory[..range.len()];
        self.read(range.start, memory);
        memory
    }

    /// Prefetch `count` of them, beginning with number `start`, if they exist.
    #[cfg(target_arch = "x86_64")]
    fn prefetch(&self, start: usize, count: usize) {
        fn prefetch_slice<F>(from: &[F], start: usize, count: usize) {
            let from = from.get(start..start + count).unwrap_or_default();
            from.iter().step_by((LINE / size_of::<F>()).max(1)).for_each(|from| prefetch(from));
        }
        match self {
            GroupParameters::Float16(values) => prefetch_slice(values, start, count),
            GroupParameters::BFloat16(values) => prefetch_slice(values, start, count),
            GroupParameters::Float32(values) => prefetch_slice(values, start, count),
            GroupParameters::Float64(values) => prefetch_slice(values, start, count),
            GroupParameters::Powers(codes) | GroupParameters::Fp8(codes) => {
                prefetch_slice(codes, start, count);
            }
        }
    }
}

impl<'a> QuantizedRows<'a> {
    /// Wrap views that hold rows of `length` elements.
    pub(super) fn new(
        format: Quantization,
        words: View<'a>,
        scales: View<'a>,
        biases: Option<View<'a>>,
        length: usize,
    ) -> QuantizedRows<'a> {
        assert!(length.is_multiple_of(format.group_size()), "rows of whole groups");
        let groups = length / format.group_size();
        let rows = words.size() / format.words(length).max(1);
        assert!(scales.size() == rows * groups, "one scale per group");
        assert!(format.has_biases() == biases.is_some(), "biases in affine mode");
        assert!(biases.is_none_or(|biases| biases.size() == scales.size()), "one bias per group");
        QuantizedRows {
            format,
            words: dense(words),
            row_words: format.words(length),
            groups,
            scales: GroupParameters::new(format.mode(), scales),
            biases: biases.map(|biases| GroupParameters::new(format.mode(), biases)),
        }
    }

    /// The words of a row.
    pub(super) fn words(&self, row: usize) -> &[u32] {
        &self.words[row * self.row_words..][..self.row_words]
    }

    /// The words of consecutive rows.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_words(&self, rows: Range<usize>) -> &[u32] {
        &self.words[rows.start * self.row_words..rows.end * self.row_words]
    }

    /// Read the scales of a row, beginning with group `first`.
    pub(super) fn scales<W: Compute>(&self, row: usize, first: usize, out: &mut [W]) {
        self.scales.read(row * self.groups + first, out);
    }

    /// As [`QuantizedRows::scales`] for biases; returns whether there are any.
    pub(super) fn biases<W: Compute>(&self, row: usize, first: usize, out: &mut [W]) -> bool {
        if let Some(biases) = &self.biases {
            biases.read(row * self.groups + first, out);
        }
        self.biases.is_some()
    }

    /// All scales of consecutive rows, borrowed or converted into `memory`.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_scales<'b>(&'b self, rows: Range<usize>, memory: &'b mut [f32]) -> &'b [f32] {
        self.scales.floats(rows.start * self.groups..rows.end * self.groups, memory)
    }

    /// As [`QuantizedRows::all_scales`] for biases, which must exist.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_biases<'b>(&'b self, rows: Range<usize>, memory: &'b mut [f32]) -> &'b [f32] {
        let biases = self.biases.as_ref().expect("affine mode has biases");
        biases.floats(rows.start * self.groups..rows.end * self.groups, memory)
    }

    /// Prefetch the scales and biases of some rows, if they exist.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn prefetch_factors(&self, first: usize, rows: usize) {
        for factors in [Some(&self.scales), self.biases.as_ref()].into_iter().flatten() {
            factors.prefetch(first * self.groups, rows * self.groups);
        }
    }

    /// Dequantise whole groups of a row, beginning with group `first`, until `out` is full.
    pub(super) fn read<W: Compute>(&self, row: usize, first: usize, out: &mut [W]) {
        let (size, group_words) = (self.format.group_size(), self.format.words_of_group());
        let words = self.words(row);
        let max_groups = MAX_SEGMENT / size;
        let (mut scales, mut biases) = ([W::default(); GROUPS], [W::default(); GROUPS]);
        for (segment, out) in out.chunks_mut(max_groups * size).enumerate() {
            let start = first + segment * max_groups;
            let count = out.len() / size;
            let words = &words[start * group_words..][..count * group_words];
            if W::DTYPE == DType::Float32 {
                // SAFETY: `W` is float32.
                dequantize_codes(self.format, words, unsafe { out.align_to_mut::<f32>().1 });
            } else {
                let mut values = [0f32; MAX_SEGMENT];
                let values = &mut values[..out.len()];
                dequantize_codes(self.format, words, values);
                out.iter_mut().zip(values).for_each(|(out, &mut value)| *out = W::of_f32(value));
            }
            self.scales(row, start, &mut scales[..count]);
            let has_biases = self.biases(row, start, &mut biases[..count]);
            vectorised(
                #[inline(always)]
                || {
                    for (g, out) in out.chunks_exact_mut(size).enumerate() {
                        let (scale, bias) = (scales[g], biases[g]);
                        if has_biases {
                            for out in out {
                                *out = *out * scale + bias;
                            }
                        } else {
                            for out in out {
                                *out = *out * scale;
                            }
                        }
                    }
                },
            );
        }
    }
}
