//! Direct convolutions: accumulators stay in registers while the loops run over the taps of a copy of the input.
//!
//! The input of a box of outputs is copied, so that the offset of a tap is the same for every output. [`forward`] and
//! [`backward`] run the loops over the copy.

mod backward;
mod forward;

pub(super) use backward::backward;
pub(super) use forward::forward;

use umber_kernels_base::lanes::Ring;
use umber_kernels_matmul::multiply::Multiply;

use super::boxes::Boxes;
use super::geometry::Geometry;
use super::panels::ChannelMapping;

/// Bytes of the copy of a box, which should stay in L2.
const COPY: usize = 384 << 10;
/// Maximum bytes of the copy of a single output.
const MAX_COPY_BYTES: usize = 4 << 20;
/// Boxes of fewer than twice as many outputs are not split to get more boxes.
const MIN_OUTPUTS: usize = 48;

/// Whether this kernel applies.
pub(super) fn is_applicable<T: Multiply>(geometry: &Geometry) -> bool {
    let is_small =
        Boxes::new(geometry, 1, (1, MIN_OUTPUTS)).positions() <= MAX_COPY_BYTES / position::<T>(geometry);
    is_small && boxes::<T>(geometry, 1).are_dense()
}

/// The boxes of a convolution: `target_count` of them, unless they would get too small.
fn boxes<T: Multiply>(geometry: &Geometry, target_count: usize) -> Boxes<'_> {
    Boxes::new(geometry, COPY / position::<T>(geometry), (target_count, MIN_OUTPUTS))
}

/// Maximum bytes of a position of a copy.
fn position<T: Multiply>(geometry: &Geometry) -> usize {
    geometry.inputs
        * match ChannelMapping::of(geometry) {
            ChannelMapping::All => size_of::<T::Acc>(),
            ChannelMapping::Own => 4 * size_of::<<T::Acc as Ring>::Lanes64>(),
        }
}
