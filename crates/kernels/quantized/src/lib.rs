//! Quantised matrices: quantise, dequantise, and matrix products with them.
//!
//! A group of neighbouring weights has a scale, and in affine mode a bias; [`Quantization`] describes the format. `codes` maps
//! codes to values, `groups` computes scales and codes, `packed` reads rows of a packed matrix. `dispatch` chooses how
//! `matmul`(mod@matmul) multiplies: with a transposed matrix (`qgemm`) in integers where the processor has byte dot products
//! (`int8_dot`; `unpack_bits` unpacks codes that cross byte boundaries), with few rows straight from the packed words
//! (`skinny_qgemm`), else by dequantising blocks and multiplying those.

mod codes;
mod dispatch;
mod fp8;
mod groups;
#[cfg(target_arch = "x86_64")]
mod int8_dot;
mod kinds;
mod matmul;
mod packed;
mod qgemm;
#[cfg(target_arch = "x86_64")]
mod skinny_qgemm;
#[cfg(target_arch = "x86_64")]
mod unpack_bits;

use umber_types::{Quantization, match_dtype};

pub use fp8::{decode_fp8, encode_fp8};
pub use groups::{quantize, rounded};
pub use matmul::{BatchIndices, Product, Transposed, matmul};

use packed::QuantizedRows;
use umber_kernels_base::row::Real;
use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};

/// Number of elements in the largest group.
const LARGEST_GROUP: usize = 128;

/// Dequantise packed words: `out[..., r, i] = scales[..., r, i / group] * code + biases[..., r, i / group]`.
///
/// Computed in float32 (float64 for a float64 output) and rounded once.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn dequantize(format: Quantization, words: View, scales: View, biases: Option<View>, out: ViewMut) {
    assert!(out.layout().is_contiguous(), "the output is dense");
    let length = out.shape().last().copied().unwrap_or(0);
    if out.size() == 0 {
        return;
    }
    match_dtype!(float out.dtype(), T => {
        let packed = QuantizedRows::new(format, words, scales, biases, length);
        let target = Target::<T>::of(&out);
        parallel_ranges(out.size() / length, (1 << 14) / length + 1, |range| {
            let mut line = ScratchVec::filled_or_unwind(<T as Real>::Compute::default(), length);
            for row in range {
                packed.read(row, 0, &mut line);
                // SAFETY: a row of the output, which only this thread writes.
                unsafe { umber_kernels_base::row::store(&line, target.at((row * length) as isize), length) };
            }
        });
    }, else => panic!("the output is a float"));
}
