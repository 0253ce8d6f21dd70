//! Scan: what a reduction would answer after each element along an axis.

use smallvec::smallvec;
use umber_types::{BinaryKind, DType, Result, ScanDirection, ScanExtent, ScanKind, ScatterKind, UnaryKind};

use super::concatenate::concatenate;
use super::gather::{Places, iota};
use super::rules::{
    add, binary, cast, conj, constant, div, linear_jvp, mul, same_spec, sub, unary, zeros_like,
};
use super::select::Select;
use super::slice::slice_along;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// A scan along one axis; the dtype stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Scan {
    /// Which scan.
    pub kind: ScanKind,
    /// Along which axis.
    pub axis: usize,
    /// From which end.
    pub direction: ScanDirection,
    /// Does an element count for its own place? If not, the first answer is the identity.
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

    /// Elements that come `distance` later in scanning order than those of [`Scan::leading`].
    fn following(self, x: &Array, distance: usize) -> Result<Array> {
        let length = x.shape()[self.axis] - distance;
        slice_along(x, self.axis, if self.is_reverse() { 0 } else { distance }, length)
    }

    /// Elements that have another one `distance` later.
    fn leading(self, x: &Array, distance: usize) -> Result<Array> {
        let length = x.shape()[self.axis] - distance;
        slice_along(x, self.axis, if self.is_reverse() { distance } else { 0 }, length)
    }

    /// `x` and then `count` zeros, in scanning order.
    fn then_zeros(self, x: &Array, count: usize) -> Result<Array> {
        let zeros = Array::full(x.shape().with(self.axis, count), 0.0, x.dtype());
        let parts = if self.is_reverse() { smallvec![zeros, x.clone()] } else { smallvec![x.clone(), zeros] };
        concatenate(parts, self.axis)
    }

    /// Transpose of the derivative of a product, right also where some elements are zero.
    ///
    /// Where `x` is not zero, the sum of the later `ct y` over `x`. At the first zero, the same with that zero taken
    /// for one and without the division. At a later zero nothing, since the first one stays in every product.
    fn pull_prod(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        let (zero, one) = (zeros_like(x), constant(x, 1.0));
        let is_zero = binary(BinaryKind::Equal, x, &zero)?;
        let filled = Array::record_one(Select, &[&is_zero, &one, x])?;
        let elsewhere = div(&self.backward().apply(&mul(ct, y)?)?, &filled)?;
        let order = Scan { kind: ScanKind::Sum, ..self.inclusive() }.apply(&cast(&is_zero, DType::Int64)?)?;
        let is_next = binary(BinaryKind::Equal, &order, &constant(&order, 1))?;
        let is_first = binary(BinaryKind::LogicalAnd, &is_zero, &is_next)?;
        let revived = self.apply(&Array::record_one(Select, &[&is_first, &one, x])?)?;
        let at_first = self.backward().apply(&mul(ct, &revived)?)?;
        Array::record_one(Select, &[&is_first, &at_first, &elsewhere])
    }

    /// Transpose of the derivative of a running extremum: each cotangent goes to the element that holds its place,
    /// the latest among equals.
    fn pull_extremum(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        let best =
            if self.extent == ScanExtent::Inclusive { y.clone() } else { self.inclusive().apply(x)? };
        let length = x.shape()[self.axis];
        let places = iota(x.shape(), self.axis)?;
        // In scanning order places rise (or fall, in reverse), so the latest holder is a running extremum of places.
        let (kind, before, clamp) = if self.is_reverse() {
            (ScanKind::Min, length as i64, BinaryKind::Minimum)
        } else {
            (ScanKind::Max, -1, BinaryKind::Maximum)
        };
        let holds = binary(BinaryKind::Equal, x, &best)?;
        let held = Array::record_one(Select, &[&holds, &places, &constant(&places, before)])?;
        let holder = Scan { kind, ..self }.apply(&held)?;
        let first = constant(&holder, if self.is_reverse() { length as i64 - 1 } else { 0 });
        let inside = binary(clamp, &holder, &first)?;
        let has_holder = binary(BinaryKind::Equal, &holder, &inside)?;
        let ct = Array::record_one(Select, &[&has_holder, ct, &zeros_like(ct)])?;
        let places = Places::along(self.name(), self.axis, inside);
        places.write(ScatterKind::Add, &zeros_like(x), &ct)
    }

    /// Transpose of the derivative of a running log-sum-exp: the sum over later `m` of `ct(m) exp(x - y(m))`.
    ///
    /// Sums of windows that double: `s(j) += exp(y(j) - y(j + w)) s(j + w)`. Since `y` only rises, no factor is above
    /// one, and the result is linear in `ct`, so that it can be differentiated again.
    fn pull_log_sum_exp(self, x: &Array, y: &Array, ct: &Array) -> Result<Array> {
        let length = x.shape()[self.axis];
        let (y, mut total) = if self.extent == ScanExtent::Inclusive {
            (y.clone(), ct.clone())
        } else {
            let moved = self.then_zeros(&self.following(ct, 1)?, 1)?;
            (self.inclusive().apply(x)?, moved)
        };
        let mut width = 1;
        while width < length {
            let factor = factor(&self.leading(&y, width)?, &self.following(&y, width)?)?;
            let more = mul(&conj(&factor)?, &self.following(&total, width)?)?;
            total = add(&total, &self.then_zeros(&more, width)?)?;
            width *= 2;
        }
        mul(&total, &conj(&factor(x, &y)?)?)
    }
}

/// `exp(a - b)`, zero where `a` is the logarithm of zero, whatever `b` is.
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

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, y, ct) = (&at.inputs[0], &at.outputs[0], &cotangents[0]);
            if x.shape()[self.axis] == 0 {
                return Ok(smallvec![Some(zeros_like(x))]);
            }
            let pulled = match self.kind {
                ScanKind::Sum => self.backward().apply(ct)?,
                ScanKind::Prod => self.pull_prod(&conj(x)?, &conj(y)?, ct)?,
                ScanKind::Min | ScanKind::Max => self.pull_extremum(x, y, ct)?,
                ScanKind::LogSumExp => self.pull_log_sum_exp(x, y, ct)?,
            };
            Ok(smallvec![Some(pulled)])
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
