//! The array object that represents the key of the global random state: an in-place update of it sets the key.
//!
//! Drawing random numbers replaces the key. An object with a previous key is an ordinary array.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use umber_core::Array;
use umber_core::ops::random;

use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// A weak reference to the object: a strong one would keep the graph of a trace alive.
static OBJECT: Mutex<Option<Py<PyWeakrefReference>>> = Mutex::new(None);
/// The address of the object, or of a previous one: a fast check that excludes other objects.
static ADDRESS: AtomicUsize = AtomicUsize::new(0);

/// The object with the current key.
pub(crate) fn object(py: Python<'_>) -> PyResult<Bound<'_, PyArray>> {
    let key = random::state().or_raise()?;
    if let Some(object) = current_object(py)
        && object.get().get_cloned(py).is_same(&key)
    {
        return Ok(object);
    }
    let object = NewArray::from(key).object(py)?;
    let reference = PyWeakrefReference::new(&object)?.unbind();
    ADDRESS.store(object.get().address(), Ordering::Relaxed);
    let previous = OBJECT.lock().unwrap_or_else(PoisonError::into_inner).replace(reference);
    drop(previous);
    Ok(object)
}

/// Set the key to `array`, which is about to be written into `object`, if `object` represents the key.
#[inline]
pub(crate) fn set_if_key(py: Python<'_>, object: &PyArray, array: &Array) -> PyResult<()> {
    if ADDRESS.load(Ordering::Relaxed) == object.address() { set_key(py, object, array) } else { Ok(()) }
}

#[cold]
fn set_key(py: Python<'_>, object: &PyArray, array: &Array) -> PyResult<()> {
    let is_key = current_object(py).is_some_and(|key| key.get().address() == object.address());
    if is_key && random::state().or_raise()?.is_same(&object.get_cloned(py)) {
        random::set_state(array.clone()).or_raise()?;
    }
    Ok(())
}

fn current_object(py: Python<'_>) -> Option<Bound<'_, PyArray>> {
    let reference = OBJECT.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.clone_ref(py);
    reference.bind(py).upgrade()?.cast_into().ok()
}
