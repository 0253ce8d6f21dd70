//! States of streams as Python dicts, which JSON can hold.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use umber_data::State;
use umber_data::stream::SavedState;

/// How deep states may be nested.
const MAX_DEPTH: usize = 400;

fn object_of<'py>(py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyAny>> {
    Ok(match state {
        State::Empty => py.None().into_bound(py),
        State::Number(number) => number.into_pyobject(py)?.into_any(),
        State::Text(text) => PyString::new(py, text).into_any(),
        State::List(list) => {
            let list: PyResult<Vec<_>> = list.iter().map(|state| object_of(py, state)).collect();
            PyList::new(py, list?)?.into_any()
        }
    })
}

fn damaged(what: &str) -> PyErr {
    PyValueError::new_err(format!("[load_state_dict] not a state of a stream: {what}"))
}

fn state_of(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<State> {
    if depth > MAX_DEPTH {
        return Err(damaged("it is nested too deep"));
    }
    if object.is_none() {
        return Ok(State::Empty);
    }
    if object.is_instance_of::<PyInt>() {
        return object.extract().map(State::Number).map_err(|_| damaged("a number is negative or too large"));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(State::Text(text.to_str()?.to_owned()));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let list: PyResult<Vec<State>> =
            object.try_iter()?.map(|state| state_of(&state?, depth + 1)).collect();
        return list.map(State::List);
    }
    Err(damaged(&format!("it holds {}", object.get_type().name()?)))
}

/// A dict of a state behind this many samples.
pub(super) fn dict_of<'py>(
    py: Python<'py>,
    saved: &SavedState,
    delivered: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("version", saved.version)?;
    dict.set_item("pipeline", &saved.pipeline)?;
    dict.set_item("delivered", delivered)?;
    dict.set_item("state", object_of(py, &saved.state)?)?;
    Ok(dict)
}

/// The state of a dict, and the number of samples before it.
pub(super) fn saved_of(dict: &Bound<'_, PyDict>) -> PyResult<(SavedState, u64)> {
    let get = |key: &str| dict.get_item(key)?.ok_or_else(|| damaged(&format!("'{key}' is missing")));
    let saved = SavedState {
        version: get("version")?.extract().map_err(|_| damaged("'version' is no number"))?,
        pipeline: get("pipeline")?.extract().map_err(|_| damaged("'pipeline' is no list of texts"))?,
        state: state_of(&get("state")?, 0)?,
    };
    Ok((saved, get("delivered")?.extract().map_err(|_| damaged("'delivered' is no number"))?))
}
