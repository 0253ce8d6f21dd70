//! Products of a few rows with a transposed quantised matrix, which read each packed weight once.
//!
//! A vector of words yields one vector of codes per shift, and the left rows are packed in the order of those codes. The sum
//! of a group is scaled once, and biases multiply the sums of the left rows' groups. Where that would be inaccurate, codes
//! are dequantised before the multiplication. Without AVX2 the matrix is dequantised in blocks, however few the rows.

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
    FP4, FP8, INT1, INT2, INT3, INT4, INT5, INT6, INT8, bits_of, is_integer, kind_of, per_unit, unit_of,
};
use super::qgemm::{QGemm, max_abs};
use codes::Codes;

/// Products of more rows are faster with dequantised blocks.
pub(super) const MAX_ROWS: usize = 12;
/// Elements of the left rows from this magnitude on are only multiplied by dequantised weights.
const LARGE: f32 = 1e18;
/// Rows whose maximum magnitude is smaller than this, but not zero, would become denormal if they were divided by the power
/// of two of a code's position.
const SMALL: f32 = 1e-18;
/// Rows computed together.
const ROWS_PER_PASS: usize = 4;
/// Columns computed together for a single row: they share its loads, and reading several streams gets more memory bandwidth
/// than one.
const COLUMNS_PER_PASS: usize = 4;
/// Elements that may be read past the last scale.
const PADDING: usize = 16;
/// Minimum bytes of packed words per job.
const BYTES_PER_JOB: usize = 1 << 16;

/// Whether this kernel suits a product.
pub(super) fn is_suitable(product: &QGemm) -> bool {
    level() > 0 && product.rows <= MAX_ROWS && kind_of(product.quantized.format).is_some()
}

/// Whether codes must be dequantised before the multiplication, instead of summing codes and biases separately.
///
/// Infinity times the code zero is NaN, unlike infinity times the weight. With very large elements the two sums may overflow
/// where their difference does not. And if an element dominates its neighbours, but its weight is near zero, the two parts
/// cancel, and their rounding error exceeds the neighbours' contributions.
fn needs_weights(product: &QGemm) -> bool {
    product.x.iter().any(|x| x.abs() >= LARGE || x.is_nan())
        || product.quantized.format.has_biases() && !product.has_no_outliers()
}

/// Whether the maximum magnitude of some row is very small, but not zero.
fn has_small_rows(product: &QGemm) -> bool {
    vectorised(
        #[inline(always)]
        || product.x.chunks_exact(product.depth()).map(max_abs).any(|most| most < SMALL && most > 0.0),
    )
}

/// Compute a product for which [`is_suitable`] returned true.
pub(super) fn compute(product: &QGemm) {
    let kind = kind_of(product.quantized.format).expect("checked by is_suitable");
    match level() {
        // SAFETY: the processor has these features.
        2 => unsafe { avx512::run(product, kind) },
        // SAFETY: the processor has these features.
        1 => unsafe { avx2::run(product, kind) },
        _ => unreachable!("checked by is_suitable"),
    }
}

/// A product with packed left rows.
struct Job<'a> {
    product: &'a QGemm<'a>,
    /// For each row, block and step, the elements for the codes of a vector of words.
    x: &'a [f32],
    /// For each row, the sums over groups, padded.
    sums: &'a [f32],
    /// Vectors of words in a row; the last one may be partial.
    blocks: usize,
    /// Padded number of groups in a row.
    groups: usize,
    /// For each lane, its group relative to the first of its block.
    lane_groups: [u32; 16],
    needs_weights: bool,
}

/// Pack the left rows for vectors `V`, and call `run` on all threads with ranges of columns and scratch for their scales and
/// biases.
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
        let unshifted = V::UNSHIFTED && is_integer(kind);
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
        for (lane, group) in lane_groups.iter_mut().enumerate().take(V::COUNT) {
            *group = if block > size { (lane * per_word / size) as u32 } else { 0 };
        }
        let job = Job { product, x: packed_left, sums, blocks, groups, lane_groups, needs_weights };
        let row_bytes = format.words(length) * 4;
        parallel_ranges(columns, BYTES_PER_JOB / row_bytes + 1, |columns| {
            scratch::with(2 * COLUMNS_PER_PASS * groups, |scratch: &mut [f32]| run(&job, columns, scratch));
        });
    });
}

/// Byte indices that move four consecutive units of `unit` bits to one word each. A unit that starts within a byte includes
/// the half byte before it.
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
    ///
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn dispatch<V: Codes>(&self, kind: u8, column_range: Range<usize>, scratch: &mut [f32]) {
        match kind {
            INT1 => self.kind::<V, INT1>(column_range, scratch),
            INT2 => self.kind::<V, INT2>(column_range, scratch),
            INT3 => self.kind::<V, INT3>(column_range, scratch),
            INT4 => self.kind::<V, INT4>(column_range, scratch),
            INT5 => self.kind::<V, INT5>(column_range, scratch),
            INT6 => self.kind::<V, INT6>(column_range, scratch),
            INT8 => self.kind::<V, INT8>(column_range, scratch),
            FP4 => self.kind::<V, FP4>(column_range, scratch),
            _ => self.kind::<V, FP8>(column_range, scratch),
        }
    }

    #[inline(always)]
    fn kind<V: Codes, const KIND: u8>(&self, column_range: Range<usize>, scratch: &mut [f32]) {
        if self.needs_weights {
            self.columns::<V, KIND, true>(column_range, scratch);
        } else {
            self.columns::<V, KIND, false>(column_range, scratch);
        }
    }

    /// Compute some columns, with scratch for their scales and biases.
    #[inline(always)]
    fn columns<V: Codes, const KIND: u8, const WEIGHTS: bool>(
        &self,
        column_range: Range<usize>,
        scratch: &mut [f32],
    ) {
        let rows = self.product.rows;
        scratch.fill(0.0);
        let (scales, biases) = scratch.split_at_mut(COLUMNS_PER_PASS * self.groups);
        let mut remaining = column_range.clone();
        // FP8 codes need all registers for themselves.
        if rows == 1 && KIND != FP8 && !WEIGHTS {
            let columns_per_run = column_range.len() / COLUMNS_PER_PASS;
            for column in column_range.start..column_range.start + columns_per_run {
                let columns = array_of(|c| column + c * columns_per_run);
                self.read(columns, scales, biases);
                self.column::<V, KIND, 1, COLUMNS_PER_PASS, WEIGHTS>(0, columns, scales, biases);
            }
            remaining.start += columns_per_run * COLUMNS_PER_PASS;
        }
        for column in remaining {
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

    /// Read the scales and biases of some columns, column by column.
    #[inline(always)]
    fn read<const C: usize>(&self, columns: [usize; C], scales: &mut [f32], biases: &mut [f32]) {
        let QGemm { quantized, first, .. } = *self.product;
        for (c, column) in columns.into_iter().enumerate() {
            let range = c * self.groups..c * self.groups + quantized.groups;
            quantized.scales(first + column, 0, &mut scales[range.clone()]);
            quantized.biases(first + column, 0, &mut biases[range]);
        }
    }

    /// Compute `R` rows of `C` columns.
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
        let (blocks, tail) = (length / stride, length % stride);
        for block in 0..blocks {
            let mut starts = [std::ptr::null(); C];
            for (start, words) in starts.iter_mut().zip(words) {
                *start = words.as_ptr().wrapping_add(block * stride);
                // With several streams the hardware prefetcher is sufficient, unless vectors are whole cache lines.
                if C == 1 || fills_line::<V>() {
                    prefetch(start.wrapping_add(length));
                }
            }
            // SAFETY: each start points to a vector of words of its column.
            unsafe { self.block::<V, KIND, R, C, WEIGHTS>(r, block, starts, scales, biases, &mut sums) };
        }
        // Outside the loop, where a copy would spill the accumulators.
        if tail > 0 {
            let mut tail_words = [[0; 16]; C];
            for (tail_words, words) in tail_words.iter_mut().zip(words) {
                tail_words[..tail].copy_from_slice(&words[blocks * stride..]);
            }
            let starts = tail_words.each_ref().map(|tail_words| tail_words.as_ptr());
            // SAFETY: each start points to a zero-padded vector of words.
            unsafe { self.block::<V, KIND, R, C, WEIGHTS>(r, blocks, starts, scales, biases, &mut sums) };
        }
        for ((c, sums), column) in sums.iter_mut().enumerate().zip(columns) {
            for (i, sum) in sums.iter_mut().enumerate() {
                if !WEIGHTS && self.product.quantized.format.has_biases() {
                    let biases = &biases[c * self.groups..][..self.groups];
                    let x_sums = &self.sums[(r + i) * self.groups..][..self.groups];
                    for (bias, x) in biases.chunks_exact(V::COUNT).zip(x_sums.chunks_exact(V::COUNT)) {
                        // SAFETY: both chunks are full vectors.
                        *sum =
                            unsafe { sum.add_product::<true>(V::load(bias.as_ptr()), V::load(x.as_ptr())) };
                    }
                }
                let index = (r + i) * self.product.columns + column;
                // SAFETY: inside the output, in a column that only this job writes.
                unsafe { *self.product.out.at(index as isize) = sum.reduce_sum() };
            }
        }
    }

    /// For each lane of a vector of words of `C` columns, the scale or bias of its group.
    ///
    /// # Safety
    ///
    /// A vector of values is readable from `group` on for each column, and the indices are less than the lanes.
    #[inline(always)]
    unsafe fn gather_factors<V: Codes, const C: usize>(
        &self,
        values: &[f32],
        group: usize,
        at: V::Words,
    ) -> [V; C] {
        let mut factors = [V::splat(0.0); C];
        for (c, factor) in factors.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller values this function.
            *factor = unsafe { V::gather(values.as_ptr().wrapping_add(c * self.groups + group), at) };
        }
        factors
    }

    /// Add the products of a vector of words of `C` columns to the sums of `R` rows.
    ///
    /// # Safety
    ///
    /// Each start points to a vector of words: those of the block, or zero-padded.
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
        // Groups have a power of two of codes; a division would take as long as the rest of this function.
        let log_size = self.product.quantized.format.group_size().trailing_zeros();
        // SAFETY: the array has 16 elements, at least a vector.
        let lane_groups = unsafe { V::words(self.lane_groups.as_ptr()) };
        // Loops, since closures passed to iterators might not be inlined.
        let mut words = [lane_groups; C];
        for (words, start) in words.iter_mut().zip(starts) {
            // SAFETY: guaranteed by the caller of this function.
            *words = unsafe { V::units::<KIND>(start) };
        }
        let group = (block * steps * V::COUNT) >> log_size;
        debug_assert!(group + V::COUNT <= self.groups && C * self.groups <= scales.len());
        // Otherwise scales are loaded at the end, so that they occupy no registers during the sums.
        let weights = if WEIGHTS {
            // SAFETY: the padding of a column is as long as a vector, and lane groups are less than that.
            Some(unsafe {
                (
                    self.gather_factors::<V, C>(scales, group, lane_groups),
                    self.gather_factors::<V, C>(biases, group, lane_groups),
                )
            })
        } else {
            None
        };
        let unshifted = V::UNSHIFTED && is_integer(KIND) && !WEIGHTS;
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
            let mut levels = [V::splat(0.0); C];
            for (c, level) in levels.iter_mut().enumerate() {
                *level = match KIND {
                    FP8 => float8s[c][step],
                    _ if unshifted => V::unshifted::<KIND>(words[c], step),
                    _ => V::level::<KIND>(words[c]),
                };
                if let Some((scale, bias)) = &weights {
                    // Rounded twice, as in the other kernels, so that codes that represent zero become exactly zero.
                    *level = bias[c].add_product::<false>(*level, scale[c]);
                }
                if !unshifted && KIND != FP8 {
                    words[c] = V::next::<KIND>(words[c]);
                }
            }
            for i in 0..R {
                let offset = (r + i) * row_length + (block * steps + step) * V::COUNT;
                debug_assert!(offset + V::COUNT <= self.x.len());
                // SAFETY: inside the packed rows, which end with whole blocks.
                let x = unsafe { V::load(self.x.as_ptr().add(offset)) };
                for (inner, &level) in inner.iter_mut().zip(&levels) {
                    inner[i] = inner[i].add_product::<true>(level, x);
                }
            }
        }
        if WEIGHTS {
            *sums = inner;
            return;
        }
        // SAFETY: the padding of a column is as long as a vector, and lane groups are less than that.
        let scales = unsafe { self.gather_factors::<V, C>(scales, group, lane_groups) };
        for ((sums, inner), scale) in sums.iter_mut().zip(inner).zip(scales) {
            for (sum, inner) in sums.iter_mut().zip(inner) {
                *sum = sum.add_product::<true>(inner, scale);
            }
        }
    }
}
