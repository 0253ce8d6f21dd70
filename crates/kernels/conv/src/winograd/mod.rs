//! Winograd's minimal filtering: convolutions of three taps and stride 1 with fewer multiplications.
//!
//! F(2, 3) of Lavin and Gray, "Fast algorithms for convolutional neural networks" (CVPR 2016), computes two neighbouring
//! outputs of an axis with four products instead of six, and a *tile* of two by two outputs with sixteen instead of
//! thirty-six. The elements of a transformed tile are called *points*; for each point, one matrix product multiplies all
//! channels of the input with all of the output. [`transforms`] has the transforms before and after the products, and
//! [`forward`] and [`backward`] apply them to boxes of tiles.
//!
//! With larger tiles an output would depend on elements outside its window and lose accuracy to them. With F(2, 3) it depends
//! on its own window only, and values with few bits, such as small integers, stay exact. The transforms may turn infinities
//! into NaN where the definition does not (by the difference of two infinities). So if a result is not finite, the functions
//! report it, and the caller falls back to another kernel.

mod backward;
mod forward;
mod transforms;

pub(super) use backward::backward;
pub(super) use forward::forward;

use umber_kernels_base::caches::LINE;
use umber_kernels_base::lanes::{Lanes, Ring};
use umber_kernels_base::shared::Source;
use umber_kernels_matmul::multiply::Multiply;

use super::boxes::{Boxes, OutputBox};
use super::geometry::Geometry;
use super::panels::Panels;
use transforms::{Grid, of_input};

/// Outputs of a tile along an axis.
const SIDE: usize = 2;
/// Elements of the input that a tile reads along an axis, and points along it.
const INPUT_SIDE: usize = SIDE + TAPS - 1;
/// Taps along an axis.
const TAPS: usize = 3;

/// Positions of the copy of a box: about fifty tiles, which share the pass over the weights.
const POSITIONS: usize = 352;
/// Minimum number of tiles in a box.
const MIN_TILES_PER_BOX: usize = 24;
/// Minimum number of tiles for which the products save more than the transform of the weights costs, if the transformed
/// weights have at most `MAX_KERNEL_POINT_BYTES`; the minimum grows in proportion above that size.
const MIN_TILES: usize = 48;
const MAX_KERNEL_POINT_BYTES: usize = 16 << 20;
/// Minimum channels for which the products save more than the transforms of inputs and outputs cost, for one axis and for
/// two. Compared with half the harmonic mean of the input's and the output's channels.
const CHANNELS: [usize; 2] = [32, 10];

/// Maximum number of lanes of a vector.
const LANES: usize = 16;

/// Whether this kernel applies and is likely to be faster.
pub(super) fn is_applicable<T: Multiply>(geometry: &Geometry) -> bool {
    let of_three = geometry.axes.iter().all(|axis| (axis.taps, axis.stride, axis.dilation) == (TAPS, 1, 1));
    let axes = geometry.axes.len();
    if !(geometry.groups == 1 && of_three && (1..=2).contains(&axes)) {
        return false;
    }
    let tiles =
        geometry.batch * geometry.axes.iter().map(|axis| axis.outputs.div_ceil(SIDE)).product::<usize>();
    let (products, points) = (geometry.inputs * geometry.outputs, points(axes));
    let has_channels = products >= CHANNELS[axes - 1] * (geometry.inputs + geometry.outputs);
    let weights = products * points * size_of::<T::Acc>();
    let is_worth_it = tiles >= MIN_TILES && tiles >= MIN_TILES * weights / MAX_KERNEL_POINT_BYTES;
    // Tiles at the ends are computed in full, so the ratio of multiplications depends on the shape.
    has_channels && is_worth_it && geometry.rows() * geometry.taps() * 4 >= tiles * points * 5
}

/// Number of points of a tile.
fn points(axes: usize) -> usize {
    INPUT_SIDE.pow(axes as u32)
}

/// The geometry whose outputs are tiles.
fn tiled(geometry: &Geometry) -> Geometry {
    let mut tiled = geometry.clone();
    for axis in &mut tiled.axes {
        axis.taps = INPUT_SIDE;
        axis.outputs = axis.outputs.div_ceil(SIDE);
        axis.stride = SIDE as isize;
        axis.output_stride *= SIDE as isize;
    }
    tiled
}

/// The boxes of tiles for this many threads.
fn boxes(tiled: &Geometry, threads: usize) -> Boxes<'_> {
    Boxes::new(tiled, POSITIONS, (if threads == 1 { 1 } else { 4 * threads }, MIN_TILES_PER_BOX))
}

/// One tile of a box.
#[derive(Clone, Copy)]
struct Tile {
    /// Position of its first input element in the copy.
    position: usize,
    /// Offset of its first output in memory, in the first channel.
    offset: isize,
    /// Number of its outputs along the first and the last axis: one at an end of odd length.
    outputs: [usize; 2],
}

/// All tiles of a box.
fn tiles(geometry: &Geometry, output_box: &OutputBox) -> Vec<Tile> {
    let mut tiles = Vec::with_capacity(output_box.count());
    let (axes, last) = (&geometry.axes, geometry.axes.len());
    let (columns, rows) = (output_box.lengths[last], if last == 2 { output_box.lengths[1] } else { 1 });
    let left = |axis: usize, tile: usize| {
        (axes[axis - 1].outputs - (output_box.starts[axis] + tile) * SIDE).min(SIDE)
    };
    for (index, output) in output_box.outputs(1).into_iter().enumerate() {
        let along = left(last, index % columns);
        let down = if last == 2 { left(1, index / columns % rows) } else { 1 };
        tiles.push(Tile { position: output.position, offset: output.offset, outputs: [down, along] });
    }
    tiles
}

/// Strides between the outputs of a tile along the first and the last axis, in memory.
fn steps(geometry: &Geometry) -> [isize; 2] {
    let step = |axis: usize| geometry.axes[axis].output_stride;
    [if geometry.axes.len() == 2 { step(0) } else { 0 }, step(geometry.axes.len() - 1)]
}

/// Layout of the scratch memory of a job.
struct WorkspaceLayout {
    /// Elements of a position: the input's channels, padded to whole vectors.
    width: usize,
    /// Elements of one point for all tiles, in the input's channels and in the output's.
    inputs: usize,
    outputs: usize,
    copied: usize,
    points: usize,
}

impl WorkspaceLayout {
    fn new<T: Multiply>(panels: &Panels, positions: usize, tiles: usize) -> WorkspaceLayout {
        // Padding by a cache line avoids conflict misses: a power-of-two stride would map all points to the same cache sets.
        let padding = LINE / size_of::<T::Acc>();
        let width = panels.geometry.inputs.next_multiple_of(panels.lanes);
        WorkspaceLayout {
            width,
            inputs: tiles * width + padding,
            outputs: tiles * panels.padded_channels() + padding,
            copied: positions * width,
            points: points(panels.geometry.axes.len()),
        }
    }

    fn elements(&self) -> usize {
        self.copied + self.points * (self.inputs + self.outputs)
    }
}

/// Copy the input of a box, and write the points of all its tiles.
#[inline(always)]
fn transform_inputs<T: Multiply, V: Lanes<T::Acc>, const FUSED: bool>(
    panels: &Panels,
    (output_box, tiles): (&OutputBox, &[Tile]),
    layout: &WorkspaceLayout,
    input: Source<T>,
    (copied, left): (&mut [T::Acc], &mut [T::Acc]),
) {
    let Geometry { inputs, axes, .. } = panels.geometry;
    output_box.fill(
        input,
        layout.width,
        (T::Acc::ZERO, &mut *copied),
        #[inline(always)]
        |input, run, to| panels.copy_channels(*inputs, layout.width, input, run, to),
    );
    let line = output_box.line() * layout.width;
    for (tile, to) in tiles.iter().zip((0..).step_by(layout.width)) {
        let from = &copied[tile.position * layout.width..];
        for lane in (0..layout.width).step_by(V::COUNT) {
            let from = Grid { start: from[lane..].as_ptr(), row: line, column: layout.width };
            let to = Grid {
                start: left[to + lane..].as_mut_ptr(),
                row: INPUT_SIDE * layout.inputs,
                column: layout.inputs,
            };
            // SAFETY: all input elements of a tile lie in the copy, and each point has space for every tile.
            unsafe { of_input::<T::Acc, V, FUSED>(axes.len(), from, to) };
        }
    }
}
