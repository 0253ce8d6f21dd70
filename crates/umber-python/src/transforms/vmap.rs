//! `vmap`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;
use umber_core::transforms::{Mapped, from_front};
use umber_core::types::error;
use umber_core::types::shape::normalize_axis;

use super::wrapper::{Creation, bind, describe, reduce, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::container::Node;
use crate::enter::{OrRaise, to_exception};
use crate::pytree::{Pytree, PytreePath, class_of, dict_of};

/// Function that maps another over batch axes of its arguments.
#[pyclass(name = "VmapFunction", module = "umber.core", frozen, dict, weakref)]
struct VmapFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    in_axes: Py<PyAny>,
    out_axes: Py<PyAny>,
}

fn is_axis(axes: &Bound<'_, PyAny>) -> bool {
    axes.is_none() || (axes.is_instance_of::<PyInt>() && !axes.is_instance_of::<PyBool>())
}

/// Expand `axes` to one axis per array of `tree`: one value applies to all arrays of its subtree.
pub(super) fn broadcast_axes<A>(
    op: &str,
    name: &str,
    axes: &Bound<'_, PyAny>,
    tree: &Pytree<A>,
    path: &PytreePath<'_>,
    result: &mut Vec<Option<i64>>,
) -> PyResult<()> {
    let py = axes.py();
    let mismatch = |what: &str| {
        Err(PyValueError::new_err(format!(
            "[{op}] {name}: {axes} does not match {}, which is {what}; expected an axis, None, or the same \
             structure",
            path.text(py)
        )))
    };
    let recurse =
        |axes: &Bound<'_, PyAny>, item: &Pytree<A>, path: &PytreePath<'_>, result: &mut Vec<Option<i64>>| {
            broadcast_axes(op, name, axes, item, path, result)
        };
    if is_axis(axes) {
        let axis: Option<i64> = axes.extract().map_err(|_| {
            let path = path.text(py);
            to_exception(error!(Axis(op), "{name}: axis {axes} is out of bounds for {path}"))
        })?;
        result.extend(std::iter::repeat_n(axis, tree.count()));
        return Ok(());
    }
    if !(axes.is_instance_of::<PyDict>()
        || axes.is_instance_of::<PyTuple>()
        || axes.is_instance_of::<PyList>()
        || Node::is_registered(axes))
    {
        return Err(PyTypeError::new_err(format!(
            "[{op}] {name}: got {}, expected integers and None, alone or nested in tuples, lists and dicts",
            class_of(axes)
        )));
    }
    match tree {
        Pytree::Array(_) => mismatch("an array"),
        Pytree::Other(value) => mismatch(&class_of(value.bind(py))),
        Pytree::Node(items, node) => {
            let axes = match Node::of(axes)? {
                Some((axes, other)) if node.is_like(py, &other)? && axes.len() == items.len() => axes,
                _ => return mismatch(&node.describe(py, items.len())),
            };
            for (i, (axes, item)) in axes.iter().zip(items).enumerate() {
                recurse(axes, item, &tree.step(path, i), result)?;
            }
            Ok(())
        }
        Pytree::List(items, _) | Pytree::Tuple(items, _) => {
            if axes.is_instance_of::<PyDict>() || axes.len()? != items.len() {
                return mismatch(&format!("a sequence of {}", items.len()));
            }
            for (i, (axes, item)) in axes.try_iter()?.zip(items).enumerate() {
                recurse(&axes?, item, &PytreePath::Item(path, i), result)?;
            }
            Ok(())
        }
        Pytree::Dict(items, _) => {
            let expected = || dict_of(py, items);
            let Ok(dict) = axes.cast::<PyDict>() else { return mismatch(&expected()?) };
            if dict.len() != items.len() {
                return mismatch(&expected()?);
            }
            for (key, item) in items {
                match dict.get_item(key)? {
                    Some(axes) => recurse(&axes, item, &PytreePath::Key(path, key), result)?,
                    None => return mismatch(&expected()?),
                }
            }
            Ok(())
        }
    }
}

/// The output axis of every array of a result. A sequence of length 1 is also accepted for a single result.
pub(super) fn broadcast_out_axes<A>(
    op: &str,
    name: &str,
    axes: &Bound<'_, PyAny>,
    tree: &Pytree<A>,
    root: &str,
) -> PyResult<Vec<Option<i64>>> {
    let mut result = Vec::new();
    let is_one = matches!(tree, Pytree::Array(_) | Pytree::Dict(..) | Pytree::Node(..))
        && (axes.is_instance_of::<PyTuple>() || axes.is_instance_of::<PyList>())
        && axes.len()? == 1;
    let only = if is_one { axes.get_item(0)? } else { axes.clone() };
    broadcast_axes(op, name, &only, tree, &PytreePath::Root(root), &mut result)?;
    Ok(result)
}

/// The arguments of a call and the axes to map over.
struct VmapArgs {
    positional: Pytree,
    named: Pytree,
    arrays: Vec<Array>,
    axes: Vec<Option<i64>>,
}

impl VmapArgs {
    /// The path of the array with an index, for messages.
    fn path_of(&self, py: Python<'_>, index: usize) -> String {
        let positional = self.positional.count();
        if index < positional {
            self.positional.path_of(py, "args", index)
        } else {
            self.named.path_of(py, "kwargs", index - positional)
        }
    }

    /// Check that the axis of every mapped array exists and that all mapped axes have the same length.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let mut first: Option<(usize, usize)> = None;
        for (i, (array, axis)) in self.arrays.iter().zip(&self.axes).enumerate() {
            let Some(axis) = *axis else { continue };
            let axis = normalize_axis("vmap", axis, array.ndim()).map_err(|_| {
                to_exception(error!(
                    Axis("vmap"),
                    "in_axes: axis {axis} is out of bounds for {} of shape {}",
                    self.path_of(py, i),
                    array.shape()
                ))
            })?;
            let length = array.shape()[axis];
            let (first_index, expected) = *first.get_or_insert((i, length));
            if length != expected {
                return Err(PyValueError::new_err(format!(
                    "[vmap] lengths of the mapped axes differ: {expected} for {} and {length} for {}",
                    self.path_of(py, first_index),
                    self.path_of(py, i)
                )));
            }
        }
        Ok(())
    }
}

impl VmapFunction {
    fn vmap_args(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        named: &Bound<'_, PyDict>,
    ) -> PyResult<VmapArgs> {
        let (positional, named) = (Pytree::of(args)?, Pytree::of(named)?);
        let mut axes = Vec::new();
        let in_axes = self.in_axes.bind(py);
        let mut add_axes =
            |tree: &Pytree, place| broadcast_axes("vmap", "in_axes", in_axes, tree, place, &mut axes);
        // For a single dict argument, a dict of axes is accepted without a tuple around it.
        match &positional {
            Pytree::Tuple(items, _) if items.len() == 1 && in_axes.is_instance_of::<PyDict>() => {
                add_axes(&items[0], &PytreePath::Root("args[0]"))?;
            }
            _ => add_axes(&positional, &PytreePath::Root("args"))?,
        }
        axes.extend(std::iter::repeat_n(Some(0), named.count()));
        let mut arrays = positional.snapshot_arrays()?;
        arrays.extend(named.snapshot_arrays()?);
        let vmap_args = VmapArgs { positional, named, arrays, axes };
        vmap_args.check(py)?;
        Ok(vmap_args)
    }
}

#[pymethods]
impl VmapFunction {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let vmap_args = self.vmap_args(py, args, kwargs.unwrap_or(&PyDict::new(py)))?;
        let mapped = Mapped::begin(&vmap_args.arrays, &vmap_args.axes).or_raise()?;
        let (positional, named) = mapped.trace.inputs.split_at(vmap_args.positional.count());
        let args = vmap_args.positional.rebuild(py, positional)?;
        let named = vmap_args.named.rebuild(py, named)?;
        let args = args.bind(py).cast::<PyTuple>()?;
        let returned = call_user(self.fun.bind(py), args, Some(named.bind(py).cast::<PyDict>()?))?;
        let outputs = Pytree::of(&returned)?;
        outputs.check_arrays(py, "vmap", &PytreePath::Root("the function's result"))?;
        let axes = broadcast_out_axes("vmap", "out_axes", self.out_axes.bind(py), &outputs, "result")?;
        let count = mapped.count();
        let batched = mapped.finish(&outputs.arrays()).or_raise()?;
        let stack = |(i, (output, axis)): (usize, (_, &Option<i64>))| {
            from_front(output, count, *axis)
                .map_err(|error| {
                    error.map_detail(|text| format!("{text}, for {}", outputs.path_of(py, "result", i)))
                })
                .or_raise()
        };
        let stacked = batched.iter().zip(&axes).enumerate().map(stack).collect::<PyResult<Vec<_>>>()?;
        outputs.rebuild(py, &stacked)
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
        let args = PyTuple::new(py, [fun, this.in_axes.bind(py), this.out_axes.bind(py)])?;
        reduce(slf.as_any(), fun, Creation { transform: "vmap", args, flags: &[] })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe("vmap", &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        visit.call(&self.fun)?;
        visit.call(&self.in_axes)?;
        visit.call(&self.out_axes)
    }
}

/// Axes as passed, which may be None; 0 if omitted.
struct AxesArg(Option<Py<PyAny>>);

impl<'a, 'py> FromPyObject<'a, 'py> for AxesArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(AxesArg(Some(object.to_owned().unbind())))
    }
}

impl AxesArg {
    fn or_zero(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.map_or_else(|| Ok(0i64.into_pyobject(py)?.into_any().unbind()), Ok)
    }
}

/// Return a function that applies another one to every element of a batch axis, vectorised.
///
/// Parameters
/// ----------
/// fun : callable
///     Function of one batch element. Returns arrays or a pytree (nested lists, tuples and dicts) of arrays.
/// in_axes : int, None, or nested tuple, list or dict of them, optional
///     Batch axis of each positional argument; None passes the whole argument to every element. One value applies to
///     all, otherwise it is structured like the arguments, as in ``({"w": 0, "b": None}, 1)``. Default: 0.
/// out_axes : int, None, or nested tuple, list or dict of them, optional
///     Where each output gets its batch axis. None is for outputs that do not depend on the batch; these are returned
///     once. For a single output a tuple of one is accepted. Default: 0.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` with batch axes and returns its results with batch axes. Keyword arguments are mapped
///     over their first axis. Numbers are passed to every element as they are.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `in_axes` or `out_axes` hold anything but integers and None.
/// ValueError
///     From the returned function: if batch axes have different lengths, if no argument has one, if the structure of
///     the axes does not match, or if `out_axes` is None for an output that depends on the batch.
/// IndexError
///     From the returned function: if an axis is out of bounds.
///
/// See Also
/// --------
/// map, scan, jacrev
///
/// Notes
/// -----
/// `fun` runs once, on traced arrays without the batch axis, and every operation in it is replaced by one on the whole
/// batch. The traced arrays have no values: ``x.item()``, ``if x > 0`` and conversion to NumPy raise ValueError. Select
/// with `where` or `cond` instead.
///
/// Examples
/// --------
/// >>> mx.vmap(mx.inner)(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([[1.0, 1.0], [0.0, 1.0]]))
/// array([3, 4], dtype=float32)
/// >>> w = mx.array([1.0, 2.0])
/// >>> x = mx.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
/// >>> mx.vmap(mx.grad(lambda w, x: mx.inner(w, x) ** 2), in_axes=(None, 0))(w, x)
/// array([[2, 0],
///        [0, 4],
///        [6, 6]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (fun, in_axes = AxesArg(None), out_axes = AxesArg(None)),
    text_signature = "(fun, in_axes=0, out_axes=0)"
)]
fn vmap<'py>(
    py: Python<'py>,
    fun: &Bound<'py, PyAny>,
    in_axes: AxesArg,
    out_axes: AxesArg,
) -> PyResult<Bound<'py, VmapFunction>> {
    check_callable("vmap", fun)?;
    let function = VmapFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        in_axes: in_axes.or_zero(py)?,
        out_axes: out_axes.or_zero(py)?,
    };
    wrap_function(function, fun)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vmap, module)?)
}
