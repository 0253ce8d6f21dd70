//! `pure_callback`.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umber_core::transforms::{CallbackBatches, HostFunction, call_host};
use umber_core::types::error;
use umber_core::{Array, ArraySpec, DType, Error, Shape};

use super::control_flow::leaves::{Leaves, leaf};
use super::{call_user, check_callable};
use crate::args::Ints;
use crate::dtype::DtypeArg;
use crate::enter::{OrRaise, carry};
use crate::pytree::{Pytree, PytreePath, class_of};

const OP: &str = "pure_callback";

/// A Python function, and the trees of its arguments and results.
struct PyCallback {
    function: Py<PyAny>,
    /// The tuple of positional arguments, and the dict of keyword arguments.
    arguments: [Pytree<()>; 2],
    outputs: Pytree<()>,
    dtypes: Vec<DType>,
    identity: Vec<usize>,
}

impl PyCallback {
    fn new(
        function: &Bound<'_, PyAny>,
        arguments: [Pytree<()>; 2],
        outputs: Pytree<()>,
        specs: &[ArraySpec],
    ) -> PyCallback {
        let mut identity = vec![function.as_ptr() as usize];
        for tree in arguments.iter().chain([&outputs]) {
            push_identity(function.py(), tree, &mut identity);
        }
        let dtypes = specs.iter().map(|spec| spec.dtype).collect();
        PyCallback { function: function.clone().unbind(), arguments, outputs, dtypes, identity }
    }

    fn apply(&self, py: Python<'_>, arguments: &[Array]) -> Result<Vec<Array>, Error> {
        let [args, kwargs] = &self.arguments;
        let (positional, named) = arguments.split_at(args.count());
        let call = || {
            let args = args.rebuild(py, positional)?;
            let kwargs = kwargs.rebuild(py, named)?;
            let args = args.bind(py).cast::<PyTuple>()?;
            call_user(self.function.bind(py), args, Some(kwargs.bind(py).cast::<PyDict>()?))
        };
        let returned = call().map_err(|error| self.failed(py, error))?;
        let mut entries = Vec::new();
        self.outputs.align(OP, &returned, &PytreePath::Root("result"), &mut entries).map_err(|_| {
            error!(
                Type(OP),
                "the callback returned {}, expected the structure of result_shape_dtypes",
                class_of(&returned)
            )
        })?;
        let to_array = |(i, (entry, &dtype)): (usize, (Option<Bound<'_, PyAny>>, &DType))| {
            let array = entry.as_ref().map(|value| leaf(OP, "result", value, Some(dtype)));
            array.and_then(PyResult::ok).ok_or_else(|| {
                let class = entry.as_ref().map_or_else(|| "None".into(), class_of);
                error!(
                    Type(OP),
                    "the callback returned {class} for result {i}, expected an array or a number"
                )
            })
        };
        entries.into_iter().zip(&self.dtypes).enumerate().map(to_array).collect()
    }

    /// The error of an evaluation whose callback raised an exception.
    fn failed(&self, py: Python<'_>, exception: PyErr) -> Error {
        if exception.is_instance_of::<PyKeyboardInterrupt>(py) {
            return carry(py, exception);
        }
        let function = self.function.bind(py);
        let name = function.getattr("__name__").map_or_else(|_| class_of(function), |name| name.to_string());
        let value = exception.value(py).as_any();
        let text = error!(Runtime(OP), "the callback {name} raised {}: {value}", class_of(value));
        let lines = py
            .import("traceback")
            .and_then(|module| {
                let arguments = (exception.get_type(py), value, exception.traceback(py));
                module.call_method1("format_exception", arguments)
            })
            .and_then(|lines| lines.extract::<Vec<String>>());
        match lines {
            Ok(lines) => text.with_note(format!("\n{}", lines.concat().trim_end())),
            Err(_) => text,
        }
    }
}

/// Append numbers that are equal for equal trees, while both exist.
fn push_identity(py: Python<'_>, tree: &Pytree<()>, identity: &mut Vec<usize>) {
    let class_address =
        |like: &Option<Py<PyAny>>| like.as_ref().map_or(0, |like| like.bind(py).get_type().as_ptr() as usize);
    let items = match tree {
        Pytree::Array(()) => return identity.push(0),
        Pytree::Other(value) => return identity.extend([1, value.as_ptr() as usize]),
        Pytree::List(items, like) => {
            identity.extend([2, items.len(), class_address(like)]);
            items
        }
        Pytree::Tuple(items, class) => {
            identity.extend([3, items.len(), class.as_ref().map_or(0, |class| class.as_ptr() as usize)]);
            items
        }
        Pytree::Node(items, node) => {
            let (class, auxiliary) = (node.class(py).as_ptr(), node.auxiliary(py).as_ptr());
            identity.extend([4, items.len(), class as usize, auxiliary as usize]);
            items
        }
        Pytree::Dict(items, like) => {
            identity.extend([5, items.len(), class_address(like)]);
            for (key, item) in items {
                identity.push(key.as_ptr() as usize);
                push_identity(py, item, identity);
            }
            return;
        }
    };
    for item in items {
        push_identity(py, item, identity);
    }
}

impl HostFunction for PyCallback {
    fn call(&self, arguments: &[Array]) -> Result<Vec<Array>, Error> {
        Python::attach(|py| self.apply(py, arguments))
    }

    fn identity(&self) -> &[usize] {
        &self.identity
    }
}

/// The shapes and dtypes in the argument `result_shape_dtypes`, which are appended to `specs`, and its structure.
fn parse_specs(
    py: Python<'_>,
    tree: Pytree,
    path: &PytreePath<'_>,
    specs: &mut Vec<ArraySpec>,
) -> PyResult<Pytree<()>> {
    let mut of_items = |items: Vec<Pytree>| -> PyResult<Vec<Pytree<()>>> {
        let items = items.into_iter().enumerate();
        items.map(|(i, item)| parse_specs(py, item, &PytreePath::Item(path, i), specs)).collect()
    };
    Ok(match tree {
        Pytree::List(items, like) => Pytree::List(of_items(items)?, like),
        Pytree::Node(items, node) => Pytree::Node(of_items(items)?, node),
        Pytree::Tuple(items, class) => Pytree::Tuple(of_items(items)?, class),
        Pytree::Dict(items, like) => {
            let mut entries = Vec::with_capacity(items.len());
            for (key, item) in items {
                let item = parse_specs(py, item, &PytreePath::Key(path, &key), specs)?;
                entries.push((key, item));
            }
            Pytree::Dict(entries, like)
        }
        Pytree::Array(array) => {
            specs.push(array.get().get().spec().clone());
            Pytree::Array(())
        }
        Pytree::Other(value) if value.is_none(py) => Pytree::Other(value),
        Pytree::Other(value) => {
            let value = value.bind(py);
            let attributes = value.getattr("shape").and_then(|shape| Ok((shape, value.getattr("dtype")?)));
            let Ok((shape, dtype)) = attributes else {
                return Err(PyTypeError::new_err(format!(
                    "[{OP}] {}: got {}, expected a ShapeDtypeStruct or another object with a shape and a dtype",
                    path.text(py),
                    class_of(value)
                )));
            };
            let shape = Shape::checked(OP, shape.extract::<Ints>()?.as_slice()).or_raise()?;
            specs.push(ArraySpec::new(shape, dtype.extract::<DtypeArg>()?.default_dtype()));
            Pytree::Array(())
        }
    })
}

/// Parse the argument `vmap_method`.
fn parse_method(method: Option<&str>) -> PyResult<CallbackBatches> {
    Ok(match method {
        None => CallbackBatches::Refused,
        Some("sequential") => CallbackBatches::Sequential,
        Some("expand_dims") => CallbackBatches::ExpandDims,
        Some("broadcast_all") => CallbackBatches::BroadcastAll,
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "[{OP}] vmap_method: got '{other}', expected 'sequential', 'expand_dims', 'broadcast_all' or None"
            )));
        }
    })
}

/// Record a call of a Python function that computes with the values of its arguments.
///
/// Parameters
/// ----------
/// callback : callable
///     Called as ``callback(*args, **kwargs)`` when the results are evaluated, with evaluated arrays. Returns arrays, NumPy
///     arrays or numbers in the structure of `result_shape_dtypes`. Must have no side effects.
/// result_shape_dtypes : ShapeDtypeStruct or pytree of ShapeDtypeStruct
///     Shapes and dtypes of the results. Arrays, and other objects with a shape and a dtype, are accepted.
/// *args, **kwargs : array_like or pytree of array_like
///     Arguments of `callback`. Numbers become arrays.
/// vmap_method : {"sequential", "expand_dims", "broadcast_all"}, optional
///     How `vmap` calls `callback`: once for each batch element, or once with batch axes in front of its arguments and results.
///     Arguments without a batch get a batch axis of length one with "expand_dims", and are repeated along it with
///     "broadcast_all". Default: None, an error.
///
/// Returns
/// -------
/// array or pytree of arrays
///     Results of `callback`, with the structure of `result_shape_dtypes`.
///
/// Raises
/// ------
/// TypeError
///     If `callback` is not callable, if an argument is not an array or number, or if `result_shape_dtypes` holds
///     something else than shapes and dtypes; on evaluation, if the results differ from it in structure or dtype.
/// ValueError
///     If `vmap_method` is unknown, or missing under `vmap`; if a derivative is taken; on evaluation, if the results have
///     other shapes.
/// RuntimeError
///     On evaluation, if `callback` raises an exception. The message contains its traceback.
///
/// See Also
/// --------
/// custom_function, eval_shape, vmap
///
/// Notes
/// -----
/// A way to call NumPy, SciPy or C code under `compile`, `vmap` and in loops, where arrays have no values. umber may call
/// `callback` later, more than once, or not at all, and on another thread. It has no derivative; a `custom_function`
/// around it can define one. Functions with callbacks cannot be exported.
///
/// Examples
/// --------
/// >>> import math
/// >>> def gamma(x):
/// ...     return math.gamma(x.item())
/// >>> f = lambda x: mx.pure_callback(gamma, x, x, vmap_method="sequential")
/// >>> mx.compile(f)(mx.array(5.0))
/// array(24, dtype=float32)
/// >>> mx.vmap(f)(mx.array([1.0, 2.0, 3.0, 4.0]))
/// array([1, 1, 2, 6], dtype=float32)
#[pyfunction]
#[pyo3(signature = (callback, result_shape_dtypes, *args, vmap_method = None, **kwargs))]
fn pure_callback<'py>(
    py: Python<'py>,
    callback: &Bound<'py, PyAny>,
    result_shape_dtypes: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    vmap_method: Option<&str>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Py<PyAny>> {
    check_callable(OP, callback)?;
    let batches = parse_method(vmap_method)?;
    let mut specs = Vec::new();
    let root = PytreePath::Root("result_shape_dtypes");
    let outputs = parse_specs(py, Pytree::of(result_shape_dtypes)?, &root, &mut specs)?;
    let positional = Leaves::of(OP, "args", args.as_any())?;
    let named = Leaves::of(OP, "kwargs", kwargs.unwrap_or(&PyDict::new(py)).as_any())?;
    let arguments = [positional.tree.structure(py)?, named.tree.structure(py)?];
    let arrays: Vec<Array> = positional.arrays.into_iter().chain(named.arrays).collect();
    let structure = outputs.structure(py)?;
    let function = PyCallback::new(callback, arguments, outputs, &specs);
    let results = call_host(Arc::new(function), specs, &arrays, batches).or_raise()?;
    structure.rebuild(py, &results)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pure_callback, module)?)
}
