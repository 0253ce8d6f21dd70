//! 1-D convolutions of one channel with stride 1: a matrix-vector product whose matrix is a sliding window over the line.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_for;
use umber_kernels_matmul::gemv;
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::{Beta, Matrix, Product};

use super::geometry::Geometry;
use super::im2col_gemm::threads_for;

/// Minimum number of outputs computed together.
const LENGTH: usize = 4096;

/// Whether this kernel applies.
pub(super) fn is_applicable(geometry: &Geometry) -> bool {
    let single = geometry.inputs == 1 && geometry.outputs == 1;
    single && matches!(geometry.axes[..], [axis] if axis.stride == 1 && axis.taps > 1)
}

/// Compute the convolution.
pub(super) fn forward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    weight: Source<T>,
    output: Target<T>,
) {
    let axis = geometry.axes[0];
    let reach = (axis.taps - 1) * axis.dilation.unsigned_abs();
    let length = LENGTH.max(reach).min(axis.outputs);
    let blocks = axis.outputs.div_ceil(length);
    let total = geometry.batch * geometry.groups * blocks;
    let threads = threads_for::<T>(geometry.rows() as f64 * (geometry.groups * axis.taps) as f64);
    let jobs = if threads == 1 { 1 } else { (4 * threads).min(total) };
    parallel_for(jobs, |job| {
        scratch::with(axis.taps + 2 * length + reach, |memory: &mut [T::Acc]| {
            let (weights, memory) = memory.split_at_mut(axis.taps);
            let (sums, line) = memory.split_at_mut(length);
            for index in total * job / jobs..total * (job + 1) / jobs {
                let (lane, from) = (index / blocks, index % blocks * length);
                let (batch, group) = ((lane / geometry.groups) as isize, (lane % geometry.groups) as isize);
                let count = length.min(axis.outputs - from);
                for (tap, to) in weights.iter_mut().enumerate() {
                    let at = geometry.weight_of(tap) + group * geometry.weight.outer;
                    // SAFETY: the tap and the group are inside the weight.
                    *to = unsafe { *weight.at(at) }.widen();
                }
                let start =
                    geometry.input.start + batch * geometry.input.outer + group * geometry.input.channel;
                let first = axis.first + from as isize;
                for (i, to) in line[..count + reach].iter_mut().enumerate() {
                    let at = first + i as isize;
                    *to = if at >= 0 && at < axis.input as isize {
                        // SAFETY: `at` was checked against the bounds of the axis.
                        unsafe { *input.at(start + at * axis.input_stride) }.widen()
                    } else {
                        T::Acc::ZERO
                    };
                }
                let row = Matrix { start: weights.as_ptr(), rows: 0, columns: 1 };
                let windows = Matrix { start: line.as_ptr(), rows: axis.dilation, columns: 1 };
                let out = sums.as_mut_ptr();
                let product = Product {
                    m: 1,
                    n: count,
                    k: axis.taps,
                    a: row,
                    b: windows,
                    out,
                    out_row: count as isize,
                };
                gemv::product(&product, Beta::Zero);
                let to =
                    geometry.output.start + batch * geometry.output.outer + group * geometry.output.channel;
                for (i, &sum) in sums[..count].iter().enumerate() {
                    let at = to + (from + i) as isize * axis.output_stride;
                    // SAFETY: inside the output, in a segment that only this job writes.
                    unsafe { *output.at(at) = T::narrow(sum) };
                }
            }
        });
    });
}
