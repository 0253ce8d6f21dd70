//! Fp8: float8 (E4M3) codes stored as uint8.

use smallvec::smallvec;
use umber_types::{DType, Result};

use super::super::rules::zeros_like;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// Conversion to or from float8 codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Fp8 {
    /// The nearest code of each float.
    Encode,
    /// The value of each code, in a floating dtype.
    Decode(DType),
}

impl Primitive for Fp8 {
    fn name(&self) -> &'static str {
        match self {
            Fp8::Encode => "to_fp8",
            Fp8::Decode(_) => "from_fp8",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let dtype = match *self {
            Fp8::Encode => DType::UInt8,
            Fp8::Decode(dtype) => dtype,
        };
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        let input = site.inputs[0].dtype;
        match self {
            Fp8::Encode => site.must(input.is_floating(), "real numbers"),
            Fp8::Decode(dtype) => {
                let fits = input == DType::UInt8 && dtype.is_floating();
                site.must(fits, "uint8 and a floating dtype")
            }
        }
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(vec![Batched::yes(Array::record_one(*self, &[&inputs[0].array])?)]))
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            match self {
                Fp8::Encode => umber_kernels::quantized::encode_fp8(inputs[0], output),
                Fp8::Decode(_) => umber_kernels::quantized::decode_fp8(inputs[0], output),
            }
            Ok(())
        })
    }
}
