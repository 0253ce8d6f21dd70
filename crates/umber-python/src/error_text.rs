//! Rewriting of exception messages when they leave a function: `[op] rule that was broken, offending values`.
//!
//! There are three kinds of message. umber's own begin with `[op]`, possibly the name of another function that this one calls.
//! PyO3's messages about a call (too many arguments, unknown keyword) begin with the function's name. Messages about one
//! argument, by Python's conversions or umber's, carry a note with the argument's name.

use std::borrow::Cow;

use pyo3::exceptions::{
    PyBufferError, PyException, PyFileNotFoundError, PyIndexError, PyMemoryError, PyOSError, PyOverflowError,
    PyRecursionError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};

use crate::enter::{as_ours, is_own_class};

/// The prefix of the note that PyO3 adds to an exception about an argument.
const NOTE: &str = "while processing '";

/// An attribute of exceptions whose message already names its function: calling functions leave the message unchanged.
pub(crate) const NAMES_ITS_FUNCTION: &str = "_names_its_function";

/// The description of a function in messages about failed calls.
pub(crate) struct FunctionInfo {
    name: String,
    /// The parameter list in Python's syntax, without parentheses.
    parameters: String,
}

impl FunctionInfo {
    /// Create from the name and the docstring, which begins with the signature.
    pub(crate) fn new(name: String, doc: &str) -> FunctionInfo {
        let signature = doc.split_once("\n--\n").map_or("()", |(line, _)| line.trim_start_matches(&*name));
        let inner = signature.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
        let inner =
            ["$self", "$module"].iter().fold(inner, |text, own| text.strip_prefix(own).unwrap_or(text));
        let parameters = inner.trim_start_matches(", ").to_owned();
        FunctionInfo { name, parameters }
    }

    /// The index of a parameter among the positional ones.
    fn position_of(&self, parameter_name: &str) -> Option<usize> {
        let mut depth = 0i32;
        let mut position = 0;
        let splits = |c: char| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            c == ',' && depth == 0
        };
        for parameter in self.parameters.split(splits) {
            let name = parameter.split('=').next().unwrap_or_default().trim();
            match name {
                "/" => {}
                _ if name.starts_with('*') => return None,
                _ if name == parameter_name => return Some(position),
                _ => position += 1,
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
    /// The keyword names, a tuple or null, in the vectorcall convention.
    names: *mut PyObject,
    /// The values of the keyword arguments.
    values: &'a [*mut PyObject],
    /// A tuple and a dict (either may be null), instead of the fields above.
    packed: Option<(*mut PyObject, *mut PyObject)>,
}

impl CallArgs<'_> {
    /// Arguments in the vectorcall convention: an array of the positional ones, followed by the values of keywords.
    ///
    /// # Safety
    /// The arguments are those that the interpreter passes to a vectorcall function; it keeps them alive during the call.
    pub(crate) unsafe fn fast(arguments: *const *mut PyObject, count: isize, names: *mut PyObject) -> Self {
        let count = count.max(0) as usize;
        // SAFETY: `names` is null or a tuple, and the array has one value for each name after the positional arguments.
        let all = unsafe {
            let named = if names.is_null() { 0 } else { ffi::PyTuple_Size(names).max(0) as usize };
            if count + named == 0 { &[] } else { std::slice::from_raw_parts(arguments, count + named) }
        };
        let (positional, values) = all.split_at(count);
        CallArgs { positional, names, values, packed: None }
    }

    /// Arguments in a tuple and a dict, each of which may be null.
    ///
    /// # Safety
    /// The arguments are those that the interpreter passes to a `METH_VARARGS` function; it keeps them alive during the call.
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
        // SAFETY: the interpreter keeps the arguments alive during the call, as `fast` and `open` require.
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

    /// The value of a parameter, passed by keyword or by position.
    fn find<'py>(&self, py: Python<'py>, info: &FunctionInfo, name: &str) -> Option<Bound<'py, PyAny>> {
        let (mut positional, named) = self.unpack(py).ok()?;
        if let Some((_, value)) = named.into_iter().find(|(keyword, _)| keyword == name) {
            return Some(value);
        }
        let position = info.position_of(name)?;
        (position < positional.len()).then(|| positional.swap_remove(position))
    }

    /// The number of positional arguments and the names of the keywords, for a message.
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

/// Rewrite the message of the exception that a call of the function has raised.
///
/// Exceptions that passed through a function written in Python are the user's and stay unchanged, and so do those of an
/// evaluation, which are about operations recorded elsewhere.
///
/// # Safety
/// The GIL is held and an exception is set.
#[cold]
pub(crate) unsafe fn rewrite_error(info: &FunctionInfo, args: CallArgs<'_>) {
    // SAFETY: the caller holds the GIL. PyO3's exception for a panic is no subclass of `Exception` and is left unchanged.
    if unsafe { ffi::PyErr_ExceptionMatches(ffi::PyExc_Exception) } == 0 {
        return;
    }
    // SAFETY: the caller holds the GIL.
    let Some(error) = PyErr::take(unsafe { Python::assume_attached() }) else { return };
    // `attach` tells PyO3 that the GIL is held; otherwise it would defer dropping the exception and the objects it refers to.
    Python::attach(|py| {
        // If rewriting fails, the message stays unchanged.
        let error = as_ours(py, error, &info.name);
        let _ = rewrite(py, &error, info, &args);
        error.restore(py);
    });
}

/// Run `body` and rewrite its exception as that of a function called `name`.
///
/// For slots of classes, which have no trampoline.
#[inline]
pub(crate) fn with_name<T>(py: Python<'_>, name: &str, body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    body().map_err(|error| rename(py, name, error))
}

#[cold]
fn rename(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let info = FunctionInfo { name: name.to_owned(), parameters: String::new() };
    let args = CallArgs { positional: &[], names: std::ptr::null_mut(), values: &[], packed: None };
    // If rewriting fails, the message stays unchanged.
    let error = as_ours(py, error, &info.name);
    let _ = rewrite(py, &error, &info, &args);
    error
}

/// Mark an exception of the user's code, so that its message is not rewritten.
///
/// One with a traceback is not rewritten anyway; an error before the first line of a function has none.
#[cold]
pub(crate) fn mark_final(py: Python<'_>, error: PyErr) -> PyErr {
    if error.traceback(py).is_none() && !error.is_instance_of::<PyRecursionError>(py) {
        // An exception without attributes is of no class that is rewritten.
        let _ = error.value(py).setattr(NAMES_ITS_FUNCTION, true);
    }
    error
}

/// Whether it is one of the classes that invalid input raises.
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

fn rewrite(py: Python<'_>, error: &PyErr, info: &FunctionInfo, args: &CallArgs<'_>) -> PyResult<()> {
    if error.traceback(py).is_some() || !is_ours(py, error) {
        return Ok(());
    }
    let value = error.value(py);
    let exception_args = value.getattr("args")?;
    let exception_args = exception_args.cast::<PyTuple>()?;
    if exception_args.len() != 1 || !exception_args.get_item(0)?.is_instance_of::<PyString>() {
        return Ok(());
    }
    let text: String = exception_args.get_item(0)?.extract()?;
    if value.hasattr(NAMES_ITS_FUNCTION)? {
        return Ok(());
    }
    value.setattr(NAMES_ITS_FUNCTION, true)?;
    let argument = take_note(value)?;
    let text = match argument {
        Some(argument) => {
            let value = args.find(py, info, &argument);
            format!("[{}] {argument}: {}", info.name, reason(py, &text, error, value.as_ref()))
        }
        None => without_argument(py, &text, error, info, args),
    };
    value.setattr("args", (text,))
}

/// The name of the argument that PyO3 was converting; removes its note.
fn take_note(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Ok(notes) = value.getattr("__notes__") else { return Ok(None) };
    let notes = notes.cast::<PyList>()?;
    for (index, note) in notes.iter().enumerate() {
        let note: String = note.extract()?;
        if let Some(name) = note.strip_prefix(NOTE).and_then(|rest| rest.strip_suffix('\'')) {
            notes.del_item(index)?;
            if notes.is_empty() {
                value.delattr("__notes__")?;
            }
            // A raw identifier of Rust.
            return Ok(Some(name.trim_start_matches("r#").to_owned()));
        }
    }
    Ok(None)
}

/// The message of an exception that is not about one argument.
fn without_argument(
    py: Python<'_>,
    text: &str,
    error: &PyErr,
    info: &FunctionInfo,
    args: &CallArgs<'_>,
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
            // A call of a function of the user's with wrong arguments.
            return text.to_owned();
        }
        return format!("[{name}] {fault}: got {}, expected {name}({})", args.describe(py), info.parameters);
    }
    format!("[{name}] {}", reason(py, text, error, None))
}

/// The name in brackets at the beginning of a message, and the rest.
fn split_op(text: &str) -> Option<(&str, &str)> {
    let (op, rest) = text.strip_prefix('[')?.split_once("] ")?;
    op.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.').then_some((op, rest))
}

/// The reason why a value was rejected, with messages of Python and PyO3 rewritten in umber's style.
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
    if let Some(range) = text.strip_prefix("integer does not fit ") {
        return format!("{} does not fit {range}", shortened(value)).into();
    }
    if error.is_instance_of::<PyOverflowError>(py)
        && value.is_instance_of::<PyInt>()
        && !text.contains("got ")
    {
        return format!("{} is out of range", shortened(value)).into();
    }
    text.into()
}

/// The `repr` of a value, truncated.
pub(crate) fn shortened(value: &Bound<'_, PyAny>) -> String {
    const MAX_CHARS: usize = 40;
    // Python raises for the `repr` of an integer of thousands of digits.
    let text = value.repr().map_or_else(|_| "an integer of many digits".into(), |text| text.to_string());
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
