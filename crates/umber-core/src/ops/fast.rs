//! Operations that are one kernel where a backend has it.

use smallvec::SmallVec;
use umber_types::{Result, ensure, promote};

use crate::graph::{Array, Inputs};
use crate::primitives::composite::{Composite, Epsilon, LayerNorm, RmsNorm};
use crate::primitives::rules::cast;

/// The inputs of a norm in one floating dtype.
fn operands(op: &str, x: &Array, weights: &[Option<&Array>]) -> Result<Inputs> {
    ensure!(x.ndim() > 0, Value, "[{op}] got x of shape (), expected at least one axis");
    let given: SmallVec<[&Array; 3]> = std::iter::once(x).chain(weights.iter().copied().flatten()).collect();
    let dtype = given.iter().fold(x.dtype(), |dtype, array| promote(dtype, array.dtype()));
    ensure!(
        x.dtype().is_floating() && dtype.is_floating(),
        Value,
        "[{op}] got x of dtype {} and a result of dtype {dtype}, expected real floating point",
        x.dtype()
    );
    given.into_iter().map(|array| cast(array, dtype)).collect()
}

fn record(composite: Composite, inputs: Inputs) -> Result<Array> {
    let mut outputs = Array::record(composite, inputs)?;
    Ok(outputs.pop().expect("one output"))
}

/// `(x - mean) / sqrt(var + eps) * weight + bias` along the last axis; accumulates in float32 at least.
pub fn layer_norm(x: &Array, weight: Option<&Array>, bias: Option<&Array>, epsilon: f64) -> Result<Array> {
    let inputs = operands("layer_norm", x, &[weight, bias])?;
    let epsilon = Epsilon::new(epsilon);
    let norm = LayerNorm { epsilon, has_weight: weight.is_some(), has_bias: bias.is_some() };
    record(Composite::LayerNorm(norm), inputs)
}

/// `x / sqrt(mean(x²) + eps) * weight` along the last axis; accumulates in float32 at least.
pub fn rms_norm(x: &Array, weight: Option<&Array>, epsilon: f64) -> Result<Array> {
    let inputs = operands("rms_norm", x, &[weight])?;
    let norm = RmsNorm { epsilon: Epsilon::new(epsilon), has_weight: weight.is_some() };
    record(Composite::RmsNorm(norm), inputs)
}
