//! The convolution itself.

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

/// Terms of sums that are added in one go: the weights of as many stay in the nearer caches.
const TERMS: usize = 384;
/// A multiple of the outputs that any block of registers holds.
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
    let wanted = if threads == 1 { 1 } else { (4 * threads).div_ceil(panels.copies()) };
    let boxes = boxes::<T>(geometry, wanted);
    let parts = panels.sharing.min(threads.div_ceil(panels.copies() * boxes.count()));
    scratch::with(geometry.depth() * panels.lanes(), |weights: &mut [T::Acc]| {
        panels.pack(weight, weights);
        let weights = &*weights;
        let jobs = panels.copies() * boxes.count() * parts;
        let run = |job: usize| {
            let (copy, part) = (job / parts % panels.copies(), job % parts);
            let first = copy * panels.sharing;
            let share = |part: usize| first + panels.sharing * part / parts;
            let output_box = boxes.output_box(job / parts / panels.copies());
            let which = share(part)..share(part + 1);
            let widest = panels.all[which.clone()].iter().map(|panel| panel.vectors).max().unwrap_or(0);
            let (outputs, taps) = (output_box.outputs(ROWS), output_box.taps());
            let copied = boxes.positions() * panels.widest();
            scratch::with(copied + outputs.len() * widest * panels.lanes, |memory: &mut [T::Acc]| {
                let memory = memory.split_at_mut(copied);
                let panels = &panels;
                with_widest::<T::Acc, _>(Job {
                    panels,
                    which,
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
    which: Range<usize>,
    output_box: OutputBox<'a>,
    /// The outputs of the box, some at the end more than once.
    outputs: Vec<Output>,
    /// How far each tap lies from the first.
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
        for (i, panel) in panels.all[self.which].iter().enumerate() {
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
            let weights = panels.part(panel, panels.geometry.depth(), self.weights);
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

/// The terms of the kernel: at these distances `run` elements from each on.
struct Terms {
    taps: Vec<usize>,
    run: usize,
}

impl Terms {
    fn new(panels: &Panels, panel: &Panel, taps: &[usize]) -> Terms {
        let (width, term) = (panels.width(panel), panels.term(panel));
        let last = panels.geometry.axes.last().map_or(1, |axis| axis.taps);
        // The taps of the last axis follow each other if nothing lies between them.
        let merged = if last > 1 && taps[1] == 1 { last } else { 1 };
        let taps = taps.iter().step_by(merged).map(|tap| tap * width).collect();
        Terms { taps, run: merged * width / term }
    }
}

/// What one panel of a box takes.
struct Task<'a, W> {
    panel: &'a Panel,
    copied: &'a [W],
    weights: &'a [W],
    outputs: &'a [Output],
    terms: &'a Terms,
}

/// Where the sums go.
struct Context<'a, T> {
    panels: &'a Panels<'a>,
    output_box: &'a OutputBox<'a>,
    output: Target<T>,
}

impl<T: Multiply> Context<'_, T> {
    /// Multiply piece after piece of the terms, and write the sums.
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
        let place =
            SumTarget { out: in_place.then(|| out.cast::<T::Acc>()), sums: Target::over(sums), stride };
        // Whole taps together, or a long one in pieces.
        let (together, pieces) = ((TERMS / run).clamp(1, taps.len()), run.div_ceil(TERMS));
        let count = self.output_box.count();
        let mut done = 0;
        for taps in taps.chunks(together) {
            for piece in 0..pieces {
                let (from, to) = (run * piece / pieces, run * (piece + 1) / pieces);
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
                    &chunk, place
                ));
                done += taps.len() * (to - from);
            }
        }
        if !in_place {
            for (sums, to) in sums.chunks_exact(stride).zip(task.outputs).take(count) {
                for (i, &sum) in sums[..panel.channels].iter().enumerate() {
                    // SAFETY: inside the output, in a box and channels of this job alone.
                    unsafe { *out.at(to.offset + i as isize * channel) = T::narrow(sum) };
                }
            }
        }
    }
}

/// Where the sums of each output are: in the output itself, or side by side.
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
    /// How many outputs there are, without those that only fill the last block.
    count: usize,
    fresh: bool,
}

/// Add them up, `R` outputs at a time.
#[inline(always)]
fn blocks<W: Ring, V: Lanes<W>, const FUSED: bool, const OWN: bool, const R: usize, const C: usize>(
    chunk: &Chunk<W>,
    place: SumTarget<W>,
) {
    for (block, outputs) in chunk.outputs.chunks_exact(R).take(chunk.count.div_ceil(R)).enumerate() {
        let (mut rows, mut to) = ([chunk.start; R], [place.sums.at(0); R]);
        for (r, output) in outputs.iter().enumerate() {
            rows[r] = chunk.start.wrapping_add(output.position * chunk.width);
            to[r] = match place.out {
                Some(out) => out.at(output.offset),
                None => place.sums.at(((block * R + r) * place.stride) as isize),
            };
        }
        // SAFETY: all taps of all outputs lie in the copy, the weights are as many as the terms, and a place of the sums
        // has space for all channels of the panel; an output that stands for a missing one is computed alike.
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
