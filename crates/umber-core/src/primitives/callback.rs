//! Callback: a function of the host program, which is called with evaluated arrays.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use umber_types::{Device, Error, Result, Shape, ensure, error};

use super::rules::{batch, reshape};
use super::transfer;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

const OP: &str = "pure_callback";

/// A function of evaluated arrays. It has no side effects: it may be called more than once for a result, or never.
pub trait HostFunction: Send + Sync {
    /// The outputs for evaluated arguments. Called on the thread that evaluates them.
    fn call(&self, arguments: &[Array]) -> Result<Vec<Array>>;

    /// Numbers that are equal for functions that compute the same, while both exist. If empty, only the same object does.
    fn identity(&self) -> &[usize] {
        &[]
    }
}

/// How a callback computes a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallbackBatches {
    /// Not at all.
    Refused,
    /// One call for each batch element.
    Sequential,
    /// One call for the batch; arguments without a batch axis get one of length one.
    ExpandDims,
    /// One call for the batch; arguments without a batch axis are repeated along one.
    BroadcastAll,
}

/// Outputs of a [`HostFunction`].
#[derive(Clone)]
pub struct Callback(Arc<Call>);

#[derive(Clone)]
struct Call {
    function: Arc<dyn HostFunction>,
    outputs: Vec<ArraySpec>,
    batches: CallbackBatches,
}

impl Callback {
    /// Calls of a function whose outputs have these specs.
    pub fn new(
        function: Arc<dyn HostFunction>,
        outputs: Vec<ArraySpec>,
        batches: CallbackBatches,
    ) -> Callback {
        Callback(Arc::new(Call { function, outputs, batches }))
    }

    /// How it computes a batch.
    pub(crate) fn batches(&self) -> CallbackBatches {
        self.0.batches
    }
}

impl PartialEq for Callback {
    fn eq(&self, other: &Callback) -> bool {
        let (function, other_function) = (&self.0.function, &other.0.function);
        let identity = function.identity();
        (Arc::ptr_eq(function, other_function)
            || (!identity.is_empty() && identity == other_function.identity()))
            && self.0.outputs == other.0.outputs
            && self.0.batches == other.0.batches
    }
}

impl Eq for Callback {}

impl Hash for Callback {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.function.identity().hash(state);
        self.0.outputs.hash(state);
        self.0.batches.hash(state);
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callback({:?}, {:?})", self.0.outputs, self.0.batches)
    }
}

fn no_derivative() -> Error {
    error!(
        Value(OP),
        "a callback has no derivative: umber does not know its operations. Give it one by custom_function, or wrap its \
         arguments in stop_gradient"
    )
}

impl Primitive for Callback {
    fn name(&self) -> &'static str {
        OP
    }

    fn infer(&self, _inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(self.0.outputs.iter().cloned().collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.is_no_step()
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        // The specs of the outputs may depend on the lengths.
        if change.is_none() { Some(Generalized::of(self.clone())) } else { None }
    }

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        let is_active = at.needs_cotangent.contains(&true);
        Some(if is_active { Err(no_derivative()) } else { Ok(at.inputs.iter().map(|_| None).collect()) })
    }

    fn jvp(&self, _at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Err(no_derivative()))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            // Sequential calls are a loop, which `transforms` records.
            ensure!(
                matches!(self.0.batches, CallbackBatches::ExpandDims | CallbackBatches::BroadcastAll),
                Value(OP),
                "vmap of a callback needs vmap_method: sequential, expand_dims or broadcast_all"
            );
            let shared = |input: &Batched| {
                if self.0.batches == CallbackBatches::BroadcastAll {
                    return batch(input, batch_size);
                }
                let shape: Shape = std::iter::once(1).chain(input.shape().iter().copied()).collect();
                reshape(&input.array, shape)
            };
            let lengthened = |spec: &ArraySpec| {
                let shape: Shape = std::iter::once(batch_size).chain(spec.shape.iter().copied()).collect();
                ArraySpec { shape, dtype: spec.dtype }
            };
            let inputs = inputs
                .iter()
                .map(|input| if input.batched { Ok(input.array.clone()) } else { shared(input) })
                .collect::<Result<_>>()?;
            let outputs = self.0.outputs.iter().map(lengthened).collect();
            let callback = Callback(Arc::new(Call { outputs, ..Call::clone(&self.0) }));
            Ok(Batched::all(Array::record(callback, inputs)?))
        })
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let arguments: Vec<Array> = task
            .inputs
            .iter()
            .zip(&task.dtypes)
            .map(|(storage, &dtype)| Array::over(storage.clone(), dtype))
            .collect();
        let outputs = self.0.function.call(&arguments)?;
        ensure!(
            outputs.len() == task.specs.len(),
            Value(OP),
            "the callback returned {} arrays, expected {}",
            outputs.len(),
            task.specs.len()
        );
        for (i, output) in outputs.iter().enumerate() {
            let spec = task.specs[i];
            ensure!(
                *output.shape() == spec.shape,
                Value(OP),
                "the callback returned shape {} for result {i}, expected {}",
                output.shape(),
                spec.shape
            );
            ensure!(
                output.dtype() == spec.dtype,
                Type(OP),
                "the callback returned dtype {} for result {i}, expected {}",
                output.dtype(),
                spec.dtype
            );
            // Memory that others can write is copied: the result must not change.
            let output = transfer::to_device(output, Device::CPU)?.snapshot()?;
            output.eval()?;
            task.outputs[i] = output.storage().cloned();
        }
        Ok(())
    }
}
