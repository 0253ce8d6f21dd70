//! Packed: a stack of quantised rows, read into floats.

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

use super::codes::levels;
use super::fp8::{from_fp8, from_power};

/// The most elements read at a time.
const STRETCH: usize = 512;
/// The most groups of them.
const GROUPS: usize = STRETCH / 16;

/// Scales or biases as they are stored.
enum Factors<'a> {
    Float16(Cow<'a, [f16]>),
    BFloat16(Cow<'a, [bf16]>),
    Float32(Cow<'a, [f32]>),
    Float64(Cow<'a, [f64]>),
    Powers(Cow<'a, [u8]>),
    Fp8(Cow<'a, [u8]>),
}

/// Rows of codes with their scales and biases.
pub(super) struct Packed<'a> {
    pub(super) how: Quantization,
    words: Cow<'a, [u32]>,
    /// Words of a row.
    row_words: usize,
    /// Groups of a row.
    pub(super) groups: usize,
    scales: Factors<'a>,
    biases: Option<Factors<'a>>,
}

impl<'a> Factors<'a> {
    fn new(mode: QuantizationMode, view: View<'a>) -> Factors<'a> {
        match (view.dtype(), mode) {
            (DType::Float16, _) => Factors::Float16(dense(view)),
            (DType::BFloat16, _) => Factors::BFloat16(dense(view)),
            (DType::Float32, _) => Factors::Float32(dense(view)),
            (DType::Float64, _) => Factors::Float64(dense(view)),
            (DType::UInt8, QuantizationMode::Mxfp4 | QuantizationMode::Mxfp8) => Factors::Powers(dense(view)),
            (DType::UInt8, QuantizationMode::Nvfp4) => Factors::Fp8(dense(view)),
            _ => panic!("scales are floats or codes"),
        }
    }

    /// Read as many as `out` holds, from number `start` on.
    fn read<W: Compute>(&self, start: usize, out: &mut [W]) {
        fn convert<F: Copy, W: Compute>(from: &[F], start: usize, out: &mut [W], to: impl Fn(F) -> W) {
            let from = &from[start..][..out.len()];
            vectorised(
                #[inline(always)]
                || out.iter_mut().zip(from).for_each(|(out, &from)| *out = to(from)),
            );
        }
        match self {
            Factors::Float16(values) => convert(values, start, out, |x| W::of_f32(x.widen())),
            Factors::BFloat16(values) => convert(values, start, out, |x| W::of_f32(x.widen())),
            Factors::Float32(values) => convert(values, start, out, W::of_f32),
            Factors::Float64(values) => convert(values, start, out, W::nearest),
            Factors::Powers(codes) => convert(codes, start, out, |x| W::of_f32(from_power(x))),
            Factors::Fp8(codes) => convert(codes, start, out, |x| W::of_f32(from_fp8(u32::from(x)))),
        }
    }

    /// Some of them: in place if they are float32, else read into `memory`.
    #[cfg(target_arch = "x86_64")]
    fn floats<'b>(&'b self, range: Range<usize>, memory: &'b mut [f32]) -> &'b [f32] {
        if let Factors::Float32(values) = self {
            return &values[range];
        }
        let memory = &mut memory[..range.len()];
        self.read(range.start, memory);
        memory
    }

    /// Ask for `count` of them ahead, from number `start` on, if there are so many.
    #[cfg(target_arch = "x86_64")]
    fn prefetch(&self, start: usize, count: usize) {
        fn ask<F>(from: &[F], start: usize, count: usize) {
            let from = from.get(start..start + count).unwrap_or_default();
            from.iter().step_by((LINE / size_of::<F>()).max(1)).for_each(|from| prefetch(from));
        }
        match self {
            Factors::Float16(values) => ask(values, start, count),
            Factors::BFloat16(values) => ask(values, start, count),
            Factors::Float32(values) => ask(values, start, count),
            Factors::Float64(values) => ask(values, start, count),
            Factors::Powers(codes) | Factors::Fp8(codes) => ask(codes, start, count),
        }
    }
}

impl<'a> Packed<'a> {
    /// The rows, of `length` elements, that views hold.
    pub(super) fn new(
        how: Quantization,
        words: View<'a>,
        scales: View<'a>,
        biases: Option<View<'a>>,
        length: usize,
    ) -> Packed<'a> {
        assert!(length.is_multiple_of(how.group_size()), "rows of whole groups");
        let groups = length / how.group_size();
        let rows = words.size() / how.words(length).max(1);
        assert!(scales.size() == rows * groups, "a scale a group");
        assert!(how.has_biases() == biases.is_some(), "biases in affine mode");
        assert!(biases.is_none_or(|biases| biases.size() == scales.size()), "a bias a group");
        Packed {
            how,
            words: dense(words),
            row_words: how.words(length),
            groups,
            scales: Factors::new(how.mode(), scales),
            biases: biases.map(|biases| Factors::new(how.mode(), biases)),
        }
    }

    /// The words of a row.
    pub(super) fn words(&self, row: usize) -> &[u32] {
        &self.words[row * self.row_words..][..self.row_words]
    }

    /// The words of some rows, one row after the other.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_words(&self, rows: Range<usize>) -> &[u32] {
        &self.words[rows.start * self.row_words..rows.end * self.row_words]
    }

    /// Scales of a row from group `first` on.
    pub(super) fn scales<W: Compute>(&self, row: usize, first: usize, out: &mut [W]) {
        self.scales.read(row * self.groups + first, out);
    }

    /// As [`Packed::scales`] for biases; answers whether there are any.
    pub(super) fn biases<W: Compute>(&self, row: usize, first: usize, out: &mut [W]) -> bool {
        if let Some(biases) = &self.biases {
            biases.read(row * self.groups + first, out);
        }
        self.biases.is_some()
    }

    /// All scales of some rows, perhaps in place, with memory for as many.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_scales<'b>(&'b self, rows: Range<usize>, memory: &'b mut [f32]) -> &'b [f32] {
        self.scales.floats(rows.start * self.groups..rows.end * self.groups, memory)
    }

    /// As [`Packed::all_scales`] for biases, which there must be.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_biases<'b>(&'b self, rows: Range<usize>, memory: &'b mut [f32]) -> &'b [f32] {
        let biases = self.biases.as_ref().expect("affine mode has biases");
        biases.floats(rows.start * self.groups..rows.end * self.groups, memory)
    }

    /// Ask for the scales and biases of some rows ahead, if there are so many.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn prefetch_factors(&self, first: usize, rows: usize) {
        for factors in [Some(&self.scales), self.biases.as_ref()].into_iter().flatten() {
            factors.prefetch(first * self.groups, rows * self.groups);
        }
    }

    /// Read elements of a row from group `first` on, as many whole groups as `out` holds.
    pub(super) fn read<W: Compute>(&self, row: usize, first: usize, out: &mut [W]) {
        let (size, group_words) = (self.how.group_size(), self.how.words_of_group());
        let words = self.words(row);
        let most = STRETCH / size;
        let (mut scales, mut biases) = ([W::default(); GROUPS], [W::default(); GROUPS]);
        for (part, out) in out.chunks_mut(most * size).enumerate() {
            let start = first + part * most;
            let count = out.len() / size;
            let words = &words[start * group_words..][..count * group_words];
            if W::DTYPE == DType::Float32 {
                // SAFETY: float32 is what the elements are.
                levels(self.how, words, unsafe { out.align_to_mut::<f32>().1 });
            } else {
                let mut values = [0f32; STRETCH];
                let values = &mut values[..out.len()];
                levels(self.how, words, values);
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
