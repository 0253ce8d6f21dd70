//! Jacobians, Hessians, linearisation, and shape inference without evaluation.
//!
//! Entry `[o, i]` of a Jacobian has the axes of output `o`, then those of input `i`. For real functions it is the
//! derivative. For complex outputs it is the derivative of a holomorphic function. For a real output and a
//! complex input `z = x + iy` it is `∂f/∂x + i ∂f/∂y`, as in a gradient.

use std::sync::Arc;

use umber_types::{Result, Scalar, Shape, ensure};

use super::grad::value_and_grad;
use super::jvp::push_forward;
use super::trace::{Trace, zero_derivative};
use super::vjp::pull_back;
use super::vmap::Mapped;
use crate::graph::{Array, ArraySpec, Program};
use crate::ops;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{cast, conj, reshape};

/// Jacobians, indexed by output and then by input.
pub type Jacobians = Vec<Vec<Array>>;

/// Return a function that computes the Jacobian of a function in forward mode.
///
/// One Jacobian-vector product for each element of the inputs: for functions with more outputs than inputs.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::jacfwd;
/// let jacobians = jacfwd(|x| Ok(vec![ops::outer(&x[0], &x[0])?]))(&[Array::from([1.0f32, 2.0])])?;
/// assert_eq!(jacobians[0][0].to_vec::<f32>()?, [2.0, 0.0, 2.0, 1.0, 2.0, 1.0, 0.0, 4.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn jacfwd<F>(f: F) -> impl Fn(&[Array]) -> Result<Jacobians>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    move |inputs| {
        let trace = Trace::with_data(inputs)?;
        let outputs = f(&trace.inputs)?;
        push_jacobians(&trace.end(), &outputs)
    }
}

/// Return a function that computes the Jacobian of a function in reverse mode.
///
/// One vector-Jacobian product for each element of the outputs: for functions with more inputs than outputs.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::jacrev;
/// let w = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let jacobians = jacrev(|x| Ok(vec![ops::matmul(&w, &x[0])?]))(&[Array::from([1.0f32, 2.0])])?;
/// assert_eq!(jacobians[0][0].to_vec::<f32>()?, w.to_vec::<f32>()?);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn jacrev<F>(f: F) -> impl Fn(&[Array]) -> Result<Jacobians>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    move |inputs| {
        let trace = Trace::with_data(inputs)?;
        let outputs = f(&trace.inputs)?;
        pull_jacobians(&trace.end(), &outputs)
    }
}

/// Return a function that computes the second derivatives of a function.
///
/// The function has one scalar value; the results are indexed by pairs of inputs. Forward mode over reverse mode.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// use umber::transforms::hessian;
/// let cubes = |x: &[Array]| ops::sum(&ops::power(&x[0], &Array::from(3.0f32))?, None, KeepAxes::No);
/// let second = hessian(cubes)(&[Array::from([1.0f32, 2.0])])?;
/// assert_eq!(second[0][0].to_vec::<f32>()?, [6.0, 0.0, 0.0, 12.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn hessian<F>(f: F) -> impl Fn(&[Array]) -> Result<Jacobians>
where
    F: Fn(&[Array]) -> Result<Array>,
{
    move |inputs| {
        let argnums: Vec<usize> = (0..inputs.len()).collect();
        let gradient =
            |inputs: &[Array]| value_and_grad(&f, &argnums)(inputs).map(|(_, gradients)| gradients);
        jacfwd(gradient)(inputs)
    }
}

/// The unit vectors of the shape of `template`, times `unit`, stacked along a first axis.
fn basis(template: &Array, unit: Scalar) -> Result<Array> {
    let (size, dtype) = (template.size(), template.dtype().inexact());
    let eye = ops::multiply(&ops::eye(size as i64, size as i64, 0, dtype)?, &Array::scalar(unit, dtype))?;
    reshape(&eye, concatenated(&[size], template.shape()))
}

fn concatenated(first: &[usize], second: &[usize]) -> Shape {
    first.iter().chain(second).copied().collect()
}

/// `a + i b`.
fn complex(a: &Array, b: &Array) -> Result<Array> {
    let dtype = a.dtype().complex();
    ops::add(
        &cast(a, dtype)?,
        &ops::multiply(&cast(b, dtype)?, &Array::scalar(Scalar::Complex(0.0, 1.0), dtype))?,
    )
}

/// Compute the Jacobians of `outputs` with respect to the `inputs` of their trace, in reverse mode.
pub fn pull_jacobians(inputs: &[Array], outputs: &[Array]) -> Result<Jacobians> {
    let rows = |o: usize, unit: Scalar| -> Result<Vec<Array>> {
        let mapped = Mapped::begin(&[basis(&outputs[o], unit)?], &[Some(0)])?;
        let cotangent =
            |(i, output)| if i == o { mapped.trace.inputs[0].clone() } else { zero_derivative(output) };
        let cotangents: Vec<Array> = outputs.iter().enumerate().map(cotangent).collect();
        let pulled = pull_back(inputs, outputs, &cotangents)?;
        mapped.end(&pulled, &vec![Some(0); inputs.len()])
    };
    let of_output = |(o, output): (usize, &Array)| -> Result<Vec<Array>> {
        let entry_shape = |input: &Array| concatenated(output.shape(), input.shape());
        if output.size() == 0 {
            return Ok(inputs
                .iter()
                .map(|input| Array::full(entry_shape(input), 0.0, input.dtype().inexact()))
                .collect());
        }
        let is_complex = output.dtype().is_complex();
        let along_real = rows(o, Scalar::Float(1.0))?;
        // For real inputs, pulling back gives the real part only: the imaginary part of the derivative takes a second pull.
        let along_imaginary = if is_complex && inputs.iter().any(|input| !input.dtype().is_complex()) {
            Some(rows(o, Scalar::Complex(0.0, 1.0))?)
        } else {
            None
        };
        let entry = |(i, (input, row)): (usize, (&Array, Array))| {
            let entry = match (&along_imaginary, is_complex, input.dtype().is_complex()) {
                (Some(imaginary), true, false) => complex(&row, &imaginary[i])?,
                (_, true, true) => conj(&row)?,
                _ => row,
            };
            reshape(&entry, entry_shape(input))
        };
        inputs.iter().zip(along_real).enumerate().map(entry).collect()
    };
    outputs.iter().enumerate().map(of_output).collect()
}

/// Compute the Jacobians of `outputs` with respect to the `inputs` of their trace, in forward mode.
pub fn push_jacobians(inputs: &[Array], outputs: &[Array]) -> Result<Jacobians> {
    let columns = |i: usize, unit: Scalar| -> Result<Vec<Array>> {
        let mapped = Mapped::begin(&[basis(&inputs[i], unit)?], &[Some(0)])?;
        let tangent =
            |(other, input)| if other == i { mapped.trace.inputs[0].clone() } else { zero_derivative(input) };
        let tangents: Vec<Array> = inputs.iter().enumerate().map(tangent).collect();
        let pushed = push_forward(inputs, outputs, &tangents)?;
        mapped.end(&pushed, &vec![Some(-1); outputs.len()])
    };
    let mut jacobians: Jacobians = vec![Vec::with_capacity(inputs.len()); outputs.len()];
    for (i, input) in inputs.iter().enumerate() {
        let is_complex = input.dtype().is_complex();
        let is_empty = input.size() == 0;
        let along_real = if is_empty { Vec::new() } else { columns(i, Scalar::Float(1.0))? };
        // The gradient of a real output with respect to a complex input combines the tangents of real and imaginary part.
        let needs_both = is_complex && !is_empty && outputs.iter().any(|output| !output.dtype().is_complex());
        let along_imaginary = if needs_both { Some(columns(i, Scalar::Complex(0.0, 1.0))?) } else { None };
        for (o, output) in outputs.iter().enumerate() {
            let shape = concatenated(output.shape(), input.shape());
            let entry = match &along_imaginary {
                _ if is_empty => Array::full(shape.clone(), 0.0, output.dtype().inexact()),
                Some(imaginary) if !output.dtype().is_complex() => complex(&along_real[o], &imaginary[o])?,
                _ => along_real[o].clone(),
            };
            jacobians[o].push(reshape(&entry, shape)?);
        }
    }
    Ok(jacobians)
}

/// The derivative of a function at a point, a linear function.
#[derive(Clone, Debug)]
pub struct Linear {
    program: Arc<Program>,
    captured: Vec<Array>,
    tangents: usize,
}

/// Compute the outputs of a function at a point, and its derivative there as a linear function.
///
/// `f` runs once; the linear function can be called many times.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::linearize;
/// let (values, linear) = linearize(|x| Ok(vec![ops::square(&x[0])?]), &[Array::from(3.0f32)])?;
/// assert_eq!(values[0].item()?.as_f64(), 9.0);
/// assert_eq!(linear.call(&[Array::from(10.0f32)])?[0].item()?.as_f64(), 60.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn linearize(
    f: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    primals: &[Array],
) -> Result<(Vec<Array>, Linear)> {
    let trace = Trace::with_data(primals)?;
    let outputs = f(&trace.inputs)?;
    let linear = Linear::of(&trace.end(), &outputs)?;
    Ok((outputs, linear))
}

impl Linear {
    /// The linear function from tangents of the `inputs` of a trace to tangents of the `outputs` computed from them.
    pub fn of(inputs: &[Array], outputs: &[Array]) -> Result<Linear> {
        let specs = inputs.iter().map(|input| ArraySpec::new(input.shape().clone(), input.dtype().inexact()));
        let tangents = Trace::placeholders(Leaf::Trace, specs);
        let pushed = push_forward(inputs, outputs, &tangents.inputs)?;
        let (program, captured) = Program::close(&tangents.inputs, &pushed);
        Ok(Linear::closed(Arc::new(program), captured, inputs.len()))
    }

    /// A program whose first `tangents` arguments are those of the function, and whose other arguments are `captured`.
    pub(super) fn closed(program: Arc<Program>, captured: Vec<Array>, tangents: usize) -> Linear {
        Linear { program, captured, tangents }
    }

    /// The shapes of its arguments.
    pub fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.program.arguments[..self.tangents].iter().map(|spec| &spec.shape)
    }

    /// The tangents of the outputs.
    pub fn call(&self, tangents: &[Array]) -> Result<Vec<Array>> {
        let specs = &self.program.arguments[..self.tangents];
        ensure!(
            tangents.len() == specs.len()
                && tangents.iter().zip(specs).all(|(t, spec)| *t.shape() == spec.shape),
            Value("linearize"),
            "tangents must match the {} arguments in number and shape",
            specs.len()
        );
        let cast_to = |(tangent, spec): (&Array, &ArraySpec)| cast(tangent, spec.dtype);
        let mut arguments = tangents.iter().zip(specs).map(cast_to).collect::<Result<Vec<_>>>()?;
        arguments.extend(self.captured.iter().cloned());
        self.program.replay(&arguments)
    }
}

/// Compute the shapes and dtypes of a function's results without running its operations.
///
/// ```
/// # use umber_core as umber;
/// use umber::{ArraySpec, DType, Shape, ops};
/// use umber::transforms::eval_shape;
/// let specs = [ArraySpec::new([1 << 20, 3], DType::Float16), ArraySpec::new([3, 1 << 20], DType::Float32)];
/// let outputs = eval_shape(|x| Ok(vec![ops::matmul(&x[0], &x[1])?]), &specs)?;
/// assert_eq!(outputs, [ArraySpec::new([1 << 20, 1 << 20], DType::Float32)]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn eval_shape(
    f: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    arguments: &[ArraySpec],
) -> Result<Vec<ArraySpec>> {
    let trace = Trace::placeholders(Leaf::Trace, arguments.iter().cloned());
    let outputs = f(&trace.inputs)?;
    Ok(outputs.iter().map(|output| output.spec().clone()).collect())
}
