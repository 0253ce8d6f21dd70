//! Quantised arrays: elements stored in a few bits each.
//!
//! Codes are integers, so that no derivative passes through them. In affine mode scales and biases are differentiable; in the
//! floating-point modes (MXFP4, MXFP8, NVFP4) scales are codes too.

mod dequantize;
mod fp8;
mod matmul;
mod quantize;

pub use self::dequantize::Dequantize;
pub use self::fp8::Fp8;
pub(crate) use self::matmul::quantized_matmul;
pub use self::matmul::{Product, QuantizedMatMul, Transposed};
pub(crate) use self::quantize::NVFP4_UNIT;
pub use self::quantize::{Quantize, Rounded};

use umber_types::{Axes, DType, Quantization, Result, Shape, ensure};

use super::reduce;
use super::rules::reshape;
use crate::graph::{Array, ArraySpec};
use crate::validation::Site;

/// `[..., groups * size]` as `[..., groups, size]`.
fn grouped(format: Quantization, x: &Array) -> Result<Array> {
    let mut shape = x.shape().to_vec();
    let length = shape.pop().expect("rows");
    shape.extend([length / format.group_size(), format.group_size()]);
    reshape(x, shape.into_iter().collect::<Shape>())
}

/// The sum over each group.
fn group_sums(format: Quantization, x: &Array) -> Result<Array> {
    let grouped = grouped(format, x)?;
    let last = grouped.ndim() - 1;
    reshape(
        &reduce::sum(&grouped, &Axes::one(last))?,
        grouped.shape()[..last].iter().copied().collect::<Shape>(),
    )
}

/// The dtype that computations on a dtype use: float32 for 16-bit floats.
fn working(dtype: DType) -> DType {
    if dtype.is_half() { DType::Float32 } else { dtype }
}

/// The codes in the words of a quantised array as numbers, before scale and bias, in the dtype of the scales.
fn levels(format: Quantization, words: &Array, scales: &Array) -> Result<Array> {
    let ones = Array::full(scales.shape().clone(), 1.0, scales.dtype());
    let zeros = Array::full(scales.shape().clone(), 0.0, scales.dtype());
    Dequantize { format, dtype: scales.dtype() }.apply(words, &ones, Some(&zeros))
}

/// Check the dtypes of a quantised array's words, scales and biases in a loaded program; [`row_length`] checks their shapes.
fn validate_arrays(format: Quantization, site: &Site<'_>, arrays: &[&ArraySpec]) -> Result<()> {
    let have_dtypes = match (arrays, format.has_biases()) {
        ([words, scales, biases], true) => {
            words.dtype == DType::UInt32 && scales.dtype.is_floating() && biases.dtype.is_floating()
        }
        ([words, scales], false) => words.dtype == DType::UInt32 && scales.dtype == DType::UInt8,
        _ => false,
    };
    site.must(have_dtypes, "words, scales and biases of a quantised array")
}

/// Check that words, scales and biases have matching shapes; returns the row length of the quantised array.
pub(crate) fn row_length(op: &str, format: Quantization, arrays: &[&ArraySpec]) -> Result<usize> {
    let (words, scales) = (arrays[0], arrays[1]);
    let groups = scales.shape.last().copied().unwrap_or(0);
    ensure!(
        arrays[2..].iter().all(|biases| biases.shape == scales.shape),
        Value(op),
        "scales and biases must have the same shape, got {} and {}",
        scales.shape,
        arrays[2..].first().map_or_else(|| scales.shape.clone(), |biases| biases.shape.clone())
    );
    let fits = words.shape.ndim() == scales.shape.ndim()
        && words.shape.ndim() > 0
        && words.shape[..words.shape.ndim() - 1] == scales.shape[..scales.shape.ndim() - 1]
        && words.shape.last() == Some(&(groups * format.words_of_group()));
    ensure!(
        fits,
        Value(op),
        "shapes of w, {}, and scales, {}, do not match, expected w[..., n * {}] and scales[..., n] for \
         group_size={}, bits={} and mode='{}'",
        words.shape,
        scales.shape,
        format.words_of_group(),
        format.group_size(),
        format.bits(),
        format.mode().name()
    );
    Ok(groups * format.group_size())
}
