//! Selects the kernel that multiplies matrices of floats or complex numbers on one thread.

use umber_kernels_base::lanes::Ring;

use super::multiply::{LARGE, MAX_GEMV_ROWS, Multiply};
use super::product::Product;
use super::{gemm, skinny, small};

/// Maximum rows for dot products along the depth, if the right matrix has dense columns.
const MAX_DOT_ROWS: usize = 16;
/// Up to this many multiplications the setup of the `gemm` crate does not pay.
pub(super) const MIN_MULTIPLICATIONS: usize = 1 << 13;
/// Minimum depth for dot products.
const MIN_DEPTH: usize = 64;

/// The kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// The transposed product, which has one row, by one of the others.
    Transposed,
    /// [`skinny`]: a few dozen rows by a transposed matrix, in place.
    Skinny,
    /// [`small`]: neither matrix is packed.
    Small,
    /// [`dot`](super::dot): each element is a dot product along the depth.
    Dot,
    /// [`gemm`]: blocks of both matrices are packed.
    Gemm,
    /// [`gemv`](super::gemv): rows of the right matrix are added up.
    Gemv,
    /// [`dot`](super::dot) with a dense copy of the left matrix.
    DotOfCopy,
    /// The `gemm` crate, with dense copies of blocks of the right matrix.
    LibraryByBlocks,
    /// The `gemm` crate.
    Library,
}

/// The first suitable kernel. The comments name the case of the benchmarks (`cargo bench --bench matmul`) for which each branch
/// exists.
pub(super) fn kernel_for<T: Ring + Multiply<Acc = T>>(product: &Product<T>) -> Kernel {
    let Product { m, n, k, a, b, out_row, .. } = *product;
    let has_dense_rows = b.columns == 1;
    let has_dense_columns = b.rows == 1;
    let is_tiny = m.saturating_mul(n).saturating_mul(k) <= MIN_MULTIPLICATIONS;
    let is_large = k.saturating_mul(n).saturating_mul(size_of::<T>()) >= LARGE;
    let is_long_sum = has_dense_columns && k >= MIN_DEPTH;
    let suits_gemm = gemm::is_suitable::<T>(m, n, k) || gemm::suits_skinny(product);

    if n == 1 && m > 1 && out_row == 1 {
        Kernel::Transposed // matrix @ vector
    } else if skinny::is_suitable(product) && !(suits_gemm && skinny::is_behind_gemm(m)) {
        Kernel::Skinny // a @ b.T of 32 rows
    } else if small::is_suitable(product) {
        Kernel::Small // batched/64 of 16x16x16
    } else if is_long_sum && a.columns == 1 && (is_tiny || m <= MAX_DOT_ROWS) {
        Kernel::Dot // a @ b.T of 4 rows
    } else if suits_gemm {
        Kernel::Gemm // square, with vectors of 32 bytes
    } else if has_dense_rows && (is_tiny || m == 1 || (m <= MAX_GEMV_ROWS && is_large)) {
        Kernel::Gemv // vector @ matrix, few rows
    } else if is_long_sum && m <= MAX_DOT_ROWS {
        Kernel::DotOfCopy // a.T @ b.T of 4 rows
    } else if !has_dense_rows && n > 1 && k > 1 {
        Kernel::LibraryByBlocks // square a @ b.T, with vectors of 64 bytes
    } else {
        Kernel::Library // square, with vectors of 64 bytes
    }
}
