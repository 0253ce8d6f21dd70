//! Substitution of traced arrays for the arrays in the caller's own containers while a function is called with them.
//!
//! Lists and dicts keep their identity and class, so that methods work and side effects persist. Tuples are immutable and
//! nodes of registered classes opaque: they are rebuilt, keeping their class.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use umber_core::Array;

use crate::array::PyArray;
use crate::container::{Node, dict_items, tuple_class, tuple_of};
use crate::new_array::NewArray;
use crate::pytree::{Pytree, can_descend, check_depth};

/// The placeholders that are currently in containers, by address.
///
/// If two threads use the same container, the second one must not restore the placeholders of the first, nor hide its own
/// from it: it works on a copy with the original arrays.
static PLACEHOLDERS: Mutex<Option<HashMap<usize, Placeholder>>> = Mutex::new(None);

struct Placeholder {
    thread: ThreadId,
    original: Py<PyAny>,
}

fn placeholder_map() -> MutexGuard<'static, Option<HashMap<usize, Placeholder>>> {
    PLACEHOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn address(object: &Bound<'_, PyAny>) -> usize {
    object.as_ptr() as usize
}

/// Register a placeholder that replaces `previous`, an array object of the caller or an earlier placeholder.
fn register(placeholder: &Bound<'_, PyAny>, previous: &Bound<'_, PyAny>) {
    let mut all = placeholder_map();
    let all = all.get_or_insert_default();
    let thread = thread::current().id();
    // If `previous` is a placeholder of an outer call of this thread, other threads need its original.
    let original = match all.get(&address(previous)) {
        Some(earlier) => earlier.original.clone_ref(previous.py()),
        None => previous.clone().unbind(),
    };
    all.insert(address(placeholder), Placeholder { thread, original });
}

/// Unregister the placeholders at these addresses.
fn unregister(addresses: impl Iterator<Item = usize>) {
    let removed: Vec<Placeholder> = match placeholder_map().as_mut() {
        Some(all) => addresses.filter_map(|address| all.remove(&address)).collect(),
        None => Vec::new(),
    };
    // Drop after the lock is released, since this may run finalizers.
    drop(removed);
}

/// The original object of a placeholder of another thread.
fn original_if_foreign<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let all = placeholder_map();
    let placeholder = all.as_ref()?.get(&address(object))?;
    (placeholder.thread != thread::current().id()).then(|| placeholder.original.bind(object.py()).clone())
}

/// Whether this tree contains placeholders of another thread.
fn uses_foreign_placeholders(tree: &Pytree) -> bool {
    let all = placeholder_map();
    let Some(all) = all.as_ref().filter(|all| !all.is_empty()) else { return false };
    let this = thread::current().id();
    let mut is_used = false;
    tree.visit(&mut |leaf| {
        if let Pytree::Array(array) = leaf {
            is_used |=
                all.get(&(array.as_ptr() as usize)).is_some_and(|placeholder| placeholder.thread != this);
        }
    });
    is_used
}

/// Return an argument for a function, and its tree. Containers in use by another thread are copied.
pub(super) fn claim<'py>(value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Pytree)> {
    let tree = Pytree::of(value)?;
    if !uses_foreign_placeholders(&tree) {
        return Ok((value.clone(), tree));
    }
    let copied = copy(value)?;
    let tree = Pytree::of(&copied)?;
    Ok((copied, tree))
}

/// Copy the containers of a value, keeping their classes and the leaves.
fn copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    copy_at(value, &mut HashMap::new(), 0)
}

fn copy_at<'py>(
    value: &Bound<'py, PyAny>,
    copies: &mut HashMap<usize, Bound<'py, PyAny>>,
    depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    check_depth(depth)?;
    if let Some(original) = original_if_foreign(value) {
        return Ok(original);
    }
    if let Some((children, node)) = Node::of(value)? {
        let copied = children.iter().map(|child| copy_at(child, copies, depth + 1).map(Bound::unbind));
        return node.rebuild(value.py(), copied.collect::<PyResult<_>>()?);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let items =
            tuple.iter().map(|item| copy_at(&item, copies, depth + 1)).collect::<PyResult<Vec<_>>>()?;
        return tuple_like(tuple, items);
    }
    if !is_mutable(value) {
        return Ok(value.clone());
    }
    if let Some(copied) = copies.get(&address(value)) {
        return Ok(copied.clone());
    }
    let copied = value.py().import("copy")?.call_method1("copy", (value,))?;
    copies.insert(address(value), copied.clone());
    each_item(&copied, &mut |item| Ok(Some(copy_at(item, copies, depth + 1)?)))?;
    Ok(copied)
}

/// Create a tuple of the class of `like`, with its attributes.
fn tuple_like<'py>(like: &Bound<'py, PyTuple>, items: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    if items.iter().zip(like.iter()).all(|(item, own)| item.is(&own)) {
        return Ok(like.clone().into_any());
    }
    let plain = PyTuple::new(like.py(), items)?;
    let Some(class) = tuple_class(like) else { return Ok(plain.into_any()) };
    let tuple = tuple_of(&class, plain)?;
    if let (Ok(attributes), Ok(own)) = (like.getattr("__dict__"), tuple.getattr("__dict__")) {
        own.call_method1("update", (attributes,))?;
    }
    Ok(tuple)
}

/// Replacement of an item, if any.
type Replace<'r, 'py> = dyn FnMut(&Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> + 'r;

/// Replace the items of a list or dict by those that `replace` returns, bypassing `__setitem__` of its class.
fn each_item<'py>(container: &Bound<'py, PyAny>, replace: &mut Replace<'_, 'py>) -> PyResult<()> {
    if let Ok(dict) = container.cast::<PyDict>() {
        for (key, item) in dict_items(dict)? {
            if let Some(new) = replace(&item)?.filter(|new| !new.is(&item)) {
                dict.set_item(key, new)?;
            }
        }
    } else if let Ok(list) = container.cast::<PyList>() {
        for i in 0..list.len() {
            // Another thread may shorten the list.
            let Ok(item) = list.get_item(i) else { break };
            if let Some(new) = replace(&item)?.filter(|new| !new.is(&item)) {
                list.set_item(i, new)?;
            }
        }
    }
    Ok(())
}

/// Make the arguments of a call distinct objects.
///
/// If a list or dict is passed several times, and one of them is `chosen`, all but the first chosen one become copies.
pub(super) fn make_distinct(values: &mut [Bound<'_, PyAny>], chosen: &[usize]) -> PyResult<()> {
    for &first in chosen {
        let original = values[first].clone();
        if !is_mutable(&original) {
            continue;
        }
        for (i, value) in values.iter_mut().enumerate() {
            if i != first && value.is(&original) {
                *value = copy(&original)?;
            }
        }
    }
    Ok(())
}

fn is_mutable(value: &Bound<'_, PyAny>) -> bool {
    (value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>()) && !Node::is_registered(value)
}

/// A placeholder object, and the object that it replaced, which may be a placeholder itself.
struct Replacement<'py> {
    new: Bound<'py, PyAny>,
    original: Bound<'py, PyAny>,
}

/// Arrays replaced in the caller's own containers; dropping this restores them.
pub(super) struct Substitution<'py> {
    py: Python<'py>,
    replaced: Vec<Replacement<'py>>,
    /// The placeholders, with the objects created to hold them.
    placeholders: Vec<(Array, Bound<'py, PyAny>)>,
    /// The lists and dicts that were traversed.
    containers: Vec<Bound<'py, PyAny>>,
}

impl<'py> Substitution<'py> {
    pub(super) fn new(py: Python<'py>) -> Substitution<'py> {
        Substitution { py, replaced: Vec::new(), placeholders: Vec::new(), containers: Vec::new() }
    }

    /// Replace each array of `value` by the next of `arrays`.
    pub(super) fn arrays(
        &mut self,
        value: &Bound<'py, PyAny>,
        arrays: &[Array],
    ) -> PyResult<Bound<'py, PyAny>> {
        let next = Cell::new(0);
        let replaced = self.leaves(value, &|leaf| {
            if !leaf.is_instance_of::<PyArray>() {
                return Ok(None);
            }
            let array = arrays.get(next.replace(next.get() + 1));
            array.cloned().map(Some).ok_or_else(changed)
        })?;
        if next.get() == arrays.len() { Ok(replaced) } else { Err(changed()) }
    }

    /// Replace each leaf of `value` by an array object with the content that `replace` returns.
    pub(super) fn leaves(
        &mut self,
        value: &Bound<'py, PyAny>,
        replace: &dyn Fn(&Bound<'py, PyAny>) -> PyResult<Option<Array>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.at_depth(value, replace, 0)
    }

    fn at_depth(
        &mut self,
        value: &Bound<'py, PyAny>,
        replace: &dyn Fn(&Bound<'py, PyAny>) -> PyResult<Option<Array>>,
        depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_depth(depth)?;
        if let Some((children, node)) = Node::of(value)? {
            let children =
                children.iter().map(|child| self.at_depth(child, replace, depth + 1).map(Bound::unbind));
            let children = children.collect::<PyResult<_>>()?;
            let object = node.rebuild(self.py, children)?;
            self.replaced.push(Replacement { new: object.clone(), original: value.clone() });
            return Ok(object);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            let items = tuple.iter().map(|item| self.at_depth(&item, replace, depth + 1));
            let object = tuple_like(tuple, items.collect::<PyResult<_>>()?)?;
            if !object.is(value) {
                self.replaced.push(Replacement { new: object.clone(), original: value.clone() });
            }
            return Ok(object);
        }
        if is_mutable(value) {
            self.containers.push(value.clone());
            each_item(value, &mut |item| self.at_depth(item, replace, depth + 1).map(Some))?;
            return Ok(value.clone());
        }
        let Some(array) = replace(value)? else { return Ok(value.clone()) };
        let object = NewArray::from(array.clone()).object(self.py)?.into_any();
        if depth > 0 {
            register(&object, value);
        }
        self.placeholders.push((array, object.clone()));
        self.replaced.push(Replacement { new: object.clone(), original: value.clone() });
        Ok(object)
    }

    /// Restore all originals, in the containers and in objects that the function put into them.
    fn restore(&self) -> PyResult<()> {
        let mut originals: HashMap<usize, Bound<'py, PyAny>> = HashMap::new();
        for Replacement { new, original } in &self.replaced {
            let original = originals.get(&address(original)).unwrap_or(original).clone();
            originals.insert(address(new), original);
        }
        let placeholders = self.placeholders.iter().map(|(array, object)| (array.id(), address(object)));
        let mut restoration = Restoration {
            py: self.py,
            originals,
            placeholders: placeholders.collect(),
            seen: HashSet::new(),
        };
        self.containers.iter().try_for_each(|container| restoration.restore_items(container, 0))
    }
}

impl Drop for Substitution<'_> {
    fn drop(&mut self) {
        // Only the comparison of keys can fail; items that were not reached then keep their current values.
        if !self.containers.is_empty()
            && let Err(error) = self.restore()
        {
            error.write_unraisable(self.py, None);
        }
        // Also those in tuples, which are not restored, because their addresses may be reused.
        unregister(self.placeholders.iter().map(|(_, object)| address(object)));
    }
}

/// State of a restoration.
struct Restoration<'py> {
    py: Python<'py>,
    /// Originals by the address of their placeholder object.
    originals: HashMap<usize, Bound<'py, PyAny>>,
    /// Addresses of the placeholder objects by the id of their array, which other objects may share.
    placeholders: HashMap<(usize, u32), usize>,
    seen: HashSet<usize>,
}

impl<'py> Restoration<'py> {
    /// Restore the items of a list or dict, recursively.
    fn restore_items(&mut self, container: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if !can_descend(depth) || !self.seen.insert(address(container)) {
            return Ok(());
        }
        each_item(container, &mut |item| self.original(item, depth + 1))
    }

    /// Original of an item, if it is a placeholder.
    fn original(&mut self, item: &Bound<'py, PyAny>, depth: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Ok(array) = item.cast::<PyArray>() {
            // An object that the function updated in place has another array and is kept.
            let object = self.placeholders.get(&array.get().get_cloned(self.py).id());
            return Ok(object.and_then(|object| self.originals.get(object)).cloned());
        }
        if is_mutable(item) {
            self.restore_items(item, depth)?;
            return Ok(None);
        }
        let Ok(tuple) = item.cast::<PyTuple>() else {
            // A node of a registered class.
            return Ok(self.originals.get(&address(item)).cloned());
        };
        if !can_descend(depth) {
            return Ok(None);
        }
        let mut items = Vec::with_capacity(tuple.len());
        for item in tuple.iter() {
            items.push(self.original(&item, depth + 1)?.unwrap_or(item));
        }
        // The original tuple, unless the function updated an array in it.
        if let Some(original) = self.originals.get(&address(item))
            && let Ok(own) = original.cast::<PyTuple>()
            && own.iter().zip(&items).all(|(own, item)| own.is(item))
        {
            return Ok(Some(original.clone()));
        }
        tuple_like(tuple, items).map(Some)
    }
}

fn changed() -> PyErr {
    PyRuntimeError::new_err(
        "[transform] another thread changed a container of arrays while its function was about to be called",
    )
}
