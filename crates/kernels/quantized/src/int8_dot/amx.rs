//! Kernel for more rows on AMX tiles: for each group and limb, the sums of 16 columns and 16 rows are one tile.
//!
//! Codes are the left operand, with a column in each tile row. Limbs are the right operand, packed in the order of its tiles.

use std::arch::asm;
use std::ops::Range;
use std::slice::from_raw_parts_mut;

use umber_kernels_base::amx::{ROW, SIDE, TileType, Tiles, is_supported};
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_types::Quantization;

use super::packed_rows::PackedRows;
use super::{apply_zero_point, scale_of, sum, zero_point};
use crate::LARGEST_GROUP;
use crate::codes::codes;
use crate::qgemm::QGemm;

/// Maximum columns of a job; their codes stay in L2.
const STRIP: usize = 4 * SIDE;
/// Maximum number of limbs.
const MAX_LIMBS: usize = 4;

/// Whether the processor has AMX with int8 and the product has enough rows.
pub(super) fn is_suitable(product: &QGemm) -> bool {
    product.rows >= super::MIN_M_PARALLEL_ROWS && is_supported(TileType::Int8)
}

/// A product with packed left rows.
struct Job<'a, const D: usize> {
    product: &'a QGemm<'a>,
    /// For each 16 rows and group: limbs as the tiles of each step and limb, the zero point's sums (in place of initial sums)
    /// by limb and row, scales and sums by row.
    packed_rows: PackedRows<'a>,
}

/// Compute a product; the processor must have AMX.
pub(super) fn run<const D: usize>(product: &QGemm) {
    let (depth, groups, columns) = (product.depth(), product.quantized.groups, product.columns);
    let lanes = product.rows.next_multiple_of(SIDE);
    PackedRows::with(lanes * depth * D, lanes * groups * D, lanes * groups, |mut packed_rows| {
        pack::<D>(product, &mut packed_rows);
        let job = Job::<D> { product, packed_rows };
        let strip = columns.div_ceil(num_threads()).next_multiple_of(SIDE).min(STRIP);
        parallel_for(columns.div_ceil(strip), |i| job.columns(i * strip..columns.min((i + 1) * strip)));
    });
}

/// Bytes of a row or column in a tile.
fn tile_depth(format: Quantization) -> usize {
    format.group_size().min(ROW)
}

/// Pack the left rows.
fn pack<const D: usize>(product: &QGemm, packed_rows: &mut PackedRows) {
    let QGemm { quantized, x, rows, .. } = *product;
    let (depth, groups, size) = (product.depth(), quantized.groups, quantized.format.group_size());
    let (limbs, zero_point_sums) = (Target::over(packed_rows.limbs), Target::over(packed_rows.initial_sums));
    let (limb_scales, sums) = (Target::over(packed_rows.limb_scales), Target::over(packed_rows.sums));
    parallel_ranges(rows.div_ceil(SIDE) * groups, 4, |range| {
        for i in range {
            let (block, g) = (i / groups, i % groups);
            let groups_of_rows =
                (block * SIDE..rows.min((block + 1) * SIDE)).map(|row| &x[row * depth + g * size..][..size]);
            let at = (i * SIDE) as isize;
            // SAFETY: the parts of these rows and this group, which only this thread accesses.
            let group = unsafe {
                Group {
                    limbs: from_raw_parts_mut(limbs.at(at * (size * D) as isize), SIDE * size * D),
                    zero_point_sums: from_raw_parts_mut(zero_point_sums.at(at * D as isize), SIDE * D),
                    limb_scales: from_raw_parts_mut(limb_scales.at(at), SIDE),
                    sums: from_raw_parts_mut(sums.at(at), SIDE),
                }
            };
            vectorised(
                #[inline(always)]
                || group.pack::<D>(quantized.format, groups_of_rows),
            );
        }
    });
}

/// The packed parts of a group of 16 rows.
struct Group<'a> {
    limbs: &'a mut [i8],
    zero_point_sums: &'a mut [i32],
    limb_scales: &'a mut [f32],
    sums: &'a mut [f32],
}

impl Group<'_> {
    /// Pack some rows, with zeros in unused lanes.
    #[inline(always)]
    fn pack<'a, const D: usize>(self, format: Quantization, rows: impl Iterator<Item = &'a [f32]>) {
        let Group { limbs, zero_point_sums, limb_scales, sums } = self;
        let depth = tile_depth(format);
        limbs.fill(0);
        zero_point_sums.fill(0);
        limb_scales.fill(0.0);
        sums.fill(0.0);
        let mut limbs_of_group = [[0i8; LARGEST_GROUP]; D];
        for (lane, group) in rows.enumerate() {
            let (scale, limb_scale) = scale_of::<D>(format, group);
            (limb_scales[lane], sums[lane]) = (limb_scale, sum(group));
            let mut totals = [0; D];
            for (i, element) in group.iter().enumerate() {
                let mut remaining = (element * scale).round_ties_even() as i32;
                for (limbs, total) in limbs_of_group.iter_mut().zip(&mut totals).rev() {
                    limbs[i] = remaining as i8;
                    *total += i32::from(limbs[i]);
                    // The limb is signed, so the remaining bits are rounded up if it is negative.
                    remaining = remaining.wrapping_add(128) >> 8;
                }
            }
            for (limb, (limbs_of_group, total)) in limbs_of_group.iter().zip(totals).enumerate() {
                zero_point_sums[limb * SIDE + lane] = i32::from(zero_point(format)) * total;
                for (step, limbs_of_step) in limbs_of_group[..group.len()].chunks_exact(depth).enumerate() {
                    let tile = &mut limbs[(step * D + limb) * depth * SIDE..][..depth * SIDE];
                    for (line, four) in tile.chunks_exact_mut(ROW).zip(limbs_of_step.as_chunks::<4>().0) {
                        line[lane * 4..][..4].copy_from_slice(four);
                    }
                }
            }
        }
    }
}

/// Sums of the products of 16 columns and 16 rows, by limb, column and row.
#[repr(align(64))]
struct Sums([[[i32; SIDE]; SIDE]; MAX_LIMBS]);

/// Some columns of the matrix, prepared for the product.
struct Columns<'a> {
    /// The codes, `stride` bytes apart from column to column, with as many columns as fill the tiles.
    codes: &'a [u8],
    stride: usize,
    /// The scales, column by column.
    scales: &'a [f32],
    /// The biases, column by column, relative to the zero point where it is used.
    biases: &'a [f32],
    /// For each column, whether its codes are counted from the zero point.
    uses_zero_point: &'a [bool],
}

impl<const D: usize> Job<'_, D> {
    /// Compute some columns.
    fn columns(&self, column_range: Range<usize>) {
        let QGemm { quantized, first, rows, columns: row_length, out, .. } = *self.product;
        let (depth, groups, count) = (self.product.depth(), quantized.groups, column_range.len());
        // Padding by a row avoids conflict misses: columns a power of two apart would map to the same cache sets.
        let stride = depth + ROW;
        scratch::with(count.next_multiple_of(SIDE) * stride, |memory: &mut [u8]| {
            for (row, column) in memory.chunks_exact_mut(stride).zip(column_range.clone()) {
                codes(quantized.format, self.product.words(column), &mut row[..depth]);
            }
            scratch::with(count * (2 * groups + SIDE), |floats: &mut [f32]| {
                let (scales, floats) = floats.split_at_mut(count * groups);
                let (biases, sums) = floats.split_at_mut(count * groups);
                quantized.scales(first + column_range.start, 0, scales);
                quantized.biases(first + column_range.start, 0, biases);
                let mut uses_zero_point = [true; STRIP];
                for (c, uses_zero_point) in uses_zero_point[..count].iter_mut().enumerate() {
                    let range = c * groups..(c + 1) * groups;
                    *uses_zero_point =
                        apply_zero_point::<D>(quantized.format, &scales[range.clone()], &mut biases[range]);
                }
                let columns = Columns {
                    codes: memory,
                    stride,
                    scales,
                    biases,
                    uses_zero_point: &uses_zero_point[..count],
                };
                let tiles = Tiles::configure(tile_depth(quantized.format));
                for (block, start) in (0..rows).step_by(SIDE).enumerate() {
                    sums.fill(0.0);
                    vectorised(
                        #[inline(always)]
                        || self.block(&tiles, &columns, block, sums.as_chunks_mut().0),
                    );
                    for (lane, row) in (start..rows.min(start + SIDE)).enumerate() {
                        for (sums, column) in sums.as_chunks::<SIDE>().0.iter().zip(column_range.clone()) {
                            // SAFETY: inside the output, in a column that only this job writes.
                            unsafe { *out.at((row * row_length + column) as isize) = sums[lane] };
                        }
                    }
                }
            });
        });
    }

    /// Add the products of 16 rows with some columns to `sums`.
    #[inline(always)]
    fn block(&self, tiles: &Tiles, columns: &Columns, block: usize, sums: &mut [[f32; SIDE]]) {
        let (groups, size) = (self.product.quantized.groups, self.product.quantized.format.group_size());
        let steps = size / tile_depth(self.product.quantized.format);
        let mut products = Sums([[[0; SIDE]; SIDE]; MAX_LIMBS]);
        for g in 0..groups {
            let at = (block * groups + g) * SIDE;
            let limbs = &self.packed_rows.limbs[at * size * D..][..SIDE * size * D];
            let zero_point_sums = self.zero_point_sums(at);
            let (mut limb_scales, mut x_sums) = ([0.0; SIDE], [0.0; SIDE]);
            limb_scales.copy_from_slice(&self.packed_rows.limb_scales[at..][..SIDE]);
            x_sums.copy_from_slice(&self.packed_rows.sums[at..][..SIDE]);
            for (from, sums) in (0..).step_by(SIDE).zip(sums.chunks_mut(SIDE)) {
                let codes = &columns.codes[from * columns.stride..][..SIDE * columns.stride];
                let operands = Operands {
                    codes: codes[g * size..].as_ptr(),
                    stride: columns.stride,
                    limbs: limbs.as_ptr(),
                    tile: limbs.len() / (steps * D),
                    steps,
                };
                // SAFETY: the operands are a group of 16 columns and one of 16 rows, in tiles that the processor is
                // configured for.
                unsafe {
                    match D {
                        3 => three(tiles, &operands, &mut products),
                        _ => four(tiles, &operands, &mut products),
                    }
                }
                for (i, sums) in sums.iter_mut().enumerate() {
                    let (c, at) = (from + i, (from + i) * groups + g);
                    let (scale, bias) = (columns.scales[at], columns.biases[at]);
                    let zero_point_sums =
                        if columns.uses_zero_point[c] { &zero_point_sums } else { &[[0; SIDE]; MAX_LIMBS] };
                    // By value, so that the compiler can rule out aliasing.
                    let (previous, mut next) = (*sums, [0.0; SIDE]);
                    for lane in 0..SIDE {
                        let sum = |limb: usize| products.0[limb][i][lane];
                        let pair = ((sum(0) << 8) + sum(1) - zero_point_sums[1][lane]) as f32;
                        let with = |limb: usize, limb_scale: f32, value: f32| {
                            ((sum(limb) - zero_point_sums[limb][lane]) as f32).mul_add(limb_scale, value)
                        };
                        let mut value = with(2, 1.0 / 256.0, pair);
                        if D == MAX_LIMBS {
                            value = with(3, 1.0 / 65536.0, value);
                        }
                        let with_bias = bias.mul_add(x_sums[lane], previous[lane]);
                        next[lane] = value.mul_add(limb_scales[lane] * scale, with_bias);
                    }
                    *sums = next;
                }
            }
        }
    }

    /// The zero point times the sum of the limbs of a group: of the first two limbs together, then of each.
    #[inline(always)]
    fn zero_point_sums(&self, at: usize) -> [[i32; SIDE]; MAX_LIMBS] {
        let initial = self.packed_rows.initial_sums[at * D..][..SIDE * D].as_chunks::<SIDE>().0;
        let mut zero_point_sums = [[0; SIDE]; MAX_LIMBS];
        zero_point_sums[1..D].copy_from_slice(&initial[1..]);
        for (pair, first) in zero_point_sums[1].iter_mut().zip(initial[0]) {
            *pair += first << 8;
        }
        zero_point_sums
    }
}

/// The operands in the order of tiles.
struct Operands {
    /// The codes of 16 columns, `stride` bytes apart.
    codes: *const u8,
    stride: usize,
    /// Limbs: for each step one tile per limb, of `tile` bytes each.
    limbs: *const i8,
    tile: usize,
    steps: usize,
}

macro_rules! kernels {
    ($($name:ident: $([$sum:literal $limbs:literal $after:literal])*;)*) => {$(
        /// Compute the sums of products of codes and limbs, one tile per limb.
        ///
        /// # Safety
        ///
        /// The operands are readable, in at least one step of the configured tile size.
        unsafe fn $name(_: &Tiles, operands: &Operands, sums: &mut Sums) {
            // SAFETY: the caller guarantees the operands; tiles are configured, and compiled code keeps no values in them.
            unsafe {
                asm!(
                    $(concat!("tilezero ", $sum),)*
                    "2:",
                    "tileloadd tmm4, [{codes} + {stride}]",
                    $(
                        concat!("tileloadd ", $limbs, ", [{limbs} + {line}]"),
                        "add {limbs}, {tile}",
                        concat!("tdpbusd ", $sum, ", tmm4, ", $limbs),
                    )*
                    "add {codes}, {line}",
                    "dec {steps}",
                    "jnz 2b",
                    $(concat!("tilestored [{sums} + {line} + ", $after, "], ", $sum),)*
                    codes = inout(reg) operands.codes => _,
                    stride = in(reg) operands.stride,
                    limbs = inout(reg) operands.limbs => _,
                    tile = in(reg) operands.tile,
                    steps = inout(reg) operands.steps => _,
                    line = in(reg) ROW,
                    sums = in(reg) sums,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    )*};
}

kernels! {
    three: ["tmm0" "tmm6" 0] ["tmm1" "tmm7" 1024] ["tmm2" "tmm6" 2048];
    four: ["tmm0" "tmm6" 0] ["tmm1" "tmm7" 1024] ["tmm2" "tmm6" 2048] ["tmm3" "tmm7" 3072];
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::tests::{check_max_limbs, check_products};
    use super::*;
    use umber_amx_emulator as emulator;

    #[test]
    fn amx_products_are_as_accurate_as_in_float32() {
        emulator::install();
        let shapes = [[1, 1, 1], [3, 17, 2], [16, 70, 2], [17, 5, 3], [33, 33, 1]];
        for bits in [1, 2, 3, 4, 5, 6, 8] {
            check_products(bits, &shapes, [run::<3>, run::<4>]);
        }
    }

    #[test]
    fn sums_of_max_limbs_are_exact() {
        emulator::install();
        check_max_limbs(20, run::<3>);
        check_max_limbs(20, run::<4>);
    }

    #[test]
    fn products_use_amx_tiles() {
        emulator::install();
        let count_before = emulator::emulated();
        check_max_limbs(1, run::<3>);
        assert!(emulator::emulated() > count_before || !emulator::is_emulating());
    }
}
