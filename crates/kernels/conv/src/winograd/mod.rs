//! Convolutions by kernels of three taps in steps of one, with fewer multiplications: Winograd's minimal filtering.
//!
//! Two neighbouring outputs along an axis are sums of four products rather than six, F(2, 3) of Lavin and Gray, "Fast algorithms
//! for convolutional neural networks" (CVPR 2016); four outputs of two axes, a *tile*, of sixteen rather than thirty-six. A
//! product of a tile is called a *point*: at each one, all channels of the input meet all of the output's in a product of
//! matrices. [`transforms`] has the sums before and after, which [`forward`] and [`backward`] apply to boxes of tiles.
//!
//! Of larger tiles an output would depend on elements that its taps do not meet, and lose digits to them. Here it depends on its
//! own window alone, and numbers with few digits, such as small integers, stay exact. Sums that are not finite may be no sums of
//! the definition (the difference of two infinities): then nothing is answered, and the caller computes it otherwise.

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
/// Elements of the input that a tile meets along an axis, and points along it.
const INPUT_SIDE: usize = SIDE + TAPS - 1;
/// Taps along an axis.
const TAPS: usize = 3;

/// Positions of the copy of a box: those of about fifty tiles, which all weights meet.
const POSITIONS: usize = 352;
/// Tiles of a box that are not worth cutting further.
const MIN_TILES_PER_BOX: usize = 24;
/// The fewest tiles whose products save more than the points of the kernels cost, where these take no more than so many bytes;
/// and the more, the more they take.
const MIN_TILES: usize = 48;
const MAX_KERNEL_POINT_BYTES: usize = 16 << 20;
/// Channels of the input and as many of the output from whose half on products save more than the sums before and after cost, for
/// one axis and for two.
const CHANNELS: [usize; 2] = [32, 10];

/// The most lanes of a vector.
const LANES: usize = 16;

/// Is it of this kind, and of a size that makes it worth it?
pub(super) fn is_applicable<T: Multiply>(geometry: &Geometry) -> bool {
    let of_three = geometry.axes.iter().all(|axis| (axis.taps, axis.stride, axis.dilation) == (TAPS, 1, 1));
    let axes = geometry.axes.len();
    if !(geometry.groups == 1 && of_three && (1..=2).contains(&axes)) {
        return false;
    }
    let tiles =
        geometry.batch * geometry.axes.iter().map(|axis| axis.outputs.div_ceil(SIDE)).product::<usize>();
    let (meetings, points) = (geometry.inputs * geometry.outputs, points(axes));
    let has_channels = meetings >= CHANNELS[axes - 1] * (geometry.inputs + geometry.outputs);
    let weights = meetings * points * size_of::<T::Acc>();
    let is_worth_it = tiles >= MIN_TILES && tiles >= MIN_TILES * weights / MAX_KERNEL_POINT_BYTES;
    // Tiles that reach beyond the ends are computed whole.
    has_channels && is_worth_it && geometry.rows() * geometry.taps() * 4 >= tiles * points * 5
}

/// How many points a tile has.
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

/// The boxes of tiles for so many threads.
fn boxes(tiled: &Geometry, threads: usize) -> Boxes<'_> {
    Boxes::new(tiled, POSITIONS, (if threads == 1 { 1 } else { 4 * threads }, MIN_TILES_PER_BOX))
}

/// One tile of a box.
#[derive(Clone, Copy)]
struct Tile {
    /// Where the elements that it meets begin in the copy, in positions.
    position: usize,
    /// Where its first output lies in memory, in the first channel.
    offset: isize,
    /// Its outputs along the first and the last axis: fewer at an end.
    outputs: [usize; 2],
}

/// All tiles of a box.
fn tiles(geometry: &Geometry, output_box: &OutputBox) -> Vec<Tile> {
    let mut found = Vec::with_capacity(output_box.count());
    let (axes, last) = (&geometry.axes, geometry.axes.len());
    let (columns, rows) = (output_box.lengths[last], if last == 2 { output_box.lengths[1] } else { 1 });
    let left = |axis: usize, tile: usize| {
        (axes[axis - 1].outputs - (output_box.starts[axis] + tile) * SIDE).min(SIDE)
    };
    for (index, output) in output_box.outputs(1).into_iter().enumerate() {
        let along = left(last, index % columns);
        let down = if last == 2 { left(1, index / columns % rows) } else { 1 };
        found.push(Tile { position: output.position, offset: output.offset, outputs: [down, along] });
    }
    found
}

/// From output to output of a tile along the first and the last axis, in memory.
fn steps(geometry: &Geometry) -> [isize; 2] {
    let step = |axis: usize| geometry.axes[axis].output_stride;
    [if geometry.axes.len() == 2 { step(0) } else { 0 }, step(geometry.axes.len() - 1)]
}

/// How the memory of a job is divided.
struct WorkspaceLayout {
    /// Elements of a position: the input's channels, filled up to a vector.
    width: usize,
    /// Elements of a point of all tiles, in the input's channels and in the output's.
    inputs: usize,
    outputs: usize,
    copied: usize,
    points: usize,
}

impl WorkspaceLayout {
    fn new<T: Multiply>(panels: &Panels, positions: usize, tiles: usize) -> WorkspaceLayout {
        // Points a power of two apart would compete for the same few places in the cache.
        let apart = LINE / size_of::<T::Acc>();
        let width = panels.geometry.inputs.next_multiple_of(panels.lanes);
        WorkspaceLayout {
            width,
            inputs: tiles * width + apart,
            outputs: tiles * panels.lanes() + apart,
            copied: positions * width,
            points: points(panels.geometry.axes.len()),
        }
    }

    fn elements(&self) -> usize {
        self.copied + self.points * (self.inputs + self.outputs)
    }
}

/// Copy what a box meets in the input, and write the points of all its tiles.
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
            // SAFETY: all that a tile meets lies in the copy, and there is space for every tile at each point.
            unsafe { of_input::<T::Acc, V, FUSED>(axes.len(), from, to) };
        }
    }
}
