//! Choice of the kernel for a product with a quantised matrix.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::row::Compute;
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::{gemm, skinny};

use super::matmul::{BLOCK, Transposed};
use super::qgemm::QGemm;
#[cfg(target_arch = "x86_64")]
use super::{int8_dot, skinny_qgemm};

/// Column multiple of a dequantised block for few rows. The block has at least twice as many columns as there are rows,
/// because it shares the L2 cache with the packed operands.
const MIN_PACKED_COLUMNS: usize = 128;

/// The algorithm for a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// [`int8_dot`]: int8 dot products.
    #[cfg(target_arch = "x86_64")]
    Int8Dot,
    /// [`skinny_qgemm`]: few rows, with codes read straight from the packed words.
    #[cfg(target_arch = "x86_64")]
    SkinnyQGemm,
    /// [`skinny`]: a few dozen rows, with the right operand dequantised column by column.
    Skinny,
    /// A matrix product of dequantised blocks of at most this many columns.
    Blocks { columns: usize },
}

/// The first applicable kernel for a product of `m` rows and depth `k`. `qgemm` describes it if the elements are float32 and
/// the quantised matrix is transposed. The comment on each line names its benchmark (`cargo bench --bench quantized`).
pub(super) fn kernel_for<W: Compute + Ring + Multiply<Acc = W>>(
    m: usize,
    k: usize,
    transposed: Transposed,
    qgemm: Option<&QGemm>,
) -> Kernel {
    #[cfg(not(target_arch = "x86_64"))]
    let _ = qgemm;
    let packed_columns = (2 * m).next_multiple_of(MIN_PACKED_COLUMNS);
    let suits_gemm = m <= *skinny::ROWS.end() && gemm::is_suitable::<W>(m, packed_columns, BLOCK);

    #[cfg(target_arch = "x86_64")]
    if qgemm.is_some_and(int8_dot::is_suitable) {
        return Kernel::Int8Dot; // x @ w.T, any number of rows, with AVX-512 VNNI or AMX
    }
    #[cfg(target_arch = "x86_64")]
    if qgemm.is_some_and(skinny_qgemm::is_suitable) {
        return Kernel::SkinnyQGemm; // x @ w.T, 1 and 8 rows
    }
    if transposed == Transposed::Yes && skinny::ROWS.contains(&m) && k > 0 && !suits_gemm {
        Kernel::Skinny // x @ w.T, 32 rows, with vectors of 64 bytes
    } else if suits_gemm {
        Kernel::Blocks { columns: packed_columns } // x @ w.T, 32 rows, with vectors of 32 bytes
    } else {
        Kernel::Blocks { columns: BLOCK } // x @ w; x @ w.T, 512 rows
    }
}
