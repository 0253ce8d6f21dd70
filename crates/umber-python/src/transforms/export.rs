//! `export_function`, `exporter`, `import_function`, `export_to_dot`.
//!
//! One subject: export of functions to files, callbacks and graphs; a third of the lines is documentation.

use std::cell::RefCell;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString, PyTuple};
use umber_core::compile::Traced;
use umber_core::export::{self, Exported, MlxOperation, Parameter, Signature, letters};
use umber_core::graph::program::Operand;
use umber_core::graph::tracing::Lengths;
use umber_core::ops::random;
use umber_core::transforms::Trace;
use umber_core::{Array, ArraySpec};
use umber_io::functions;

use super::reachable_modules::ReachableModules;
use super::{call_user, check_callable, grad};
use crate::array::PyArray;
use crate::dtype::PyDtype;
use crate::enter::{OrRaise, enter, to_exception};
use crate::new_array::NewArray;
use crate::pytree::Pytree;

/// The arrays of a call: positional, and by name in sorted order.
struct Call {
    positional: Vec<Array>,
    keywords: Vec<(String, Array)>,
}

impl Call {
    /// Accept separate arrays and keyword arguments, or one sequence of arrays, one dict of them, or both.
    fn of<'py>(op: &str, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Call> {
        let mut names: Vec<(String, Bound<'py, PyAny>)> = Vec::new();
        let mut push_names = |dict: &Bound<'py, PyDict>| -> PyResult<()> {
            for (name, value) in dict {
                names.push((name.extract()?, value));
            }
            Ok(())
        };
        let mut positional_args: Vec<Bound<'py, PyAny>> = args.iter().collect();
        if let Some(dict) = positional_args.last().and_then(|last| last.cast::<PyDict>().ok().cloned())
            && positional_args.len() <= 2
        {
            push_names(&dict)?;
            positional_args.pop();
        }
        if let [only] = &positional_args[..]
            && (only.is_instance_of::<PyTuple>() || only.is_instance_of::<PyList>())
        {
            positional_args = only.try_iter()?.collect::<PyResult<_>>()?;
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
        let positional = positional_args.iter().map(array).collect::<PyResult<_>>()?;
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

/// Call `fun` with placeholders, those of keyword arguments last.
fn run(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    signature: &Signature,
    arguments: &[Array],
) -> PyResult<Vec<Array>> {
    let (positional, named) = arguments.split_at(signature.positional.len());
    let to_object = |array: &Array| NewArray::from(array.clone()).object(py);
    let args = PyTuple::new(py, positional.iter().map(to_object).collect::<PyResult<Vec<_>>>()?)?;
    let kwargs = PyDict::new(py);
    for ((name, _), array) in signature.keywords.iter().zip(named) {
        kwargs.set_item(name, to_object(array)?)?;
    }
    outputs_of(&call_user(fun, args, Some(&kwargs))?)
}

/// Trace `fun` on placeholders with the specs of a call's arrays.
fn trace(py: Python<'_>, fun: &Bound<'_, PyAny>, call: &Call, shapeless: bool) -> PyResult<Exported> {
    let lengths = if shapeless { Lengths::Free } else { Lengths::Fixed };
    let modules = ReachableModules::of(fun)?;
    let random = random::state().or_raise()?;
    let updated = RefCell::new(Vec::new());
    let trace_signature = |signature: &Signature| -> PyResult<Traced> {
        let tracing = export::begin(signature, lengths);
        let outputs = run(py, fun, signature, &tracing.trace.inputs);
        updated.replace(modules.restore(py)?);
        export::end(tracing, &outputs?).or_raise()
    };
    let signature = call.signature();
    let exported = if shapeless {
        Exported::shapeless(signature, |other| trace_signature(other).map_err(Failure))
            .map_err(|failure| failure.0)?
    } else {
        let traced = trace_signature(&signature)?;
        Exported::new(signature, &traced).or_raise()?
    };
    let updated = updated.into_inner();
    if !updated.is_empty() {
        let text = format!(
            "[export_function] the function updates {}, which an imported function does not: call model.eval() \
             before the export, or return the new values",
            updated.join(", ")
        );
        warn(py, text)?;
    }
    if !random.is_same(&random::state().or_raise()?) {
        let text = "[export_function] the function draws random numbers without a key: they are the same in every call \
                    of the imported function. Call model.eval() before the export, or pass a key as an argument";
        warn(py, text.to_owned())?;
    }
    Ok(exported)
}

fn warn(py: Python<'_>, text: String) -> PyResult<()> {
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)
}

/// Error of `trace`: an exception of the traced function, or an error of umber.
struct Failure(PyErr);

impl From<umber_core::Error> for Failure {
    fn from(error: umber_core::Error) -> Failure {
        Failure(to_exception(error))
    }
}

/// Extract one array, or those of a tuple or list.
fn outputs_of(returned: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    let invalid = |what: &Bound<'_, PyAny>| -> PyErr {
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
        return Err(invalid(returned));
    }
    returned
        .try_iter()?
        .map(|item| {
            let item = item?;
            item.cast::<PyArray>().map(|array| array.get().get()).map_err(|_| invalid(&item))
        })
        .collect()
}

fn as_tuple<'py>(py: Python<'py>, arrays: &[Array]) -> PyResult<Bound<'py, PyTuple>> {
    let arrays: Vec<_> =
        arrays.iter().map(|array| NewArray::from(array.clone()).object(py)).collect::<PyResult<_>>()?;
    PyTuple::new(py, arrays)
}

/// Write the graph of a function to a file, or pass it to a callback.
///
/// Parameters
/// ----------
/// file_or_callback : path or callable
///     File to write, or a function that is called with one dict for each part of the graph.
/// fun : callable
///     Takes arrays by position or name; returns an array, or a tuple or list of arrays.
/// *args : array
///     Example arguments to trace `fun` with. One tuple or list of arrays, one dict of arrays, or both are accepted, too.
/// shapeless : bool, optional
///     Trace `fun` at other axis lengths, too, so that the imported function accepts other lengths. Default: False.
/// metadata : str, optional
///     Text to store in the file. Default: none.
/// **kwargs : array
///     Example keyword arguments.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `file_or_callback` is neither a path nor callable.
/// ValueError
///     If an argument is not an array, if `fun` returns anything but arrays, if it uses an operation that cannot be
///     exported, or if `metadata` is given with a callback.
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// import_function, exporter, export_to_dot
///
/// Notes
/// -----
/// The file is a safetensors file: arrays that `fun` captures are its tensors, the operations are in its metadata.
///
/// Modules that `fun` uses have their own arrays again after the trace. A warning says if `fun` updates them, or draws random
/// numbers without a key, as layers do in training mode: an imported function does neither.
///
/// With `shapeless`, the imported function accepts any length along the axes for which all traces agree. Lengths that
/// `fun` reads, and lengths on which its graph depends in a way that cannot be determined, stay fixed. A call with another
/// length there raises ValueError, which names the argument, the axis and both lengths.
///
/// A callback receives dicts whose ``"type"`` is ``"inputs"``, ``"keyword_inputs"``, ``"outputs"``, ``"constants"`` or, for
/// each operation, ``"primitive"``. A primitive has MLX's ``"name"`` and ``"arguments"``.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.export_function(f"{folder}/f", lambda x: mx.exp(x) + 1, mx.zeros(2), shapeless=True)
/// ...     f = mx.import_function(f"{folder}/f")
/// >>> f(mx.zeros(3))
/// (array([2, 2, 2], dtype=float32),)
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
        return report_program(py, file_or_callback, &exported);
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

/// Describe an array to a callback: its name, shape and dtype.
fn callback_entry<'py>(py: Python<'py>, slot: usize, spec: &ArraySpec) -> PyResult<Bound<'py, PyTuple>> {
    let shape = PyTuple::new(py, spec.shape.iter())?;
    let dtype = PyDtype(spec.dtype).into_pyobject(py)?;
    (letters(slot), shape, dtype).into_pyobject(py)
}

fn list<'py>(py: Python<'py>, items: Vec<Bound<'py, PyTuple>>) -> PyResult<Bound<'py, PyAny>> {
    PyList::new(py, items).map(Bound::into_any)
}

/// Report the inputs, constants, operations and outputs of a program to a callback.
fn report_program<'py>(py: Python<'py>, callback: &Bound<'py, PyAny>, exported: &Exported) -> PyResult<()> {
    let report = |kind: &str, entries: Vec<(&str, Bound<'_, PyAny>)>| -> PyResult<()> {
        let message = PyDict::new(py);
        message.set_item("type", kind)?;
        for (name, entry) in entries {
            message.set_item(name, entry)?;
        }
        callback.call1((message,)).map(|_| ())
    };
    let program = &exported.program;
    let specs: Vec<ArraySpec> =
        program.arguments.iter().cloned().chain(program.specs().or_raise()?.into_iter().flatten()).collect();
    let input_count = program.arguments.len() - exported.constants.len();
    let inputs =
        (0..input_count).map(|slot| callback_entry(py, slot, &specs[slot])).collect::<PyResult<_>>()?;
    report("inputs", vec![("inputs", list(py, inputs)?)])?;
    let first_named = exported.signature.positional.len();
    let named = exported.signature.keywords.iter().enumerate();
    let named = named
        .map(|(i, (name, _))| (name.as_str(), letters(first_named + i)).into_pyobject(py))
        .collect::<PyResult<Vec<_>>>()?;
    report("keyword_inputs", vec![("keywords", list(py, named)?)])?;
    // Scalar constants are numbered after all slots, and broadcast where they are used.
    let mut constants: Vec<(String, Array)> = exported
        .constants
        .iter()
        .enumerate()
        .map(|(i, array)| (letters(input_count + i), array.clone()))
        .collect();
    let mut steps: Vec<OperationRecord<'py>> = Vec::with_capacity(program.steps.len());
    let mut next_slot = program.slots();
    let mut operand = |operand: &Operand, steps: &mut Vec<OperationRecord<'py>>| {
        let constant = match operand {
            Operand::Slot(slot) => return callback_entry(py, *slot as usize, &specs[*slot as usize]),
            Operand::Constant(constant) => constant,
        };
        let spec = ArraySpec { shape: umber_core::Shape::scalar(), dtype: constant.0.dtype };
        let scalar = callback_entry(py, next_slot, &spec)?;
        constants.push((
            letters(next_slot),
            Array::full(umber_core::Shape::scalar(), constant.1, constant.0.dtype),
        ));
        next_slot += 1;
        if constant.0.shape.ndim() == 0 {
            return Ok(scalar);
        }
        let initialized = callback_entry(py, next_slot, &constant.0)?;
        next_slot += 1;
        let lengths = constant.0.shape.iter().map(|&length| length as i64).collect();
        let operation =
            MlxOperation { name: "Broadcast".to_owned(), parameters: vec![Parameter::Shape(lengths)] };
        steps.push(OperationRecord { operation, inputs: vec![scalar], outputs: vec![initialized.clone()] });
        Ok(initialized)
    };
    let mut next = program.arguments.len();
    for step in &program.steps {
        let inputs =
            step.inputs.iter().map(|input| operand(input, &mut steps)).collect::<PyResult<Vec<_>>>()?;
        let last = next + step.outputs as usize;
        let outputs =
            (next..last).map(|slot| callback_entry(py, slot, &specs[slot])).collect::<PyResult<Vec<_>>>()?;
        let input_specs: Vec<&ArraySpec> = step.inputs.iter().map(|input| input.spec(&specs)).collect();
        let operation = MlxOperation::of(&step.op, &input_specs, &specs[next..last]);
        next = last;
        steps.push(OperationRecord { operation, inputs, outputs });
    }
    let outputs = program.outputs.iter().map(|output| operand(output, &mut steps));
    let outputs = outputs.collect::<PyResult<Vec<_>>>()?;
    report("outputs", vec![("outputs", list(py, outputs)?)])?;
    let constants = constants
        .into_iter()
        .map(|(name, array)| (name, NewArray::from(array).object(py)?).into_pyobject(py))
        .collect::<PyResult<Vec<_>>>()?;
    report("constants", vec![("constants", list(py, constants)?)])?;
    for OperationRecord { operation, inputs, outputs } in steps {
        let parameters = operation.parameters.iter().map(|parameter| parameter_of(py, parameter));
        let entries = vec![
            ("name", PyString::new(py, &operation.name).into_any()),
            ("inputs", list(py, inputs)?),
            ("outputs", list(py, outputs)?),
            ("arguments", PyList::new(py, parameters.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        ];
        report("primitive", entries)?;
    }
    Ok(())
}

/// Description of an operation for a callback.
struct OperationRecord<'py> {
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

/// Context manager that traces a function several times and writes one file; made by `exporter`.
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     with mx.exporter(f"{folder}/f", mx.exp) as export:
/// ...         export(mx.zeros(3))
#[pyclass(name = "FunctionExporter", module = "umber.core", frozen)]
struct FunctionExporter {
    path: PathBuf,
    fun: Py<PyAny>,
    shapeless: bool,
    metadata: String,
    /// The traces so far; None after the file is written.
    traces: Mutex<Option<Vec<Exported>>>,
}

impl FunctionExporter {
    fn traces(&self) -> MutexGuard<'_, Option<Vec<Exported>>> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl FunctionExporter {
    /// Trace the function with arguments of these shapes and dtypes.
    ///
    /// Parameters
    /// ----------
    /// *args : array
    ///     Example arguments. One tuple or list of arrays, one dict of arrays, or both are accepted, too.
    /// **kwargs : array
    ///     Example keyword arguments.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     If the file is already written, or if there is already a trace for such arguments.
    /// ValueError
    ///     If an argument is not an array, if the function returns anything but arrays, or if it uses an operation that
    ///     cannot be exported.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     with mx.exporter(f"{folder}/f", mx.exp) as export:
    /// ...         export(mx.zeros(3))
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

    /// Write the file. Later calls have no effect.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     export = mx.exporter(f"{folder}/f", mx.exp)
    /// ...     export(mx.zeros(3))
    /// ...     export.close()
    /// ...     len(os.listdir(folder))
    /// 1
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(traces) = self.traces().take() else { return Ok(()) };
        enter(py, || functions::save(&self.path, &traces, &self.metadata))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Write the file, unless an exception leaves the block.
    ///
    /// Parameters
    /// ----------
    /// exc_type, exc_value, traceback : object, optional
    ///     The exception that leaves the block, as Python passes it. Default: None.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     with mx.exporter(f"{folder}/f", mx.exp) as export:
    /// ...         export(mx.zeros(3))
    /// ...     len(os.listdir(folder))
    /// 1
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

/// Return a context manager that exports a function traced with several sets of arguments to one file.
///
/// Parameters
/// ----------
/// file : path
///     File to write.
/// fun : callable
///     Takes arrays by position or name; returns an array, or a tuple or list of arrays.
/// shapeless : bool, optional
///     Trace `fun` at other axis lengths, too, as in `export_function`. Default: False.
/// metadata : str, optional
///     Text to store in the file. Default: none.
///
/// Returns
/// -------
/// FunctionExporter
///     Call it with example arguments to add a trace. The file is written at the end of the ``with`` block, unless an
///     exception leaves the block, or by its method `close`.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable, or if `file` is not a path.
///
/// See Also
/// --------
/// export_function, import_function
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     with mx.exporter(f"{folder}/f", lambda x: x * 2) as export:
/// ...         export(mx.zeros(3))
/// ...         export(mx.zeros((2, 2)))
/// ...     f = mx.import_function(f"{folder}/f")
/// >>> f(mx.ones((2, 2)))
/// (array([[2, 2],
///        [2, 2]], dtype=float32),)
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

/// Function read from a file by `import_function`.
#[pyclass(name = "ImportedFunction", module = "umber.core", frozen)]
struct ImportedFunction {
    path: PathBuf,
    traces: Arc<Vec<Exported>>,
}

/// Describe a signature in lines: the number of inputs of each kind, then each input.
fn describe_signature(signature: &Signature) -> String {
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
    /// Call the function with arrays and return its outputs.
    ///
    /// Parameters
    /// ----------
    /// *args : array
    ///     Arrays of a traced signature. One tuple or list of arrays, one dict of arrays, or both are accepted, too.
    /// **kwargs : array
    ///     Keyword arguments of that signature.
    ///
    /// Returns
    /// -------
    /// tuple of array
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no trace in the file matches the number, names, shapes and dtypes of the arguments.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     mx.export_function(f"{folder}/f", mx.exp, mx.zeros(2))
    /// ...     f = mx.import_function(f"{folder}/f")
    /// >>> f(mx.zeros(2))
    /// (array([1, 1], dtype=float32),)
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
                .map(|(i, trace)| format!(" {}. {}", i + 1, describe_signature(&trace.signature)))
                .collect();
            // If only lengths differ, name them.
            let reason = self.traces.iter().filter(|trace| trace.is_for(&signature));
            let reason = reason.filter_map(|trace| trace.refusal(&signature)).next_back();
            let reason = reason.map_or_else(String::new, |reason| format!("{reason}; "));
            return Err(PyValueError::new_err(format!(
                "[import_function::call] no imported function matches the arguments: {reason}got \
                 {}\nexpected one of\n{}",
                describe_signature(&signature),
                known.join("\n")
            )));
        };
        as_tuple(py, &trace.call(&call.arrays()).or_raise()?)
    }

    fn __repr__(&self) -> String {
        format!("<function imported from {}>", self.path.display())
    }
}

/// Read a function that `export_function` or `exporter` wrote.
///
/// Parameters
/// ----------
/// file : path
///     File to read.
/// return_metadata : bool, optional
///     Return the stored text, too. Default: False.
///
/// Returns
/// -------
/// callable or tuple of callable and str
///     Function that takes arrays by position or name (or one tuple or list, one dict, or both) and returns a tuple of
///     arrays; with `return_metadata` a pair of it and the text.
///
/// Raises
/// ------
/// TypeError
///     If `file` is not a path.
/// FileNotFoundError
///     If there is no such file.
/// ValueError
///     If the file is damaged or malicious; from the returned function, if no trace in the file matches the arguments.
///
/// See Also
/// --------
/// export_function, exporter
///
/// Examples
/// --------
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     mx.export_function(f"{folder}/f", lambda x: x * 2, mx.zeros(2), metadata="doubles")
/// ...     f, text = mx.import_function(f"{folder}/f", return_metadata=True)
/// >>> f(mx.array([1.0, 2.0])), text
/// ((array([2, 4], dtype=float32),), 'doubles')
#[pyfunction]
#[pyo3(signature = (file, return_metadata = false))]
fn import_function<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    return_metadata: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let path = path_of("import_function", file)?;
    let loaded = enter(py, || functions::load(&path))?;
    let fun = Bound::new(py, ImportedFunction { path, traces: Arc::new(loaded.traces) })?;
    if return_metadata {
        return Ok((fun, loaded.metadata).into_pyobject(py)?.into_any());
    }
    Ok(fun.into_any())
}

/// Write the graph of pending arrays, or of a function, in Graphviz's DOT language.
///
/// Parameters
/// ----------
/// file : path or text file
///     File to write: a path, or an object with a method `write` for text.
/// *args : array, pytree of arrays, or callable
///     Outputs of the graph. If the first is a function, the others are its positional arguments, and the graph of the
///     function is written.
/// **kwargs : array
///     Further outputs, shown under their names. Not allowed with a function.
///
/// Raises
/// ------
/// TypeError
///     If `file` is neither a path nor a file, or if a keyword argument is not an array or is passed with a function.
/// ValueError
///     If arguments are given but hold no arrays.
/// OSError
///     If the file cannot be written.
///
/// See Also
/// --------
/// export_function
///
/// Notes
/// -----
/// Operations are boxes with MLX's names; arrays without a name are called A, B, C, …. Operations on few elements are
/// executed eagerly and are not part of the graph of pending arrays, unless ``UMBER_EAGER=0`` is set in the environment.
/// The graph of a function contains them.
///
/// Examples
/// --------
/// >>> import io
/// >>> text = io.StringIO()
/// >>> mx.export_to_dot(text, lambda x: mx.exp(x) * 2, mx.zeros(2))
/// >>> [name in text.getvalue() for name in ("digraph", "Exp", "Multiply")]
/// [True, True, True]
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
        // Named arrays are also outputs.
        outputs.push(array.get().get());
        names.push((name.extract()?, array.get().get()));
    }
    if outputs.is_empty() && !args.is_empty() {
        return Err(PyValueError::new_err("[export_to_dot] needs at least one array"));
    }
    write_dot(file, export::to_dot(&outputs, &names))
}

/// Write the graph of a function for these arguments.
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
