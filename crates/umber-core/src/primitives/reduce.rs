//! Reduce: sums, products, means, extrema and logical reductions over axes, which keep length one.

use smallvec::smallvec;
use umber_types::{Axes, BinaryKind, DType, KeepAxes, ReduceKind, Result};

use super::number_of_elements::NumberOfElements;
use super::product_rules::others;
use super::rules::{
    binary, broadcast, broadcast_like, cast, conj, div, doubled, mul_absorbing, widened, zeros_like,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// A reduction; `Mean` takes floating-point and complex arrays. The result has the dtype of the input, except that sums and
/// products of small integers widen to 32 bits, and `all` and `any` return bool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Reduce {
    /// Which reduction.
    pub kind: ReduceKind,
    /// Along which axes.
    pub axes: Axes,
}

/// Sum over axes, which keep length one, in the dtype of `x`.
pub(crate) fn sum(x: &Array, axes: &Axes) -> Result<Array> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    cast(&Array::record_one(Reduce { kind: ReduceKind::Sum, axes: axes.clone() }, &[x])?, x.dtype())
}

/// Mean over axes, which keep length one, in the dtype of `x`.
pub(crate) fn mean(x: &Array, axes: &Axes) -> Result<Array> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    Array::record_one(Reduce { kind: ReduceKind::Mean, axes: axes.clone() }, &[x])
}

impl Reduce {
    /// The derivative of an extremum: `1 / count` at each of the `count` elements that attain it, 0 elsewhere. In float32 for
    /// 16-bit floats, which cannot represent large counts.
    fn tie_weights(&self, x: &Array, y: &Array) -> Result<Array> {
        let is_extreme = binary(BinaryKind::Equal, x, &broadcast(y, x.shape())?)?;
        let mask = cast(&is_extreme, if x.dtype().is_half() { DType::Float32 } else { x.dtype() })?;
        let count = sum(&mask, &self.axes)?;
        div(&mask, &broadcast(&count, x.shape())?)
    }

    /// The derivative with respect to each element, in the dtype of `x` or a wider one.
    fn derivative(&self, at: &Point<'_>) -> Result<Option<Array>> {
        let (x, y) = (&at.inputs[0], &at.outputs[0]);
        match self.kind {
            ReduceKind::Sum | ReduceKind::Mean => unreachable!("linear reductions have rules of their own"),
            ReduceKind::Prod => others(&doubled(x)?, &self.axes).map(Some),
            ReduceKind::Min | ReduceKind::Max => self.tie_weights(x, y).map(Some),
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
            ReduceKind::All | ReduceKind::Any => DType::Bool,
            ReduceKind::Sum | ReduceKind::Prod => inputs[0].dtype.sum_dtype(),
            ReduceKind::Min | ReduceKind::Max | ReduceKind::Mean => inputs[0].dtype,
        };
        Ok(ArraySpec { shape: inputs[0].shape.reduced(&self.axes, KeepAxes::Yes), dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.axes(&self.axes)
    }

    any_lengths!(along 0);

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = &at.inputs[0];
            if self.kind == ReduceKind::Sum {
                return Ok(smallvec![Some(broadcast_like(&cotangents[0], x)?)]);
            }
            if self.kind == ReduceKind::Mean {
                // The number of elements may overflow a 16-bit float.
                let ct = widened(&cotangents[0])?;
                let count = NumberOfElements { axes: self.axes.clone(), dtype: ct.dtype() }.record(x)?;
                let quotient = div(&ct, &broadcast(&count, ct.shape())?)?;
                return Ok(smallvec![Some(broadcast(&cast(&quotient, x.dtype())?, x.shape())?)]);
            }
            let Some(derivative) = self.derivative(at)? else { return Ok(smallvec![Some(zeros_like(x))]) };
            let ct = broadcast(&cast(&cotangents[0], derivative.dtype())?, x.shape())?;
            Ok(smallvec![Some(cast(&mul_absorbing(&ct, &conj(&derivative)?)?, x.dtype())?)])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = tangents[0].as_ref().expect("jvp rules run with a tangent");
            match self.kind {
                ReduceKind::Sum => return Ok(vec![sum(t, &self.axes)?]),
                ReduceKind::Mean => return Ok(vec![mean(t, &self.axes)?]),
                ReduceKind::Prod | ReduceKind::Min | ReduceKind::Max | ReduceKind::All | ReduceKind::Any => {}
            }
            let Some(derivative) = self.derivative(at)? else { return Ok(vec![zeros_like(&at.outputs[0])]) };
            let terms = mul_absorbing(&cast(t, derivative.dtype())?, &derivative)?;
            Ok(vec![cast(&sum(&terms, &self.axes)?, at.outputs[0].dtype())?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let reduce = Reduce { kind: self.kind, axes: self.axes.shifted() };
            Ok(vec![Batched::yes(Array::record_one(reduce, &[&inputs[0].array])?)])
        })
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Reduction
    }

    fn eager_reads(&self, inputs: &[&Array], _specs: &[ArraySpec]) -> Option<usize> {
        Some(inputs[0].size())
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::reduce::reduce(self.kind, inputs[0], &self.axes, output);
            Ok(())
        })
    }
}
