//! GatedDelta: the linear recurrence of gated delta networks, a state updated by the delta rule with decay.
//!
//! S. Yang, J. Kautz and A. Hatamizadeh, Gated Delta Networks, 2024. Its derivative is that of the equivalent loop.

use umber_kernels::gated_delta::{GatedDelta as Operands, gated_delta};
use umber_types::{Axes, DType, Result, Shape, ensure};

use super::{Composite, Decompose};
use crate::device;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs, tracing};
use crate::primitive::{Batched, CpuTask, Rule, batch_size, rule};
use crate::primitives::control_flow::{Body, Construct, Iteration, Loop, LoweredCache, Order};
use crate::primitives::leaf::Leaf;
use crate::primitives::reduce::sum;
use crate::primitives::rules::{add, batch, broadcast, move_axis, mul, reshape, sub, zeros_like};
use crate::primitives::select::Select;
use crate::validation::Site;

/// `S' = g S + b (v - g S k) k^T` and `y = S' q` in every step where the mask is true; other steps leave `S` unchanged and
/// output zeros.
///
/// Inputs are `q` and `k [..., steps, key heads, features]`, `v [..., steps, heads, values]`, `g [..., steps, heads, features]`,
/// `b [..., steps, heads]`, the initial `S [..., heads, values, features]`, all float32 or float64, and a mask `[..., steps]` of
/// bool. Outputs are `y` of all steps, with the shape of `v`, and the final `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct GatedDelta;

/// The shape with its last `dropped` axes replaced by `tail`.
fn with_tail(shape: &[usize], dropped: usize, tail: &[usize]) -> Shape {
    shape[..shape.len() - dropped].iter().chain(tail).copied().collect()
}

/// `[..., key heads, features]` broadcast to `[..., heads, values, features]`: each key head serves a group of heads.
fn for_each_value(x: &Array, state: &Shape) -> Result<Array> {
    let dims = x.ndim();
    let (key_heads, features) = (x.shape()[dims - 2], x.shape()[dims - 1]);
    let [heads, values] = [state[dims - 2], state[dims - 1]];
    let group = heads.checked_div(key_heads).unwrap_or(0);
    let expanded = reshape(x, with_tail(x.shape(), 2, &[key_heads, 1, 1, features]))?;
    let repeated = broadcast(&expanded, &with_tail(x.shape(), 2, &[key_heads, group, values, features]))?;
    reshape(&repeated, state.clone())
}

/// `x` with a new last axis of length one, broadcast to `shape`.
fn broadcast_column(x: &Array, shape: &Shape) -> Result<Array> {
    broadcast(&reshape(x, with_tail(x.shape(), 0, &[1]))?, shape)
}

/// One step: `[S, q, k, v, g, b, mask]` to `[S', y]`.
fn step(operands: &[Array]) -> Result<[Array; 2]> {
    let [state, q, k, v, decay, rate, mask] = operands else { unreachable!("a step has seven operands") };
    let shape = state.shape();
    let last = Axes::one(shape.ndim() - 1);
    let (q, k) = (for_each_value(q, shape)?, for_each_value(k, shape)?);
    let decay = reshape(decay, with_tail(decay.shape(), 1, &[1, shape[shape.ndim() - 1]]))?;
    let decayed = mul(state, &broadcast(&decay, shape)?)?;
    let predicted = reshape(&sum(&mul(&decayed, &k)?, &last)?, v.shape().clone())?;
    let correction = mul(&sub(v, &predicted)?, &broadcast_column(rate, v.shape())?)?;
    let next = add(&decayed, &mul(&broadcast_column(&correction, shape)?, &k)?)?;
    let output = reshape(&sum(&mul(&next, &q)?, &last)?, v.shape().clone())?;
    let ones = |dims: usize| with_tail(mask.shape(), 0, &[1, 1, 1][..dims - mask.ndim()]);
    let mask_like = |x: &Array| broadcast(&reshape(mask, ones(x.ndim()))?, x.shape());
    let next = Array::record_one(Select, &[&mask_like(&next)?, &next, state])?;
    let output = Array::record_one(Select, &[&mask_like(&output)?, &output, &zeros_like(&output)])?;
    Ok([next, output])
}

impl Decompose for GatedDelta {
    fn name(&self) -> &'static str {
        "gated_delta_update"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let [q, k, v, decay, rate, state, mask] = inputs else {
            umber_types::bail!(Value("gated_delta_update"), "needs 7 inputs, got {}", inputs.len());
        };
        let fits = q.shape.ndim() >= 3 && v.shape.ndim() == q.shape.ndim() && {
            let dims = q.shape.ndim();
            let tail = |shape: &Shape| [shape[dims - 3], shape[dims - 2], shape[dims - 1]];
            let ([steps, key_heads, features], [_, heads, values]) = (tail(&q.shape), tail(&v.shape));
            let with = |tail: &[usize]| with_tail(&v.shape, 3, tail);
            q.shape == with(&[steps, key_heads, features])
                && k.shape == q.shape
                && v.shape[dims - 3] == steps
                && decay.shape == with(&[steps, heads, features])
                && rate.shape == with(&[steps, heads])
                && state.shape == with(&[heads, values, features])
                && mask.shape == with(&[steps])
                && (heads == 0 || key_heads > 0 && heads.is_multiple_of(key_heads))
        };
        let is_wide = matches!(q.dtype, DType::Float32 | DType::Float64);
        let have_equal_dtypes =
            inputs[..6].iter().all(|input| input.dtype == q.dtype) && mask.dtype == DType::Bool;
        ensure!(
            fits && is_wide && have_equal_dtypes,
            Value("gated_delta_update"),
            "queries {}, keys {} and values {} do not match",
            q.shape,
            k.shape,
            v.shape
        );
        Ok([(*v).clone(), (*state).clone()].into_iter().collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let steps_axis = inputs[0].ndim() - 3;
        let length = inputs[0].shape()[steps_axis];
        let order = [0, 1, 2, 3, 4, 6];
        let sequences: Vec<Array> =
            order.iter().map(|&i| move_axis(&inputs[i], steps_axis, 0)).collect::<Result<_>>()?;
        let row = |sequence: &Array| {
            ArraySpec::new(Shape::new(sequence.shape()[1..].iter().copied()), sequence.dtype())
        };
        let guard = tracing::enter();
        let specs = std::iter::once(inputs[5].spec().clone()).chain(sequences.iter().map(row));
        let placeholders: Vec<Array> = specs
            .map(|spec| Array::placeholder(Leaf::Body(Construct::Scan), spec, Some(guard.trace_scope())))
            .collect();
        let outputs = step(&placeholders)?;
        let (body, captured) = Body::close(&placeholders, &outputs);
        drop(guard);
        let iteration = Iteration {
            construct: Construct::Scan,
            body,
            carry: 1,
            rows: sequences.len(),
            sums: 0,
            length,
            order: Order::Forwards,
            keeps: false,
            lowered: LoweredCache::default(),
        };
        let loop_inputs: Inputs =
            std::iter::once(inputs[5].clone()).chain(sequences).chain(captured).collect();
        let outputs = Loop(iteration.into()).record_on(loop_inputs, device::current_stream())?;
        Ok(vec![move_axis(&outputs[1], 0, steps_axis)?, outputs[0].clone()])
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let count = batch_size(inputs);
            let arrays = inputs.iter().map(|input| batch(input, count)).collect::<Result<_>>()?;
            Ok(Batched::all(Array::record(Composite::GatedDelta(*self), arrays)?))
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let &[queries, keys, values, decay, rate, state, mask] = inputs else { return Ok(()) };
            let operands = Operands { queries, keys, values, decay, rate, state, mask };
            if let [y, final_state] = outputs {
                gated_delta(&operands, y.reborrow(), final_state.reborrow());
            }
            Ok(())
        })
    }
}
