//! `compile`: Python functions traced once for each structure, shapes and dtypes of their arguments.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use umber_core::Array;
use umber_core::compile::{self, Cache, CompiledGraph, ShapeGenericTrace, Traced};
use umber_core::graph::tracing::Lengths;

use super::signature::{Objects, Signature};
use super::state::{RemovedState, StatePath, StateSnapshot, check_state, gather, holds};
use super::wrapper::{Creation, bind, describe, reduce, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::new_array::NewArray;
use crate::ops::random_state::state_object;
use crate::pytree::{Pytree, is_module};
use crate::trace_scope;

/// A function whose graph is recorded once and replayed.
#[pyclass(name = "CompiledFunction", module = "umber.core", frozen, dict, weakref)]
struct CompiledFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    /// State that the function reads, besides its arguments.
    inputs: Py<PyAny>,
    /// State that the function changes, besides its results.
    outputs: Py<PyAny>,
    /// The function itself, or the instance of which it is a method, if that is a module.
    module: Option<Py<PyAny>>,
    lengths: Lengths,
    objects: Objects,
    graphs: Cache<CompiledResult>,
    /// For a shapeless function: traces that are generic over lengths, by the class of the call.
    generic_traces: Cache<(ShapeGenericTrace, Arc<OutputForm>)>,
}

/// A graph, and the destination of its outputs.
struct CompiledResult {
    graph: CompiledGraph,
    output_form: Arc<OutputForm>,
}

/// Destination of the outputs of a graph.
struct OutputForm {
    returned: Pytree<()>,
    /// The number of returned arrays.
    count: usize,
    /// Positions in `outputs` of the state arrays.
    state: StatePath,
    /// Entries that the function removed from `outputs`.
    removed: Vec<RemovedState>,
}

impl OutputForm {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.returned.traverse(visit)?;
        self.removed.iter().try_for_each(|removed| removed.traverse(visit))?;
        self.state.traverse(visit)
    }
}

/// The arguments of a call.
enum Arguments {
    /// Only positional arrays: the common case, which needs no tree.
    Arrays,
    /// General case: the tuple of positional arguments and the dict of keyword arguments.
    Pytree(Pytree),
}

impl Arguments {
    /// Rebuild the arguments with other arrays, in order.
    fn rebuild<'py>(
        &self,
        py: Python<'py>,
        arrays: &[Array],
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        match self {
            Arguments::Arrays => {
                let arrays = arrays.iter().map(|array| NewArray::from(array.clone()));
                let objects: Vec<_> = arrays.map(|array| array.object(py)).collect::<PyResult<_>>()?;
                Ok((PyTuple::new(py, objects)?, PyDict::new(py)))
            }
            Arguments::Pytree(tree) => {
                let pair = tree.rebuild(py, arrays)?.into_bound(py).cast_into::<PyTuple>()?;
                Ok((pair.get_item(0)?.cast_into()?, pair.get_item(1)?.cast_into()?))
            }
        }
    }
}

/// The arguments of a call, if all are positional arrays.
fn arrays_of(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> Option<Vec<Array>> {
    if kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
        return None;
    }
    let array = |arg: Borrowed<'_, '_, PyAny>| arg.cast::<PyArray>().ok().map(|array| array.get().get());
    args.iter_borrowed().map(array).collect()
}

/// The place of an argument.
enum Place {
    Position(usize),
    Keyword(Py<PyAny>),
}

/// Replace the modules among the arguments by None.
fn take_modules<'py>(
    args: &mut Bound<'py, PyTuple>,
    named: &mut Bound<'py, PyDict>,
    is_state: impl Fn(&Bound<'py, PyAny>) -> PyResult<bool>,
) -> PyResult<Vec<(Place, Py<PyAny>)>> {
    let py = args.py();
    let mut modules = Vec::new();
    let mut items: Vec<Bound<'py, PyAny>> = args.iter().collect();
    for (i, item) in items.iter_mut().enumerate() {
        if is_state(item)? {
            let module = std::mem::replace(item, py.None().into_bound(py));
            modules.push((Place::Position(i), module.unbind()));
        }
    }
    if !modules.is_empty() {
        *args = PyTuple::new(py, items)?;
    }
    for (name, value) in &named.clone() {
        if is_state(&value)? {
            if modules.iter().all(|(place, _)| matches!(place, Place::Position(_))) {
                *named = named.copy()?;
            }
            named.set_item(&name, py.None())?;
            modules.push((Place::Keyword(name.unbind()), value.unbind()));
        }
    }
    Ok(modules)
}

/// A call, flattened.
struct Call {
    arguments: Arguments,
    /// The modules among the arguments. They are state, like the module of the function.
    modules: Vec<(Place, Py<PyAny>)>,
    /// `inputs`, or a list of it and of the modules.
    inputs: Py<PyAny>,
    /// `outputs`, or a list of it and of the modules.
    outputs: Py<PyAny>,
    /// Arrays of the arguments, then those of the state.
    arrays: Vec<Array>,
    /// Number of arrays in the arguments.
    argument_count: usize,
    /// Encoding of the structure and the constants, which must be equal for a graph to be reused.
    constants: Vec<u8>,
}

impl Call {
    /// The arguments with other arrays, and with the modules.
    fn rebuild_arguments<'py>(
        &self,
        py: Python<'py>,
        arrays: &[Array],
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let (args, named) = self.arguments.rebuild(py, arrays)?;
        if self.modules.is_empty() {
            return Ok((args, named));
        }
        let mut args: Vec<Bound<'py, PyAny>> = args.iter().collect();
        for (place, module) in &self.modules {
            match place {
                Place::Position(i) => args[*i] = module.bind(py).clone(),
                Place::Keyword(name) => named.set_item(name, module)?,
            }
        }
        Ok((PyTuple::new(py, args)?, named))
    }
}

impl CompiledFunction {
    fn flatten_call<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Call> {
        let mut signature = Signature::new(&self.objects);
        let mut modules = Vec::new();
        let (arguments, mut arrays) = match arrays_of(args, kwargs) {
            Some(arrays) => {
                signature.arrays(arrays.len());
                (Arguments::Arrays, arrays)
            }
            None => {
                let (mut args, mut named) =
                    (args.clone(), kwargs.cloned().unwrap_or_else(|| PyDict::new(py)));
                let is_state = |value: &Bound<'py, PyAny>| Ok(is_module(value) && !self.declares(value)?);
                modules = take_modules(&mut args, &mut named, is_state)?;
                let tree = Pytree::of(PyTuple::new(py, [args.as_any(), named.as_any()])?.as_any())?;
                signature.tree(py, &tree)?;
                let arrays = tree.arrays();
                (Arguments::Pytree(tree), arrays)
            }
        };
        let argument_count = arrays.len();
        if !self.inputs.is_none(py) {
            gather(self.inputs.bind(py), 0, &mut arrays, &mut signature)?;
        }
        let (mut inputs, mut outputs) = (self.inputs.clone_ref(py), self.outputs.clone_ref(py));
        let state: Vec<&Py<PyAny>> =
            self.module.iter().chain(modules.iter().map(|(_, module)| module)).collect();
        if !state.is_empty() {
            let random = state_object(py)?.unbind();
            let roots = |first: &Py<PyAny>| {
                let roots: Vec<&Py<PyAny>> =
                    std::iter::once(first).chain(state.iter().copied()).chain([&random]).collect();
                PyList::new(py, roots).map(|list| list.into_any().unbind())
            };
            (inputs, outputs) = (roots(&inputs)?, roots(&outputs)?);
            for (place, _) in &modules {
                match place {
                    Place::Position(i) => signature.value(i.into_pyobject(py)?.as_any(), 0)?,
                    Place::Keyword(name) => signature.value(name.bind(py), 0)?,
                }
            }
            signature.enter_modules();
            for root in state.into_iter().chain([&random]) {
                gather(root.bind(py), 0, &mut arrays, &mut signature)?;
            }
        }
        Ok(Call { arguments, modules, inputs, outputs, arrays, argument_count, constants: signature.bytes })
    }

    /// Whether a container is part of `inputs` or `outputs`, which then say what the function reads and changes of it.
    fn declares(&self, container: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = container.py();
        Ok(holds(self.inputs.bind(py), container, 0)? || holds(self.outputs.bind(py), container, 0)?)
    }

    /// Run the function on placeholders.
    fn trace(&self, py: Python<'_>, call: &Call) -> PyResult<(Traced, OutputForm)> {
        let tracing = compile::begin(&call.arrays, self.lengths);
        let (arguments, state_inputs) = tracing.trace.inputs.split_at(call.argument_count);
        let (state, before) = (StateSnapshot::of(&call.inputs, py)?, StateSnapshot::of(&call.outputs, py)?);
        // Array objects created from here on belong to the function.
        let slots = state.slots.iter().chain(&before.slots);
        let addresses = slots.map(|slot| slot.object.get().address());
        let scope = trace_scope::enter(addresses.collect());
        let result = self.run_traced(py, call, arguments, (&state, state_inputs), &before);
        drop(scope);
        // Restore the state that the function only reads, and all state if the call failed.
        let excluded = if result.is_ok() { &before.containers[..] } else { &[] };
        before.restore(py, excluded)?;
        state.restore(py, excluded)?;
        let (output_form, arrays) = result?;
        Ok((tracing.end(&arrays), output_form))
    }

    /// Call the function with placeholders, which also replace the arrays of its state.
    fn run_traced(
        &self,
        py: Python<'_>,
        call: &Call,
        arguments: &[Array],
        (state, state_inputs): (&StateSnapshot, &[Array]),
        before: &StateSnapshot,
    ) -> PyResult<(OutputForm, Vec<Array>)> {
        let (inputs, outputs) = (call.inputs.bind(py), call.outputs.bind(py));
        let (args, kwargs) = call.rebuild_arguments(py, arguments)?;
        for (slot, placeholder) in state.slots.iter().zip(state_inputs) {
            slot.replace(inputs, placeholder.clone())?;
        }
        let start = StateSnapshot::of(&call.outputs, py)?;
        let returned = Pytree::of(&call_user(self.fun.bind(py), args, Some(&kwargs))?)?;
        let changed = start.changed(py, StateSnapshot::of(&call.outputs, py)?);
        let mut arrays = returned.arrays();
        let count = arrays.len();
        arrays.extend(changed.iter().map(|slot| slot.value.clone()));
        let mut removed: Vec<RemovedState> = Vec::new();
        for slot in &before.slots {
            removed.extend(RemovedState::of(outputs, &slot.path)?);
        }
        let state = StatePath::of(py, &changed, &start, 0);
        Ok((OutputForm { returned: returned.structure(py)?, count, state, removed }, arrays))
    }

    /// Find the graph for this call, or trace and compile one.
    fn find_or_compile(&self, py: Python<'_>, call: &Call) -> PyResult<Arc<CompiledResult>> {
        if let Some(result) = self.graphs.find(&call.arrays, &call.constants) {
            return Ok(result);
        }
        let cache = |result: CompiledResult| {
            if result.graph.is_reusable() {
                self.graphs.keep(&call.arrays, &call.constants, result)
            } else {
                Arc::new(result)
            }
        };
        if self.lengths == Lengths::Fixed {
            let (traced, output_form) = self.trace(py, call)?;
            let graph = traced.compile().or_raise()?;
            return Ok(cache(CompiledResult { graph, output_form: Arc::new(output_form) }));
        }
        let class = class(call);
        let generic_trace = self.generic_traces.find(&[], &class);
        if let Some(generic_trace) = &generic_trace
            && let Some(graph) = generic_trace.0.graph(&call.arrays)
        {
            return Ok(cache(CompiledResult { graph, output_form: Arc::clone(&generic_trace.1) }));
        }
        let (traced, output_form) = self.trace(py, call)?;
        let output_form = Arc::new(output_form);
        let graph = traced.compile().or_raise()?;
        match generic_trace {
            Some(generic_trace) => {
                generic_trace.0.learn(&traced);
            }
            None if graph.is_reusable() => {
                self.generic_traces.keep(
                    &[],
                    &class,
                    (ShapeGenericTrace::new(traced), Arc::clone(&output_form)),
                );
            }
            None => {}
        }
        Ok(cache(CompiledResult { graph, output_form }))
    }

    /// Store the outputs of a graph in the state, and return the function's result.
    fn deliver(
        outputs: &Bound<'_, PyAny>,
        output_form: &OutputForm,
        arrays: &[Array],
    ) -> PyResult<Py<PyAny>> {
        let (returned, state) = arrays.split_at(output_form.count);
        // From the end, so that removals from a list do not shift the positions of later iterations.
        output_form.removed.iter().rev().try_for_each(|removed| removed.apply(outputs))?;
        output_form.state.fill(outputs, &mut state.iter())?;
        output_form.returned.rebuild(outputs.py(), returned)
    }
}

/// Class of a call of a shapeless function: everything except lengths greater than one.
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
        let call = self.flatten_call(py, args, kwargs)?;
        let compiled = self.find_or_compile(py, &call)?;
        let arrays = compiled.graph.call(call.arrays).or_raise()?;
        CompiledFunction::deliver(call.outputs.bind(py), &compiled.output_form, &arrays)
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bind(slf.as_any(), instance)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let fun = this.fun.bind(py);
        let shapeless = this.lengths == Lengths::Free;
        let args = (fun, this.inputs.bind(py), this.outputs.bind(py), shapeless).into_pyobject(py)?;
        reduce(slf.as_any(), fun, Creation { transform: "compile", args, keywords: None })
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
        visit.call(&self.module)?;
        visit.call(self.objects.known())?;
        // Several graphs may share a form, whose references must be visited once.
        let mut visited: Vec<*const OutputForm> = Vec::new();
        let mut visit_form = |output_form: &Arc<OutputForm>| {
            if visited.contains(&Arc::as_ptr(output_form)) {
                return Ok(());
            }
            visited.push(Arc::as_ptr(output_form));
            output_form.traverse(&visit)
        };
        self.graphs.visit(|result| visit_form(&result.output_form))?;
        self.generic_traces.visit(|(_, output_form)| visit_form(output_form))
    }
}

/// Return a function that records the graph of another one on its first call and replays it later.
///
/// Parameters
/// ----------
/// fun : callable
///     Function of arrays, pytrees (nested lists, tuples and dicts) of arrays, and constants.
/// inputs : array or nested list, tuple or dict of arrays, optional
///     State that `fun` reads besides its arguments, such as parameters or ``random.state``. Default: None.
/// outputs : array or nested list, tuple or dict of arrays, optional
///     State that `fun` changes besides returning, such as the state of an optimizer. Default: None.
/// shapeless : bool, optional
///     Reuse a graph for other axis lengths where that gives the same results as tracing again. Default: False.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns what `fun` returns.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `inputs` or `outputs` is not an array or a container; from the returned function,
///     if an argument has no hash and is neither an array nor a known constant.
/// ValueError
///     From the returned function: if `fun` reads the value of an argument, for example by ``x.item()`` or ``if x > 0``.
///
/// See Also
/// --------
/// disable_compile, enable_compile, export_function
///
/// Notes
/// -----
/// `fun` is traced again for every new combination of the arguments' structure, shapes and dtypes, of their constants,
/// and of the default stream. Constants are numbers (by type and bits), strings, bytes, None, slices, sets, dataclasses
/// (by their fields), and other objects (by hash and equality). The 256 combinations used most recently are kept.
///
/// State that is neither an argument nor in `inputs` is fixed when `fun` is traced. Side effects other than changes to
/// `outputs` happen only while tracing. If a call raises, the state is unchanged.
///
/// If `fun` is a module or a method of one, and for modules among its arguments, the module is state without being declared:
/// each call reads and changes its arrays and `random.state`, and its other attributes, such as its training mode, are
/// constants of the call. A module in `inputs` or `outputs` is only what these declare.
///
/// With `shapeless`, a second trace at other lengths decides which axes may vary. Lengths that `fun` reads, and lengths on
/// which its graph depends in a way that cannot be determined, still cause a new trace. The results are always those of
/// `fun`.
///
/// Examples
/// --------
/// >>> @mx.compile
/// ... def f(x, y):
/// ...     print("traced")
/// ...     return mx.exp(-x) + y
/// >>> f(mx.array(0.0), mx.array(2.0))
/// traced
/// array(3, dtype=float32)
/// >>> f(mx.array(0.0), mx.array(5.0))
/// array(6, dtype=float32)
/// >>> state = {"count": mx.array(0)}
/// >>> def step(x):
/// ...     state["count"] = state["count"] + 1
/// ...     return x * state["count"]
/// >>> step = mx.compile(step, inputs=state, outputs=state)
/// >>> step(mx.array(10)).item(), step(mx.array(10)).item(), state["count"].item()
/// (10, 20, 2)
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
    let mut compiled = CompiledFunction {
        initialized: Initialized::YES,
        fun: fun.clone().unbind(),
        inputs: or_none(inputs),
        outputs: or_none(outputs),
        module: None,
        lengths: if shapeless { Lengths::Free } else { Lengths::Fixed },
        objects: Objects::new(py),
        graphs: Cache::default(),
        generic_traces: Cache::default(),
    };
    let owner = fun.getattr_opt("__self__")?.unwrap_or_else(|| fun.clone());
    if is_module(&owner) && !compiled.declares(&owner)? {
        compiled.module = Some(owner.unbind());
    }
    let declares_state = inputs.is_some() || outputs.is_some();
    let compiled = wrap_function(compiled, fun)?;
    if declares_state {
        with_state(py)?.call_method1("add", (&compiled,))?;
    }
    Ok(compiled)
}

/// The compiled functions that declare state: a `WeakSet`, which does not keep them alive.
fn with_state(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FUNCTIONS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let create = || PyResult::Ok(py.import("weakref")?.getattr("WeakSet")?.call0()?.unbind());
    Ok(FUNCTIONS.get_or_try_init(py, create)?.bind(py))
}

/// Whether a container is part of the `inputs` or `outputs` of a compiled function.
///
/// An object that holds the state replaces such a container in place, because the function knows no other.
#[pyfunction]
#[pyo3(name = "_is_declared_state")]
fn is_declared_state(container: &Bound<'_, PyAny>) -> PyResult<bool> {
    for compiled in with_state(container.py())?.try_iter()? {
        if compiled?.cast::<CompiledFunction>()?.get().declares(container)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Make compiled functions call their original function on every call.
///
/// This is for debugging: values can then be read inside a function. The setting holds for the whole process. The
/// environment variable ``UMBER_DISABLE_COMPILE`` sets it at the start.
///
/// See Also
/// --------
/// enable_compile, compile
///
/// Examples
/// --------
/// >>> f = mx.compile(lambda x: x + 1 if x > 0 else x - 1)
/// >>> mx.disable_compile()
/// >>> f(mx.array(2.0))
/// array(3, dtype=float32)
/// >>> mx.enable_compile()
#[pyfunction]
fn disable_compile() {
    compile::disable();
}

/// Make compiled functions replay their graphs, whatever ``UMBER_DISABLE_COMPILE`` says.
///
/// Reverts `disable_compile`. The setting holds for the whole process.
///
/// See Also
/// --------
/// disable_compile, compile
///
/// Examples
/// --------
/// >>> mx.enable_compile()
/// >>> mx.compile(lambda x: x + 1)(mx.array(2.0))
/// array(3, dtype=float32)
#[pyfunction]
fn enable_compile() {
    compile::enable();
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compile_function, module)?)?;
    module.add_function(wrap_pyfunction!(is_declared_state, module)?)?;
    module.add_function(wrap_pyfunction!(disable_compile, module)?)?;
    module.add_function(wrap_pyfunction!(enable_compile, module)?)
}
