//! More rows by tiles of bytes (AMX): what the codes of 16 columns and the digits of 16 rows sum up to in a group is a tile for
//! each place.
//!
//! Codes are the left operand, a column in each row of a tile; digits are the right one, and lie as its tiles do.

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

/// The most columns of a job, whose codes stay in L2.
const STRIP: usize = 4 * SIDE;
/// The most places of digits.
const MAX_LIMBS: usize = 4;

/// Are there such tiles, and is the product of as many rows as to be worth them?
pub(super) fn is_suitable(product: &QGemm) -> bool {
    product.rows >= super::MIN_M_PARALLEL_ROWS && is_supported(TileType::Int8)
}

/// A product whose left rows are laid out.
struct Job<'a, const D: usize> {
    product: &'a QGemm<'a>,
    /// For each 16 rows and group: digits as the tiles of each step and place, what the middle of the codes makes of them
    /// ("beginnings") by place and row, units and sums by row.
    packed_rows: PackedRows<'a>,
}

/// Compute a product in affine mode; the unit must be there.
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

/// Lay out the left rows.
fn pack<const D: usize>(product: &QGemm, packed_rows: &mut PackedRows) {
    let QGemm { quantized, x, rows, .. } = *product;
    let (depth, groups, size) = (product.depth(), quantized.groups, quantized.format.group_size());
    let (limbs, zero_point_sums) = (Target::over(packed_rows.limbs), Target::over(packed_rows.initial_sums));
    let (limb_scales, sums) = (Target::over(packed_rows.limb_scales), Target::over(packed_rows.sums));
    parallel_ranges(rows.div_ceil(SIDE) * groups, 4, |range| {
        for i in range {
            let (block, g) = (i / groups, i % groups);
            let numbers =
                (block * SIDE..rows.min((block + 1) * SIDE)).map(|row| &x[row * depth + g * size..][..size]);
            let at = (i * SIDE) as isize;
            // SAFETY: the parts of these rows and this group, ours alone.
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
                || group.pack::<D>(quantized.format, numbers),
            );
        }
    });
}

/// A group of 16 rows, to be laid out.
struct Group<'a> {
    limbs: &'a mut [i8],
    zero_point_sums: &'a mut [i32],
    limb_scales: &'a mut [f32],
    sums: &'a mut [f32],
}

impl Group<'_> {
    /// Lay out some rows, with nothing in the other lanes.
    #[inline(always)]
    fn pack<'a, const D: usize>(self, format: Quantization, rows: impl Iterator<Item = &'a [f32]>) {
        let Group { limbs, zero_point_sums, limb_scales, sums } = self;
        let depth = tile_depth(format);
        limbs.fill(0);
        zero_point_sums.fill(0);
        limb_scales.fill(0.0);
        sums.fill(0.0);
        let mut limbs_of_group = [[0i8; LARGEST_GROUP]; D];
        for (lane, numbers) in rows.enumerate() {
            let (scale, limb_scale) = scale_of::<D>(format, numbers);
            (limb_scales[lane], sums[lane]) = (limb_scale, sum(numbers));
            let mut totals = [0; D];
            for (i, number) in numbers.iter().enumerate() {
                let mut rest = (number * scale).round_ties_even() as i32;
                for (limbs, total) in limbs_of_group.iter_mut().zip(&mut totals).rev() {
                    limbs[i] = rest as i8;
                    *total += i32::from(limbs[i]);
                    // The digit has a sign, so that what is left of it is rounded.
                    rest = rest.wrapping_add(128) >> 8;
                }
            }
            for (limb, (limbs_of_group, total)) in limbs_of_group.iter().zip(totals).enumerate() {
                zero_point_sums[limb * SIDE + lane] = i32::from(zero_point(format)) * total;
                for (step, part) in limbs_of_group[..numbers.len()].chunks_exact(depth).enumerate() {
                    let tile = &mut limbs[(step * D + limb) * depth * SIDE..][..depth * SIDE];
                    for (line, four) in tile.chunks_exact_mut(ROW).zip(part.as_chunks::<4>().0) {
                        line[lane * 4..][..4].copy_from_slice(four);
                    }
                }
            }
        }
    }
}

/// Sums of the products of 16 columns and 16 rows, by place, column and row.
#[repr(align(64))]
struct Sums([[[i32; SIDE]; SIDE]; MAX_LIMBS]);

/// Some columns of the matrix, ready to be multiplied.
struct Columns<'a> {
    /// For each, its codes, `stride` apart; for as many as tiles hold.
    codes: &'a [u8],
    stride: usize,
    /// For each, its scales.
    scales: &'a [f32],
    /// For each, its biases.
    biases: &'a [f32],
    /// Are its codes counted from their middle?
    uses_zero_point: &'a [bool],
}

impl<const D: usize> Job<'_, D> {
    /// Compute some columns.
    fn columns(&self, part: Range<usize>) {
        let QGemm { quantized, first, rows, columns: row_length, out, .. } = *self.product;
        let (depth, groups, count) = (self.product.depth(), quantized.groups, part.len());
        // Rows a power of two apart would compete for the same few places in the cache.
        let stride = depth + ROW;
        scratch::with(count.next_multiple_of(SIDE) * stride, |memory: &mut [u8]| {
            for (row, column) in memory.chunks_exact_mut(stride).zip(part.clone()) {
                codes(quantized.format, self.product.words(column), &mut row[..depth]);
            }
            scratch::with(count * (2 * groups + SIDE), |floats: &mut [f32]| {
                let (scales, floats) = floats.split_at_mut(count * groups);
                let (biases, sums) = floats.split_at_mut(count * groups);
                quantized.scales(first + part.start, 0, scales);
                quantized.biases(first + part.start, 0, biases);
                let mut uses_zero_point = [true; STRIP];
                for (c, uses_zero_point) in uses_zero_point[..count].iter_mut().enumerate() {
                    let part = c * groups..(c + 1) * groups;
                    *uses_zero_point =
                        apply_zero_point::<D>(quantized.format, &scales[part.clone()], &mut biases[part]);
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
                        for (sums, column) in sums.as_chunks::<SIDE>().0.iter().zip(part.clone()) {
                            // SAFETY: inside the output, in a column that this job alone writes.
                            unsafe { *out.at((row * row_length + column) as isize) = sums[lane] };
                        }
                    }
                }
            });
        });
    }

    /// Add what 16 rows make with some columns to the sums of each.
    #[inline(always)]
    fn block(&self, tiles: &Tiles, columns: &Columns, block: usize, sums: &mut [[f32; SIDE]]) {
        let (groups, size) = (self.product.quantized.groups, self.product.quantized.format.group_size());
        let steps = size / tile_depth(self.product.quantized.format);
        let mut found = Sums([[[0; SIDE]; SIDE]; MAX_LIMBS]);
        for g in 0..groups {
            let at = (block * groups + g) * SIDE;
            let limbs = &self.packed_rows.limbs[at * size * D..][..SIDE * size * D];
            let zero_point_sums = self.zero_point_sums(at);
            let (mut limb_scales, mut of_x) = ([0.0; SIDE], [0.0; SIDE]);
            limb_scales.copy_from_slice(&self.packed_rows.limb_scales[at..][..SIDE]);
            of_x.copy_from_slice(&self.packed_rows.sums[at..][..SIDE]);
            for (from, sums) in (0..).step_by(SIDE).zip(sums.chunks_mut(SIDE)) {
                let codes = &columns.codes[from * columns.stride..][..SIDE * columns.stride];
                let operands = Operands {
                    codes: codes[g * size..].as_ptr(),
                    stride: columns.stride,
                    limbs: limbs.as_ptr(),
                    tile: limbs.len() / (steps * D),
                    steps,
                };
                // SAFETY: a group of 16 columns and one of 16 rows, in tiles that the unit is configured for.
                unsafe {
                    match D {
                        3 => three(tiles, &operands, &mut found),
                        _ => four(tiles, &operands, &mut found),
                    }
                }
                for (i, sums) in sums.iter_mut().enumerate() {
                    let (c, at) = (from + i, (from + i) * groups + g);
                    let (scale, bias) = (columns.scales[at], columns.biases[at]);
                    let zero_point_sums =
                        if columns.uses_zero_point[c] { &zero_point_sums } else { &[[0; SIDE]; MAX_LIMBS] };
                    // By value, so that nothing could lie where something else does.
                    let (so_far, mut next) = (*sums, [0.0; SIDE]);
                    for lane in 0..SIDE {
                        let sum = |limb: usize| found.0[limb][i][lane];
                        let pair = ((sum(0) << 8) + sum(1) - zero_point_sums[1][lane]) as f32;
                        let with = |limb: usize, limb_scale: f32, value: f32| {
                            ((sum(limb) - zero_point_sums[limb][lane]) as f32).mul_add(limb_scale, value)
                        };
                        let mut value = with(2, 1.0 / 256.0, pair);
                        if D == MAX_LIMBS {
                            value = with(3, 1.0 / 65536.0, value);
                        }
                        let so_far = bias.mul_add(of_x[lane], so_far[lane]);
                        next[lane] = value.mul_add(limb_scales[lane] * scale, so_far);
                    }
                    *sums = next;
                }
            }
        }
    }

    /// What the middle of the codes makes of the digits of some group: of the first two places together, then of each.
    #[inline(always)]
    fn zero_point_sums(&self, at: usize) -> [[i32; SIDE]; MAX_LIMBS] {
        let found = self.packed_rows.initial_sums[at * D..][..SIDE * D].as_chunks::<SIDE>().0;
        let mut zero_point_sums = [[0; SIDE]; MAX_LIMBS];
        zero_point_sums[1..D].copy_from_slice(&found[1..]);
        for (pair, first) in zero_point_sums[1].iter_mut().zip(found[0]) {
            *pair += first << 8;
        }
        zero_point_sums
    }
}

/// What is multiplied, in tiles.
struct Operands {
    /// The codes of 16 columns, `stride` bytes apart.
    codes: *const u8,
    stride: usize,
    /// Digits: for each step, the tiles of all places, of so many bytes each.
    limbs: *const i8,
    tile: usize,
    steps: usize,
}

macro_rules! kernels {
    ($($name:ident: $([$sum:literal $limbs:literal $after:literal])*;)*) => {$(
        /// The sums of products of codes and digits in each place.
        ///
        /// # Safety
        /// The operands are readable, in as many steps, one at least, as tiles are configured for.
        unsafe fn $name(_: &Tiles, operands: &Operands, sums: &mut Sums) {
            // SAFETY: the caller's; the unit is configured, and compiled code keeps nothing in tiles.
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
    use super::super::tests::{check_largest_digits, check_products};
    use super::*;
    use umber_amx_emulator as emulator;

    #[test]
    fn products_by_tiles_are_as_good_as_in_float32() {
        emulator::install();
        let shapes = [[1, 1, 1], [3, 17, 2], [16, 70, 2], [17, 5, 3], [33, 33, 1]];
        for bits in [1, 2, 3, 4, 5, 6, 8] {
            check_products(bits, &shapes, [run::<3>, run::<4>]);
        }
    }

    #[test]
    fn sums_of_the_largest_digits_are_exact() {
        emulator::install();
        check_largest_digits(20, run::<3>);
        check_largest_digits(20, run::<4>);
    }

    #[test]
    fn products_go_through_tiles() {
        emulator::install();
        let before = emulator::emulated();
        check_largest_digits(1, run::<3>);
        assert!(emulator::emulated() > before || !emulator::is_emulating());
    }
}
