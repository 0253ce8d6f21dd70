//! Quantize: words, scales and biases for numbers. Rounded: numbers as their quantised form says them.

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

/// Inputs: numbers `[..., n]` and, perhaps in NVFP4, a float32 for each index of the first axes: the largest magnitude
/// among their numbers. Outputs: words, scales and, in affine mode, biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Quantize(pub Quantization);

/// Inputs as for [`Quantize`]; the output is like the first, in float32 where it is of 16 bits. Derivatives pass straight
/// through (Bengio, Léonard, Courville, "Estimating or Propagating Gradients Through Stochastic Neurons", 2013).
///
/// The part of the scale that the second input stands for is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Rounded(pub Quantization);

/// Largest E2M1 times largest E4M3: what is stored for the largest magnitude.
pub(crate) const NVFP4_UNIT: f64 = 6.0 * 448.0;

/// The same operation on lanes.
fn per_batch_element(inputs: &[Batched]) -> Result<Vec<Array>> {
    let batch_size = batch_size(inputs);
    let is_first = |i: usize| i == 0 || inputs[i].batched;
    // What all lanes share stays one number.
    let all = (0..inputs.len())
        .map(|i| if is_first(i) { batch(&inputs[i], batch_size) } else { Ok(inputs[i].array.clone()) })
        .collect::<Result<Vec<_>>>()?;
    match all.as_slice() {
        // Otherwise its axes must be the first ones of the numbers.
        [x, largest] if !inputs[1].batched && largest.ndim() > 0 => {
            let largest = batch(&inputs[1], x.shape()[0])?;
            Ok(vec![x.clone(), largest])
        }
        _ => Ok(all),
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
        let how = self.0;
        let (shape, last) = (&inputs[0].shape, inputs[0].shape.ndim() - 1);
        let groups = shape[last] / how.group_size();
        let spec = |length, dtype| ArraySpec { shape: shape.with(last, length), dtype };
        let scale = if how.has_biases() { inputs[0].dtype } else { DType::UInt8 };
        let words = spec(how.words(shape[last]), DType::UInt32);
        let scales = std::iter::repeat_n(spec(groups, scale), if how.has_biases() { 2 } else { 1 });
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

    /// Scales and biases as functions of the ends of each group's range; codes change in jumps only.
    fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
        rule(|| {
            // On both sides, so that neither derivative comes back to this operation.
            let fixed = |arrays: &[Array]| {
                let stopped = |array| Array::record_one(Control::StopGradient, &[array]);
                arrays.iter().map(stopped).collect::<Result<Vec<_>>>()
            };
            let mut outputs = fixed(&self.apply(&fixed(inputs)?.iter().collect::<Vec<_>>())?)?;
            let how = self.0;
            if how.mode() != QuantizationMode::Affine {
                return Ok(outputs);
            }
            let (dtype, x) = (inputs[0].dtype(), grouped(how, &inputs[0])?);
            let x = cast(&x, working(dtype))?;
            let end = |kind| {
                let ends = Array::record_one(Reduce { kind, axes: Axes::one(x.ndim() - 1) }, &[&x])?;
                reshape(&ends, outputs[1].shape().clone())
            };
            let (low, high) = (end(ReduceKind::Min)?, end(ReduceKind::Max)?);
            let compare = |kind, a: &Array, b: &Array| Array::record_one(Binary(kind), &[a, b]);
            let (scale, bias) = (cast(&outputs[1], x.dtype())?, cast(&outputs[2], x.dtype())?);
            let (new_scale, new_bias, moves) = if how.bits() == 1 {
                let width = sub(&high, &low)?;
                let moves = compare(BinaryKind::Greater, &width, &constant(&width, 1e-7))?;
                (width, low, moves)
            } else {
                let magnitude = |x: &Array| unary(UnaryKind::Abs, x);
                let below = compare(BinaryKind::Greater, &magnitude(&low)?, &magnitude(&high)?)?;
                let edge = Array::record_one(Select, &[&below, &low, &high])?;
                let steps = unary(UnaryKind::Round, &div(&bias, &scale)?)?;
                let moves = compare(BinaryKind::NotEqual, &bias, &zeros_like(&bias))?;
                let one = constant(&steps, 1.0);
                let steps = Array::record_one(Select, &[&moves, &steps, &one])?;
                (div(&edge, &steps)?, edge, moves)
            };
            let fixed_bias = if how.bits() == 1 { new_bias.clone() } else { bias };
            for (i, new, fixed) in [(1, new_scale, scale), (2, new_bias, fixed_bias)] {
                outputs[i] = cast(&Array::record_one(Select, &[&moves, &new, &fixed])?, dtype)?;
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
    /// `x` as its quantised form says it.
    pub(crate) fn apply(self, inputs: &[&Array]) -> Result<Array> {
        Array::record_one(self, inputs)
    }

    /// A derivative times what numbers are multiplied by before they are rounded.
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

/// The inputs of [`Quantize`] and [`Rounded`] in files: numbers in whole groups, and perhaps the largest magnitudes.
fn validate_rows(how: Quantization, site: &Site<'_>) -> Result<()> {
    let is_whole = |x: &ArraySpec| {
        x.dtype.is_floating() && x.shape.last().is_some_and(|n| n.is_multiple_of(how.group_size()))
    };
    let fits = match *site.inputs {
        [x] => is_whole(x),
        [x, largest] => {
            is_whole(x)
                && how.mode() == QuantizationMode::Nvfp4
                && largest.dtype == DType::Float32
                && x.shape[..x.shape.ndim() - 1].starts_with(&largest.shape)
        }
        _ => false,
    };
    site.must(fits, "rows of whole groups of real numbers")
}
