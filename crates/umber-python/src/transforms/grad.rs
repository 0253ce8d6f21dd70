//! `grad`, `value_and_grad`, `vjp`, `jvp`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;
use umber_core::transforms::{Trace, pull_back, pull_holomorphic, push_forward};

use super::arguments::{ArgSelection, Assumption};
use super::substitution::{Substitution, claim, make_distinct};
use super::wrapper::{Creation, bind, describe, reduce, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::args::Ints;
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::pytree::{Pytree, PytreePath, class_of};

/// Function that computes the gradient of another, and optionally its value.
#[pyclass(name = "GradFunction", module = "umber.core", frozen, dict, weakref)]
struct GradFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    selection: ArgSelection,
    with_value: bool,
    /// Whether the function returns a pair of a value and an auxiliary object.
    has_aux: bool,
}

impl GradFunction {
    /// The scalar array to differentiate in the function's result.
    fn value<'py>(&self, returned: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let first = match returned.cast::<PyTuple>() {
            Ok(tuple) if !tuple.is_empty() => tuple.get_item(0)?,
            _ => returned.clone(),
        };
        let op = self.selection.op();
        let expected = "a scalar array, or a tuple whose first value is one";
        match first.cast_into::<PyArray>() {
            Ok(value) if value.get().get().ndim() == 0 => Ok(value),
            Ok(value) => Err(PyValueError::new_err(format!(
                "[{op}] the function must return {expected}, got an array of shape {}",
                value.get().get().shape()
            ))),
            Err(_) => Err(PyValueError::new_err(format!(
                "[{op}] the function must return {expected}, got {}",
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
        let traced = self.selection.trace_call(self.fun.bind(py), args, kwargs)?;
        let (returned, aux) = split_aux(self.selection.op(), traced.returned.clone(), self.has_aux)?;
        let value = self.value(&returned)?;
        self.selection.check_dtypes(py, &Pytree::Array(value.clone().unbind()), "the function's result")?;
        let value = value.get().get();
        let (trees, mut trace) = traced.into_parts();
        // The backward pass is not part of this trace.
        trace.returned();
        let gradients = match self.selection.assumption {
            Assumption::Nothing => {
                let one = Array::scalar(1.0, value.dtype().inexact());
                pull_back(&trace.inputs, std::slice::from_ref(&value), &[one])
            }
            Assumption::Holomorphic => pull_holomorphic(&trace.inputs, &value),
        };
        let gradients = gradients.or_raise()?;
        drop(trace);
        let output = self.selection.arrange(py, &trees, &gradients)?;
        let pair =
            |first: Py<PyAny>, second: Py<PyAny>| Ok(PyTuple::new(py, [first, second])?.into_any().unbind());
        match (self.with_value, aux) {
            (false, None) => Ok(output),
            (false, Some(aux)) => pair(output, aux.unbind()),
            (true, None) => pair(returned.unbind(), output),
            (true, Some(aux)) => pair(pair(returned.unbind(), aux.unbind())?, output),
        }
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bind(slf.as_any(), instance)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let (argnums, argnames) = this.selection.arguments();
        let transform = if this.with_value { "value_and_grad" } else { "grad" };
        let flags: &'static [&'static str] = match (this.has_aux, this.selection.assumption) {
            (false, Assumption::Nothing) => &[],
            (true, Assumption::Nothing) => &["has_aux"],
            (false, Assumption::Holomorphic) => &["holomorphic"],
            (true, Assumption::Holomorphic) => &["has_aux", "holomorphic"],
        };
        let fun = this.fun.bind(py);
        let args = (fun, argnums, argnames).into_pyobject(py)?;
        reduce(slf.as_any(), fun, Creation { transform, args, flags })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe(self.selection.op(), &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        visit.call(&self.fun)
    }
}

/// Split the result of a function into value and auxiliary object, if `has_aux` is set.
pub(super) fn split_aux<'py>(
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

/// Return a function that computes the gradient of a scalar-valued function.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns a scalar array, or a tuple whose first item is one.
/// argnums : int or sequence of int, optional
///     Positional arguments to differentiate with respect to. Default: 0, or none if `argnames` is given.
/// argnames : str or sequence of str, optional
///     Keyword arguments to differentiate with respect to. Default: none.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(value, aux)``, where `aux` is any object. Default: False.
/// holomorphic : bool, optional
///     Compute the complex derivative ``df/dz`` of a complex value with respect to complex arguments. Default: False.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns the gradient: a pytree with the structure of the chosen argument, or a
///     tuple of such pytrees if `argnums` is a sequence. With `argnames` it returns a pair ``(positional, named)``, where
///     `named` is a dict by argument name and `positional` is None if `argnums` is not given. With `has_aux` it returns
///     ``(gradient, aux)``.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
///     `holomorphic` is set and an argument or the value is not complex.
/// ValueError
///     If `argnums` is negative or repeated; from the returned function, if it names an argument that the call does not
///     have, if a chosen argument holds anything but arrays, or if the value is not a scalar array.
///
/// See Also
/// --------
/// value_and_grad, vjp, jacrev, hessian
///
/// Notes
/// -----
/// Reverse-mode differentiation. A chosen argument is an array or a pytree (nested lists, tuples and dicts) of arrays.
/// Gradients have the shape and dtype of their argument; integers and booleans get float32. Arrays that the result does
/// not depend on get zeros. Arrays that `fun` captures are constants.
///
/// For a real value and complex ``z = x + iy`` the gradient is ``df/dx + i df/dy``, the direction of steepest ascent.
///
/// `fun` receives the caller's own lists and dicts, including subclasses such as modules. Their arrays are replaced by
/// traced arrays during the call and restored after it; other changes that `fun` makes to a container persist. Tuples are
/// rebuilt. Traced arrays have values, so ``x.item()`` and ``if x > 0`` work inside `fun`.
///
/// Examples
/// --------
/// >>> mx.grad(lambda x: (x**2).sum())(mx.array([1.0, 2.0, 3.0]))
/// array([2, 4, 6], dtype=float32)
/// >>> loss = lambda p, x: (p["w"] * x + p["b"]).sum()
/// >>> mx.grad(loss)({"w": mx.array(2.0), "b": mx.array(0.0)}, mx.array([1.0, 3.0]))
/// {'w': array(4, dtype=float32), 'b': array(2, dtype=float32)}
/// >>> mx.grad(lambda x, y: x * y, argnums=(0, 1))(mx.array(2.0), mx.array(3.0))
/// (array(3, dtype=float32), array(2, dtype=float32))
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
    let selection = ArgSelection::new("grad", argnums, argnames, Assumption::of(holomorphic))?;
    let function = GradFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        selection,
        with_value: false,
        has_aux,
    };
    wrap_function(function, fun)
}

/// Return a function that computes the value of a scalar-valued function and its gradient.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns a scalar array, or a tuple whose first item is one.
/// argnums : int or sequence of int, optional
///     Positional arguments to differentiate with respect to. Default: 0, or none if `argnames` is given.
/// argnames : str or sequence of str, optional
///     Keyword arguments to differentiate with respect to. Default: none.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(value, aux)``, where `aux` is any object. Default: False.
/// holomorphic : bool, optional
///     Compute the complex derivative ``df/dz`` of a complex value with respect to complex arguments. Default: False.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns ``(value, gradient)``. `value` is what `fun` returned: if that is a tuple,
///     the whole tuple. With `has_aux` it returns ``((value, aux), gradient)``. `gradient` is structured as in `grad`.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
///     `holomorphic` is set and an argument or the value is not complex.
/// ValueError
///     If `argnums` is negative or repeated; from the returned function, if it names an argument that the call does not
///     have, if a chosen argument holds anything but arrays, or if the value is not a scalar array.
///
/// See Also
/// --------
/// grad, vjp, umber.nn.value_and_grad
///
/// Notes
/// -----
/// `fun` runs once for both results. See `grad` for pytrees, dtypes, complex numbers and mutable arguments.
///
/// Examples
/// --------
/// >>> mx.value_and_grad(lambda x: (x**2).sum())(mx.array([1.0, 2.0, 3.0]))
/// (array(14, dtype=float32), array([2, 4, 6], dtype=float32))
/// >>> f = lambda x: (x**2, {"double": 2 * x})
/// >>> (value, aux), gradient = mx.value_and_grad(f, has_aux=True)(mx.array(3.0))
/// >>> value.item(), aux["double"].item(), gradient.item()
/// (9.0, 6.0, 6.0)
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
    let selection = ArgSelection::new("value_and_grad", argnums, argnames, Assumption::of(holomorphic))?;
    let function = GradFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        selection,
        with_value: true,
        has_aux,
    };
    wrap_function(function, fun)
}

/// Extract the arrays of a list argument.
pub(super) fn arrays(op: &str, name: &str, list: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    if list.is_instance_of::<PyArray>() {
        return Err(PyValueError::new_err(format!("[{op}] {name}: got an array, expected a list of arrays")));
    }
    let not_an_array = |i: usize, item: &Bound<'_, PyAny>| {
        PyValueError::new_err(format!("[{op}] {name}[{i}]: got {}, expected an array", class_of(item)))
    };
    let to_array = |(i, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = item?;
        item.cast::<PyArray>().map(|array| array.get().get()).map_err(|_| not_an_array(i, &item))
    };
    list.try_iter()?.enumerate().map(to_array).collect()
}

/// Raise ValueError for an array or a dict where a list is expected.
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

/// Convert a list of pytrees of arrays to a tree.
fn tree_of_list(op: &str, name: &str, list: &Bound<'_, PyAny>) -> PyResult<Pytree> {
    let py = list.py();
    check_list(op, name, list)?;
    let items = list.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let tree = Pytree::of(PyList::new(py, items)?.as_any())?;
    check_leaves(py, op, name, &tree)?;
    Ok(tree)
}

/// Raise ValueError for leaves that are not arrays.
fn check_leaves(py: Python<'_>, op: &str, name: &str, tree: &Pytree) -> PyResult<()> {
    tree.visit_paths(&PytreePath::Root(name), &mut |leaf, path| match leaf {
        Pytree::Other(value) => Err(not_an_array(op, &path.text(py), value.bind(py))),
        _ => Ok(()),
    })
}

fn not_an_array(op: &str, path: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("[{op}] {path}: got {}, expected an array", class_of(value)))
}

/// Arguments all of which are traced, as a list of the values and as a tree.
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
        make_distinct(&mut values, &all)?;
        let (list, tree) = claim(PyList::new(py, values)?.as_any())?;
        Ok(Primals { list, tree })
    }

    /// Call `fun` with `inputs` in place of the arrays.
    ///
    /// Dropping the returned [`Substitution`] restores the containers. The result must be read before: it may be one of
    /// them.
    pub(super) fn call(
        &self,
        fun: &Bound<'py, PyAny>,
        inputs: &[Array],
    ) -> PyResult<(Bound<'py, PyAny>, Substitution<'py>)> {
        let mut substitution = Substitution::new(fun.py());
        let args = substitution.arrays(&self.list, inputs)?;
        let returned = call_user(fun, args.cast::<PyList>()?.to_tuple(), None)?;
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

/// Split the result of a function into outputs and auxiliary object, if `has_aux` is set. A tuple or a single array
/// becomes a list.
pub(super) fn outputs<'py>(
    op: &str,
    returned: Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<(Pytree, Option<Bound<'py, PyAny>>)> {
    let (returned, aux) = split_aux(op, returned, has_aux)?;
    let tree = match Pytree::of(&returned)? {
        Pytree::Tuple(items, _) => Pytree::List(items, None),
        Pytree::Array(array) => Pytree::List(vec![Pytree::Array(array)], None),
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

/// Build the tuple of outputs, derivatives and auxiliary object.
fn output<'py>(
    py: Python<'py>,
    outputs: &Pytree,
    (derivatives, like): (&[Array], &Pytree),
    aux: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let results = [outputs.rebuild(py, &outputs.arrays())?, like.gradients(py, derivatives)?];
    PyTuple::new(py, results.into_iter().chain(aux.map(Bound::unbind)).collect::<Vec<_>>())
}

/// Compute the outputs of a function and a vector-Jacobian product.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns an array, a sequence of arrays, or a dict of arrays.
/// primals : sequence
///     Positional arguments of `fun`: arrays, or pytrees (nested lists, tuples and dicts) of arrays.
/// cotangents : sequence or dict
///     One cotangent for each output, of its shape: structured like the outputs, or a flat list in their order.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
///
/// Returns
/// -------
/// outputs : list or dict
///     Outputs of `fun` at `primals`. A single array becomes a list of one, a tuple becomes a list.
/// gradients : list
///     Cotangents of `primals`, with their structure.
/// aux : object
///     Only with `has_aux`: the second item that `fun` returned.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `has_aux` is set and `fun` does not return a pair.
/// ValueError
///     If primals or outputs hold anything but arrays, or if the cotangents differ from the outputs in number or shape.
///
/// See Also
/// --------
/// jvp, grad, jacrev
///
/// Notes
/// -----
/// Computes ``J^T v`` for the Jacobian ``J`` of `fun` and the cotangent ``v``, by reverse-mode differentiation. For complex
/// arrays the cotangent is multiplied by the conjugate of the derivative. Integer primals get cotangents in float32.
///
/// Examples
/// --------
/// >>> f = lambda x, y: (x * y, x + y)
/// >>> mx.vjp(f, [mx.array(2.0), mx.array(3.0)], [mx.array(1.0), mx.array(10.0)])
/// ([array(6, dtype=float32), array(5, dtype=float32)], [array(13, dtype=float32), array(12, dtype=float32)])
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
    let cotangents = parse_directions("vjp", "cotangents", cotangents)?;
    let mut trace = Trace::with_data(&primals.tree.arrays()).or_raise()?;
    let (returned, substitution) = primals.call(fun, &trace.inputs)?;
    let (outputs, aux) = outputs("vjp", returned, has_aux)?;
    drop(substitution);
    let cotangents = cotangents.like("vjp", "output", &outputs)?;
    trace.returned();
    let gradients = pull_back(&trace.inputs, &outputs.arrays(), &cotangents).or_raise()?;
    output(fun.py(), &outputs, (&gradients, &primals.tree), aux)
}

/// Compute the outputs of a function and a Jacobian-vector product.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns an array, a sequence of arrays, or a dict of arrays.
/// primals : sequence
///     Positional arguments of `fun`: arrays, or pytrees (nested lists, tuples and dicts) of arrays.
/// tangents : sequence or dict
///     One tangent for each array in `primals`, of its shape: structured like `primals`, or a flat list in their order.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
///
/// Returns
/// -------
/// outputs : list or dict
///     Outputs of `fun` at `primals`. A single array becomes a list of one, a tuple becomes a list.
/// tangents : list or dict
///     Tangents of the outputs, with their structure.
/// aux : object
///     Only with `has_aux`: the second item that `fun` returned.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `has_aux` is set and `fun` does not return a pair.
/// ValueError
///     If primals or outputs hold anything but arrays, or if the tangents differ from the primals in number or shape.
///
/// See Also
/// --------
/// vjp, jacfwd, linearize
///
/// Notes
/// -----
/// Computes ``J v`` for the Jacobian ``J`` of `fun` and the tangent ``v``, by forward-mode differentiation: the directional
/// derivative of `fun` along ``v``. Integer outputs have tangents in float32; outputs that do not depend on the primals
/// have zeros.
///
/// Examples
/// --------
/// >>> f = lambda x, y: (x * y, x + y)
/// >>> mx.jvp(f, [mx.array(2.0), mx.array(3.0)], [mx.array(1.0), mx.array(10.0)])
/// ([array(6, dtype=float32), array(5, dtype=float32)], [array(23, dtype=float32), array(11, dtype=float32)])
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
    let tangents = parse_directions("jvp", "tangents", tangents)?.like("jvp", "primal", &primals.tree)?;
    let trace = Trace::forwards(&primals.tree.arrays()).or_raise()?;
    let (returned, substitution) = primals.call(fun, &trace.inputs)?;
    let (outputs, aux) = outputs("jvp", returned, has_aux)?;
    drop(substitution);
    let output_tangents = push_forward(&trace.inputs, &outputs.arrays(), &tangents).or_raise()?;
    output(fun.py(), &outputs, (&output_tangents, &outputs), aux)
}

/// Tangents or cotangents as passed by the caller.
struct Directions<'py> {
    name: &'static str,
    value: Bound<'py, PyAny>,
    /// The arrays, if `value` is a flat list.
    flat: Option<Vec<Array>>,
}

fn parse_directions<'py>(
    op: &str,
    name: &'static str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Directions<'py>> {
    if value.is_instance_of::<PyDict>() {
        return Ok(Directions { name, value: value.clone(), flat: None });
    }
    let tree = tree_of_list(op, name, value)?;
    let is_flat =
        matches!(&tree, Pytree::List(items, _) if items.iter().all(|item| matches!(item, Pytree::Array(_))));
    let flat = is_flat.then(|| tree.arrays());
    let value = tree.rebuild(value.py(), &tree.arrays())?.into_bound(value.py());
    Ok(Directions { name, value, flat })
}

impl Directions<'_> {
    /// Match them with the arrays of `values`: same structure or a flat list, and equal shapes.
    fn like(self, op: &str, one: &str, values: &Pytree) -> PyResult<Vec<Array>> {
        let (py, name) = (self.value.py(), self.name);
        let arrays = match self.flat {
            Some(flat) if flat.len() != values.count() => {
                return Err(PyValueError::new_err(format!(
                    "[{op}] got {} {name} for {} {one}s, expected one for each",
                    flat.len(),
                    values.count()
                )));
            }
            Some(flat) => flat,
            None => {
                let mut entries = Vec::new();
                values.align(op, &self.value, &PytreePath::Root(name), &mut entries)?;
                let array = |(i, entry): (usize, Option<Bound<'_, PyAny>>)| {
                    let entry = entry.unwrap_or_else(|| py.None().into_bound(py));
                    let array = entry.cast::<PyArray>().map(|array| array.get().get());
                    array.map_err(|_| not_an_array(op, &values.path_of(py, name, i), &entry))
                };
                entries.into_iter().enumerate().map(array).collect::<PyResult<_>>()?
            }
        };
        for (i, (value, array)) in values.arrays().iter().zip(&arrays).enumerate() {
            if value.shape() != array.shape() {
                return Err(PyValueError::new_err(format!(
                    "[{op}] got {} of shape {}, expected the {one}'s shape {}",
                    values.path_of(py, name, i),
                    array.shape(),
                    value.shape()
                )));
            }
        }
        Ok(arrays)
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
