//! Transpose: a view of an array with its axes permuted. Never copies.

use smallvec::{SmallVec, smallvec};
use umber_types::{Layout, Result, Shape};

use super::rules::{linear_jvp, transpose};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// A permutation of the axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Transpose {
    /// Axis `i` of the output is axis `permutation[i]` of the input.
    pub permutation: Shape,
}

impl Primitive for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let shape = self.permutation.iter().map(|&axis| inputs[0].shape[axis]).collect();
        Ok(ArraySpec { shape, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        let mut sorted: Vec<usize> = self.permutation.to_vec();
        sorted.sort_unstable();
        site.must(sorted.into_iter().eq(0..site.ndim(0)), "a permutation of the axes")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let axes = change.factored[0]
            .map(|parts| self.permutation.iter().map(|&axis| parts[axis].clone()).collect());
        Some(Generalized { op: self.clone().into(), axes })
    }

    fn vjp(&self, _at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let mut inverse: SmallVec<[usize; 6]> = SmallVec::from_elem(0, self.permutation.len());
            for (to, &from) in self.permutation.iter().enumerate() {
                inverse[from] = to;
            }
            Ok(smallvec![Some(transpose(&cotangents[0], &inverse)?)])
        })
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(self.clone(), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let permutation: Shape =
                std::iter::once(0).chain(self.permutation.iter().map(|&axis| axis + 1)).collect();
            Ok(vec![Batched::yes(Array::record_one(Transpose { permutation }, &[&inputs[0].array])?)])
        })
    }

    fn is_view(&self) -> bool {
        true
    }

    fn view(&self, input: &Layout) -> Option<Layout> {
        Some(input.permute(&self.permutation))
    }

    fn eager_reads(&self, _inputs: &[&Array], _specs: &[ArraySpec]) -> Option<usize> {
        Some(0)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let input = &task.inputs[0];
        let storage = input.with_layout(input.layout.permute(&self.permutation));
        task.answer(storage);
        Ok(())
    }
}
