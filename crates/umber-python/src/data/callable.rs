//! Functions of Python in pipelines.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umber_data::operation::Interpreter;
use umber_data::random::Draw;
use umber_data::run::Context;
use umber_data::stage::{Handler, Refill, Samples};
use umber_data::{Buffer, DataError, Name, Operation, Result, Sample, fault};

use super::buffer::PyBuffer;
use super::ending::Call;
use super::errors::{carried, exception};
use super::samples::{Views, dict_of, object_of, sample_of, value_of};

/// The interpreter of Python.
pub(super) struct PythonInterpreter;

impl Interpreter for PythonInterpreter {
    fn hold(&self, body: &mut dyn FnMut()) {
        // Once the interpreter ends, nobody waits for the result.
        if let Some(_call) = Call::begin() {
            Python::try_attach(|_py| body());
        }
    }
}

static PYTHON: PythonInterpreter = PythonInterpreter;

/// Call Python from a pipeline.
pub(super) fn in_python<T>(body: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    Call::begin()
        .and_then(|_call| Python::try_attach(|py| body(py).map_err(|error| carried(py, error))))
        .unwrap_or_else(|| Err(fault!(Runtime, "the interpreter has ended")))
}

/// What stands for a function in states: its module and name.
pub(super) fn name_of(function: &Bound<'_, PyAny>) -> String {
    let text = |name: &str| function.getattr(name).and_then(|value| value.extract::<String>()).ok();
    let name = text("__qualname__").or_else(|| function.get_type().qualname().ok()?.extract().ok());
    format!("{}.{}", text("__module__").unwrap_or_default(), name.unwrap_or_default())
}

/// Raise unless `object` can be called.
pub(super) fn callable<'a, 'py>(
    op: &str,
    argument: &str,
    object: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyAny>> {
    if object.is_callable() {
        return Ok(object);
    }
    let class = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("[{op}] {argument}: got {class}, expected a function")))
}

/// `key_transform`: a function of a value.
pub(super) struct KeyTransform {
    key: Name,
    output: Option<Name>,
    function: Py<PyAny>,
    name: String,
    views: Views,
}

impl KeyTransform {
    pub(super) fn new(
        key: &str,
        function: &Bound<'_, PyAny>,
        output: Option<Name>,
        is_writable: bool,
    ) -> PyResult<KeyTransform> {
        let name = name_of(callable("key_transform", "func", function)?);
        let views = if is_writable { Views::Private } else { Views::AsTheyAre };
        Ok(KeyTransform { key: Name::new(key), output, function: function.clone().unbind(), name, views })
    }
}

impl Operation for KeyTransform {
    fn name(&self) -> &'static str {
        "key_transform"
    }

    fn arguments(&self) -> String {
        format!("{}, {}, {:?}", self.key, self.name, self.output)
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        sample.update(&self.key, self.output.as_ref(), |value| {
            in_python(|py| {
                let argument = object_of(py, value, self.views)?;
                value_of(&self.function.bind(py).call1((argument,))?)
            })
        })?;
        Ok(Some(sample))
    }

    fn interpreter(&self) -> Option<&dyn Interpreter> {
        Some(&PYTHON)
    }
}

/// `sample_transform` and `filter`: a function of a sample.
pub(super) struct SampleTransform {
    function: Py<PyAny>,
    name: String,
    kind: Kind,
}

/// What a function of a sample returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A sample.
    Sample,
    /// A sample, or `{}` to leave it out.
    SampleOrNone,
    /// Whether to keep the sample.
    Predicate,
}

impl SampleTransform {
    pub(super) fn new(op: &str, function: &Bound<'_, PyAny>, kind: Kind) -> PyResult<SampleTransform> {
        let name = name_of(callable(op, "func", function)?);
        Ok(SampleTransform { function: function.clone().unbind(), name, kind })
    }
}

impl Operation for SampleTransform {
    fn name(&self) -> &str {
        if self.kind == Kind::Predicate { "filter" } else { "sample_transform" }
    }

    fn arguments(&self) -> String {
        self.name.clone()
    }

    fn apply(&self, sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        in_python(|py| {
            let function = self.function.bind(py);
            if self.kind == Kind::Predicate {
                let argument = dict_of(py, sample.clone(), Views::AsTheyAre, |_| false)?;
                return Ok(function.call1((argument,))?.is_truthy()?.then_some(sample));
            }
            let argument = dict_of(py, sample, Views::Private, |_| false)?;
            let result = sample_of(&function.call1((argument,))?, || "the result".to_owned())?;
            Ok((self.kind == Kind::Sample || !result.is_empty()).then_some(result))
        })
    }

    fn may_drop(&self) -> bool {
        self.kind != Kind::Sample
    }

    fn interpreter(&self) -> Option<&dyn Interpreter> {
        Some(&PYTHON)
    }
}

/// A function of an error, for `on_error`.
pub(super) struct ErrorHandler(pub(super) Py<PyAny>);

impl Handler for ErrorHandler {
    fn handle(&self, error: &DataError) -> Result<Option<Sample>> {
        in_python(|py| {
            let value = exception(py, error).into_value(py);
            let result = self.0.bind(py).call1((value,))?;
            if result.is_none() {
                return Ok(None);
            }
            sample_of(&result, || "[on_error] the substitute".to_owned()).map(Some)
        })
    }

    fn interpreter(&self) -> Option<&dyn Interpreter> {
        Some(&PYTHON)
    }
}

/// A function of a buffer, for `buffered`.
pub(super) fn refill(function: &Bound<'_, PyAny>) -> Refill {
    let function = function.clone().unbind();
    Box::new(move |buffer: Buffer, context: &Context<'_>| {
        let mut result = Ok(buffer.clone());
        context.hold(&PYTHON, &mut || {
            result = in_python(|py| {
                let result = function.bind(py).call1((PyBuffer(buffer.clone()),))?;
                match result.cast::<PyBuffer>() {
                    Ok(changed) => Ok(changed.get().0.clone()),
                    Err(_) => {
                        let class = result.get_type().name()?;
                        Err(PyTypeError::new_err(format!(
                            "[buffered] on_refill returned {class}, expected a Buffer"
                        )))
                    }
                }
            });
        });
        result
    })
}

/// The samples of a Python iterable, made anew for every pass.
pub(super) struct PythonSamples {
    factory: Py<PyAny>,
    iterator: Option<Py<PyAny>>,
    name: String,
}

impl PythonSamples {
    pub(super) fn new(factory: &Bound<'_, PyAny>) -> PyResult<(PythonSamples, Arc<dyn Interpreter>)> {
        if !factory.is_callable() {
            let class = factory.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "[stream_python_iterable] iterable_factory: got {class}, expected a function that returns an iterable, such as \
                 lambda: data; every pass calls it"
            )));
        }
        let name = format!("stream_python_iterable({})", name_of(factory));
        let samples = PythonSamples { factory: factory.clone().unbind(), iterator: None, name };
        Ok((samples, Arc::new(PythonInterpreter)))
    }

    fn iterator<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.iterator.is_none() {
            let iterator = self.factory.bind(py).call0()?.try_iter()?.into_any();
            self.iterator = Some(iterator.unbind());
        }
        match &self.iterator {
            Some(iterator) => Ok(iterator.bind(py).clone()),
            None => Err(PyValueError::new_err("[stream_python_iterable] no iterator")),
        }
    }
}

impl Samples for PythonSamples {
    fn next(&mut self) -> Result<Option<Sample>> {
        in_python(|py| {
            let iterator = self.iterator(py)?;
            match iterator.cast::<pyo3::types::PyIterator>()?.clone().next() {
                Some(item) => sample_of(&item?, || "the sample".to_owned()).map(Some),
                None => Ok(None),
            }
        })
    }

    fn reset(&mut self) -> Result<()> {
        let old = self.iterator.take();
        in_python(|_py| {
            drop(old);
            Ok(())
        })
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn save(&mut self) -> Option<String> {
        let iterator = self.iterator.as_ref()?;
        in_python(|py| {
            let iterator = iterator.bind(py);
            if !iterator.hasattr("state_dict")? || !iterator.hasattr("load_state_dict")? {
                return Ok(None);
            }
            let state = iterator.call_method0("state_dict")?;
            py.import("json")?.call_method1("dumps", (state,))?.extract().map(Some)
        })
        .ok()
        .flatten()
    }

    fn load(&mut self, state: &str) -> Result<()> {
        in_python(|py| {
            let state = py.import("json")?.call_method1("loads", (state,))?;
            self.iterator(py)?.call_method1("load_state_dict", (state,)).map(drop)
        })
    }
}

/// A dict from texts to numbers, as an argument.
pub(super) fn named_numbers<'py, T>(argument: Option<&Bound<'py, PyDict>>) -> PyResult<Vec<(Name, T)>>
where
    for<'a> T: FromPyObject<'a, 'py, Error = PyErr>,
{
    let Some(dict) = argument else { return Ok(Vec::new()) };
    dict.iter()
        .map(|(key, value)| Ok((Name::new(&key.extract::<String>()?), value.extract::<T>()?)))
        .collect()
}
