//! Numbers stored in few bits each.
//!
//! Codes are integers and only choose: no derivative passes through them. In affine mode scales and biases are numbers like any
//! other; in the modes with floats of few bits scales are codes, too.

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
fn grouped(how: Quantization, x: &Array) -> Result<Array> {
    let mut shape = x.shape().to_vec();
    let length = shape.pop().expect("rows");
    shape.extend([length / how.group_size(), how.group_size()]);
    reshape(x, shape.into_iter().collect::<Shape>())
}

/// The sum of each group.
fn group_sums(how: Quantization, x: &Array) -> Result<Array> {
    let grouped = grouped(how, x)?;
    let last = grouped.ndim() - 1;
    reshape(
        &reduce::sum(&grouped, &Axes::one(last))?,
        grouped.shape()[..last].iter().copied().collect::<Shape>(),
    )
}

/// What numbers of a dtype are computed in.
fn working(dtype: DType) -> DType {
    if dtype.is_half() { DType::Float32 } else { dtype }
}

/// What the words of a quantised array stand for before scaling, in the dtype of its scales.
fn levels(how: Quantization, words: &Array, scales: &Array) -> Result<Array> {
    let ones = Array::full(scales.shape().clone(), 1.0, scales.dtype());
    let zeros = Array::full(scales.shape().clone(), 0.0, scales.dtype());
    Dequantize { how, dtype: scales.dtype() }.apply(words, &ones, Some(&zeros))
}

/// The parts of a quantised array, as files have them; [`row_length`] checks their shapes.
fn validate_parts(how: Quantization, site: &Site<'_>, parts: &[&ArraySpec]) -> Result<()> {
    let are_stored = match (parts, how.has_biases()) {
        ([words, scales, biases], true) => {
            words.dtype == DType::UInt32 && scales.dtype.is_floating() && biases.dtype.is_floating()
        }
        ([words, scales], false) => words.dtype == DType::UInt32 && scales.dtype == DType::UInt8,
        _ => false,
    };
    site.must(are_stored, "words, scales and biases of a quantised array")
}

/// Check that words, scales and biases are one quantised array; answers the length of its rows.
pub(crate) fn row_length(op: &str, how: Quantization, parts: &[&ArraySpec]) -> Result<usize> {
    let (words, scales) = (parts[0], parts[1]);
    let groups = scales.shape.last().copied().unwrap_or(0);
    ensure!(
        parts[2..].iter().all(|biases| biases.shape == scales.shape),
        Value(op),
        "scales and biases must have the same shape, got {} and {}",
        scales.shape,
        parts[2..].first().map_or_else(|| scales.shape.clone(), |biases| biases.shape.clone())
    );
    let fits = words.shape.ndim() == scales.shape.ndim()
        && words.shape.ndim() > 0
        && words.shape[..words.shape.ndim() - 1] == scales.shape[..scales.shape.ndim() - 1]
        && words.shape.last() == Some(&(groups * how.words_of_group()));
    ensure!(
        fits,
        Value(op),
        "shapes of w, {}, and scales, {}, do not match, expected w[..., n * {}] and scales[..., n] for \
         group_size={}, bits={} and mode='{}'",
        words.shape,
        scales.shape,
        how.words_of_group(),
        how.group_size(),
        how.bits(),
        how.mode().name()
    );
    Ok(groups * how.group_size())
}
