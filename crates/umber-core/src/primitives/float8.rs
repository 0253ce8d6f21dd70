//! Float8: conversions from and to float8 dtypes, and the promotion of float8 inputs of other operations.
//!
//! Float8 dtypes are for storage: they are stored, copied and converted. An operation that computes converts float8 inputs to
//! float32, so that its results are those for float32 inputs.

use smallvec::smallvec;
use umber_kernels::float8;
use umber_types::{DType, Result, ensure};

use super::cast::Cast;
use super::rules::{batch_elementwise, cast, linear_jvp};
use super::select::Select;
use super::view::View;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// Conversion to a dtype: from float32 or float64 to float8, or from float8 to float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Float8Cast(pub DType);

/// `x` converted from or to float8.
pub(crate) fn cast_float8(x: &Array, dtype: DType) -> Result<Array> {
    if float8::converts(x.dtype(), dtype) {
        return Array::record_one(Float8Cast(dtype), &[x]);
    }
    // float32 represents every float8 value and every integer or float of 16 bits; wider dtypes go through float64, so that
    // the value is rounded once.
    let is_wide = !x.dtype().is_float8() && x.dtype().size() > 2;
    let intermediate = if is_wide { DType::Float64 } else { DType::Float32 };
    cast(&cast(x, intermediate)?, dtype)
}

impl Primitive for Float8Cast {
    fn name(&self) -> &'static str {
        "astype"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        ensure!(
            float8::converts(inputs[0].dtype, self.0),
            Type("astype"),
            "cannot convert {} to {} directly: float8 converts from float32 or float64, and to float32",
            inputs[0].dtype,
            self.0
        );
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype: self.0 }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    any_lengths!();

    // For derivatives, rounding counts as the identity, as in a cast to integers.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok(smallvec![Some(cast(&cotangents[0], at.inputs[0].dtype().inexact())?)]))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(Cast(self.0.inexact()), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            float8::convert(inputs[0], output);
            Ok(())
        })
    }
}

/// The outputs of an operation with float8 inputs; `None` if no input is float8, or if the operation accepts float8.
#[inline]
pub(crate) fn record(op: &Op, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
    if inputs.iter().any(|input| input.dtype().is_float8()) { record_promoted(op, inputs) } else { Ok(None) }
}

#[cold]
fn record_promoted(op: &Op, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
    if op.takes_float8() {
        return Ok(None);
    }
    if let Op::Select(_) = op {
        let bits = |x: &Array| Array::record_one(View(DType::UInt8), &[x]);
        let selected = Array::record_one(Select, &[&inputs[0], &bits(&inputs[1])?, &bits(&inputs[2])?])?;
        return Ok(Some(vec![Array::record_one(View(inputs[1].dtype()), &[&selected])?]));
    }
    let promote = |x: &Array| if x.dtype().is_float8() { cast(x, DType::Float32) } else { Ok(x.clone()) };
    let promoted: Inputs = inputs.iter().map(promote).collect::<Result<_>>()?;
    Array::record(op.clone(), promoted).map(|outputs| Some(outputs.into_vec()))
}

/// Fail if an operation that computes has a float8 output.
pub(crate) fn check_outputs(op: &Op, specs: &[ArraySpec]) -> Result<()> {
    let Some(spec) = specs.iter().find(|spec| spec.dtype.is_float8()) else { return Ok(()) };
    ensure!(
        op.takes_float8(),
        Type(op.name()),
        "dtype {} is for storage only; compute in another dtype and convert with astype",
        spec.dtype
    );
    Ok(())
}
