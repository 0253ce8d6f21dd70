//! Convolutions as matrix products: blocks of the im2col matrix times the weight.

use std::ops::Range;

use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_matmul::copy::pack;
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::{Beta, Matrix, Product};

use super::geometry::Geometry;
use super::im2col::Im2col;

/// Bytes of an im2col block, which should stay in L2.
pub(super) const BLOCK: usize = 512 << 10;
/// Maximum number of columns of a block.
const DEPTH: usize = 2048;
/// Minimum work in nanoseconds for which another thread pays.
pub(super) const NS_PER_JOB: f64 = 40_000.0;

/// The split of the work: rows and columns of the output per job, and terms of the sums per block.
struct Plan {
    height: usize,
    width: usize,
    depth: usize,
}

/// Number of threads that this many multiplications justify.
pub(super) fn threads_for<T: Multiply>(multiplications: f64) -> usize {
    ((multiplications / T::SPEED / NS_PER_JOB) as usize).clamp(1, num_threads())
}

/// Run jobs serially or on all threads.
pub(super) fn on_threads(threads: usize, jobs: usize, run: impl Fn(usize) + Sync) {
    if threads == 1 { (0..jobs).for_each(run) } else { parallel_for(jobs, run) }
}

/// Compute the convolution.
pub(super) fn forward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    weight: Source<T>,
    output: Target<T>,
) {
    let (rows, depth) = (geometry.rows(), geometry.depth());
    let size = depth * geometry.outputs;
    let plan = Plan::new::<T>(geometry, rows, depth);
    scratch::with(geometry.groups * size, |weights: &mut [T::Acc]| {
        for (group, weights) in weights.chunks_exact_mut(size).enumerate() {
            pack_weight(geometry, weight, group, weights);
        }
        let weights = &*weights;
        let (down, across) = (rows.div_ceil(plan.height), geometry.outputs.div_ceil(plan.width));
        parallel_for(geometry.groups * down * across, |job| {
            let (group, block) = (job / (down * across), job % (down * across));
            let (top, left) = (block / across * plan.height, block % across * plan.width);
            let columns = left..geometry.outputs.min(left + plan.width);
            let weights = &weights[group * size..][..size];
            let block = Block { geometry, group, rows: top..rows.min(top + plan.height), columns };
            block.compute(&Im2col::new(geometry, input, group), weights, plan.depth, output);
        });
    });
}

impl Plan {
    fn new<T: Multiply>(geometry: &Geometry, rows: usize, depth: usize) -> Plan {
        let depth_of_block = depth.div_ceil(depth.div_ceil(DEPTH));
        let fitting = (BLOCK / (depth_of_block * size_of::<T::Acc>())).clamp(64, 4096);
        let threads = threads_for::<T>(geometry.multiplications());
        // The same number of blocks for each thread, and enough rows in each to amortise the packing of the weight.
        let target_jobs =
            rows.div_ceil(fitting).max(if threads > 1 { (2 * threads).div_ceil(geometry.groups) } else { 1 });
        let target_jobs = if threads > 1 { target_jobs.next_multiple_of(threads) } else { target_jobs };
        let height = rows.div_ceil(target_jobs).max(32).min(rows);
        let blocks = geometry.groups * rows.div_ceil(height);
        let across = threads.div_ceil(blocks).min(geometry.outputs.div_ceil(64)).max(1);
        Plan { height, width: geometry.outputs.div_ceil(across), depth: depth_of_block }
    }
}

/// Pack the weight of a group as a matrix: rows are terms, columns are output channels.
fn pack_weight<T: Multiply>(geometry: &Geometry, weight: Source<T>, group: usize, to: &mut [T::Acc]) {
    let (inputs, outputs) = (geometry.inputs, geometry.outputs);
    let first = (group * outputs) as isize * geometry.weight.outer;
    for (tap, to) in to.chunks_exact_mut(inputs * outputs).enumerate() {
        let start = weight.at(geometry.weight_of(tap) + first);
        let of_tap = Matrix { start, rows: geometry.weight.channel, columns: geometry.weight.outer };
        pack(of_tap, inputs, outputs, to, outputs, T::widen);
    }
}

/// Some rows and columns of the output of one group.
struct Block<'a> {
    geometry: &'a Geometry,
    group: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Block<'_> {
    fn compute<T: Multiply>(&self, patches: &Im2col<T>, weights: &[T::Acc], depth: usize, output: Target<T>) {
        let Block { geometry, group, ref rows, ref columns } = *self;
        let (height, width) = (rows.len(), columns.len());
        let channel = (group * geometry.outputs + columns.start) as isize * geometry.output.channel;
        let in_place = geometry.output_row().filter(|_| T::DIRECT && geometry.output.channel == 1);
        let sums_size = if in_place.is_some() { 0 } else { height * width };
        scratch::with(height * depth + sums_size, |memory: &mut [T::Acc]| {
            let (block, sums) = memory.split_at_mut(height * depth);
            let (out, out_row) = match in_place {
                Some(distance) => {
                    let first = geometry.output_of(&geometry.row(rows.start));
                    (output.cast::<T::Acc>().at(first + channel), distance)
                }
                None => (sums.as_mut_ptr(), width as isize),
            };
            for from in (0..geometry.depth()).step_by(depth) {
                let terms = from..geometry.depth().min(from + depth);
                let k = terms.len();
                patches.fill(rows.clone(), terms, block);
                let right = &weights[from * geometry.outputs + columns.start..];
                T::multiply_acc(
                    &Product {
                        m: height,
                        n: width,
                        k,
                        a: Matrix { start: block.as_ptr(), rows: k as isize, columns: 1 },
                        b: Matrix { start: right.as_ptr(), rows: geometry.outputs as isize, columns: 1 },
                        out,
                        out_row,
                    },
                    if from == 0 { Beta::Zero } else { Beta::One },
                );
            }
            if in_place.is_none() {
                let mut row = geometry.row(rows.start);
                for sums in sums.chunks_exact(width) {
                    let first = geometry.output_of(&row) + channel;
                    for (i, &sum) in sums.iter().enumerate() {
                        // SAFETY: inside the output, in rows and columns that only this job writes.
                        unsafe { *output.at(first + i as isize * geometry.output.channel) = T::narrow(sum) };
                    }
                    geometry.advance(&mut row);
                }
            }
        });
    }
}
