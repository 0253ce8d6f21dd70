//! Cast: conversion of the elements to another dtype.

use smallvec::smallvec;
use umber_types::{DType, Result};

use super::rules::{batch_elementwise, cast, linear_jvp, zeros_like};
use crate::backend::elementwise;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{
    Batched, Cotangents, CpuTask, ElementFunction, FusionRole, Point, Primitive, Rule, Tangents, rule,
};
use crate::validation::Site;

/// Conversion to a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Cast(pub DType);

impl Cast {
    /// Is it a conversion to bool? Its derivative is zero. Rounding to integers counts as the identity.
    fn tests_for_zero(self, from: DType) -> bool {
        self.0 == DType::Bool && from != DType::Bool
    }
}

impl Primitive for Cast {
    fn name(&self) -> &'static str {
        "astype"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype: self.0 }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.must(!self.0.is_float8(), "a compute dtype")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        Some(Generalized::elementwise(*self, change))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let from = at.inputs[0].dtype();
            let pulled =
                if self.tests_for_zero(from) { None } else { Some(cast(&cotangents[0], from.inexact())?) };
            Ok(smallvec![pulled])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            if self.tests_for_zero(at.inputs[0].dtype()) {
                return Ok(vec![zeros_like(&at.outputs[0])]);
            }
            linear_jvp(Cast(self.0.inexact()), tangents)
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Step(ElementFunction::Cast(self.0))
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        elementwise(ElementFunction::Cast(self.0), task)
    }
}
