//! Reduce: many elements to one along some axes, which stay with length one.

use smallvec::smallvec;
use umber_types::{Axes, BinaryKind, KeepAxes, ReduceKind, Result};

use super::products::others;
use super::rules::{binary, broadcast, cast, conj, constant, div, mul, widened, zeros_like};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// A reduction. The dtype stays, except that sums and products of small integers widen to 32 bits, and `all` and
/// `any` answer bool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Reduce {
    /// Which reduction.
    pub kind: ReduceKind,
    /// Along which axes.
    pub axes: Axes,
}

/// Sum over axes, which stay with length one, in the dtype of `x`.
pub(crate) fn sum(x: &Array, axes: &Axes) -> Result<Array> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    cast(&Array::record_one(Reduce { kind: ReduceKind::Sum, axes: axes.clone() }, &[x])?, x.dtype())
}

impl Reduce {
    /// 1 where the extremum is, 0 elsewhere, divided by how often it occurs: ties share evenly.
    fn share(&self, x: &Array, y: &Array) -> Result<Array> {
        let is_extreme = binary(BinaryKind::Equal, x, &broadcast(y, x.shape())?)?;
        let mask = cast(&is_extreme, x.dtype())?;
        let count = sum(&mask, &self.axes)?;
        div(&mask, &broadcast(&count, x.shape())?)
    }

    fn slope(&self, at: &Point<'_>) -> Result<Option<Array>> {
        let (x, y) = (&at.inputs[0], &at.outputs[0]);
        match self.kind {
            ReduceKind::Sum => Ok(Some(constant(x, 1.0))),
            ReduceKind::Prod => cast(&others(&widened(x)?, &self.axes)?, x.dtype()).map(Some),
            ReduceKind::Min | ReduceKind::Max => self.share(x, y).map(Some),
            ReduceKind::All | ReduceKind::Any => Ok(None),
        }
    }
}

impl Primitive for Reduce {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let dtype = match self.kind {
            ReduceKind::All | ReduceKind::Any => umber_types::DType::Bool,
            ReduceKind::Sum | ReduceKind::Prod => inputs[0].dtype.summed(),
            ReduceKind::Min | ReduceKind::Max => inputs[0].dtype,
        };
        Ok(ArraySpec { shape: inputs[0].shape.reduced(&self.axes, KeepAxes::Yes), dtype }.into())
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = &at.inputs[0];
            if self.kind == ReduceKind::Sum {
                return Ok(smallvec![Some(broadcast(&cotangents[0], x.shape())?)]);
            }
            let Some(slope) = self.slope(at)? else { return Ok(smallvec![Some(zeros_like(x))]) };
            let ct = broadcast(&cotangents[0], x.shape())?;
            Ok(smallvec![Some(mul(&ct, &conj(&slope)?)?)])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = tangents[0].as_ref().expect("jvp rules run with a tangent");
            if self.kind == ReduceKind::Sum {
                return Ok(vec![sum(t, &self.axes)?]);
            }
            let Some(slope) = self.slope(at)? else { return Ok(vec![zeros_like(&at.outputs[0])]) };
            Ok(vec![sum(&mul(t, &slope)?, &self.axes)?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let reduce = Reduce { kind: self.kind, axes: self.axes.shifted() };
            Ok(vec![Batched::yes(Array::record_one(reduce, &[&inputs[0].array])?)])
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::reduce::reduce(self.kind, inputs[0], &self.axes, output);
            Ok(())
        })
    }
}
