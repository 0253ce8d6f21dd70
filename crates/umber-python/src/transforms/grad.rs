//! `grad`, `value_and_grad`, `vjp`, `jvp`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use umber::transforms::{Trace, pull_back, push_forward};
use umber::{Array, DType, ops};

use super::{check_callable, describe};
use crate::args::Ints;
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::trees::Tree;

/// A function that gives the gradient of another, and its value where asked for.
#[pyclass(name = "GradFunction", module = "umber.core", dict, weakref)]
struct GradFunction {
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    argnums: Vec<usize>,
    argnames: Vec<String>,
    /// One number given as such: its gradient is not wrapped in a tuple.
    single: bool,
    with_value: bool,
}

impl GradFunction {
    fn op(&self) -> &'static str {
        if self.with_value { "value_and_grad" } else { "grad" }
    }

    fn check_arguments(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        if let Some(&argnum) = self.argnums.iter().find(|&&argnum| argnum >= args.len()) {
            return Err(PyValueError::new_err(format!(
                "[{}] Can't compute the gradient of argument index {argnum}: got {} positional arguments, expected \
                 more",
                self.op(),
                args.len()
            )));
        }
        for name in &self.argnames {
            if !kwargs.is_some_and(|kwargs| kwargs.contains(name).unwrap_or(false)) {
                return Err(PyValueError::new_err(format!(
                    "[{}] Can't compute the gradient of keyword argument '{name}': got a call without it, expected it",
                    self.op()
                )));
            }
        }
        Ok(())
    }

    /// The scalar array to differentiate in what the function returned.
    fn value<'py>(&self, returned: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let first = match returned.cast::<PyTuple>() {
            Ok(tuple) if !tuple.is_empty() => tuple.get_item(0)?,
            _ => returned.clone(),
        };
        let op = self.op();
        let wanted = "either a scalar array or a tuple with the first value being a scalar array";
        match first.cast_into::<PyArray>() {
            Ok(value) if value.get().get().ndim() == 0 => Ok(value),
            Ok(value) => Err(PyValueError::new_err(format!(
                "[{op}] The return value of the function whose gradient we want to compute: expected {wanted}; got \
                 an array of shape {}",
                value.get().get().shape()
            ))),
            Err(_) => Err(PyValueError::new_err(format!(
                "[{op}] The return value of the function whose gradient we want to compute: expected {wanted}; got {}",
                returned.get_type().name()?
            ))),
        }
    }
}

#[pymethods]
impl GradFunction {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.check_arguments(args, kwargs)?;
        let mut trees: Vec<Tree> = Vec::new();
        for &argnum in &self.argnums {
            trees.push(Tree::of(&args.get_item(argnum)?)?);
        }
        for name in &self.argnames {
            let value = kwargs.and_then(|kwargs| kwargs.get_item(name).transpose()).transpose()?;
            trees.push(Tree::of(&value.expect("checked to be there"))?);
        }
        for tree in &trees {
            tree.check_arrays(py, self.op())?;
        }
        let counts: Vec<usize> = trees.iter().map(|tree| tree.arrays().len()).collect();
        let primals: Vec<Array> = trees.iter().flat_map(Tree::arrays).collect();
        let trace = Trace::with_data(&primals);
        // The function gets its arguments with traced arrays in place of those to differentiate.
        let mut given: Vec<Bound<'py, PyAny>> = args.iter().collect();
        let named = kwargs.map(pyo3::types::PyDictMethods::copy).transpose()?;
        let mut offset = 0;
        for (i, tree) in trees.iter().enumerate() {
            let traced = tree.rebuild(py, &trace.inputs[offset..offset + counts[i]])?.into_bound(py);
            offset += counts[i];
            match self.argnums.get(i) {
                Some(&argnum) => given[argnum] = traced,
                None => {
                    let name = &self.argnames[i - self.argnums.len()];
                    named.as_ref().expect("checked to be there").set_item(name, traced)?;
                }
            }
        }
        let returned = self.fun.bind(py).call(PyTuple::new(py, given)?, named.as_ref())?;
        let value = self.value(&returned)?.get().get();
        let one = Array::scalar(1.0, value.dtype().inexact());
        // The backward pass is no part of what is differentiated here.
        let gradients = pull_back(&trace.end(), std::slice::from_ref(&value), &[one]).or_raise()?;
        let mut parts: Vec<Py<PyAny>> = Vec::new();
        let mut rest = &gradients[..];
        for (tree, &count) in trees.iter().zip(&counts) {
            let (own, later) = rest.split_at(count);
            parts.push(tree.gradients(py, own)?);
            rest = later;
        }
        let answer = self.arrange(py, parts)?;
        if !self.with_value {
            return Ok(answer);
        }
        Ok(PyTuple::new(py, [returned.unbind(), answer])?.into_any().unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe(self.op(), &self.fun, py)
    }
}

impl GradFunction {
    /// Gradients as they were asked for: one, a tuple, or a pair with a dict of the named ones.
    fn arrange(&self, py: Python<'_>, mut parts: Vec<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let named = parts.split_off(self.argnums.len());
        let positional = if self.argnums.is_empty() {
            py.None()
        } else if self.single {
            parts.remove(0)
        } else {
            PyTuple::new(py, parts)?.into_any().unbind()
        };
        if self.argnames.is_empty() {
            return Ok(positional);
        }
        let dict = PyDict::new(py);
        for (name, part) in self.argnames.iter().zip(named) {
            dict.set_item(name, part)?;
        }
        Ok(PyTuple::new(py, [positional, dict.into_any().unbind()])?.into_any().unbind())
    }
}

/// What `argnums` and `argnames` say.
fn make(
    op: &str,
    fun: &Bound<'_, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
    with_value: bool,
) -> PyResult<GradFunction> {
    check_callable(op, fun)?;
    let argnames: Vec<String> = match argnames {
        None => Vec::new(),
        Some(one) if one.is_instance_of::<PyString>() => vec![one.extract()?],
        Some(many) if many.is_none() => Vec::new(),
        Some(many) => many.extract()?,
    };
    let numbers = match &argnums {
        Some(ints) => ints.as_slice().to_vec(),
        None if argnames.is_empty() => vec![0],
        None => Vec::new(),
    };
    let mut found: Vec<usize> = Vec::new();
    for number in numbers {
        let number = usize::try_from(number).map_err(|_| {
            PyValueError::new_err(format!(
                "[{op}] Can't compute the gradient of negative argument index: got {number}, expected 0 or more"
            ))
        })?;
        if found.contains(&number) {
            return Err(PyValueError::new_err(format!(
                "[{op}] Duplicate argument index: got {number} twice, expected each once"
            )));
        }
        found.push(number);
    }
    for (i, name) in argnames.iter().enumerate() {
        if argnames[..i].contains(name) {
            return Err(PyValueError::new_err(format!(
                "[{op}] Duplicate argument name: got '{name}' twice, expected each once"
            )));
        }
    }
    let single = found.len() == 1;
    Ok(GradFunction { fun: fun.clone().unbind(), argnums: found, argnames, single, with_value })
}

/// A function that computes the gradient of `fun` with respect to the arguments `argnums` (positions, the first by
/// default) and `argnames` (keywords). `fun` returns a scalar array, or a tuple that begins with one.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, argnames = None))]
fn grad(
    fun: &Bound<'_, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
) -> PyResult<GradFunction> {
    make("grad", fun, argnums, argnames, false)
}

/// As `grad`, for a function that computes the value too: `(value, gradient)`.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, argnames = None))]
fn value_and_grad(
    fun: &Bound<'_, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
) -> PyResult<GradFunction> {
    make("value_and_grad", fun, argnums, argnames, true)
}

/// The arrays of a list argument.
fn arrays(op: &str, name: &str, list: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    let mut found = Vec::new();
    for item in list.try_iter()? {
        let item = item?;
        match item.cast::<PyArray>() {
            Ok(array) => found.push(array.get().get()),
            Err(_) => {
                return Err(PyValueError::new_err(format!(
                    "[{op}] {name}: expected arrays, got {}",
                    item.get_type().name()?
                )));
            }
        }
    }
    Ok(found)
}

/// The arrays a function returned: one, or a list or tuple of them.
fn returned_arrays(op: &str, returned: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    match returned.cast::<PyArray>() {
        Ok(array) => Ok(vec![array.get().get()]),
        Err(_) if returned.is_instance_of::<PyTuple>() || returned.is_instance_of::<PyList>() => {
            arrays(op, "outputs", returned)
        }
        Err(_) => Err(PyValueError::new_err(format!(
            "[{op}] got {} from the function, expected arrays",
            returned.get_type().name()?
        ))),
    }
}

fn wrap(arrays: impl IntoIterator<Item = Array>) -> Vec<PyArray> {
    arrays.into_iter().map(PyArray::from).collect()
}

fn call<'py>(fun: &Bound<'py, PyAny>, inputs: &[Array]) -> PyResult<Bound<'py, PyAny>> {
    fun.call1(PyTuple::new(fun.py(), wrap(inputs.iter().cloned()))?)
}

/// Vector-Jacobian product: the outputs of `fun` at `primals`, and `cotangents` pulled back to the inputs.
#[pyfunction]
fn vjp(
    fun: &Bound<'_, PyAny>,
    primals: &Bound<'_, PyAny>,
    cotangents: &Bound<'_, PyAny>,
) -> PyResult<(Vec<PyArray>, Vec<PyArray>)> {
    check_callable("vjp", fun)?;
    let primals = arrays("vjp", "primals", primals)?;
    let cotangents = arrays("vjp", "cotangents", cotangents)?;
    let trace = Trace::with_data(&primals);
    let outputs = returned_arrays("vjp", &call(fun, &trace.inputs)?)?;
    check_like("vjp", "output", &outputs, "cotangent", &cotangents)?;
    let pulled = pull_back(&trace.end(), &outputs, &cotangents).or_raise()?;
    Ok((wrap(outputs), wrap(pulled)))
}

/// Jacobian-vector product: the outputs of `fun` at `primals`, and `tangents` pushed forward to the outputs.
#[pyfunction]
fn jvp(
    fun: &Bound<'_, PyAny>,
    primals: &Bound<'_, PyAny>,
    tangents: &Bound<'_, PyAny>,
) -> PyResult<(Vec<PyArray>, Vec<PyArray>)> {
    check_callable("jvp", fun)?;
    let primals = arrays("jvp", "primals", primals)?;
    let tangents = arrays("jvp", "tangents", tangents)?;
    check_like("jvp", "input", &primals, "tangent", &tangents)?;
    let trace = Trace::forwards(&primals);
    let outputs = returned_arrays("jvp", &call(fun, &trace.inputs)?)?;
    let tangents = tangents
        .iter()
        .zip(&primals)
        .map(|(tangent, primal)| ops::astype(tangent, tangent_dtype(primal)).or_raise())
        .collect::<PyResult<Vec<_>>>()?;
    let pushed = push_forward(&trace.end(), &outputs, &tangents).or_raise()?;
    Ok((wrap(outputs), wrap(pushed)))
}

fn tangent_dtype(primal: &Array) -> DType {
    primal.dtype().inexact()
}

/// As many as, and of the same shapes as.
fn check_like(op: &str, one: &str, values: &[Array], other: &str, others: &[Array]) -> PyResult<()> {
    if values.len() != others.len() {
        return Err(PyValueError::new_err(format!(
            "[{op}] got {} {other}s for {} {one}s, expected one for each",
            others.len(),
            values.len()
        )));
    }
    for (value, given) in values.iter().zip(others) {
        if value.shape() != given.shape() {
            return Err(PyValueError::new_err(format!(
                "[{op}] got {one} shape {} and {other} shape {}, expected the same",
                value.shape(),
                given.shape()
            )));
        }
    }
    Ok(())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(grad, module)?,
        wrap_pyfunction!(value_and_grad, module)?,
        wrap_pyfunction!(vjp, module)?,
        wrap_pyfunction!(jvp, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
