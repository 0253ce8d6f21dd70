//! Callbacks: functions of the host program as operations, and their batches.

use std::sync::Arc;

use umber_types::{Device, Result, Stream};

use super::control_flow;
use crate::device;
use crate::graph::{Array, ArraySpec};
use crate::primitive::{Batched, Primitive, Rule};
use crate::primitives::callback::{Callback, CallbackBatches, HostFunction};

/// Record a call of a function of the host program; its outputs have these specs.
pub fn call_host(
    function: Arc<dyn HostFunction>,
    outputs: Vec<ArraySpec>,
    arguments: &[Array],
    batches: CallbackBatches,
) -> Result<Vec<Array>> {
    if outputs.is_empty() {
        return Ok(Vec::new());
    }
    // Arguments whose memory others can write have their present values.
    let arguments = arguments.iter().map(Array::snapshot).collect::<Result<_>>()?;
    // On the host, whatever the device: the thread that evaluates the results calls the function.
    let current = device::current_stream();
    let stream = if current.device == Device::CPU { current } else { Stream::CPU };
    Ok(Array::record_on(Callback::new(function, outputs, batches), arguments, stream)?.into_vec())
}

/// The outputs for a batch: sequential calls are a map over the batched inputs.
pub(super) fn batch(callback: &Callback, inputs: &[Batched]) -> Rule<Vec<Batched>> {
    if callback.batches() != CallbackBatches::Sequential {
        return callback.vmap(inputs);
    }
    let batched: Vec<Array> =
        inputs.iter().filter(|input| input.batched).map(|input| input.array.clone()).collect();
    let call = |rows: &[Array]| {
        let mut rows = rows.iter();
        let mut argument = |input: &Batched| {
            let row = if input.batched { rows.next() } else { Some(&input.array) };
            row.expect("a row for each batched input").clone()
        };
        let arguments = inputs.iter().map(&mut argument).collect();
        Ok(Array::record(callback.clone(), arguments)?.into_vec())
    };
    Some(control_flow::map(call, &batched).map(Batched::all))
}

/// A host function given by a closure.
struct Closure<F>(F);

impl<F: Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync> HostFunction for Closure<F> {
    fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        (self.0)(arguments)
    }
}

/// Record a call of a function that computes with the values of its arguments, which transforms cannot look into.
///
/// The function runs when the results are evaluated, on the thread that evaluates them; `outputs` are their shapes and dtypes.
/// It must have no side effects, since it may run more than once or never. It has no derivative; `batches` determines
/// how `vmap` calls it. Evaluation fails if the function does, or if its results have other shapes or dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ArraySpec, DType};
/// use umber::transforms::{CallbackBatches, pure_callback};
/// let sorted = |x: &[Array]| {
///     let mut values = x[0].to_vec::<f32>()?;
///     values.sort_by(f32::total_cmp);
///     Ok(vec![Array::from_slice(&values, [values.len()])?])
/// };
/// let outputs = vec![ArraySpec::new([3], DType::Float32)];
/// let x = Array::from([3.0f32, 1.0, 2.0]);
/// let results = pure_callback(sorted, outputs, &[x], CallbackBatches::Sequential)?;
/// assert_eq!(results[0].to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn pure_callback(
    function: impl Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'static,
    outputs: Vec<ArraySpec>,
    arguments: &[Array],
    batches: CallbackBatches,
) -> Result<Vec<Array>> {
    call_host(Arc::new(Closure(function)), outputs, arguments, batches)
}
