//! The object that shows the key of the random state: what a program writes into it is the key from then on.
//!
//! A draw puts another key in place, and an object that shows the one before belongs to the program alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use umber_core::Array;
use umber_core::ops::random;

use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// The object, as long as anybody has it: held from here it would keep the graph of a trace.
static SHOWN: Mutex<Option<Py<PyWeakrefReference>>> = Mutex::new(None);
/// Its address, so that other objects are told apart at once, or that of one that was there.
static ADDRESS: AtomicUsize = AtomicUsize::new(0);

/// The object that shows the key now.
pub(crate) fn object(py: Python<'_>) -> PyResult<Bound<'_, PyArray>> {
    let key = random::state().or_raise()?;
    if let Some(shown) = shown(py)
        && shown.get().get_cloned(py).is_same(&key)
    {
        return Ok(shown);
    }
    let shown = NewArray::from(key).object(py)?;
    let reference = PyWeakrefReference::new(&shown)?.unbind();
    ADDRESS.store(shown.get().address(), Ordering::Relaxed);
    let before = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).replace(reference);
    drop(before);
    Ok(shown)
}

/// Let an array that is about to be written into `object` be the key, if it shows that.
#[inline]
pub(crate) fn follow(py: Python<'_>, object: &PyArray, array: &Array) -> PyResult<()> {
    if ADDRESS.load(Ordering::Relaxed) == object.address() { follow_shown(py, object, array) } else { Ok(()) }
}

#[cold]
fn follow_shown(py: Python<'_>, object: &PyArray, array: &Array) -> PyResult<()> {
    let is_it = shown(py).is_some_and(|shown| shown.get().address() == object.address());
    if is_it && random::state().or_raise()?.is_same(&object.get_cloned(py)) {
        random::set_state(array.clone()).or_raise()?;
    }
    Ok(())
}

fn shown(py: Python<'_>) -> Option<Bound<'_, PyArray>> {
    let reference = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.clone_ref(py);
    reference.bind(py).upgrade()?.cast_into().ok()
}
