//! `compile`: Python functions traced once for every structure, shapes and dtypes of their arguments.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use umber::Array;
use umber::compile::{self, Cache, CompiledGraph, Family, Traced};

use super::signature::{Objects, Signature};
use super::{Whole, check_callable, describe};
use super::{call_user, called_as};
use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::outside;
use crate::trees::{Tree, check_depth};

/// A function whose graph is recorded once and replayed.
#[pyclass(name = "CompiledFunction", module = "umber.core", frozen, dict, weakref)]
struct CompiledFunction {
    whole: Whole,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    /// State that the function reads besides its arguments.
    inputs: Py<PyAny>,
    /// State that it changes besides returning.
    outputs: Py<PyAny>,
    lengths: Lengths,
    objects: Objects,
    graphs: Cache<Answer>,
    /// Of a shapeless function: graphs with what they know of other lengths, by what calls have in common.
    families: Cache<(Family, Arc<Form>)>,
}

/// Is a function traced for every combination of lengths, or where it can for all at once?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lengths {
    Fixed,
    Free,
}

/// A graph and what becomes of the arrays it gives.
struct Answer {
    graph: CompiledGraph,
    form: Arc<Form>,
}

/// How the arrays that a graph gives are handed back.
struct Form {
    returned: Tree<()>,
    /// How many arrays are returned.
    count: usize,
    /// Where in `outputs` the state arrays go.
    state: Spot,
    /// What is no longer in `outputs` then.
    gone: Vec<Gone>,
}

impl Form {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.returned.traverse(visit)?;
        self.gone.iter().try_for_each(|gone| gone.traverse(visit))?;
        self.state.traverse(visit)
    }
}

/// Where arrays are in nested containers, as one walk meets them.
enum Spot {
    /// Here.
    Array,
    /// In what has these keys.
    Inside(Vec<(Py<PyAny>, Spot)>),
}

impl Spot {
    fn of(py: Python<'_>, places: &[Place], depth: usize) -> Spot {
        match places {
            [only] if only.path.len() == depth => Spot::Array,
            _ => {
                let same_key = |a: &Place, b: &Place| a.path[depth].is(&b.path[depth]);
                let groups = places.chunk_by(same_key);
                Spot::Inside(
                    groups
                        .map(|group| (group[0].path[depth].clone_ref(py), Spot::of(py, group, depth + 1)))
                        .collect(),
                )
            }
        }
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Spot::Array => Ok(()),
            Spot::Inside(spots) => spots.iter().try_for_each(|(key, spot)| {
                visit.call(key)?;
                spot.traverse(visit)
            }),
        }
    }

    /// Put arrays where they belong. Into a tuple they go by changing the array objects there.
    fn fill(&self, value: &Bound<'_, PyAny>, arrays: &mut std::slice::Iter<'_, Array>) -> PyResult<()> {
        let next = |arrays: &mut std::slice::Iter<'_, Array>| {
            arrays.next().expect("as many arrays as spots").clone()
        };
        match self {
            Spot::Array => value.cast::<PyArray>()?.get().set(next(arrays)),
            Spot::Inside(spots) => {
                let is_fixed = value.is_instance_of::<PyTuple>();
                for (key, spot) in spots {
                    match spot {
                        Spot::Array if !is_fixed => {
                            let array = Bound::new(value.py(), PyArray::from(next(arrays)))?;
                            set(value, key.bind(value.py()), array.as_any())?;
                        }
                        Spot::Array | Spot::Inside(_) => spot.fill(&value.get_item(key)?, arrays)?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// Put something into a container. What a class does beside when its users do so has been done while the function was
/// traced, or is none of its business, since a placeholder comes or goes: dicts are asked only for keys they lack, whose
/// order they may keep themselves.
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

/// What is in a container under a key, if anything is.
fn item<'py>(container: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
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

fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || is_state(value)
}

/// Where an array is in nested containers: keys from the root.
type Path = Vec<Py<PyAny>>;

/// An array in nested containers.
struct Place {
    path: Path,
    object: Py<PyArray>,
    /// What the object held when it was found there.
    value: Array,
}

/// Is it a state object of ours that holds one array, such as the random state?
pub(super) fn is_state(value: &Bound<'_, PyAny>) -> bool {
    value.get_type().hasattr(intern!(value.py(), "__array_state__")).unwrap_or(false)
}

/// Nested containers as they were when they were looked at.
#[derive(Default)]
struct Held {
    places: Vec<Place>,
    containers: Vec<Container>,
}

/// A container, and what it held.
struct Container {
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

impl Held {
    fn of(root: &Py<PyAny>, py: Python<'_>) -> PyResult<Held> {
        let mut held = Held::default();
        if !root.is_none(py) {
            held.find(root.bind(py), &mut Vec::new())?;
        }
        Ok(held)
    }

    fn find(&mut self, value: &Bound<'_, PyAny>, path: &mut Path) -> PyResult<()> {
        check_depth(path.len())?;
        let py = value.py();
        if let Ok(array) = value.cast::<PyArray>() {
            let path = path.iter().map(|key| key.clone_ref(py)).collect();
            self.places.push(Place { path, object: array.clone().unbind(), value: array.get().get() });
            return Ok(());
        }
        let items: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = if let Ok(dict) = value.cast::<PyDict>() {
            self.keep(value, dict.copy()?.into_any());
            dict.iter().collect()
        } else if is_container(value) {
            let items = (0..value.len()?).map(|i| value.get_item(i)).collect::<PyResult<Vec<_>>>()?;
            if !value.is_instance_of::<PyTuple>() {
                self.keep(value, PyList::new(py, &items)?.into_any());
            }
            let places = (0..items.len()).map(|i| Ok(i.into_pyobject(py)?.into_any()));
            places.zip(items).map(|(i, item)| i.map(|i| (i, item))).collect::<PyResult<_>>()?
        } else {
            return Ok(());
        };
        for (key, item) in items {
            path.push(key.unbind());
            self.find(&item, path)?;
            path.pop();
        }
        Ok(())
    }

    fn keep(&mut self, object: &Bound<'_, PyAny>, items: Bound<'_, PyAny>) {
        self.containers.push(Container { object: object.clone().unbind(), items: items.unbind() });
    }

    /// Make everything what it was, but for the containers that are among `others`.
    fn restore(&self, py: Python<'_>, others: &[Container]) -> PyResult<()> {
        let others: HashSet<_> = others.iter().map(|other| other.object.as_ptr()).collect();
        for container in self.containers.iter().filter(|own| !others.contains(&own.object.as_ptr())) {
            container.restore(py)?;
        }
        self.places.iter().for_each(|place| place.object.get().set(place.value.clone()));
        Ok(())
    }
}

/// A place that had an array before a call and has none after it.
struct Gone {
    path: Path,
    /// What is there instead, if anything is.
    left: Option<Py<PyAny>>,
}

impl Gone {
    /// Of a path from `root` that led to an array.
    fn of(root: &Bound<'_, PyAny>, path: &[Py<PyAny>]) -> PyResult<Option<Gone>> {
        let py = root.py();
        let mut value = root.clone();
        for (depth, key) in path.iter().enumerate() {
            let found = item(&value, key.bind(py))?;
            let is_end = depth + 1 == path.len();
            match found {
                Some(found) if is_end && found.is_instance_of::<PyArray>() => return Ok(None),
                Some(found) if !is_end && is_container(&found) => value = found,
                left => {
                    let path = path[..=depth].iter().map(|key| key.clone_ref(py)).collect();
                    return Ok(Some(Gone { path, left: left.map(Bound::unbind) }));
                }
            }
        }
        Ok(None)
    }

    /// Let it go from `root`, where it still is.
    fn apply(&self, root: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = root.py();
        let Some((last, before)) = self.path.split_last() else { return Ok(()) };
        let mut container = root.clone();
        for key in before {
            match item(&container, key.bind(py))? {
                Some(found) => container = found,
                None => return Ok(()),
            }
        }
        match &self.left {
            Some(left) => set(&container, last.bind(py), left.bind(py)),
            None if item(&container, last.bind(py))?.is_some() => container.del_item(last),
            None => Ok(()),
        }
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.path.iter().try_for_each(|key| visit.call(key))?;
        self.left.iter().try_for_each(|left| visit.call(left))
    }
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
    set(&container, last.bind(py), array.as_any())
}

/// Add the arrays of nested containers and how they are nested, as [`Held`] finds them.
fn gather(
    value: &Bound<'_, PyAny>,
    depth: usize,
    arrays: &mut Vec<Array>,
    signature: &mut Signature<'_>,
) -> PyResult<()> {
    if let Ok(array) = value.cast::<PyArray>() {
        arrays.push(array.get().get());
        signature.bytes.push(b'a');
        return Ok(());
    }
    check_depth(depth)?;
    if let Ok(dict) = value.cast::<PyDict>() {
        signature.bytes.push(b'{');
        for (key, item) in dict.iter() {
            let before = signature.bytes.len();
            signature.value(&key, 0)?;
            let count = arrays.len();
            gather(&item, depth + 1, arrays, signature)?;
            if arrays.len() == count {
                // Nothing there that the graph would see.
                signature.bytes.truncate(before);
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
    }
    Ok(())
}

/// A call taken apart.
struct Call {
    arguments: Tree,
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
        let named = kwargs.cloned().unwrap_or_else(|| PyDict::new(py));
        let arguments = Tree::of(PyTuple::new(py, [args.as_any(), named.as_any()])?.as_any())?;
        let mut arrays = arguments.arrays();
        let given = arrays.len();
        let mut signature = Signature::new(&self.objects);
        signature.tree(py, &arguments)?;
        if !self.inputs.is_none(py) {
            gather(self.inputs.bind(py), 0, &mut arrays, &mut signature)?;
        }
        Ok(Call { arguments, arrays, given, constants: signature.bytes })
    }

    /// Run the function on placeholders.
    fn trace(&self, py: Python<'_>, call: &Call) -> PyResult<(Traced, Form)> {
        let tracing = compile::begin(&call.arrays);
        let (arguments, rest) = tracing.trace.inputs.split_at(call.given);
        let (state, before) = (Held::of(&self.inputs, py)?, Held::of(&self.outputs, py)?);
        // Objects made from here on are the function's own.
        let own = before.places.iter().map(|place| place.object.get().address());
        let inside = outside::enter(own.collect());
        let found = self.run_traced(py, call, arguments, (&state, rest), &before);
        drop(inside);
        // Whatever happened, what the function only reads is what it was; and all of it if the call failed.
        let kept = if found.is_ok() { &before.containers[..] } else { &[] };
        state.restore(py, kept)?;
        if found.is_err() {
            before.restore(py, &[])?;
        }
        let (form, arrays) = found?;
        Ok((tracing.end(&arrays), form))
    }

    /// Call the function with placeholders, and with those of its state (behind the objects they stand for) in place.
    fn run_traced(
        &self,
        py: Python<'_>,
        call: &Call,
        arguments: &[Array],
        (state, rest): (&Held, &[Array]),
        before: &Held,
    ) -> PyResult<(Form, Vec<Array>)> {
        let (inputs, outputs) = (self.inputs.bind(py), self.outputs.bind(py));
        let given = call.arguments.rebuild(py, arguments)?;
        for (place, placeholder) in state.places.iter().zip(rest) {
            put(inputs, &place.path, Bound::new(py, PyArray::from(placeholder.clone()))?)?;
        }
        let returned = self.call_traced(py, &given)?;
        let changed = Held::of(&self.outputs, py)?.places;
        let mut arrays = returned.arrays();
        let count = arrays.len();
        arrays.extend(changed.iter().map(|place| place.value.clone()));
        let mut gone: Vec<Gone> = Vec::new();
        for place in &before.places {
            gone.extend(Gone::of(outputs, &place.path)?);
        }
        let state = Spot::of(py, &changed, 0);
        Ok((Form { returned: returned.structure(py), count, state, gone }, arrays))
    }

    fn call_traced(&self, py: Python<'_>, given: &Py<PyAny>) -> PyResult<Tree> {
        let pair = given.bind(py).cast::<PyTuple>()?;
        let (args, kwargs) = (pair.get_item(0)?, pair.get_item(1)?);
        let returned =
            call_user(self.fun.bind(py), args.cast::<PyTuple>()?.clone(), Some(kwargs.cast::<PyDict>()?))?;
        Tree::of(&returned)
    }

    /// What answers calls like this one, made if there is nothing yet.
    fn answer(&self, py: Python<'_>, call: &Call) -> PyResult<Arc<Answer>> {
        if let Some(answer) = self.graphs.find(&call.arrays, &call.constants) {
            return Ok(answer);
        }
        let keep = |answer: Answer| {
            if answer.graph.is_reusable() {
                self.graphs.keep(&call.arrays, &call.constants, answer)
            } else {
                Arc::new(answer)
            }
        };
        if self.lengths == Lengths::Fixed {
            let (traced, form) = self.trace(py, call)?;
            let graph = traced.compile().or_raise()?;
            return Ok(keep(Answer { graph, form: Arc::new(form) }));
        }
        let class = class(call);
        let family = self.families.find(&[], &class);
        if let Some(family) = &family
            && let Some(graph) = family.0.graph(&call.arrays)
        {
            return Ok(keep(Answer { graph, form: Arc::clone(&family.1) }));
        }
        let (traced, form) = self.trace(py, call)?;
        let form = Arc::new(form);
        let graph = traced.compile().or_raise()?;
        match family {
            Some(family) => family.0.learn(&traced),
            None if graph.is_reusable() => {
                self.families.keep(&[], &class, (Family::new(traced), Arc::clone(&form)));
            }
            None => {}
        }
        Ok(keep(Answer { graph, form }))
    }

    /// Hand back what a graph gave.
    fn deliver(&self, py: Python<'_>, form: &Form, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let (returned, state) = arrays.split_at(form.count);
        let outputs = self.outputs.bind(py);
        // From the end, so that what goes from a list leaves the places before it alone.
        form.gone.iter().rev().try_for_each(|gone| gone.apply(outputs))?;
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
        if !self.whole.is() {
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
        self.families.visit(|(_, form)| show(form))
    }
}

/// Refuse what cannot hold an array, which would be left out without a word.
fn check_state(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(value) = value else { return Ok(()) };
    let is_container = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyDict>();
    if is_container || value.is_instance_of::<PyArray>() || is_state(value) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "[compile] {name}: got {}, expected arrays in lists, tuples and dicts",
        value.get_type().name()?
    )))
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
        whole: Whole::YES,
        fun: fun.clone().unbind(),
        inputs: or_none(inputs),
        outputs: or_none(outputs),
        lengths: if shapeless { Lengths::Free } else { Lengths::Fixed },
        objects: Objects::new(py),
        graphs: Cache::default(),
        families: Cache::default(),
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
