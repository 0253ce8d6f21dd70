//! Kernel for a few rows, with SIMD lanes along the depth: each shift of a vector of packed bytes yields one code per byte,
//! and the limbs are packed in that order. Codes that cross byte boundaries are first unpacked to whole bytes.

use std::arch::x86_64::*;
use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::isa::prefetch;
use umber_kernels_base::scratch;
use umber_kernels_base::threads::parallel_ranges;
use umber_types::Quantization;

use super::packed_rows::PackedRows;
use super::{
    BYTES, BYTES_PER_JOB, LANES, Limbs, combine_limbs, initial_sums, sum, to_limbs, uses_zero_point,
    zero_point, zero_point_sums,
};
use crate::LARGEST_GROUP;
use crate::codes::FP4_INTEGERS;
use crate::kinds::{FP4, INT1, INT2, INT3, INT4, INT5, INT6, INT8, bits_of, kind_of};
use crate::qgemm::QGemm;
use crate::unpack_bits::{self, BitUnpacker, block_bytes, crosses_bytes};

/// Columns computed together, which share the loads of the limbs.
const COLUMNS: usize = 8;
/// Columns computed together with [`has_uniform_initial_sums`]. More columns have conflict misses in L1, because their rows
/// are often a power of two apart.
const HALF: usize = COLUMNS / 2;

/// Whether all lanes of a vector have the same initial sum. Then one number per limb is stored instead of a vector, which
/// saves space in L1. The zero point of 8-bit codes is a multiple of the lanes, so the division by them is exact.
const fn has_uniform_initial_sums(kind: u8, one_group: bool) -> bool {
    kind == INT8 && one_group
}

fn kind(format: Quantization) -> u8 {
    kind_of(format).expect("there are kernels for this format")
}

/// Codes per byte, each of which is one step of the shift loop.
const fn steps(bits: usize) -> usize {
    if crosses_bytes(bits) { 1 } else { 8 / bits }
}

/// Whether the processor has the instructions for codes of this many bits.
pub(super) fn is_suitable(bits: usize) -> bool {
    !crosses_bytes(bits) || unpack_bits::is_available()
}

/// A product with packed left rows.
struct Job<'a, const D: usize> {
    product: &'a QGemm<'a>,
    /// Row by row: limbs by byte block, step and limb; initial sums by block and limb; scales and sums by group, padded.
    packed_rows: PackedRows<'a>,
    /// Padded number of groups in a row.
    groups: usize,
    /// For each lane, its group relative to the first of its block.
    lane_groups: [u32; LANES],
}

/// Compute a product.
///
/// # Safety
/// The processor has AVX-512 with VNNI, and the packed matrix [`is_suitable`].
pub(super) unsafe fn run<const D: usize>(product: &QGemm) {
    let QGemm { quantized, rows, columns, .. } = *product;
    let (format, depth) = (quantized.format, product.depth());
    let (bits, size) = (format.bits(), format.group_size());
    let steps = steps(bits);
    let group_bytes = size / steps;
    let row_bytes = format.words(depth) * 4;
    let blocks = row_bytes.div_ceil(block_bytes(bits));
    let block_digits = BYTES * steps * D;
    // A full vector is loaded from any group on.
    let groups = quantized.groups.next_multiple_of(LANES) + LANES;
    let lane_groups = array_of(|lane| (lane * 4 / group_bytes) as u32);
    PackedRows::with(
        rows * blocks * block_digits,
        rows * blocks * D * LANES,
        rows * groups,
        |mut packed_rows| {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { pack_rows::<D>(product, blocks, groups, &mut packed_rows) };
            let job = Job::<D> { product, packed_rows, groups, lane_groups };
            parallel_ranges(columns, BYTES_PER_JOB / row_bytes + 1, |columns| {
                // SAFETY: guaranteed by the caller of this function.
                unsafe {
                    match (kind(format), group_bytes >= BYTES) {
                        (INT1, _) => job.columns::<INT1, false>(columns),
                        (INT2, _) => job.columns::<INT2, false>(columns),
                        (INT3, false) => job.columns::<INT3, false>(columns),
                        (INT3, true) => job.columns::<INT3, true>(columns),
                        (INT4, false) => job.columns::<INT4, false>(columns),
                        (INT4, true) => job.columns::<INT4, true>(columns),
                        (INT5, false) => job.columns::<INT5, false>(columns),
                        (INT5, true) => job.columns::<INT5, true>(columns),
                        (INT6, false) => job.columns::<INT6, false>(columns),
                        (INT6, true) => job.columns::<INT6, true>(columns),
                        (FP4, _) => job.columns::<FP4, false>(columns),
                        (_, false) => job.columns::<INT8, false>(columns),
                        (_, true) => job.columns::<INT8, true>(columns),
                    }
                }
            });
        },
    );
}

/// Pack the left rows, with this many byte blocks and padded groups.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn pack_rows<const D: usize>(product: &QGemm, blocks: usize, groups: usize, packed_rows: &mut PackedRows) {
    let (format, depth) = (product.quantized.format, product.depth());
    let (steps, size) = (steps(format.bits()), format.group_size());
    let (group_bytes, block_digits) = (size / steps, BYTES * steps * D);
    packed_rows.limbs.fill(0);
    packed_rows.limb_scales.fill(0.0);
    packed_rows.sums.fill(0.0);
    let mut limbs_of_group = [[0; LARGEST_GROUP]; D];
    for (r, row) in product.x.chunks_exact(depth).enumerate() {
        let limbs = &mut packed_rows.limbs[r * blocks * block_digits..][..blocks * block_digits];
        for (g, group) in row.chunks_exact(size).enumerate() {
            packed_rows.limb_scales[r * groups + g] = to_limbs(format, group, &mut limbs_of_group);
            packed_rows.sums[r * groups + g] = sum(group);
            let bytes = g * group_bytes..(g + 1) * group_bytes;
            match steps {
                1 => pack::<1, D>(&limbs_of_group, bytes, limbs),
                2 => pack::<2, D>(&limbs_of_group, bytes, limbs),
                4 => pack::<4, D>(&limbs_of_group, bytes, limbs),
                _ => pack::<8, D>(&limbs_of_group, bytes, limbs),
            }
        }
    }
    let uniform = has_uniform_initial_sums(kind(format), group_bytes >= BYTES);
    let width = if uniform { 1 } else { LANES };
    for (block, block_initial) in
        packed_rows.limbs.chunks_exact(block_digits).zip(packed_rows.initial_sums.chunks_exact_mut(D * width))
    {
        let sums = zero_point_sums::<D>(format, block, BYTES, D * BYTES);
        let sums = if uniform {
            array_of(|limb| _mm512_set1_epi32(_mm512_reduce_add_epi32(sums[limb]) / LANES as i32))
        } else {
            sums
        };
        for (to, initial) in block_initial.chunks_exact_mut(width).zip(initial_sums(sums)) {
            // SAFETY: the mask limits the store to the chunk.
            unsafe { _mm512_mask_storeu_epi32(to.as_mut_ptr(), u16::MAX >> (LANES - width), initial) };
        }
    }
}

/// Pack the limbs of a group whose codes are in a range of bytes of their row, beginning with those for the lowest code of
/// each byte.
#[inline(always)]
fn pack<const STEPS: usize, const D: usize>(
    limbs_of_group: &Limbs<D>,
    bytes: Range<usize>,
    packed_rows: &mut [i8],
) {
    let mut done = 0;
    while done < bytes.len() {
        let (block, byte) = ((bytes.start + done) / BYTES, (bytes.start + done) % BYTES);
        let count = (bytes.len() - done).min(BYTES - byte);
        for (limb, limbs) in limbs_of_group.iter().enumerate() {
            let limbs = limbs[done * STEPS..][..count * STEPS].as_chunks::<STEPS>().0;
            for step in 0..STEPS {
                let packed_rows =
                    &mut packed_rows[((block * STEPS + step) * D + limb) * BYTES + byte..][..count];
                for (packed_rows, limbs) in packed_rows.iter_mut().zip(limbs) {
                    *packed_rows = limbs[step];
                }
            }
        }
        done += count;
    }
}

impl<const D: usize> Job<'_, D> {
    /// Compute some columns. A vector of bytes belongs to one group (`ONE_GROUP`) or may span several.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn columns<const KIND: u8, const ONE_GROUP: bool>(&self, column_range: Range<usize>) {
        let (quantized, groups) = (self.product.quantized, self.groups);
        scratch::with(COLUMNS * (groups + 2 * quantized.groups), |memory: &mut [f32]| {
            let (factors, memory) = memory.split_at_mut(COLUMNS * groups);
            let (scales, biases) = memory.split_at_mut(COLUMNS * quantized.groups);
            factors.fill(0.0);
            let mut column = column_range.start;
            while column < column_range.end {
                let count = if column_range.end - column >= COLUMNS { COLUMNS } else { 1 };
                let row = self.product.first + column;
                let scales = quantized.all_scales(row..row + count, scales);
                let biases = if quantized.format.has_biases() {
                    quantized.all_biases(row..row + count, biases)
                } else {
                    &[]
                };
                // Hardware prefetchers miss these: they are short runs, with much other data read in between.
                quantized.prefetch_factors(row + count, count);
                for r in 0..self.product.rows {
                    if count == COLUMNS {
                        let (bias_sums, zero_point_mask) =
                            self.factors::<COLUMNS>(r, scales, biases, factors);
                        let uses_zero_point = zero_point_mask != 0;
                        if uses_zero_point && zero_point_mask != (1 << COLUMNS) - 1 {
                            for (c, bias_sum) in bias_sums.into_iter().enumerate() {
                                let (factors, uses_zero_point) =
                                    (&factors[c * groups..], zero_point_mask >> c & 1 != 0);
                                self.multiply_columns::<KIND, ONE_GROUP, 1>(
                                    r,
                                    column + c,
                                    factors,
                                    [bias_sum],
                                    uses_zero_point,
                                );
                            }
                        } else if const { has_uniform_initial_sums(KIND, ONE_GROUP) } {
                            for (half, bias_sum) in bias_sums.as_chunks::<HALF>().0.iter().enumerate() {
                                let factors = &factors[half * HALF * groups..];
                                let column = column + half * HALF;
                                self.multiply_columns::<KIND, ONE_GROUP, HALF>(
                                    r,
                                    column,
                                    factors,
                                    *bias_sum,
                                    uses_zero_point,
                                );
                            }
                        } else {
                            self.multiply_columns::<KIND, ONE_GROUP, COLUMNS>(
                                r,
                                column,
                                factors,
                                bias_sums,
                                uses_zero_point,
                            );
                        }
                    } else {
                        let (bias_sums, zero_point_mask) = self.factors::<1>(r, scales, biases, factors);
                        self.multiply_columns::<KIND, ONE_GROUP, 1>(
                            r,
                            column,
                            factors,
                            bias_sums,
                            zero_point_mask != 0,
                        );
                    }
                }
                column += count;
            }
        });
    }

    /// Compute the factors of the sums of `C` columns for each group. Returns the contribution of the biases, spread over
    /// lanes, and a bit for each column that says whether its codes are counted from the zero point ([`uses_zero_point`]).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn factors<const C: usize>(
        &self,
        r: usize,
        scales: &[f32],
        biases: &[f32],
        factors: &mut [f32],
    ) -> ([__m512; C], u32) {
        let count = self.product.quantized.groups;
        let has_biases = !biases.is_empty();
        assert!(scales.len() == C * count && C * self.groups <= factors.len());
        assert!(biases.len() == scales.len() || !has_biases);
        let limb_scales = &self.packed_rows.limb_scales[r * self.groups..][..self.groups];
        let x_sums = &self.packed_rows.sums[r * self.groups..][..self.groups];
        let zero_point = _mm512_set1_ps(f32::from(zero_point(self.product.quantized.format)));
        let mut bias_sums = [_mm512_setzero_ps(); C];
        let mut max_loss = _mm512_setzero_ps();
        for (c, bias_sum) in bias_sums.iter_mut().enumerate() {
            for g in (0..count).step_by(LANES) {
                let mask = u16::MAX >> LANES.saturating_sub(count - g);
                // SAFETY: masks limit the loads of scales and biases to a column; the other arrays are padded.
                unsafe {
                    let scale = _mm512_maskz_loadu_ps(mask, scales.as_ptr().add(c * count + g));
                    let limb_scale = _mm512_loadu_ps(limb_scales.as_ptr().add(g));
                    let factor = factors.as_mut_ptr().add(c * self.groups + g);
                    _mm512_storeu_ps(factor, _mm512_mul_ps(scale, limb_scale));
                    if !has_biases {
                        continue;
                    }
                    let bias = _mm512_maskz_loadu_ps(mask, biases.as_ptr().add(c * count + g));
                    let centred_bias = _mm512_fmadd_ps(scale, zero_point, bias);
                    *bias_sum =
                        _mm512_fmadd_ps(centred_bias, _mm512_loadu_ps(x_sums.as_ptr().add(g)), *bias_sum);
                    let loss = _mm512_sub_ps(_mm512_abs_ps(centred_bias), _mm512_abs_ps(bias));
                    max_loss = _mm512_max_ps(max_loss, loss);
                }
            }
        }
        let mut zero_point_mask = (1 << C) - 1;
        // Biases that grow by centring occur only if the weights have one sign.
        if _mm512_cmp_ps_mask::<_CMP_GT_OQ>(max_loss, _mm512_setzero_ps()) != 0 {
            for (c, bias_sum) in bias_sums.iter_mut().enumerate() {
                let column = c * count..(c + 1) * count;
                let format = self.product.quantized.format;
                let (sum, uses_zero_point) =
                    bias_sum_of_column(format, &scales[column.clone()], &biases[column], x_sums);
                *bias_sum = sum;
                zero_point_mask ^= u32::from(!uses_zero_point) << c;
            }
        }
        (bias_sums, zero_point_mask)
    }

    /// Compute `C` columns of a row. `bias_sums` is added last, since it may be much larger than the sums of the groups.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn multiply_columns<const KIND: u8, const ONE_GROUP: bool, const C: usize>(
        &self,
        r: usize,
        column: usize,
        factors: &[f32],
        bias_sums: [__m512; C],
        uses_zero_point: bool,
    ) {
        let (product, packed_rows, groups) = (self.product, &self.packed_rows, self.groups);
        let bits = const { bits_of(KIND) };
        let (steps, block_bytes) = (steps(bits), block_bytes(bits));
        let bytes = product.bytes(column..column + C);
        let (first, length) = (bytes.as_ptr(), bytes.len() / C);
        let blocks = length.div_ceil(block_bytes);
        let row_digits = blocks * BYTES * steps * D;
        let limbs = &packed_rows.limbs[r * row_digits..][..row_digits];
        // Groups have a power of two of codes.
        let (block_codes, log_size) = (BYTES * steps, product.quantized.format.group_size().trailing_zeros());
        // SAFETY: the array has `LANES` elements.
        let lane_groups = unsafe { _mm512_loadu_si512(self.lane_groups.as_ptr().cast()) };
        let code = _mm512_set1_epi8(((1u32 << bits) - 1) as u8 as i8);
        let unpacker = BitUnpacker::new(bits);
        // SAFETY: the array has the 16 bytes that are loaded.
        let integers = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(FP4_INTEGERS.as_ptr().cast()) });
        // Number of initial values per limb.
        let width = if const { has_uniform_initial_sums(KIND, ONE_GROUP) } { 1 } else { LANES };
        let mut initial_from_zero = [0; 4 * LANES];
        let (initial, initial_stride) = if uses_zero_point {
            (&packed_rows.initial_sums[r * blocks * D * width..][..blocks * D * width], D * width)
        } else {
            for (to, values) in
                initial_from_zero.chunks_exact_mut(width).zip(initial_sums([_mm512_setzero_si512(); D]))
            {
                // SAFETY: the mask limits the store to the chunk.
                unsafe { _mm512_mask_storeu_epi32(to.as_mut_ptr(), u16::MAX >> (LANES - width), values) };
            }
            (&initial_from_zero[..D * width], 0)
        };
        let mut sums = [_mm512_setzero_ps(); C];
        for (block, limbs) in limbs.chunks_exact(BYTES * steps * D).enumerate() {
            let start = block * block_bytes;
            let mut start_sums = [_mm512_setzero_si512(); D];
            for (limb, start_sum) in start_sums.iter_mut().enumerate() {
                let start = block * initial_stride + limb * width;
                debug_assert!(start + width <= initial.len());
                // SAFETY: inside the initial sums, as asserted above.
                *start_sum = unsafe {
                    let start = initial.as_ptr().add(start);
                    if const { has_uniform_initial_sums(KIND, ONE_GROUP) } {
                        _mm512_set1_epi32(*start)
                    } else {
                        _mm512_loadu_si512(start.cast())
                    }
                };
            }
            let group = (block * block_codes) >> log_size;
            debug_assert!(C * groups <= factors.len() && group + LANES <= groups);
            for (c, sum) in sums.iter_mut().enumerate() {
                // Prefetch the rows of the next columns: rows are too short for the hardware prefetcher. They are contiguous
                // and are requested in the order of memory.
                prefetch(first.wrapping_add(COLUMNS * length + C * start + c * block_bytes));
                let row = first.wrapping_add(c * length + start);
                // SAFETY: `length - start` bytes of the row are left; the caller of [`run`] guarantees the instructions.
                let mut words = unsafe { read::<KIND, ONE_GROUP>(row, length - start, &unpacker) };
                let mut inner = start_sums;
                for (step, limbs) in limbs.chunks_exact(BYTES * D).enumerate() {
                    let codes = if KIND == INT8 { words } else { _mm512_and_si512(words, code) };
                    let codes = if KIND == FP4 { _mm512_shuffle_epi8(integers, codes) } else { codes };
                    for limb in 0..D {
                        // SAFETY: there is a vector of limbs for each step and limb.
                        let x = unsafe { _mm512_loadu_si512(limbs.as_ptr().add(limb * BYTES).cast()) };
                        if steps == 1 && limb == 1 {
                            inner[1] = _mm512_slli_epi32::<8>(inner[0]);
                        }
                        inner[limb] = _mm512_dpbusd_epi32(inner[limb], codes, x);
                    }
                    if step + 1 < steps {
                        words = _mm512_srl_epi16(words, _mm_cvtsi32_si128(bits as i32));
                    }
                }
                let pair = if steps == 1 {
                    inner[1]
                } else {
                    _mm512_add_epi32(_mm512_slli_epi32::<8>(inner[0]), inner[1])
                };
                // SAFETY: the padding of a column is as long as a vector, and lane groups are less than that.
                let factor = unsafe {
                    let start = factors.as_ptr().add(c * groups + group);
                    if ONE_GROUP {
                        _mm512_set1_ps(*start)
                    } else {
                        _mm512_permutexvar_ps(lane_groups, _mm512_loadu_ps(start))
                    }
                };
                *sum = _mm512_fmadd_ps(combine_limbs(pair, &inner), factor, *sum);
            }
        }
        for (c, (sum, bias_sum)) in sums.into_iter().zip(bias_sums).enumerate() {
            let index = r * product.columns + column + c;
            // SAFETY: inside the output, in a column that only this job writes.
            unsafe { *product.out.at(index as isize) = _mm512_reduce_add_ps(_mm512_add_ps(sum, bias_sum)) };
        }
    }
}

/// Load the next codes of a row of which `remaining` bytes are left: a vector of packed bytes, or, for codes that cross
/// bytes, one code per byte. If one group fills a vector (`ONE_GROUP`) and codes do not cross bytes, a full vector is left.
///
/// # Safety
///
/// The row is readable, and the processor has what [`is_suitable`] asks for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn read<const KIND: u8, const ONE_GROUP: bool>(
    row: *const u8,
    remaining: usize,
    unpacker: &BitUnpacker,
) -> __m512i {
    // SAFETY: the mask limits the load to the row, and the caller guarantees the instructions.
    unsafe {
        let crosses_bytes = crosses_bytes(const { bits_of(KIND) });
        let quantized = if ONE_GROUP && !crosses_bytes || remaining >= BYTES {
            _mm512_loadu_si512(row.cast())
        } else {
            _mm512_maskz_loadu_epi8((1 << remaining) - 1, row.cast())
        };
        if crosses_bytes { unpacker.unpack(quantized) } else { quantized }
    }
}

/// The contribution of a column's biases, spread over lanes, and whether its codes are counted from the zero point.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn bias_sum_of_column(
    format: Quantization,
    scales: &[f32],
    biases: &[f32],
    x_sums: &[f32],
) -> (__m512, bool) {
    let uses_zero_point = uses_zero_point(format, scales, biases);
    let zero_point = f32::from(zero_point(format));
    let mut sums = [0.0; LANES];
    for (g, ((scale, &bias), x)) in scales.iter().zip(biases).zip(x_sums).enumerate() {
        let bias = if uses_zero_point { scale.mul_add(zero_point, bias) } else { bias };
        sums[g % LANES] += bias * x;
    }
    // SAFETY: the array has `LANES` elements.
    (unsafe { _mm512_loadu_ps(sums.as_ptr()) }, uses_zero_point)
}
