//! Convolutions without matrices: sums stay in registers while the kernel's taps pass over a copy of the input.
//!
//! What a box of outputs meets is copied, so that every tap lies at the same distance from every output; [`forward`] and
//! [`backward`] drive the loops over it.

mod backward;
mod forward;

pub(super) use backward::backward;
pub(super) use forward::forward;

use umber_kernels_base::lanes::Ring;
use umber_kernels_matmul::multiply::Multiply;

use super::boxes::Boxes;
use super::geometry::Geometry;
use super::panels::ChannelMapping;

/// Bytes of the copy of a box: it stays in L2.
const COPY: usize = 384 << 10;
/// Bytes of the copy of a single output at most.
const MAX_COPY_BYTES: usize = 4 << 20;
/// Outputs of a box that are not worth cutting further for the sake of more boxes.
const MIN_OUTPUTS: usize = 48;

/// Is it of this kind?
pub(super) fn is_applicable<T: Multiply>(geometry: &Geometry) -> bool {
    let is_small =
        Boxes::new(geometry, 1, (1, MIN_OUTPUTS)).positions() <= MAX_COPY_BYTES / position::<T>(geometry);
    is_small && boxes::<T>(geometry, 1).are_dense()
}

/// The boxes of a convolution, `wanted` of them if they are worth it.
fn boxes<T: Multiply>(geometry: &Geometry, wanted: usize) -> Boxes<'_> {
    Boxes::new(geometry, COPY / position::<T>(geometry), (wanted, MIN_OUTPUTS))
}

/// Bytes of a position of a copy, at most.
fn position<T: Multiply>(geometry: &Geometry) -> usize {
    geometry.inputs
        * match ChannelMapping::of(geometry) {
            ChannelMapping::All => size_of::<T::Acc>(),
            ChannelMapping::Own => 4 * size_of::<<T::Acc as Ring>::Lanes64>(),
        }
}
