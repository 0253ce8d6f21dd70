//! Rope: rotary position embedding, pairs of features rotated by angles proportional to the position.

use umber_kernels::scratch_vec::ScratchVec;
use umber_types::{BinaryKind, DType, Pairing, Result, Shape, UnaryKind, ensure};

use super::{Decompose, Parameter};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, Tangents, batch_size, rule};
use crate::primitives::concatenate::concatenate;
use crate::primitives::gather::iota;
use crate::primitives::rules::{
    add, align, batch, binary, broadcast, cast, constant, mul, reshape, same_spec, sub, unary, widened,
};
use crate::primitives::slice::slice_along;
use crate::validation::Site;

/// The pair `i` of `x[..., t, :]` rotated by the angle `(t + offset) * scale / f_i`.
///
/// The second input is the offset, int64, which broadcasts to the axes before `t`. `f_i` is `base^(2 i / dims)`, or element `i`
/// of a third input, float64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Rope {
    /// Number of features that are rotated.
    pub dims: usize,
    /// Which features form a pair.
    pub pairing: Pairing,
    /// The sign of the angles.
    #[serde(rename = "turn")]
    pub direction: RotationDirection,
    /// Base of the `f_i`; `None` if they are an input.
    pub base: Option<Parameter>,
    /// Factor by which positions are multiplied.
    pub scale: Parameter,
}

/// The direction of rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum RotationDirection {
    /// By the angle.
    Forwards,
    /// By minus the angle: the inverse, which is also the transpose.
    Backwards,
}

impl Rope {
    /// The inverse rotation.
    fn reversed(self) -> Rope {
        let direction = match self.direction {
            RotationDirection::Forwards => RotationDirection::Backwards,
            RotationDirection::Backwards => RotationDirection::Forwards,
        };
        Rope { direction, ..self }
    }

    /// `scale` or `-scale`, by direction.
    fn signed_scale(self) -> f64 {
        match self.direction {
            RotationDirection::Forwards => self.scale.value(),
            RotationDirection::Backwards => -self.scale.value(),
        }
    }

    /// The signed angle per position of each pair, computed from `base`.
    fn frequencies(self, base: f64) -> Result<ScratchVec<f64>> {
        let half = self.dims / 2;
        let mut frequencies = ScratchVec::new(half)?;
        frequencies
            .extend((0..half).map(|i| self.signed_scale() * (i as f64 * (-base.ln() / half as f64)).exp()));
        Ok(frequencies)
    }

    /// The angles, float64, of shape `[..., t, dims / 2]`.
    fn angles(self, inputs: &[Array]) -> Result<Array> {
        let (x, half) = (&inputs[0], self.dims / 2);
        let batch = &x.shape()[..x.ndim() - 2];
        let positions: Shape = batch.iter().copied().chain([x.shape()[x.ndim() - 2]]).collect();
        let angle_shape: Shape = positions.iter().copied().chain([half]).collect();
        let column =
            |array: &Array| -> Result<Shape> { Ok(array.shape().iter().copied().chain([1]).collect()) };
        let offset = cast(&inputs[1], DType::Float64)?;
        let offset = broadcast(&reshape(&offset, column(&offset)?)?, &positions)?;
        let position = add(&offset, &cast(&iota(&positions, positions.ndim() - 1)?, DType::Float64)?)?;
        let position = mul(&position, &constant(&position, self.signed_scale()))?;
        let position = broadcast(&reshape(&position, column(&position)?)?, &angle_shape)?;
        match (self.base, inputs.get(2)) {
            (None, Some(divisors)) => {
                let row: Shape = std::iter::repeat_n(1, angle_shape.ndim() - 1).chain([half]).collect();
                binary(BinaryKind::Divide, &position, &broadcast(&reshape(divisors, row)?, &angle_shape)?)
            }
            (base, _) => {
                let base = base.map_or(1.0, Parameter::value);
                let exponent = cast(&iota(&angle_shape, angle_shape.ndim() - 1)?, DType::Float64)?;
                let exponent = mul(&exponent, &constant(&exponent, -base.ln() / half as f64))?;
                mul(&position, &unary(UnaryKind::Exp, &exponent)?)
            }
        }
    }
}

impl Decompose for Rope {
    fn name(&self) -> &'static str {
        "rope"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let x = &inputs[0].shape;
        let half = self.dims / 2;
        let fits = inputs.len() == 2 + usize::from(self.base.is_none())
            && x.ndim() >= 2
            && self.dims > 0
            && self.dims.is_multiple_of(2)
            && self.dims <= x[x.ndim() - 1]
            && inputs[0].dtype.is_floating()
            && inputs[1].dtype == DType::Int64
            && inputs[1].shape.broadcasts_to(&Shape::new(x[..x.ndim() - 2].iter().copied()))
            && inputs
                .get(2)
                .is_none_or(|divisors| divisors.shape[..] == [half] && divisors.dtype == DType::Float64);
        ensure!(fits, Value("rope"), "x of shape {x} has fewer than dims = {} features", self.dims);
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = widened(&inputs[0])?;
        let (last, half) = (x.ndim() - 1, self.dims / 2);
        let angles = self.angles(inputs)?;
        let cosine = cast(&unary(UnaryKind::Cos, &angles)?, x.dtype())?;
        let sine = cast(&unary(UnaryKind::Sin, &angles)?, x.dtype())?;
        let to_rotate = slice_along(&x, last, 0, self.dims)?;
        let (a, b) = match self.pairing {
            Pairing::Halves => {
                (slice_along(&to_rotate, last, 0, half)?, slice_along(&to_rotate, last, half, half)?)
            }
            Pairing::Neighbours => {
                let mut pairs: Shape = to_rotate.shape().with(last, half);
                pairs.push(2);
                let pairs = reshape(&to_rotate, pairs)?;
                let component =
                    |i: usize| reshape(&slice_along(&pairs, last + 1, i, 1)?, angles.shape().clone());
                (component(0)?, component(1)?)
            }
        };
        let rotated =
            [sub(&mul(&a, &cosine)?, &mul(&b, &sine)?)?, add(&mul(&a, &sine)?, &mul(&b, &cosine)?)?];
        let rotated = match self.pairing {
            Pairing::Halves => concatenate(rotated.into_iter().collect(), last)?,
            Pairing::Neighbours => {
                let column: Shape = angles.shape().iter().copied().chain([1]).collect();
                let columns = rotated.iter().map(|component| reshape(component, column.clone()));
                reshape(&concatenate(columns.collect::<Result<_>>()?, last + 1)?, to_rotate.shape().clone())?
            }
        };
        let unrotated = x.shape()[last] - self.dims;
        let y = match unrotated {
            0 => rotated,
            _ => concatenate(
                [rotated, slice_along(&x, last, self.dims, unrotated)?].into_iter().collect(),
                last,
            )?,
        };
        Ok(vec![cast(&y, inputs[0].dtype())?])
    }

    /// The transpose of a rotation is its inverse.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        if at.needs_cotangent[1..].contains(&true) {
            return None;
        }
        rule(|| {
            let inputs = std::iter::once(&cotangents[0]).chain(&at.inputs[1..]).cloned().collect();
            let pulled = Array::record(super::Composite::Rope(self.reversed()), inputs)?;
            let others = std::iter::repeat_n(None, at.inputs.len() - 1);
            Ok(pulled.into_iter().map(Some).chain(others).collect())
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        let tangent = tangents[0].as_ref().filter(|_| tangents[1..].iter().all(Option::is_none))?;
        rule(|| {
            let inputs = std::iter::once(tangent).chain(&at.inputs[1..]).cloned().collect();
            Ok(Array::record(super::Composite::Rope(*self), inputs)?.into_vec())
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        if inputs.get(2).is_some_and(|divisors| divisors.batched) {
            return None;
        }
        rule(|| {
            let x = batch(&inputs[0], batch_size(inputs))?;
            let offset = align(&inputs[1], inputs[0].ndim() - 2)?;
            let divisors = inputs[2..].iter().map(|input| input.array.clone());
            let arrays = [x, offset].into_iter().chain(divisors).collect();
            Ok(Batched::all(Array::record(super::Composite::Rope(*self), arrays)?))
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let shape = &task.specs[0].shape;
        let batch = Shape::new(shape[..shape.ndim() - 2].iter().copied());
        let layout = task.inputs[1].layout.broadcast_to(&batch);
        task.inputs[1] = task.inputs[1].with_layout(layout);
        let frequencies = match self.base {
            Some(base) => self.frequencies(base.value())?,
            None => {
                let divisors = task.view(2);
                let mut dense = ScratchVec::filled(0.0f64, divisors.size())?;
                let layout = umber_types::Layout::contiguous([divisors.size()].into());
                umber_kernels::tape::copy(divisors, umber_kernels::ViewMut::of(&mut dense, &layout));
                for frequency in &mut *dense {
                    *frequency = self.signed_scale() / *frequency;
                }
                dense
            }
        };
        task.run_one(|inputs, output| {
            umber_kernels::rope::rope(inputs[0], inputs[1], &frequencies, self.pairing, output);
            Ok(())
        })
    }
}
