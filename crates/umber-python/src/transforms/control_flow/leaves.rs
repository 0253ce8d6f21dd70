//! Pytrees in control flow: every leaf is an array, and has a path that names it in messages.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::graph::ArrayInternals;
use umber_core::types::promote::promote;
use umber_core::{Array, DType};

use crate::args::number;
use crate::convert::from_object;
use crate::enter::OrRaise;
use crate::made::Made;
use crate::trees::Tree;

/// A tree whose leaves are arrays (or `None`), flat.
pub(super) struct Leaves {
    /// The structure.
    pub(super) tree: Tree,
    /// The leaves.
    pub(super) arrays: Vec<Array>,
    /// Which leaves were Python numbers, whose dtype gives way.
    pub(super) is_weak: Vec<bool>,
    /// Name in messages.
    paths: Vec<String>,
}

impl Leaves {
    /// Flatten a value; numbers and objects that share memory become arrays. `root` is its name in messages.
    pub(super) fn of(op: &str, root: &str, value: &Bound<'_, PyAny>) -> PyResult<Leaves> {
        let mut leaves = Leaves {
            tree: Tree::Other(value.py().None()),
            arrays: Vec::new(),
            is_weak: Vec::new(),
            paths: Vec::new(),
        };
        leaves.tree = leaves.add(value.py(), op, root.to_owned(), Tree::of(value)?)?;
        Ok(leaves)
    }

    fn add(&mut self, py: Python<'_>, op: &str, path: String, tree: Tree) -> PyResult<Tree> {
        let mut within = |items: Vec<Tree>| -> PyResult<Vec<Tree>> {
            let items = items.into_iter().enumerate();
            items.map(|(i, item)| self.add(py, op, format!("{path}[{i}]"), item)).collect()
        };
        Ok(match tree {
            Tree::List(items) => Tree::List(within(items)?),
            Tree::Tuple(items, class) => Tree::Tuple(within(items)?, class),
            Tree::Dict(items) => {
                let mut made = Vec::with_capacity(items.len());
                for (key, item) in items {
                    let at = format!("{path}[{}]", key.bind(py).repr()?);
                    made.push((key, self.add(py, op, at, item)?));
                }
                Tree::Dict(made)
            }
            Tree::Array(array) => {
                self.push(array.get().get().settled().or_raise()?, false, path);
                Tree::Array(array)
            }
            Tree::Other(value) if value.is_none(py) => Tree::Other(value),
            Tree::Other(value) => {
                let array = leaf(op, &path, value.bind(py), None)?;
                self.push(array.clone(), number(value.bind(py))?.is_some(), path);
                Tree::Array(Made::from(array).object(py)?.unbind())
            }
        })
    }

    fn push(&mut self, array: Array, is_weak: bool, path: String) {
        self.arrays.push(array);
        self.is_weak.push(is_weak);
        self.paths.push(path);
    }

    /// Name of the i-th leaf in messages.
    pub(super) fn name(&self, i: usize) -> String {
        self.paths.get(i).cloned().unwrap_or_else(|| format!("leaf {i}"))
    }

    /// The arrays of `value`, which must have this structure; numbers take the dtypes of the leaves whose place they
    /// are in.
    pub(super) fn matching(
        &self,
        py: Python<'_>,
        op: &str,
        root: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Array>> {
        let mut found = Vec::with_capacity(self.arrays.len());
        self.align(py, op, root.to_owned(), &self.tree, &Tree::of(value)?, &mut found)?;
        Ok(found)
    }

    fn align(
        &self,
        py: Python<'_>,
        op: &str,
        path: String,
        expected: &Tree,
        got: &Tree,
        found: &mut Vec<Array>,
    ) -> PyResult<()> {
        let mismatch = || {
            Err(PyTypeError::new_err(format!(
                "[{op}] the function returned {path} as {}, expected {}",
                describe(py, got),
                describe(py, expected)
            )))
        };
        match (expected, got) {
            (Tree::Array(_), Tree::Array(array)) => found.push(array.get().get()),
            (Tree::Array(_), Tree::Other(value)) if !value.is_none(py) => {
                let dtype = self.arrays[found.len()].dtype();
                found.push(leaf(op, &path, value.bind(py), Some(dtype))?);
            }
            (Tree::Other(_), Tree::Other(value)) if value.is_none(py) => {}
            (Tree::List(expected), Tree::List(got)) if expected.len() == got.len() => {
                for (i, (expected, got)) in expected.iter().zip(got).enumerate() {
                    self.align(py, op, format!("{path}[{i}]"), expected, got, found)?;
                }
            }
            (Tree::Tuple(expected, class), Tree::Tuple(got, other))
                if expected.len() == got.len() && is_same_class(class.as_ref(), other.as_ref()) =>
            {
                for (i, (expected, got)) in expected.iter().zip(got).enumerate() {
                    self.align(py, op, format!("{path}[{i}]"), expected, got, found)?;
                }
            }
            (Tree::Dict(expected), Tree::Dict(got)) if expected.len() == got.len() => {
                for (key, expected) in expected {
                    let mut item = None;
                    for (other, value) in got {
                        if key.bind(py).eq(other.bind(py))? {
                            item = Some(value);
                        }
                    }
                    let Some(item) = item else { return mismatch() };
                    let at = format!("{path}[{}]", key.bind(py).repr()?);
                    self.align(py, op, at, expected, item, found)?;
                }
            }
            _ => return mismatch(),
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
fn leaf(op: &str, path: &str, value: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Array> {
    let wanted = match (number(value)?, dtype) {
        (Some(number), Some(dtype)) => {
            let own = number.default_dtype();
            let is_fitting = promote(own, dtype) == dtype || (!own.is_inexact() && dtype != DType::Bool);
            (is_fitting || (dtype.is_inexact() && !own.is_complex())).then_some(dtype)
        }
        _ => None,
    };
    let array = if matches!(value.get_type().name()?.to_str()?, "str" | "bytes") {
        None
    } else {
        from_object(value, wanted)?
    };
    array.ok_or_else(|| {
        let class = value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("[{op}] {path}: got {class}, expected an array, a number or None"))
    })
}

/// Describe a tree for a message.
fn describe(py: Python<'_>, tree: &Tree) -> String {
    match tree {
        Tree::Array(_) => "an array".into(),
        Tree::Other(value) if value.is_none(py) => "None".into(),
        Tree::Other(value) => {
            value.bind(py).get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string())
        }
        Tree::List(items) => format!("a list of {}", items.len()),
        Tree::Tuple(items, None) => format!("a tuple of {}", items.len()),
        Tree::Tuple(items, Some(class)) => {
            let name = class.bind(py).getattr("__name__").and_then(|name| name.extract::<String>());
            format!("a {} of {}", name.unwrap_or_else(|_| "named tuple".into()), items.len())
        }
        Tree::Dict(items) => {
            let keys: Vec<String> = items
                .iter()
                .map(|(key, _)| key.bind(py).repr().map_or_else(|_| "?".into(), |repr| repr.to_string()))
                .collect();
            format!("a dict with keys {}", keys.join(", "))
        }
    }
}
