//! `vmap`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyTuple};
use umber::transforms::Mapped;

use super::{check_callable, describe};
use crate::enter::OrRaise;
use crate::trees::Tree;

/// A function that maps another over an axis of its arguments.
#[pyclass(name = "VmapFunction", module = "umber.core", dict, weakref)]
struct VmapFunction {
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    in_axes: Py<PyAny>,
    out_axes: Py<PyAny>,
}

/// The axis of every array in `tree`: `axes` is one for all, or a tree whose leaves stand for subtrees.
fn spread(name: &str, axes: &Bound<'_, PyAny>, tree: &Tree, found: &mut Vec<Option<i64>>) -> PyResult<()> {
    let mismatch = || {
        Err(PyValueError::new_err(format!(
            "[vmap] got {name} {axes}, expected the structure of what it is for"
        )))
    };
    if axes.is_none() || (axes.is_instance_of::<PyInt>() && !axes.is_instance_of::<PyBool>()) {
        let axis: Option<i64> = axes.extract()?;
        tree.visit(&mut |leaf| {
            if matches!(leaf, Tree::Array(_)) {
                found.push(axis);
            }
        });
        return Ok(());
    }
    if let Ok(dict) = axes.cast::<PyDict>() {
        let Tree::Dict(items) = tree else { return mismatch() };
        for (key, item) in items {
            match dict.get_item(key)? {
                Some(axes) => spread(name, &axes, item, found)?,
                None => return mismatch(),
            }
        }
        return Ok(());
    }
    if axes.is_instance_of::<PyTuple>() || axes.is_instance_of::<PyList>() {
        let (Tree::List(items) | Tree::Tuple(items, _)) = tree else { return mismatch() };
        if axes.len()? != items.len() {
            return mismatch();
        }
        for (axes, item) in axes.try_iter()?.zip(items) {
            spread(name, &axes?, item, found)?;
        }
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "[vmap] {name}: expected integers and None, alone or nested in tuples, lists and dicts, got {}",
        axes.get_type().name()?
    )))
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
        if kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
            return Err(PyTypeError::new_err(
                "[vmap] Keyword arguments are not supported: got some, expected \
             positional ones",
            ));
        }
        let tree = Tree::of(args)?;
        let mut axes = Vec::new();
        let in_axes = self.in_axes.bind(py);
        // One dict of axes for one dict argument may be given without a tuple around it.
        match &tree {
            Tree::Tuple(items, _) if items.len() == 1 && in_axes.is_instance_of::<PyDict>() => {
                spread("in_axes", in_axes, &items[0], &mut axes)?;
            }
            _ => spread("in_axes", in_axes, &tree, &mut axes)?,
        }
        let mapped = Mapped::begin(&tree.arrays(), &axes).or_raise()?;
        let lane = tree.rebuild(py, &mapped.trace.inputs)?;
        let returned = self.fun.bind(py).call1(lane.bind(py).cast::<PyTuple>()?.clone())?;
        let outputs = Tree::of(&returned)?;
        let mut axes = Vec::new();
        spread("out_axes", self.out_axes.bind(py), &outputs, &mut axes)?;
        let stacked = mapped.end(&outputs.arrays(), &axes).or_raise()?;
        outputs.rebuild(py, &stacked)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe("vmap", &self.fun, py)
    }
}

/// A function that maps `fun` over axis `in_axes` of its arguments and stacks the results along `out_axes`.
///
/// Axes are integers or `None` (the same in every lane, or not stacked), one for all or nested as the arguments are.
#[pyfunction]
#[pyo3(signature = (fun, in_axes = None, out_axes = None))]
fn vmap(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    in_axes: Option<&Bound<'_, PyAny>>,
    out_axes: Option<&Bound<'_, PyAny>>,
) -> PyResult<VmapFunction> {
    check_callable("vmap", fun)?;
    let axes = |given: Option<&Bound<'_, PyAny>>| -> PyResult<Py<PyAny>> {
        Ok(match given {
            Some(axes) => axes.clone().unbind(),
            None => 0i64.into_pyobject(py)?.into_any().unbind(),
        })
    };
    Ok(VmapFunction { fun: fun.clone().unbind(), in_axes: axes(in_axes)?, out_axes: axes(out_axes)? })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vmap, module)?)
}
