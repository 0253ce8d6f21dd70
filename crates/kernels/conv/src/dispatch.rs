//! Which kernel computes a convolution, and which the gradient of its weights.

use umber_kernels_base::lanes::Ring;
use umber_kernels_matmul::multiply::Multiply;

use super::geometry::Geometry;
use super::{direct, grouped, sliding_1d, winograd};

/// Which of the two computations of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Forward,
    WeightGradient,
}

/// How a phase is computed. Sums of integers and complex numbers have [`Im2colGemm`](Kernel::Im2colGemm) only: their
/// accumulators are no vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// [`sliding_1d`]: a long kernel over one channel; forward only.
    Sliding1d,
    /// [`grouped`]: depthwise convolutions and groups of a few channels, read in place.
    Grouped,
    /// [`winograd`]: fewer multiplications for kernels of three taps.
    Winograd,
    /// [`direct`]: register tiles over copies of input blocks.
    Direct,
    /// [`im2col_gemm`](super::im2col_gemm) or [`weight_gradient_gemm`](super::weight_gradient_gemm): a matrix product.
    Im2colGemm,
}

/// May [`winograd`] be used? It gives up on data that are not all finite, after it has looked at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowWinograd {
    Yes,
    No,
}

/// The first kernel that suits a phase. Beside each is the case of the benchmarks (`cargo bench --bench conv`, for gradients the
/// one named "weight gradient") that justifies it.
pub(super) fn kernel_for<T: Multiply>(pass: Pass, phase: &Geometry, winograd: AllowWinograd) -> Kernel {
    if !T::Acc::IN_REGISTERS {
        Kernel::Im2colGemm // the only one
    } else if pass == Pass::Forward && sliding_1d::is_applicable(phase) {
        Kernel::Sliding1d // 64 along a signal
    } else if is_float32::<T>() && grouped::is_applicable::<T>(phase) {
        Kernel::Grouped // 3x3 depthwise, 3x3 in 32 groups
    } else if winograd == AllowWinograd::Yes && winograd::is_applicable::<T>(phase) {
        Kernel::Winograd // 3x3, 8 of 56, 64 to 64; 3 along lines
    } else if direct::is_applicable::<T>(phase) {
        Kernel::Direct // 3x3 by two, 7x7 by two, 3x3x3
    } else {
        Kernel::Im2colGemm // 3x3, 8 of 7, 512 to 512
    }
}

/// Are sums taken in float32? Networks are trained in that; in float64 [`direct`] does what [`grouped`] would.
pub(super) const fn is_float32<T: Multiply>() -> bool {
    size_of::<T::Acc>() == size_of::<f32>()
}
