//! More rows: one in each lane of a vector, which four codes of a column at a time meet.

use std::arch::x86_64::*;
use std::ops::Range;
use std::slice::from_raw_parts_mut;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_types::Quantization;

use super::laid_rows::LaidRows;
use super::{BYTES, LANES, beginnings, centre, joined, split, sum, sums_of_middles};
use crate::LARGEST_GROUP;
use crate::codes::{as_bytes, codes};
use crate::turned_product::TurnedProduct;

/// The most columns of a job, whose codes stay in the second cache.
const STRIP: usize = 48;
/// Vectors of rows in a tile, but for the last one.
const VECTORS: usize = 2;
/// Sums of a tile, of all places: as many as the registers hold.
const SUMS: usize = 24;
/// The columns of jobs, but for the last one, are a multiple of this, so that no tile has fewer than it could.
const TOGETHER: usize = 24;
/// Depth worked on at a time: the digits of a tile stay in the first cache.
const DEPTH: usize = 128;

/// A product whose left rows are laid out.
struct Job<'a, const D: usize> {
    product: &'a TurnedProduct<'a>,
    /// Tile by tile: digits by four codes and place, beginnings by group and place, units and sums by group, each for all rows.
    laid: LaidRows<'a>,
}

/// Compute a product.
///
/// # Safety
/// The processor has AVX-512 with VNNI.
pub(super) unsafe fn run<const D: usize>(product: &TurnedProduct) {
    let (depth, groups, columns) = (product.depth(), product.packed.groups, product.columns);
    let lanes = product.rows.next_multiple_of(LANES);
    LaidRows::with(lanes * depth * D, lanes * groups * D, lanes * groups, |mut laid| {
        // SAFETY: the caller's.
        unsafe { lay::<D>(product, &mut laid) };
        let job = Job::<D> { product, laid };
        let strip = columns.div_ceil(num_threads()).next_multiple_of(TOGETHER).min(STRIP);
        parallel_for(columns.div_ceil(strip), |i| {
            // SAFETY: the caller's.
            unsafe { job.columns(i * strip..columns.min((i + 1) * strip)) };
        });
    });
}

/// Are the packed bytes codes, so that nothing need be unpacked?
fn is_in_place(how: Quantization) -> bool {
    how.bits() == 8
}

/// The rows of the tiles.
fn tiles(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(VECTORS * LANES).map(move |start| start..rows.min(start + VECTORS * LANES))
}

/// Lay out the left rows.
///
/// # Safety
/// As [`run`].
unsafe fn lay<const D: usize>(product: &TurnedProduct, laid: &mut LaidRows) {
    let TurnedProduct { packed, x, rows, .. } = *product;
    let (depth, groups, size) = (product.depth(), packed.groups, packed.how.group_size());
    let tiles: Vec<_> = tiles(rows).collect();
    let (digits, begun) = (Target::over(laid.digits), Target::over(laid.beginnings));
    let (units, sums) = (Target::over(laid.units), Target::over(laid.sums));
    parallel_ranges(tiles.len() * groups, 4, |range| {
        for i in range {
            let (rows, g) = (tiles[i / groups].clone(), i % groups);
            let width = rows.len().next_multiple_of(LANES);
            let before = rows.start * depth * D + g * size * width * D;
            let at = (rows.start * groups + g * width) as isize;
            let numbers = rows.clone().map(|row| &x[row * depth + g * size..][..size]);
            // SAFETY: the parts of this tile and group, ours alone; the caller's.
            let digits = unsafe {
                let (units, sums) =
                    (from_raw_parts_mut(units.at(at), width), from_raw_parts_mut(sums.at(at), width));
                let digits = from_raw_parts_mut(digits.at(before as isize), size * width * D);
                lay_group::<D>(packed.how, numbers, digits, units, sums);
                digits
            };
            let vectors = width / LANES;
            for vector in 0..vectors {
                // SAFETY: the processor has the instructions.
                let begin = unsafe {
                    let digits = &digits[vector * BYTES..];
                    let stride = D * vectors * BYTES;
                    beginnings(sums_of_middles::<D>(packed.how, digits, vectors * BYTES, stride))
                };
                for (place, begin) in begin.into_iter().enumerate() {
                    let at = (rows.start * groups + g * width) * D + (place * vectors + vector) * LANES;
                    // SAFETY: of this tile and group, as above.
                    unsafe { begun.at(at as isize).cast::<__m512i>().write_unaligned(begin) };
                }
            }
        }
    });
}

/// Lay out a group of each of the rows of a tile, with nothing in the other lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn lay_group<'a, const D: usize>(
    how: Quantization,
    rows: impl Iterator<Item = &'a [f32]>,
    digits: &mut [i8],
    units: &mut [f32],
    sums: &mut [f32],
) {
    let width = units.len();
    digits.fill(0);
    units.fill(0.0);
    sums.fill(0.0);
    let mut split_up = [[0; LARGEST_GROUP]; D];
    for (lane, group) in rows.enumerate() {
        units[lane] = split(how, group, &mut split_up);
        sums[lane] = sum(group);
        for (place, split_up) in split_up.iter().enumerate() {
            for (four, codes) in split_up[..group.len()].as_chunks::<4>().0.iter().enumerate() {
                let at = ((four * D + place) * width + lane) * 4;
                digits[at..at + 4].copy_from_slice(codes);
            }
        }
    }
}

/// Some columns of the matrix, ready to be multiplied.
struct Columns<'a> {
    count: usize,
    /// For each, its codes.
    codes: &'a [u8],
    /// For each, its scales.
    scales: &'a [f32],
    /// For each, its biases.
    biases: &'a [f32],
    /// Are its codes counted from their middle?
    centred: [bool; STRIP],
}

impl<const D: usize> Job<'_, D> {
    /// Compute some columns.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn columns(&self, part: Range<usize>) {
        let TurnedProduct { packed, first, rows, columns: row_length, out, .. } = *self.product;
        let (depth, groups) = (self.product.depth(), packed.groups);
        let (count, words) = (part.len(), self.product.all_words(part.clone()));
        let in_place = is_in_place(packed.how);
        scratch::with(if in_place { 0 } else { count * depth }, |memory: &mut [u8]| {
            let codes = if in_place {
                as_bytes(words)
            } else {
                codes(packed.how, words, memory);
                memory
            };
            scratch::with(count * (2 * groups + VECTORS * LANES), |memory: &mut [f32]| {
                let (scales, memory) = memory.split_at_mut(count * groups);
                let (biases, sums) = memory.split_at_mut(count * groups);
                packed.scales(first + part.start, 0, scales);
                packed.biases(first + part.start, 0, biases);
                let mut centred = [true; STRIP];
                for (c, centred) in centred[..count].iter_mut().enumerate() {
                    let part = c * groups..(c + 1) * groups;
                    *centred = centre::<D>(packed.how, &scales[part.clone()], &mut biases[part]);
                }
                let is_mixed = centred.contains(&false);
                let columns = Columns { count, codes, scales, biases, centred };
                for rows in tiles(rows) {
                    let width = rows.len().next_multiple_of(LANES);
                    let sums = &mut sums[..count * width];
                    sums.fill(0.0);
                    match (width > LANES, D, is_mixed) {
                        (true, 3, false) => self.tile::<VECTORS, 4, false>(&rows, &columns, sums),
                        (true, _, false) => self.tile::<VECTORS, 3, false>(&rows, &columns, sums),
                        (false, 3, false) => self.tile::<1, 8, false>(&rows, &columns, sums),
                        (false, _, false) => self.tile::<1, 6, false>(&rows, &columns, sums),
                        (true, _, true) => self.tile::<VECTORS, 3, true>(&rows, &columns, sums),
                        (false, _, true) => self.tile::<1, 6, true>(&rows, &columns, sums),
                    }
                    for (lane, row) in rows.enumerate() {
                        for (c, column) in part.clone().enumerate() {
                            // SAFETY: inside the output, in a column that this job alone writes.
                            unsafe { *out.at((row * row_length + column) as isize) = sums[c * width + lane] };
                        }
                    }
                }
            });
        });
    }

    /// All columns, `C` at a time, of a tile of `V` vectors. Codes count from the middle, but for those of some columns if they are
    /// `MIXED`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn tile<const V: usize, const C: usize, const MIXED: bool>(
        &self,
        rows: &Range<usize>,
        columns: &Columns,
        sums: &mut [f32],
    ) {
        assert!(V * C * D <= SUMS, "sums fit the registers");
        let (how, depth, groups) =
            (self.product.packed.how, self.product.depth(), self.product.packed.groups);
        let (size, together) = (how.group_size(), (DEPTH / how.group_size()).max(1));
        // The part of a column that is read next, which the processor does not foresee, unless it has just been written.
        let ask = |column: usize, group: usize, cache: Cache| {
            if is_in_place(how) {
                let part = columns.codes.as_ptr().wrapping_add(column * depth + group * size);
                prefetch_lines(part, together * size, cache);
            }
        };
        for g in (0..groups).step_by(together) {
            let range = g..groups.min(g + together);
            let mut c = 0;
            while c < columns.count {
                let width = if c + C <= columns.count { C } else { 1 };
                for c in c..c + width {
                    ask(c, range.end, Cache::L2);
                    ask(c + width, g, Cache::L1);
                }
                if width == C {
                    self.some::<V, C, MIXED>(rows, range.clone(), columns, c, sums);
                } else {
                    self.some::<V, 1, MIXED>(rows, range.clone(), columns, c, sums);
                }
                c += width;
            }
        }
    }

    /// Add what some groups of `C` columns from number `c` on meet.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn some<const V: usize, const C: usize, const MIXED: bool>(
        &self,
        rows: &Range<usize>,
        range: Range<usize>,
        columns: &Columns,
        c: usize,
        sums: &mut [f32],
    ) {
        let (product, laid) = (self.product, &self.laid);
        let (depth, groups, size) = (product.depth(), product.packed.groups, product.packed.how.group_size());
        let digits = &laid.digits[rows.start * depth * D..][..V * LANES * depth * D];
        let beginnings = &laid.beginnings[rows.start * groups * D..][..V * LANES * groups * D];
        let units = &laid.units[rows.start * groups..][..V * LANES * groups];
        let of_x = &laid.sums[rows.start * groups..][..V * LANES * groups];
        let (scales, biases) = (&columns.scales[c * groups..], &columns.biases[c * groups..]);
        let starts: [*const u8; C] = array_of(|i| columns.codes[(c + i) * depth..][..depth].as_ptr());
        let sums = &mut sums[c * V * LANES..][..C * V * LANES];
        let mut from_zero = [0; 4 * VECTORS * LANES];
        if MIXED {
            let begin = super::beginnings([_mm512_setzero_si512(); D]);
            for (begun, begin) in from_zero.chunks_exact_mut(V * LANES).zip(begin) {
                for begun in begun.chunks_exact_mut(LANES) {
                    // SAFETY: a vector.
                    unsafe { _mm512_storeu_si512(begun.as_mut_ptr().cast(), begin) };
                }
            }
        }
        for g in range {
            let begin = beginnings[g * D * V * LANES..][..D * V * LANES].as_ptr();
            let mut inner = [[[_mm512_setzero_si512(); D]; C]; V];
            for (v, inner) in inner.iter_mut().enumerate() {
                for (i, inner) in inner.iter_mut().enumerate() {
                    let begin = if MIXED && !columns.centred[c + i] { from_zero.as_ptr() } else { begin };
                    for (place, inner) in inner.iter_mut().enumerate() {
                        // SAFETY: a vector for each place of the group, or of all.
                        *inner = unsafe { _mm512_loadu_si512(begin.add((place * V + v) * LANES).cast()) };
                    }
                }
            }
            for four in g * size / 4..(g + 1) * size / 4 {
                let mut codes = [_mm512_setzero_si512(); C];
                for (codes, start) in codes.iter_mut().zip(starts) {
                    // SAFETY: inside the codes of the column.
                    let word = unsafe { start.add(four * 4).cast::<i32>().read_unaligned() };
                    *codes = _mm512_set1_epi32(word);
                }
                for place in 0..D {
                    for (v, inner) in inner.iter_mut().enumerate() {
                        // SAFETY: inside the digits of the tile.
                        let x = unsafe {
                            let start = digits.as_ptr().add(((four * D + place) * V + v) * BYTES);
                            _mm512_loadu_si512(start.cast())
                        };
                        for (inner, &codes) in inner.iter_mut().zip(&codes) {
                            inner[place] = _mm512_dpbusd_epi32(inner[place], codes, x);
                        }
                    }
                }
            }
            for (v, inner) in inner.into_iter().enumerate() {
                let place = (g * V + v) * LANES;
                // SAFETY: a vector for each group.
                let (unit, x) = unsafe {
                    (_mm512_loadu_ps(units[place..].as_ptr()), _mm512_loadu_ps(of_x[place..].as_ptr()))
                };
                for (i, inner) in inner.into_iter().enumerate() {
                    let sum = sums[(i * V + v) * LANES..][..LANES].as_mut_ptr();
                    let scale = _mm512_mul_ps(unit, _mm512_set1_ps(scales[i * groups + g]));
                    let bias = _mm512_set1_ps(biases[i * groups + g]);
                    let pair = _mm512_add_epi32(_mm512_slli_epi32::<8>(inner[0]), inner[1]);
                    // SAFETY: a vector's worth of sums.
                    unsafe {
                        let so_far = _mm512_fmadd_ps(bias, x, _mm512_loadu_ps(sum));
                        _mm512_storeu_ps(sum, _mm512_fmadd_ps(joined(pair, &inner), scale, so_far));
                    }
                }
            }
        }
    }
}
