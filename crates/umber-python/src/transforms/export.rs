//! `export_function`, `exporter`, `import_function`, `export_to_dot`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString, PyTuple};
use umber_core::compile::Traced;
use umber_core::export::{self, Exported, MlxOperation, Parameter, Signature, letters};
use umber_core::graph::program::Operand;
use umber_core::graph::tracing::Lengths;
use umber_core::transforms::Trace;
use umber_core::{Array, ArraySpec};
use umber_io::functions;

use super::{call_user, check_callable, grad};
use crate::array::PyArray;
use crate::dtype::PyDtype;
use crate::enter::{OrRaise, enter, to_exception};
use crate::new_array::NewArray;
use crate::pytree::Pytree;

/// The arrays of a call: by position, and by name in the order of the names.
struct Call {
    positional: Vec<Array>,
    keywords: Vec<(String, Array)>,
}

impl Call {
    /// Arrays one by one and by name, or one sequence of arrays, or one dict of them, or both.
    fn of<'py>(op: &str, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Call> {
        let mut names: Vec<(String, Bound<'py, PyAny>)> = Vec::new();
        let mut push_names = |dict: &Bound<'py, PyDict>| -> PyResult<()> {
            for (name, value) in dict {
                names.push((name.extract()?, value));
            }
            Ok(())
        };
        let mut given: Vec<Bound<'py, PyAny>> = args.iter().collect();
        if let Some(dict) = given.last().and_then(|last| last.cast::<PyDict>().ok().cloned())
            && given.len() <= 2
        {
            push_names(&dict)?;
            given.pop();
        }
        if let [only] = &given[..]
            && (only.is_instance_of::<PyTuple>() || only.is_instance_of::<PyList>())
        {
            given = only.try_iter()?.collect::<PyResult<_>>()?;
        }
        if let Some(kwargs) = kwargs {
            push_names(kwargs)?;
        }
        let array = |value: &Bound<'_, PyAny>| match value.cast::<PyArray>() {
            Ok(array) => Ok(array.get().get()),
            Err(_) => Err(PyValueError::new_err(format!(
                "[{op}] got {}, expected arrays, or one tuple and/or dict of arrays",
                value.get_type().name()?
            ))),
        };
        let positional = given.iter().map(array).collect::<PyResult<_>>()?;
        let mut keywords = names
            .iter()
            .map(|(name, value)| Ok((name.clone(), array(value)?)))
            .collect::<PyResult<Vec<_>>>()?;
        keywords.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some(pair) = keywords.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(PyTypeError::new_err(format!("[{op}] argument '{}' is given twice", pair[0].0)));
        }
        Ok(Call { positional, keywords })
    }

    fn signature(&self) -> Signature {
        Signature::of(&self.positional, &self.keywords)
    }

    fn arrays(&self) -> Vec<Array> {
        self.positional.iter().chain(self.keywords.iter().map(|(_, array)| array)).cloned().collect()
    }
}

/// What `fun` returns for placeholders, those of a call by name last.
fn run(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    signature: &Signature,
    arguments: &[Array],
) -> PyResult<Vec<Array>> {
    let (positional, named) = arguments.split_at(signature.positional.len());
    let handed = |array: &Array| NewArray::from(array.clone()).object(py);
    let args = PyTuple::new(py, positional.iter().map(handed).collect::<PyResult<Vec<_>>>()?)?;
    let kwargs = PyDict::new(py);
    for ((name, _), array) in signature.keywords.iter().zip(named) {
        kwargs.set_item(name, handed(array)?)?;
    }
    outputs_of(&call_user(fun, args, Some(&kwargs))?)
}

/// Trace `fun` on placeholders like the arrays of a call.
fn trace(py: Python<'_>, fun: &Bound<'_, PyAny>, call: &Call, shapeless: bool) -> PyResult<Exported> {
    let lengths = if shapeless { Lengths::Free } else { Lengths::Fixed };
    let follow = |signature: &Signature| -> PyResult<Traced> {
        let tracing = export::begin(signature, lengths);
        let outputs = run(py, fun, signature, &tracing.trace.inputs)?;
        export::end(tracing, &outputs).or_raise()
    };
    let signature = call.signature();
    if shapeless {
        return Exported::shapeless(signature, |other| follow(other).map_err(Failure))
            .map_err(|failure| failure.0);
    }
    let traced = follow(&signature)?;
    Exported::new(signature, &traced).or_raise()
}

/// What `trace` fails with: an error of the function that is traced, or one of umber's.
struct Failure(PyErr);

impl From<umber_core::Error> for Failure {
    fn from(error: umber_core::Error) -> Failure {
        Failure(to_exception(error))
    }
}

/// One array, or those of a tuple or list.
fn outputs_of(returned: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    let wrong = |what: &Bound<'_, PyAny>| -> PyErr {
        let name = what.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyValueError::new_err(format!(
            "[export_function] the function returned {name}, expected a single array, or a tuple or list of \
             arrays"
        ))
    };
    if let Ok(array) = returned.cast::<PyArray>() {
        return Ok(vec![array.get().get()]);
    }
    if !returned.is_instance_of::<PyTuple>() && !returned.is_instance_of::<PyList>() {
        return Err(wrong(returned));
    }
    returned
        .try_iter()?
        .map(|item| {
            let item = item?;
            item.cast::<PyArray>().map(|array| array.get().get()).map_err(|_| wrong(&item))
        })
        .collect()
}

fn as_tuple<'py>(py: Python<'py>, arrays: &[Array]) -> PyResult<Bound<'py, PyTuple>> {
    let arrays: Vec<_> =
        arrays.iter().map(|array| NewArray::from(array.clone()).object(py)).collect::<PyResult<_>>()?;
    PyTuple::new(py, arrays)
}

/// Write the graph of `fun` to a file, or hand it to a callback.
///
/// `fun` takes arrays, by position or name, and returns an array or a tuple or list of arrays; it is traced once with
/// arrays like those given. With `shapeless` it is traced at some other lengths, too, and the function that is imported
/// takes any along the axes for which all traces agree. Lengths that `fun` reads, and those on which its graph depends in
/// ways that cannot be told, stay as they are: a call with another one raises ValueError, which names the argument, the
/// axis and both lengths. `metadata` is a text kept beside the function. The file is a safetensors file: what the
/// function captured are its tensors, and its steps are in its metadata. A callback is called with dictionaries whose
/// `type` is `inputs`, `keyword_inputs`, `outputs`, `constants` and, for every operation, `primitive`, with the `name` and
/// the `arguments` that MLX gives it.
///
/// Raises ValueError where `fun` returns anything else, or an operation cannot be kept.
#[pyfunction]
#[pyo3(signature = (file_or_callback, fun, *args, shapeless = false, metadata = None, **kwargs))]
fn export_function(
    py: Python<'_>,
    file_or_callback: &Bound<'_, PyAny>,
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    shapeless: bool,
    metadata: Option<String>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    check_callable("export_function", fun)?;
    let call = Call::of("export_function", args, kwargs)?;
    if file_or_callback.is_callable() {
        if metadata.is_some() {
            return Err(PyValueError::new_err("[export_function] metadata requires a path, not a callback"));
        }
        let exported = trace(py, fun, &call, shapeless)?;
        return tell(py, file_or_callback, &exported);
    }
    let path = path_of("export_function", file_or_callback)?;
    let exported = trace(py, fun, &call, shapeless)?;
    let metadata = metadata.unwrap_or_default();
    enter(py, move || functions::save(&path, &[exported], &metadata))
}

fn path_of(op: &str, file: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    file.extract().map_err(|_| {
        let name = file.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("[{op}] got {name}, expected the path of a file"))
    })
}

/// An array in what a callback hears: its name, shape and dtype.
fn callback_entry<'py>(py: Python<'py>, slot: usize, spec: &ArraySpec) -> PyResult<Bound<'py, PyTuple>> {
    let shape = PyTuple::new(py, spec.shape.iter())?;
    let dtype = PyDtype(spec.dtype).into_pyobject(py)?;
    (letters(slot), shape, dtype).into_pyobject(py)
}

fn list<'py>(py: Python<'py>, items: Vec<Bound<'py, PyTuple>>) -> PyResult<Bound<'py, PyAny>> {
    PyList::new(py, items).map(Bound::into_any)
}

/// Tell a callback about every part of a program.
fn tell<'py>(py: Python<'py>, callback: &Bound<'py, PyAny>, exported: &Exported) -> PyResult<()> {
    let say = |kind: &str, entries: Vec<(&str, Bound<'_, PyAny>)>| -> PyResult<()> {
        let told = PyDict::new(py);
        told.set_item("type", kind)?;
        for (name, entry) in entries {
            told.set_item(name, entry)?;
        }
        callback.call1((told,)).map(|_| ())
    };
    let program = &exported.program;
    let specs: Vec<ArraySpec> =
        program.arguments.iter().cloned().chain(program.specs().or_raise()?.into_iter().flatten()).collect();
    let given = program.arguments.len() - exported.constants.len();
    let inputs = (0..given).map(|slot| callback_entry(py, slot, &specs[slot])).collect::<PyResult<_>>()?;
    say("inputs", vec![("inputs", list(py, inputs)?)])?;
    let first_named = exported.signature.positional.len();
    let named = exported.signature.keywords.iter().enumerate();
    let named = named
        .map(|(i, (name, _))| (name.as_str(), letters(first_named + i)).into_pyobject(py))
        .collect::<PyResult<Vec<_>>>()?;
    say("keyword_inputs", vec![("keywords", list(py, named)?)])?;
    // Constants of the program come after all of its slots: scalars, which are broadcast where they are read.
    let mut constants: Vec<(String, Array)> =
        exported.constants.iter().enumerate().map(|(i, array)| (letters(given + i), array.clone())).collect();
    let mut steps: Vec<Recorded<'py>> = Vec::with_capacity(program.steps.len());
    let mut more = program.slots();
    let mut operand = |operand: &Operand, steps: &mut Vec<Recorded<'py>>| {
        let constant = match operand {
            Operand::Slot(slot) => return callback_entry(py, *slot as usize, &specs[*slot as usize]),
            Operand::Constant(constant) => constant,
        };
        let spec = ArraySpec { shape: umber_core::Shape::scalar(), dtype: constant.0.dtype };
        let scalar = callback_entry(py, more, &spec)?;
        constants
            .push((letters(more), Array::full(umber_core::Shape::scalar(), constant.1, constant.0.dtype)));
        more += 1;
        if constant.0.shape.ndim() == 0 {
            return Ok(scalar);
        }
        let initialized = callback_entry(py, more, &constant.0)?;
        more += 1;
        let lengths = constant.0.shape.iter().map(|&length| length as i64).collect();
        let operation =
            MlxOperation { name: "Broadcast".to_owned(), parameters: vec![Parameter::Shape(lengths)] };
        steps.push(Recorded { operation, inputs: vec![scalar], outputs: vec![initialized.clone()] });
        Ok(initialized)
    };
    let mut next = program.arguments.len();
    for step in &program.steps {
        let inputs =
            step.inputs.iter().map(|input| operand(input, &mut steps)).collect::<PyResult<Vec<_>>>()?;
        let last = next + step.outputs as usize;
        let outputs =
            (next..last).map(|slot| callback_entry(py, slot, &specs[slot])).collect::<PyResult<Vec<_>>>()?;
        let given: Vec<&ArraySpec> = step.inputs.iter().map(|input| input.spec(&specs)).collect();
        let operation = MlxOperation::of(&step.op, &given, &specs[next..last]);
        next = last;
        steps.push(Recorded { operation, inputs, outputs });
    }
    let outputs = program.outputs.iter().map(|output| operand(output, &mut steps));
    let outputs = outputs.collect::<PyResult<Vec<_>>>()?;
    say("outputs", vec![("outputs", list(py, outputs)?)])?;
    let constants = constants
        .into_iter()
        .map(|(name, array)| (name, NewArray::from(array).object(py)?).into_pyobject(py))
        .collect::<PyResult<Vec<_>>>()?;
    say("constants", vec![("constants", list(py, constants)?)])?;
    for Recorded { operation, inputs, outputs } in steps {
        let parameters = operation.parameters.iter().map(|parameter| parameter_of(py, parameter));
        let entries = vec![
            ("name", PyString::new(py, &operation.name).into_any()),
            ("inputs", list(py, inputs)?),
            ("outputs", list(py, outputs)?),
            ("arguments", PyList::new(py, parameters.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        ];
        say("primitive", entries)?;
    }
    Ok(())
}

/// An operation as a callback is told of it.
struct Recorded<'py> {
    operation: MlxOperation,
    inputs: Vec<Bound<'py, PyTuple>>,
    outputs: Vec<Bound<'py, PyTuple>>,
}

fn parameter_of<'py>(py: Python<'py>, parameter: &Parameter) -> PyResult<Bound<'py, PyAny>> {
    Ok(match parameter {
        Parameter::Int(value) => value.into_pyobject(py)?.into_any(),
        Parameter::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Parameter::Float(value) => PyFloat::new(py, *value).into_any(),
        Parameter::List(values) => PyList::new(py, values)?.into_any(),
        Parameter::Shape(values) => PyTuple::new(py, values)?.into_any(),
        Parameter::Dtype(dtype) => PyDtype(*dtype).into_pyobject(py)?.into_any(),
        Parameter::Text(text) => PyString::new(py, text).into_any(),
    })
}

/// Traces one function several times, then writes a file: a context manager, made by `exporter`.
#[pyclass(name = "FunctionExporter", module = "umber.core", frozen)]
struct FunctionExporter {
    path: PathBuf,
    fun: Py<PyAny>,
    shapeless: bool,
    metadata: String,
    /// The traces so far; none once the file is written.
    traces: Mutex<Option<Vec<Exported>>>,
}

impl FunctionExporter {
    fn traces(&self) -> MutexGuard<'_, Option<Vec<Exported>>> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl FunctionExporter {
    /// Trace the function with arrays like these.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let closed = || PyRuntimeError::new_err("[export_function] the file is already written");
        let call = Call::of("export_function", args, kwargs)?;
        let signature = call.signature();
        match &*self.traces() {
            None => return Err(closed()),
            Some(traces) => {
                if traces.iter().any(|trace| trace.answers(&signature)) {
                    return Err(PyRuntimeError::new_err(
                        "[export_function] the function was already exported with this signature",
                    ));
                }
            }
        }
        let exported = trace(py, self.fun.bind(py), &call, self.shapeless)?;
        match &mut *self.traces() {
            None => Err(closed()),
            Some(traces) => {
                traces.push(exported);
                Ok(())
            }
        }
    }

    /// Write the file. Later calls do nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(traces) = self.traces().take() else { return Ok(()) };
        enter(py, || functions::save(&self.path, &traces, &self.metadata))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Write the file, unless an error leaves the block.
    #[pyo3(signature = (exc_type = None, exc_value = None, traceback = None))]
    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: Option<&Bound<'_, PyAny>>,
        exc_value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (exc_value, traceback);
        if exc_type.is_some() {
            *self.traces() = None;
            return Ok(());
        }
        self.close(py)
    }
}

/// An object that traces `fun` at every call, for several signatures, and writes them to one file when it is closed.
///
/// Use it in a `with` block; if an error leaves the block, no file is written. The parameters are those of
/// `export_function`.
#[pyfunction]
#[pyo3(signature = (file, fun, *, shapeless = false, metadata = None))]
fn exporter(
    file: &Bound<'_, PyAny>,
    fun: &Bound<'_, PyAny>,
    shapeless: bool,
    metadata: Option<String>,
) -> PyResult<FunctionExporter> {
    check_callable("exporter", fun)?;
    Ok(FunctionExporter {
        path: path_of("exporter", file)?,
        fun: fun.clone().unbind(),
        shapeless,
        metadata: metadata.unwrap_or_default(),
        traces: Mutex::new(Some(Vec::new())),
    })
}

/// A function read from a file.
#[pyclass(name = "ImportedFunction", module = "umber.core", frozen)]
struct ImportedFunction {
    path: PathBuf,
    traces: Arc<Vec<Exported>>,
}

/// The lines that describe a call: how many arguments of each kind, and each.
fn listed(signature: &Signature) -> String {
    use std::fmt::Write;
    let mut text = format!(
        "{} positional inputs and {} keyword inputs:",
        signature.positional.len(),
        signature.keywords.len()
    );
    for (i, spec) in signature.positional.iter().enumerate() {
        let _ = write!(text, "\n  {}: {} {}", i + 1, spec.shape, spec.dtype);
    }
    for (name, spec) in &signature.keywords {
        let _ = write!(text, "\n  \"{name}\": {} {}", spec.shape, spec.dtype);
    }
    text
}

#[pymethods]
impl ImportedFunction {
    /// The outputs, a tuple of arrays.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let call = Call::of("import_function::call", args, kwargs)?;
        let signature = call.signature();
        let Some(trace) = self.traces.iter().find(|trace| trace.answers(&signature)) else {
            let known: Vec<String> = self
                .traces
                .iter()
                .enumerate()
                .map(|(i, trace)| format!(" {}. {}", i + 1, listed(&trace.signature)))
                .collect();
            // Where only lengths are wrong, which.
            let reason = self.traces.iter().filter(|trace| trace.is_for(&signature));
            let reason = reason.filter_map(|trace| trace.refusal(&signature)).next_back();
            let reason = reason.map_or_else(String::new, |reason| format!("{reason}; "));
            return Err(PyValueError::new_err(format!(
                "[import_function::call] no imported function matches the arguments: {reason}got \
                 {}\nexpected one of\n{}",
                listed(&signature),
                known.join("\n")
            )));
        };
        as_tuple(py, &trace.call(&call.arrays()).or_raise()?)
    }

    fn __repr__(&self) -> String {
        format!("<function imported from {}>", self.path.display())
    }
}

/// The function that `export_function` or an `exporter` wrote to `file`; it returns a tuple of arrays.
///
/// It is called with arrays by position and name, or with one tuple and/or one dictionary of arrays. With
/// `return_metadata` also the text that was saved beside it. A file that is damaged, or made to do harm, raises
/// ValueError.
#[pyfunction]
#[pyo3(signature = (file, return_metadata = false))]
fn import_function<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    return_metadata: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let path = path_of("import_function", file)?;
    let read = enter(py, || functions::load(&path))?;
    let fun = Bound::new(py, ImportedFunction { path, traces: Arc::new(read.traces) })?;
    if return_metadata {
        return Ok((fun, read.metadata).into_pyobject(py)?.into_any());
    }
    Ok(fun.into_any())
}

/// Write the graph behind arrays in the language of Graphviz.
///
/// `args` and `kwargs` are the outputs: arrays, or nested lists, tuples and dicts of them, and arrays by name. Arrays
/// without a name are called A, B, C, …; operations are called as in MLX. `file` is a path or an open text file.
/// Operations on a few elements are computed as they are written, and are not in the graph, unless `UMBER_EAGER=0` is in
/// the environment. Those of a function are: `export_to_dot(file, f, x)` writes the graph of `f(x)`.
#[pyfunction]
#[pyo3(signature = (file, *args, **kwargs))]
fn export_to_dot(
    file: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    if let Ok(fun) = args.get_item(0)
        && fun.is_callable()
        && Pytree::of(&fun)?.arrays().is_empty()
    {
        if kwargs.is_some_and(|names| !names.is_empty()) {
            return Err(PyTypeError::new_err("[export_to_dot] arguments of the function must be positional"));
        }
        return function_to_dot(file, &fun, args.get_slice(1, args.len()).as_any());
    }
    let mut outputs = Vec::new();
    for arg in args {
        let tree = Pytree::of(&arg)?;
        tree.visit(&mut |leaf| {
            if let Pytree::Array(array) = leaf {
                outputs.push(array.get().get());
            }
        });
    }
    let mut names = Vec::new();
    for (name, value) in kwargs.into_iter().flatten() {
        let Ok(array) = value.cast::<PyArray>() else {
            return Err(PyTypeError::new_err(format!(
                "[export_to_dot] {name}: got {}, expected an array",
                value.get_type().name()?
            )));
        };
        // What is named is drawn, too.
        outputs.push(array.get().get());
        names.push((name.extract()?, array.get().get()));
    }
    if outputs.is_empty() && !args.is_empty() {
        return Err(PyValueError::new_err("[export_to_dot] needs at least one array"));
    }
    write_dot(file, export::to_dot(&outputs, &names))
}

/// Write the graph of a function of these arguments.
fn function_to_dot(file: &Bound<'_, PyAny>, fun: &Bound<'_, PyAny>, args: &Bound<'_, PyAny>) -> PyResult<()> {
    let primals = grad::primals("export_to_dot", args)?;
    let trace = Trace::with_data(&primals.tree.arrays()).or_raise()?;
    let (returned, _substitution) = primals.call(fun, &trace.inputs)?;
    let (outputs, _) = grad::outputs("export_to_dot", returned, false)?;
    write_dot(file, export::to_dot(&outputs.arrays(), &[]))
}

fn write_dot(file: &Bound<'_, PyAny>, text: String) -> PyResult<()> {
    if file.hasattr("write")? {
        return file.call_method1("write", (text,)).map(|_| ());
    }
    let path = path_of("export_to_dot", file)?;
    std::fs::write(&path, text).map_err(|error| {
        pyo3::exceptions::PyOSError::new_err(format!("[export_to_dot] {}: {error}", path.display()))
    })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FunctionExporter>()?;
    module.add_function(wrap_pyfunction!(export_function, module)?)?;
    module.add_function(wrap_pyfunction!(exporter, module)?)?;
    module.add_function(wrap_pyfunction!(import_function, module)?)?;
    module.add_function(wrap_pyfunction!(export_to_dot, module)?)
}
