//! `grad`, `value_and_grad`, `vjp`, `jvp`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber::transforms::{Trace, pull_back, push_forward};
use umber::{Array, DType, ops};

use super::arguments::Chosen;
use super::{Whole, check_callable, describe};
use crate::args::Ints;
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::trees::class_of;

/// A function that gives the gradient of another, and its value where asked for.
#[pyclass(name = "GradFunction", module = "umber.core", frozen, dict, weakref)]
struct GradFunction {
    whole: Whole,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    chosen: Chosen,
    with_value: bool,
    /// Does the function return a pair of a value and something else?
    has_aux: bool,
}

impl GradFunction {
    /// The scalar array to differentiate in what the function returned.
    fn value<'py>(&self, returned: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let first = match returned.cast::<PyTuple>() {
            Ok(tuple) if !tuple.is_empty() => tuple.get_item(0)?,
            _ => returned.clone(),
        };
        let op = self.chosen.op();
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
                class_of(returned)
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
        let followed = self.chosen.follow(self.fun.bind(py), args, kwargs)?;
        let (returned, aux) = parted(self.chosen.op(), followed.returned.clone(), self.has_aux)?;
        let value = self.value(&returned)?.get().get();
        let one = Array::scalar(1.0, value.dtype().inexact());
        let (trees, mut trace) = followed.into_parts();
        // The backward pass is no part of what is differentiated here.
        trace.returned();
        let gradients = pull_back(&trace.inputs, std::slice::from_ref(&value), &[one]).or_raise()?;
        drop(trace);
        let answer = self.chosen.arrange(py, &trees, &gradients)?;
        let pair =
            |first: Py<PyAny>, second: Py<PyAny>| Ok(PyTuple::new(py, [first, second])?.into_any().unbind());
        match (self.with_value, aux) {
            (false, None) => Ok(answer),
            (false, Some(aux)) => pair(answer, aux.unbind()),
            (true, None) => pair(returned.unbind(), answer),
            (true, Some(aux)) => pair(pair(returned.unbind(), aux.unbind())?, answer),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe(self.chosen.op(), &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.whole.is() {
            return Ok(());
        }
        visit.call(&self.fun)
    }
}

/// What a function returned, and what came with it where that was announced.
pub(super) fn parted<'py>(
    op: &str,
    returned: Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
    if !has_aux {
        return Ok((returned, None));
    }
    match returned.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => Ok((pair.get_item(0)?, Some(pair.get_item(1)?))),
        _ => Err(PyTypeError::new_err(format!(
            "[{op}] with has_aux the function should return a tuple of 2, the value and something else, got {}",
            class_of(&returned)
        ))),
    }
}

/// A function that computes the gradient of `fun` with respect to the arguments `argnums` (positions, the first by
/// default) and `argnames` (keywords). `fun` returns a scalar array, or a tuple that begins with one. With `has_aux` it
/// returns a pair of the value and anything else, and the answer is the pair of the gradient and that.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, argnames = None, *, has_aux = false))]
fn grad(
    fun: &Bound<'_, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
    has_aux: bool,
) -> PyResult<GradFunction> {
    check_callable("grad", fun)?;
    let chosen = Chosen::new("grad", argnums, argnames)?;
    Ok(GradFunction { whole: Whole::YES, fun: fun.clone().unbind(), chosen, with_value: false, has_aux })
}

/// As `grad`, for a function that computes the value too: `(value, gradient)`, or with `has_aux` `((value, aux),
/// gradient)`.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, argnames = None, *, has_aux = false))]
fn value_and_grad(
    fun: &Bound<'_, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
    has_aux: bool,
) -> PyResult<GradFunction> {
    check_callable("value_and_grad", fun)?;
    let chosen = Chosen::new("value_and_grad", argnums, argnames)?;
    Ok(GradFunction { whole: Whole::YES, fun: fun.clone().unbind(), chosen, with_value: true, has_aux })
}

/// The arrays of a list argument.
pub(super) fn arrays(op: &str, name: &str, list: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    if list.is_instance_of::<PyArray>() {
        return Err(PyValueError::new_err(format!("[{op}] {name}: got an array, expected a list of arrays")));
    }
    let refused = |i: usize, item: &Bound<'_, PyAny>| {
        PyValueError::new_err(format!("[{op}] {name}[{i}]: got {}, expected an array", class_of(item)))
    };
    let one = |(i, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = item?;
        item.cast::<PyArray>().map(|array| array.get().get()).map_err(|_| refused(i, &item))
    };
    list.try_iter()?.enumerate().map(one).collect()
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

/// What a function returned: arrays, and what came with them where that was announced.
fn outputs<'py>(
    op: &str,
    returned: Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<(Vec<Array>, Option<Bound<'py, PyAny>>)> {
    let (returned, aux) = parted(op, returned, has_aux)?;
    Ok((returned_arrays(op, &returned)?, aux))
}

/// Outputs, derivatives, and what came with them.
fn answer<'py>(
    py: Python<'py>,
    outputs: Vec<Array>,
    derivatives: Vec<Array>,
    aux: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let list = |arrays: Vec<Array>| Ok::<_, PyErr>(wrap(arrays).into_pyobject(py)?.into_any());
    let parts = [list(outputs)?, list(derivatives)?];
    PyTuple::new(py, parts.into_iter().chain(aux).collect::<Vec<_>>())
}

/// Vector-Jacobian product: the outputs of `fun` at `primals`, and `cotangents` pulled back to the inputs.
///
/// With `has_aux` the function returns a pair of outputs and anything else, which is the third of the answer.
#[pyfunction]
#[pyo3(signature = (fun, primals, cotangents, *, has_aux = false))]
fn vjp<'py>(
    fun: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyAny>,
    cotangents: &Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    check_callable("vjp", fun)?;
    let primals = arrays("vjp", "primals", primals)?;
    let cotangents = arrays("vjp", "cotangents", cotangents)?;
    let mut trace = Trace::with_data(&primals).or_raise()?;
    let (outputs, aux) = outputs("vjp", call(fun, &trace.inputs)?, has_aux)?;
    check_like("vjp", "output", &outputs, "cotangents", &cotangents)?;
    trace.returned();
    let pulled = pull_back(&trace.inputs, &outputs, &cotangents).or_raise()?;
    answer(fun.py(), outputs, pulled, aux)
}

/// Jacobian-vector product: the outputs of `fun` at `primals`, and `tangents` pushed forward to the outputs.
///
/// With `has_aux` the function returns a pair of outputs and anything else, which is the third of the answer.
#[pyfunction]
#[pyo3(signature = (fun, primals, tangents, *, has_aux = false))]
fn jvp<'py>(
    fun: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyAny>,
    tangents: &Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    check_callable("jvp", fun)?;
    let primals = arrays("jvp", "primals", primals)?;
    let tangents = arrays("jvp", "tangents", tangents)?;
    check_like("jvp", "primal", &primals, "tangents", &tangents)?;
    let trace = Trace::forwards(&primals).or_raise()?;
    let (outputs, aux) = outputs("jvp", call(fun, &trace.inputs)?, has_aux)?;
    let tangents = tangents
        .iter()
        .zip(&primals)
        .map(|(tangent, primal)| ops::astype(tangent, tangent_dtype(primal)).or_raise())
        .collect::<PyResult<Vec<_>>>()?;
    let pushed = push_forward(&trace.inputs, &outputs, &tangents).or_raise()?;
    answer(fun.py(), outputs, pushed, aux)
}

fn tangent_dtype(primal: &Array) -> DType {
    primal.dtype().inexact()
}

/// As many as, and of the same shapes as.
fn check_like(op: &str, one: &str, values: &[Array], others: &str, given: &[Array]) -> PyResult<()> {
    if values.len() != given.len() {
        return Err(PyValueError::new_err(format!(
            "[{op}] got {} {others} for {} {one}s, expected one for each",
            given.len(),
            values.len()
        )));
    }
    for (i, (value, given)) in values.iter().zip(given).enumerate() {
        if value.shape() != given.shape() {
            return Err(PyValueError::new_err(format!(
                "[{op}] got {others}[{i}] of shape {}, expected the {one}'s shape {}",
                given.shape(),
                value.shape()
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
