//! The forward convolution.

use std::ops::Range;

use umber_kernels_base::lanes::{Lanes, VectorLoop, with_widest};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_for;
use umber_kernels_matmul::multiply::Multiply;

use super::super::geometry::Geometry;
use super::registers::{Rows, outputs, prefetch};
use super::walk::{TapRange, Walk};
use super::{Plan, with_group};

/// Compute the convolution.
pub(in super::super) fn forward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    weight: Source<T>,
    output: Target<T>,
) {
    let plan = &Plan::new::<T>(geometry);
    let (count, jobs) = (plan.count(), plan.jobs());
    scratch::with(plan.vectors * plan.terms(), |weights: &mut [T::Acc]| {
        plan.pack(weight, weights);
        let weights = &*weights;
        parallel_for(jobs, |job| {
            let strips = count * job / jobs..count * (job + 1) / jobs;
            let (stage, sums) =
                if plan.copies_input { (plan.stage(), plan.outputs_per_strip * plan.width) } else { (0, 0) };
            scratch::with(stage + sums, |memory: &mut [T::Acc]| {
                let memory = memory.split_at_mut(stage);
                with_widest::<T::Acc, _>(Job { plan, strips, weights, input, output, memory });
            });
        });
    });
}

/// Some strips.
struct Job<'a, T: Multiply> {
    plan: &'a Plan<'a>,
    strips: Range<usize>,
    weights: &'a [T::Acc],
    input: Source<T>,
    output: Target<T>,
    /// Scratch for copies of the input and of the output of a strip.
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
        let Job { plan, strips, weights, input, output, memory: (stage, sums) } = self;
        let (last, terms, below) = (plan.last(), plan.terms(), plan.below());
        let mut walk = Walk::new(plan, TapRange::Strip, strips.start);
        for _ in strips {
            let strip = walk.strip();
            let (from, column, to, distance) = if plan.copies_input {
                walk.stage(strip, input, stage);
                let column = last.stride * plan.width as isize;
                (stage.as_ptr(), column, sums.as_mut_ptr(), plan.width as isize)
            } else {
                let column = last.stride * last.input_stride;
                let from = input.cast::<T::Acc>().at(strip.input);
                (from, column, output.cast::<T::Acc>().at(strip.output), last.output_stride)
            };
            for vector in strip.vectors.0..strip.vectors.1 {
                let channel = plan.start(vector);
                let rows = Rows { start: from.wrapping_add(channel), column, taps: walk.taps() };
                let weights = weights[vector * terms..].as_ptr();
                if !plan.copies_input {
                    if let Some(tap) = walk.taps().last() {
                        prefetch::<R, T::Acc>(rows.start.wrapping_offset(tap.input + below.0), column);
                    }
                    prefetch::<R, T::Acc>(to.wrapping_offset(below.1).wrapping_add(channel), distance);
                }
                // SAFETY: the walk only returns taps inside the input or its copy, where all channels are readable; the
                // weights are those of all taps.
                let results = unsafe { outputs::<T::Acc, V, FUSED, N, R>(rows, weights) };
                for (r, result) in results.into_iter().enumerate() {
                    let offset = r as isize * distance + channel as isize;
                    if r < strip.count {
                        // SAFETY: inside the output or its copy, in a strip that only this job writes.
                        unsafe { result.store(to.wrapping_offset(offset)) };
                    }
                }
            }
            if plan.copies_input {
                let channel = plan.geometry.output.channel;
                for (r, sums) in sums.chunks_exact(plan.width).enumerate().take(strip.count) {
                    let to = output.shifted(strip.output + r as isize * last.output_stride);
                    for (i, &sum) in sums[..plan.channels()].iter().enumerate() {
                        // SAFETY: inside the output, in a strip that only this job writes.
                        unsafe { *to.at(i as isize * channel) = T::narrow(sum) };
                    }
                }
            }
            walk.advance();
        }
    }
}
