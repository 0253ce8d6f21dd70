//! Pytrees in control flow: every leaf is an array with a path that names it in messages.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::graph::ArrayInternals;
use umber_core::types::promote::promote;
use umber_core::{Array, DType};

use crate::args::number;
use crate::convert::from_object;
use crate::enter::OrRaise;
use crate::new_array::NewArray;
use crate::pytree::Pytree;

/// A flattened tree whose leaves are arrays or `None`.
pub(in crate::transforms) struct Leaves {
    /// The structure.
    pub(in crate::transforms) tree: Pytree,
    /// The leaves.
    pub(in crate::transforms) arrays: Vec<Array>,
    /// Whether each leaf was a Python number, which is weakly typed.
    pub(in crate::transforms) is_weak: Vec<bool>,
    /// Paths of the leaves, for messages.
    paths: Vec<String>,
}

impl Leaves {
    /// Flatten a value; numbers and objects that share memory become arrays. `root` is its name in messages.
    pub(in crate::transforms) fn of(op: &str, root: &str, value: &Bound<'_, PyAny>) -> PyResult<Leaves> {
        let mut leaves = Leaves {
            tree: Pytree::Other(value.py().None()),
            arrays: Vec::new(),
            is_weak: Vec::new(),
            paths: Vec::new(),
        };
        leaves.tree = leaves.add(value.py(), op, root.to_owned(), Pytree::of(value)?)?;
        Ok(leaves)
    }

    fn add(&mut self, py: Python<'_>, op: &str, path: String, tree: Pytree) -> PyResult<Pytree> {
        let mut add_items = |items: Vec<Pytree>| -> PyResult<Vec<Pytree>> {
            let items = items.into_iter().enumerate();
            items.map(|(i, item)| self.add(py, op, format!("{path}[{i}]"), item)).collect()
        };
        Ok(match tree {
            Pytree::List(items, like) => Pytree::List(add_items(items)?, like),
            Pytree::Tuple(items, class) => Pytree::Tuple(add_items(items)?, class),
            Pytree::Node(items, node) => {
                let items = items.into_iter().enumerate();
                let items = items.map(|(i, item)| self.add(py, op, node.path(py, &path, i), item));
                Pytree::Node(items.collect::<PyResult<_>>()?, node)
            }
            Pytree::Dict(items, like) => {
                let mut entries = Vec::with_capacity(items.len());
                for (key, item) in items {
                    let path = format!("{path}[{}]", key.bind(py).repr()?);
                    entries.push((key, self.add(py, op, path, item)?));
                }
                Pytree::Dict(entries, like)
            }
            Pytree::Array(array) => {
                self.push(array.get().get().snapshot().or_raise()?, false, path);
                Pytree::Array(array)
            }
            Pytree::Other(value) if value.is_none(py) => Pytree::Other(value),
            Pytree::Other(value) => {
                let array = leaf(op, &path, value.bind(py), None)?;
                self.push(array.clone(), number(value.bind(py))?.is_some(), path);
                Pytree::Array(NewArray::from(array).object(py)?.unbind())
            }
        })
    }

    fn push(&mut self, array: Array, is_weak: bool, path: String) {
        self.arrays.push(array);
        self.is_weak.push(is_weak);
        self.paths.push(path);
    }

    /// Name of the i-th leaf in messages.
    pub(in crate::transforms) fn name(&self, i: usize) -> String {
        self.paths.get(i).cloned().unwrap_or_else(|| format!("leaf {i}"))
    }

    /// The arrays of `value`, which must have this structure; numbers take the dtypes of the leaves at the same positions.
    pub(in crate::transforms) fn matching(
        &self,
        py: Python<'_>,
        op: &str,
        root: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Array>> {
        let mut arrays = Vec::with_capacity(self.arrays.len());
        self.align(py, op, root.to_owned(), &self.tree, &Pytree::of(value)?, &mut arrays)?;
        Ok(arrays)
    }

    fn align(
        &self,
        py: Python<'_>,
        op: &str,
        path: String,
        expected: &Pytree,
        got: &Pytree,
        arrays: &mut Vec<Array>,
    ) -> PyResult<()> {
        let mismatch = || {
            Err(PyTypeError::new_err(format!(
                "[{op}] the function returned {path} as {}, expected {}",
                describe(py, got),
                describe(py, expected)
            )))
        };
        match (expected, got) {
            (Pytree::Array(_), Pytree::Array(array)) => arrays.push(array.get().get()),
            (Pytree::Array(_), Pytree::Other(value)) if !value.is_none(py) => {
                let dtype = self.arrays[arrays.len()].dtype();
                arrays.push(leaf(op, &path, value.bind(py), Some(dtype))?);
            }
            (Pytree::Other(_), Pytree::Other(value)) if value.is_none(py) => {}
            (Pytree::List(expected, _), Pytree::List(got, _)) if expected.len() == got.len() => {
                self.align_items(py, op, &|i| format!("{path}[{i}]"), (expected, got), arrays)?;
            }
            (Pytree::Tuple(expected, class), Pytree::Tuple(got, other))
                if expected.len() == got.len() && is_same_class(class.as_ref(), other.as_ref()) =>
            {
                self.align_items(py, op, &|i| format!("{path}[{i}]"), (expected, got), arrays)?;
            }
            (Pytree::Node(expected, node), Pytree::Node(got, other))
                if expected.len() == got.len() && node.is_like(py, other)? =>
            {
                self.align_items(py, op, &|i| node.path(py, &path, i), (expected, got), arrays)?;
            }
            (Pytree::Dict(expected, _), Pytree::Dict(got, _)) if expected.len() == got.len() => {
                for (key, expected) in expected {
                    let mut item = None;
                    for (other, value) in got {
                        if key.bind(py).eq(other.bind(py))? {
                            item = Some(value);
                        }
                    }
                    let Some(item) = item else { return mismatch() };
                    let path = format!("{path}[{}]", key.bind(py).repr()?);
                    self.align(py, op, path, expected, item, arrays)?;
                }
            }
            _ => return mismatch(),
        }
        Ok(())
    }

    /// Align the children of sequences of equal lengths.
    fn align_items(
        &self,
        py: Python<'_>,
        op: &str,
        path: &dyn Fn(usize) -> String,
        (expected, got): (&[Pytree], &[Pytree]),
        arrays: &mut Vec<Array>,
    ) -> PyResult<()> {
        for (i, (expected, got)) in expected.iter().zip(got).enumerate() {
            self.align(py, op, path(i), expected, got, arrays)?;
        }
        Ok(())
    }
}

fn is_same_class(a: Option<&Py<PyAny>>, b: Option<&Py<PyAny>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is(b),
        (None, None) => true,
        _ => false,
    }
}

/// Convert a leaf to an array; a number takes `dtype`, if numbers of its kind can have it.
pub(in crate::transforms) fn leaf(
    op: &str,
    path: &str,
    value: &Bound<'_, PyAny>,
    dtype: Option<DType>,
) -> PyResult<Array> {
    let dtype = match (number(value)?, dtype) {
        (Some(number), Some(dtype)) => {
            let number_dtype = number.default_dtype();
            let is_promotable =
                promote(number_dtype, dtype) == dtype || (!number_dtype.is_inexact() && dtype != DType::Bool);
            (is_promotable || (dtype.is_inexact() && !number_dtype.is_complex())).then_some(dtype)
        }
        _ => None,
    };
    let array = if matches!(value.get_type().name()?.to_str()?, "str" | "bytes") {
        None
    } else {
        from_object(value, dtype)?
    };
    array.ok_or_else(|| {
        let class = value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("[{op}] {path}: got {class}, expected an array, a number or None"))
    })
}

/// Describe a tree for a message.
fn describe(py: Python<'_>, tree: &Pytree) -> String {
    match tree {
        Pytree::Array(_) => "an array".into(),
        Pytree::Other(value) if value.is_none(py) => "None".into(),
        Pytree::Other(value) => {
            value.bind(py).get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string())
        }
        Pytree::List(items, _) => format!("a list of {}", items.len()),
        Pytree::Tuple(items, None) => format!("a tuple of {}", items.len()),
        Pytree::Tuple(items, Some(class)) => {
            let name = class.bind(py).getattr("__name__").and_then(|name| name.extract::<String>());
            format!("a {} of {}", name.unwrap_or_else(|_| "named tuple".into()), items.len())
        }
        Pytree::Node(items, node) => node.describe(py, items.len()),
        Pytree::Dict(items, _) => {
            let keys: Vec<String> = items
                .iter()
                .map(|(key, _)| key.bind(py).repr().map_or_else(|_| "?".into(), |repr| repr.to_string()))
                .collect();
            format!("a dict with keys {}", keys.join(", "))
        }
    }
}
