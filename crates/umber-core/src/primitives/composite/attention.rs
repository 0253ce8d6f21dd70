//! Attention: scaled dot-product attention with grouped key heads, masks and attention sinks.
//!
//! The kernels follow T. Dao et al., FlashAttention, 2022: neither the output nor its gradient materialises the matrix of all
//! scores. The decomposition does; second derivatives, tangents, and the gradient of a mask use it.

use umber_kernels::attention::{AttentionInputs, AttentionOptions, Gradients};
use umber_types::{Axes, BinaryKind, DType, Masking, Result, Shape, UnaryKind, bf16, ensure, f16};

use super::{Composite, Decompose, Parameter, Softmax, softmax, sum_last, work};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Rule, batch_size, rule};
use crate::primitives::concatenate::concatenate;
use crate::primitives::gather::iota;
use crate::primitives::matmul::matmul;
use crate::primitives::reduce::sum;
use crate::primitives::rules::{
    add, align, batch, binary, broadcast, cast, constant, mul, neg, reshape, sub, swap_last, unary,
    unbroadcast, widened,
};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;
use crate::validation::Site;

/// `y[h, l] = sum over s of softmax(scale * q[h, l] . k[h / g, s] + mask[h, l, s]) v[h / g, s]`.
///
/// Inputs are `q [..., heads, queries, features]`, `k [..., key heads, keys, features]` and `v [..., key heads, keys, values]`
/// of one dtype and equal batch axes; optionally a mask that broadcasts to `[..., heads, queries, keys]`, bool, of this dtype or
/// of the compute dtype; optionally sinks that broadcast to `[..., heads]`, of the compute dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Attention {
    /// Factor of the dot products.
    pub scale: Parameter,
    /// Which keys a query attends to.
    pub masking: Masking,
    /// Are there sinks?
    pub has_sinks: bool,
}

/// The cotangents of queries, keys and values, and of the sink of every head if there are sinks. The inputs are those of
/// [`Attention`] and the cotangent of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct AttentionGradient(pub Attention);

/// The inputs by name.
struct AttentionArgs<'a, T> {
    q: &'a T,
    k: &'a T,
    v: &'a T,
    mask: Option<&'a T>,
    sinks: Option<&'a T>,
}

/// The lowest finite number of a floating dtype.
pub(crate) fn lowest_of(dtype: DType) -> f64 {
    if dtype == DType::Float16 {
        f16::MIN.to_f64()
    } else if dtype == DType::BFloat16 {
        bf16::MIN.to_f64()
    } else if dtype == DType::Float32 {
        f64::from(f32::MIN)
    } else {
        f64::MIN
    }
}

/// The shape `x` with its last `dropped` axes replaced by `tail`.
fn with_tail(x: &[usize], dropped: usize, tail: &[usize]) -> Shape {
    x[..x.len() - dropped].iter().chain(tail).copied().collect()
}

/// `x` with a new last axis of length one.
fn with_column(x: &Array) -> Result<Array> {
    reshape(x, with_tail(x.shape(), 0, &[1]))
}

impl Attention {
    fn named_inputs<'a, T>(&self, inputs: &'a [T]) -> AttentionArgs<'a, T> {
        let mask = if self.masking == Masking::Array { inputs.get(3) } else { None };
        let sinks = if self.has_sinks { inputs.get(self.count() - 1) } else { None };
        AttentionArgs { q: &inputs[0], k: &inputs[1], v: &inputs[2], mask, sinks }
    }

    /// Number of inputs.
    fn count(&self) -> usize {
        3 + usize::from(self.masking == Masking::Array) + usize::from(self.has_sinks)
    }

    /// The shape of the scores.
    fn scores_of(q: &Shape, k: &Shape) -> Shape {
        with_tail(q, 1, &[k[k.ndim() - 2]])
    }

    fn check(&self, inputs: &[&ArraySpec]) -> Result<()> {
        let are_complete = inputs.len() >= self.count();
        ensure!(are_complete, Value("scaled_dot_product_attention"), "needs {} inputs", self.count());
        let AttentionArgs { q, k, v, mask, sinks } = self.named_inputs(inputs);
        let dims = q.shape.ndim();
        let fits = dims >= 3 && k.shape.ndim() == dims && v.shape.ndim() == dims && {
            let [q, k, v] = [&q.shape, &k.shape, &v.shape];
            let (heads, key_heads) = (q[dims - 3], k[dims - 3]);
            q[..dims - 3] == k[..dims - 3]
                && k[..dims - 1] == v[..dims - 1]
                && q[dims - 1] == k[dims - 1]
                && (heads == 0 || key_heads > 0 && heads.is_multiple_of(key_heads))
        };
        let dtype = q.dtype;
        let is_real = dtype.is_floating() && k.dtype == dtype && v.dtype == dtype;
        let is_mask = |mask: &ArraySpec| {
            (mask.dtype == DType::Bool || mask.dtype == dtype || mask.dtype == work(dtype))
                && mask.shape.broadcasts_to(&Attention::scores_of(&q.shape, &k.shape))
        };
        let is_sinks = |sinks: &ArraySpec| {
            let heads: Shape = q.shape[..dims - 2].iter().copied().collect();
            sinks.dtype == work(dtype) && sinks.shape.broadcasts_to(&heads)
        };
        ensure!(
            fits && is_real
                && mask.is_none_or(|mask| is_mask(mask))
                && sinks.is_none_or(|sinks| is_sinks(sinks)),
            Value("scaled_dot_product_attention"),
            "queries {}, keys {} and values {} do not match",
            q.shape,
            k.shape,
            v.shape
        );
        Ok(())
    }

    /// `x [..., heads, n, m]` as `[..., key heads, heads / key heads * n, m]`.
    fn grouped(x: &Array, key_heads: usize) -> Result<Array> {
        let dims = x.ndim();
        let (heads, rows, columns) = (x.shape()[dims - 3], x.shape()[dims - 2], x.shape()[dims - 1]);
        let rows = heads.checked_div(key_heads).unwrap_or(0) * rows;
        reshape(x, with_tail(x.shape(), 3, &[key_heads, rows, columns]))
    }

    /// The scores and the mask of visible keys (`None`: all keys are visible). The score of a hidden key is the lowest finite
    /// number.
    ///
    /// A key is hidden by false in a bool mask; by a term of an additive mask that is at most the lowest finite number of its
    /// dtype; or if the sum of score and term is below the lowest finite number.
    fn scores(&self, args: &AttentionArgs<'_, Array>) -> Result<(Array, Option<Array>)> {
        let (q, k) = (widened(args.q)?, widened(args.k)?);
        let shape = Attention::scores_of(q.shape(), k.shape());
        let scaled = mul(&q, &constant(&q, self.scale.value()))?;
        let key_heads = k.shape()[k.ndim() - 3];
        let products = matmul(&Attention::grouped(&scaled, key_heads)?, &swap_last(&k)?)?;
        let mut scores = reshape(&products, shape.clone())?;
        let lowest = lowest_of(scores.dtype());
        let visible = match (self.masking, args.mask) {
            (Masking::Causal, _) => {
                let (rows, columns) = (shape[shape.ndim() - 2], shape[shape.ndim() - 1]);
                let square = Shape::from([rows, columns]);
                let (row, column) = (iota(&square, 0)?, iota(&square, 1)?);
                let shifted = add(&row, &constant(&row, columns as i64 - rows as i64))?;
                binary(BinaryKind::LessEqual, &column, &shifted)?
            }
            (Masking::Array, Some(mask)) if mask.dtype() == DType::Bool => mask.clone(),
            (Masking::Array, Some(mask)) => {
                let term = cast(mask, scores.dtype())?;
                // Compare for hidden keys, not for visible ones: comparisons with NaN are false, so that NaN is not hidden.
                let is_hidden =
                    binary(BinaryKind::LessEqual, mask, &constant(mask, lowest_of(mask.dtype())))?;
                scores = add(&scores, &broadcast(&term, &shape)?)?;
                let is_below_lowest = binary(BinaryKind::Less, &scores, &constant(&scores, lowest))?;
                let is_hidden =
                    binary(BinaryKind::LogicalOr, &broadcast(&is_hidden, &shape)?, &is_below_lowest)?;
                unary(UnaryKind::LogicalNot, &is_hidden)?
            }
            (Masking::Nothing | Masking::Array, _) => return Ok((scores, None)),
        };
        let visible = broadcast(&visible, &shape)?;
        let scores = Array::record_one(Select, &[&visible, &scores, &constant(&scores, lowest)])?;
        Ok((scores, Some(visible)))
    }

    /// The softmax weights of the keys, and of the sinks if there are sinks.
    fn weights(&self, args: &AttentionArgs<'_, Array>, scores: Array) -> Result<(Array, Option<Array>)> {
        let keys = scores.ndim() - 1;
        let Some(sinks) = args.sinks else {
            return Ok((softmax(&scores, Softmax { precise: true })?, None));
        };
        let column = with_tail(scores.shape(), 1, &[1]);
        let heads = with_tail(scores.shape(), 2, &[]);
        let sinks = with_column(&with_column(&broadcast(sinks, &heads)?)?)?;
        let with_sinks = [broadcast(&sinks, &column)?, scores.clone()].into_iter().collect();
        let weights = softmax(&concatenate(with_sinks, keys)?, Softmax { precise: true })?;
        let sink_weights = slice_along(&weights, keys, 0, 1)?;
        Ok((slice_along(&weights, keys, 1, scores.shape()[keys])?, Some(sink_weights)))
    }

    /// Broadcast the layouts of mask and sinks to full shapes, as the kernels expect.
    fn broadcast_inputs(&self, task: &mut CpuTask<'_>) {
        let (q, k) = (&task.inputs[0].layout.shape, &task.inputs[1].layout.shape);
        let (scores, heads) = (Attention::scores_of(q, k), with_tail(q, 2, &[]));
        let mut reshape = |i: usize, shape: &Shape| {
            let layout = task.inputs[i].layout.broadcast_to(shape);
            task.inputs[i] = task.inputs[i].with_layout(layout);
        };
        if self.masking == Masking::Array {
            reshape(3, &scores);
        }
        if self.has_sinks {
            reshape(self.count() - 1, &heads);
        }
    }

    fn kernel_inputs<'a>(
        &self,
        views: &[umber_kernels::View<'a>],
    ) -> (AttentionInputs<'a>, AttentionOptions) {
        let AttentionArgs { q, k, v, mask, sinks } = self.named_inputs(views);
        let operands =
            AttentionInputs { queries: *q, keys: *k, values: *v, mask: mask.copied(), sinks: sinks.copied() };
        (operands, AttentionOptions { scale: self.scale.value(), masking: self.masking })
    }

    /// The inputs with the batch axis of `vmap` in front.
    fn batched(&self, inputs: &[Batched]) -> Result<Inputs> {
        let (count, dims) = (batch_size(inputs), inputs[0].ndim());
        let one = |(i, input): (usize, &Batched)| match i {
            3 if self.masking == Masking::Array => align(input, dims),
            _ if self.has_sinks && i == self.count() - 1 => align(input, dims - 2),
            _ => batch(input, count),
        };
        inputs.iter().enumerate().map(one).collect()
    }
}

impl Decompose for Attention {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        self.check(inputs)?;
        let values = inputs[2].shape[inputs[2].shape.ndim() - 1];
        Ok(ArraySpec { shape: with_tail(&inputs[0].shape, 1, &[values]), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let args = self.named_inputs(inputs);
        let (scores, _) = self.scores(&args)?;
        let (weights, _) = self.weights(&args, scores)?;
        let v = widened(args.v)?;
        let key_heads = v.shape()[v.ndim() - 3];
        let y = matmul(&Attention::grouped(&weights, key_heads)?, &v)?;
        let shape = with_tail(args.q.shape(), 1, &[v.shape()[v.ndim() - 1]]);
        Ok(vec![cast(&reshape(&y, shape)?, args.q.dtype())?])
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        let is_term = self.masking == Masking::Array && at.inputs[3].dtype() != DType::Bool;
        if is_term && at.needs_cotangent[3] {
            return None;
        }
        rule(|| {
            let inputs = at.inputs.iter().chain([&cotangents[0]]).cloned().collect();
            let pulled = Array::record(Composite::AttentionGradient(AttentionGradient(*self)), inputs)?;
            at.pull(|i| match i {
                0..3 => Ok(Some(pulled[i].clone())),
                _ if self.has_sinks && i == self.count() - 1 => {
                    unbroadcast(&pulled[3], at.inputs[i].shape()).map(Some)
                }
                _ => Ok(None),
            })
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(Batched::all(Array::record(Composite::Attention(*self), self.batched(inputs)?)?)))
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        self.broadcast_inputs(task);
        task.run_one(|inputs, output| {
            let (operands, options) = self.kernel_inputs(inputs);
            umber_kernels::attention::attention(&operands, options, output);
            Ok(())
        })
    }
}

impl Decompose for AttentionGradient {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let expected = self.0.infer(inputs)?;
        let is_last = inputs.len() == self.0.count() + 1;
        let last = inputs.last().filter(|_| is_last);
        ensure!(
            last.is_some_and(|last| **last == expected[0]),
            Value("scaled_dot_product_attention"),
            "cotangent does not have the shape and dtype of the output"
        );
        let args = self.0.named_inputs(inputs);
        let operands = [args.q, args.k, args.v].map(|spec| (*spec).clone());
        let heads = args
            .sinks
            .map(|_| ArraySpec { shape: with_tail(&args.q.shape, 2, &[]), dtype: work(args.q.dtype) });
        Ok(operands.into_iter().chain(heads).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    /// With weights `p` and `c = ct v^T`: `p^T ct` for the values; with `d = p (c - sum(p c))`, `scale d k` for the queries and
    /// `scale d^T q` for the keys; `-p_sink sum(p c)` for the sinks.
    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let attention = self.0;
        let args = attention.named_inputs(inputs);
        let ct = widened(&inputs[attention.count()])?;
        let (scores, visible) = attention.scores(&args)?;
        let shape = scores.shape().clone();
        let (weights, sink_weights) = attention.weights(&args, scores)?;
        let [q, k, v] = [args.q, args.k, args.v].map(widened);
        let (q, k, v) = (q?, k?, v?);
        let key_heads = k.shape()[k.ndim() - 3];
        let group = |x: &Array| Attention::grouped(x, key_heads);
        let pulled_v = matmul(&swap_last(&group(&weights)?)?, &group(&ct)?)?;
        let score_ct = reshape(&matmul(&group(&ct)?, &swap_last(&v)?)?, shape.clone())?;
        let mean = sum_last(&mul(&weights, &score_ct)?)?;
        let mut score_ct = mul(&weights, &sub(&score_ct, &mean)?)?;
        if let Some(visible) = visible {
            score_ct = Array::record_one(Select, &[&visible, &score_ct, &constant(&score_ct, 0.0)])?;
        }
        let scale = |x: &Array| mul(x, &constant(x, attention.scale.value()));
        let pulled_q = scale(&reshape(&matmul(&group(&score_ct)?, &k)?, q.shape().clone())?)?;
        let pulled_k = scale(&matmul(&swap_last(&group(&score_ct)?)?, &group(&q)?)?)?;
        let mut pulled = vec![
            cast(&pulled_q, args.q.dtype())?,
            cast(&pulled_k, args.k.dtype())?,
            cast(&pulled_v, args.v.dtype())?,
        ];
        if let Some(sink_weights) = sink_weights {
            let dims = shape.ndim();
            let mean = slice_along(&mean, dims - 1, 0, 1.min(shape[dims - 1]))?;
            let terms =
                if shape[dims - 1] == 0 { constant(&sink_weights, 0.0) } else { mul(&sink_weights, &mean)? };
            let by_head = sum(&neg(&terms)?, &Axes::sorted([dims - 2, dims - 1]))?;
            pulled.push(reshape(&by_head, with_tail(&shape, 2, &[]))?);
        }
        Ok(pulled)
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            Ok(Batched::all(Array::record(Composite::AttentionGradient(*self), self.0.batched(inputs)?)?))
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        self.0.broadcast_inputs(task);
        task.run(|inputs, outputs| {
            let (operands, options) = self.0.kernel_inputs(inputs);
            let cotangent = inputs[inputs.len() - 1];
            let mut outputs = outputs.iter_mut().map(|output| output.reborrow());
            let mut next = || outputs.next().expect("an output for each operand");
            let (queries, keys, values) = (next(), next(), next());
            let gradients = Gradients { queries, keys, values, sinks: outputs.next() };
            umber_kernels::attention::attention_gradient(&operands, options, cotangent, &gradients);
            Ok(())
        })
    }
}
