//! `compile`: Python functions traced once for every structure, shapes and dtypes of their arguments.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umber_core::Array;
use umber_core::compile::{self, Cache, CompiledGraph, ShapeGenericTrace, Traced};
use umber_core::graph::tracing::Lengths;

use super::signature::{Objects, Signature};
use super::state::{RemovedState, StatePath, StateSnapshot, check_state, gather};
use super::{Initialized, check_callable, describe};
use super::{call_user, called_as};
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::new_array::NewArray;
use crate::pytree::Pytree;
use crate::trace_scope;

/// A function whose graph is recorded once and replayed.
#[pyclass(name = "CompiledFunction", module = "umber.core", frozen, dict, weakref)]
struct CompiledFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    /// State that the function reads besides its arguments.
    inputs: Py<PyAny>,
    /// State that it changes besides returning.
    outputs: Py<PyAny>,
    lengths: Lengths,
    objects: Objects,
    graphs: Cache<CompiledResult>,
    /// Of a shapeless function: graphs with what they know of other lengths, by what calls have in common.
    generic_traces: Cache<(ShapeGenericTrace, Arc<Form>)>,
}

/// A graph and what becomes of the arrays it gives.
struct CompiledResult {
    graph: CompiledGraph,
    form: Arc<Form>,
}

/// How the arrays that a graph gives are handed back.
struct Form {
    returned: Pytree<()>,
    /// How many arrays are returned.
    count: usize,
    /// Where in `outputs` the state arrays go.
    state: StatePath,
    /// What is no longer in `outputs` then.
    removed: Vec<RemovedState>,
}

impl Form {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.returned.traverse(visit)?;
        self.removed.iter().try_for_each(|removed| removed.traverse(visit))?;
        self.state.traverse(visit)
    }
}

/// The arguments of a call.
enum Arguments {
    /// Arrays by position, the usual case, need no tree.
    Arrays,
    /// Any: the tuple of those by position, and the dict of those by name.
    Pytree(Pytree),
}

impl Arguments {
    /// The same with other arrays, in order.
    fn rebuild<'py>(
        &self,
        py: Python<'py>,
        arrays: &[Array],
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        match self {
            Arguments::Arrays => {
                let arrays = arrays.iter().map(|array| NewArray::from(array.clone()));
                let made: Vec<_> = arrays.map(|array| array.object(py)).collect::<PyResult<_>>()?;
                Ok((PyTuple::new(py, made)?, PyDict::new(py)))
            }
            Arguments::Pytree(tree) => {
                let pair = tree.rebuild(py, arrays)?.into_bound(py).cast_into::<PyTuple>()?;
                Ok((pair.get_item(0)?.cast_into()?, pair.get_item(1)?.cast_into()?))
            }
        }
    }
}

/// The arguments of a call, if they are arrays by position.
fn arrays_of(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> Option<Vec<Array>> {
    if kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
        return None;
    }
    let array = |arg: Borrowed<'_, '_, PyAny>| arg.cast::<PyArray>().ok().map(|array| array.get().get());
    args.iter_borrowed().map(array).collect()
}

/// A call taken apart.
struct Call {
    arguments: Arguments,
    /// The arrays in it, then those of the state.
    arrays: Vec<Array>,
    /// How many of them are arguments.
    given: usize,
    /// What else it must have in common with others.
    constants: Vec<u8>,
}

impl CompiledFunction {
    fn take_apart(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Call> {
        let mut signature = Signature::new(&self.objects);
        let (arguments, mut arrays) = match arrays_of(args, kwargs) {
            Some(arrays) => {
                signature.arrays(arrays.len());
                (Arguments::Arrays, arrays)
            }
            None => {
                let named = kwargs.cloned().unwrap_or_else(|| PyDict::new(py));
                let tree = Pytree::of(PyTuple::new(py, [args.as_any(), named.as_any()])?.as_any())?;
                signature.tree(py, &tree)?;
                let arrays = tree.arrays();
                (Arguments::Pytree(tree), arrays)
            }
        };
        let given = arrays.len();
        if !self.inputs.is_none(py) {
            gather(self.inputs.bind(py), 0, &mut arrays, &mut signature)?;
        }
        Ok(Call { arguments, arrays, given, constants: signature.bytes })
    }

    /// Run the function on placeholders.
    fn trace(&self, py: Python<'_>, call: &Call) -> PyResult<(Traced, Form)> {
        let tracing = compile::begin(&call.arrays, self.lengths);
        let (arguments, rest) = tracing.trace.inputs.split_at(call.given);
        let (state, before) = (StateSnapshot::of(&self.inputs, py)?, StateSnapshot::of(&self.outputs, py)?);
        // Objects made from here on are the function's own.
        let known = state.places.iter().chain(&before.places);
        let own = known.map(|place| place.object.get().address());
        let inside = trace_scope::enter(own.collect());
        let found = self.run_traced(py, call, arguments, (&state, rest), &before);
        drop(inside);
        // Whatever happened, what the function only reads is what it was; and all of it if the call failed.
        let kept = if found.is_ok() { &before.containers[..] } else { &[] };
        before.restore(py, kept)?;
        state.restore(py, kept)?;
        let (form, arrays) = found?;
        Ok((tracing.end(&arrays), form))
    }

    /// Call the function with placeholders, and with those of its state (behind the objects they stand for) in place.
    fn run_traced(
        &self,
        py: Python<'_>,
        call: &Call,
        arguments: &[Array],
        (state, rest): (&StateSnapshot, &[Array]),
        before: &StateSnapshot,
    ) -> PyResult<(Form, Vec<Array>)> {
        let (inputs, outputs) = (self.inputs.bind(py), self.outputs.bind(py));
        let (args, kwargs) = call.arguments.rebuild(py, arguments)?;
        for (place, placeholder) in state.places.iter().zip(rest) {
            place.replace(inputs, placeholder.clone())?;
        }
        let start = StateSnapshot::of(&self.outputs, py)?;
        let returned = Pytree::of(&call_user(self.fun.bind(py), args, Some(&kwargs))?)?;
        let changed = start.changed(py, StateSnapshot::of(&self.outputs, py)?);
        let mut arrays = returned.arrays();
        let count = arrays.len();
        arrays.extend(changed.iter().map(|place| place.value.clone()));
        let mut removed: Vec<RemovedState> = Vec::new();
        for place in &before.places {
            removed.extend(RemovedState::of(outputs, &place.path)?);
        }
        let state = StatePath::of(py, &changed, &start, 0);
        Ok((Form { returned: returned.structure(py), count, state, removed }, arrays))
    }

    /// What answers calls like this one, made if there is nothing yet.
    fn answer(&self, py: Python<'_>, call: &Call) -> PyResult<Arc<CompiledResult>> {
        if let Some(answer) = self.graphs.find(&call.arrays, &call.constants) {
            return Ok(answer);
        }
        let keep = |answer: CompiledResult| {
            if answer.graph.is_reusable() {
                self.graphs.keep(&call.arrays, &call.constants, answer)
            } else {
                Arc::new(answer)
            }
        };
        if self.lengths == Lengths::Fixed {
            let (traced, form) = self.trace(py, call)?;
            let graph = traced.compile().or_raise()?;
            return Ok(keep(CompiledResult { graph, form: Arc::new(form) }));
        }
        let class = class(call);
        let generic_trace = self.generic_traces.find(&[], &class);
        if let Some(generic_trace) = &generic_trace
            && let Some(graph) = generic_trace.0.graph(&call.arrays)
        {
            return Ok(keep(CompiledResult { graph, form: Arc::clone(&generic_trace.1) }));
        }
        let (traced, form) = self.trace(py, call)?;
        let form = Arc::new(form);
        let graph = traced.compile().or_raise()?;
        match generic_trace {
            Some(generic_trace) => {
                generic_trace.0.learn(&traced);
            }
            None if graph.is_reusable() => {
                self.generic_traces.keep(&[], &class, (ShapeGenericTrace::new(traced), Arc::clone(&form)));
            }
            None => {}
        }
        Ok(keep(CompiledResult { graph, form }))
    }

    /// Hand back what a graph gave.
    fn deliver(&self, py: Python<'_>, form: &Form, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let (returned, state) = arrays.split_at(form.count);
        let outputs = self.outputs.bind(py);
        // From the end, so that what goes from a list leaves the places before it alone.
        form.removed.iter().rev().try_for_each(|removed| removed.apply(outputs))?;
        form.state.fill(outputs, &mut state.iter())?;
        form.returned.rebuild(py, returned)
    }
}

/// What calls of a shapeless function have in common: all but lengths greater than one.
fn class(call: &Call) -> Vec<u8> {
    let mut class = call.constants.clone();
    for array in &call.arrays {
        class.extend(array.dtype().name().as_bytes());
        class.extend(array.shape().iter().map(|&length| length.min(2) as u8));
        class.push(b';');
    }
    class
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
            return call_user(self.fun.bind(py), args.clone(), kwargs).map(Bound::unbind);
        }
        let call = self.take_apart(py, args, kwargs)?;
        let answer = self.answer(py, &call)?;
        let outputs = answer.graph.call(call.arrays).or_raise()?;
        self.deliver(py, &answer.form, &outputs)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe("compile", &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        visit.call(&self.fun)?;
        visit.call(&self.inputs)?;
        visit.call(&self.outputs)?;
        visit.call(self.objects.known())?;
        // Several graphs may share a form, whose references count once.
        let mut shown: Vec<*const Form> = Vec::new();
        let mut show = |form: &Arc<Form>| {
            if shown.contains(&Arc::as_ptr(form)) {
                return Ok(());
            }
            shown.push(Arc::as_ptr(form));
            form.traverse(&visit)
        };
        self.graphs.visit(|answer| show(&answer.form))?;
        self.generic_traces.visit(|(_, form)| show(form))
    }
}

/// A function that records the graph of `fun` on its first call and replays it on later ones.
///
/// The graph is recorded anew for arguments of another structure, other shapes or dtypes, and for other constants:
/// numbers, strings, None, dataclasses by their fields, other objects by their hash and equality. (ValueError or
/// TypeError for arguments that have no hash.) The 256 combinations used last are kept. `inputs` and `outputs` are
/// nested lists and dicts of arrays that `fun` reads and changes besides its arguments and results, such as
/// parameters, the state of an optimizer, `random.state`.
///
/// With `shapeless`, arguments of other shapes reuse the graph where that gives what recording it anew would give; a
/// function that reads lengths of axes itself, or whose graph depends on them in ways that cannot be told, is recorded
/// for each combination of them.
#[pyfunction(name = "compile")]
#[pyo3(signature = (fun, inputs = None, outputs = None, shapeless = false))]
fn compile_function<'py>(
    py: Python<'py>,
    fun: &Bound<'py, PyAny>,
    inputs: Option<&Bound<'_, PyAny>>,
    outputs: Option<&Bound<'_, PyAny>>,
    shapeless: bool,
) -> PyResult<Bound<'py, CompiledFunction>> {
    check_callable("compile", fun)?;
    check_state("inputs", inputs)?;
    check_state("outputs", outputs)?;
    let or_none =
        |value: Option<&Bound<'_, PyAny>>| value.map_or_else(|| py.None(), |value| value.clone().unbind());
    let compiled = CompiledFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        inputs: or_none(inputs),
        outputs: or_none(outputs),
        lengths: if shapeless { Lengths::Free } else { Lengths::Fixed },
        objects: Objects::new(py),
        graphs: Cache::default(),
        generic_traces: Cache::default(),
    };
    called_as(compiled, fun)
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
