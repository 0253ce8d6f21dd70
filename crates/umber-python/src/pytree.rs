//! Pytrees: nested lists, tuples and dicts of arrays, which transforms flatten and rebuild.

use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;
use umber_core::graph::ArrayInternals;
use umber_kernels::stack::stack_left;

use crate::array::PyArray;
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
            "[tree] lists, tuples and dicts are nested too deep for the stack of their thread",
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
    /// A list, or a list-like state object.
    List(Vec<Pytree<A>>),
    /// A tuple, with its class if that is a subclass.
    Tuple(Vec<Pytree<A>>, Option<Py<PyAny>>),
    /// A dict, or a subclass of it.
    Dict(Vec<(Py<PyAny>, Pytree<A>)>),
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

/// The class of a tuple that is an instance of a subclass, such as a named tuple.
pub(crate) fn tuple_class<'py>(tuple: &Bound<'py, PyTuple>) -> Option<Bound<'py, PyAny>> {
    (!tuple.is_exact_instance_of::<PyTuple>()).then(|| tuple.get_type().into_any())
}

/// Create an instance of a subclass of tuple with these items.
///
/// It is created by `tuple.__new__`, as in `namedtuple._make`, since the constructor of a subclass may take other arguments.
/// Classes written in C, such as `time.struct_time`, allow only their own constructor.
pub(crate) fn tuple_of<'py>(
    class: &Bound<'py, PyAny>,
    items: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    match items.get_type().call_method1(intern!(py, "__new__"), (class, &items)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => class.call1((items,)),
        instance => instance,
    }
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
        if let Ok(list) = value.cast::<PyList>() {
            return list.iter().map(child).collect::<PyResult<_>>().map(Pytree::List);
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
            let items =
                dict.iter().map(|(key, item)| Ok((key.unbind(), child(item)?))).collect::<PyResult<_>>()?;
            return Ok(Pytree::Dict(items));
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
            Pytree::List(items) | Pytree::Tuple(items, _) => {
                for item in items {
                    item.visit(visit);
                }
            }
            Pytree::Dict(items) => {
                for (_, item) in items {
                    item.visit(visit);
                }
            }
        }
    }

    /// Call `visit` on every leaf with its path, until it fails.
    pub(crate) fn visit_paths<E>(
        &self,
        path: &PytreePath<'_>,
        visit: &mut impl FnMut(&Pytree<A>, &PytreePath<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Pytree::Array(_) | Pytree::Other(_) => visit(self, path),
            Pytree::List(items) | Pytree::Tuple(items, _) => items
                .iter()
                .enumerate()
                .try_for_each(|(i, item)| item.visit_paths(&PytreePath::Item(path, i), visit)),
            Pytree::Dict(items) => {
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
    pub(crate) fn structure(&self, py: Python<'_>) -> Pytree<()> {
        let all = |items: &[Pytree<A>]| items.iter().map(|item| item.structure(py)).collect();
        match self {
            Pytree::Array(_) => Pytree::Array(()),
            Pytree::Other(value) => Pytree::Other(value.clone_ref(py)),
            Pytree::List(items) => Pytree::List(all(items)),
            Pytree::Tuple(items, class) => {
                Pytree::Tuple(all(items), class.as_ref().map(|class| class.clone_ref(py)))
            }
            Pytree::Dict(items) => Pytree::Dict(
                items.iter().map(|(key, item)| (key.clone_ref(py), item.structure(py))).collect(),
            ),
        }
    }

    /// The same structure with `replace` applied to every array and `other` to every other leaf.
    pub(crate) fn map<'py>(
        &self,
        py: Python<'py>,
        replace: &mut impl FnMut(Python<'py>, &A) -> PyResult<Py<PyAny>>,
        other: &impl Fn(Python<'py>, &Py<PyAny>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Pytree::Array(array) => replace(py, array)?,
            Pytree::Other(value) => other(py, value)?,
            Pytree::List(items) => {
                let items =
                    items.iter().map(|item| item.map(py, replace, other)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, items)?.into_any().unbind()
            }
            Pytree::Tuple(items, class) => {
                let items =
                    items.iter().map(|item| item.map(py, replace, other)).collect::<PyResult<Vec<_>>>()?;
                let tuple = PyTuple::new(py, items)?;
                match class {
                    Some(class) => tuple_of(class.bind(py), tuple)?.unbind(),
                    None => tuple.into_any().unbind(),
                }
            }
            Pytree::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, item) in items {
                    dict.set_item(key, item.map(py, replace, other)?)?;
                }
                dict.into_any().unbind()
            }
        })
    }

    /// The same structure with new arrays instead of the old ones, in order; other leaves are unchanged.
    pub(crate) fn rebuild(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let mut next = arrays.iter();
        self.map(
            py,
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
        self.map(
            py,
            &mut |py, _| make(py, next.next().expect("as many values as the tree has arrays")),
            &|py, _| Ok(py.None()),
        )
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
    /// Lists and tuples are interchangeable, and entries at the positions of other leaves are ignored.
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
                let is_container = value.is_instance_of::<PyTuple>()
                    || value.is_instance_of::<PyList>()
                    || value.is_instance_of::<PyDict>();
                if is_container {
                    return mismatch("an array".into());
                }
                entries.push(Some(value.clone()));
            }
            Pytree::Other(_) => {}
            Pytree::List(items) | Pytree::Tuple(items, _) => {
                let is_sequence = value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>();
                if !is_sequence || value.len()? != items.len() {
                    return mismatch(format!("a tuple of {}", items.len()));
                }
                for (i, (item, value)) in items.iter().zip(value.try_iter()?).enumerate() {
                    item.align(op, &value?, &PytreePath::Item(path, i), entries)?;
                }
            }
            Pytree::Dict(items) => {
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
            Pytree::List(items) => items.iter().try_for_each(|item| item.traverse(visit)),
            Pytree::Tuple(items, class) => {
                visit.call(class)?;
                items.iter().try_for_each(|item| item.traverse(visit))
            }
            Pytree::Dict(items) => items.iter().try_for_each(|(key, item)| {
                visit.call(key)?;
                item.traverse(visit)
            }),
        }
    }
}
