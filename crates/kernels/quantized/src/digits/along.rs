//! A few rows: a vector of packed bytes holds a code at every step of a shift, and meets digits laid out in that order. Codes that
//! lie across bytes are moved to bytes of their own first.

use std::arch::x86_64::*;
use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::isa::prefetch;
use umber_kernels_base::scratch;
use umber_kernels_base::threads::parallel_ranges;
use umber_types::Quantization;

use super::laid_rows::LaidRows;
use super::{BYTES, Digits, JOB, LANES, beginnings, is_centred, joined, middle, split, sum, sums_of_middles};
use crate::LARGEST_GROUP;
use crate::bytes_apart::{self, BytesApart, block_bytes, is_across};
use crate::codes::FP4_NUMBERS;
use crate::kinds::{FP4, INT1, INT2, INT3, INT4, INT5, INT6, INT8, bits_of, kind_of};
use crate::turned_product::TurnedProduct;

/// Columns worked on together, which share the digits that are read.
const COLUMNS: usize = 8;
/// As many of them share what is read of [`evenly`] begun sums: of more columns, whose bytes are a power of two apart, the
/// processor keeps too few in the first cache beside the digits.
const HALF: usize = COLUMNS / 2;

/// Do all lanes of a vector of codes begin with the same sums? Then those of a place are one number, not a vector, which leaves
/// room in the first cache. The middle of codes of 8 bits is a multiple of the lanes, so that nothing is left over.
const fn evenly(kind: u8, is_whole: bool) -> bool {
    kind == INT8 && is_whole
}

fn kind(how: Quantization) -> u8 {
    kind_of(how).expect("kernels are compiled for codes of so many bits")
}

/// Codes of a byte, which are the steps of a vector of them.
const fn steps(bits: usize) -> usize {
    if is_across(bits) { 1 } else { 8 / bits }
}

/// Has the processor what codes of so many bits need?
pub(super) fn is_suitable(bits: usize) -> bool {
    !is_across(bits) || bytes_apart::is_available()
}

/// A product whose left rows are laid out.
struct Job<'a, const D: usize> {
    product: &'a TurnedProduct<'a>,
    /// Row by row: digits by block of bytes, step and place, beginnings by block and place, units and sums by group, padded.
    laid: LaidRows<'a>,
    /// Floats for the groups of a row.
    groups: usize,
    /// For each lane, its group counted from the first of its block.
    places: [u32; LANES],
}

/// Compute a product.
///
/// # Safety
/// The processor has AVX-512 with VNNI, and the packed matrix [`is_suitable`].
pub(super) unsafe fn run<const D: usize>(product: &TurnedProduct) {
    let TurnedProduct { packed, rows, columns, .. } = *product;
    let (how, depth) = (packed.how, product.depth());
    let (bits, size) = (how.bits(), how.group_size());
    let steps = steps(bits);
    let group_bytes = size / steps;
    let row_bytes = how.words(depth) * 4;
    let blocks = row_bytes.div_ceil(block_bytes(bits));
    let block_digits = BYTES * steps * D;
    // A vector is read from any group on.
    let groups = packed.groups.next_multiple_of(LANES) + LANES;
    let places = array_of(|lane| (lane * 4 / group_bytes) as u32);
    LaidRows::with(rows * blocks * block_digits, rows * blocks * D * LANES, rows * groups, |mut laid| {
        // SAFETY: the caller's.
        unsafe { lay_rows::<D>(product, blocks, groups, &mut laid) };
        let job = Job::<D> { product, laid, groups, places };
        parallel_ranges(columns, JOB / row_bytes + 1, |part| {
            // SAFETY: the caller's.
            unsafe {
                match (kind(how), group_bytes >= BYTES) {
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
    });
}

/// Lay out the left rows, of so many blocks of bytes and padded groups.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn lay_rows<const D: usize>(product: &TurnedProduct, blocks: usize, groups: usize, laid: &mut LaidRows) {
    let (how, depth) = (product.packed.how, product.depth());
    let (steps, size) = (steps(how.bits()), how.group_size());
    let (group_bytes, block_digits) = (size / steps, BYTES * steps * D);
    laid.digits.fill(0);
    laid.units.fill(0.0);
    laid.sums.fill(0.0);
    let mut split_up = [[0; LARGEST_GROUP]; D];
    for (r, row) in product.x.chunks_exact(depth).enumerate() {
        let digits = &mut laid.digits[r * blocks * block_digits..][..blocks * block_digits];
        for (g, group) in row.chunks_exact(size).enumerate() {
            laid.units[r * groups + g] = split(how, group, &mut split_up);
            laid.sums[r * groups + g] = sum(group);
            let bytes = g * group_bytes..(g + 1) * group_bytes;
            match steps {
                1 => lay::<1, D>(&split_up, bytes, digits),
                2 => lay::<2, D>(&split_up, bytes, digits),
                4 => lay::<4, D>(&split_up, bytes, digits),
                _ => lay::<8, D>(&split_up, bytes, digits),
            }
        }
    }
    let even = evenly(kind(how), group_bytes >= BYTES);
    let width = if even { 1 } else { LANES };
    for (block, begun) in
        laid.digits.chunks_exact(block_digits).zip(laid.beginnings.chunks_exact_mut(D * width))
    {
        let sums = sums_of_middles::<D>(how, block, BYTES, D * BYTES);
        let sums = if even {
            array_of(|place| _mm512_set1_epi32(_mm512_reduce_add_epi32(sums[place]) / LANES as i32))
        } else {
            sums
        };
        for (begun, begin) in begun.chunks_exact_mut(width).zip(beginnings(sums)) {
            // SAFETY: as many numbers as are written.
            unsafe { _mm512_mask_storeu_epi32(begun.as_mut_ptr(), u16::MAX >> (LANES - width), begin) };
        }
    }
}

/// Lay out the digits of a group, whose codes are at some bytes of their row: first those that meet the lowest codes of the bytes.
#[inline(always)]
fn lay<const STEPS: usize, const D: usize>(split_up: &Digits<D>, bytes: Range<usize>, laid: &mut [i8]) {
    let mut done = 0;
    while done < bytes.len() {
        let (block, byte) = ((bytes.start + done) / BYTES, (bytes.start + done) % BYTES);
        let count = (bytes.len() - done).min(BYTES - byte);
        for (place, digits) in split_up.iter().enumerate() {
            let digits = digits[done * STEPS..][..count * STEPS].as_chunks::<STEPS>().0;
            for step in 0..STEPS {
                let laid = &mut laid[((block * STEPS + step) * D + place) * BYTES + byte..][..count];
                for (laid, digits) in laid.iter_mut().zip(digits) {
                    *laid = digits[step];
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
        let (packed, groups) = (self.product.packed, self.groups);
        scratch::with(COLUMNS * (groups + 2 * packed.groups), |memory: &mut [f32]| {
            let (factors, memory) = memory.split_at_mut(COLUMNS * groups);
            let (scales, biases) = memory.split_at_mut(COLUMNS * packed.groups);
            factors.fill(0.0);
            let mut column = part.start;
            while column < part.end {
                let count = if part.end - column >= COLUMNS { COLUMNS } else { 1 };
                let row = self.product.first + column;
                let scales = packed.all_scales(row..row + count, scales);
                let biases =
                    if packed.how.has_biases() { packed.all_biases(row..row + count, biases) } else { &[] };
                // Each stretch of them is read at once and long after the last, which the processor does not foresee either.
                packed.prefetch_factors(row + count, count);
                for r in 0..self.product.rows {
                    if count == COLUMNS {
                        let (rest, centred) = self.factors::<COLUMNS>(r, scales, biases, factors);
                        let is_centred = centred != 0;
                        if is_centred && centred != (1 << COLUMNS) - 1 {
                            for (c, rest) in rest.into_iter().enumerate() {
                                let (factors, is_centred) = (&factors[c * groups..], centred >> c & 1 != 0);
                                self.some::<KIND, WHOLE, 1>(r, column + c, factors, [rest], is_centred);
                            }
                        } else if const { evenly(KIND, WHOLE) } {
                            for (half, rest) in rest.as_chunks::<HALF>().0.iter().enumerate() {
                                let factors = &factors[half * HALF * groups..];
                                let column = column + half * HALF;
                                self.some::<KIND, WHOLE, HALF>(r, column, factors, *rest, is_centred);
                            }
                        } else {
                            self.some::<KIND, WHOLE, COLUMNS>(r, column, factors, rest, is_centred);
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

    /// What sums of products with the codes of `C` columns are multiplied by, for each group; answers what the rest of the
    /// weights adds, in some lane, and a bit for each column: whether its codes are counted from their middle then ([`is_centred`]).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn factors<const C: usize>(
        &self,
        r: usize,
        scales: &[f32],
        biases: &[f32],
        factors: &mut [f32],
    ) -> ([__m512; C], u32) {
        let count = self.product.packed.groups;
        let has_biases = !biases.is_empty();
        assert!(scales.len() == C * count && C * self.groups <= factors.len());
        assert!(biases.len() == scales.len() || !has_biases);
        let units = &self.laid.units[r * self.groups..][..self.groups];
        let of_x = &self.laid.sums[r * self.groups..][..self.groups];
        let middle = _mm512_set1_ps(f32::from(middle(self.product.packed.how)));
        let mut rests = [_mm512_setzero_ps(); C];
        let mut doubt = _mm512_setzero_ps();
        for (c, rest) in rests.iter_mut().enumerate() {
            for g in (0..count).step_by(LANES) {
                let mask = u16::MAX >> LANES.saturating_sub(count - g);
                // SAFETY: only what is inside of a column is read of scales and biases; the others are padded.
                unsafe {
                    let scale = _mm512_maskz_loadu_ps(mask, scales.as_ptr().add(c * count + g));
                    let unit = _mm512_loadu_ps(units.as_ptr().add(g));
                    let factor = factors.as_mut_ptr().add(c * self.groups + g);
                    _mm512_storeu_ps(factor, _mm512_mul_ps(scale, unit));
                    if !has_biases {
                        continue;
                    }
                    let bias = _mm512_maskz_loadu_ps(mask, biases.as_ptr().add(c * count + g));
                    let centred = _mm512_fmadd_ps(scale, middle, bias);
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
                let how = self.product.packed.how;
                let (sum, is_centred) = rest_of_column(how, &scales[column.clone()], &biases[column], of_x);
                *rest = sum;
                centred ^= u32::from(!is_centred) << c;
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
        is_centred: bool,
    ) {
        let (product, laid, groups) = (self.product, &self.laid, self.groups);
        let bits = const { bits_of(KIND) };
        let (steps, block_bytes) = (steps(bits), block_bytes(bits));
        let bytes = product.bytes(column..column + C);
        let (first, length) = (bytes.as_ptr(), bytes.len() / C);
        let blocks = length.div_ceil(block_bytes);
        let row_digits = blocks * BYTES * steps * D;
        let digits = &laid.digits[r * row_digits..][..row_digits];
        // Groups have a power of two of codes.
        let (block_codes, log_size) = (BYTES * steps, product.packed.how.group_size().trailing_zeros());
        // SAFETY: so many places are there.
        let places = unsafe { _mm512_loadu_si512(self.places.as_ptr().cast()) };
        let code = _mm512_set1_epi8(((1u32 << bits) - 1) as u8 as i8);
        let apart = BytesApart::new(bits);
        // SAFETY: as many bytes as are read.
        let numbers = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(FP4_NUMBERS.as_ptr().cast()) });
        // Numbers, or vectors, for each place: of each block, or of all.
        let width = if const { evenly(KIND, WHOLE) } { 1 } else { LANES };
        let mut from_zero = [0; 4 * LANES];
        let (begun, step) = if is_centred {
            (&laid.beginnings[r * blocks * D * width..][..blocks * D * width], D * width)
        } else {
            for (begun, begin) in
                from_zero.chunks_exact_mut(width).zip(beginnings([_mm512_setzero_si512(); D]))
            {
                // SAFETY: as many numbers as are written.
                unsafe { _mm512_mask_storeu_epi32(begun.as_mut_ptr(), u16::MAX >> (LANES - width), begin) };
            }
            (&from_zero[..D * width], 0)
        };
        let mut sums = [_mm512_setzero_ps(); C];
        for (block, digits) in digits.chunks_exact(BYTES * steps * D).enumerate() {
            let start = block * block_bytes;
            let mut begin = [_mm512_setzero_si512(); D];
            for (place, begin) in begin.iter_mut().enumerate() {
                let start = block * step + place * width;
                debug_assert!(start + width <= begun.len());
                // SAFETY: inside of what was made for this.
                *begin = unsafe {
                    let start = begun.as_ptr().add(start);
                    if const { evenly(KIND, WHOLE) } {
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
                let mut words = unsafe { read::<KIND, WHOLE>(row, length - start, &apart) };
                let mut inner = begin;
                for (step, digits) in digits.chunks_exact(BYTES * D).enumerate() {
                    let codes = if KIND == INT8 { words } else { _mm512_and_si512(words, code) };
                    let codes = if KIND == FP4 { _mm512_shuffle_epi8(numbers, codes) } else { codes };
                    for place in 0..D {
                        // SAFETY: a vector of digits for each place.
                        let x = unsafe { _mm512_loadu_si512(digits.as_ptr().add(place * BYTES).cast()) };
                        if steps == 1 && place == 1 {
                            inner[1] = _mm512_slli_epi32::<8>(inner[0]);
                        }
                        inner[place] = _mm512_dpbusd_epi32(inner[place], codes, x);
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
                        _mm512_permutexvar_ps(places, _mm512_loadu_ps(start))
                    }
                };
                *sum = _mm512_fmadd_ps(joined(pair, &inner), factor, *sum);
            }
        }
        for (c, (sum, rest)) in sums.into_iter().zip(rest).enumerate() {
            let place = r * product.columns + column + c;
            // SAFETY: inside the output, in a column that this job alone writes.
            unsafe { *product.out.at(place as isize) = _mm512_reduce_add_ps(_mm512_add_ps(sum, rest)) };
        }
    }
}

/// The next codes of a row of which `rest` bytes are left, several steps of them or, of those that lie across bytes, a code a byte;
/// where one group fills a vector (`WHOLE`), so do the packed bytes, if those are whole numbers of codes.
///
/// # Safety
/// The row can be read, and the processor has what [`is_suitable`] asks for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn read<const KIND: u8, const WHOLE: bool>(
    row: *const u8,
    rest: usize,
    apart: &BytesApart,
) -> __m512i {
    // SAFETY: only what is inside of the row is read; the caller's promise.
    unsafe {
        let is_across = is_across(const { bits_of(KIND) });
        let packed = if WHOLE && !is_across || rest >= BYTES {
            _mm512_loadu_si512(row.cast())
        } else {
            _mm512_maskz_loadu_epi8((1 << rest) - 1, row.cast())
        };
        if is_across { apart.move_codes(packed) } else { packed }
    }
}

/// What the biases of a column add, in some lane, and whether its codes are counted from their middle.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn rest_of_column(how: Quantization, scales: &[f32], biases: &[f32], of_x: &[f32]) -> (__m512, bool) {
    let is_centred = is_centred(how, scales, biases);
    let middle = f32::from(middle(how));
    let mut rest = [0.0; LANES];
    for (g, ((scale, &bias), x)) in scales.iter().zip(biases).zip(of_x).enumerate() {
        let bias = if is_centred { scale.mul_add(middle, bias) } else { bias };
        rest[g % LANES] += bias * x;
    }
    // SAFETY: a vector of lanes.
    (unsafe { _mm512_loadu_ps(rest.as_ptr()) }, is_centred)
}
