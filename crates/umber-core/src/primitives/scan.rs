//! Scan: cumulative reductions along an axis.

use smallvec::smallvec;
use umber_types::{BinaryKind, Result, ScanDirection, ScanExtent, ScanKind, ScatterKind, UnaryKind};

use super::concatenate::concatenate;
use super::control::Control;
use super::gather::{Places, iota};
use super::product_rules::{products_before, recurrence};
use super::rules::{
    binary, cast, conj, constant, doubled, linear_jvp, mul_absorbing, same_spec, sub, unary, widened,
    zeros_like,
};
use super::select::Select;
use super::slice::{reversed, slice_along};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// A scan along one axis, in the dtype of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Scan {
    /// Which scan.
    pub kind: ScanKind,
    /// Along which axis.
    pub axis: usize,
    /// From which end.
    pub direction: ScanDirection,
    /// Inclusive or exclusive. The first result of an exclusive scan is the identity.
    pub extent: ScanExtent,
}

impl Scan {
    fn apply(self, x: &Array) -> Result<Array> {
        Array::record_one(self, &[x])
    }

    fn is_reverse(self) -> bool {
        self.direction == ScanDirection::Reverse
    }

    fn inclusive(self) -> Scan {
        Scan { extent: ScanExtent::Inclusive, ..self }
    }

    /// The transpose of this scan, if it is a sum.
    fn backward(self) -> Scan {
        let direction = if self.is_reverse() { ScanDirection::Forward } else { ScanDirection::Reverse };
        Scan { kind: ScanKind::Sum, direction, ..self }
    }

    /// The cotangent of the inclusive scan: for an exclusive scan, `ct` shifted by one, without that of the first result.
    fn aligned(self, ct: &Array) -> Result<Array> {
        match self.extent {
            ScanExtent::Inclusive => Ok(ct.clone()),
            ScanExtent::Exclusive => {
                let shifted = slice_along(ct, self.axis, 1, ct.shape()[self.axis] - 1)?;
                let zero = Array::full(ct.shape().with(self.axis, 1), 0.0, ct.dtype());
                concatenate(smallvec![shifted, zero], self.axis)
            }
        }
    }

    /// The vjp of a forward product. At element `j`: the product of the elements before `j`, times the sum over `m >= j` of
    /// `ct(m)` times the product of the elements between `j` and `m`.
    fn pull_prod(self, x: &Array, ct: &Array) -> Result<Array> {
        let dtype = x.dtype();
        let (x, ct) = (doubled(x)?, doubled(ct)?);
        let before = products_before(&x, self.axis)?;
        let steps = slice_along(&x, self.axis, 1, x.shape()[self.axis] - 1)?;
        let after = recurrence(&steps, &self.aligned(&ct)?, self.axis)?;
        cast(&mul_absorbing(&before, &after)?, dtype)
    }

    /// The vjp of a forward extremum: each cotangent is added to the element that attains the running extremum, the last one
    /// among equals.
    fn pull_extremum(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        let extremum =
            if self.extent == ScanExtent::Inclusive { y.clone() } else { self.inclusive().apply(x)? };
        let indices = iota(x.shape(), self.axis)?;
        let attains = binary(BinaryKind::Equal, x, &extremum)?;
        let candidates = Array::record_one(Select, &[&attains, &indices, &constant(&indices, -1)])?;
        // Indices ascend, so that the last element that attains the extremum is the running maximum of the candidates.
        let source = Scan { kind: ScanKind::Max, ..self }.apply(&candidates)?;
        let clamped = binary(BinaryKind::Maximum, &source, &zeros_like(&source))?;
        let has_source = binary(BinaryKind::Equal, &source, &clamped)?;
        let ct = Array::record_one(Select, &[&has_source, ct, &zeros_like(ct)])?;
        let targets = Places::along(self.name(), self.axis, clamped);
        targets.write(ScatterKind::Add, &zeros_like(x), &ct)
    }

    /// The vjp of a forward log-sum-exp: at element `j`, the sum over `m >= j` of `ct(m) exp(x(j) - y(m))`.
    ///
    /// Let `c` be the running maximum and `s(m)` the sum of `exp(x(i) - c(m))` over `i <= m`. Then the result is
    /// `exp(x(j) - c(j))` times the sum over `m >= j` of `exp(c(j) - c(m)) ct(m) / s(m)`. A large offset of `x` cancels exactly
    /// in these differences. The factors of the recurrences are at most one, and the result is linear in `ct`, so that it can
    /// be differentiated again.
    fn pull_log_sum_exp(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        if x.dtype().is_complex() {
            return self.pull_complex_log_sum_exp(x, y, ct);
        }
        let dtype = x.dtype();
        let (x, ct) = (widened(x)?, widened(&self.aligned(ct)?)?);
        let largest = Scan { kind: ScanKind::Max, ..self.inclusive() }.apply(&x)?;
        let largest = Array::record_one(Control::StopGradient, &[&largest])?;
        let count = x.shape()[self.axis] - 1;
        let shifted = |start| slice_along(&largest, self.axis, start, count);
        let steps = factor(&shifted(0)?, &shifted(1)?)?;
        let terms = factor(&x, &largest)?;
        let sums = recurrence(&reversed(&steps, self.axis)?, &reversed(&terms, self.axis)?, self.axis)?;
        let sums = reversed(&sums, self.axis)?;
        let is_zero = binary(BinaryKind::Equal, &sums, &zeros_like(&sums))?;
        let sums = Array::record_one(Select, &[&is_zero, &constant(&sums, 1.0), &sums])?;
        let total = recurrence(&steps, &binary(BinaryKind::Divide, &ct, &sums)?, self.axis)?;
        cast(&mul_absorbing(&total, &terms)?, dtype)
    }

    /// As [`Scan::pull_log_sum_exp`] with `y` instead of the running maximum, which complex numbers do not have.
    fn pull_complex_log_sum_exp(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        let y = if self.extent == ScanExtent::Inclusive { y.clone() } else { self.inclusive().apply(x)? };
        let count = x.shape()[self.axis] - 1;
        let steps = factor(&slice_along(&y, self.axis, 0, count)?, &slice_along(&y, self.axis, 1, count)?)?;
        let total = recurrence(&conj(&steps)?, &self.aligned(ct)?, self.axis)?;
        mul_absorbing(&total, &conj(&factor(x, &y)?)?)
    }

    fn pull(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        if self.is_reverse() && self.kind != ScanKind::Sum {
            let reversed_axis = |x: &Array| reversed(x, self.axis);
            let forward = Scan { direction: ScanDirection::Forward, ..self };
            return reversed_axis(&forward.pull(
                &reversed_axis(x)?,
                &reversed_axis(y)?,
                &reversed_axis(ct)?,
            )?);
        }
        match self.kind {
            ScanKind::Sum => self.backward().apply(ct),
            ScanKind::Prod => self.pull_prod(&conj(x)?, ct),
            ScanKind::Min | ScanKind::Max => self.pull_extremum(x, y, ct),
            ScanKind::LogSumExp => self.pull_log_sum_exp(x, y, ct),
        }
    }
}

/// `exp(a - b)`, zero where `a` is negative infinity, for all `b`.
fn factor(a: &Array, b: &Array) -> Result<Array> {
    let lowest = constant(a, f64::NEG_INFINITY);
    let is_lowest = binary(BinaryKind::Equal, a, &lowest)?;
    unary(UnaryKind::Exp, &sub(a, &Array::record_one(Select, &[&is_lowest, &zeros_like(a), b])?)?)
}

impl Primitive for Scan {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.axis(self.axis)
    }

    any_lengths!(along 0);

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, y, ct) = (&at.inputs[0], &at.outputs[0], &cotangents[0]);
            if x.shape()[self.axis] == 0 {
                return Ok(smallvec![Some(zeros_like(x))]);
            }
            Ok(smallvec![Some(self.pull(x, y, ct)?)])
        })
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        match self.kind {
            ScanKind::Sum => rule(|| linear_jvp(*self, tangents)),
            ScanKind::Prod | ScanKind::Min | ScanKind::Max | ScanKind::LogSumExp => None,
        }
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let inner = Scan { axis: self.axis + 1, ..*self };
            Ok(vec![Batched::yes(inner.apply(&inputs[0].array)?)])
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::scan::scan(self.kind, inputs[0], self.axis, self.direction, self.extent, output);
            Ok(())
        })
    }
}
