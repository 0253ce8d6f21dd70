//! Convolutions whose groups have equally few inputs and outputs, such as depthwise convolutions.
//!
//! A vector holds neighbouring channels of some whole groups, in the input and in the output. The sums of a [`strip`](walk)
//! of outputs stay in registers while the loops run over the taps; taps in the padding are skipped. The input is read in
//! place where its channels are dense and of the accumulator's type, else copied strip by strip.
//!
//! In groups of `N` channels every input contributes to every output. So each output has `N` accumulators, which all multiply
//! the same vectors of the input: accumulator `n` holds, in lane `i` of a group, the products of input `i` with output `(i -
//! n) mod N`. At the end the lanes are [rotated](registers) to their outputs and the accumulators added.

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

/// Maximum bytes of the copy of the input of a strip.
const MAX_COPY_BYTES: usize = 2 << 20;
/// Maximum stride and dilation.
const MAX_STEPS: isize = 1 << 24;
/// Bytes of the input and the weights of a strip and a chunk of channels, which should stay in L1.
const L1_BYTES: usize = 36 << 10;
/// Approximate vector multiplications per nanosecond and thread; memory bandwidth is the limit.
const SPEED: f64 = 1.0;

/// Whether this kernel applies.
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

/// The split of the work.
struct Plan<'a> {
    geometry: &'a Geometry,
    /// Elements of a vector.
    lanes: usize,
    /// Number of channels, at least as many as fill a vector.
    width: usize,
    /// Vectors of channels; the last overlaps the one before if it would not be full.
    vectors: usize,
    /// Outputs of a strip.
    outputs_per_strip: usize,
    /// Strips of a row.
    strips: usize,
    /// Number of chunks of the channels, computed one after the other.
    channel_chunks: usize,
    /// Number of positions on the last axis that a strip reads, from the first to the last.
    window: usize,
    /// Whether the input and output go through copies in scratch.
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
        let bytes_per_vector =
            (geometry.taps() / last.taps * window + geometry.depth()) * lanes * size_of::<T::Acc>();
        Plan {
            geometry,
            lanes,
            width: channels.max(lanes),
            vectors,
            outputs_per_strip,
            strips,
            // Copies hold all channels.
            channel_chunks: if copies_input {
                1
            } else {
                vectors.div_ceil((L1_BYTES / bytes_per_vector).max(1))
            },
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

    /// Maximum number of elements of the copy of the input for a strip.
    fn stage(&self) -> usize {
        self.geometry.taps() / self.last().taps * self.window * self.width
    }

    /// Offsets from a strip to the first new data of the next one, in the input and in the output.
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

    /// Number of strips of all rows and channel chunks.
    fn count(&self) -> usize {
        self.geometry.rows() / self.last().outputs * self.strips * self.channel_chunks
    }

    /// Number of jobs that the strips justify.
    fn jobs(&self) -> usize {
        let work = (self.geometry.rows() * self.geometry.depth() * self.vectors) as f64;
        ((work / SPEED / NS_PER_JOB) as usize).clamp(1, 4 * num_threads()).min(self.count())
    }
}

/// Elements of a vector, and number of outputs whose accumulators fit the registers.
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

/// Evaluate an expression with constants `$n` (channels of a group) and `$r` (outputs of a strip).
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
