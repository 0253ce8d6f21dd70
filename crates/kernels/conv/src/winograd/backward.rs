//! The weight gradient.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_matmul::multiply::Multiply;

use super::super::boxes::Boxes;
use super::super::geometry::Geometry;
use super::super::im2col_gemm::{on_threads, threads_for};
use super::super::panels::{Panel, Panels};
use super::super::registers::{self, most_vectors, with_rows};
use super::transforms::{Grid, of_cotangents, to_kernel};
use super::{
    INPUT_SIDE, LANES, SIDE, TAPS, Tile, WorkspaceLayout, boxes, points, steps, tiled, tiles,
    transform_inputs,
};

/// A multiple of the rows of every register block.
const ROWS: usize = 24;
/// Minimum number of output channels for which it pays to transform the input once more in another thread.
const SHARE: usize = 64;

/// Compute the weight gradient: the geometry's output is the cotangent, and its weight is the result. Returns whether all of
/// it is finite; if not, nothing is written.
pub(in super::super) fn backward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    cotangent: Source<T>,
    target: Target<T>,
) -> bool {
    let (panels, tiled) = (Panels::new::<T>(geometry), tiled(geometry));
    let threads = threads_for::<T>(geometry.multiplications());
    let boxes = boxes(&tiled, threads);
    // Threads split the panels; if there are too few, they also split the boxes and keep partial sums.
    let panel_chunks = threads.min(geometry.outputs / SHARE).clamp(1, panels.all.len());
    let box_chunks = threads.div_ceil(panel_chunks).min(boxes.count());
    let (points, rows) = (points(geometry.axes.len()), geometry.inputs.next_multiple_of(ROWS));
    let size = points * rows * panels.padded_channels();
    let layout = WorkspaceLayout::new::<T>(&panels, boxes.positions(), boxes.outputs());
    scratch::with(box_chunks * size, |all: &mut [T::Acc]| {
        let sums = Target::over(all);
        on_threads(threads, panel_chunks * box_chunks, |job| {
            let (panel_chunk, box_chunk) = (job % panel_chunks, job / panel_chunks);
            let share = |panel_chunk: usize| panels.all.len() * panel_chunk / panel_chunks;
            scratch::with(layout.elements(), |memory: &mut [T::Acc]| {
                let job = Job {
                    panels: &panels,
                    panel_range: share(panel_chunk)..share(panel_chunk + 1),
                    boxes: &boxes,
                    indices: boxes.count() * box_chunk / box_chunks
                        ..boxes.count() * (box_chunk + 1) / box_chunks,
                    rows,
                    layout: &layout,
                    input,
                    cotangent,
                    sums: sums.shifted((box_chunk * size) as isize),
                    memory,
                };
                job.clear();
                with_widest(job);
            });
        });
        let (depth, is_finite) = (geometry.depth(), AtomicBool::new(true));
        scratch::with(depth * panels.padded_channels(), |weights: &mut [T::Acc]| {
            let to = Target::over(weights);
            on_threads(threads, panels.all.len(), |index| {
                let panel = &panels.all[index];
                let from = sums.shifted((panels.start(panel) * points * rows) as isize);
                let to = to.at((panels.start(panel) * depth) as isize);
                if !with_widest(ReducePartials {
                    panels: &panels,
                    panel,
                    rows,
                    partials: box_chunks,
                    partial_stride: size,
                    from,
                    to,
                }) {
                    is_finite.store(false, Ordering::Relaxed);
                }
            });
            let (weights, is_finite) = (&*weights, is_finite.into_inner());
            if is_finite {
                on_threads(threads, panels.all.len(), |index| {
                    let panel = &panels.all[index];
                    panels.store(panel, panels.slice(panel, depth, weights), target);
                });
            }
            is_finite
        })
    })
}

/// Some panels of some boxes.
struct Job<'a, T: Multiply> {
    panels: &'a Panels<'a>,
    panel_range: Range<usize>,
    boxes: &'a Boxes<'a>,
    indices: Range<usize>,
    /// Rows of sums that a point has space for.
    rows: usize,
    layout: &'a WorkspaceLayout,
    input: Source<T>,
    cotangent: Source<T>,
    sums: Target<T::Acc>,
    memory: &'a mut [T::Acc],
}

impl<T: Multiply> Job<'_, T> {
    /// Pointer to the sums of a panel's point.
    fn sums_of(&self, panel: &Panel, point: usize) -> *mut T::Acc {
        let points = points(self.panels.geometry.axes.len());
        let stride = self.panels.width_of_outputs(panel);
        self.sums.at((self.panels.start(panel) * points * self.rows + point * self.rows * stride) as isize)
    }

    fn clear(&self) {
        for panel in &self.panels.all[self.panel_range.clone()] {
            let length =
                points(self.panels.geometry.axes.len()) * self.rows * self.panels.width_of_outputs(panel);
            // SAFETY: no other job has this panel and these boxes.
            unsafe { std::slice::from_raw_parts_mut(self.sums_of(panel, 0), length) }.fill(T::Acc::ZERO);
        }
    }

    /// Transform all cotangents in the channels of these panels.
    #[inline(always)]
    fn transform_cotangents<V: Lanes<T::Acc>, const FUSED: bool>(&self, tiles: &[Tile], to: &mut [T::Acc]) {
        let (axes, panels) = (&self.panels.geometry.axes, &self.panels.all[self.panel_range.clone()]);
        let first = panels.first().map_or(0, |panel| panel.first);
        let end = panels.last().map_or(0, |panel| panel.first + panel.channels);
        let ([row, last], channel) = (steps(self.panels.geometry), self.panels.geometry.output.channel);
        for (tile, start) in tiles.iter().zip((0..).step_by(self.panels.padded_channels())) {
            for lane in (first..end).step_by(V::COUNT) {
                let mut cotangents = [[V::splat(T::Acc::ZERO); SIDE]; SIDE];
                for (down, line) in cotangents.iter_mut().enumerate().take(tile.outputs[0]) {
                    for (along, cotangent) in line.iter_mut().enumerate().take(tile.outputs[1]) {
                        let offset = tile.offset + down as isize * row + along as isize * last;
                        let from = self.cotangent.shifted(offset + lane as isize * channel);
                        // SAFETY: `end - lane` channels of this output are left.
                        *cotangent = unsafe { channels::<T, V>(from, channel, end - lane) };
                    }
                }
                let to = Grid {
                    start: to[start + lane..].as_mut_ptr(),
                    row: INPUT_SIDE * self.layout.outputs,
                    column: self.layout.outputs,
                };
                // SAFETY: there is space for every tile at each point.
                unsafe { of_cotangents::<T::Acc, V, FUSED>(axes.len(), cotangents, to) };
            }
        }
    }
}

/// Load a vector of channels, zero beyond `count`.
///
/// # Safety
/// `count` channels are readable.
#[inline(always)]
unsafe fn channels<T: Multiply, V: Lanes<T::Acc>>(from: Source<T>, channel: isize, count: usize) -> V {
    // SAFETY: the caller guarantees `count` channels, and no vector has more than `LANES` lanes.
    unsafe {
        if T::DIRECT && channel == 1 && count >= V::COUNT {
            return V::load(from.cast::<T::Acc>().at(0));
        }
        let mut lanes = [T::Acc::ZERO; LANES];
        for (lane, to) in lanes.iter_mut().enumerate().take(count.min(V::COUNT)) {
            *to = (*from.at(lane as isize * channel)).widen();
        }
        V::load(lanes.as_ptr())
    }
}

impl<T: Multiply> VectorLoop<T::Acc> for Job<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T::Acc>, const FUSED: bool>(mut self) {
        let inputs = self.panels.geometry.inputs;
        let (copied, memory) = std::mem::take(&mut self.memory).split_at_mut(self.layout.copied);
        let (left, right) = memory.split_at_mut(self.layout.points * self.layout.inputs);
        for index in self.indices.clone() {
            let output_box = self.boxes.output_box(index);
            let tiles = tiles(self.panels.geometry, &output_box);
            transform_inputs::<T, V, FUSED>(
                self.panels,
                (&output_box, &tiles),
                self.layout,
                self.input,
                (&mut *copied, &mut *left),
            );
            self.transform_cotangents::<V, FUSED>(&tiles, right);
            for panel in &self.panels.all[self.panel_range.clone()] {
                for point in 0..self.layout.points {
                    let gemm = PointGemm {
                        left: left[point * self.layout.inputs..].as_ptr(),
                        width: self.layout.width,
                        inputs,
                        right: right[point * self.layout.outputs + self.panels.start(panel)..].as_ptr(),
                        row: self.panels.padded_channels(),
                        count: tiles.len(),
                        to: self.sums_of(panel, point),
                    };
                    gemm.run::<V, FUSED>(panel);
                }
            }
        }
    }
}

/// The contribution of a box's tiles to one point of one panel.
struct PointGemm<W> {
    /// The input's channels, tile by tile.
    left: *const W,
    width: usize,
    inputs: usize,
    /// The channels of the panel's cotangents, tile by tile.
    right: *const W,
    row: usize,
    count: usize,
    to: *mut W,
}

impl<W: Ring> PointGemm<W> {
    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(&self, panel: &Panel) {
        with_rows!(panel.vectors, most_vectors::<W, V>(), |R, C| {
            for first in (0..self.inputs).step_by(R) {
                let mut terms = [0; R];
                for (r, term) in terms.iter_mut().enumerate() {
                    *term = (first + r).min(self.inputs - 1);
                }
                let tiles = (0..self.count).map(
                    #[inline(always)]
                    |tile| {
                        (self.left.wrapping_add(tile * self.width), self.right.wrapping_add(tile * self.row))
                    },
                );
                let to = self.to.wrapping_add(first * C * V::COUNT);
                // SAFETY: every tile has all channels of both operands, and a point has space for whole blocks of rows.
                unsafe { registers::terms::<W, V, FUSED, false, R, C>(tiles, terms, to) };
            }
        });
    }
}

/// Add the partial sums of a panel and transform its points to the gradients of the taps. Returns whether they are finite.
struct ReducePartials<'a, W> {
    panels: &'a Panels<'a>,
    panel: &'a Panel,
    rows: usize,
    partials: usize,
    /// Offset between consecutive partial sums.
    partial_stride: usize,
    from: Target<W>,
    to: *mut W,
}

impl<W: Ring> VectorLoop<W> for ReducePartials<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(self) -> bool {
        let ReducePartials { panels, panel, rows, partials, partial_stride, from, to } = self;
        let (geometry, stride) = (panels.geometry, panels.width_of_outputs(panel));
        let axes = geometry.axes.len();
        let (point, tap) = (rows * stride, geometry.inputs * stride);
        let one = V::splat(W::factor(1.0));
        for lane in (0..tap).step_by(V::COUNT) {
            // SAFETY: each partial has the sums of every point, which only this job accesses, and there is space for all
            // taps.
            unsafe {
                for partial in 1..partials {
                    for offset in (0..points(axes)).map(|index| index * point + lane) {
                        let total = from.at(offset as isize);
                        let more = V::load(from.at((partial * partial_stride + offset) as isize));
                        V::load(total).add_product::<FUSED>(more, one).store(total);
                    }
                }
                let from = Grid {
                    start: from.at(lane as isize).cast_const(),
                    row: INPUT_SIDE * point,
                    column: point,
                };
                let to = Grid { start: to.add(lane), row: TAPS * tap, column: tap };
                to_kernel::<W, V, FUSED>(axes, from, to);
            }
        }
        // Infinity or NaN times zero is NaN.
        let zero = V::splat(W::ZERO);
        let mut check = zero;
        for lane in (0..geometry.taps() * tap).step_by(V::COUNT) {
            // SAFETY: all taps are written.
            check = check.add_product::<FUSED>(unsafe { V::load(to.add(lane)) }, zero);
        }
        check.reduce_sum() == W::ZERO
    }
}
