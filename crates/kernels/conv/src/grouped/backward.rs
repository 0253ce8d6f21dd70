//! The weight gradient.

use std::ops::Range;

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_for;
use umber_kernels_matmul::multiply::Multiply;

use super::super::geometry::Geometry;
use super::registers::{Rows, prefetch, rotate_lanes, terms};
use super::walk::{TapRange, Walk, copy};
use super::{Plan, with_group};

/// Maximum size of the partial sums in bytes.
const PARTIAL: usize = 16 << 20;

/// Compute the weight gradient: the geometry's output is the cotangent, and its weight is the result.
pub(in super::super) fn backward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    cotangent: Source<T>,
    target: Target<T>,
) {
    let plan = &Plan::new::<T>(geometry);
    let size = plan.vectors * plan.terms();
    // Each job has its own partial sums.
    let jobs = plan.jobs().min(PARTIAL / (size * size_of::<T::Acc>())).max(1);
    let count = plan.count();
    scratch::with(jobs * size, |all: &mut [T::Acc]| {
        let sums = Target::over(all);
        parallel_for(jobs, |job| {
            let strips = count * job / jobs..count * (job + 1) / jobs;
            let (stage, cotangents) =
                if plan.copies_input { (plan.stage(), plan.outputs_per_strip * plan.width) } else { (0, 0) };
            // SAFETY: the sums of this job only.
            let sums = unsafe { std::slice::from_raw_parts_mut(sums.at((job * size) as isize), size) };
            sums.fill(T::Acc::ZERO);
            scratch::with(stage + cotangents, |memory: &mut [T::Acc]| {
                let memory = memory.split_at_mut(stage);
                with_widest::<T::Acc, _>(Job { plan, strips, input, cotangent, sums, memory });
            });
        });
        plan.store(all, target);
    });
}

/// Some strips.
struct Job<'a, T: Multiply> {
    plan: &'a Plan<'a>,
    strips: Range<usize>,
    input: Source<T>,
    cotangent: Source<T>,
    sums: &'a mut [T::Acc],
    /// Scratch for copies of the input and of the cotangent of a strip.
    memory: (&'a mut [T::Acc], &'a mut [T::Acc]),
}

impl<T: Multiply> VectorLoop<T::Acc> for Job<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T::Acc>, const FUSED: bool>(self) {
        with_group!(self.plan.geometry.inputs, size_of::<V>(), |N, R| self.strips::<V, FUSED, N, R>());
    }
}

impl<T: Multiply> Job<'_, T> {
    #[inline(always)]
    fn strips<V: Lanes<T::Acc>, const FUSED: bool, const N: usize, const R: usize>(self) {
        let Job { plan, strips, input, cotangent, sums, memory: (stage, copied) } = self;
        let (last, size, below) = (plan.last(), plan.terms(), plan.below());
        let mut walk = Walk::new(plan, TapRange::Outputs, strips.start);
        for _ in strips {
            let strip = walk.strip();
            let (from, column, cotangent_start, distance) = if plan.copies_input {
                walk.stage(strip, input, stage);
                for (r, to) in copied.chunks_exact_mut(plan.width).enumerate().take(strip.count) {
                    let from = cotangent.shifted(strip.output + r as isize * last.output_stride);
                    copy(plan, from, plan.geometry.output.channel, to);
                }
                let column = last.stride * plan.width as isize;
                (stage.as_ptr(), column, copied.as_ptr(), plan.width as isize)
            } else {
                let column = last.stride * last.input_stride;
                let from = input.cast::<T::Acc>().at(strip.input);
                (from, column, cotangent.cast::<T::Acc>().at(strip.output), last.output_stride)
            };
            for vector in strip.vectors.0..strip.vectors.1 {
                let channel = plan.start(vector);
                let rows = Rows { start: from.wrapping_add(channel), column, taps: walk.taps() };
                if !plan.copies_input {
                    if let Some(tap) = walk.taps().last() {
                        prefetch::<R, T::Acc>(rows.start.wrapping_offset(tap.input + below.0), column);
                    }
                    prefetch::<R, T::Acc>(
                        cotangent_start.wrapping_offset(below.1).wrapping_add(channel),
                        distance,
                    );
                }
                let sums = sums[vector * size..].as_mut_ptr();
                let mut cotangents = [[V::splat(T::Acc::ZERO); N]; R];
                for (r, rotations) in cotangents.iter_mut().enumerate() {
                    if r < strip.count {
                        // SAFETY: inside the cotangent or its copy, with all channels.
                        let unrotated: V = unsafe {
                            V::load(
                                cotangent_start.wrapping_offset(r as isize * distance).wrapping_add(channel),
                            )
                        };
                        for (n, rotated) in rotations.iter_mut().enumerate() {
                            *rotated = rotate_lanes::<T::Acc, V, N>(unrotated, N - n);
                        }
                    }
                }
                // SAFETY: the walk only returns taps inside the input or its copy, where all channels are readable; the sums
                // have space for all taps.
                unsafe { terms::<T::Acc, V, FUSED, N, R>(rows, &cotangents, sums) };
            }
            walk.advance();
        }
    }
}
