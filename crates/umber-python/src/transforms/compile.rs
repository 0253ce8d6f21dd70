//! `compile`: Python functions traced once for every structure, shapes and dtypes of their arguments.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber::Array;
use umber::compile::{self, CompiledGraph, cache};

use super::{check_callable, describe};
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::trees::{Tree, check_depth};

/// A function whose graph is recorded once and replayed.
#[pyclass(name = "CompiledFunction", module = "umber.core", frozen, dict, weakref)]
struct CompiledFunction {
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    /// State that the function reads besides its arguments.
    inputs: Py<PyAny>,
    /// State that it changes besides returning.
    outputs: Py<PyAny>,
    user: cache::User,
    /// What graphs return, by the graph.
    forms: Mutex<HashMap<usize, Arc<Form>>>,
}

/// Where an array is in nested containers: keys from the root.
type Path = Vec<Py<PyAny>>;

/// How the arrays that a graph gives are handed back.
struct Form {
    /// Keeps the graph's address its own.
    graph: Arc<CompiledGraph>,
    returned: Tree<()>,
    /// Where in `outputs` the state arrays go, as keys from the root.
    state: Vec<Path>,
}

/// Is it a state object of ours that holds one array, such as the random state?
fn is_state(value: &Bound<'_, PyAny>) -> bool {
    value.get_type().hasattr("__array_state__").unwrap_or(false)
}

/// The places of arrays in nested containers, as keys from the root, with the arrays there.
fn places(value: &Bound<'_, PyAny>, path: &mut Path, found: &mut Vec<(Path, Py<PyArray>)>) -> PyResult<()> {
    check_depth(path.len())?;
    let py = value.py();
    if let Ok(array) = value.cast::<PyArray>() {
        found.push((path.iter().map(|key| key.clone_ref(py)).collect(), array.clone().unbind()));
        return Ok(());
    }
    let items: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = if let Ok(dict) = value.cast::<PyDict>() {
        dict.iter().collect()
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || is_state(value) {
        (0..value.len()?)
            .map(|i| Ok((i.into_pyobject(py)?.into_any(), value.get_item(i)?)))
            .collect::<PyResult<_>>()?
    } else {
        return Ok(());
    };
    for (key, item) in items {
        path.push(key.unbind());
        places(&item, path, found)?;
        path.pop();
    }
    Ok(())
}

/// Put an array where a path from `root` leads. Into a tuple it goes by changing the array object there.
fn put(root: &Bound<'_, PyAny>, path: &[Py<PyAny>], array: Bound<'_, PyArray>) -> PyResult<()> {
    let py = root.py();
    let Some((last, before)) = path.split_last() else {
        root.cast::<PyArray>()?.get().set(array.get().get());
        return Ok(());
    };
    let mut container = root.clone();
    for key in before {
        container = container.get_item(key)?;
    }
    if container.is_instance_of::<PyTuple>() {
        container.get_item(last)?.cast::<PyArray>()?.get().set(array.get().get());
        return Ok(());
    }
    container.set_item(last.bind(py), array)
}

impl CompiledFunction {
    /// Run the function on placeholders.
    fn trace(
        &self,
        py: Python<'_>,
        arguments: &Tree,
        state: &[(Path, Py<PyArray>)],
        arrays: &[Array],
    ) -> PyResult<(CompiledGraph, Tree, Vec<Path>)> {
        let trace = compile::begin(arrays);
        let count = arrays.len() - state.len();
        let given = arguments.rebuild(py, &trace.inputs[..count])?;
        let inputs = self.inputs.bind(py);
        for ((path, _), placeholder) in state.iter().zip(&trace.inputs[count..]) {
            put(inputs, path, Bound::new(py, PyArray::from(placeholder.clone()))?)?;
        }
        let called = self.call_traced(py, &given);
        let traced = called.and_then(|returned| {
            let mut changed = Vec::new();
            places(self.outputs.bind(py), &mut Vec::new(), &mut changed)?;
            let mut outputs = returned.arrays();
            outputs.extend(changed.iter().map(|(_, array)| array.bind(py).get().get()));
            Ok((returned, changed, outputs))
        });
        // Whatever happened, the state is what it was.
        for (path, array) in state {
            put(inputs, path, array.bind(py).clone())?;
        }
        let (returned, changed, outputs) = traced?;
        let graph = CompiledGraph::new(trace, &outputs).or_raise()?;
        Ok((graph, returned, changed.into_iter().map(|(path, _)| path).collect()))
    }

    fn call_traced(&self, py: Python<'_>, given: &Py<PyAny>) -> PyResult<Tree> {
        let pair = given.bind(py).cast::<PyTuple>()?;
        let (args, kwargs) = (pair.get_item(0)?, pair.get_item(1)?);
        let returned =
            self.fun.bind(py).call(args.cast::<PyTuple>()?.clone(), Some(kwargs.cast::<PyDict>()?))?;
        Tree::of(&returned)
    }

    /// Hand back what a graph gave.
    fn deliver(&self, py: Python<'_>, form: &Form, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let count = arrays.len() - form.state.len();
        let outputs = self.outputs.bind(py);
        for (path, array) in form.state.iter().zip(&arrays[count..]) {
            put(outputs, path, Bound::new(py, PyArray::from(array.clone()))?)?;
        }
        form.returned.rebuild(py, &arrays[..count])
    }
}

#[pymethods]
impl CompiledFunction {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        if !compile::is_enabled() {
            return self.fun.bind(py).call(args.clone(), kwargs).map(Bound::unbind);
        }
        let named = kwargs.cloned().unwrap_or_else(|| PyDict::new(py));
        let both = PyTuple::new(py, [args.as_any(), named.as_any()])?;
        let arguments = Tree::of(&both)?;
        let mut state = Vec::new();
        places(self.inputs.bind(py), &mut Vec::new(), &mut state)?;
        let mut arrays = arguments.arrays();
        arrays.extend(state.iter().map(|(_, array)| array.bind(py).get().get()));
        let mut constants = String::new();
        arguments.signature(py, &mut constants)?;
        for (path, _) in &state {
            for key in path {
                constants.push_str(&key.bind(py).repr()?.to_string());
                constants.push('.');
            }
            constants.push(';');
        }
        let constants = constants.into_bytes();
        if let Some(graph) = cache::find(self.user.key(), &arrays, &constants) {
            let known = self
                .forms
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&(Arc::as_ptr(&graph) as usize))
                .cloned();
            if let Some(form) = known {
                let outputs = graph.call(&arrays).or_raise()?;
                return self.deliver(py, &form, &outputs);
            }
        }
        let (graph, returned, paths) = self.trace(py, &arguments, &state, &arrays)?;
        let reusable = graph.is_reusable();
        let graph =
            if reusable { cache::keep(self.user.key(), &arrays, &constants, graph) } else { Arc::new(graph) };
        let outputs = graph.call(&arrays).or_raise()?;
        let returned = returned.structure(py);
        let form = Arc::new(Form { graph: Arc::clone(&graph), returned, state: paths });
        if reusable {
            let address = Arc::as_ptr(&form.graph) as usize;
            self.forms.lock().unwrap_or_else(PoisonError::into_inner).insert(address, Arc::clone(&form));
        }
        self.deliver(py, &form, &outputs)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe("compile", &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.fun)?;
        visit.call(&self.inputs)?;
        visit.call(&self.outputs)?;
        // Locked only by a call that is going on: then it is not garbage.
        let Ok(forms) = self.forms.try_lock() else { return Ok(()) };
        forms.values().try_for_each(|form| {
            form.returned.traverse(&visit)?;
            form.state.iter().flatten().try_for_each(|key| visit.call(key))
        })
    }
}

/// A function that records the graph of `fun` on its first call and replays it on later ones.
///
/// The graph is recorded anew for arguments of another structure, other shapes, dtypes or constants. `inputs` and
/// `outputs` are (nested lists and dicts of) arrays that `fun` reads and changes besides its arguments and results.
/// `shapeless` is accepted: graphs are kept for every combination of shapes.
#[pyfunction(name = "compile")]
#[pyo3(signature = (fun, inputs = None, outputs = None, shapeless = false))]
fn compile_function(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    inputs: Option<&Bound<'_, PyAny>>,
    outputs: Option<&Bound<'_, PyAny>>,
    shapeless: bool,
) -> PyResult<CompiledFunction> {
    check_callable("compile", fun)?;
    let _ = shapeless;
    let or_none =
        |value: Option<&Bound<'_, PyAny>>| value.map_or_else(|| py.None(), |value| value.clone().unbind());
    Ok(CompiledFunction {
        fun: fun.clone().unbind(),
        inputs: or_none(inputs),
        outputs: or_none(outputs),
        user: cache::User::new(),
        forms: Mutex::default(),
    })
}

/// Let compiled functions run as written.
#[pyfunction]
fn disable_compile() {
    compile::disable();
}

/// Let compiled functions replay graphs, whatever `UMBER_DISABLE_COMPILE` says.
#[pyfunction]
fn enable_compile() {
    compile::enable();
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compile_function, module)?)?;
    module.add_function(wrap_pyfunction!(disable_compile, module)?)?;
    module.add_function(wrap_pyfunction!(enable_compile, module)?)
}
