//! The weight gradient as a matrix product: transposed im2col blocks times the cotangent.

use std::ops::Range;

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::{parallel_for, parallel_ranges};
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::{Beta, Matrix, Product};

use super::geometry::Geometry;
use super::im2col::Im2col;
use super::im2col_gemm::{BLOCK, threads_for};

/// Maximum size of the partial sums in bytes.
const PARTIAL: usize = 64 << 20;

/// Compute the weight gradient: the geometry's output is the cotangent, and its weight is the result.
pub(super) fn backward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    cotangent: Source<T>,
    target: Target<T>,
) {
    let Geometry { groups, outputs, .. } = *geometry;
    let (rows, depth) = (geometry.rows(), geometry.depth());
    let size = groups * depth * outputs;
    let threads = threads_for::<T>(geometry.multiplications());
    // Threads split the terms of the kernel; if there are too few, they also split the rows and keep partial sums.
    let across = threads.div_ceil(groups).min(depth.div_ceil(64));
    let down = threads.div_ceil(groups * across).min(rows.div_ceil(64));
    let down = down.min(PARTIAL / (size * size_of::<T::Acc>()).max(1)).max(1);
    scratch::with(down * size, |sums: &mut [T::Acc]| {
        let all = Target::over(sums);
        parallel_for(groups * across * down, |job| {
            let (group, block) = (job % groups, job / groups);
            let (column, row) = (block % across, block / across);
            let terms = depth * column / across..depth * (column + 1) / across;
            let rows = rows * row / down..rows * (row + 1) / down;
            let offset = row * size + (group * depth + terms.start) * outputs;
            let block = Block { geometry, group, rows, terms };
            block.sum(&Im2col::new(geometry, input, group), cotangent, all.shifted(offset as isize));
        });
        store(geometry, sums, size, target);
    });
}

/// Some rows and columns of the im2col matrix of a group.
struct Block<'a> {
    geometry: &'a Geometry,
    group: usize,
    rows: Range<usize>,
    terms: Range<usize>,
}

impl Block<'_> {
    /// Compute the sums of these terms over these rows.
    fn sum<T: Multiply>(&self, patches: &Im2col<T>, cotangent: Source<T>, sums: Target<T::Acc>) {
        let Block { geometry, group, ref rows, ref terms } = *self;
        let (outputs, width) = (geometry.outputs, terms.len());
        let height = (BLOCK / (width * size_of::<T::Acc>()).max(1)).clamp(32, 1024).min(rows.len());
        let channel = (group * outputs) as isize * geometry.output.channel;
        let in_place = geometry.output_row().filter(|_| T::DIRECT && geometry.output.channel == 1);
        let copy_size = if in_place.is_some() { 0 } else { height * outputs };
        scratch::with(height * width + copy_size, |memory: &mut [T::Acc]| {
            let (block, right) = memory.split_at_mut(height * width);
            for top in rows.clone().step_by(height) {
                let rows_here = top..rows.end.min(top + height);
                let k = rows_here.len();
                patches.fill(rows_here.clone(), terms.clone(), block);
                let b = match in_place {
                    Some(distance) => {
                        let first = geometry.output_of(&geometry.row(top)) + channel;
                        let start = cotangent.cast::<T::Acc>().at(first);
                        Matrix { start, rows: distance, columns: 1 }
                    }
                    None => {
                        copy_rows(geometry, rows_here, cotangent.shifted(channel), right);
                        Matrix { start: right.as_ptr(), rows: outputs as isize, columns: 1 }
                    }
                };
                let a = Matrix { start: block.as_ptr(), rows: 1, columns: width as isize };
                let out = sums.at(0);
                T::multiply_acc(
                    &Product { m: width, n: outputs, k, a, b, out, out_row: outputs as isize },
                    if top == rows.start { Beta::Zero } else { Beta::One },
                );
            }
        });
    }
}

/// Copy rows of one group of the cotangent, widened to the accumulator type.
fn copy_rows<T: Multiply>(geometry: &Geometry, rows: Range<usize>, from: Source<T>, to: &mut [T::Acc]) {
    let mut row = geometry.row(rows.start);
    for line in to.chunks_exact_mut(geometry.outputs).take(rows.len()) {
        let first = geometry.output_of(&row);
        for (i, to) in line.iter_mut().enumerate() {
            // SAFETY: inside the cotangent.
            *to = unsafe { *from.at(first + i as isize * geometry.output.channel) }.widen();
        }
        geometry.advance(&mut row);
    }
}

/// Add the partial sums and write them to the weight's layout: group, term, output channel.
pub(super) fn store<T: Multiply>(geometry: &Geometry, sums: &[T::Acc], size: usize, target: Target<T>) {
    let Geometry { groups, inputs, outputs, .. } = *geometry;
    let taps = geometry.taps();
    parallel_ranges(groups * taps, (1 << 14) / (inputs * outputs).max(1), |range| {
        for index in range {
            let (group, tap) = (index / taps, index % taps);
            let tap_offset = geometry.weight_of(tap);
            for i in 0..inputs {
                for o in 0..outputs {
                    let at = (index * inputs + i) * outputs + o;
                    let partials = sums.chunks_exact(size).map(|partial| partial[at]);
                    let sum = partials.reduce(T::Acc::plus).unwrap_or(T::Acc::ZERO);
                    let offset = tap_offset
                        + (group * outputs + o) as isize * geometry.weight.outer
                        + i as isize * geometry.weight.channel;
                    // SAFETY: inside the output, an element that only this range writes.
                    unsafe { *target.at(offset) = T::narrow(sum) };
                }
            }
        }
    });
}
