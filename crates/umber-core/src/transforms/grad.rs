//! Grad: gradients of functions with one scalar value.

use umber_types::{Result, ensure};

use super::trace::Trace;
use super::vjp::pull_back;
use crate::graph::Array;
use crate::primitives::rules::conj;

/// Return a function that computes the gradient of a scalar-valued function of one array.
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
/// The gradient is taken with respect to the arguments numbered by `argnums`.
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
                    Value("grad"),
                    "argument {i} is missing: the function takes {} arguments",
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
