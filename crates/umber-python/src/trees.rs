//! Nested lists, tuples and dicts of arrays: taken apart for transforms, put together again afterwards.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use umber::Array;

use crate::array::PyArray;

/// Containers nested deeper than this, or in themselves, are refused.
const DEEPEST: usize = 500;

/// Refuse what is nested too deep to walk.
pub(crate) fn check_depth(depth: usize) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!(
            "[tree] lists, tuples and dicts are nested deeper than {DEEPEST} levels, or in themselves"
        )));
    }
    Ok(())
}

/// A nested Python value with its arrays told apart.
pub(crate) enum Tree {
    /// An array.
    Array(Py<PyArray>),
    /// Anything else that holds no arrays.
    Other(Py<PyAny>),
    /// A list, or a list-like state object.
    List(Vec<Tree>),
    /// A tuple; of a named tuple its class.
    Tuple(Vec<Tree>, Option<Py<PyAny>>),
    /// A dict, or a subclass of it.
    Dict(Vec<(Py<PyAny>, Tree)>),
}

impl Tree {
    /// Take a value apart.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Tree> {
        Tree::at_depth(value, 0)
    }

    fn at_depth(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Tree> {
        check_depth(depth)?;
        let below = |item: Bound<'_, PyAny>| Tree::at_depth(&item, depth + 1);
        if let Ok(array) = value.cast::<PyArray>() {
            return Ok(Tree::Array(array.clone().unbind()));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return list.iter().map(below).collect::<PyResult<_>>().map(Tree::List);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            let items = tuple.iter().map(below).collect::<PyResult<_>>()?;
            let class = tuple.hasattr("_fields")?.then(|| tuple.get_type().into_any().unbind());
            return Ok(Tree::Tuple(items, class));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            let items =
                dict.iter().map(|(key, item)| Ok((key.unbind(), below(item)?))).collect::<PyResult<_>>()?;
            return Ok(Tree::Dict(items));
        }
        Ok(Tree::Other(value.clone().unbind()))
    }

    /// The arrays, in order.
    pub(crate) fn arrays(&self) -> Vec<Array> {
        let mut found = Vec::new();
        self.visit(&mut |leaf| {
            if let Tree::Array(array) = leaf {
                found.push(array.get().get());
            }
        });
        found
    }

    /// Call `visit` on every leaf, in order.
    pub(crate) fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Tree)) {
        match self {
            Tree::Array(_) | Tree::Other(_) => visit(self),
            Tree::List(items) | Tree::Tuple(items, _) => {
                for item in items {
                    item.visit(visit);
                }
            }
            Tree::Dict(items) => {
                for (_, item) in items {
                    item.visit(visit);
                }
            }
        }
    }

    /// The same structure with `replace` of every array; other leaves as `other` says.
    pub(crate) fn map<'py>(
        &self,
        py: Python<'py>,
        replace: &mut impl FnMut(Python<'py>, &Py<PyArray>) -> PyResult<Py<PyAny>>,
        other: &impl Fn(Python<'py>, &Py<PyAny>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Tree::Array(array) => replace(py, array)?,
            Tree::Other(value) => other(py, value)?,
            Tree::List(items) => {
                let made =
                    items.iter().map(|item| item.map(py, replace, other)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, made)?.into_any().unbind()
            }
            Tree::Tuple(items, class) => {
                let made =
                    items.iter().map(|item| item.map(py, replace, other)).collect::<PyResult<Vec<_>>>()?;
                let tuple = PyTuple::new(py, made)?;
                match class {
                    Some(class) => class.bind(py).call1(tuple)?.unbind(),
                    None => tuple.into_any().unbind(),
                }
            }
            Tree::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, item) in items {
                    dict.set_item(key, item.map(py, replace, other)?)?;
                }
                dict.into_any().unbind()
            }
        })
    }

    /// The same structure with new arrays in place of the old, in order; other leaves stay.
    pub(crate) fn rebuild(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let mut next = arrays.iter();
        self.map(
            py,
            &mut |py, _| {
                let array = next.next().expect("as many arrays as the tree has");
                Ok(Py::new(py, PyArray::from(array.clone()))?.into_any())
            },
            &|py, value| Ok(value.clone_ref(py)),
        )
    }

    /// The same structure with gradients in place of the arrays; what has none is `None`.
    pub(crate) fn gradients(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let mut next = arrays.iter();
        self.map(
            py,
            &mut |py, _| {
                let array = next.next().expect("as many gradients as the tree has arrays");
                Ok(Py::new(py, PyArray::from(array.clone()))?.into_any())
            },
            &|py, _| Ok(py.None()),
        )
    }

    /// Refuse leaves that are neither arrays nor `None`.
    pub(crate) fn check_arrays(&self, py: Python<'_>, op: &str) -> PyResult<()> {
        let mut found = Ok(());
        self.visit(&mut |leaf| {
            if let Tree::Other(value) = leaf
                && !value.is_none(py)
                && found.is_ok()
            {
                let class =
                    value.bind(py).get_type().name().map_or_else(|_| "an object".into(), |n| n.to_string());
                found = Err(PyValueError::new_err(format!(
                    "[{op}] the argument should contain only arrays, got {class} in it"
                )));
            }
        });
        found
    }
}
