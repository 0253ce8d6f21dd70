//! Broadcast: a view of an array with a larger shape. Never copies.

use smallvec::smallvec;
use umber_types::{Layout, Result, Shape};

use super::rules::{align, linear_jvp, unbroadcast};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents, batch_size, rule,
};
use crate::validation::Site;

/// The input broadcast to a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Broadcast {
    /// The shape of the result.
    pub shape: Shape,
}

impl Primitive for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast_to"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: self.shape.clone(), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        let fits = site.inputs[0].shape.broadcasts_to(&self.shape);
        site.must(fits, &format!("a slice of shape {}", self.shape))
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let (old, new) = (&change.old[0].shape, &change.new[0].shape);
        let front = self.shape.ndim() - old.ndim();
        let mut shape = self.shape.clone();
        for axis in 0..old.ndim() {
            if shape[front + axis] == old[axis] {
                shape.as_mut_slice()[front + axis] = new[axis];
            }
        }
        Some(Generalized::of(Broadcast { shape }))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok(smallvec![Some(unbroadcast(&cotangents[0], at.inputs[0].shape())?)]))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(self.clone(), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let mut shape = self.shape.clone();
            shape.insert(0, batch_size(inputs));
            let aligned = align(&inputs[0], self.shape.ndim())?;
            Ok(vec![Batched::yes(Array::record_one(Broadcast { shape }, &[&aligned])?)])
        })
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Broadcast
    }

    fn is_view(&self) -> bool {
        true
    }

    fn view(&self, input: &Layout) -> Option<Layout> {
        Some(input.broadcast_to(&self.shape))
    }

    fn eager_reads(&self, _inputs: &[&Array], _specs: &[ArraySpec]) -> Option<usize> {
        Some(0)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let input = &task.inputs[0];
        let storage = input.with_layout(input.layout.broadcast_to(&self.shape));
        task.answer(storage);
        Ok(())
    }
}
