//! The forward convolution.

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

/// Number of terms accumulated in one pass; their weights stay in L1 and L2.
const TERMS: usize = 384;
/// A multiple of the rows of every register block.
const ROWS: usize = 24;

/// Compute the convolution.
pub(in super::super) fn forward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    weight: Source<T>,
    output: Target<T>,
) {
    let panels = Panels::new::<T>(geometry);
    let threads = threads_for::<T>(geometry.multiplications());
    let target_boxes = if threads == 1 { 1 } else { (4 * threads).div_ceil(panels.copies()) };
    let boxes = boxes::<T>(geometry, target_boxes);
    let panel_chunks = panels.per_copy.min(threads.div_ceil(panels.copies() * boxes.count()));
    scratch::with(geometry.depth() * panels.padded_channels(), |weights: &mut [T::Acc]| {
        panels.pack(weight, weights);
        let weights = &*weights;
        let jobs = panels.copies() * boxes.count() * panel_chunks;
        let run = |job: usize| {
            let (copy, panel_chunk) = (job / panel_chunks % panels.copies(), job % panel_chunks);
            let first = copy * panels.per_copy;
            let share = |panel_chunk: usize| first + panels.per_copy * panel_chunk / panel_chunks;
            let output_box = boxes.output_box(job / panel_chunks / panels.copies());
            let panel_range = share(panel_chunk)..share(panel_chunk + 1);
            let widest = panels.all[panel_range.clone()].iter().map(|panel| panel.vectors).max().unwrap_or(0);
            let (outputs, taps) = (output_box.outputs(ROWS), output_box.taps());
            let copied = boxes.positions() * panels.widest();
            scratch::with(copied + outputs.len() * widest * panels.lanes, |memory: &mut [T::Acc]| {
                let memory = memory.split_at_mut(copied);
                let panels = &panels;
                with_widest::<T::Acc, _>(Job {
                    panels,
                    panel_range,
                    output_box,
                    outputs,
                    taps,
                    weights,
                    input,
                    output,
                    memory,
                });
            });
        };
        on_threads(threads, jobs, run);
    });
}

/// Some panels of a box.
struct Job<'a, T: Multiply> {
    panels: &'a Panels<'a>,
    panel_range: Range<usize>,
    output_box: OutputBox<'a>,
    /// The outputs of the box; the last is repeated up to a multiple of `ROWS`.
    outputs: Vec<Output>,
    /// Offset of each tap from the first.
    taps: Vec<usize>,
    weights: &'a [T::Acc],
    input: Source<T>,
    output: Target<T>,
    /// Scratch for the copy of the input, and for the sums of a panel.
    memory: (&'a mut [T::Acc], &'a mut [T::Acc]),
}

impl<T: Multiply> VectorLoop<T::Acc> for Job<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T::Acc>, const FUSED: bool>(self) {
        let Job { panels, memory: (copied, sums), .. } = self;
        let job = Context { panels, output_box: &self.output_box, output: self.output };
        for (i, panel) in panels.all[self.panel_range].iter().enumerate() {
            if i == 0 {
                let to = (T::Acc::ZERO, &mut *copied);
                self.output_box.fill(
                    self.input,
                    panels.width(panel),
                    to,
                    #[inline(always)]
                    |input, run, to| panels.copy(panel, input, run, to),
                );
            }
            let weights = panels.slice(panel, panels.geometry.depth(), self.weights);
            let terms = Terms::new(panels, panel, &self.taps);
            let task = Task { panel, copied, weights, outputs: &self.outputs, terms: &terms };
            if panels.mapping == ChannelMapping::Own {
                job.multiply::<V, FUSED, true>(&task, sums);
            } else {
                job.multiply::<V, FUSED, false>(&task, sums);
            }
        }
    }
}

/// The terms of the kernel: `run` consecutive terms from each offset in `taps`.
struct Terms {
    taps: Vec<usize>,
    run: usize,
}

impl Terms {
    fn new(panels: &Panels, panel: &Panel, taps: &[usize]) -> Terms {
        let (width, term) = (panels.width(panel), panels.term(panel));
        let last = panels.geometry.axes.last().map_or(1, |axis| axis.taps);
        // The taps of the last axis form one run if their positions are contiguous.
        let merged = if last > 1 && taps[1] == 1 { last } else { 1 };
        let taps = taps.iter().step_by(merged).map(|tap| tap * width).collect();
        Terms { taps, run: merged * width / term }
    }
}

/// The computation of one panel of a box.
struct Task<'a, W> {
    panel: &'a Panel,
    copied: &'a [W],
    weights: &'a [W],
    outputs: &'a [Output],
    terms: &'a Terms,
}

/// Where the sums are stored.
struct Context<'a, T> {
    panels: &'a Panels<'a>,
    output_box: &'a OutputBox<'a>,
    output: Target<T>,
}

impl<T: Multiply> Context<'_, T> {
    /// Accumulate the products chunk by chunk, and write the sums.
    #[inline(always)]
    fn multiply<V: Lanes<T::Acc>, const FUSED: bool, const OWN: bool>(
        &self,
        task: &Task<T::Acc>,
        sums: &mut [T::Acc],
    ) {
        let (panels, panel) = (self.panels, task.panel);
        let (Terms { taps, run }, term) = (task.terms, panels.term(panel));
        let stride = panel.vectors * V::COUNT;
        let channel = panels.geometry.output.channel;
        let in_place = T::DIRECT && channel == 1 && panel.channels == stride;
        let out = self.output.shifted(panel.first as isize * channel);
        let target =
            SumTarget { out: in_place.then(|| out.cast::<T::Acc>()), sums: Target::over(sums), stride };
        // A chunk has several whole taps, or a segment of one long tap.
        let (taps_per_chunk, segments) = ((TERMS / run).clamp(1, taps.len()), run.div_ceil(TERMS));
        let count = self.output_box.count();
        let mut done = 0;
        for taps in taps.chunks(taps_per_chunk) {
            for segment in 0..segments {
                let (from, to) = (run * segment / segments, run * (segment + 1) / segments);
                let weights = &task.weights[done * stride..][..taps.len() * (to - from) * stride];
                let chunk = Chunk {
                    start: task.copied[from * term..].as_ptr(),
                    width: panels.width(panel),
                    taps,
                    run: to - from,
                    weights: weights.as_ptr(),
                    outputs: task.outputs,
                    count,
                    fresh: done == 0,
                };
                with_rows!(panel.vectors, most_vectors::<T::Acc, V>(), |R, C| blocks::<
                    T::Acc,
                    V,
                    FUSED,
                    OWN,
                    R,
                    C,
                >(
                    &chunk, target
                ));
                done += taps.len() * (to - from);
            }
        }
        if !in_place {
            for (sums, to) in sums.chunks_exact(stride).zip(task.outputs).take(count) {
                for (i, &sum) in sums[..panel.channels].iter().enumerate() {
                    // SAFETY: inside the output, in a box and channels that only this job writes.
                    unsafe { *out.at(to.offset + i as isize * channel) = T::narrow(sum) };
                }
            }
        }
    }
}

/// Where the sums of each output are kept: in the output itself, or contiguously in scratch.
#[derive(Clone, Copy)]
struct SumTarget<W> {
    out: Option<Target<W>>,
    sums: Target<W>,
    stride: usize,
}

/// Some terms of all sums of a box.
struct Chunk<'a, W> {
    start: *const W,
    width: usize,
    taps: &'a [usize],
    run: usize,
    weights: *const W,
    outputs: &'a [Output],
    /// Number of outputs, without the repeated ones at the end.
    count: usize,
    fresh: bool,
}

/// Accumulate a chunk for `R` outputs at a time.
#[inline(always)]
fn blocks<W: Ring, V: Lanes<W>, const FUSED: bool, const OWN: bool, const R: usize, const C: usize>(
    chunk: &Chunk<W>,
    target: SumTarget<W>,
) {
    for (block, outputs) in chunk.outputs.chunks_exact(R).take(chunk.count.div_ceil(R)).enumerate() {
        let (mut rows, mut to) = ([chunk.start; R], [target.sums.at(0); R]);
        for (r, output) in outputs.iter().enumerate() {
            rows[r] = chunk.start.wrapping_add(output.position * chunk.width);
            to[r] = match target.out {
                Some(out) => out.at(output.offset),
                None => target.sums.at(((block * R + r) * target.stride) as isize),
            };
        }
        // SAFETY: all taps of all outputs lie in the copy, there are as many weights as terms, and each target has space for
        // all channels of the panel. Repeated outputs at the end have valid pointers, too.
        unsafe {
            registers::outputs::<W, V, FUSED, OWN, R, C>(
                rows,
                chunk.taps,
                chunk.run,
                chunk.weights,
                to,
                chunk.fresh,
            );
        }
    }
}
