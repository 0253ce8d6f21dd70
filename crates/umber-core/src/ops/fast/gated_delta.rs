//! The gated delta rule.

use umber_types::{DType, Result, Shape, bail, ensure, promote};

use crate::graph::{Array, Inputs};
use crate::primitives::composite::{Composite, GatedDelta};
use crate::primitives::rules::{broadcast, cast, reshape};

/// The operands of [`gated_delta_update`].
#[derive(Clone, Copy, Debug)]
pub struct GatedDeltaUpdate<'a> {
    /// `[b, t, key heads, features]`.
    pub q: &'a Array,
    /// Shaped like `q`.
    pub k: &'a Array,
    /// `[b, t, heads, values]`.
    pub v: &'a Array,
    /// Decay of the state, `[b, t, heads]` or `[b, t, heads, features]`.
    pub gamma: &'a Array,
    /// Learning rate, `[b, t, heads]`.
    pub beta: &'a Array,
    /// `[b, heads, values, features]`; zeros by default.
    pub initial_state: Option<&'a Array>,
    /// The steps to take, `[b, t]`; by default all.
    pub mask: Option<&'a Array>,
}

/// Gated delta rule: update a state matrix of each head over `t` steps and read it with the queries.
///
/// Each step computes `S' = g S + b (v - g S k) k^T` and returns `y = S' q`. The result is all `y`,
/// `[b, t, heads, values]` in the promoted dtype of `q` and `k`, and the last `S`, `[b, heads, values, features]` in
/// float32, or float64 if an operand but the initial state is float64. Steps where the mask is false return zeros and
/// keep the state. The number of key heads divides that of heads. Fails for shapes that do not match, and for complex
/// dtypes. S. Yang, J. Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, DType, ops::fast};
/// let ones = |shape: &[usize]| Array::full(Shape::new(shape.iter().copied()), 1.0, DType::Float32);
/// let (q, gate) = (ones(&[1, 2, 1, 1]), ones(&[1, 2, 1]));
/// let inputs = fast::GatedDeltaUpdate {
///     q: &q, k: &q, v: &q, gamma: &gate, beta: &gate, initial_state: None, mask: None,
/// };
/// let [y, state] = fast::gated_delta_update(inputs)?;
/// assert_eq!((y.to_vec::<f32>()?, state.to_vec::<f32>()?), (vec![1.0, 1.0], vec![1.0]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn gated_delta_update(operands: GatedDeltaUpdate<'_>) -> Result<[Array; 2]> {
    let GatedDeltaUpdate { q, k, v, gamma, beta, initial_state, mask } = operands;
    let named = [("q", q), ("k", k), ("v", v), ("gamma", gamma), ("beta", beta)];
    for (name, array) in named.into_iter().chain(initial_state.map(|state| ("initial_state", state))) {
        ensure!(
            !array.dtype().is_complex(),
            Type("gated_delta_update"),
            "{name} must be real, not {}",
            array.dtype()
        );
    }
    let (&[samples, steps, key_heads, features], &[_, _, heads, values]) = (&q.shape()[..], &v.shape()[..])
    else {
        bail!(
            Value("gated_delta_update"),
            "q and v must have 4 axes, got shapes {} and {}",
            q.shape(),
            v.shape()
        );
    };
    let check_shape = |name: &str, array: &Array, expected: &[usize]| {
        ensure!(
            array.shape()[..] == *expected,
            Value("gated_delta_update"),
            "{name} must have shape {1} for q of shape {2} and v of shape {3}, got {0}",
            array.shape(),
            Shape::new(expected.iter().copied()),
            q.shape(),
            v.shape()
        );
        Ok(())
    };
    check_shape("k", k, q.shape())?;
    check_shape("v", v, &[samples, steps, heads, values])?;
    ensure!(
        heads == 0 || key_heads > 0 && heads.is_multiple_of(key_heads),
        Value("gated_delta_update"),
        "{heads} heads of v are not a multiple of {key_heads} heads of q"
    );
    check_shape("beta", beta, &[samples, steps, heads])?;
    let decay = [samples, steps, heads, features];
    if gamma.ndim() == 4 {
        check_shape("gamma", gamma, &decay)?;
    } else {
        check_shape("gamma", gamma, &decay[..3])?;
    }
    let dtype = named.iter().fold(q.dtype(), |dtype, (_, array)| promote(dtype, array.dtype()));
    let dtype = if dtype == DType::Float64 { dtype } else { DType::Float32 };
    let state_shape = Shape::from([samples, heads, values, features]);
    let state = match initial_state {
        Some(state) => {
            check_shape("initial_state", state, &state_shape)?;
            cast(state, dtype)?
        }
        None => Array::full(state_shape, 0.0, dtype),
    };
    let mask_shape = Shape::from([samples, steps]);
    let mask = match mask {
        Some(mask) => {
            ensure!(
                mask.ndim() == 2 && mask.shape().broadcasts_to(&mask_shape) && !mask.dtype().is_complex(),
                Value("gated_delta_update"),
                "mask must be real or bool and broadcast to {mask_shape}, got shape {} and dtype {}",
                mask.shape(),
                mask.dtype()
            );
            broadcast(&cast(mask, DType::Bool)?, &mask_shape)?
        }
        None => Array::full(mask_shape, true, DType::Bool),
    };
    let gamma = cast(gamma, dtype)?;
    let gamma = match gamma.ndim() {
        4 => gamma,
        _ => broadcast(&reshape(&gamma, [samples, steps, heads, 1])?, &Shape::from(decay))?,
    };
    let inputs: Inputs =
        [cast(q, dtype)?, cast(k, dtype)?, cast(v, dtype)?, gamma, cast(beta, dtype)?, state, mask]
            .into_iter()
            .collect();
    let outputs = Array::record(Composite::GatedDelta(GatedDelta), inputs)?;
    let out_dtype = promote(q.dtype(), k.dtype());
    let out_dtype = if out_dtype.is_floating() { out_dtype } else { dtype };
    Ok([cast(&outputs[0], out_dtype)?, outputs[1].clone()])
}
