//! The derivative by the weight.

use std::ops::Range;

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_matmul::multiply::Multiply;

use super::super::boxes::{Output, OutputBox};
use super::super::geometry::Geometry;
use super::super::im2col_gemm::{on_threads, threads_for};
use super::super::panels::{ChannelMapping, Panel, Panels};
use super::super::registers::{self, most_vectors, with_rows};
use super::boxes;

/// Outputs whose terms are added in one go: their cotangents stay in L1.
const OUTPUTS: usize = 96;
/// A multiple of the terms that any block of registers holds.
const ROWS: usize = 24;
/// Bytes of partial sums at most.
const PARTIAL: usize = 64 << 20;

/// Compute the derivative: what the geometry calls its output is the cotangent, its weight is written.
pub(in super::super) fn backward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    cotangent: Source<T>,
    target: Target<T>,
) {
    let panels = Panels::new::<T>(geometry);
    let threads = threads_for::<T>(geometry.multiplications());
    let boxes = boxes::<T>(geometry, if threads == 1 { 1 } else { 4 * threads });
    // Threads share out the panels; where these are few, each sums over some of the boxes by itself.
    let depth = geometry.depth().next_multiple_of(ROWS);
    let size = depth * panels.lanes();
    let parts = panels.sharing.min(threads.div_ceil(panels.copies()));
    let down = threads.div_ceil(panels.copies() * parts).min(boxes.count());
    let down = down.min(PARTIAL / (size * size_of::<T::Acc>()).max(1)).max(1);
    scratch::with(down * size, |all: &mut [T::Acc]| {
        let sums = Target::over(all);
        let jobs = panels.copies() * parts * down;
        let run = |job: usize| {
            let (down_part, copy, part) = (job % down, job / down / parts, job / down % parts);
            let share = |part: usize| copy * panels.sharing + panels.sharing * part / parts;
            let which = share(part)..share(part + 1);
            let widest = panels.all[which.clone()].iter().map(|panel| panel.vectors).max().unwrap_or(0);
            let copied = boxes.positions() * panels.widest();
            scratch::with(copied + OUTPUTS * widest * panels.lanes, |memory: &mut [T::Acc]| {
                let (copied, cotangents) = memory.split_at_mut(copied);
                let job = Job {
                    panels: &panels,
                    which,
                    depth,
                    input,
                    cotangent,
                    sums: sums.shifted((down_part * size) as isize),
                };
                job.clear();
                for index in boxes.count() * down_part / down..boxes.count() * (down_part + 1) / down {
                    with_widest::<T::Acc, _>(OneBox {
                        job: &job,
                        output_box: boxes.output_box(index),
                        copied,
                        cotangents,
                    });
                }
            });
        };
        on_threads(threads, jobs, run);
        let add_up = |index: usize| {
            let panel = &panels.all[index];
            let from = panels.start(panel) * depth;
            let length = panels.width_of_outputs(panel) * geometry.depth();
            // SAFETY: the part of a panel in all sums, which this job alone uses.
            let part = |i: usize| unsafe {
                std::slice::from_raw_parts_mut(sums.at((i * size + from) as isize), length)
            };
            let total = part(0);
            for i in 1..down {
                total.iter_mut().zip(part(i)).for_each(|(sum, more)| *sum = T::Acc::plus(*sum, *more));
            }
            panels.store(panel, total, target);
        };
        on_threads(threads, panels.all.len(), add_up);
    });
}

/// Some panels.
struct Job<'a, T: Multiply> {
    panels: &'a Panels<'a>,
    which: Range<usize>,
    /// Terms that each sum has space for.
    depth: usize,
    input: Source<T>,
    cotangent: Source<T>,
    sums: Target<T::Acc>,
}

/// A box, and space for its copy and for some of its cotangents.
struct OneBox<'a, T: Multiply> {
    job: &'a Job<'a, T>,
    output_box: OutputBox<'a>,
    copied: &'a mut [T::Acc],
    cotangents: &'a mut [T::Acc],
}

impl<T: Multiply> VectorLoop<T::Acc> for OneBox<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T::Acc>, const FUSED: bool>(self) {
        let OneBox { job, output_box, copied, cotangents } = self;
        let panels = job.panels;
        let (outputs, taps) = (output_box.outputs(1), output_box.taps());
        for (i, panel) in panels.all[job.which.clone()].iter().enumerate() {
            if i == 0 {
                let to = (T::Acc::ZERO, &mut *copied);
                output_box.fill(
                    job.input,
                    panels.width(panel),
                    to,
                    #[inline(always)]
                    |input, run, to| panels.copy(panel, input, run, to),
                );
            }
            let terms = job.terms(panel, &taps);
            for outputs in outputs.chunks(OUTPUTS) {
                job.multiply::<V, FUSED>(panel, copied, outputs, &terms, cotangents);
            }
        }
    }
}

impl<T: Multiply> Job<'_, T> {
    fn clear(&self) {
        for panel in &self.panels.all[self.which.clone()] {
            self.part(panel).fill(T::Acc::ZERO);
        }
    }

    /// The sums of a panel.
    #[expect(clippy::mut_from_ref, reason = "a job has the sums of its panels and boxes to itself")]
    fn part(&self, panel: &Panel) -> &mut [T::Acc] {
        let start = self.sums.at((self.panels.start(panel) * self.depth) as isize);
        let length = self.panels.width_of_outputs(panel) * self.depth;
        // SAFETY: no other job has this panel and these boxes, and this one asks for them one after the other.
        unsafe { std::slice::from_raw_parts_mut(start, length) }
    }

    /// Where each term of the kernel lies after an output's first, and the last as often again as there is room.
    fn terms(&self, panel: &Panel, taps: &[usize]) -> Vec<usize> {
        let (width, term) = (self.panels.width(panel), self.panels.term(panel));
        let inputs = self.panels.geometry.inputs;
        let mut found = Vec::with_capacity(self.depth);
        found.extend(taps.iter().flat_map(|tap| (0..inputs).map(move |i| tap * width + i * term)));
        found.resize(self.depth, found[found.len() - 1]);
        found
    }

    /// Add what the terms meet in some outputs.
    #[inline(always)]
    fn multiply<V: Lanes<T::Acc>, const FUSED: bool>(
        &self,
        panel: &Panel,
        copied: &[T::Acc],
        outputs: &[Output],
        terms: &[usize],
        cotangents: &mut [T::Acc],
    ) {
        let stride = panel.vectors * V::COUNT;
        let channel = self.panels.geometry.output.channel;
        let from = self.cotangent.shifted(panel.first as isize * channel);
        let in_place = T::DIRECT && channel == 1 && panel.channels == stride;
        if !in_place {
            for (to, output) in cotangents.chunks_exact_mut(stride).zip(outputs) {
                let (to, rest) = to.split_at_mut(panel.channels);
                for (i, to) in to.iter_mut().enumerate() {
                    // SAFETY: inside the cotangent.
                    *to = unsafe { *from.at(output.offset + i as isize * channel) }.widen();
                }
                rest.fill(T::Acc::ZERO);
            }
        }
        let chunk = Chunk {
            copied: copied.as_ptr(),
            width: self.panels.width(panel),
            outputs,
            cotangents: if in_place { None } else { Some(&*cotangents) },
            from: from.cast::<T::Acc>(),
            terms,
            depth: self.panels.geometry.depth(),
        };
        let sums = Target::over(self.part(panel));
        if self.panels.mapping == ChannelMapping::Own {
            with_rows!(panel.vectors, most_vectors::<T::Acc, V>(), |R, C| blocks::<
                T::Acc,
                V,
                FUSED,
                true,
                R,
                C,
            >(&chunk, sums));
        } else {
            with_rows!(panel.vectors, most_vectors::<T::Acc, V>(), |R, C| blocks::<
                T::Acc,
                V,
                FUSED,
                false,
                R,
                C,
            >(&chunk, sums));
        }
    }
}

/// Some outputs of a box, and all terms of the kernel.
struct Chunk<'a, W> {
    copied: *const W,
    width: usize,
    outputs: &'a [Output],
    /// The outputs' cotangents, one after the other, unless they are read in place.
    cotangents: Option<&'a [W]>,
    from: Source<W>,
    terms: &'a [usize],
    /// How many terms there are, without those that only fill the last block.
    depth: usize,
}

/// Add them up, `R` terms at a time.
#[inline(always)]
fn blocks<W: Ring, V: Lanes<W>, const FUSED: bool, const OWN: bool, const R: usize, const C: usize>(
    chunk: &Chunk<W>,
    sums: Target<W>,
) {
    let stride = C * V::COUNT;
    for (block, terms) in chunk.terms.chunks_exact(R).take(chunk.depth.div_ceil(R)).enumerate() {
        let terms: [usize; R] = terms.try_into().expect("a chunk is that long");
        let to = sums.at((block * R * stride) as isize);
        let row = |output: &Output| chunk.copied.wrapping_add(output.position * chunk.width);
        // SAFETY: all terms of all outputs lie in the copy, their cotangents have all channels of the panel, and there
        // is space for sums of all terms.
        unsafe {
            match chunk.cotangents {
                Some(cotangents) => {
                    let pairs = chunk.outputs.iter().zip(cotangents.chunks_exact(stride));
                    let pairs = pairs.map(|(output, cotangent)| (row(output), cotangent.as_ptr()));
                    registers::terms::<W, V, FUSED, OWN, R, C>(pairs, terms, to);
                }
                None => {
                    let pairs =
                        chunk.outputs.iter().map(|output| (row(output), chunk.from.at(output.offset)));
                    registers::terms::<W, V, FUSED, OWN, R, C>(pairs, terms, to);
                }
            }
        }
    }
}
