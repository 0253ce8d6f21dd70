//! The forward convolution.

use std::sync::atomic::{AtomicBool, Ordering};

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_matmul::multiply::Multiply;

use super::super::boxes::OutputBox;
use super::super::geometry::Geometry;
use super::super::im2col_gemm::{on_threads, threads_for};
use super::super::panels::{Panel, Panels};
use super::super::registers::{self, most_vectors, with_rows};
use super::transforms::{Grid, of_kernel, of_points};
use super::{
    INPUT_SIDE, LANES, TAPS, Tile, WorkspaceLayout, boxes, points, steps, tiled, tiles, transform_inputs,
};

/// Minimum number of weight elements for which another job pays.
const GRAIN: usize = 1 << 15;

/// Compute the convolution; returns whether all outputs are finite.
pub(in super::super) fn forward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    weight: Source<T>,
    output: Target<T>,
) -> bool {
    let (panels, tiled) = (Panels::new::<T>(geometry), tiled(geometry));
    let points = points(geometry.axes.len());
    let threads = threads_for::<T>(geometry.multiplications());
    let boxes = boxes(&tiled, threads);
    let is_finite = AtomicBool::new(true);
    scratch::with(points * geometry.inputs * panels.padded_channels(), |weights: &mut [T::Acc]| {
        scratch::with(geometry.depth() * panels.padded_channels(), |packed: &mut [T::Acc]| {
            panels.pack(weight, packed);
            transform_weights(&panels, packed, weights);
        });
        let weights = &*weights;
        let run = |index: usize| {
            let output_box = boxes.output_box(index);
            let layout = WorkspaceLayout::new::<T>(&panels, boxes.positions(), output_box.count());
            scratch::with(layout.elements(), |memory: &mut [T::Acc]| {
                let tiles = tiles(geometry, &output_box);
                let job = Job {
                    panels: &panels,
                    output_box: &output_box,
                    tiles: &tiles,
                    layout: &layout,
                    weights,
                    input,
                    output,
                    memory,
                };
                if !with_widest::<T::Acc, _>(job) {
                    is_finite.store(false, Ordering::Relaxed);
                }
            });
        };
        on_threads(threads, boxes.count(), run);
    });
    is_finite.into_inner()
}

/// Transform the weights: panel by panel, with points in place of the taps of the packed weight.
fn transform_weights<W: Ring>(panels: &Panels, packed: &[W], to: &mut [W]) {
    let inputs = panels.geometry.inputs;
    let to = Target::over(to);
    parallel_ranges(panels.all.len(), GRAIN / (inputs * panels.lanes).max(1), |range| {
        for panel in &panels.all[range] {
            let from = panels.slice(panel, panels.geometry.depth(), packed);
            let start = panels.start(panel) * points(panels.geometry.axes.len()) * inputs;
            let size = inputs * panels.width_of_outputs(panel);
            with_widest(Kernels { axes: panels.geometry.axes.len(), size, from, to: to.at(start as isize) });
        }
    });
}

/// The kernels of a panel, one vector at a time.
struct Kernels<'a, W> {
    axes: usize,
    /// Elements of a tap, or of a point.
    size: usize,
    from: &'a [W],
    to: *mut W,
}

impl<W: Ring> VectorLoop<W> for Kernels<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(self) {
        let Kernels { axes, size, from, to } = self;
        for lane in (0..size).step_by(V::COUNT) {
            let from = Grid { start: from[lane..].as_ptr(), row: TAPS * size, column: size };
            let to = Grid { start: to.wrapping_add(lane), row: INPUT_SIDE * size, column: size };
            // SAFETY: sizes are multiples of the lanes of a vector, and the panel has space for all taps and all points.
            unsafe { of_kernel::<W, V, FUSED>(axes, from, to) };
        }
    }
}

/// A box of tiles.
struct Job<'a, T: Multiply> {
    panels: &'a Panels<'a>,
    output_box: &'a OutputBox<'a>,
    tiles: &'a [Tile],
    layout: &'a WorkspaceLayout,
    weights: &'a [T::Acc],
    input: Source<T>,
    output: Target<T>,
    memory: &'a mut [T::Acc],
}

impl<T: Multiply> VectorLoop<T::Acc> for Job<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<T::Acc>, const FUSED: bool>(self) -> bool {
        let Job { panels, output_box, tiles, layout, weights, input, output, memory } = self;
        let (copied, memory) = memory.split_at_mut(layout.copied);
        let (left, sums) = memory.split_at_mut(layout.points * layout.inputs);
        let channels = panels.geometry.inputs;
        transform_inputs::<T, V, FUSED>(panels, (output_box, tiles), layout, input, (copied, &mut *left));
        for point in 0..layout.points {
            for panel in &panels.all {
                let stride = panels.width_of_outputs(panel);
                let start = panels.start(panel) * layout.points * channels + point * channels * stride;
                let product = PointGemm {
                    left: &left[point * layout.inputs..],
                    width: layout.width,
                    depth: channels,
                    weights: weights[start..][..channels * stride].as_ptr(),
                    sums: sums[point * layout.outputs + panels.start(panel)..].as_mut_ptr(),
                    row: panels.padded_channels(),
                    count: tiles.len(),
                };
                product.run::<V, FUSED>(panel);
            }
        }
        write_outputs::<T, V, FUSED>(panels, tiles, layout, sums, output)
    }
}

/// The matrix product of one point, for the channels of one panel.
struct PointGemm<'a, W> {
    /// The input's channels, tile by tile.
    left: &'a [W],
    width: usize,
    depth: usize,
    weights: *const W,
    /// Sums of the first tile; those of consecutive tiles are `row` elements apart.
    sums: *mut W,
    row: usize,
    count: usize,
}

impl<W: Ring> PointGemm<'_, W> {
    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(&self, panel: &Panel) {
        with_rows!(panel.vectors, most_vectors::<W, V>(), |R, C| {
            let blocks = self.count.div_ceil(R);
            // Blocks of `R` or `R - 1` rows, so that few tiles are computed twice.
            let fewer = (blocks * R - self.count).min(blocks);
            for block in 0..blocks {
                let start = block * R - block.min(fewer);
                if block < fewer {
                    self.rows::<V, FUSED, { R - 1 }, C>(start);
                } else {
                    self.rows::<V, FUSED, R, C>(start);
                }
            }
        });
    }

    /// `R` rows, starting with row `start`.
    #[inline(always)]
    fn rows<V: Lanes<W>, const FUSED: bool, const R: usize, const C: usize>(&self, start: usize) {
        let (mut rows, mut to) = ([self.left.as_ptr(); R], [self.sums; R]);
        for r in 0..R {
            let tile = (start + r).min(self.count - 1);
            rows[r] = self.left[tile * self.width..].as_ptr();
            to[r] = self.sums.wrapping_add(tile * self.row);
        }
        // SAFETY: a tile has all channels of the input, there are as many weights, and there is space for the panel's sums.
        unsafe {
            registers::outputs::<W, V, FUSED, false, R, C>(rows, &[0], self.depth, self.weights, to, true);
        }
    }
}

/// Write the outputs of all tiles; returns whether they are finite.
#[inline(always)]
fn write_outputs<T: Multiply, V: Lanes<T::Acc>, const FUSED: bool>(
    panels: &Panels,
    tiles: &[Tile],
    layout: &WorkspaceLayout,
    sums: &[T::Acc],
    output: Target<T>,
) -> bool {
    let geometry = panels.geometry;
    let axes = geometry.axes.len();
    let ([row, last], channel) = (steps(geometry), geometry.output.channel);
    let width = panels.padded_channels();
    // Infinity or NaN times zero is NaN.
    let zero = V::splat(T::Acc::ZERO);
    let mut check = zero;
    for (tile, from) in tiles.iter().zip((0..).step_by(width)) {
        for first in (0..geometry.outputs).step_by(V::COUNT) {
            let from = Grid {
                start: sums[from + first..].as_ptr(),
                row: INPUT_SIDE * layout.outputs,
                column: layout.outputs,
            };
            // SAFETY: each point has the sums of every tile.
            let outputs = unsafe { of_points::<T::Acc, V, FUSED>(axes, from) };
            for (down, row_outputs) in outputs.into_iter().enumerate().take(tile.outputs[0]) {
                for (along, output_vector) in row_outputs.into_iter().enumerate().take(tile.outputs[1]) {
                    check = check.add_product::<FUSED>(output_vector, zero);
                    let offset = tile.offset + down as isize * row + along as isize * last;
                    let to = output.shifted(offset + first as isize * channel);
                    // SAFETY: `geometry.outputs - first` channels of this output are left.
                    unsafe { store_channels::<T, V>(output_vector, to, channel, geometry.outputs - first) };
                }
            }
        }
    }
    check.reduce_sum() == T::Acc::ZERO
}

/// Write the first `count` channels of a vector, or all if it has fewer.
///
/// # Safety
/// `count` channels are writable.
#[inline(always)]
unsafe fn store_channels<T: Multiply, V: Lanes<T::Acc>>(
    from: V,
    to: Target<T>,
    channel: isize,
    count: usize,
) {
    // SAFETY: the caller guarantees `count` channels, and no vector has more than `LANES` lanes.
    unsafe {
        if T::DIRECT && channel == 1 && count >= V::COUNT {
            return from.store(to.cast::<T::Acc>().at(0));
        }
        let mut lanes = [T::Acc::ZERO; LANES];
        from.store(lanes.as_mut_ptr());
        for (lane, &sum) in lanes.iter().enumerate().take(count.min(V::COUNT)) {
            *to.at(lane as isize * channel) = T::narrow(sum);
        }
    }
}
