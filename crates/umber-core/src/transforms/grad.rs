//! Grad: gradients of functions with one scalar value.

use umber_types::{Result, ensure};

use super::trace::Trace;
use super::vjp::pull_back;
use crate::graph::Array;
use crate::primitives::rules::conj;

/// Return a function that computes the gradient of a scalar-valued function of one array.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::transforms::grad;
/// let slope = grad(|x| x.square()?.sum(..));
/// assert_eq!(slope(&Array::from([1.0f32, 2.0]))?.to_vec::<f32>()?, [2.0, 4.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn grad<F>(f: F) -> impl Fn(&Array) -> Result<Array>
where
    F: Fn(&Array) -> Result<Array>,
{
    let both = value_and_grad(move |inputs| f(&inputs[0]), &[0]);
    move |x| {
        let (_, mut gradients) = both(std::slice::from_ref(x))?;
        Ok(gradients.remove(0))
    }
}

/// Return a function that computes the value of a scalar-valued function and its gradient.
///
/// The gradient is taken with respect to the arguments numbered by `argnums`; there is one gradient for each of them.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Result};
/// use umber::transforms::value_and_grad;
/// // Arguments: weights, bias, inputs, targets. The first two are trained.
/// let loss = |arguments: &[Array]| -> Result<Array> {
///     let [weights, bias, x, y] = arguments else { unreachable!("called with four arrays") };
///     (x.matmul(weights)? + bias - y).square()?.mean(..)
/// };
/// let arguments = [
///     Array::from([2.0f32]),
///     Array::from(1.0f32),
///     Array::from([[1.0f32], [3.0]]),
///     Array::from([3.0f32, 5.0]),
/// ];
/// let (value, gradients) = value_and_grad(loss, &[0, 1])(&arguments)?;
/// assert_eq!(value.item()?.as_f64(), 2.0);
/// assert_eq!((gradients[0].to_vec::<f32>()?, gradients[1].item()?.as_f64()), (vec![6.0], 2.0));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn value_and_grad<F>(f: F, argnums: &[usize]) -> impl Fn(&[Array]) -> Result<(Array, Vec<Array>)> + use<F>
where
    F: Fn(&[Array]) -> Result<Array>,
{
    let argnums = argnums.to_vec();
    move |arguments| {
        let mut primals = Vec::with_capacity(argnums.len());
        for &i in &argnums {
            let Some(primal) = arguments.get(i) else {
                umber_types::bail!(
                    Value("value_and_grad"),
                    "argnums names argument {i}, but the function was called with {} arguments",
                    arguments.len()
                );
            };
            primals.push(primal.clone());
        }
        let trace = Trace::with_data(&primals)?;
        let mut arguments = arguments.to_vec();
        for (&i, input) in argnums.iter().zip(&trace.inputs) {
            arguments[i] = input.clone();
        }
        let value = f(&arguments)?;
        let inputs = trace.end();
        let gradients = pull_back(&inputs, std::slice::from_ref(&value), &[seed(&value)?])?;
        Ok((value, gradients))
    }
}

/// Compute the derivatives `df/dz` of a holomorphic function with respect to complex inputs.
///
/// `value` was computed from the `inputs` of a [`Trace`]. A cotangent of 1 is pulled back to the conjugate of the
/// derivative. Fails for a value that is not complex.
pub fn pull_holomorphic(inputs: &[Array], value: &Array) -> Result<Vec<Array>> {
    ensure!(
        value.dtype().is_complex(),
        Type("grad"),
        "holomorphic requires a complex result, got {}",
        value.dtype()
    );
    let pulled = pull_back(inputs, std::slice::from_ref(value), &[seed(value)?])?;
    pulled.iter().map(conj).collect()
}

/// Check that `value` is a scalar, which a gradient requires.
pub fn check_scalar(value: &Array) -> Result<()> {
    ensure!(
        value.ndim() == 0,
        Value("grad"),
        "the function must return a scalar, got shape {}",
        value.shape()
    );
    Ok(())
}

/// The cotangent of 1 that a gradient starts from.
fn seed(value: &Array) -> Result<Array> {
    check_scalar(value)?;
    Ok(Array::scalar(1.0, value.dtype().inexact()))
}
