//! Random numbers as pure functions of their keys: random bits, categorical samples, rejection sampling.

use smallvec::smallvec;
pub use umber_kernels::rejection::Rejection;
use umber_types::{DType, Result, Shape, ensure};

use super::rules::{batch, zeros_like};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Random uint32 numbers from keys of two words: keys `[..., 2]` give `[..., *shape]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct RandomBits {
    /// The shape per key.
    pub shape: Shape,
}

impl Primitive for RandomBits {
    fn name(&self) -> &'static str {
        "random_bits"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let keys = &inputs[0].shape;
        let batch = keys[..keys.ndim() - 1].iter().copied();
        Ok(ArraySpec { shape: batch.chain(self.shape.iter().copied()).collect(), dtype: DType::UInt32 }
            .into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.must(site.has_keys(), "keys of two uint32")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(vec![Batched::yes(Array::record_one(self.clone(), &[&inputs[0].array])?)]))
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::random::random_bits(inputs[0], DType::UInt32.size(), output);
            Ok(())
        })
    }
}

/// Categorical samples by inversion of the cumulative weights. Inputs are weights `[..., n]` and levels `[..., m]` in [0, 1). The
/// result, uint32, is for each level the last index before which the weights sum up to at most `level` times their total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct CategoricalSample;

impl Primitive for CategoricalSample {
    fn name(&self) -> &'static str {
        "pick"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: inputs[1].shape.clone(), dtype: DType::UInt32 }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2)?;
        site.must(site.ndim(0) > 0 && site.ndim(0) == site.ndim(1), "rows of weights and levels")?;
        site.same_batch(1)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| at.pull(|i| Ok(Some(zeros_like(&at.inputs[i])))))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let (weights, levels) = (batch(&inputs[0], batch_size)?, batch(&inputs[1], batch_size)?);
            Ok(vec![Batched::yes(Array::record_one(CategoricalSample, &[&weights, &levels])?)])
        })
    }

    fn is_index(&self, _input: usize) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| umber_kernels::categorical::categorical(inputs[0], inputs[1], output))
    }
}

/// Float64 samples by rejection, one per element, from keys `[..., 2]` and one or two parameters `[..., *shape]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Rejections(pub Rejection);

impl Primitive for Rejections {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[1].clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1 + self.0.arity())?;
        let (keys, parameters) = (site.inputs[0], &site.inputs[1..]);
        let fits = site.has_keys()
            && parameters[0].shape.starts_with(&keys.shape[..site.ndim(0) - 1])
            && parameters
                .iter()
                .all(|parameter| parameter.dtype == DType::Float64 && parameter.shape == parameters[0].shape);
        site.must(fits, "keys of two uint32 and float64 parameters")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            ensure!(
                self.0.is_discrete() || !at.needs_cotangent[1],
                Value(self.0.name()),
                "rejection sampling has no derivative with respect to its parameters; wrap them in \
                 stop_gradient"
            );
            at.pull(|i| Ok(Some(zeros_like(&at.inputs[i]))))
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let inputs = inputs.iter().map(|input| batch(input, batch_size)).collect::<Result<Inputs>>()?;
            Array::record(*self, inputs).map(|out| out.into_iter().map(Batched::yes).collect())
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input == 0 || self.0.is_discrete()
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_kernels::rejection::rejection(self.0, inputs[0], &inputs[1..], output);
            Ok(())
        })
    }
}
