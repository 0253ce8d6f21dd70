//! Pytrees: nested lists, tuples, dicts and nodes of registered classes, with arrays as leaves, which transforms flatten and
//! rebuild.

use pyo3::exceptions::{PyRecursionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;
use umber_core::graph::ArrayInternals;
use umber_kernels::stack::stack_left;

use crate::array::PyArray;
use crate::container::{Node, dict_items, dict_like, empty_like, list_like, tuple_class, tuple_of};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// The maximum nesting depth, which also stops at containers that contain themselves.
const MAX_DEPTH: usize = 500;
/// Upper bound on the stack bytes that any recursive traversal uses for one level.
const STACK_PER_LEVEL: usize = 4 << 10;
/// Stack bytes that are reserved for calls at the deepest level.
const STACK_RESERVE: usize = 24 << 10;

/// Raise for a value that is nested too deep to traverse.
pub(crate) fn check_depth(depth: usize) -> PyResult<()> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!(
            "[tree] lists, tuples and dicts are nested deeper than {MAX_DEPTH} levels, or contain themselves"
        )));
    }
    // Later traversals visit the same levels and may use larger stack frames than this one.
    if !can_descend(depth) {
        return Err(PyRecursionError::new_err(
            "[tree] lists, tuples and dicts are nested too deep for the stack of this thread; use fewer levels, or a larger \
             threading.stack_size",
        ));
    }
    Ok(())
}

/// Whether the stack suffices for traversals of a tree of this depth, at most [`MAX_DEPTH`].
pub(crate) fn can_descend(depth: usize) -> bool {
    depth <= MAX_DEPTH && stack_left() >= STACK_RESERVE + depth * STACK_PER_LEVEL
}

/// A nested Python value with its arrays as leaves; with `()` as leaves it is only the structure.
pub(crate) enum Pytree<A = Py<PyArray>> {
    /// An array.
    Array(A),
    /// Any other leaf.
    Other(Py<PyAny>),
    /// A list. If its class is a subclass, with an instance whose class and attributes copies get.
    List(Vec<Pytree<A>>, Option<Py<PyAny>>),
    /// A tuple, with its class if that is a subclass.
    Tuple(Vec<Pytree<A>>, Option<Py<PyAny>>),
    /// A dict. If its class is a subclass, with an instance whose class and attributes copies get.
    Dict(Vec<(Py<PyAny>, Pytree<A>)>, Option<Py<PyAny>>),
    /// An instance of a registered class.
    Node(Vec<Pytree<A>>, Node),
}

/// The class that copies of modules have. A module is a list or dict that is also callable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModuleClass {
    /// Their own, with their attributes.
    Own,
    /// `list` or `dict`, for values that a module's functions do not apply to, such as its gradients.
    Plain,
}

/// The path of a value in nested containers.
#[derive(Clone, Copy)]
pub(crate) enum PytreePath<'a> {
    /// The root, with its name in messages.
    Root(&'a str),
    /// An item of a list or tuple.
    Item(&'a PytreePath<'a>, usize),
    /// A value of a dict.
    Key(&'a PytreePath<'a>, &'a Py<PyAny>),
    /// A child that has a name in its node.
    Name(&'a PytreePath<'a>, &'a Py<PyAny>),
}

impl PytreePath<'_> {
    /// The path as a Python expression, such as `args[0]['w']`.
    pub(crate) fn text(&self, py: Python<'_>) -> String {
        let mut steps = Vec::new();
        let mut path = *self;
        loop {
            path = match path {
                PytreePath::Root(name) => {
                    steps.push(name.to_owned());
                    break;
                }
                PytreePath::Item(within, i) => {
                    steps.push(format!("[{i}]"));
                    *within
                }
                PytreePath::Key(within, key) => {
                    let key = key.bind(py).repr().map_or_else(|_| "?".into(), |key| key.to_string());
                    steps.push(format!("[{key}]"));
                    *within
                }
                PytreePath::Name(within, name) => {
                    steps.push(format!(".{}", name.bind(py)));
                    *within
                }
            };
        }
        steps.reverse();
        steps.concat()
    }
}

/// The description of a dict with the keys of `items`, for messages.
pub(crate) fn dict_of<A>(py: Python<'_>, items: &[(Py<PyAny>, Pytree<A>)]) -> PyResult<String> {
    let keys = items.iter().map(|(key, _)| key.bind(py).repr().map(|key| key.to_string()));
    Ok(format!("a dict of {}", keys.collect::<PyResult<Vec<_>>>()?.join(", ")))
}

/// Whether a value has children: a list, a tuple, a dict, or an instance of a registered class.
pub(crate) fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyDict>()
        || Node::is_registered(value)
}

/// Whether a value is a module: a list or dict that is also a function, such as those of `umber.nn`.
pub(crate) fn is_module(value: &Bound<'_, PyAny>) -> bool {
    (value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>())
        && value.is_callable()
        && !Node::is_registered(value)
}

/// The name of a value's class.
pub(crate) fn class_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string())
}

impl Pytree {
    /// Flatten a value.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Pytree> {
        Pytree::at_depth(value, 0)
    }

    fn at_depth(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Pytree> {
        check_depth(depth)?;
        let child = |item: Bound<'_, PyAny>| Pytree::at_depth(&item, depth + 1);
        if let Ok(array) = value.cast::<PyArray>() {
            return Ok(Pytree::Array(array.clone().unbind()));
        }
        if let Some((children, node)) = Node::of(value)? {
            let children = children.into_iter().map(child).collect::<PyResult<_>>()?;
            return Ok(Pytree::Node(children, node));
        }
        let instance = |is_exact: bool| (!is_exact).then(|| value.clone().unbind());
        if let Ok(list) = value.cast::<PyList>() {
            let items = list.iter().map(child).collect::<PyResult<_>>()?;
            return Ok(Pytree::List(items, instance(list.is_exact_instance_of::<PyList>())));
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            if tuple.is_exact_instance_of::<PyTuple>() {
                return Ok(Pytree::Tuple(tuple.iter().map(child).collect::<PyResult<_>>()?, None));
            }
            // By its iterator, which a subclass of tuple may override, as `Lengths` of traced arrays does.
            let items = tuple.try_iter()?.map(|item| child(item?)).collect::<PyResult<_>>()?;
            return Ok(Pytree::Tuple(items, tuple_class(tuple).map(Bound::unbind)));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            let items = dict_items(dict)?.into_iter();
            let items = items.map(|(key, item)| Ok((key.unbind(), child(item)?))).collect::<PyResult<_>>()?;
            return Ok(Pytree::Dict(items, instance(dict.is_exact_instance_of::<PyDict>())));
        }
        Ok(Pytree::Other(value.clone().unbind()))
    }

    /// Snapshots of the arrays, in order.
    pub(crate) fn snapshot_arrays(&self) -> PyResult<Vec<Array>> {
        self.arrays().iter().map(Array::snapshot).collect::<umber_core::Result<_>>().or_raise()
    }

    /// The arrays, in order.
    pub(crate) fn arrays(&self) -> Vec<Array> {
        let mut arrays = Vec::new();
        self.visit(&mut |leaf| {
            if let Pytree::Array(array) = leaf {
                arrays.push(array.get().get());
            }
        });
        arrays
    }
}

impl<A> Pytree<A> {
    /// Call `visit` on every leaf, in order.
    pub(crate) fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Pytree<A>)) {
        match self {
            Pytree::Array(_) | Pytree::Other(_) => visit(self),
            Pytree::List(items, _) | Pytree::Tuple(items, _) | Pytree::Node(items, _) => {
                for item in items {
                    item.visit(visit);
                }
            }
            Pytree::Dict(items, _) => {
                for (_, item) in items {
                    item.visit(visit);
                }
            }
        }
    }

    /// The path of the i-th child of a sequence or node.
    pub(crate) fn step<'a>(&'a self, path: &'a PytreePath<'a>, i: usize) -> PytreePath<'a> {
        let name = if let Pytree::Node(_, node) = self { node.name(i) } else { None };
        name.map_or(PytreePath::Item(path, i), |name| PytreePath::Name(path, name))
    }

    /// Call `visit` on every leaf with its path, until it fails.
    pub(crate) fn visit_paths<E>(
        &self,
        path: &PytreePath<'_>,
        visit: &mut impl FnMut(&Pytree<A>, &PytreePath<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Pytree::Array(_) | Pytree::Other(_) => visit(self, path),
            Pytree::List(items, _) | Pytree::Tuple(items, _) | Pytree::Node(items, _) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(i, item)| item.visit_paths(&self.step(path, i), visit))
            }
            Pytree::Dict(items, _) => {
                items.iter().try_for_each(|(key, item)| item.visit_paths(&PytreePath::Key(path, key), visit))
            }
        }
    }

    /// The path of the array with an index, for a message.
    pub(crate) fn path_of(&self, py: Python<'_>, root: &str, index: usize) -> String {
        let mut remaining = index;
        let result = self.visit_paths(&PytreePath::Root(root), &mut |leaf, path| match leaf {
            Pytree::Array(_) if remaining == 0 => Err(path.text(py)),
            Pytree::Array(_) => {
                remaining -= 1;
                Ok(())
            }
            _ => Ok(()),
        });
        result.err().unwrap_or_else(|| root.to_owned())
    }

    /// The number of arrays.
    pub(crate) fn count(&self) -> usize {
        let mut count = 0;
        self.visit(&mut |leaf| count += usize::from(matches!(leaf, Pytree::Array(_))));
        count
    }

    /// The structure without the arrays.
    pub(crate) fn structure(&self, py: Python<'_>) -> PyResult<Pytree<()>> {
        let all = |items: &[Pytree<A>]| items.iter().map(|item| item.structure(py)).collect::<PyResult<_>>();
        // An instance without the items, which are arrays of the call.
        let instance = |like: &Option<Py<PyAny>>| {
            like.as_ref().map(|like| empty_like(like.bind(py)).map(Bound::unbind)).transpose()
        };
        Ok(match self {
            Pytree::Array(_) => Pytree::Array(()),
            Pytree::Other(value) => Pytree::Other(value.clone_ref(py)),
            Pytree::List(items, like) => Pytree::List(all(items)?, instance(like)?),
            Pytree::Tuple(items, class) => {
                Pytree::Tuple(all(items)?, class.as_ref().map(|class| class.clone_ref(py)))
            }
            Pytree::Dict(items, like) => {
                let items = items.iter().map(|(key, item)| Ok((key.clone_ref(py), item.structure(py)?)));
                Pytree::Dict(items.collect::<PyResult<_>>()?, instance(like)?)
            }
            Pytree::Node(items, node) => Pytree::Node(all(items)?, node.clone_ref(py)),
        })
    }

    /// The same structure with `replace` applied to every array and `other` to every other leaf.
    fn map<'py>(
        &self,
        py: Python<'py>,
        modules: ModuleClass,
        replace: &mut impl FnMut(Python<'py>, &A) -> PyResult<Py<PyAny>>,
        other: &impl Fn(Python<'py>, &Py<PyAny>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let mut all = |items: &[Pytree<A>]| {
            items.iter().map(|item| item.map(py, modules, replace, other)).collect::<PyResult<Vec<_>>>()
        };
        let is_copied = |like: &&Py<PyAny>| modules == ModuleClass::Own || !like.bind(py).is_callable();
        Ok(match self {
            Pytree::Array(array) => replace(py, array)?,
            Pytree::Other(value) => other(py, value)?,
            Pytree::List(items, like) => {
                let items = all(items)?;
                match like.as_ref().filter(is_copied) {
                    Some(like) => list_like(like.bind(py), items)?.unbind(),
                    None => PyList::new(py, items)?.into_any().unbind(),
                }
            }
            Pytree::Tuple(items, class) => {
                let tuple = PyTuple::new(py, all(items)?)?;
                match class {
                    Some(class) => tuple_of(class.bind(py), tuple)?.unbind(),
                    None => tuple.into_any().unbind(),
                }
            }
            Pytree::Dict(items, like) => {
                let values = items
                    .iter()
                    .map(|(key, item)| Ok((key.clone_ref(py), item.map(py, modules, replace, other)?)));
                let items = values.collect::<PyResult<Vec<_>>>()?;
                match like.as_ref().filter(is_copied) {
                    Some(like) => dict_like(like.bind(py), items)?.unbind(),
                    None => {
                        let dict = PyDict::new(py);
                        items.into_iter().try_for_each(|(key, item)| dict.set_item(key, item))?;
                        dict.into_any().unbind()
                    }
                }
            }
            Pytree::Node(items, node) => node.rebuild(py, all(items)?)?.unbind(),
        })
    }

    /// The same structure with new arrays instead of the old ones, in order; other leaves are unchanged.
    pub(crate) fn rebuild(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let mut next = arrays.iter();
        self.map(
            py,
            ModuleClass::Own,
            &mut |py, _| {
                let array = next.next().expect("as many arrays as the tree has");
                Ok(NewArray::from(array.clone()).object(py)?.unbind().into_any())
            },
            &|py, value| Ok(value.clone_ref(py)),
        )
    }

    /// The same structure with gradients in place of the arrays; other leaves become `None`.
    pub(crate) fn gradients(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        self.map_values(py, arrays, |py, array| {
            Ok(NewArray::from(array.clone()).object(py)?.unbind().into_any())
        })
    }

    /// The same structure with `make` applied to `values` in place of the arrays, and `None` for other leaves.
    pub(crate) fn map_values<T>(
        &self,
        py: Python<'_>,
        values: &[T],
        make: impl Fn(Python<'_>, &T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let mut next = values.iter();
        self.map_arrays(
            py,
            &mut |py, _| make(py, next.next().expect("as many values as the tree has arrays")),
            &|py, _| Ok(py.None()),
        )
    }

    /// The same structure with `replace` applied to every array and `other` to every other leaf; modules become plain dicts.
    pub(crate) fn map_arrays<'py>(
        &self,
        py: Python<'py>,
        replace: &mut impl FnMut(Python<'py>, &A) -> PyResult<Py<PyAny>>,
        other: &impl Fn(Python<'py>, &Py<PyAny>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        self.map(py, ModuleClass::Plain, replace, other)
    }

    /// Raise for leaves that are neither arrays nor `None`.
    pub(crate) fn check_arrays(&self, py: Python<'_>, op: &str, path: &PytreePath<'_>) -> PyResult<()> {
        self.visit_paths(path, &mut |leaf, path| match leaf {
            Pytree::Other(value) if !value.is_none(py) => Err(PyValueError::new_err(format!(
                "[{op}] {}: got {}, expected only arrays",
                path.text(py),
                class_of(value.bind(py))
            ))),
            _ => Ok(()),
        })
    }

    /// Collect the entries of `value`, which must have the structure of this tree, at the positions of the arrays. `None` in
    /// place of a subtree means `None` for all of its arrays.
    ///
    /// Lists and tuples are interchangeable, and entries at the positions of other leaves are ignored. Long, since it has a branch
    /// for each kind.
    pub(crate) fn align<'py>(
        &self,
        op: &str,
        value: &Bound<'py, PyAny>,
        path: &PytreePath<'_>,
        entries: &mut Vec<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<()> {
        let py = value.py();
        let mismatch = |expected: String| {
            Err(PyValueError::new_err(format!(
                "[{op}] {}: got {}, expected {expected}",
                path.text(py),
                match value.len() {
                    Ok(length) if !value.is_instance_of::<PyArray>() =>
                        format!("{} of {length}", class_of(value)),
                    _ => class_of(value),
                }
            )))
        };
        if value.is_none() {
            entries.extend(std::iter::repeat_n(None, self.count()));
            return Ok(());
        }
        match self {
            Pytree::Array(_) => {
                if is_container(value) {
                    return mismatch("an array".into());
                }
                entries.push(Some(value.clone()));
            }
            Pytree::Other(_) => {}
            Pytree::Node(items, node) => {
                let like = match Node::of(value)? {
                    Some((values, other)) if node.is_like(py, &other)? && values.len() == items.len() => {
                        values
                    }
                    _ => return mismatch(node.describe(py, items.len())),
                };
                for (i, (item, value)) in items.iter().zip(like).enumerate() {
                    item.align(op, &value, &self.step(path, i), entries)?;
                }
            }
            Pytree::List(items, _) | Pytree::Tuple(items, _) => {
                let is_sequence = value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>();
                if !is_sequence || value.len()? != items.len() {
                    return mismatch(format!("a tuple of {}", items.len()));
                }
                for (i, (item, value)) in items.iter().zip(value.try_iter()?).enumerate() {
                    item.align(op, &value?, &PytreePath::Item(path, i), entries)?;
                }
            }
            Pytree::Dict(items, _) => {
                let keys = || dict_of(py, items);
                let Ok(dict) = value.cast::<PyDict>() else { return mismatch(keys()?) };
                if dict.len() != items.len() {
                    return mismatch(keys()?);
                }
                for (key, item) in items {
                    match dict.get_item(key)? {
                        Some(value) => item.align(op, &value, &PytreePath::Key(path, key), entries)?,
                        None => return mismatch(keys()?),
                    }
                }
            }
        }
        Ok(())
    }
}

impl Pytree<()> {
    /// Report the Python objects of the structure to the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Pytree::Array(()) => Ok(()),
            Pytree::Other(value) => visit.call(value),
            Pytree::List(items, object) | Pytree::Tuple(items, object) => {
                visit.call(object)?;
                items.iter().try_for_each(|item| item.traverse(visit))
            }
            Pytree::Dict(items, like) => {
                visit.call(like)?;
                items.iter().try_for_each(|(key, item)| {
                    visit.call(key)?;
                    item.traverse(visit)
                })
            }
            Pytree::Node(items, node) => {
                node.traverse(visit)?;
                items.iter().try_for_each(|item| item.traverse(visit))
            }
        }
    }
}
