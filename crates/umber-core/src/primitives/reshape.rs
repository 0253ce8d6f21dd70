//! Reshape: the same elements in the same order with another shape. Copies only if no strides express the result.

use std::ops::Range;

use smallvec::smallvec;
use umber_types::{Layout, Result, Shape, ensure};

use super::rules::{linear_jvp, reshape};
use crate::generalization::{Change, Generalized, Hint, only_change, reshaped};
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::{
    Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents, batch_size, rule,
};
use crate::validation::Site;

/// Another shape of the same size.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Reshape {
    /// The new shape.
    pub shape: Shape,
}

impl Reshape {
    /// Which of the axes `axes` of the result has the inferred length, like `-1` in a call of `reshape`.
    fn inferred_axis(&self, change: &Change<'_>, axes: Range<usize>) -> Option<usize> {
        if let Some(other) = change.other() {
            let Op::Reshape(other) = other else { return None };
            let has_equal_ndim = other.shape.ndim() == self.shape.ndim();
            return has_equal_ndim.then(|| only_change(&self.shape, &other.shape, axes.start, axes.end))?;
        }
        change.hint(|hint| match hint {
            Hint::Rest(inferred) => inferred.iter().copied().find(|axis| axes.contains(axis)),
            Hint::Cut(_) | Hint::Place(_) | Hint::Lengths(_) => None,
        })
    }
}

impl Primitive for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let from = &inputs[0].shape;
        ensure!(
            from.size() == self.shape.size(),
            Value("reshape"),
            "cannot reshape {} elements into {}",
            from.size(),
            self.shape
        );
        Ok(ArraySpec { shape: self.shape.clone(), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let mut inferred = Vec::new();
        let (shape, factored_axes) = reshaped(change, |axes| {
            let axis = self.inferred_axis(change, axes)?;
            inferred.push(axis);
            Some(axis)
        })?;
        if !inferred.is_empty() {
            change.note(Hint::Rest(inferred));
        }
        Some(Generalized { op: Reshape { shape }.into(), axes: Some(factored_axes) })
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok(smallvec![Some(reshape(&cotangents[0], at.inputs[0].shape().clone())?)]))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(self.clone(), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let mut shape = self.shape.clone();
            shape.insert(0, batch_size(inputs));
            Ok(vec![Batched::yes(Array::record_one(Reshape { shape }, &[&inputs[0].array])?)])
        })
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Reshape
    }

    fn is_view(&self) -> bool {
        true
    }

    fn view(&self, input: &Layout) -> Option<Layout> {
        input.reshape(&self.shape)
    }

    fn eager_reads(&self, _inputs: &[&Array], _specs: &[ArraySpec]) -> Option<usize> {
        Some(0)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let input = &task.inputs[0];
        if let Some(layout) = input.layout.reshape(&self.shape) {
            let storage = input.with_layout(layout);
            task.answer(storage);
            return Ok(());
        }
        let layout = umber_types::Layout::contiguous(input.layout.shape.clone());
        let shape = &self.shape;
        let mut copy = crate::graph::Storage::allocate(&layout.shape, task.dtypes[0])?;
        if let Some(view) = copy.view_mut(task.dtypes[0]) {
            umber_kernels::tape::copy(task.view(0), view);
        }
        let dense =
            copy.layout.reshape(shape).expect("a contiguous layout reshapes to every shape of its size");
        let storage = copy.with_layout(dense);
        drop(copy);
        task.answer(storage);
        Ok(())
    }
}
