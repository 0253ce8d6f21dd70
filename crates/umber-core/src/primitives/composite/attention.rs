//! Attention: values averaged by the softmax of products of queries and keys.
//!
//! T. Dao et al., FlashAttention, 2022: neither the values nor their derivative need the matrix of all scores, so kernels do
//! not make it. The decomposition does; second derivatives, tangents, and the gradient of a mask go through it.

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
/// of one dtype and equal batch axes; then a mask, if there is one, that broadcasts to `[..., heads, queries, keys]`, bool, of
/// this dtype or of the one that computes; then sinks, if there are, that broadcast to `[..., heads]`, of the dtype that computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Attention {
    /// Factor of the products.
    pub scale: Parameter,
    /// What queries see.
    pub masking: Masking,
    /// Are there sinks?
    pub has_sinks: bool,
}

/// The cotangents of queries, keys and values, and of the sink of every head if there are any: the inputs are those of [`Attention`] and the cotangent of its output.
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

/// `x` with its last axes replaced.
fn with_tail(x: &[usize], dropped: usize, tail: &[usize]) -> Shape {
    x[..x.len() - dropped].iter().chain(tail).copied().collect()
}

/// `x` with one axis more, of length one, at the end.
fn with_column(x: &Array) -> Result<Array> {
    reshape(x, with_tail(x.shape(), 0, &[1]))
}

impl Attention {
    fn named_inputs<'a, T>(&self, inputs: &'a [T]) -> AttentionArgs<'a, T> {
        let mask = if self.masking == Masking::Array { inputs.get(3) } else { None };
        let sinks = if self.has_sinks { inputs.get(self.count() - 1) } else { None };
        AttentionArgs { q: &inputs[0], k: &inputs[1], v: &inputs[2], mask, sinks }
    }

    /// How many inputs there are.
    fn count(&self) -> usize {
        3 + usize::from(self.masking == Masking::Array) + usize::from(self.has_sinks)
    }

    /// The shape of the scores.
    fn scores_of(q: &Shape, k: &Shape) -> Shape {
        with_tail(q, 1, &[k[k.ndim() - 2]])
    }

    fn check(&self, inputs: &[&ArraySpec]) -> Result<()> {
        let is_there = inputs.len() >= self.count();
        ensure!(is_there, Value("scaled_dot_product_attention"), "needs {} inputs", self.count());
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

    /// The scores, those of hidden keys the lowest finite number, and where keys are seen (`None`: everywhere).
    ///
    /// Falsehood in a mask of bool hides a key, and so does a term that is the lowest number of its dtype or below, or that takes
    /// the score beyond the lowest number.
    fn scores(&self, given: &AttentionArgs<'_, Array>) -> Result<(Array, Option<Array>)> {
        let (q, k) = (widened(given.q)?, widened(given.k)?);
        let shape = Attention::scores_of(q.shape(), k.shape());
        let scaled = mul(&q, &constant(&q, self.scale.value()))?;
        let key_heads = k.shape()[k.ndim() - 3];
        let products = matmul(&Attention::grouped(&scaled, key_heads)?, &swap_last(&k)?)?;
        let mut scores = reshape(&products, shape.clone())?;
        let lowest = lowest_of(scores.dtype());
        let seen = match (self.masking, given.mask) {
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
                // Ask for hidden keys, not for visible ones: comparisons with NaN are false, and NaN must not be hidden.
                let is_hidden =
                    binary(BinaryKind::LessEqual, mask, &constant(mask, lowest_of(mask.dtype())))?;
                scores = add(&scores, &broadcast(&term, &shape)?)?;
                let is_beyond = binary(BinaryKind::Less, &scores, &constant(&scores, lowest))?;
                let is_hidden = binary(BinaryKind::LogicalOr, &broadcast(&is_hidden, &shape)?, &is_beyond)?;
                unary(UnaryKind::LogicalNot, &is_hidden)?
            }
            (Masking::Nothing | Masking::Array, _) => return Ok((scores, None)),
        };
        let seen = broadcast(&seen, &shape)?;
        let scores = Array::record_one(Select, &[&seen, &scores, &constant(&scores, lowest)])?;
        Ok((scores, Some(seen)))
    }

    /// The weights of the keys, and of the sinks if there are any.
    fn weights(&self, given: &AttentionArgs<'_, Array>, scores: Array) -> Result<(Array, Option<Array>)> {
        let keys = scores.ndim() - 1;
        let Some(sinks) = given.sinks else {
            return Ok((softmax(&scores, Softmax { precise: true })?, None));
        };
        let column = with_tail(scores.shape(), 1, &[1]);
        let heads = with_tail(scores.shape(), 2, &[]);
        let sinks = with_column(&with_column(&broadcast(sinks, &heads)?)?)?;
        let joined = [broadcast(&sinks, &column)?, scores.clone()].into_iter().collect();
        let weights = softmax(&concatenate(joined, keys)?, Softmax { precise: true })?;
        let own = slice_along(&weights, keys, 0, 1)?;
        Ok((slice_along(&weights, keys, 1, scores.shape()[keys])?, Some(own)))
    }

    /// Layouts of mask and sinks as the kernels want them: with every axis.
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

    fn attending<'a>(&self, views: &[umber_kernels::View<'a>]) -> (AttentionInputs<'a>, AttentionOptions) {
        let AttentionArgs { q, k, v, mask, sinks } = self.named_inputs(views);
        let operands =
            AttentionInputs { queries: *q, keys: *k, values: *v, mask: mask.copied(), sinks: sinks.copied() };
        (operands, AttentionOptions { scale: self.scale.value(), masking: self.masking })
    }

    /// The inputs of a batch, with the axis of lanes in front.
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
        let given = self.named_inputs(inputs);
        let (scores, _) = self.scores(&given)?;
        let (weights, _) = self.weights(&given, scores)?;
        let v = widened(given.v)?;
        let key_heads = v.shape()[v.ndim() - 3];
        let y = matmul(&Attention::grouped(&weights, key_heads)?, &v)?;
        let shape = with_tail(given.q.shape(), 1, &[v.shape()[v.ndim() - 1]]);
        Ok(vec![cast(&reshape(&y, shape)?, given.q.dtype())?])
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        let is_term = self.masking == Masking::Array && at.inputs[3].dtype() != DType::Bool;
        if is_term && at.wanted[3] {
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
            let (operands, how) = self.attending(inputs);
            umber_kernels::attention::attention(&operands, how, output);
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
        let given = self.0.named_inputs(inputs);
        let operands = [given.q, given.k, given.v].map(|spec| (*spec).clone());
        let heads = given
            .sinks
            .map(|_| ArraySpec { shape: with_tail(&given.q.shape, 2, &[]), dtype: work(given.q.dtype) });
        Ok(operands.into_iter().chain(heads).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.rows()
    }

    any_lengths!(along 0);

    /// With weights `p` and `c = ct v^T`: `p^T ct` for the values; with `d = p (c - sum(p c))`, `scale d k` for the queries and
    /// `scale d^T q` for the keys; `-p_sink sum(p c)` for the sinks.
    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let how = self.0;
        let given = how.named_inputs(inputs);
        let ct = widened(&inputs[how.count()])?;
        let (scores, seen) = how.scores(&given)?;
        let shape = scores.shape().clone();
        let (weights, own) = how.weights(&given, scores)?;
        let [q, k, v] = [given.q, given.k, given.v].map(widened);
        let (q, k, v) = (q?, k?, v?);
        let key_heads = k.shape()[k.ndim() - 3];
        let group = |x: &Array| Attention::grouped(x, key_heads);
        let pulled_v = matmul(&swap_last(&group(&weights)?)?, &group(&ct)?)?;
        let slopes = reshape(&matmul(&group(&ct)?, &swap_last(&v)?)?, shape.clone())?;
        let mean = sum_last(&mul(&weights, &slopes)?)?;
        let mut slopes = mul(&weights, &sub(&slopes, &mean)?)?;
        if let Some(seen) = seen {
            slopes = Array::record_one(Select, &[&seen, &slopes, &constant(&slopes, 0.0)])?;
        }
        let scale = |x: &Array| mul(x, &constant(x, how.scale.value()));
        let pulled_q = scale(&reshape(&matmul(&group(&slopes)?, &k)?, q.shape().clone())?)?;
        let pulled_k = scale(&matmul(&swap_last(&group(&slopes)?)?, &group(&q)?)?)?;
        let mut pulled = vec![
            cast(&pulled_q, given.q.dtype())?,
            cast(&pulled_k, given.k.dtype())?,
            cast(&pulled_v, given.v.dtype())?,
        ];
        if let Some(own) = own {
            let dims = shape.ndim();
            let mean = slice_along(&mean, dims - 1, 0, 1.min(shape[dims - 1]))?;
            let terms = if shape[dims - 1] == 0 { constant(&own, 0.0) } else { mul(&own, &mean)? };
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
            let (operands, how) = self.0.attending(inputs);
            let cotangent = inputs[inputs.len() - 1];
            let mut outputs = outputs.iter_mut().map(|output| output.reborrow());
            let mut next = || outputs.next().expect("an output for each operand");
            let (queries, keys, values) = (next(), next(), next());
            let gradients = Gradients { queries, keys, values, sinks: outputs.next() };
            umber_kernels::attention::attention_gradient(&operands, how, cotangent, &gradients);
            Ok(())
        })
    }
}
