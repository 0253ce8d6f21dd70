//! `umber.core.random.state`: the key of the global state, read, written and assigned.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple, PyType};
use umber_core::ops::random;

use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::pytree::class_of;
use crate::random_key;

/// The global key, as a sequence of one array that `compile` can capture.
#[pyclass(name = "_RandomState", module = "umber.core.random", frozen)]
struct RandomState;

#[pymethods]
impl RandomState {
    /// Mark this object as a container of arrays for `compile`.
    #[classattr]
    fn __array_state__() -> bool {
        true
    }

    fn __len__(&self) -> usize {
        1
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        if index.is_instance_of::<PySlice>() {
            return keys(py)?.get_item(index);
        }
        match index.extract()? {
            0 | -1 => Ok(random_key::object(py)?.into_any()),
            index => Err(no_such_key(index)),
        }
    }

    /// Reduce to a list of the current key, for copying and pickling.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyAny>,))> {
        Ok((py.get_type::<PyList>(), (keys(py)?,)))
    }

    fn __setitem__(&self, index: isize, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if index != 0 && index != -1 {
            return Err(no_such_key(index));
        }
        let key = key.cast::<PyArray>().map_err(|_| {
            PyTypeError::new_err(format!("[random.state] got {}, expected a key array", class_of(key)))
        })?;
        random::set_state(key.get().get()).or_raise()
    }
}

/// The object `random.state`.
pub(crate) fn state_object(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, RandomState)?.into_any())
}

/// A list with the current key.
fn keys(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyList::new(py, [random_key::object(py)?])?.into_any())
}

fn no_such_key(index: isize) -> PyErr {
    PyIndexError::new_err(format!("[random.state] index {index} is out of bounds: the state holds one key"))
}

/// Global random state: a sequence of one array, the key.
///
/// Parameters
/// ----------
/// random : module
///     The module `umber.core.random`.
///
/// Returns
/// -------
/// _RandomState
///     A view of the state. ``state[0]`` reads the key, ``state[0] = key`` replaces it. `compile` can capture it as an
///     input and an output.
///
/// See Also
/// --------
/// seed, key
///
/// Notes
/// -----
/// ``saved = list(random.state)`` saves the state, and ``random.state = saved`` restores it. `random.state` itself
/// cannot be assigned to `random.state`, as it always shows the current key.
///
/// Examples
/// --------
/// >>> mx.random.seed(7)
/// >>> mx.random.state[0]
/// array([0, 7], dtype=uint32)
#[pyfunction]
fn shown_state<'py>(random: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    random.getattr("__dict__")?.get_item("state")
}

/// Continue from the key of `saved`, as ``random.state = saved`` does.
///
/// Parameters
/// ----------
/// _random : module
///     The module `umber.core.random`.
/// saved : array or sequence of array
///     A key, or a list or tuple that holds one key.
///
/// Raises
/// ------
/// ValueError
///     If `saved` is `random.state` itself, or the array is not a key.
/// TypeError
///     If `saved` is neither an array nor a sequence of one array.
///
/// See Also
/// --------
/// seed
///
/// Examples
/// --------
/// >>> saved = list(mx.random.state)
/// >>> first = mx.random.normal((3,))
/// >>> mx.random.state = saved
/// >>> mx.array_equal(first, mx.random.normal((3,))).item()
/// True
#[pyfunction]
fn assign_state(_random: &Bound<'_, PyAny>, saved: &Bound<'_, PyAny>) -> PyResult<()> {
    if saved.is_instance_of::<RandomState>() {
        return Err(PyValueError::new_err(
            "[random.state] cannot restore random.state from itself; save its key with \
             saved = list(random.state), and assign that",
        ));
    }
    let is_sequence = saved.is_instance_of::<PyList>() || saved.is_instance_of::<PyTuple>();
    let key = if is_sequence && saved.len()? == 1 { saved.get_item(0)? } else { saved.clone() };
    let key = key.cast::<PyArray>().map_err(|_| {
        PyTypeError::new_err(format!(
            "[random.state] got {}, expected a key array or a list of one",
            class_of(saved)
        ))
    })?;
    random::set_state(key.get().get()).or_raise()
}

/// Make `random.state` assignable: give the module a class with a property, which takes precedence over the module's dict.
fn make_state_assignable(random: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = random.py();
    let access = (wrap_pyfunction!(shown_state, random)?, wrap_pyfunction!(assign_state, random)?);
    let members = PyDict::new(py);
    members.set_item("__module__", "umber.core.random")?;
    members.set_item("state", py.import("builtins")?.getattr("property")?.call1(access)?)?;
    let class = py.get_type::<PyType>().call1(("module", (py.get_type::<PyModule>(),), members))?;
    random.setattr("__class__", class)
}

/// Add `state` and its class to the module `random`.
pub(super) fn register(random: &Bound<'_, PyModule>) -> PyResult<()> {
    random.add_class::<RandomState>()?;
    random.add("state", RandomState)?;
    make_state_assignable(random)
}
