//! `grad`, `value_and_grad`, `vjp`, `jvp`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;
use umber_core::transforms::{Trace, pull_back, pull_holomorphic, push_forward};

use super::arguments::{Assumed, Chosen};
use super::substitution::{Substitution, part, taken};
use super::{Initialized, check_callable, describe};
use super::{call_user, called_as};
use crate::args::Ints;
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::pytree::{Pytree, PytreePath, class_of};

/// A function that gives the gradient of another, and its value where asked for.
#[pyclass(name = "GradFunction", module = "umber.core", frozen, dict, weakref)]
struct GradFunction {
    initialized: Initialized,
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
                "[{op}] the function must return {wanted}, got an array of shape {}",
                value.get().get().shape()
            ))),
            Err(_) => Err(PyValueError::new_err(format!(
                "[{op}] the function must return {wanted}, got {}",
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
        let value = self.value(&returned)?;
        self.chosen.check_dtypes(py, &Pytree::Array(value.clone().unbind()), "the function's result")?;
        let value = value.get().get();
        let (trees, mut trace) = followed.into_parts();
        // The backward pass is no part of what is differentiated here.
        trace.returned();
        let gradients = match self.chosen.assumed {
            Assumed::Nothing => {
                let one = Array::scalar(1.0, value.dtype().inexact());
                pull_back(&trace.inputs, std::slice::from_ref(&value), &[one])
            }
            Assumed::Holomorphic => pull_holomorphic(&trace.inputs, &value),
        };
        let gradients = gradients.or_raise()?;
        drop(trace);
        let output = self.chosen.arrange(py, &trees, &gradients)?;
        let pair =
            |first: Py<PyAny>, second: Py<PyAny>| Ok(PyTuple::new(py, [first, second])?.into_any().unbind());
        match (self.with_value, aux) {
            (false, None) => Ok(output),
            (false, Some(aux)) => pair(output, aux.unbind()),
            (true, None) => pair(returned.unbind(), output),
            (true, Some(aux)) => pair(pair(returned.unbind(), aux.unbind())?, output),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe(self.chosen.op(), &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.initialized.is() {
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
            "[{op}] has_aux requires the function to return a pair (value, aux), got {}",
            class_of(&returned)
        ))),
    }
}

/// A function that computes the gradient of `fun` with respect to the arguments `argnums` (positions, the first by
/// default) and `argnames` (keywords). `fun` returns a scalar array, or a tuple that begins with one. With `has_aux` it
/// returns a pair of the value and anything else, and the answer is the pair of the gradient and that.
///
/// `fun` is called with the very lists and dicts that it is given, of whatever class (a module, say): their arrays are
/// replaced for the call and put back afterwards, and whatever else `fun` does to them lasts. Tuples are rebuilt.
///
/// Of a real value with respect to complex `z = x + iy` the gradient is `df/dx + i df/dy`. With `holomorphic` it is the
/// complex derivative `df/dz` of a complex value with respect to complex arguments. Raises `TypeError` where either has
/// another dtype.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, argnames = None, *, has_aux = false, holomorphic = false))]
fn grad<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, GradFunction>> {
    check_callable("grad", fun)?;
    let chosen = Chosen::new("grad", argnums, argnames, Assumed::of(holomorphic))?;
    let made = GradFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        chosen,
        with_value: false,
        has_aux,
    };
    called_as(made, fun)
}

/// As `grad`, for a function that computes the value too: `(value, gradient)`, or with `has_aux` `((value, aux),
/// gradient)`.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, argnames = None, *, has_aux = false, holomorphic = false))]
fn value_and_grad<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    argnames: Option<&Bound<'_, PyAny>>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, GradFunction>> {
    check_callable("value_and_grad", fun)?;
    let chosen = Chosen::new("value_and_grad", argnums, argnames, Assumed::of(holomorphic))?;
    let made = GradFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        chosen,
        with_value: true,
        has_aux,
    };
    called_as(made, fun)
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

/// Refuse one array or a dict where a list is expected.
fn check_list(op: &str, name: &str, list: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = class_of(list);
    if list.is_instance_of::<PyArray>() || list.is_instance_of::<PyDict>() {
        let article = if class == "array" { "an" } else { "a" };
        return Err(PyValueError::new_err(format!(
            "[{op}] {name}: got {article} {class}, expected a list of arrays"
        )));
    }
    Ok(())
}

/// A list of trees of arrays, as a tree.
fn listed(op: &str, name: &str, list: &Bound<'_, PyAny>) -> PyResult<Pytree> {
    let py = list.py();
    check_list(op, name, list)?;
    let items = list.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let tree = Pytree::of(PyList::new(py, items)?.as_any())?;
    check_leaves(py, op, name, &tree)?;
    Ok(tree)
}

/// Refuse whatever is no array.
fn check_leaves(py: Python<'_>, op: &str, name: &str, tree: &Pytree) -> PyResult<()> {
    tree.visit_places(&PytreePath::Root(name), &mut |leaf, place| match leaf {
        Pytree::Other(value) => Err(refused(op, &place.text(py), value.bind(py))),
        _ => Ok(()),
    })
}

fn refused(op: &str, place: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("[{op}] {place}: got {}, expected an array", class_of(value)))
}

/// Arguments all of which are followed, as a list of the values and as a tree.
pub(super) struct Primals<'py> {
    list: Bound<'py, PyAny>,
    pub(super) tree: Pytree,
}

impl<'py> Primals<'py> {
    pub(super) fn new(
        py: Python<'py>,
        values: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    ) -> PyResult<Primals<'py>> {
        let mut values: Vec<_> = values.collect::<PyResult<_>>()?;
        let all: Vec<usize> = (0..values.len()).collect();
        part(&mut values, &all)?;
        let (list, tree) = taken(PyList::new(py, values)?.as_any())?;
        Ok(Primals { list, tree })
    }

    /// Call `fun` with `inputs` in place of the arrays. The containers get their own back when the answer is dropped,
    /// until when what was returned must be looked at: it may be one of them.
    pub(super) fn call(
        &self,
        fun: &Bound<'py, PyAny>,
        inputs: &[Array],
    ) -> PyResult<(Bound<'py, PyAny>, Substitution<'py>)> {
        let mut substitution = Substitution::new(fun.py());
        let given = substitution.arrays(&self.list, inputs)?;
        let returned = call_user(fun, given.cast::<PyList>()?.to_tuple(), None)?;
        Ok((returned, substitution))
    }
}

/// The primals of `vjp` or `jvp`.
pub(super) fn primals<'py>(op: &str, list: &Bound<'py, PyAny>) -> PyResult<Primals<'py>> {
    check_list(op, "primals", list)?;
    let primals = Primals::new(list.py(), list.try_iter()?)?;
    check_leaves(list.py(), op, "primals", &primals.tree)?;
    Ok(primals)
}

/// What a function returned, and what came with it where that was announced. Several results are a list, and so is one
/// array.
pub(super) fn outputs<'py>(
    op: &str,
    returned: Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<(Pytree, Option<Bound<'py, PyAny>>)> {
    let (returned, aux) = parted(op, returned, has_aux)?;
    let tree = match Pytree::of(&returned)? {
        Pytree::Tuple(items, _) => Pytree::List(items),
        Pytree::Array(array) => Pytree::List(vec![Pytree::Array(array)]),
        Pytree::Other(_) => {
            return Err(PyValueError::new_err(format!(
                "[{op}] the function must return arrays, got {}",
                class_of(&returned)
            )));
        }
        tree => tree,
    };
    check_leaves(returned.py(), op, "outputs", &tree)?;
    Ok((tree, aux))
}

/// Outputs, derivatives, and what came with them.
fn output<'py>(
    py: Python<'py>,
    outputs: &Pytree,
    (derivatives, like): (&[Array], &Pytree),
    aux: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let parts = [outputs.rebuild(py, &outputs.arrays())?, like.rebuild(py, derivatives)?];
    PyTuple::new(py, parts.into_iter().chain(aux.map(Bound::unbind)).collect::<Vec<_>>())
}

/// Vector-Jacobian product: the outputs of `fun` at `primals`, and `cotangents` pulled back to the inputs.
///
/// Primals, outputs and what belongs to them are lists of arrays, or of lists, tuples and dicts of arrays; outputs may
/// be a dict, too. With `has_aux` the function returns a pair of outputs and anything else, which is the third of the
/// answer.
#[pyfunction]
#[pyo3(signature = (fun, primals, cotangents, *, has_aux = false))]
fn vjp<'py>(
    fun: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyAny>,
    cotangents: &Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    check_callable("vjp", fun)?;
    let primals = self::primals("vjp", primals)?;
    let cotangents = given_for("vjp", "cotangents", cotangents)?;
    let mut trace = Trace::with_data(&primals.tree.arrays()).or_raise()?;
    let (returned, substitution) = primals.call(fun, &trace.inputs)?;
    let (outputs, aux) = outputs("vjp", returned, has_aux)?;
    drop(substitution);
    let cotangents = cotangents.like("vjp", "output", &outputs)?;
    trace.returned();
    let pulled = pull_back(&trace.inputs, &outputs.arrays(), &cotangents).or_raise()?;
    output(fun.py(), &outputs, (&pulled, &primals.tree), aux)
}

/// Jacobian-vector product: the outputs of `fun` at `primals`, and `tangents` pushed forward to the outputs.
///
/// Primals, outputs and what belongs to them are lists of arrays, or of lists, tuples and dicts of arrays; outputs may
/// be a dict, too. With `has_aux` the function returns a pair of outputs and anything else, which is the third of the
/// answer.
#[pyfunction]
#[pyo3(signature = (fun, primals, tangents, *, has_aux = false))]
fn jvp<'py>(
    fun: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyAny>,
    tangents: &Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    check_callable("jvp", fun)?;
    let primals = self::primals("jvp", primals)?;
    let tangents = given_for("jvp", "tangents", tangents)?.like("jvp", "primal", &primals.tree)?;
    let trace = Trace::forwards(&primals.tree.arrays()).or_raise()?;
    let (returned, substitution) = primals.call(fun, &trace.inputs)?;
    let (outputs, aux) = outputs("jvp", returned, has_aux)?;
    drop(substitution);
    let pushed = push_forward(&trace.inputs, &outputs.arrays(), &tangents).or_raise()?;
    output(fun.py(), &outputs, (&pushed, &outputs), aux)
}

/// Tangents or cotangents as they were given.
struct Directions<'py> {
    name: &'static str,
    value: Bound<'py, PyAny>,
    /// The arrays, where nothing is nested.
    flat: Option<Vec<Array>>,
}

fn given_for<'py>(op: &str, name: &'static str, value: &Bound<'py, PyAny>) -> PyResult<Directions<'py>> {
    if value.is_instance_of::<PyDict>() {
        return Ok(Directions { name, value: value.clone(), flat: None });
    }
    let tree = listed(op, name, value)?;
    let is_flat =
        matches!(&tree, Pytree::List(items) if items.iter().all(|item| matches!(item, Pytree::Array(_))));
    let flat = is_flat.then(|| tree.arrays());
    let value = tree.rebuild(value.py(), &tree.arrays())?.into_bound(value.py());
    Ok(Directions { name, value, flat })
}

impl Directions<'_> {
    /// One for each array of `values`: built like them, or a list in their order; of the same shapes.
    fn like(self, op: &str, one: &str, values: &Pytree) -> PyResult<Vec<Array>> {
        let (py, name) = (self.value.py(), self.name);
        let given = match self.flat {
            Some(flat) if flat.len() != values.count() => {
                return Err(PyValueError::new_err(format!(
                    "[{op}] got {} {name} for {} {one}s, expected one for each",
                    flat.len(),
                    values.count()
                )));
            }
            Some(flat) => flat,
            None => {
                let mut found = Vec::new();
                values.aligned(op, &self.value, &PytreePath::Root(name), &mut found)?;
                let array = |(i, given): (usize, Option<Bound<'_, PyAny>>)| {
                    let given = given.unwrap_or_else(|| py.None().into_bound(py));
                    let array = given.cast::<PyArray>().map(|array| array.get().get());
                    array.map_err(|_| refused(op, &values.place_of(py, name, i), &given))
                };
                found.into_iter().enumerate().map(array).collect::<PyResult<_>>()?
            }
        };
        for (i, (value, given)) in values.arrays().iter().zip(&given).enumerate() {
            if value.shape() != given.shape() {
                return Err(PyValueError::new_err(format!(
                    "[{op}] got {} of shape {}, expected the {one}'s shape {}",
                    values.place_of(py, name, i),
                    given.shape(),
                    value.shape()
                )));
            }
        }
        Ok(given)
    }
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
