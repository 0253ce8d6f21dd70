//! NumberOfElements: the number of elements along some axes, for shape-generic traces.

use umber_types::{Axes, DType, Result, Shape};

use super::rules::zeros_like;
use crate::generalization::any_lengths;
use crate::graph::tracing::are_lengths_free;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// One input. The result is a scalar: the product of the input's lengths along the axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct NumberOfElements {
    /// Along which axes.
    pub axes: Axes,
    /// The dtype of the result.
    pub dtype: DType,
}

impl NumberOfElements {
    fn of(&self, shape: &[usize]) -> f64 {
        self.axes.iter().map(|&axis| shape[axis] as f64).product()
    }

    /// The number of elements of `x`: an operation in a shape-generic trace, else a constant.
    pub(crate) fn record(self, x: &Array) -> Result<Array> {
        if x.is_traced() && are_lengths_free() {
            return Array::record_one(self, &[x]);
        }
        Ok(Array::full(Shape::scalar(), self.of(x.shape()), self.dtype))
    }
}

impl Primitive for NumberOfElements {
    fn name(&self) -> &'static str {
        "number_of_elements"
    }

    fn infer(&self, _inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: Shape::scalar(), dtype: self.dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.axes(&self.axes)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| at.pull(|_| Ok(None)))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let axes = Axes::sorted(self.axes.iter().map(|axis| axis + 1));
            let number = NumberOfElements { axes, dtype: self.dtype };
            Ok(vec![Batched { array: number.record(&inputs[0].array)?, batched: false }])
        })
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::create::fill(self.of(inputs[0].shape()).into(), output);
            Ok(())
        })
    }
}
