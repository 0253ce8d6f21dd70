//! Select: elements of one array where a condition holds, of another array elsewhere.

use umber_types::{DType, Result};

use super::rules::{batch_elementwise, tangent_or_zero, zeros_like};
use crate::backend::elementwise;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, ElementFunction, FusionRole, Point, Primitive, Rule, Tangents, rule,
};
use crate::validation::Site;

/// `where(condition, a, b)`: three inputs of one shape, the first bool, the others of one dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Select;

impl Primitive for Select {
    fn name(&self) -> &'static str {
        "where"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[1].clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(3)?;
        let [condition, a, b] = [0, 1, 2].map(|i| site.inputs[i]);
        let fits = condition.dtype == DType::Bool && condition.shape == a.shape && a == b;
        site.must(fits, "a condition of bool and two arrays of its shape")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        Some(Generalized::elementwise(*self, change))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (condition, ct) = (&at.inputs[0], &cotangents[0]);
            let zero = zeros_like(ct);
            at.pull(|i| match i {
                0 => Ok(None),
                1 => Array::record_one(Select, &[condition, ct, &zero]).map(Some),
                _ => Array::record_one(Select, &[condition, &zero, ct]).map(Some),
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let a = tangent_or_zero(tangents[1].as_ref(), &at.outputs[0]);
            let b = tangent_or_zero(tangents[2].as_ref(), &at.outputs[0]);
            Ok(vec![Array::record_one(Select, &[&at.inputs[0], &a, &b])?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn is_index(&self, input: usize) -> bool {
        input == 0
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Step(ElementFunction::Select)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        elementwise(ElementFunction::Select, task)
    }
}
