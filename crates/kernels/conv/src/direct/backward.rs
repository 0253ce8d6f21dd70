//! The weight gradient.

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

/// Number of outputs accumulated in one pass; their cotangents stay in L1.
const OUTPUTS: usize = 96;
/// A multiple of the rows of every register block.
const ROWS: usize = 24;
/// Maximum size of the partial sums in bytes.
const PARTIAL: usize = 64 << 20;

/// Compute the weight gradient: the geometry's output is the cotangent, and its weight is the result.
pub(in super::super) fn backward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    cotangent: Source<T>,
    target: Target<T>,
) {
    let panels = Panels::new::<T>(geometry);
    let threads = threads_for::<T>(geometry.multiplications());
    let boxes = boxes::<T>(geometry, if threads == 1 { 1 } else { 4 * threads });
    // Threads split the panels; if there are too few, they also split the boxes and keep partial sums.
    let depth = geometry.depth().next_multiple_of(ROWS);
    let size = depth * panels.padded_channels();
    let panel_chunks = panels.per_copy.min(threads.div_ceil(panels.copies()));
    let box_chunks = threads.div_ceil(panels.copies() * panel_chunks).min(boxes.count());
    let box_chunks = box_chunks.min(PARTIAL / (size * size_of::<T::Acc>()).max(1)).max(1);
    scratch::with(box_chunks * size, |all: &mut [T::Acc]| {
        let sums = Target::over(all);
        let jobs = panels.copies() * panel_chunks * box_chunks;
        let run = |job: usize| {
            let (box_chunk, copy, panel_chunk) =
                (job % box_chunks, job / box_chunks / panel_chunks, job / box_chunks % panel_chunks);
            let share =
                |panel_chunk: usize| copy * panels.per_copy + panels.per_copy * panel_chunk / panel_chunks;
            let panel_range = share(panel_chunk)..share(panel_chunk + 1);
            let widest = panels.all[panel_range.clone()].iter().map(|panel| panel.vectors).max().unwrap_or(0);
            let copied = boxes.positions() * panels.widest();
            scratch::with(copied + OUTPUTS * widest * panels.lanes, |memory: &mut [T::Acc]| {
                let (copied, cotangents) = memory.split_at_mut(copied);
                let job = Job {
                    panels: &panels,
                    panel_range,
                    depth,
                    input,
                    cotangent,
                    sums: sums.shifted((box_chunk * size) as isize),
                };
                job.clear();
                for index in
                    boxes.count() * box_chunk / box_chunks..boxes.count() * (box_chunk + 1) / box_chunks
                {
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
            // SAFETY: the partial sums of one panel, which only this job accesses.
            let partial = |i: usize| unsafe {
                std::slice::from_raw_parts_mut(sums.at((i * size + from) as isize), length)
            };
            let total = partial(0);
            for i in 1..box_chunks {
                total.iter_mut().zip(partial(i)).for_each(|(sum, more)| *sum = T::Acc::plus(*sum, *more));
            }
            panels.store(panel, total, target);
        };
        on_threads(threads, panels.all.len(), add_up);
    });
}

/// Some panels of some boxes.
struct Job<'a, T: Multiply> {
    panels: &'a Panels<'a>,
    panel_range: Range<usize>,
    /// Number of terms of each panel's sums, padded to a multiple of `ROWS`.
    depth: usize,
    input: Source<T>,
    cotangent: Source<T>,
    sums: Target<T::Acc>,
}

/// A box, with scratch for its copy and for the cotangents of some outputs.
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
        for (i, panel) in panels.all[job.panel_range.clone()].iter().enumerate() {
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
        for panel in &self.panels.all[self.panel_range.clone()] {
            self.sums_of(panel).fill(T::Acc::ZERO);
        }
    }

    /// The sums of a panel.
    #[expect(clippy::mut_from_ref, reason = "a job has the sums of its panels and boxes to itself")]
    fn sums_of(&self, panel: &Panel) -> &mut [T::Acc] {
        let start = self.sums.at((self.panels.start(panel) * self.depth) as isize);
        let length = self.panels.width_of_outputs(panel) * self.depth;
        // SAFETY: no other job has this panel and these boxes, and this job holds one such slice at a time.
        unsafe { std::slice::from_raw_parts_mut(start, length) }
    }

    /// Offset of each term from an output's first; the last is repeated up to the padded depth.
    fn terms(&self, panel: &Panel, taps: &[usize]) -> Vec<usize> {
        let (width, term) = (self.panels.width(panel), self.panels.term(panel));
        let inputs = self.panels.geometry.inputs;
        let mut offsets = Vec::with_capacity(self.depth);
        offsets.extend(taps.iter().flat_map(|tap| (0..inputs).map(move |i| tap * width + i * term)));
        offsets.resize(self.depth, offsets[offsets.len() - 1]);
        offsets
    }

    /// Accumulate the terms over some outputs.
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
                let (to, padding) = to.split_at_mut(panel.channels);
                for (i, to) in to.iter_mut().enumerate() {
                    // SAFETY: inside the cotangent.
                    *to = unsafe { *from.at(output.offset + i as isize * channel) }.widen();
                }
                padding.fill(T::Acc::ZERO);
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
        let sums = Target::over(self.sums_of(panel));
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
    /// The outputs' cotangents, contiguous in scratch, unless they are read in place.
    cotangents: Option<&'a [W]>,
    from: Source<W>,
    terms: &'a [usize],
    /// Number of terms, without the repeated ones at the end.
    depth: usize,
}

/// Accumulate `R` terms at a time.
#[inline(always)]
fn blocks<W: Ring, V: Lanes<W>, const FUSED: bool, const OWN: bool, const R: usize, const C: usize>(
    chunk: &Chunk<W>,
    sums: Target<W>,
) {
    let stride = C * V::COUNT;
    for (block, terms) in chunk.terms.chunks_exact(R).take(chunk.depth.div_ceil(R)).enumerate() {
        let terms: [usize; R] = terms.try_into().expect("chunks have R terms");
        let to = sums.at((block * R * stride) as isize);
        let row = |output: &Output| chunk.copied.wrapping_add(output.position * chunk.width);
        // SAFETY: all terms of all outputs lie in the copy, their cotangents have all channels of the panel, and there is
        // space for the sums of all terms.
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
