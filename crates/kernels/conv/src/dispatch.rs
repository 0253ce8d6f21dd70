//! Choice of the kernel that computes a convolution or the gradient of its weights.

use umber_kernels_base::lanes::Ring;
use umber_kernels_matmul::multiply::Multiply;

use super::geometry::Geometry;
use super::{direct, grouped, sliding_1d, winograd};

/// The two computations of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Forward,
    WeightGradient,
}

/// The algorithm for a phase. Integers and complex numbers have [`Im2colGemm`](Kernel::Im2colGemm) only, because their
/// accumulators are not SIMD vectors.
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

/// Whether [`winograd`] may be used. It checks its results and gives up if they are not all finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowWinograd {
    Yes,
    No,
}

/// The first applicable kernel for a phase. The comment on each line names the benchmark that justifies the choice (`cargo
/// bench --bench conv`; for gradients the one called "weight gradient").
pub(super) fn kernel_for<T: Multiply>(pass: Pass, phase: &Geometry, winograd: AllowWinograd) -> Kernel {
    if !T::Acc::IN_REGISTERS {
        Kernel::Im2colGemm // the only one for these dtypes
    } else if pass == Pass::Forward && sliding_1d::is_applicable(phase) {
        Kernel::Sliding1d // 64 taps over a 1-D signal
    } else if is_float32::<T>() && grouped::is_applicable::<T>(phase) {
        Kernel::Grouped // 3x3 depthwise, 3x3 in 32 groups
    } else if winograd == AllowWinograd::Yes && winograd::is_applicable::<T>(phase) {
        Kernel::Winograd // 3x3, batch 8 of 56x56, 64 to 64 channels; 1-D with 3 taps
    } else if direct::is_applicable::<T>(phase) {
        Kernel::Direct // 3x3 and 7x7 with stride 2, 3x3x3
    } else {
        Kernel::Im2colGemm // 3x3, batch 8 of 7x7, 512 to 512 channels
    }
}

/// Whether sums are accumulated in float32, as in most training. In float64 [`direct`] covers what [`grouped`] would.
pub(super) const fn is_float32<T: Multiply>() -> bool {
    size_of::<T::Acc>() == size_of::<f32>()
}
