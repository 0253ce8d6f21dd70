//! Attention.

use umber_types::{BinaryKind, DType, Masking, Result, Shape, bail, ensure, promote};

use super::record;
use crate::graph::{Array, Inputs};
use crate::primitives::composite::{Attention, Composite, Parameter, lowest_of};
use crate::primitives::rules::{binary, broadcast, cast, constant};
use crate::primitives::select::Select;

/// The keys that a query attends to.
#[derive(Clone, Copy, Debug)]
pub enum Mask<'a> {
    /// All of them.
    Nothing,
    /// The last query attends to all keys, the one before to all but the last, and so on.
    Causal,
    /// A bool mask, true where a query attends to a key, or numbers to add to the scores; broadcast to
    /// `[..., heads, queries, keys]`.
    Array(&'a Array),
}

/// Options of [`scaled_dot_product_attention`].
#[derive(Clone, Copy, Debug)]
pub struct Attend<'a> {
    /// Factor of the products of queries and keys.
    pub scale: f64,
    /// The keys that a query attends to.
    pub mask: Mask<'a>,
    /// An additional score for each head, which takes part in the softmax but has no value.
    pub sinks: Option<&'a Array>,
}

const OP: &str = "scaled_dot_product_attention";

/// Scaled dot-product attention of every head: `softmax(scale * q k^T + mask) v`.
///
/// `q` is `[..., heads, queries, features]`, `k` is `[..., key heads, keys, features]`, `v` is
/// `[..., key heads, keys, values]`; the number of key heads divides that of heads, and consecutive heads share a key
/// head; other axes broadcast. The result is `[..., heads, queries, values]` in the promoted dtype. The matrix of
/// scores is not stored; the softmax is computed in float32 at least.
///
/// A key is hidden from a query where a bool mask is false, where the causal mask hides it, and where the added number
/// is negative infinity or the minimum of its dtype, or takes the score below the minimum of the computing dtype. A
/// query whose keys are all hidden gives the mean of all values, or zeros with sinks; without any keys the result is
/// zero. Fails for shapes that do not match and dtypes that are not real floating point. A. Vaswani et al., Attention
/// Is All You Need, 2017; T. Dao et al., FlashAttention, 2022.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::fast};
/// let q = Array::from([[[0.0f32], [0.0]]]);
/// let v = Array::from([[[1.0f32], [3.0]]]);
/// let how = fast::Attend { scale: 1.0, mask: fast::Mask::Causal, sinks: None };
/// let y = fast::scaled_dot_product_attention(&q, &q, &v, how)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn scaled_dot_product_attention(q: &Array, k: &Array, v: &Array, options: Attend<'_>) -> Result<Array> {
    let dtype = promote(promote(q.dtype(), k.dtype()), v.dtype());
    ensure!(
        dtype.is_floating(),
        Type(OP),
        "dtype {dtype} is not supported, expected real floating-point numbers"
    );
    let [q, k, v] = operands(q, k, v)?;
    let (heads, keys) = (Shape::new(q.shape()[..q.ndim() - 2].iter().copied()), k.shape()[k.ndim() - 2]);
    let compute_dtype = if dtype.is_half() { DType::Float32 } else { dtype };
    let mut inputs: Inputs = [&q, &k, &v].into_iter().map(|x| cast(x, dtype)).collect::<Result<_>>()?;
    let masking = match options.mask {
        Mask::Nothing => Masking::Nothing,
        Mask::Causal => Masking::Causal,
        Mask::Array(mask) => {
            let scores = q.shape().with(q.ndim() - 1, keys);
            ensure!(
                mask.shape().broadcasts_to(&scores) && !mask.dtype().is_complex(),
                Value(OP),
                "mask must be real or bool and broadcast to {scores}, got shape {} and dtype {}",
                mask.shape(),
                mask.dtype()
            );
            let keeps_dtype = mask.dtype() == DType::Bool || mask.dtype() == dtype;
            inputs.push(if keeps_dtype { mask.clone() } else { converted(mask, compute_dtype)? });
            Masking::Array
        }
    };
    if let Some(sinks) = options.sinks {
        let count = q.shape()[q.ndim() - 3];
        ensure!(
            sinks.shape()[..] == [count] && !sinks.dtype().is_complex(),
            Value(OP),
            "sinks must be {count} real numbers, one for each head of {heads}, got shape {} and dtype {}",
            sinks.shape(),
            sinks.dtype()
        );
        inputs.push(cast(sinks, compute_dtype)?);
    }
    let attention =
        Attention { scale: Parameter::new(options.scale), masking, has_sinks: options.sinks.is_some() };
    record(Composite::Attention(attention), inputs)
}

/// Convert an additive mask to another dtype. Elements at the lowest value of its dtype become -inf, so that they still mask.
fn converted(mask: &Array, dtype: DType) -> Result<Array> {
    let cast = cast(mask, dtype)?;
    if !mask.dtype().is_floating() || mask.dtype().is_float8() {
        return Ok(cast);
    }
    let is_hidden = binary(BinaryKind::LessEqual, mask, &constant(mask, lowest_of(mask.dtype())))?;
    Array::record_one(Select, &[&is_hidden, &constant(&cast, f64::NEG_INFINITY), &cast])
}

/// Queries, keys and values with equal batch axes.
fn operands(q: &Array, k: &Array, v: &Array) -> Result<[Array; 3]> {
    let shapes = || format!("queries {}, keys {} and values {}", q.shape(), k.shape(), v.shape());
    if [q, k, v].iter().any(|x| x.ndim() < 3) {
        bail!(
            Value(OP),
            "queries, keys and values need at least 3 axes (heads, positions, features), got {}",
            shapes()
        );
    }
    let tail = |x: &Array| [3, 2, 1].map(|i| x.shape()[x.ndim() - i]);
    let ([heads, _, depth], [key_heads, keys, features], [value_heads, values, _]) =
        (tail(q), tail(k), tail(v));
    ensure!(depth == features, Value(OP), "feature sizes of queries and keys differ: {}", shapes());
    ensure!(
        key_heads == value_heads && keys == values,
        Value(OP),
        "keys and values must have equal numbers of heads and positions, got {}",
        shapes()
    );
    ensure!(
        heads == 0 || key_heads > 0 && heads.is_multiple_of(key_heads),
        Value(OP),
        "number of query heads must be a multiple of the number of key heads, got {}",
        shapes()
    );
    let leading = |x: &Array| Shape::new(x.shape()[..x.ndim() - 3].iter().copied());
    let batch = leading(q).broadcast(&leading(k)).and_then(|batch| batch.broadcast(&leading(v)));
    let Some(batch) = batch else {
        bail!(Value(OP), "batch axes cannot be broadcast: {}", shapes());
    };
    let broadcast_to_common = |x: &Array| broadcast(x, &batch.iter().copied().chain(tail(x)).collect());
    Ok([broadcast_to_common(q)?, broadcast_to_common(k)?, broadcast_to_common(v)?])
}
