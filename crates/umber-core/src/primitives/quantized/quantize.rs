//! Quantize: the words, scales and biases of an array. Rounded: fake quantisation, the values that these represent.

use umber_types::{
    Axes, BinaryKind, DType, Quantization, QuantizationMode, ReduceKind, Result, Shape, UnaryKind,
};

use super::super::binary::Binary;
use super::super::control::Control;
use super::super::reduce::Reduce;
use super::super::rules::{batch, broadcast, cast, constant, div, mul, reshape, sub, unary, zeros_like};
use super::super::select::Select;
use super::{grouped, working};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Inputs: an array `[..., n]` and, optionally for NVFP4, a float32 array over its leading axes with the largest magnitude of
/// the elements at each index. Outputs: words, scales and, in affine mode, biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Quantize(pub Quantization);

/// Inputs as for [`Quantize`]; the output has the shape and dtype of the first input, float32 for 16-bit floats. Its derivative
/// is the straight-through estimator (Bengio, Léonard, Courville, "Estimating or Propagating Gradients Through Stochastic
/// Neurons", 2013).
///
/// The factor of the scale that comes from the second input is not applied to the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Rounded(pub Quantization);

/// Largest E2M1 value times largest E4M3 value: the stored value of the largest magnitude.
pub(crate) const NVFP4_UNIT: f64 = 6.0 * 448.0;

/// The inputs with batch axes, for `vmap`.
fn per_batch_element(inputs: &[Batched]) -> Result<Vec<Array>> {
    let batch_size = batch_size(inputs);
    let is_first = |i: usize| i == 0 || inputs[i].batched;
    // An unbatched largest magnitude of the whole array stays a scalar.
    let arrays = (0..inputs.len())
        .map(|i| if is_first(i) { batch(&inputs[i], batch_size) } else { Ok(inputs[i].array.clone()) })
        .collect::<Result<Vec<_>>>()?;
    match arrays.as_slice() {
        // Otherwise its axes must be the leading axes of the batched array.
        [x, largest] if !inputs[1].batched && largest.ndim() > 0 => {
            let largest = batch(&inputs[1], x.shape()[0])?;
            Ok(vec![x.clone(), largest])
        }
        _ => Ok(arrays),
    }
}

impl Quantize {
    /// Words, scales and biases.
    pub(crate) fn apply(self, inputs: &[&Array]) -> Result<Vec<Array>> {
        Ok(Array::record(self, inputs.iter().copied().cloned().collect())?.into_vec())
    }
}

impl Primitive for Quantize {
    fn name(&self) -> &'static str {
        "quantize"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let format = self.0;
        let (shape, last) = (&inputs[0].shape, inputs[0].shape.ndim() - 1);
        let groups = shape[last] / format.group_size();
        let spec = |length, dtype| ArraySpec { shape: shape.with(last, length), dtype };
        let scale_dtype = if format.has_biases() { inputs[0].dtype } else { DType::UInt8 };
        let words = spec(format.words(shape[last]), DType::UInt32);
        let scales = std::iter::repeat_n(spec(groups, scale_dtype), if format.has_biases() { 2 } else { 1 });
        Ok(std::iter::once(words).chain(scales).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        validate_rows(self.0, site)
    }

    any_lengths!();

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        None
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(Batched::all(self.apply(&per_batch_element(inputs)?.iter().collect::<Vec<_>>())?)))
    }

    /// Scales and biases as differentiable functions of each group's minimum and maximum; codes are piecewise constant.
    fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
        rule(|| {
            // Inputs and outputs are constants, so that neither vjp nor jvp differentiates this operation again.
            let constants = |arrays: &[Array]| {
                let stopped = |array| Array::record_one(Control::StopGradient, &[array]);
                arrays.iter().map(stopped).collect::<Result<Vec<_>>>()
            };
            let mut outputs = constants(&self.apply(&constants(inputs)?.iter().collect::<Vec<_>>())?)?;
            let format = self.0;
            if format.mode() != QuantizationMode::Affine {
                return Ok(outputs);
            }
            let (dtype, x) = (inputs[0].dtype(), grouped(format, &inputs[0])?);
            let x = cast(&x, working(dtype))?;
            let extremum = |kind| {
                let extrema = Array::record_one(Reduce { kind, axes: Axes::one(x.ndim() - 1) }, &[&x])?;
                reshape(&extrema, outputs[1].shape().clone())
            };
            let (low, high) = (extremum(ReduceKind::Min)?, extremum(ReduceKind::Max)?);
            let compare = |kind, a: &Array, b: &Array| Array::record_one(Binary(kind), &[a, b]);
            let (scale, bias) = (cast(&outputs[1], x.dtype())?, cast(&outputs[2], x.dtype())?);
            let (new_scale, new_bias, is_variable) = if format.bits() == 1 {
                let width = sub(&high, &low)?;
                let is_variable = compare(BinaryKind::Greater, &width, &constant(&width, 1e-7))?;
                (width, low, is_variable)
            } else {
                let magnitude = |x: &Array| unary(UnaryKind::Abs, x);
                let below = compare(BinaryKind::Greater, &magnitude(&low)?, &magnitude(&high)?)?;
                let edge = Array::record_one(Select, &[&below, &low, &high])?;
                let steps = unary(UnaryKind::Round, &div(&bias, &scale)?)?;
                let is_variable = compare(BinaryKind::NotEqual, &bias, &zeros_like(&bias))?;
                let one = constant(&steps, 1.0);
                let steps = Array::record_one(Select, &[&is_variable, &steps, &one])?;
                (div(&edge, &steps)?, edge, is_variable)
            };
            let constant_bias = if format.bits() == 1 { new_bias.clone() } else { bias };
            for (i, variable, constant) in [(1, new_scale, scale), (2, new_bias, constant_bias)] {
                outputs[i] = cast(&Array::record_one(Select, &[&is_variable, &variable, &constant])?, dtype)?;
            }
            Ok(outputs)
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input == 1 || !self.0.has_biases()
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            umber_kernels::quantized::quantize(self.0, inputs[0], inputs.get(1).copied(), outputs);
            Ok(())
        })
    }
}

impl Rounded {
    /// `x` quantised and dequantised.
    pub(crate) fn apply(self, inputs: &[&Array]) -> Result<Array> {
        Array::record_one(self, inputs)
    }

    /// A derivative times the factor that elements are multiplied by before rounding.
    fn scaled(derivative: Array, inputs: &[Array]) -> Result<Array> {
        let Some(largest) = inputs.get(1) else { return Ok(derivative) };
        let factor = div(&constant(largest, NVFP4_UNIT), largest)?;
        let ones = std::iter::repeat_n(1, derivative.ndim() - factor.ndim());
        let column = reshape(&factor, factor.shape().iter().copied().chain(ones).collect::<Shape>())?;
        mul(&derivative, &cast(&broadcast(&column, derivative.shape())?, derivative.dtype())?)
    }
}

impl Primitive for Rounded {
    fn name(&self) -> &'static str {
        "rounded"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype: working(inputs[0].dtype) }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        validate_rows(self.0, site)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let pulled = cast(&Rounded::scaled(cotangents[0].clone(), at.inputs)?, at.inputs[0].dtype())?;
            at.pull(|i| Ok((i == 0).then(|| pulled.clone())))
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| match &tangents[0] {
            Some(tangent) => Ok(vec![Rounded::scaled(cast(tangent, at.outputs[0].dtype())?, at.inputs)?]),
            None => Ok(vec![zeros_like(&at.outputs[0])]),
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(Batched::all([self.apply(&per_batch_element(inputs)?.iter().collect::<Vec<_>>())?])))
    }

    fn is_index(&self, input: usize) -> bool {
        input == 1
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::quantized::rounded(self.0, inputs[0], inputs.get(1).copied(), output);
            Ok(())
        })
    }
}

/// Check the inputs of [`Quantize`] and [`Rounded`] in a loaded program: rows of whole groups, optionally with their largest
/// magnitudes.
fn validate_rows(format: Quantization, site: &Site<'_>) -> Result<()> {
    let has_whole_groups = |x: &ArraySpec| {
        x.dtype.is_floating() && x.shape.last().is_some_and(|n| n.is_multiple_of(format.group_size()))
    };
    let fits = match *site.inputs {
        [x] => has_whole_groups(x),
        [x, largest] => {
            has_whole_groups(x)
                && format.mode() == QuantizationMode::Nvfp4
                && largest.dtype == DType::Float32
                && x.shape[..x.shape.ndim() - 1].starts_with(&largest.shape)
        }
        _ => false,
    };
    site.must(fits, "rows of whole groups of real numbers")
}
