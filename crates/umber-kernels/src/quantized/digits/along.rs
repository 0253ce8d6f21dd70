//! A few rows: a vector of packed bytes holds a code at every step of a shift, and meets digits laid out in that order.

use std::arch::x86_64::*;
use std::ops::Range;

use super::laid_rows::LaidRows;
use super::{BYTES, JOB, LANES, beginning, centre, joined, split, sum};
use crate::isa::prefetch;
use crate::matmul::scratch;
use crate::quantized::LARGEST_GROUP;
use crate::quantized::turned_product::TurnedProduct;
use crate::threads::parallel_ranges;

/// Columns worked on together, which share the digits that are read.
const COLUMNS: usize = 4;

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
/// The processor has AVX-512 with VNNI.
pub(super) unsafe fn run<const D: usize>(product: &TurnedProduct) {
    let TurnedProduct { packed, rows, columns, .. } = *product;
    let (how, depth) = (packed.how, product.depth());
    let (steps, size) = (8 / how.bits(), how.group_size());
    let group_bytes = size / steps;
    let row_bytes = how.words(depth) * 4;
    let blocks = row_bytes.div_ceil(BYTES);
    let block_digits = BYTES * steps * D;
    // A vector is read from any group on.
    let groups = packed.groups.next_multiple_of(LANES) + LANES;
    let places = std::array::from_fn(|lane| (lane * 4 / group_bytes) as u32);
    LaidRows::with(rows * blocks * block_digits, rows * blocks * D * LANES, rows * groups, |laid| {
        laid.digits.fill(0);
        laid.units.fill(0.0);
        laid.sums.fill(0.0);
        for (r, row) in product.x.chunks_exact(depth).enumerate() {
            let digits = &mut laid.digits[r * blocks * block_digits..][..blocks * block_digits];
            for (g, group) in row.chunks_exact(size).enumerate() {
                let mut numbers = [[0; D]; LARGEST_GROUP];
                laid.units[r * groups + g] = split(group, &mut numbers);
                laid.sums[r * groups + g] = sum(group);
                lay(&numbers[..size], g * group_bytes, steps, digits);
            }
        }
        let begun = laid.beginnings.as_chunks_mut::<LANES>().0.chunks_exact_mut(D);
        for (block, begun) in laid.digits.chunks_exact(block_digits).zip(begun) {
            for (place, begun) in begun.iter_mut().enumerate() {
                // SAFETY: the caller's.
                *begun = unsafe { beginning(how, &block[place * BYTES..], D * BYTES) };
            }
        }
        let job = Job::<D> { product, laid, groups, places };
        parallel_ranges(columns, JOB / row_bytes + 1, |part| {
            // SAFETY: the caller's.
            unsafe {
                match how.bits() {
                    1 => job.columns::<1>(part),
                    2 => job.columns::<2>(part),
                    4 => job.columns::<4>(part),
                    _ => job.columns::<8>(part),
                }
            }
        });
    });
}

/// Lay out the digits of a group, whose codes begin at a byte of their row.
fn lay<const D: usize>(numbers: &[[i8; D]], start: usize, steps: usize, digits: &mut [i8]) {
    for (j, codes) in numbers.chunks_exact(steps).enumerate() {
        let (block, byte) = ((start + j) / BYTES, (start + j) % BYTES);
        for (step, number) in codes.iter().enumerate() {
            for (place, &digit) in number.iter().enumerate() {
                digits[((block * steps + step) * D + place) * BYTES + byte] = digit;
            }
        }
    }
}

impl<const D: usize> Job<'_, D> {
    /// Compute some columns.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn columns<const BITS: u32>(&self, part: Range<usize>) {
        let (packed, groups) = (self.product.packed, self.groups);
        scratch::with(3 * COLUMNS * groups, |memory: &mut [f32]| {
            memory.fill(0.0);
            let (scales, memory) = memory.split_at_mut(COLUMNS * groups);
            let (biases, factors) = memory.split_at_mut(COLUMNS * groups);
            let mut column = part.start;
            while column < part.end {
                let count = if part.end - column >= COLUMNS { COLUMNS } else { 1 };
                for c in 0..count {
                    let row = self.product.first + column + c;
                    packed.scales(row, 0, &mut scales[c * groups..][..packed.groups]);
                    packed.biases(row, 0, &mut biases[c * groups..][..packed.groups]);
                    centre(packed.how, &scales[c * groups..][..groups], &mut biases[c * groups..][..groups]);
                }
                // Each stretch of them is read at once and long after the last, which the processor does not foresee either.
                packed.prefetch_factors(self.product.first + column + count, count);
                for r in 0..self.product.rows {
                    let units = &self.laid.units[r * groups..][..groups];
                    for (factors, scales) in factors.chunks_exact_mut(groups).zip(scales.chunks_exact(groups))
                    {
                        for ((factor, scale), unit) in factors.iter_mut().zip(scales).zip(units) {
                            *factor = scale * unit;
                        }
                    }
                    if count == COLUMNS {
                        self.some::<BITS, COLUMNS>(r, column, factors, biases);
                    } else {
                        self.some::<BITS, 1>(r, column, factors, biases);
                    }
                }
                column += count;
            }
        });
    }

    /// `C` columns of a row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn some<const BITS: u32, const C: usize>(
        &self,
        r: usize,
        column: usize,
        factors: &[f32],
        biases: &[f32],
    ) {
        let (product, laid, groups) = (self.product, &self.laid, self.groups);
        let steps = (8 / BITS) as usize;
        let rows: [*const u8; C] = std::array::from_fn(|c| product.bytes(column + c).as_ptr());
        let length = product.bytes(column).len();
        let row_digits = length.next_multiple_of(BYTES) * steps * D;
        let digits = &laid.digits[r * row_digits..][..row_digits];
        let blocks = length.div_ceil(BYTES);
        // Groups have a power of two of codes.
        let (block_codes, log_size) = (BYTES * steps, product.packed.how.group_size().trailing_zeros());
        // SAFETY: so many places are there.
        let places = unsafe { _mm512_loadu_si512(self.places.as_ptr().cast()) };
        let code = _mm512_set1_epi8(((1u32 << BITS) - 1) as u8 as i8);
        let mut sums = [_mm512_setzero_ps(); C];
        for (block, digits) in digits.chunks_exact(BYTES * steps * D).enumerate() {
            let start = block * BYTES;
            let mut words = [_mm512_setzero_si512(); C];
            for (words, row) in words.iter_mut().zip(rows) {
                let row = row.wrapping_add(start);
                // The rows after these, which the processor does not foresee, since rows are too short for that.
                prefetch(row.wrapping_add(C * length));
                *words = if length - start >= BYTES {
                    // SAFETY: a vector of the row.
                    unsafe { _mm512_loadu_si512(row.cast()) }
                } else {
                    // SAFETY: only what is inside of the row is read.
                    unsafe { _mm512_maskz_loadu_epi8((1 << (length - start)) - 1, row.cast()) }
                };
            }
            let mut begin = [_mm512_setzero_si512(); D];
            for (place, begin) in begin.iter_mut().enumerate() {
                let start = ((r * blocks + block) * D + place) * LANES;
                debug_assert!(start + LANES <= laid.beginnings.len());
                // SAFETY: a vector for each block and place of the row.
                *begin = unsafe { _mm512_loadu_si512(laid.beginnings.as_ptr().add(start).cast()) };
            }
            let mut inner = [begin; C];
            for digits in digits.chunks_exact(BYTES * D) {
                let mut x = [_mm512_setzero_si512(); D];
                for (place, x) in x.iter_mut().enumerate() {
                    // SAFETY: a vector of digits for each place.
                    *x = unsafe { _mm512_loadu_si512(digits.as_ptr().add(place * BYTES).cast()) };
                }
                for (words, inner) in words.iter_mut().zip(&mut inner) {
                    let codes = if BITS == 8 { *words } else { _mm512_and_si512(*words, code) };
                    for (inner, x) in inner.iter_mut().zip(x) {
                        *inner = _mm512_dpbusd_epi32(*inner, codes, x);
                    }
                    if BITS < 8 {
                        *words = _mm512_srli_epi16::<BITS>(*words);
                    }
                }
            }
            let group = (block * block_codes) >> log_size;
            debug_assert!(C * groups <= factors.len() && group + LANES <= groups);
            for (c, (sum, inner)) in sums.iter_mut().zip(inner).enumerate() {
                // SAFETY: the padding of a column is as long as a vector; places are below its length.
                let factor = unsafe {
                    let start = factors.as_ptr().add(c * groups + group);
                    _mm512_permutexvar_ps(places, _mm512_loadu_ps(start))
                };
                *sum = _mm512_fmadd_ps(joined(inner), factor, *sum);
            }
        }
        let of_x = &laid.sums[r * groups..][..groups];
        for (c, mut sum) in sums.into_iter().enumerate() {
            let biases = &biases[c * groups..][..groups];
            for (bias, x) in biases.chunks_exact(LANES).zip(of_x.chunks_exact(LANES)) {
                // SAFETY: whole vectors.
                sum = unsafe {
                    _mm512_fmadd_ps(_mm512_loadu_ps(bias.as_ptr()), _mm512_loadu_ps(x.as_ptr()), sum)
                };
            }
            let place = r * product.columns + column + c;
            // SAFETY: inside the output, in a column that this job alone writes.
            unsafe { *product.out.at(place as isize) = _mm512_reduce_add_ps(sum) };
        }
    }
}
