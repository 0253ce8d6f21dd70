//! Kernel for more rows, with one row per SIMD lane: each step multiplies four consecutive codes of a column by the limbs of
//! all lanes.

use std::arch::x86_64::*;
use std::ops::Range;
use std::slice::from_raw_parts_mut;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_types::Quantization;

use super::packed_rows::PackedRows;
use super::{BYTES, LANES, apply_zero_point, combine_limbs, initial_sums, sum, to_limbs, zero_point_sums};
use crate::LARGEST_GROUP;
use crate::codes::{as_bytes, codes};
use crate::qgemm::QGemm;

/// Maximum columns of a job; their codes stay in L2.
const STRIP: usize = 48;
/// Vectors of rows in a tile; the last tile may have fewer.
const VECTORS: usize = 2;
/// Maximum accumulators of a tile for all limbs, as many as fit the registers.
const SUMS: usize = 24;
/// Column multiple of a job, so that only the last one has incomplete tiles.
const COLUMN_MULTIPLE: usize = 24;
/// Depth of one pass, chosen so that the limbs of a tile stay in L1.
const DEPTH: usize = 128;

/// A product with packed left rows.
struct Job<'a, const D: usize> {
    product: &'a QGemm<'a>,
    /// Tile by tile: limbs by four codes and limb, initial sums by group and limb, scales and sums by group; each for all
    /// rows.
    packed_rows: PackedRows<'a>,
}

/// Compute a product.
///
/// # Safety
/// The processor has AVX-512 with VNNI.
pub(super) unsafe fn run<const D: usize>(product: &QGemm) {
    let (depth, groups, columns) = (product.depth(), product.quantized.groups, product.columns);
    let lanes = product.rows.next_multiple_of(LANES);
    PackedRows::with(lanes * depth * D, lanes * groups * D, lanes * groups, |mut packed_rows| {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { pack::<D>(product, &mut packed_rows) };
        let job = Job::<D> { product, packed_rows };
        let strip = columns.div_ceil(num_threads()).next_multiple_of(COLUMN_MULTIPLE).min(STRIP);
        parallel_for(columns.div_ceil(strip), |i| {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { job.columns(i * strip..columns.min((i + 1) * strip)) };
        });
    });
}

/// Whether the packed bytes are the codes, so that no unpacking is needed.
fn is_in_place(format: Quantization) -> bool {
    format.bits() == 8
}

/// The rows of each tile.
fn tiles(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(VECTORS * LANES).map(move |start| start..rows.min(start + VECTORS * LANES))
}

/// Pack the left rows.
///
/// # Safety
/// As [`run`].
unsafe fn pack<const D: usize>(product: &QGemm, packed_rows: &mut PackedRows) {
    let QGemm { quantized, x, rows, .. } = *product;
    let (depth, groups, size) = (product.depth(), quantized.groups, quantized.format.group_size());
    let tiles: Vec<_> = tiles(rows).collect();
    let (limbs, initial) = (Target::over(packed_rows.limbs), Target::over(packed_rows.initial_sums));
    let (limb_scales, sums) = (Target::over(packed_rows.limb_scales), Target::over(packed_rows.sums));
    parallel_ranges(tiles.len() * groups, 4, |range| {
        for i in range {
            let (rows, g) = (tiles[i / groups].clone(), i % groups);
            let width = rows.len().next_multiple_of(LANES);
            let limb_offset = rows.start * depth * D + g * size * width * D;
            let at = (rows.start * groups + g * width) as isize;
            let groups_of_rows = rows.clone().map(|row| &x[row * depth + g * size..][..size]);
            // SAFETY: the parts of this tile and group, which only this thread accesses; the caller guarantees the
            // instructions.
            let limbs = unsafe {
                let (limb_scales, sums) =
                    (from_raw_parts_mut(limb_scales.at(at), width), from_raw_parts_mut(sums.at(at), width));
                let limbs = from_raw_parts_mut(limbs.at(limb_offset as isize), size * width * D);
                pack_group::<D>(quantized.format, groups_of_rows, limbs, limb_scales, sums);
                limbs
            };
            let vectors = width / LANES;
            for vector in 0..vectors {
                // SAFETY: the caller guarantees the instructions.
                let sums = unsafe {
                    let limbs = &limbs[vector * BYTES..];
                    let stride = D * vectors * BYTES;
                    initial_sums(zero_point_sums::<D>(quantized.format, limbs, vectors * BYTES, stride))
                };
                for (limb, sums) in sums.into_iter().enumerate() {
                    let at = (rows.start * groups + g * width) * D + (limb * vectors + vector) * LANES;
                    // SAFETY: inside the part of this tile and group.
                    unsafe { initial.at(at as isize).cast::<__m512i>().write_unaligned(sums) };
                }
            }
        }
    });
}

/// Pack one group of each row of a tile, with zeros in unused lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn pack_group<'a, const D: usize>(
    format: Quantization,
    rows: impl Iterator<Item = &'a [f32]>,
    limbs: &mut [i8],
    limb_scales: &mut [f32],
    sums: &mut [f32],
) {
    let width = limb_scales.len();
    limbs.fill(0);
    limb_scales.fill(0.0);
    sums.fill(0.0);
    let mut limbs_of_group = [[0; LARGEST_GROUP]; D];
    for (lane, group) in rows.enumerate() {
        limb_scales[lane] = to_limbs(format, group, &mut limbs_of_group);
        sums[lane] = sum(group);
        for (limb, limbs_of_group) in limbs_of_group.iter().enumerate() {
            for (four, codes) in limbs_of_group[..group.len()].as_chunks::<4>().0.iter().enumerate() {
                let at = ((four * D + limb) * width + lane) * 4;
                limbs[at..at + 4].copy_from_slice(codes);
            }
        }
    }
}

/// Some columns of the matrix, prepared for the product.
struct Columns<'a> {
    count: usize,
    /// The codes, column by column.
    codes: &'a [u8],
    /// The scales, column by column.
    scales: &'a [f32],
    /// The biases, column by column, relative to the zero point where it is used.
    biases: &'a [f32],
    /// For each column, whether its codes are counted from the zero point.
    uses_zero_point: [bool; STRIP],
}

impl<const D: usize> Job<'_, D> {
    /// Compute some columns.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn columns(&self, column_range: Range<usize>) {
        let QGemm { quantized, first, rows, columns: row_length, out, .. } = *self.product;
        let (depth, groups) = (self.product.depth(), quantized.groups);
        let (count, words) = (column_range.len(), self.product.all_words(column_range.clone()));
        let in_place = is_in_place(quantized.format);
        scratch::with(if in_place { 0 } else { count * depth }, |memory: &mut [u8]| {
            let codes = if in_place {
                as_bytes(words)
            } else {
                codes(quantized.format, words, memory);
                memory
            };
            scratch::with(count * (2 * groups + VECTORS * LANES), |memory: &mut [f32]| {
                let (scales, memory) = memory.split_at_mut(count * groups);
                let (biases, sums) = memory.split_at_mut(count * groups);
                quantized.scales(first + column_range.start, 0, scales);
                quantized.biases(first + column_range.start, 0, biases);
                let mut uses_zero_point = [true; STRIP];
                for (c, uses_zero_point) in uses_zero_point[..count].iter_mut().enumerate() {
                    let range = c * groups..(c + 1) * groups;
                    *uses_zero_point =
                        apply_zero_point::<D>(quantized.format, &scales[range.clone()], &mut biases[range]);
                }
                let is_mixed = uses_zero_point.contains(&false);
                let columns = Columns { count, codes, scales, biases, uses_zero_point };
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
                        for (c, column) in column_range.clone().enumerate() {
                            // SAFETY: inside the output, in a column that only this job writes.
                            unsafe { *out.at((row * row_length + column) as isize) = sums[c * width + lane] };
                        }
                    }
                }
            });
        });
    }

    /// Compute all columns for a tile of `V` vectors, `C` columns at a time. All codes are counted from the zero point,
    /// unless `MIXED`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn tile<const V: usize, const C: usize, const MIXED: bool>(
        &self,
        rows: &Range<usize>,
        columns: &Columns,
        sums: &mut [f32],
    ) {
        assert!(V * C * D <= SUMS, "sums fit the registers");
        let (format, depth, groups) =
            (self.product.quantized.format, self.product.depth(), self.product.quantized.groups);
        let (size, groups_per_pass) = (format.group_size(), (DEPTH / format.group_size()).max(1));
        // Prefetch the codes of a later pass, which the hardware prefetcher misses. Unpacked codes are still in the cache.
        let prefetch_codes = |column: usize, group: usize, cache: Cache| {
            if is_in_place(format) {
                let codes = columns.codes.as_ptr().wrapping_add(column * depth + group * size);
                prefetch_lines(codes, groups_per_pass * size, cache);
            }
        };
        for g in (0..groups).step_by(groups_per_pass) {
            let range = g..groups.min(g + groups_per_pass);
            let mut c = 0;
            while c < columns.count {
                let width = if c + C <= columns.count { C } else { 1 };
                for c in c..c + width {
                    prefetch_codes(c, range.end, Cache::L2);
                    prefetch_codes(c + width, g, Cache::L1);
                }
                if width == C {
                    self.multiply_groups::<V, C, MIXED>(rows, range.clone(), columns, c, sums);
                } else {
                    self.multiply_groups::<V, 1, MIXED>(rows, range.clone(), columns, c, sums);
                }
                c += width;
            }
        }
    }

    /// Add the products of some groups of `C` columns, beginning with column `c`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn multiply_groups<const V: usize, const C: usize, const MIXED: bool>(
        &self,
        rows: &Range<usize>,
        range: Range<usize>,
        columns: &Columns,
        c: usize,
        sums: &mut [f32],
    ) {
        let (product, packed_rows) = (self.product, &self.packed_rows);
        let (depth, groups, size) =
            (product.depth(), product.quantized.groups, product.quantized.format.group_size());
        let limbs = &packed_rows.limbs[rows.start * depth * D..][..V * LANES * depth * D];
        let initial_sums = &packed_rows.initial_sums[rows.start * groups * D..][..V * LANES * groups * D];
        let limb_scales = &packed_rows.limb_scales[rows.start * groups..][..V * LANES * groups];
        let x_sums = &packed_rows.sums[rows.start * groups..][..V * LANES * groups];
        let (scales, biases) = (&columns.scales[c * groups..], &columns.biases[c * groups..]);
        let starts: [*const u8; C] = array_of(|i| columns.codes[(c + i) * depth..][..depth].as_ptr());
        let sums = &mut sums[c * V * LANES..][..C * V * LANES];
        let mut initial_from_zero = [0; 4 * VECTORS * LANES];
        if MIXED {
            let values = super::initial_sums([_mm512_setzero_si512(); D]);
            for (to, value) in initial_from_zero.chunks_exact_mut(V * LANES).zip(values) {
                for to in to.chunks_exact_mut(LANES) {
                    // SAFETY: the chunk has `LANES` elements.
                    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) };
                }
            }
        }
        for g in range {
            let initial = initial_sums[g * D * V * LANES..][..D * V * LANES].as_ptr();
            let mut inner = [[[_mm512_setzero_si512(); D]; C]; V];
            for (v, inner) in inner.iter_mut().enumerate() {
                for (i, inner) in inner.iter_mut().enumerate() {
                    let initial = if MIXED && !columns.uses_zero_point[c + i] {
                        initial_from_zero.as_ptr()
                    } else {
                        initial
                    };
                    for (limb, inner) in inner.iter_mut().enumerate() {
                        // SAFETY: there is a vector for each limb, of the group or of the shared initial values.
                        *inner = unsafe { _mm512_loadu_si512(initial.add((limb * V + v) * LANES).cast()) };
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
                for limb in 0..D {
                    for (v, inner) in inner.iter_mut().enumerate() {
                        // SAFETY: inside the limbs of the tile.
                        let x = unsafe {
                            let start = limbs.as_ptr().add(((four * D + limb) * V + v) * BYTES);
                            _mm512_loadu_si512(start.cast())
                        };
                        for (inner, &codes) in inner.iter_mut().zip(&codes) {
                            inner[limb] = _mm512_dpbusd_epi32(inner[limb], codes, x);
                        }
                    }
                }
            }
            for (v, inner) in inner.into_iter().enumerate() {
                let offset = (g * V + v) * LANES;
                // SAFETY: there is a vector for each group.
                let (limb_scale, x) = unsafe {
                    (
                        _mm512_loadu_ps(limb_scales[offset..].as_ptr()),
                        _mm512_loadu_ps(x_sums[offset..].as_ptr()),
                    )
                };
                for (i, inner) in inner.into_iter().enumerate() {
                    let sum = sums[(i * V + v) * LANES..][..LANES].as_mut_ptr();
                    let scale = _mm512_mul_ps(limb_scale, _mm512_set1_ps(scales[i * groups + g]));
                    let bias = _mm512_set1_ps(biases[i * groups + g]);
                    let pair = _mm512_add_epi32(_mm512_slli_epi32::<8>(inner[0]), inner[1]);
                    // SAFETY: `sum` points to `LANES` elements.
                    unsafe {
                        let with_bias = _mm512_fmadd_ps(bias, x, _mm512_loadu_ps(sum));
                        _mm512_storeu_ps(sum, _mm512_fmadd_ps(combine_limbs(pair, &inner), scale, with_bias));
                    }
                }
            }
        }
    }
}
