//! State of compiled functions: arrays in nested containers that a function reads and changes besides its arguments.

use std::collections::HashSet;

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use umber_core::Array;

use super::signature::Signature;
use crate::array::PyArray;
use crate::container::{Node, dict_items};
use crate::new_array::NewArray;
use crate::pytree::{self, check_depth};

/// Positions of arrays in nested containers, in the order of a traversal.
pub(super) enum StatePath {
    /// An array at this position.
    Array,
    /// An array object that the function updated in place: other references to it see the update.
    Written,
    /// A container with these keys.
    Nested(Vec<(Py<PyAny>, StatePath)>),
}

impl StatePath {
    /// Positions of arrays after the call, given those before it.
    pub(super) fn of(
        py: Python<'_>,
        slots: &[StateSlot],
        snapshot: &StateSnapshot,
        depth: usize,
    ) -> StatePath {
        match slots {
            [only] if only.path.len() == depth && snapshot.same(py, only).is_some() => StatePath::Written,
            [only] if only.path.len() == depth => StatePath::Array,
            _ => {
                let same_key = |a: &StateSlot, b: &StateSlot| a.path[depth].is(&b.path[depth]);
                let groups = slots.chunk_by(same_key);
                StatePath::Nested(
                    groups
                        .map(|group| {
                            (
                                group[0].path[depth].clone_ref(py),
                                StatePath::of(py, group, snapshot, depth + 1),
                            )
                        })
                        .collect(),
                )
            }
        }
    }

    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            StatePath::Array | StatePath::Written => Ok(()),
            StatePath::Nested(children) => children.iter().try_for_each(|(key, child)| {
                visit.call(key)?;
                child.traverse(visit)
            }),
        }
    }

    /// Store arrays at their positions. In a tuple or a node of a registered class, the existing array objects are updated.
    pub(super) fn fill(
        &self,
        value: &Bound<'_, PyAny>,
        arrays: &mut std::slice::Iter<'_, Array>,
    ) -> PyResult<()> {
        let next = |arrays: &mut std::slice::Iter<'_, Array>| {
            arrays.next().expect("as many arrays as spots").clone()
        };
        match self {
            StatePath::Array | StatePath::Written => {
                value.cast::<PyArray>()?.get().set(value.py(), next(arrays));
            }
            StatePath::Nested(children) => {
                let is_fixed = value.is_instance_of::<PyTuple>() || Node::is_registered(value);
                for (key, child) in children {
                    let is_new = match child {
                        StatePath::Array => !is_fixed,
                        StatePath::Written => !item(value, key.bind(value.py()))?
                            .is_some_and(|item| item.is_instance_of::<PyArray>()),
                        StatePath::Nested(_) => false,
                    };
                    if is_new {
                        let array = NewArray::from(next(arrays)).object(value.py())?;
                        set(value, key.bind(value.py()), array.as_any())?;
                    } else {
                        child.fill(&existing_item(value, key.bind(value.py()))?, arrays)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Store an item in a container.
///
/// Existing keys of dicts bypass `__setitem__` of subclasses: its side effects already happened while the function was
/// traced. New keys use it, because a subclass may track their order.
fn set(container: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(dict) = container.cast::<PyDict>() {
        if dict.is_exact_instance_of::<PyDict>() || dict.contains(key)? {
            return dict.set_item(key, value);
        }
    } else if let Ok(list) = container.cast::<PyList>()
        && key.extract::<usize>()? == list.len()
    {
        return list.append(value);
    }
    container.set_item(key, value)
}

/// Look up an item of a container.
fn item<'py>(container: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some((children, _)) = Node::of(container)? {
        return Ok(key.extract::<usize>().ok().and_then(|i| children.get(i).cloned()));
    }
    if let Ok(dict) = container.cast::<PyDict>() {
        return dict.get_item(key);
    }
    if is_container(container)
        && key.extract::<usize>().is_ok_and(|i| container.len().is_ok_and(|len| i < len))
    {
        return container.get_item(key).map(Some);
    }
    Ok(None)
}

/// An item of a container that has one at this key.
fn existing_item<'py>(container: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match item(container, key)? {
        Some(item) => Ok(item),
        None => container.get_item(key),
    }
}

fn is_container(value: &Bound<'_, PyAny>) -> bool {
    pytree::is_container(value) || is_state(value)
}

/// Position of an array in nested containers: keys from the root.
type Path = Vec<Py<PyAny>>;

/// An array in nested containers.
pub(super) struct StateSlot {
    pub(super) path: Path,
    pub(super) object: Py<PyArray>,
    /// Content of the object when it was found.
    pub(super) value: Array,
    /// Whether the object was created to represent the array of a state object.
    is_of_state_object: bool,
}

impl StateSlot {
    /// Replace the array at this position of `root`: inside the existing object, to which the function may have other
    /// references.
    pub(super) fn replace(&self, root: &Bound<'_, PyAny>, array: Array) -> PyResult<()> {
        let py = root.py();
        if self.is_of_state_object {
            return store(root, &self.path, NewArray::from(array).object(py)?);
        }
        self.object.get().set(py, array);
        Ok(())
    }

    fn has_path_of(&self, other: &StateSlot, py: Python<'_>) -> bool {
        let is_same = |(a, b): (&Py<PyAny>, &Py<PyAny>)| a.is(b) || a.bind(py).eq(b).unwrap_or(false);
        self.path.len() == other.path.len() && self.path.iter().zip(&other.path).all(is_same)
    }
}

/// Whether `value` is a state object of umber, such as the random state.
pub(super) fn is_state(value: &Bound<'_, PyAny>) -> bool {
    value.get_type().hasattr(intern!(value.py(), "__array_state__")).unwrap_or(false)
}

/// Snapshot of nested containers.
#[derive(Default)]
pub(super) struct StateSnapshot {
    pub(super) slots: Vec<StateSlot>,
    pub(super) containers: Vec<Container>,
}

/// A container, and a copy of its items.
pub(super) struct Container {
    object: Py<PyAny>,
    /// A dict or a list of the same items.
    items: Py<PyAny>,
}

impl Container {
    fn restore(&self, py: Python<'_>) -> PyResult<()> {
        let (object, items) = (self.object.bind(py), self.items.bind(py));
        if let (Ok(dict), Ok(items)) = (object.cast::<PyDict>(), items.cast::<PyDict>()) {
            for key in dict.keys() {
                if !items.contains(&key)? {
                    object.del_item(key)?;
                }
            }
            return items.iter().try_for_each(|(key, item)| set(object, &key, &item));
        }
        if let (Ok(list), Ok(items)) = (object.cast::<PyList>(), items.cast::<PyList>()) {
            return list.set_slice(0, list.len(), items.as_any());
        }
        items.try_iter()?.enumerate().try_for_each(|(i, item)| object.set_item(i, item?))
    }
}

impl StateSnapshot {
    pub(super) fn of(root: &Py<PyAny>, py: Python<'_>) -> PyResult<StateSnapshot> {
        let mut snapshot = StateSnapshot::default();
        if !root.is_none(py) {
            snapshot.find(root.bind(py), &mut Vec::new(), false)?;
        }
        Ok(snapshot)
    }

    fn find(&mut self, value: &Bound<'_, PyAny>, path: &mut Path, is_of_state_object: bool) -> PyResult<()> {
        check_depth(path.len())?;
        let py = value.py();
        if let Ok(array) = value.cast::<PyArray>() {
            let path = path.iter().map(|key| key.clone_ref(py)).collect();
            let object = array.clone().unbind();
            self.slots.push(StateSlot { path, object, value: array.get().get(), is_of_state_object });
            return Ok(());
        }
        let node = Node::of(value)?;
        let items: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = if let Some((children, _)) = node {
            by_index(py, children)?
        } else if let Ok(dict) = value.cast::<PyDict>() {
            let items = dict_items(dict)?;
            let plain = PyDict::new(py);
            items.iter().try_for_each(|(key, item)| plain.set_item(key, item))?;
            self.save_container(value, plain.into_any());
            items
        } else if is_container(value) {
            let items = (0..value.len()?).map(|i| value.get_item(i)).collect::<PyResult<Vec<_>>>()?;
            if !value.is_instance_of::<PyTuple>() {
                self.save_container(value, PyList::new(py, &items)?.into_any());
            }
            by_index(py, items)?
        } else {
            return Ok(());
        };
        for (key, item) in items {
            path.push(key.unbind());
            self.find(&item, path, is_state(value))?;
            path.pop();
        }
        Ok(())
    }

    fn save_container(&mut self, object: &Bound<'_, PyAny>, items: Bound<'_, PyAny>) {
        self.containers.push(Container { object: object.clone().unbind(), items: items.unbind() });
    }

    /// The slot of this snapshot with the same object at the same path.
    fn same(&self, py: Python<'_>, slot: &StateSlot) -> Option<&StateSlot> {
        let matches = |known: &&StateSlot| known.object.is(&slot.object) && known.has_path_of(slot, py);
        self.slots.iter().find(matches).filter(|_| !slot.is_of_state_object)
    }

    /// Whether there was an array at the path of a slot.
    pub(super) fn has_array_at(&self, py: Python<'_>, slot: &StateSlot) -> bool {
        self.slots.iter().any(|known| known.has_path_of(slot, py))
    }

    /// Positions whose array changed.
    pub(super) fn changed(&self, py: Python<'_>, current: StateSnapshot) -> Vec<StateSlot> {
        let is_changed =
            |slot: &StateSlot| self.same(py, slot).is_none_or(|known| !known.value.is_same(&slot.value));
        current.slots.into_iter().filter(is_changed).collect()
    }

    /// Restore everything except the containers in `others`.
    pub(super) fn restore(&self, py: Python<'_>, others: &[Container]) -> PyResult<()> {
        let others: HashSet<_> = others.iter().map(|other| other.object.as_ptr()).collect();
        for container in
            self.containers.iter().filter(|container| !others.contains(&container.object.as_ptr()))
        {
            container.restore(py)?;
        }
        self.slots.iter().for_each(|slot| slot.object.get().set(py, slot.value.clone()));
        Ok(())
    }
}

/// Items with their indices as keys.
fn by_index<'py>(
    py: Python<'py>,
    items: Vec<Bound<'py, PyAny>>,
) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let indexed = items.into_iter().enumerate();
    indexed.map(|(i, item)| Ok((i.into_pyobject(py)?.into_any(), item))).collect()
}

/// A position that had an array before a call and has none after it.
pub(super) struct RemovedState {
    path: Path,
    /// The value that replaced it, if any.
    replacement: Option<Py<PyAny>>,
}

impl RemovedState {
    /// Check a path from `root` that led to an array.
    pub(super) fn of(root: &Bound<'_, PyAny>, path: &[Py<PyAny>]) -> PyResult<Option<RemovedState>> {
        let py = root.py();
        let mut value = root.clone();
        for (depth, key) in path.iter().enumerate() {
            let found = item(&value, key.bind(py))?;
            let is_end = depth + 1 == path.len();
            match found {
                Some(found) if is_end && found.is_instance_of::<PyArray>() => return Ok(None),
                Some(found) if !is_end && is_container(&found) => value = found,
                replacement => {
                    let path = path[..=depth].iter().map(|key| key.clone_ref(py)).collect();
                    return Ok(Some(RemovedState { path, replacement: replacement.map(Bound::unbind) }));
                }
            }
        }
        Ok(None)
    }

    /// Remove the array from `root` in the same way.
    pub(super) fn apply(&self, root: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = root.py();
        let Some((last, parents)) = self.path.split_last() else { return Ok(()) };
        let mut container = root.clone();
        for key in parents {
            match item(&container, key.bind(py))? {
                Some(found) => container = found,
                None => return Ok(()),
            }
        }
        match &self.replacement {
            Some(replacement) => set(&container, last.bind(py), replacement.bind(py)),
            None if item(&container, last.bind(py))?.is_some() => container.del_item(last),
            None => Ok(()),
        }
    }

    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.path.iter().try_for_each(|key| visit.call(key))?;
        self.replacement.iter().try_for_each(|replacement| visit.call(replacement))
    }
}

/// Store an array at a path from `root`. In a tuple, the existing array object is updated.
pub(super) fn store(root: &Bound<'_, PyAny>, path: &[Py<PyAny>], array: Bound<'_, PyArray>) -> PyResult<()> {
    let py = root.py();
    let Some((last, parents)) = path.split_last() else {
        root.cast::<PyArray>()?.get().set(py, array.get().get());
        return Ok(());
    };
    let mut container = root.clone();
    for key in parents {
        container = existing_item(&container, key.bind(py))?;
    }
    if container.is_instance_of::<PyTuple>() || Node::is_registered(&container) {
        existing_item(&container, last.bind(py))?.cast::<PyArray>()?.get().set(py, array.get().get());
        return Ok(());
    }
    set(&container, last.bind(py), array.as_any())
}

/// Append the arrays of nested containers and their structure, in the order of [`StateSnapshot`].
pub(super) fn gather(
    value: &Bound<'_, PyAny>,
    depth: usize,
    arrays: &mut Vec<Array>,
    signature: &mut Signature<'_>,
) -> PyResult<()> {
    if let Ok(array) = value.cast::<PyArray>() {
        arrays.push(array.get().get());
        signature.bytes.push(b'a');
        signature.state_array(array);
        return Ok(());
    }
    check_depth(depth)?;
    signature.state_container(value)?;
    if let Some((children, node)) = Node::of(value)? {
        signature.bytes.push(b'*');
        signature.node(value.py(), &node)?;
        for child in children {
            gather(&child, depth + 1, arrays, signature)?;
        }
        signature.bytes.push(b'*');
    } else if let Ok(dict) = value.cast::<PyDict>() {
        signature.bytes.push(b'{');
        for (key, item) in dict_items(dict)? {
            let start = signature.bytes.len();
            signature.value(&key, 0)?;
            let count = arrays.len();
            gather(&item, depth + 1, arrays, signature)?;
            if arrays.len() == count && !signature.is_in_modules() {
                // No arrays inside: the graph does not depend on this entry.
                signature.bytes.truncate(start);
            }
        }
        signature.bytes.push(b'}');
    } else if let Ok(list) = value.cast::<PyList>() {
        signature.bytes.push(b'[');
        for item in list {
            gather(&item, depth + 1, arrays, signature)?;
        }
        signature.bytes.push(b']');
    } else if value.is_instance_of::<PyTuple>() || is_state(value) {
        signature.bytes.push(b'[');
        for i in 0..value.len()? {
            gather(&value.get_item(i)?, depth + 1, arrays, signature)?;
        }
        signature.bytes.push(b']');
    } else {
        signature.bytes.push(b'-');
        signature.state_leaf(value)?;
    }
    Ok(())
}

/// Whether an object is in nested containers.
pub(super) fn holds(container: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if container.is(object) {
        return Ok(true);
    }
    check_depth(depth)?;
    let children: Vec<Bound<'_, PyAny>> = if let Some((children, _)) = Node::of(container)? {
        children
    } else if let Ok(dict) = container.cast::<PyDict>() {
        dict_items(dict)?.into_iter().map(|(_, item)| item).collect()
    } else if let Ok(list) = container.cast::<PyList>() {
        list.iter().collect()
    } else if let Ok(tuple) = container.cast::<PyTuple>() {
        tuple.iter().collect()
    } else {
        return Ok(false);
    };
    for child in children {
        if holds(&child, object, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Raise TypeError for a state that cannot hold arrays, which would otherwise be ignored silently.
pub(super) fn check_state(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(value) = value else { return Ok(()) };
    if is_container(value) || value.is_instance_of::<PyArray>() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "[compile] {name}: got {}, expected arrays in lists, tuples and dicts",
        value.get_type().name()?
    )))
}
