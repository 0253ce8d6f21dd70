//! Products of few rows with a quantised matrix, turned: each weight is read once, as it is packed.
//!
//! A vector of words holds a code at every step of a shift; the left rows are laid out beforehand so that what meets those codes
//! is a vector too. Sums of a group are scaled once; biases meet the sums of the left rows over groups. Where that would cost
//! digits, codes are made weights before they are multiplied. Without AVX2 matrices are read into floats however few the rows
//! are.

mod avx2;
mod avx512;
mod codes;

use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::fills_line;
use umber_kernels_base::isa::{level, prefetch, vectorised};
use umber_kernels_base::scratch;
use umber_kernels_base::threads::parallel_ranges;

use super::kinds::{
    FP4, FP8, INT1, INT2, INT3, INT4, INT5, INT6, INT8, bits_of, is_whole, kind_of, per_unit, unit_of,
};
use super::qgemm::{QGemm, max_abs};
use codes::Codes;

/// More rows than this are better off with blocks of floats.
pub(super) const MAX_ROWS: usize = 12;
/// Numbers of the left rows from this size on are multiplied by weights only.
const LARGE: f32 = 1e18;
/// Rows whose largest number is less than this, and not zero, would lose digits if they were divided by what places in a word are
/// worth.
const SMALL: f32 = 1e-18;
/// Rows worked on together.
const ROWS_PER_PASS: usize = 4;
/// Columns worked on together of a row by itself: what is read of it is shared, and memory brings what lies at places far apart
/// faster than one place after the other.
const COLUMNS_PER_PASS: usize = 4;
/// Elements that may be read behind the last scale.
const PADDING: usize = 16;
/// Bytes of packed words worth a job of its own.
const BYTES_PER_JOB: usize = 1 << 16;

/// Does this suit a product?
pub(super) fn is_suitable(product: &QGemm) -> bool {
    level() > 0 && product.rows <= MAX_ROWS && kind_of(product.quantized.format).is_some()
}

/// Must the left rows meet weights, not codes and biases apart?
///
/// An infinity times a code of zero is not what it is times the weight; of very large numbers the sums of codes and those of
/// biases may be infinite where their difference is not; and a number far above its neighbours may meet a weight near zero, whose
/// parts are not, and of which they would leave more than the neighbours are.
fn needs_weights(product: &QGemm) -> bool {
    product.x.iter().any(|x| x.abs() >= LARGE || x.is_nan())
        || product.quantized.format.has_biases() && !product.has_no_outliers()
}

/// Is the largest number of a row very small, but not zero?
fn has_small_rows(product: &QGemm) -> bool {
    vectorised(
        #[inline(always)]
        || product.x.chunks_exact(product.depth()).map(max_abs).any(|most| most < SMALL && most > 0.0),
    )
}

/// Compute what [`is_suitable`].
pub(super) fn compute(product: &QGemm) {
    let kind = kind_of(product.quantized.format).expect("asked before");
    match level() {
        // SAFETY: the processor has these features.
        2 => unsafe { avx512::run(product, kind) },
        // SAFETY: as above.
        1 => unsafe { avx2::run(product, kind) },
        _ => unreachable!("asked before"),
    }
}

/// A product whose left rows are laid out.
struct Job<'a> {
    product: &'a QGemm<'a>,
    /// For each row, block and step, what meets the codes in a vector of words.
    x: &'a [f32],
    /// For each row, the sums over groups, padded.
    sums: &'a [f32],
    /// Vectors of words in a row, the last one perhaps not full.
    blocks: usize,
    /// Floats for the sums of a row, and for scales.
    groups: usize,
    /// For each lane, its group counted from the first of its block.
    lane_groups: [u32; 16],
    needs_weights: bool,
}

/// Lay out the left rows for vectors `V`, and call `run` with parts of the columns and space for their scales and biases, on all
/// threads.
fn with_packed_rows<V: Codes>(
    product: &QGemm,
    kind: u8,
    run: impl Fn(&Job, Range<usize>, &mut [f32]) + Sync,
) {
    let QGemm { quantized, x, rows, columns, .. } = *product;
    let (format, length) = (quantized.format, product.depth());
    let (per_word, size) = (per_unit(kind), format.group_size());
    let block = V::COUNT * per_word;
    let blocks = length.div_ceil(block);
    let groups = quantized.groups.next_multiple_of(PADDING) + PADDING;
    scratch::with(rows * (blocks * block + groups), |memory: &mut [f32]| {
        memory.fill(0.0);
        let (packed_left, sums) = memory.split_at_mut(rows * blocks * block);
        let unshifted = V::UNSHIFTED && is_whole(kind);
        let needs_weights = needs_weights(product) || unshifted && has_small_rows(product);
        let divides = unshifted && !needs_weights;
        let per_code = 1.0 / (1 << bits_of(kind)) as f32;
        for (r, row) in x.chunks_exact(length).enumerate() {
            let packed_left = &mut packed_left[r * blocks * block..][..blocks * block];
            for (packed_left, row) in packed_left.chunks_exact_mut(block).zip(row.chunks(block)) {
                for (lane, word) in row.chunks(per_word).enumerate() {
                    let mut unit = 1.0;
                    for (step, &x) in word.iter().enumerate() {
                        // Codes at the upper end of words are shifted.
                        let is_divided = divides && (step + 1) * bits_of(kind) < 32;
                        packed_left[step * V::COUNT + lane] = if is_divided { x * unit } else { x };
                        unit *= per_code;
                    }
                }
            }
            for (sum, group) in sums[r * groups..].iter_mut().zip(row.chunks_exact(size)) {
                *sum = group.iter().sum();
            }
        }
        let mut lane_groups = [0; 16];
        for (lane, place) in lane_groups.iter_mut().enumerate().take(V::COUNT) {
            *place = if block > size { (lane * per_word / size) as u32 } else { 0 };
        }
        let job = Job { product, x: packed_left, sums, blocks, groups, lane_groups, needs_weights };
        let row_bytes = format.words(length) * 4;
        parallel_ranges(columns, BYTES_PER_JOB / row_bytes + 1, |part| {
            scratch::with(2 * COLUMNS_PER_PASS * groups, |scratch: &mut [f32]| run(&job, part, scratch));
        });
    });
}

/// The bytes of four units of so many bits that follow each other, each in a word; the half of a byte before a unit comes with
/// it.
const fn bytes_of_four(unit: usize) -> [i8; 16] {
    let mut bytes = [i8::MIN; 16];
    let mut i = 0;
    while i < 16 {
        if i % 4 < 3 {
            bytes[i] = (i / 4 * unit / 8 + i % 4) as i8;
        }
        i += 1;
    }
    bytes
}

impl Job<'_> {
    /// Compute some columns.
    ///
    /// # Safety
    /// The processor has what `V` asks for.
    #[inline(always)]
    unsafe fn dispatch<V: Codes>(&self, kind: u8, part: Range<usize>, scratch: &mut [f32]) {
        match kind {
            INT1 => self.kind::<V, INT1>(part, scratch),
            INT2 => self.kind::<V, INT2>(part, scratch),
            INT3 => self.kind::<V, INT3>(part, scratch),
            INT4 => self.kind::<V, INT4>(part, scratch),
            INT5 => self.kind::<V, INT5>(part, scratch),
            INT6 => self.kind::<V, INT6>(part, scratch),
            INT8 => self.kind::<V, INT8>(part, scratch),
            FP4 => self.kind::<V, FP4>(part, scratch),
            _ => self.kind::<V, FP8>(part, scratch),
        }
    }

    #[inline(always)]
    fn kind<V: Codes, const KIND: u8>(&self, part: Range<usize>, scratch: &mut [f32]) {
        if self.needs_weights {
            self.columns::<V, KIND, true>(part, scratch);
        } else {
            self.columns::<V, KIND, false>(part, scratch);
        }
    }

    /// Compute some columns, in the space for their scales and biases.
    #[inline(always)]
    fn columns<V: Codes, const KIND: u8, const WEIGHTS: bool>(
        &self,
        part: Range<usize>,
        scratch: &mut [f32],
    ) {
        let rows = self.product.rows;
        scratch.fill(0.0);
        let (scales, biases) = scratch.split_at_mut(COLUMNS_PER_PASS * self.groups);
        let mut rest = part.clone();
        // Floats of eight bits fill the registers by themselves.
        if rows == 1 && KIND != FP8 && !WEIGHTS {
            let each = part.len() / COLUMNS_PER_PASS;
            for column in part.start..part.start + each {
                let columns = array_of(|c| column + c * each);
                self.read(columns, scales, biases);
                self.column::<V, KIND, 1, COLUMNS_PER_PASS, WEIGHTS>(0, columns, scales, biases);
            }
            rest.start += each * COLUMNS_PER_PASS;
        }
        for column in rest {
            self.read([column], scales, biases);
            let mut r = 0;
            while r + ROWS_PER_PASS <= rows {
                self.column::<V, KIND, ROWS_PER_PASS, 1, WEIGHTS>(r, [column], scales, biases);
                r += ROWS_PER_PASS;
            }
            while r < rows {
                self.column::<V, KIND, 1, 1, WEIGHTS>(r, [column], scales, biases);
                r += 1;
            }
        }
    }

    /// Read scales and biases of some columns, one column's after the other's.
    #[inline(always)]
    fn read<const C: usize>(&self, columns: [usize; C], scales: &mut [f32], biases: &mut [f32]) {
        let QGemm { quantized, first, .. } = *self.product;
        for (c, column) in columns.into_iter().enumerate() {
            let place = c * self.groups..c * self.groups + quantized.groups;
            quantized.scales(first + column, 0, &mut scales[place.clone()]);
            quantized.biases(first + column, 0, &mut biases[place]);
        }
    }

    /// `R` rows of `C` columns.
    #[inline(always)]
    fn column<V: Codes, const KIND: u8, const R: usize, const C: usize, const WEIGHTS: bool>(
        &self,
        r: usize,
        columns: [usize; C],
        scales: &[f32],
        biases: &[f32],
    ) {
        let words = array_of::<_, C>(|c| self.product.words(columns[c]));
        let length = words[0].len();
        let mut sums = [[V::splat(0.0); R]; C];
        let stride = const { V::COUNT * unit_of(KIND) / 32 };
        let (whole, rest) = (length / stride, length % stride);
        for block in 0..whole {
            let mut starts = [std::ptr::null(); C];
            for (start, words) in starts.iter_mut().zip(words) {
                *start = words.as_ptr().wrapping_add(block * stride);
                // Memory that is read at several places is foreseen by itself, unless vectors are whole lines.
                if C == 1 || fills_line::<V>() {
                    prefetch(start.wrapping_add(length));
                }
            }
            // SAFETY: a vector of words of each column.
            unsafe { self.block::<V, KIND, R, C, WEIGHTS>(r, block, starts, scales, biases, &mut sums) };
        }
        // Apart from the loop, which would have to leave its registers to a copy.
        if rest > 0 {
            let mut last = [[0; 16]; C];
            for (last, words) in last.iter_mut().zip(words) {
                last[..rest].copy_from_slice(&words[whole * stride..]);
            }
            let starts = last.each_ref().map(|last| last.as_ptr());
            // SAFETY: a vector of words for each column.
            unsafe { self.block::<V, KIND, R, C, WEIGHTS>(r, whole, starts, scales, biases, &mut sums) };
        }
        for ((c, sums), column) in sums.iter_mut().enumerate().zip(columns) {
            for (i, sum) in sums.iter_mut().enumerate() {
                if !WEIGHTS && self.product.quantized.format.has_biases() {
                    let biases = &biases[c * self.groups..][..self.groups];
                    let of_x = &self.sums[(r + i) * self.groups..][..self.groups];
                    for (bias, x) in biases.chunks_exact(V::COUNT).zip(of_x.chunks_exact(V::COUNT)) {
                        // SAFETY: whole vectors.
                        *sum =
                            unsafe { sum.add_product::<true>(V::load(bias.as_ptr()), V::load(x.as_ptr())) };
                    }
                }
                let place = (r + i) * self.product.columns + column;
                // SAFETY: inside the output, in a column that this job alone writes.
                unsafe { *self.product.out.at(place as isize) = sum.reduce_sum() };
            }
        }
    }

    /// For each lane of a vector of words of each of `C` columns, what its group is scaled or shifted by.
    ///
    /// # Safety
    /// Of each column so many numbers lie from that of the first group on as places reach.
    #[inline(always)]
    unsafe fn gather_factors<V: Codes, const C: usize>(
        &self,
        of: &[f32],
        group: usize,
        at: V::Words,
    ) -> [V; C] {
        let mut gather_factors = [V::splat(0.0); C];
        for (c, gather_factors) in gather_factors.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller of this function.
            *gather_factors = unsafe { V::gather(of.as_ptr().wrapping_add(c * self.groups + group), at) };
        }
        gather_factors
    }

    /// Add what a vector of words of each of `C` columns holds to the sums of `R` rows.
    ///
    /// # Safety
    /// There are so many words at each start, those of the block or zeros.
    #[inline(always)]
    unsafe fn block<V: Codes, const KIND: u8, const R: usize, const C: usize, const WEIGHTS: bool>(
        &self,
        r: usize,
        block: usize,
        starts: [*const u32; C],
        scales: &[f32],
        biases: &[f32],
        sums: &mut [[V; R]; C],
    ) {
        let steps = const { per_unit(KIND) };
        let row_length = self.blocks * steps * V::COUNT;
        // Groups have a power of two of codes, and a division would take as long as all else here.
        let log_size = self.product.quantized.format.group_size().trailing_zeros();
        // SAFETY: sixteen places are there.
        let lane_groups = unsafe { V::words(self.lane_groups.as_ptr()) };
        // Loops, since closures that iterators call need not be inlined.
        let mut words = [lane_groups; C];
        for (words, start) in words.iter_mut().zip(starts) {
            // SAFETY: guaranteed by the caller of this function.
            *words = unsafe { V::units::<KIND>(start) };
        }
        let group = (block * steps * V::COUNT) >> log_size;
        debug_assert!(group + V::COUNT <= self.groups && C * self.groups <= scales.len());
        // What is summed up meets its scales at the end, and no register holds these before.
        let weights = if WEIGHTS {
            // SAFETY: the padding of a column is as long as a vector; places are below its length.
            Some(unsafe {
                (
                    self.gather_factors::<V, C>(scales, group, lane_groups),
                    self.gather_factors::<V, C>(biases, group, lane_groups),
                )
            })
        } else {
            None
        };
        let unshifted = V::UNSHIFTED && is_whole(KIND) && !WEIGHTS;
        let mut float8s = [[V::splat(0.0); 4]; C];
        if KIND == FP8 {
            for (float8s, words) in float8s.iter_mut().zip(words) {
                *float8s = V::float8s(words);
            }
        }
        let mut inner = if WEIGHTS { *sums } else { [[V::splat(0.0); R]; C] };
        #[expect(
            clippy::needless_range_loop,
            reason = "steps are those of all kinds, and one kind has its levels beforehand"
        )]
        for step in 0..steps {
            let mut dequantize_codes = [V::splat(0.0); C];
            for (c, level) in dequantize_codes.iter_mut().enumerate() {
                *level = match KIND {
                    FP8 => float8s[c][step],
                    _ if unshifted => V::unshifted::<KIND>(words[c], step),
                    _ => V::level::<KIND>(words[c]),
                };
                if let Some((scale, bias)) = &weights {
                    // Rounded twice, as weights are read elsewhere, so that codes that stand for zero become zero.
                    *level = bias[c].add_product::<false>(*level, scale[c]);
                }
                if !unshifted && KIND != FP8 {
                    words[c] = V::next::<KIND>(words[c]);
                }
            }
            for i in 0..R {
                let place = (r + i) * row_length + (block * steps + step) * V::COUNT;
                debug_assert!(place + V::COUNT <= self.x.len());
                // SAFETY: inside the rows as they were laid out, which end with whole blocks.
                let x = unsafe { V::load(self.x.as_ptr().add(place)) };
                for (inner, &level) in inner.iter_mut().zip(&dequantize_codes) {
                    inner[i] = inner[i].add_product::<true>(level, x);
                }
            }
        }
        if WEIGHTS {
            *sums = inner;
            return;
        }
        // SAFETY: as above.
        let scales = unsafe { self.gather_factors::<V, C>(scales, group, lane_groups) };
        for ((sums, inner), scale) in sums.iter_mut().zip(inner).zip(scales) {
            for (sum, inner) in sums.iter_mut().zip(inner) {
                *sum = sum.add_product::<true>(inner, scale);
            }
        }
    }
}
