//! Convolutions whose groups have as many outputs as inputs, and few: depthwise ones and their like.
//!
//! A vector holds neighbouring channels, which are those of some whole groups, of the input as of the output. Sums of a
//! [`strip`](walk) of outputs stay in registers while the kernel's taps pass over the input where it lies; taps outside it are
//! left out. Elements that are not vectors as they lie are first copied, strip by strip.
//!
//! In groups of `N` channels every input meets every output. So there are `N` sums for an output, all over the same vectors of
//! the input: in sum `n` the input in place `i` of its group meets the output in place `i - n`, round about. Only at the end are
//! they [turned](registers) to their places and added up.

mod backward;
mod forward;
mod registers;
mod walk;
mod weights;

pub(super) use backward::backward;
pub(super) use forward::forward;

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::threads::num_threads;
use umber_kernels_matmul::multiply::Multiply;

use super::geometry::{Axis, Geometry};
use super::im2col_gemm::NS_PER_JOB;

/// Bytes of the copy of what a strip meets, at most.
const MAX_COPY_BYTES: usize = 2 << 20;
/// Steps of outputs or of taps at most.
const MAX_STEPS: isize = 1 << 24;
/// Bytes that a row of strips meets, with their weights: they stay in L1.
const L1_BYTES: usize = 36 << 10;
/// Multiplications of vectors a nanosecond, about, of one thread: memory is slower than the sums.
const SPEED: f64 = 1.0;

/// Is it of this kind?
pub(super) fn is_applicable<T: Multiply>(geometry: &Geometry) -> bool {
    let Geometry { groups, inputs, outputs, .. } = *geometry;
    if groups == 1 || inputs != outputs || !matches!(inputs, 1 | 2 | 4 | 8) {
        return false;
    }
    if geometry.axes.iter().any(|axis| axis.stride > MAX_STEPS || axis.dilation > MAX_STEPS) {
        return false;
    }
    let plan = Plan::new::<T>(geometry);
    let last = plan.last();
    let is_dense = plan.window <= 4 * plan.outputs_per_strip * last.taps;
    inputs <= plan.lanes
        && (!plan.copies_input || (is_dense && plan.stage() * size_of::<T::Acc>() <= MAX_COPY_BYTES))
}

/// How the work is cut.
struct Plan<'a> {
    geometry: &'a Geometry,
    /// Elements of a vector.
    lanes: usize,
    /// Channels in all, or as many as fill a vector.
    width: usize,
    /// Vectors of channels; the last overlaps the one before if it would not be full.
    vectors: usize,
    /// Outputs of a strip.
    outputs_per_strip: usize,
    /// Strips of a row.
    strips: usize,
    /// Parts of the channels that are computed one after the other.
    parts: usize,
    /// Positions of the last axis from the first that a strip meets to the last.
    window: usize,
    /// Are elements copied before use?
    copies_input: bool,
}

impl<'a> Plan<'a> {
    fn new<T: Multiply>(geometry: &'a Geometry) -> Plan<'a> {
        let Vectors { lanes, outputs_per_strip } = with_widest::<T::Acc, _>(Probe { group: geometry.inputs });
        let channels = geometry.groups * geometry.inputs;
        let last = geometry.axes.last().expect("there is a spatial axis");
        let (strips, vectors) = (last.outputs.div_ceil(outputs_per_strip), channels.div_ceil(lanes));
        let window =
            (outputs_per_strip - 1) * last.stride as usize + (last.taps - 1) * last.dilation as usize + 1;
        let copies_input =
            !T::DIRECT || channels < lanes || geometry.input.channel != 1 || geometry.output.channel != 1;
        let near = (geometry.taps() / last.taps * window + geometry.depth()) * lanes * size_of::<T::Acc>();
        Plan {
            geometry,
            lanes,
            width: channels.max(lanes),
            vectors,
            outputs_per_strip,
            strips,
            // Copies are of all channels.
            parts: if copies_input { 1 } else { vectors.div_ceil((L1_BYTES / near).max(1)) },
            window,
            copies_input,
        }
    }

    fn last(&self) -> &Axis {
        &self.geometry.axes[self.geometry.axes.len() - 1]
    }

    fn channels(&self) -> usize {
        self.geometry.groups * self.geometry.inputs
    }

    /// The first channel of a vector.
    #[inline(always)]
    fn start(&self, vector: usize) -> usize {
        (vector * self.lanes).min(self.width - self.lanes)
    }

    /// Elements of the packed weight, for one vector.
    fn terms(&self) -> usize {
        self.geometry.depth() * self.lanes
    }

    /// Elements of the copy of the input for a strip, at most.
    fn stage(&self) -> usize {
        self.geometry.taps() / self.last().taps * self.window * self.width
    }

    /// Where the next strip of a walk meets what this one does not, in the input and in the output.
    fn below(&self) -> (isize, isize) {
        match &*self.geometry.axes {
            [.., row, _] => (row.stride * row.input_stride, row.output_stride),
            axes => {
                let last = &axes[0];
                let outputs = self.outputs_per_strip as isize;
                (outputs * last.stride * last.input_stride, outputs * last.output_stride)
            }
        }
    }

    /// Strips of all rows and parts.
    fn count(&self) -> usize {
        self.geometry.rows() / self.last().outputs * self.strips * self.parts
    }

    /// How many jobs the strips are worth.
    fn jobs(&self) -> usize {
        let work = (self.geometry.rows() * self.geometry.depth() * self.vectors) as f64;
        ((work / SPEED / NS_PER_JOB) as usize).clamp(1, 4 * num_threads()).min(self.count())
    }
}

/// Elements of a vector, and outputs whose sums registers have space for.
struct Vectors {
    lanes: usize,
    outputs_per_strip: usize,
}

struct Probe {
    group: usize,
}

impl<W: Ring> VectorLoop<W> for Probe {
    type Output = Vectors;

    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(self) -> Vectors {
        with_group!(self.group, size_of::<V>(), |_N, R| Vectors { lanes: V::COUNT, outputs_per_strip: R })
    }
}

/// Evaluate an expression with constants of these names: the channels of a group, and the outputs of a strip.
macro_rules! with_group {
    ($group:expr, $bytes:expr, |$n:ident, $r:ident| $body:expr) => {
        match ($group, const { $bytes }) {
            (1, _) => with_group!(1, 8, $n, $r, $body),
            // AVX-512 has 32 registers.
            (2, 64) => with_group!(2, 8, $n, $r, $body),
            (4, 64) => with_group!(4, 4, $n, $r, $body),
            (_, 64) => with_group!(8, 2, $n, $r, $body),
            (2, _) => with_group!(2, 4, $n, $r, $body),
            (4, _) => with_group!(4, 2, $n, $r, $body),
            (_, _) => with_group!(8, 1, $n, $r, $body),
        }
    };
    ($group:literal, $rows:literal, $n:ident, $r:ident, $body:expr) => {{
        const $n: usize = $group;
        const $r: usize = $rows;
        $body
    }};
}
use with_group;
