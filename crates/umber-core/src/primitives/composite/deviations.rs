//! Sums of squared distances from the mean, which variances are made of.

use std::ops::Range;

use smallvec::smallvec;
use umber_types::{Axes, DType, Result, UnaryKind};

use super::{Composite, Decompose, centred};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, Tangents, rule};
use crate::primitives::reduce::sum;
use crate::primitives::rules::{broadcast, cast, constant, mul, unary, widened};

/// `sum((x - mean(x))^2)` over neighbouring axes, which stay with length one; of the dtype that `x` computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SquaredDeviations {
    /// The first of the axes.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

impl SquaredDeviations {
    fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    fn axes(self) -> Axes {
        Axes::sorted(self.range())
    }

    /// `x - mean(x)`, in the dtype computed in.
    fn centred(self, x: &Array) -> Result<Array> {
        centred(&widened(x)?, &self.axes())
    }
}

impl Decompose for SquaredDeviations {
    fn name(&self) -> &'static str {
        "var"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let mut shape = inputs[0].shape.to_vec();
        shape[self.range()].fill(1);
        let dtype = inputs[0].dtype;
        Ok(ArraySpec::new(shape, if dtype.is_half() { DType::Float32 } else { dtype }).into())
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let squares = unary(UnaryKind::Square, &self.centred(&inputs[0])?)?;
        Ok(vec![sum(&squares, &self.axes())?])
    }

    /// `2 ct (x - mean(x))`.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = &at.inputs[0];
            let twice = mul(&cotangents[0], &constant(&cotangents[0], 2.0))?;
            let pulled = mul(&broadcast(&twice, x.shape())?, &self.centred(x)?)?;
            Ok(smallvec![Some(cast(&pulled, x.dtype())?)])
        })
    }

    /// `2 sum((x - mean(x)) t)`.
    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = widened(tangents[0].as_ref().expect("jvp rules run with a tangent"))?;
            let total = sum(&mul(&self.centred(&at.inputs[0])?, &t)?, &self.axes())?;
            Ok(vec![mul(&total, &constant(&total, 2.0))?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let behind = SquaredDeviations { first: self.first + 1, ..*self };
            let input = smallvec![inputs[0].array.clone()];
            Ok(Batched::all(Array::record(Composite::SquaredDeviations(behind), input)?))
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::moments::squared_deviations(inputs[0], self.range(), output);
            Ok(())
        })
    }
}
