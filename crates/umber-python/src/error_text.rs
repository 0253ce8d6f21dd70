//! The texts of exceptions, on their way out of a function: `[op] rule that was broken, offending values`.
//!
//! Three kinds of text come along. The framework's own begin with `[op]`, perhaps the name of another function that
//! this one is made of. What PyO3 says of a call (too many arguments, none of that name) begins with the function's
//! name. And what is said of an argument, by Python's conversions or ours, has a note with the argument's name.

use std::borrow::Cow;

use pyo3::exceptions::{
    PyBufferError, PyException, PyFileNotFoundError, PyIndexError, PyMemoryError, PyOSError, PyOverflowError,
    PyRecursionError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};

use crate::enter::{as_ours, is_own_class};

/// How PyO3 begins the note that it adds to what is said of an argument.
const NOTE: &str = "while processing '";

/// An attribute of exceptions whose text names its function: a function around that one leaves it as it is.
pub(crate) const NAMES_ITS_FUNCTION: &str = "_names_its_function";

/// What is said about a function where a call of it fails.
pub(crate) struct FunctionInfo {
    name: String,
    /// The parameters as Python writes them, without parentheses.
    parameters: String,
}

impl FunctionInfo {
    /// From the name and the documentation that begins with the signature.
    pub(crate) fn new(name: String, doc: &str) -> FunctionInfo {
        let signature = doc.split_once("\n--\n").map_or("()", |(line, _)| line.trim_start_matches(&*name));
        let inner = signature.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
        let inner =
            ["$self", "$module"].iter().fold(inner, |text, own| text.strip_prefix(own).unwrap_or(text));
        let parameters = inner.trim_start_matches(", ").to_owned();
        FunctionInfo { name, parameters }
    }

    /// The place of a parameter among the positional ones.
    fn place_of(&self, wanted: &str) -> Option<usize> {
        let mut depth = 0i32;
        let mut place = 0;
        let splits = |c: char| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            c == ',' && depth == 0
        };
        for parameter in self.parameters.split(splits) {
            let name = parameter.split('=').next().unwrap_or_default().trim();
            match name {
                "/" => {}
                _ if name.starts_with('*') => return None,
                _ if name == wanted => return Some(place),
                _ => place += 1,
            }
        }
        None
    }
}

/// Arguments by position, and by name.
type Listed<'py> = (Vec<Bound<'py, PyAny>>, Vec<(String, Bound<'py, PyAny>)>);

/// The arguments of a call.
pub(crate) struct CallArgs<'a> {
    positional: &'a [*mut PyObject],
    /// A tuple, for arguments in an array.
    names: *mut PyObject,
    /// What belongs to the names.
    values: &'a [*mut PyObject],
    /// A tuple and a dict instead of all that.
    packed: Option<(*mut PyObject, *mut PyObject)>,
}

impl CallArgs<'_> {
    /// Arguments in an array: positional ones, then those with names.
    ///
    /// # Safety
    /// As the interpreter passes them, which keeps them alive during the call.
    pub(crate) unsafe fn fast(arguments: *const *mut PyObject, count: isize, names: *mut PyObject) -> Self {
        let count = count.max(0) as usize;
        // SAFETY: `names` is nothing or a tuple; behind the positional arguments is one for each name.
        let all = unsafe {
            let named = if names.is_null() { 0 } else { ffi::PyTuple_Size(names).max(0) as usize };
            if count + named == 0 { &[] } else { std::slice::from_raw_parts(arguments, count + named) }
        };
        let (positional, values) = all.split_at(count);
        CallArgs { positional, names, values, packed: None }
    }

    /// Arguments in a tuple and a dict, which may be missing.
    ///
    /// # Safety
    /// As the interpreter passes them, which keeps them alive during the call.
    pub(crate) unsafe fn open(arguments: *mut PyObject, named: *mut PyObject) -> Self {
        CallArgs {
            positional: &[],
            names: std::ptr::null_mut(),
            values: &[],
            packed: Some((arguments, named)),
        }
    }

    /// The arguments by position and by name.
    fn unpack<'py>(&self, py: Python<'py>) -> PyResult<Listed<'py>> {
        // SAFETY: alive during the call, as `fast` and `open` ask for.
        let live = |object: &*mut PyObject| unsafe { Bound::from_borrowed_ptr_or_opt(py, *object) };
        if let Some((arguments, named)) = &self.packed {
            let positional = match live(arguments) {
                Some(tuple) => tuple.cast::<PyTuple>()?.iter().collect(),
                None => Vec::new(),
            };
            let named = match live(named) {
                Some(dict) => dict
                    .cast::<PyDict>()?
                    .iter()
                    .map(|(name, value)| Ok((name.extract()?, value)))
                    .collect::<PyResult<_>>()?,
                None => Vec::new(),
            };
            return Ok((positional, named));
        }
        let positional = self.positional.iter().filter_map(live).collect();
        let named = match live(&self.names) {
            Some(names) => names
                .cast::<PyTuple>()?
                .iter()
                .zip(self.values.iter().filter_map(live))
                .map(|(name, value)| Ok((name.extract()?, value)))
                .collect::<PyResult<_>>()?,
            None => Vec::new(),
        };
        Ok((positional, named))
    }

    /// The argument of a name.
    fn find<'py>(&self, py: Python<'py>, info: &FunctionInfo, name: &str) -> Option<Bound<'py, PyAny>> {
        let (mut positional, named) = self.unpack(py).ok()?;
        if let Some((_, value)) = named.into_iter().find(|(given, _)| given == name) {
            return Some(value);
        }
        let place = info.place_of(name)?;
        (place < positional.len()).then(|| positional.swap_remove(place))
    }

    /// How many arguments there are, and which names.
    fn describe(&self, py: Python<'_>) -> String {
        let Ok((positional, named)) = self.unpack(py) else { return "other arguments".into() };
        let count = match positional.len() {
            0 => "no positional argument".to_owned(),
            1 => "1 positional argument".to_owned(),
            count => format!("{count} positional arguments"),
        };
        if named.is_empty() {
            return count;
        }
        let names: Vec<String> = named.iter().map(|(name, _)| format!("'{name}'")).collect();
        format!("{count} and {}", names.join(", "))
    }
}

/// Rewrite the text of the exception that a call of the function has raised.
///
/// Exceptions that passed through a function written in Python are the user's and stay as they are, and so do those
/// of an evaluation, which speak of operations recorded elsewhere.
///
/// # Safety
/// The interpreter's lock is held and an exception is set.
#[cold]
pub(crate) unsafe fn rewrite_error(info: &FunctionInfo, given: CallArgs<'_>) {
    // SAFETY: as asked for. A panic is no `Exception` and goes on as it is.
    if unsafe { ffi::PyErr_ExceptionMatches(ffi::PyExc_Exception) } == 0 {
        return;
    }
    // SAFETY: as asked for.
    let Some(error) = PyErr::take(unsafe { Python::assume_attached() }) else { return };
    // PyO3 is told that the lock is held, or it would put off letting go of the exception, and so of what it refers to.
    Python::attach(|py| {
        // Whatever fails on the way leaves the text as it was.
        let error = as_ours(py, error, &info.name);
        let _ = rewrite(py, &error, info, &given);
        error.restore(py);
    });
}

/// What `body` gives; an exception that it raises leaves as if it were a function of that name.
///
/// For slots of classes, which are entered without a trampoline.
#[inline]
pub(crate) fn with_name<T>(py: Python<'_>, name: &str, body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    body().map_err(|error| rename(py, name, error))
}

#[cold]
fn rename(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let info = FunctionInfo { name: name.to_owned(), parameters: String::new() };
    let given = CallArgs { positional: &[], names: std::ptr::null_mut(), values: &[], packed: None };
    // Whatever fails on the way leaves the text as it was.
    let error = as_ours(py, error, &info.name);
    let _ = rewrite(py, &error, &info, &given);
    error
}

/// An exception that is the user's, which leaves as it is.
///
/// One with a traceback is left alone anyway; what fails before a function's first line has none.
#[cold]
pub(crate) fn mark_final(py: Python<'_>, error: PyErr) -> PyErr {
    if error.traceback(py).is_none() && !error.is_instance_of::<PyRecursionError>(py) {
        // Where it cannot be marked it is of no class that would be rewritten.
        let _ = error.value(py).setattr(NAMES_ITS_FUNCTION, true);
    }
    error
}

/// Is it one of the classes that bad input raises?
fn is_ours(py: Python<'_>, error: &PyErr) -> bool {
    let class = error.get_type(py);
    class.is(py.get_type::<PyTypeError>())
        || class.is(py.get_type::<PyValueError>())
        || class.is(py.get_type::<PyIndexError>())
        || class.is(py.get_type::<PyRuntimeError>())
        || class.is(py.get_type::<PyBufferError>())
        || class.is(py.get_type::<PyMemoryError>())
        || class.is(py.get_type::<PyOSError>())
        || class.is(py.get_type::<PyFileNotFoundError>())
        || class.is(py.get_type::<PyRecursionError>())
        || class.is(py.get_type::<PyException>())
        || is_own_class(py, &class)
}

fn rewrite(py: Python<'_>, error: &PyErr, info: &FunctionInfo, given: &CallArgs<'_>) -> PyResult<()> {
    if error.traceback(py).is_some() || !is_ours(py, error) {
        return Ok(());
    }
    let value = error.value(py);
    let words = value.getattr("args")?;
    let words = words.cast::<PyTuple>()?;
    if words.len() != 1 || !words.get_item(0)?.is_instance_of::<PyString>() {
        return Ok(());
    }
    let text: String = words.get_item(0)?.extract()?;
    if value.hasattr(NAMES_ITS_FUNCTION)? {
        return Ok(());
    }
    value.setattr(NAMES_ITS_FUNCTION, true)?;
    let argument = take_note(value)?;
    let text = match argument {
        Some(argument) => {
            let given = given.find(py, info, &argument);
            format!("[{}] {argument}: {}", info.name, reason(py, &text, error, given.as_ref()))
        }
        None => without_argument(py, &text, error, info, given),
    };
    value.setattr("args", (text,))
}

/// The name of the argument that PyO3 was reading; its note goes.
fn take_note(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Ok(notes) = value.getattr("__notes__") else { return Ok(None) };
    let notes = notes.cast::<PyList>()?;
    for (at, note) in notes.iter().enumerate() {
        let note: String = note.extract()?;
        if let Some(name) = note.strip_prefix(NOTE).and_then(|rest| rest.strip_suffix('\'')) {
            notes.del_item(at)?;
            if notes.is_empty() {
                value.delattr("__notes__")?;
            }
            // How Rust writes a name that is a word of the language.
            return Ok(Some(name.trim_start_matches("r#").to_owned()));
        }
    }
    Ok(None)
}

/// The text of an exception that is not about one argument.
fn without_argument(
    py: Python<'_>,
    text: &str,
    error: &PyErr,
    info: &FunctionInfo,
    given: &CallArgs<'_>,
) -> String {
    let name = &info.name;
    if let Some((op, rest)) = split_op(text) {
        let is_own = op == name || op.rsplit('.').next() == Some(name);
        return if is_own { text.to_owned() } else { format!("[{name}] {rest}") };
    }
    let is_call = |fault: &str| {
        ["missing ", "takes ", "got an unexpected ", "got multiple ", "got some "]
            .iter()
            .any(|start| fault.starts_with(start))
    };
    let (called, fault) = text.split_once("() ").unwrap_or((name, text));
    if error.is_instance_of::<PyTypeError>(py) && is_call(fault) {
        if called.split('.').all(|part| part != name) {
            // A function of the user's, which takes other arguments than it was given.
            return text.to_owned();
        }
        return format!("[{name}] {fault}: got {}, expected {name}({})", given.describe(py), info.parameters);
    }
    format!("[{name}] {}", reason(py, text, error, None))
}

/// The name in brackets that a text begins with, and the rest.
fn split_op(text: &str) -> Option<(&str, &str)> {
    let (op, rest) = text.strip_prefix('[')?.split_once("] ")?;
    op.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.').then_some((op, rest))
}

/// What was wrong with a value, in our words where they are Python's or PyO3's.
fn reason<'a>(
    py: Python<'_>,
    text: &'a str,
    error: &PyErr,
    value: Option<&Bound<'_, PyAny>>,
) -> Cow<'a, str> {
    let text = split_op(text).map_or(text, |(_, rest)| rest);
    if let Some(got) = text.strip_suffix(" object cannot be interpreted as an integer") {
        return format!("got {}, expected an integer", got.trim_matches('\'')).into();
    }
    if let Some((got, expected)) = text.split_once(" is not an instance of ") {
        let got = got.trim_end_matches(" object").trim_matches('\'');
        return format!("got {got}, expected {}", expected.trim_matches('\'')).into();
    }
    for (fault, expected) in
        [(" object is not callable", "a function"), (" object is not iterable", "a sequence")]
    {
        if let Some(got) = text.strip_suffix(fault) {
            return format!("got {}, expected {expected}", got.trim_matches('\'')).into();
        }
    }
    if let Some((expected, got)) =
        text.strip_prefix("expected ").and_then(|rest| rest.split_once(", but got "))
    {
        return format!("got {got}, expected {expected}").into();
    }
    if let Some(got) = text.strip_prefix("Can't extract `").and_then(|rest| rest.split('`').next()) {
        return format!("got {got}, expected a sequence").into();
    }
    if let Some(got) = text.strip_prefix("must be real number, not ") {
        return format!("got {got}, expected a number").into();
    }
    if text.starts_with("Python int too large to convert to C ") {
        let got = value.map_or_else(|| "an integer beyond 64 bits".into(), shortened);
        return format!("got {got}, expected a 64-bit integer").into();
    }
    let Some(value) = value else { return text.into() };
    if text == "out of range integral type conversion attempted" && !value.is_instance_of::<PyInt>() {
        return format!("got {}, expected integers", shortened(value)).into();
    }
    if error.is_instance_of::<PyOverflowError>(py)
        && value.is_instance_of::<PyInt>()
        && !text.contains("got ")
        && !text.contains(" does not fit ")
    {
        return format!("{} is out of range", shortened(value)).into();
    }
    text.into()
}

/// How Python writes a value, of a long text the beginning.
pub(crate) fn shortened(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 40;
    // Python refuses to write out integers of thousands of digits.
    let text = value.repr().map_or_else(|_| "an integer of many digits".into(), |text| text.to_string());
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
