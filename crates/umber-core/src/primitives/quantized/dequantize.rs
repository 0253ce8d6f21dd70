//! Dequantize: the values that packed words represent.

use smallvec::SmallVec;
use umber_types::{DType, Quantization, Result};

use super::super::rules::{batch, cast, mul, tangent_or_zero};
use super::{group_sums, levels, row_length, validate_arrays, working};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// `scale * level + bias`: inputs are words `[..., w]`, scales `[..., groups]` and, in affine mode, biases of that shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Dequantize {
    /// The storage format.
    #[serde(rename = "how")]
    pub format: Quantization,
    /// The dtype of the result.
    pub dtype: DType,
}

impl Dequantize {
    /// The values that `words` represent.
    pub(crate) fn apply(self, words: &Array, scales: &Array, biases: Option<&Array>) -> Result<Array> {
        let inputs: SmallVec<[&Array; 3]> = [words, scales].into_iter().chain(biases).collect();
        Array::record_one(self, &inputs)
    }
}

impl Primitive for Dequantize {
    fn name(&self) -> &'static str {
        "dequantize"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let length = row_length("dequantize", self.format, inputs)?;
        let shape = inputs[0].shape.with(inputs[0].shape.ndim() - 1, length);
        Ok(ArraySpec { shape, dtype: self.dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        validate_arrays(self.format, site, site.inputs)?;
        site.must(self.dtype.is_floating(), "a floating dtype")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let [words, scales, ..] = at.inputs else { unreachable!("words and scales") };
            at.pull(|i| {
                if i == 0 || !self.format.has_biases() {
                    return Ok(None);
                }
                let ct = cast(&cotangents[0], working(scales.dtype()))?;
                let terms = match i {
                    1 => mul(&ct, &cast(&levels(self.format, words, scales)?, ct.dtype())?)?,
                    _ => ct,
                };
                cast(&group_sums(self.format, &terms)?, at.inputs[i].dtype()).map(Some)
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let tangent = |i: usize| tangent_or_zero(tangents[i].as_ref(), &at.inputs[i]);
            Ok(vec![self.apply(&at.inputs[0], &tangent(1), Some(&tangent(2)))?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let arrays: SmallVec<[Array; 3]> =
                inputs.iter().map(|input| batch(input, batch_size)).collect::<Result<_>>()?;
            Ok(vec![Batched::yes(self.apply(&arrays[0], &arrays[1], arrays.get(2))?)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input == 0 || !self.format.has_biases()
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let biases = inputs.get(2).copied();
            umber_kernels::quantized::dequantize(self.format, inputs[0], inputs[1], biases, output);
            Ok(())
        })
    }
}
