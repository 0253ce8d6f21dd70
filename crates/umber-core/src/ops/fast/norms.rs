//! Normalisations of the last axis.

use smallvec::SmallVec;
use umber_types::{Result, ensure, promote};

use super::record;
use crate::graph::{Array, Inputs};
use crate::primitives::composite::{Composite, LayerNorm, Parameter, RmsNorm};
use crate::primitives::rules::cast;

/// The inputs of a norm in one floating dtype.
fn operands(op: &str, x: &Array, weights: &[Option<&Array>]) -> Result<Inputs> {
    ensure!(x.ndim() > 0, Value(op), "x must have at least one axis");
    let inputs: SmallVec<[&Array; 3]> = std::iter::once(x).chain(weights.iter().copied().flatten()).collect();
    let dtype = inputs.iter().fold(x.dtype(), |dtype, array| promote(dtype, array.dtype()));
    ensure!(
        x.dtype().is_floating() && dtype.is_floating(),
        Type(op),
        "x and the result must be real floating-point, got {} and {dtype}",
        x.dtype()
    );
    inputs.into_iter().map(|array| cast(array, dtype)).collect()
}

/// Layer normalisation along the last axis: `(x - mean(x)) / sqrt(var(x) + eps) * weight + bias`.
///
/// The shape of `x`, the promoted dtype; `weight` and `bias` are as long as the last axis. Accumulates in float32 at
/// least. Fails for 0-d arrays, lengths that differ, and dtypes that are not real floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([[-1.0f32, 1.0], [3.0, 7.0]]);
/// let y = ops::fast::layer_norm(&x, None, Some(&Array::from([10.0f32, 20.0])), 0.0)?;
/// assert_eq!(y.to_vec::<f32>()?, [9.0, 21.0, 9.0, 21.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn layer_norm(x: &Array, weight: Option<&Array>, bias: Option<&Array>, epsilon: f64) -> Result<Array> {
    let inputs = operands("layer_norm", x, &[weight, bias])?;
    let epsilon = Parameter::new(epsilon);
    let norm = LayerNorm { epsilon, has_weight: weight.is_some(), has_bias: bias.is_some() };
    record(Composite::LayerNorm(norm), inputs)
}

/// Root mean square normalisation along the last axis: `x / sqrt(mean(x²) + eps) * weight`.
///
/// The shape of `x`, the promoted dtype; `weight` is as long as the last axis. Accumulates in float32 at least. Fails
/// for 0-d arrays, lengths that differ, and dtypes that are not real floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([2.0f32, -2.0]);
/// let y = ops::fast::rms_norm(&x, Some(&Array::from([1.0f32, 3.0])), 0.0)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, -3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn rms_norm(x: &Array, weight: Option<&Array>, epsilon: f64) -> Result<Array> {
    let inputs = operands("rms_norm", x, &[weight])?;
    let norm = RmsNorm { epsilon: Parameter::new(epsilon), has_weight: weight.is_some() };
    record(Composite::RmsNorm(norm), inputs)
}
