//! Which kernel computes a convolution, and which the gradient of its weights.

use umber_kernels_base::lanes::Ring;
use umber_kernels_matmul::multiply::Multiply;

use super::geometry::Geometry;
use super::{direct, grouped, sliding_1d, winograd};

/// How a convolution is computed. Sums of integers and complex numbers have [`Im2colGemm`](Forward::Im2colGemm) only: their
/// accumulators are no vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forward {
    /// [`sliding_1d`]: a long kernel over one channel.
    Sliding1d,
    /// [`grouped`]: depthwise convolutions and groups of a few channels, read in place.
    Grouped,
    /// [`winograd`]: fewer multiplications for kernels of three taps.
    Winograd,
    /// [`direct`]: register tiles over copies of input blocks.
    Direct,
    /// [`im2col_gemm`](super::im2col_gemm): a matrix product.
    Im2colGemm,
}

/// How the gradient of the weights is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backward {
    /// [`grouped`].
    Grouped,
    /// [`winograd`].
    Winograd,
    /// [`direct`].
    Direct,
    /// [`weight_gradient_gemm`](super::weight_gradient_gemm): a matrix product.
    Im2colGemm,
}

/// May [`winograd`] be used? It gives up on data that are not all finite, after it has looked at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowWinograd {
    Yes,
    No,
}

/// The first kernel that suits a phase. Beside each is the case of the benchmarks (`cargo bench --bench conv`) that justifies it.
pub(super) fn forward_kernel<T: Multiply>(phase: &Geometry, winograd: AllowWinograd) -> Forward {
    if !T::Acc::IN_REGISTERS {
        Forward::Im2colGemm // the only one
    } else if sliding_1d::is_applicable(phase) {
        Forward::Sliding1d // signals of one channel: benches/versus.py, convolve
    } else if is_float32::<T>() && grouped::is_applicable::<T>(phase) {
        Forward::Grouped // 3x3 depthwise, 3x3 in 32 groups
    } else if winograd == AllowWinograd::Yes && winograd::is_applicable::<T>(phase) {
        Forward::Winograd // 3x3, 8 of 56, 64 to 64; 3 along lines
    } else if direct::is_applicable::<T>(phase) {
        Forward::Direct // 3x3 by two, 7x7 by two, 3x3x3
    } else {
        Forward::Im2colGemm // 3x3, 8 of 7, 512 to 512
    }
}

/// The first kernel that suits the gradient of a phase's weights (the cases named "weight gradient").
pub(super) fn backward_kernel<T: Multiply>(phase: &Geometry, winograd: AllowWinograd) -> Backward {
    if !T::Acc::IN_REGISTERS {
        Backward::Im2colGemm // the only one
    } else if is_float32::<T>() && grouped::is_applicable::<T>(phase) {
        Backward::Grouped // 3x3 depthwise, 3x3 in 32 groups
    } else if winograd == AllowWinograd::Yes && winograd::is_applicable::<T>(phase) {
        Backward::Winograd // 3x3, 8 of 56, 64 to 64; 3 along lines
    } else if direct::is_applicable::<T>(phase) {
        Backward::Direct // 3x3 by two, 7x7 by two, 3x3x3
    } else {
        Backward::Im2colGemm // 3x3, 8 of 7, 512 to 512
    }
}

/// Are sums taken in float32? Networks are trained in that; in float64 [`direct`] does what [`grouped`] would.
pub(super) const fn is_float32<T: Multiply>() -> bool {
    size_of::<T::Acc>() == size_of::<f32>()
}
