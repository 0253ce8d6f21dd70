//! Kernel for a few rows: every shift of a vector of packed bytes yields one code per byte, and the limbs are packed in that
//! order. Codes that straddle bytes are unpacked to whole bytes first.

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
use crate::codes::FP4_NUMBERS;
use crate::kinds::{FP4, INT1, INT2, INT3, INT4, INT5, INT6, INT8, bits_of, kind_of};
use crate::qgemm::QGemm;
use crate::unpack_bits::{self, BitUnpacker, block_bytes, crosses_bytes};

/// Columns worked on together, which share the digits that are read.
const COLUMNS: usize = 8;
/// As many of them share what is read of [`has_uniform_initial_sums`] begun sums: of more columns, whose bytes are a power of two
/// apart, the processor keeps too few in L1 beside the digits.
const HALF: usize = COLUMNS / 2;

/// Do all lanes of a vector of codes begin with the same sums? Then those of a place are one number, not a vector, which leaves
/// room in L1. The middle of codes of 8 bits is a multiple of the lanes, so that nothing is left over.
const fn has_uniform_initial_sums(kind: u8, is_whole: bool) -> bool {
    kind == INT8 && is_whole
}

fn kind(format: Quantization) -> u8 {
    kind_of(format).expect("kernels are compiled for codes of so many bits")
}

/// Codes of a byte, which are the steps of a vector of them.
const fn steps(bits: usize) -> usize {
    if crosses_bytes(bits) { 1 } else { 8 / bits }
}

/// Has the processor what codes of so many bits need?
pub(super) fn is_suitable(bits: usize) -> bool {
    !crosses_bytes(bits) || unpack_bits::is_available()
}

/// A product whose left rows are laid out.
struct Job<'a, const D: usize> {
    product: &'a QGemm<'a>,
    /// Row by row: digits by block of bytes, step and place, beginnings by block and place, units and sums by group, padded.
    packed_rows: PackedRows<'a>,
    /// Floats for the groups of a row.
    groups: usize,
    /// For each lane, its group counted from the first of its block.
    limb_offsets: [u32; LANES],
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
    // A vector is read from any group on.
    let groups = quantized.groups.next_multiple_of(LANES) + LANES;
    let limb_offsets = array_of(|lane| (lane * 4 / group_bytes) as u32);
    PackedRows::with(
        rows * blocks * block_digits,
        rows * blocks * D * LANES,
        rows * groups,
        |mut packed_rows| {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { pack_rows::<D>(product, blocks, groups, &mut packed_rows) };
            let job = Job::<D> { product, packed_rows, groups, limb_offsets };
            parallel_ranges(columns, BYTES_PER_JOB / row_bytes + 1, |part| {
                // SAFETY: guaranteed by the caller of this function.
                unsafe {
                    match (kind(format), group_bytes >= BYTES) {
                        (INT1, _) => job.columns::<INT1, false>(part),
                        (INT2, _) => job.columns::<INT2, false>(part),
                        (INT3, false) => job.columns::<INT3, false>(part),
                        (INT3, true) => job.columns::<INT3, true>(part),
                        (INT4, false) => job.columns::<INT4, false>(part),
                        (INT4, true) => job.columns::<INT4, true>(part),
                        (INT5, false) => job.columns::<INT5, false>(part),
                        (INT5, true) => job.columns::<INT5, true>(part),
                        (INT6, false) => job.columns::<INT6, false>(part),
                        (INT6, true) => job.columns::<INT6, true>(part),
                        (FP4, _) => job.columns::<FP4, false>(part),
                        (_, false) => job.columns::<INT8, false>(part),
                        (_, true) => job.columns::<INT8, true>(part),
                    }
                }
            });
        },
    );
}

/// Lay out the left rows, of so many blocks of bytes and padded groups.
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
    let even = has_uniform_initial_sums(kind(format), group_bytes >= BYTES);
    let width = if even { 1 } else { LANES };
    for (block, begun) in
        packed_rows.limbs.chunks_exact(block_digits).zip(packed_rows.initial_sums.chunks_exact_mut(D * width))
    {
        let sums = zero_point_sums::<D>(format, block, BYTES, D * BYTES);
        let sums = if even {
            array_of(|limb| _mm512_set1_epi32(_mm512_reduce_add_epi32(sums[limb]) / LANES as i32))
        } else {
            sums
        };
        for (begun, begin) in begun.chunks_exact_mut(width).zip(initial_sums(sums)) {
            // SAFETY: as many numbers as are written.
            unsafe { _mm512_mask_storeu_epi32(begun.as_mut_ptr(), u16::MAX >> (LANES - width), begin) };
        }
    }
}

/// Lay out the digits of a group, whose codes are at some bytes of their row: first those that meet the lowest codes of the
/// bytes.
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
    /// Compute some columns, where a vector of bytes is of one group (`WHOLE`) or perhaps of several.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn columns<const KIND: u8, const WHOLE: bool>(&self, part: Range<usize>) {
        let (quantized, groups) = (self.product.quantized, self.groups);
        scratch::with(COLUMNS * (groups + 2 * quantized.groups), |memory: &mut [f32]| {
            let (factors, memory) = memory.split_at_mut(COLUMNS * groups);
            let (scales, biases) = memory.split_at_mut(COLUMNS * quantized.groups);
            factors.fill(0.0);
            let mut column = part.start;
            while column < part.end {
                let count = if part.end - column >= COLUMNS { COLUMNS } else { 1 };
                let row = self.product.first + column;
                let scales = quantized.all_scales(row..row + count, scales);
                let biases = if quantized.format.has_biases() {
                    quantized.all_biases(row..row + count, biases)
                } else {
                    &[]
                };
                // Each stretch of them is read at once and long after the last, which the processor does not foresee either.
                quantized.prefetch_factors(row + count, count);
                for r in 0..self.product.rows {
                    if count == COLUMNS {
                        let (rest, centred) = self.factors::<COLUMNS>(r, scales, biases, factors);
                        let uses_zero_point = centred != 0;
                        if uses_zero_point && centred != (1 << COLUMNS) - 1 {
                            for (c, rest) in rest.into_iter().enumerate() {
                                let (factors, uses_zero_point) =
                                    (&factors[c * groups..], centred >> c & 1 != 0);
                                self.some::<KIND, WHOLE, 1>(r, column + c, factors, [rest], uses_zero_point);
                            }
                        } else if const { has_uniform_initial_sums(KIND, WHOLE) } {
                            for (half, rest) in rest.as_chunks::<HALF>().0.iter().enumerate() {
                                let factors = &factors[half * HALF * groups..];
                                let column = column + half * HALF;
                                self.some::<KIND, WHOLE, HALF>(r, column, factors, *rest, uses_zero_point);
                            }
                        } else {
                            self.some::<KIND, WHOLE, COLUMNS>(r, column, factors, rest, uses_zero_point);
                        }
                    } else {
                        let (rest, centred) = self.factors::<1>(r, scales, biases, factors);
                        self.some::<KIND, WHOLE, 1>(r, column, factors, rest, centred != 0);
                    }
                }
                column += count;
            }
        });
    }

    /// What sums of products with the codes of `C` columns are multiplied by, for each group; returns what the rest of the
    /// weights adds, in some lane, and a bit for each column: whether its codes are counted from their middle then
    /// ([`uses_zero_point`]).
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
        let of_x = &self.packed_rows.sums[r * self.groups..][..self.groups];
        let zero_point = _mm512_set1_ps(f32::from(zero_point(self.product.quantized.format)));
        let mut rests = [_mm512_setzero_ps(); C];
        let mut doubt = _mm512_setzero_ps();
        for (c, rest) in rests.iter_mut().enumerate() {
            for g in (0..count).step_by(LANES) {
                let mask = u16::MAX >> LANES.saturating_sub(count - g);
                // SAFETY: only what is inside of a column is read of scales and biases; the others are padded.
                unsafe {
                    let scale = _mm512_maskz_loadu_ps(mask, scales.as_ptr().add(c * count + g));
                    let limb_scale = _mm512_loadu_ps(limb_scales.as_ptr().add(g));
                    let factor = factors.as_mut_ptr().add(c * self.groups + g);
                    _mm512_storeu_ps(factor, _mm512_mul_ps(scale, limb_scale));
                    if !has_biases {
                        continue;
                    }
                    let bias = _mm512_maskz_loadu_ps(mask, biases.as_ptr().add(c * count + g));
                    let centred = _mm512_fmadd_ps(scale, zero_point, bias);
                    *rest = _mm512_fmadd_ps(centred, _mm512_loadu_ps(of_x.as_ptr().add(g)), *rest);
                    let loss = _mm512_sub_ps(_mm512_abs_ps(centred), _mm512_abs_ps(bias));
                    doubt = _mm512_max_ps(doubt, loss);
                }
            }
        }
        let mut centred = (1 << C) - 1;
        // Of weights of either sign there is none.
        if _mm512_cmp_ps_mask::<_CMP_GT_OQ>(doubt, _mm512_setzero_ps()) != 0 {
            for (c, rest) in rests.iter_mut().enumerate() {
                let column = c * count..(c + 1) * count;
                let format = self.product.quantized.format;
                let (sum, uses_zero_point) =
                    rest_of_column(format, &scales[column.clone()], &biases[column], of_x);
                *rest = sum;
                centred ^= u32::from(!uses_zero_point) << c;
            }
        }
        (rests, centred)
    }

    /// `C` columns of a row, to whose sums `rest` is added: last, since it may be much larger than what each group adds.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn some<const KIND: u8, const WHOLE: bool, const C: usize>(
        &self,
        r: usize,
        column: usize,
        factors: &[f32],
        rest: [__m512; C],
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
        // SAFETY: so many places are there.
        let limb_offsets = unsafe { _mm512_loadu_si512(self.limb_offsets.as_ptr().cast()) };
        let code = _mm512_set1_epi8(((1u32 << bits) - 1) as u8 as i8);
        let unpacker = BitUnpacker::new(bits);
        // SAFETY: as many bytes as are read.
        let numbers = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(FP4_NUMBERS.as_ptr().cast()) });
        // Numbers, or vectors, for each place: of each block, or of all.
        let width = if const { has_uniform_initial_sums(KIND, WHOLE) } { 1 } else { LANES };
        let mut from_zero = [0; 4 * LANES];
        let (begun, step) = if uses_zero_point {
            (&packed_rows.initial_sums[r * blocks * D * width..][..blocks * D * width], D * width)
        } else {
            for (begun, begin) in
                from_zero.chunks_exact_mut(width).zip(initial_sums([_mm512_setzero_si512(); D]))
            {
                // SAFETY: as many numbers as are written.
                unsafe { _mm512_mask_storeu_epi32(begun.as_mut_ptr(), u16::MAX >> (LANES - width), begin) };
            }
            (&from_zero[..D * width], 0)
        };
        let mut sums = [_mm512_setzero_ps(); C];
        for (block, limbs) in limbs.chunks_exact(BYTES * steps * D).enumerate() {
            let start = block * block_bytes;
            let mut begin = [_mm512_setzero_si512(); D];
            for (limb, begin) in begin.iter_mut().enumerate() {
                let start = block * step + limb * width;
                debug_assert!(start + width <= begun.len());
                // SAFETY: inside of what was made for this.
                *begin = unsafe {
                    let start = begun.as_ptr().add(start);
                    if const { has_uniform_initial_sums(KIND, WHOLE) } {
                        _mm512_set1_epi32(*start)
                    } else {
                        _mm512_loadu_si512(start.cast())
                    }
                };
            }
            let group = (block * block_codes) >> log_size;
            debug_assert!(C * groups <= factors.len() && group + LANES <= groups);
            for (c, sum) in sums.iter_mut().enumerate() {
                // The rows after these, which the processor does not foresee, since rows are too short for that. They lie behind
                // each other, and are asked for in the order of memory.
                prefetch(first.wrapping_add(COLUMNS * length + C * start + c * block_bytes));
                let row = first.wrapping_add(c * length + start);
                // SAFETY: what is left of the row; who calls [`run`] has asked for the instructions.
                let mut words = unsafe { read::<KIND, WHOLE>(row, length - start, &unpacker) };
                let mut inner = begin;
                for (step, limbs) in limbs.chunks_exact(BYTES * D).enumerate() {
                    let codes = if KIND == INT8 { words } else { _mm512_and_si512(words, code) };
                    let codes = if KIND == FP4 { _mm512_shuffle_epi8(numbers, codes) } else { codes };
                    for limb in 0..D {
                        // SAFETY: a vector of digits for each place.
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
                // SAFETY: the padding of a column is as long as a vector; places are below its length.
                let factor = unsafe {
                    let start = factors.as_ptr().add(c * groups + group);
                    if WHOLE {
                        _mm512_set1_ps(*start)
                    } else {
                        _mm512_permutexvar_ps(limb_offsets, _mm512_loadu_ps(start))
                    }
                };
                *sum = _mm512_fmadd_ps(combine_limbs(pair, &inner), factor, *sum);
            }
        }
        for (c, (sum, rest)) in sums.into_iter().zip(rest).enumerate() {
            let limb = r * product.columns + column + c;
            // SAFETY: inside the output, in a column that this job alone writes.
            unsafe { *product.out.at(limb as isize) = _mm512_reduce_add_ps(_mm512_add_ps(sum, rest)) };
        }
    }
}

/// The next codes of a row of which `rest` bytes are left, several steps of them or, of those that lie across bytes, a code a
/// byte; where one group fills a vector (`WHOLE`), so do the packed bytes, if those are whole numbers of codes.
///
/// # Safety
/// The row can be read, and the processor has what [`is_suitable`] asks for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn read<const KIND: u8, const WHOLE: bool>(
    row: *const u8,
    rest: usize,
    unpacker: &BitUnpacker,
) -> __m512i {
    // SAFETY: only what is inside of the row is read; the caller's promise.
    unsafe {
        let crosses_bytes = crosses_bytes(const { bits_of(KIND) });
        let quantized = if WHOLE && !crosses_bytes || rest >= BYTES {
            _mm512_loadu_si512(row.cast())
        } else {
            _mm512_maskz_loadu_epi8((1 << rest) - 1, row.cast())
        };
        if crosses_bytes { unpacker.unpack(quantized) } else { quantized }
    }
}

/// What the biases of a column add, in some lane, and whether its codes are counted from their middle.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn rest_of_column(format: Quantization, scales: &[f32], biases: &[f32], of_x: &[f32]) -> (__m512, bool) {
    let uses_zero_point = uses_zero_point(format, scales, biases);
    let zero_point = f32::from(zero_point(format));
    let mut rest = [0.0; LANES];
    for (g, ((scale, &bias), x)) in scales.iter().zip(biases).zip(of_x).enumerate() {
        let bias = if uses_zero_point { scale.mul_add(zero_point, bias) } else { bias };
        rest[g % LANES] += bias * x;
    }
    // SAFETY: a vector of lanes.
    (unsafe { _mm512_loadu_ps(rest.as_ptr()) }, uses_zero_point)
}
