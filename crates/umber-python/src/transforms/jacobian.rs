//! `jacfwd`, `jacrev`, `hessian`, `linearize`, `eval_shape`.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::transforms::{Linear, Trace, pull_jacobians, push_jacobians};
use umber_core::{ArraySpec, Shape, ops};

use super::arguments::{Assumed, Chosen};
use super::grad::{Primals, parted};
use super::substitution::{Substitution, taken};
use super::{Initialized, check_callable, describe};
use super::{call_user, called_as};
use crate::args::Ints;
use crate::array::PyArray;
use crate::convert::from_object;
use crate::dtype::{DtypeArg, PyDtype};
use crate::enter::OrRaise;
use crate::pytree::{Pytree, PytreePath};

/// In which direction a Jacobian is computed.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Reverse,
}

/// A function that gives the Jacobian of another.
#[pyclass(name = "JacobianFunction", module = "umber.core", frozen, dict, weakref)]
struct JacobianFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    chosen: Chosen,
    direction: Direction,
    has_aux: bool,
}

#[pymethods]
impl JacobianFunction {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let op = self.chosen.op();
        let followed = self.chosen.follow(self.fun.bind(py), args, kwargs)?;
        let (returned, aux) = parted(op, followed.returned.clone(), self.has_aux)?;
        let outputs = Pytree::of(&returned)?;
        outputs.check_arrays(py, op, &PytreePath::Root("the function's result"))?;
        self.chosen.check_dtypes(py, &outputs, "the function's result")?;
        let (trees, trace) = followed.into_parts();
        let jacobians = match self.direction {
            Direction::Forward => push_jacobians(&trace.inputs, &outputs.arrays()),
            Direction::Reverse => pull_jacobians(&trace.inputs, &outputs.arrays()),
        };
        let jacobians = jacobians.or_raise()?;
        drop(trace);
        let output =
            outputs.each(py, &jacobians, |py, by_input| self.chosen.arrange(py, &trees, by_input))?;
        match aux {
            Some(aux) => Ok(PyTuple::new(py, [output, aux.unbind()])?.into_any().unbind()),
            None => Ok(output),
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

fn jacobian<'py>(
    op: &'static str,
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    direction: Direction,
    has_aux: bool,
    assumed: Assumed,
) -> PyResult<Bound<'py, JacobianFunction>> {
    check_callable(op, fun)?;
    let chosen = Chosen::new(op, argnums, None, assumed)?;
    let made = JacobianFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        chosen,
        direction,
        has_aux,
    };
    called_as(made, fun)
}

/// A function that computes the Jacobian of `fun` with respect to the arguments `argnums`, column by column.
///
/// The answer is built as the result of `fun` is, with the structure of the argument (of a tuple of arguments where
/// `argnums` is a sequence) in place of each array, and in there arrays with the axes of the output, then those of
/// the input. It suits functions with more outputs than inputs. With `has_aux` the function returns a pair of its
/// result and anything else, and so does the answer. Of complex outputs it is the derivative of a holomorphic
/// function; of real outputs with respect to complex `z = x + iy` it is `df/dx + i df/dy`, as of `grad`. With
/// `holomorphic`, arguments and outputs that are not complex raise `TypeError`.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, has_aux = false, *, holomorphic = false))]
fn jacfwd<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, JacobianFunction>> {
    jacobian("jacfwd", fun, argnums, Direction::Forward, has_aux, Assumed::of(holomorphic))
}

/// As `jacfwd`, computed row by row, which suits functions with more inputs than outputs.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, has_aux = false, *, holomorphic = false))]
fn jacrev<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, JacobianFunction>> {
    jacobian("jacrev", fun, argnums, Direction::Reverse, has_aux, Assumed::of(holomorphic))
}

/// A function that computes the second derivatives of `fun`: `jacfwd` of `jacrev`.
///
/// The answer is built as the result of `fun` is, with the structure of the arguments in place of each array, and
/// that structure once more in place of each array there.
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, has_aux = false, *, holomorphic = false))]
fn hessian<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, JacobianFunction>> {
    let assumed = Assumed::of(holomorphic);
    let first = jacobian("hessian", fun, argnums.clone(), Direction::Reverse, has_aux, assumed)?;
    jacobian("hessian", first.as_any(), argnums, Direction::Forward, has_aux, assumed)
}

/// The linear function that another is like at a point.
#[pyclass(name = "LinearFunction", module = "umber.core", frozen, dict, weakref)]
struct LinearFunction {
    initialized: Initialized,
    linear: Linear,
    arguments: Pytree<()>,
    shapes: Vec<Shape>,
    outputs: Pytree<()>,
}

#[pymethods]
impl LinearFunction {
    #[pyo3(signature = (*tangents))]
    fn __call__(&self, py: Python<'_>, tangents: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let root = "tangents";
        let mut found = Vec::new();
        self.arguments.aligned("linearize", tangents.as_any(), &PytreePath::Root(root), &mut found)?;
        let mut arrays = Vec::with_capacity(found.len());
        for (i, (value, shape)) in found.into_iter().zip(&self.shapes).enumerate() {
            let array = value.map(|value| from_object(&value, None)).transpose()?.flatten();
            match array {
                Some(array) if array.shape() == shape => arrays.push(array),
                other => {
                    let got =
                        other.map_or_else(|| "no array".into(), |array| format!("shape {}", array.shape()));
                    return Err(PyValueError::new_err(format!(
                        "[linearize] {}: got {got}, expected an array of shape {shape}",
                        self.arguments.place_of(py, root, i)
                    )));
                }
            }
        }
        let pushed = self.linear.call(&arrays).or_raise()?;
        self.outputs.gradients(py, &pushed)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        self.arguments.traverse(&visit)?;
        self.outputs.traverse(&visit)
    }
}

/// `fun(*primals)`, and the linear function that takes tangents of `primals` to those of the result.
///
/// `fun` is called once; the linear function keeps what it needs and can be called many times, with arrays built and
/// shaped as `primals` are. With `has_aux` the function returns a pair, and what comes second is the third answer.
#[pyfunction]
#[pyo3(signature = (fun, *primals, has_aux = false))]
fn linearize<'py>(
    py: Python<'py>,
    fun: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyTuple>,
    has_aux: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    check_callable("linearize", fun)?;
    let primals = Primals::new(py, primals.iter().map(Ok))?;
    primals.tree.check_arrays(py, "linearize", &PytreePath::Root("primals"))?;
    let trace = Trace::with_data(&primals.tree.arrays()).or_raise()?;
    let (returned, substitution) = primals.call(fun, &trace.inputs)?;
    let (returned, aux) = parted("linearize", returned, has_aux)?;
    let outputs = Pytree::of(&returned)?;
    outputs.check_arrays(py, "linearize", &PytreePath::Root("the function's result"))?;
    drop(substitution);
    let linear = Linear::of(&trace.inputs, &outputs.arrays()).or_raise()?;
    let shapes = trace.inputs.iter().map(|input| input.shape().clone()).collect();
    drop(trace);
    let function = LinearFunction {
        initialized: Initialized::YES,
        linear,
        arguments: primals.tree.structure(py),
        shapes,
        outputs: outputs.structure(py),
    };
    let parts = [returned, Bound::new(py, function)?.into_any()];
    PyTuple::new(py, parts.into_iter().chain(aux).collect::<Vec<_>>())
}

/// The shape and dtype of an array without the array.
#[pyclass(name = "ShapeDtypeStruct", module = "umber.core", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
struct ShapeDtypeStruct {
    spec: ArraySpec,
}

#[pymethods]
impl ShapeDtypeStruct {
    #[new]
    fn new(shape: Ints, dtype: DtypeArg) -> PyResult<ShapeDtypeStruct> {
        let shape = Shape::checked("ShapeDtypeStruct", shape.as_slice()).or_raise()?;
        Ok(ShapeDtypeStruct { spec: ArraySpec::new(shape, dtype.alone()) })
    }

    /// Lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.spec.shape.iter())
    }

    /// Type of the elements.
    #[getter]
    fn dtype(&self) -> PyDtype {
        PyDtype(self.spec.dtype)
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.spec.shape.ndim()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.spec.shape.size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.spec.shape.size().saturating_mul(self.spec.dtype.size())
    }

    fn __repr__(&self) -> String {
        format!("ShapeDtypeStruct(shape={}, dtype={})", self.spec.shape, self.spec.dtype)
    }
}

/// What `fun(*args, **kwargs)` would give, with a `ShapeDtypeStruct` in place of each array; nothing is computed.
///
/// Arguments hold arrays or `ShapeDtypeStruct`s. Anything else in arguments and results stays as it is, and the random
/// state stays where it was.
#[pyfunction]
#[pyo3(signature = (fun, *args, **kwargs))]
fn eval_shape<'py>(
    py: Python<'py>,
    fun: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Py<PyAny>> {
    check_callable("eval_shape", fun)?;
    let named = kwargs.map_or_else(|| Ok(PyDict::new(py)), pyo3::types::PyDictMethods::copy)?;
    let mut specs = Vec::new();
    let mut given = Vec::new();
    for value in [args.as_any(), named.as_any()] {
        let (value, tree) = taken(value)?;
        tree.visit(&mut |leaf| match leaf {
            Pytree::Array(array) => specs.push(array.get().get().spec().clone()),
            Pytree::Other(value) => {
                if let Ok(given) = value.bind(py).cast::<ShapeDtypeStruct>() {
                    specs.push(given.get().spec.clone());
                }
            }
            Pytree::List(_) | Pytree::Tuple(..) | Pytree::Dict(_) => {}
        });
        given.push(value);
    }
    let random = ops::random::state().or_raise()?;
    let trace = Trace::of_graph(specs);
    let next = Cell::new(0);
    let placeholder = |leaf: &Bound<'py, PyAny>| {
        let is_spec = leaf.is_instance_of::<ShapeDtypeStruct>() || leaf.is_instance_of::<PyArray>();
        Ok(is_spec.then(|| next.replace(next.get() + 1)).and_then(|i| trace.inputs.get(i).cloned()))
    };
    let mut substitution = Substitution::new(py);
    for value in &mut given {
        *value = substitution.leaves(value, &placeholder)?;
    }
    let returned = call_user(fun, given[0].cast::<PyTuple>()?.clone(), Some(given[1].cast::<PyDict>()?));
    ops::random::set_state(random).or_raise()?;
    let outputs = Pytree::of(&returned?)?;
    drop(substitution);
    outputs.map(
        py,
        &mut |py, array| {
            let spec = array.get().get().spec().clone();
            Ok(Py::new(py, ShapeDtypeStruct { spec })?.into_any())
        },
        &|py, value| Ok(value.clone_ref(py)),
    )
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ShapeDtypeStruct>()?;
    for function in [
        wrap_pyfunction!(jacfwd, module)?,
        wrap_pyfunction!(jacrev, module)?,
        wrap_pyfunction!(hessian, module)?,
        wrap_pyfunction!(linearize, module)?,
        wrap_pyfunction!(eval_shape, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
