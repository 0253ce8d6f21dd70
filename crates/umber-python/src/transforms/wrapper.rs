//! What the objects of transformed functions have in common: the metadata of the function, binding to instances as methods,
//! copies and pickles.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::{PyClass, PyClassInitializer};

use crate::narrow_x64::is_under_mlx;

/// The attributes that `functools.wraps` copies.
const METADATA: [&str; 6] =
    ["__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__type_params__"];

/// Create the object of a transformed function, with the metadata of `fun` as `functools.wraps` copies it.
pub(super) fn wrap_function<'py, T: PyClass + Into<PyClassInitializer<T>>>(
    object: T,
    fun: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, T>> {
    let object = Bound::new(fun.py(), object)?;
    copy_metadata(object.as_any(), fun)?;
    Ok(object)
}

/// Copy the names, the documentation and the attributes of `fun` to an object.
pub(super) fn copy_metadata(object: &Bound<'_, PyAny>, fun: &Bound<'_, PyAny>) -> PyResult<()> {
    for name in METADATA {
        if let Ok(value) = fun.getattr(name) {
            object.setattr(name, value)?;
        }
    }
    let Some(attributes) = attributes(fun) else { return Ok(()) };
    let own = object.getattr("__dict__")?.cast_into::<PyDict>()?;
    for (name, value) in attributes {
        if !name.eq("__wrapped__")? {
            own.set_item(name, value)?;
        }
    }
    Ok(())
}

/// The attributes of a function; those of other callable objects are their own state.
fn attributes<'py>(fun: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    fun.getattr("__name__").ok()?;
    fun.getattr("__dict__").ok()?.cast_into().ok()
}

/// The `repr` of a transformed function.
pub(super) fn describe(transform: &str, fun: &Py<PyAny>, py: Python<'_>) -> String {
    let name = fun.bind(py).getattr("__name__").and_then(|name| name.extract::<String>());
    format!("<{transform} of {}>", name.unwrap_or_else(|_| "a function".into()))
}

/// Bind a transformed function to an instance, as a function that is an attribute of the class.
///
/// Programs written for MLX expect that it is not bound.
pub(super) fn bind<'py>(
    function: &Bound<'py, PyAny>,
    instance: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match instance {
        Some(instance) if !is_under_mlx() => {
            METHOD.import(function.py(), "types", "MethodType")?.call1((function, instance))
        }
        _ => Ok(function.clone()),
    }
}

/// A call that creates a transformed function again.
pub(super) struct Creation<'py> {
    /// The name of the transform in `umber.core`.
    pub(super) transform: &'static str,
    /// All positional arguments.
    pub(super) args: Bound<'py, PyTuple>,
    /// Flags that are passed by name.
    pub(super) flags: &'static [&'static str],
}

/// The parts that pickle and copy need: the name of a function that is found by it, as for other functions, or else the call
/// that creates it, and the attributes that were set later.
pub(super) fn reduce<'py>(
    function: &Bound<'py, PyAny>,
    fun: &Bound<'py, PyAny>,
    call: Creation<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    if let Some(name) = global_name(function) {
        return Ok(name.into_any());
    }
    let mut transform = py.import("umber.core")?.getattr(call.transform)?;
    if !call.flags.is_empty() {
        let flags = PyDict::new(py);
        for flag in call.flags {
            flags.set_item(flag, true)?;
        }
        transform = py.import("functools")?.getattr("partial")?.call((transform,), Some(&flags))?;
    }
    let copied = attributes(fun);
    let later = PyDict::new(py);
    for (name, value) in function.getattr("__dict__")?.cast_into::<PyDict>()? {
        let is_metadata = METADATA.iter().any(|metadata| name.eq(metadata).unwrap_or(false));
        let original = copied.as_ref().map(|copied| copied.get_item(&name)).transpose()?.flatten();
        if !is_metadata && !original.is_some_and(|original| original.is(&value)) {
            later.set_item(name, value)?;
        }
    }
    let later = if later.is_empty() { py.None().into_bound(py) } else { later.into_any() };
    Ok(PyTuple::new(py, [transform, call.args.into_any(), later])?.into_any())
}

/// The qualified name by which a function is found in its module, if it is, as a decorated function.
fn global_name<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyString>> {
    let name = function.getattr("__qualname__").ok()?.cast_into::<PyString>().ok()?;
    let modules = function.py().import("sys").ok()?.getattr("modules").ok()?;
    let module = modules.get_item(function.getattr("__module__").ok()?).ok()?;
    let text = name.to_cow().ok()?;
    let found = text.split('.').try_fold(module, |object, part| object.getattr(part)).ok()?;
    found.is(function).then_some(name)
}
