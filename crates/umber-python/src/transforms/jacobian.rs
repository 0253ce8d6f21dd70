//! `jacfwd`, `jacrev`, `hessian`, `linearize`, `eval_shape`.
//!
//! One subject: derivatives as matrices and linear functions; half of the lines is documentation.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::transforms::{Linear, Trace, pull_jacobians, push_jacobians};
use umber_core::{ArraySpec, Shape, ops};

use super::arguments::{ArgSelection, Assumption};
use super::grad::{Primals, split_aux};
use super::reachable_modules::ReachableModules;
use super::substitution::{Substitution, claim};
use super::wrapper::{Creation, bind, describe, reduce, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::args::Ints;
use crate::array::PyArray;
use crate::convert::from_object;
use crate::dtype::{DtypeArg, PyDtype};
use crate::enter::OrRaise;
use crate::pytree::{Pytree, PytreePath};

/// The mode of differentiation for a Jacobian.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Reverse,
}

/// Function that computes the Jacobian of another.
#[pyclass(name = "JacobianFunction", module = "umber.core", frozen, dict, weakref)]
struct JacobianFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    selection: ArgSelection,
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
        let op = self.selection.op();
        let traced = self.selection.trace_call(self.fun.bind(py), args, kwargs)?;
        let (returned, aux) = split_aux(op, traced.returned.clone(), self.has_aux)?;
        let outputs = Pytree::of(&returned)?;
        outputs.check_arrays(py, op, &PytreePath::Root("the function's result"))?;
        self.selection.check_dtypes(py, &outputs, "the function's result")?;
        let (trees, trace) = traced.into_parts();
        let jacobians = match self.direction {
            Direction::Forward => push_jacobians(&trace.inputs, &outputs.arrays()),
            Direction::Reverse => pull_jacobians(&trace.inputs, &outputs.arrays()),
        };
        let jacobians = jacobians.or_raise()?;
        drop(trace);
        let output = outputs
            .map_values(py, &jacobians, |py, by_input| self.selection.arrange(py, &trees, by_input))?;
        match aux {
            Some(aux) => Ok(PyTuple::new(py, [output, aux.unbind()])?.into_any().unbind()),
            None => Ok(output),
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
        let fun = this.fun.bind(py);
        let (transform, of) = match (this.selection.op(), this.direction) {
            // The reverse-mode Jacobian inside is one of this class, too.
            ("hessian", Direction::Forward) => ("hessian", fun.getattr("__wrapped__")?),
            (_, Direction::Forward) => ("jacfwd", fun.clone()),
            (_, Direction::Reverse) => ("jacrev", fun.clone()),
        };
        let keywords = [("holomorphic", this.selection.assumption == Assumption::Holomorphic)];
        let args = (of, this.selection.arguments().0, this.has_aux).into_pyobject(py)?;
        reduce(slf.as_any(), fun, Creation { transform, args, keywords: Some(keywords.into_py_dict(py)?) })
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

fn jacobian<'py>(
    op: &'static str,
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    direction: Direction,
    has_aux: bool,
    assumption: Assumption,
) -> PyResult<Bound<'py, JacobianFunction>> {
    check_callable(op, fun)?;
    let selection = ArgSelection::new(op, argnums, None, assumption)?;
    let function = JacobianFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        selection,
        direction,
        has_aux,
    };
    wrap_function(function, fun)
}

/// Return a function that computes the Jacobian of a function in forward mode.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
/// argnums : int or sequence of int, optional
///     Positional arguments to differentiate with respect to. Default: 0.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
/// holomorphic : bool, optional
///     Require complex arguments and outputs, and compute the complex derivative. Default: False.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns the Jacobian: the output pytree with the argument pytree (a tuple of them
///     if `argnums` is a sequence) in place of each array. Each leaf has shape ``output.shape + input.shape``. With
///     `has_aux` it returns ``(jacobian, aux)``.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
///     `holomorphic` is set and an argument or output is not complex.
/// ValueError
///     If `argnums` is negative or repeated; from the returned function, if arguments or outputs hold anything but arrays.
///
/// See Also
/// --------
/// jacrev, hessian, jvp
///
/// Notes
/// -----
/// Computes one Jacobian-vector product for each input element, all in one `vmap`: best for functions with more outputs
/// than inputs. Complex outputs are differentiated as holomorphic functions. For real outputs and complex
/// ``z = x + iy`` the result is ``df/dx + i df/dy``, as in `grad`.
///
/// Examples
/// --------
/// >>> mx.jacfwd(lambda x: mx.outer(x, x))(mx.array([1.0, 2.0])).shape
/// (2, 2, 2)
/// >>> mx.jacfwd(lambda x: x**2)(mx.array([1.0, 2.0]))
/// array([[2, 0],
///        [0, 4]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, has_aux = false, *, holomorphic = false))]
fn jacfwd<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, JacobianFunction>> {
    jacobian("jacfwd", fun, argnums, Direction::Forward, has_aux, Assumption::of(holomorphic))
}

/// Return a function that computes the Jacobian of a function in reverse mode.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
/// argnums : int or sequence of int, optional
///     Positional arguments to differentiate with respect to. Default: 0.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
/// holomorphic : bool, optional
///     Require complex arguments and outputs, and compute the complex derivative. Default: False.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns the Jacobian: the output pytree with the argument pytree (a tuple of them
///     if `argnums` is a sequence) in place of each array. Each leaf has shape ``output.shape + input.shape``. With
///     `has_aux` it returns ``(jacobian, aux)``.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
///     `holomorphic` is set and an argument or output is not complex.
/// ValueError
///     If `argnums` is negative or repeated; from the returned function, if arguments or outputs hold anything but arrays.
///
/// See Also
/// --------
/// jacfwd, hessian, vjp
///
/// Notes
/// -----
/// Computes one vector-Jacobian product for each output element, all in one `vmap`: best for functions with more inputs
/// than outputs. Complex outputs are differentiated as holomorphic functions. For real outputs and complex
/// ``z = x + iy`` the result is ``df/dx + i df/dy``, as in `grad`.
///
/// Examples
/// --------
/// >>> f = lambda x, y: {"sum": x.sum() * y, "x": x}
/// >>> jacobian = mx.jacrev(f, argnums=(0, 1))(mx.array([1.0, 2.0]), mx.array(3.0))
/// >>> jacobian["sum"]
/// (array([3, 3], dtype=float32), array(3, dtype=float32))
/// >>> jacobian["x"][0].shape
/// (2, 2)
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, has_aux = false, *, holomorphic = false))]
fn jacrev<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, JacobianFunction>> {
    jacobian("jacrev", fun, argnums, Direction::Reverse, has_aux, Assumption::of(holomorphic))
}

/// Return a function that computes the second derivatives of a function.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
/// argnums : int or sequence of int, optional
///     Positional arguments to differentiate with respect to. Default: 0.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
/// holomorphic : bool, optional
///     Require complex arguments and outputs, and compute complex derivatives. Default: False.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns the Hessian: the output pytree with the argument pytree in place of each
///     array, and the argument pytree again in place of each array there. Each leaf has shape
///     ``output.shape + input1.shape + input2.shape``. With `has_aux` it returns ``(hessian, aux)``.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
///     `holomorphic` is set and an argument or output is not complex.
/// ValueError
///     If `argnums` is negative or repeated; from the returned function, if arguments or outputs hold anything but arrays.
///
/// See Also
/// --------
/// grad, jacfwd, jacrev
///
/// Notes
/// -----
/// Computed as ``jacfwd(jacrev(fun))``: forward mode over reverse mode.
///
/// Examples
/// --------
/// >>> mx.hessian(lambda x: x[0] ** 2 * x[1])(mx.array([3.0, 5.0]))
/// array([[10, 6],
///        [6, 0]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (fun, argnums = None, has_aux = false, *, holomorphic = false))]
fn hessian<'py>(
    fun: &Bound<'py, PyAny>,
    argnums: Option<Ints>,
    has_aux: bool,
    holomorphic: bool,
) -> PyResult<Bound<'py, JacobianFunction>> {
    let assumption = Assumption::of(holomorphic);
    let first = jacobian("hessian", fun, argnums.clone(), Direction::Reverse, has_aux, assumption)?;
    jacobian("hessian", first.as_any(), argnums, Direction::Forward, has_aux, assumption)
}

/// Linear function: the derivative of a function at a point, or the matrix of a linear system.
#[pyclass(name = "LinearFunction", module = "umber.core", frozen, dict, weakref)]
pub(super) struct LinearFunction {
    initialized: Initialized,
    /// The function that the user called, for messages.
    op: &'static str,
    linear: Linear,
    arguments: Pytree<()>,
    shapes: Vec<Shape>,
    outputs: Pytree<()>,
}

impl LinearFunction {
    /// A linear function from a tree to one of the same structure.
    pub(super) fn between<'py>(
        py: Python<'py>,
        op: &'static str,
        linear: Linear,
        tree: &Pytree<()>,
    ) -> PyResult<Bound<'py, LinearFunction>> {
        let shapes = linear.shapes().cloned().collect();
        let arguments = Pytree::Tuple(vec![tree.structure(py)?], None);
        let function = LinearFunction {
            initialized: Initialized::YES,
            op,
            linear,
            arguments,
            shapes,
            outputs: tree.structure(py)?,
        };
        Bound::new(py, function)
    }
}

#[pymethods]
impl LinearFunction {
    #[pyo3(signature = (*tangents))]
    fn __call__(&self, py: Python<'_>, tangents: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let root = "tangents";
        let mut entries = Vec::new();
        self.arguments.align(self.op, tangents.as_any(), &PytreePath::Root(root), &mut entries)?;
        let mut arrays = Vec::with_capacity(entries.len());
        for (i, (value, shape)) in entries.into_iter().zip(&self.shapes).enumerate() {
            let array = value.map(|value| from_object(&value, None)).transpose()?.flatten();
            match array {
                Some(array) if array.shape() == shape => arrays.push(array),
                other => {
                    let got =
                        other.map_or_else(|| "no array".into(), |array| format!("shape {}", array.shape()));
                    return Err(PyValueError::new_err(format!(
                        "[{}] {}: got {got}, expected an array of shape {shape}",
                        self.op,
                        self.arguments.path_of(py, root, i)
                    )));
                }
            }
        }
        let output_tangents = self.linear.call(&arrays).or_raise()?;
        self.outputs.gradients(py, &output_tangents)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        self.arguments.traverse(&visit)?;
        self.outputs.traverse(&visit)
    }
}

/// Compute the outputs of a function at a point, and its derivative there as a linear function.
///
/// Parameters
/// ----------
/// fun : callable
///     Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
/// *primals : array or pytree of arrays
///     Positional arguments of `fun`: the point.
/// has_aux : bool, optional
///     Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
///
/// Returns
/// -------
/// outputs : array or pytree of arrays
///     ``fun(*primals)``.
/// linear : callable
///     Takes tangents with the structure and shapes of `primals` and returns the tangents of the outputs.
/// aux : object
///     Only with `has_aux`: the second item that `fun` returned.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `has_aux` is set and `fun` does not return a pair.
/// ValueError
///     If primals or outputs hold anything but arrays; from `linear`, if tangents differ from the primals in number,
///     structure or shape.
///
/// See Also
/// --------
/// jvp, jacfwd
///
/// Notes
/// -----
/// ``linear(v)`` is the Jacobian-vector product ``J v`` that `jvp` computes. `fun` runs only once; `linear` keeps the
/// intermediate values that it needs and can be called many times.
///
/// Examples
/// --------
/// >>> value, linear = mx.linearize(lambda x: x**2, mx.array(3.0))
/// >>> value, linear(mx.array(1.0)), linear(mx.array(10.0))
/// (array(9, dtype=float32), array(6, dtype=float32), array(60, dtype=float32))
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
    let (returned, aux) = split_aux("linearize", returned, has_aux)?;
    let outputs = Pytree::of(&returned)?;
    outputs.check_arrays(py, "linearize", &PytreePath::Root("the function's result"))?;
    drop(substitution);
    let linear = Linear::of(&trace.inputs, &outputs.arrays()).or_raise()?;
    let shapes = trace.inputs.iter().map(|input| input.shape().clone()).collect();
    drop(trace);
    let function = LinearFunction {
        initialized: Initialized::YES,
        op: "linearize",
        linear,
        arguments: primals.tree.structure(py)?,
        shapes,
        outputs: outputs.structure(py)?,
    };
    let results = [returned, Bound::new(py, function)?.into_any()];
    PyTuple::new(py, results.into_iter().chain(aux).collect::<Vec<_>>())
}

/// The shape and dtype of an array, without its elements.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     Lengths of the axes.
/// dtype : Dtype or str
///     Type of the elements.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative.
///
/// See Also
/// --------
/// eval_shape
///
/// Notes
/// -----
/// Instances are immutable, compare by value, and can be hashed. The attributes are `shape`, `dtype`, `ndim`, `size` and
/// `nbytes`.
///
/// Examples
/// --------
/// >>> spec = mx.ShapeDtypeStruct((1024, 1024), mx.float16)
/// >>> spec.size, spec.nbytes
/// (1048576, 2097152)
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
        Ok(ShapeDtypeStruct { spec: ArraySpec::new(shape, dtype.default_dtype()) })
    }

    /// Lengths of the axes.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///
    /// Examples
    /// --------
    /// >>> mx.ShapeDtypeStruct((2, 3), mx.float16).shape
    /// (2, 3)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.spec.shape.iter())
    }

    /// Type of the elements.
    ///
    /// Returns
    /// -------
    /// Dtype
    ///
    /// Examples
    /// --------
    /// >>> mx.ShapeDtypeStruct((2, 3), mx.float16).dtype
    /// umber.core.float16
    #[getter]
    fn dtype(&self) -> PyDtype {
        PyDtype(self.spec.dtype)
    }

    /// Number of axes.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ShapeDtypeStruct((2, 3), mx.float16).ndim
    /// 2
    #[getter]
    fn ndim(&self) -> usize {
        self.spec.shape.ndim()
    }

    /// Number of elements.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ShapeDtypeStruct((2, 3), mx.float16).size
    /// 6
    #[getter]
    fn size(&self) -> usize {
        self.spec.shape.size()
    }

    /// Number of bytes that the elements would take.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ShapeDtypeStruct((2, 3), mx.float16).nbytes
    /// 12
    #[getter]
    fn nbytes(&self) -> usize {
        self.spec.shape.size().saturating_mul(self.spec.dtype.size())
    }

    fn __repr__(&self) -> String {
        format!("ShapeDtypeStruct(shape={}, dtype={})", self.spec.shape, self.spec.dtype)
    }
}

/// Compute the shapes and dtypes of a function's results without running its operations.
///
/// Parameters
/// ----------
/// fun : callable
///     Function of arrays.
/// *args : array, ShapeDtypeStruct, or pytree of them
///     Positional arguments of `fun`. Other objects are passed to `fun` unchanged.
/// **kwargs : array, ShapeDtypeStruct, or pytree of them
///     Keyword arguments of `fun`.
///
/// Returns
/// -------
/// ShapeDtypeStruct or pytree
///     What ``fun(*args, **kwargs)`` returns, with a `ShapeDtypeStruct` in place of each array.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable.
/// ValueError
///     If `fun` reads the value of an argument.
///
/// See Also
/// --------
/// ShapeDtypeStruct, vmap
///
/// Notes
/// -----
/// No memory is allocated for the arguments and nothing is computed. The random state does not advance, and modules that `fun`
/// uses keep their arrays.
///
/// Examples
/// --------
/// >>> huge = mx.ShapeDtypeStruct((1 << 20, 1 << 20), mx.float16)
/// >>> mx.eval_shape(lambda a: (a @ a).sum(axis=0), huge)
/// ShapeDtypeStruct(shape=(1048576,), dtype=float16)
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
    let mut arguments = Vec::new();
    for value in [args.as_any(), named.as_any()] {
        let (value, tree) = claim(value)?;
        tree.visit(&mut |leaf| match leaf {
            Pytree::Array(array) => specs.push(array.get().get().spec().clone()),
            Pytree::Other(value) => {
                if let Ok(entry) = value.bind(py).cast::<ShapeDtypeStruct>() {
                    specs.push(entry.get().spec.clone());
                }
            }
            Pytree::List(..) | Pytree::Tuple(..) | Pytree::Dict(..) | Pytree::Node(..) => {}
        });
        arguments.push(value);
    }
    let random = ops::random::state().or_raise()?;
    let trace = Trace::of_graph(specs);
    let next = Cell::new(0);
    let placeholder = |leaf: &Bound<'py, PyAny>| {
        let is_spec = leaf.is_instance_of::<ShapeDtypeStruct>() || leaf.is_instance_of::<PyArray>();
        Ok(is_spec.then(|| next.replace(next.get() + 1)).and_then(|i| trace.inputs.get(i).cloned()))
    };
    let mut substitution = Substitution::new(py);
    for value in &mut arguments {
        *value = substitution.leaves(value, &placeholder)?;
    }
    let modules = ReachableModules::of(fun)?;
    let returned =
        call_user(fun, arguments[0].cast::<PyTuple>()?.clone(), Some(arguments[1].cast::<PyDict>()?));
    modules.restore(py)?;
    ops::random::set_state(random).or_raise()?;
    let outputs = Pytree::of(&returned?)?;
    drop(substitution);
    outputs.map_arrays(
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
