//! Samples as dicts of NumPy arrays, and back.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple,
};
use umber_core::DType;
use umber_data::{Name, Sample, Value};

use super::errors::OrRaiseData;
use crate::convert;
use crate::enter::enter;
use crate::interop::Copying;
use crate::new_array::NewArray;

/// A value of a sample. Arrays are shared; numbers and lists are copied.
pub(super) fn value_of(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    if object.is_instance_of::<PyString>() {
        return Err(PyValueError::new_err("got str, expected bytes, numbers or an array; use .encode()"));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let text: &[u8] = bytes.as_bytes();
        let signed: Vec<i8> = text.iter().map(|&byte| byte as i8).collect();
        return Value::from_slice(&signed, signed.len()).or_raise(py);
    }
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        let bytes = py.get_type::<PyBytes>().call1((object,))?.cast_into::<PyBytes>()?;
        return Value::from_bytes(bytes.as_bytes()).or_raise(py);
    }
    // NumPy's float64 is a float, too.
    if object.is_instance_of::<PyFloat>() {
        return Value::scalar(object.extract::<f64>()?).or_raise(py);
    }
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        let number = object
            .extract::<i64>()
            .map_err(|_| PyValueError::new_err(format!("the integer {object} does not fit int64")))?;
        return Value::scalar(number).or_raise(py);
    }
    // Lists have the dtype that NumPy gives them. Buffers that are no arrays, such as array.array, are copied, as mlx-data does.
    let numpy;
    let array = if object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyBool>()
        || object.is_instance_of::<PyComplex>()
        || (!speaks_arrays(object)? && PyMemoryView::from(object).is_ok())
    {
        numpy = py.import("numpy")?.call_method1("array", (object,))?;
        &numpy
    } else {
        object
    };
    let Some(shared) = convert::shared(array, Copying::IfNeeded)? else {
        let class = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("got {class}, expected bytes, numbers or an array")));
    };
    let evaluated = enter(py, || {
        shared.eval()?;
        Ok(shared)
    })?;
    Value::from_array(&evaluated).or_raise(py)
}

/// Whether an object has a protocol of arrays.
fn speaks_arrays(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    for protocol in ["__array_interface__", "__dlpack__", "__array__", "__arrow_c_array__"] {
        if object.hasattr(protocol)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A sample from a dict. `stage` and `index` are for errors.
pub(super) fn sample_of(object: &Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<Sample> {
    let Ok(dict) = object.cast::<PyDict>() else {
        let class = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{}: got {class}, expected a dict", place())));
    };
    let mut sample = Sample::new();
    for (key, value) in dict {
        let Ok(key) = key.cast::<PyString>() else {
            let class = key.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{}: a key is a str, got {class}", place())));
        };
        let key = key.to_str()?;
        let value = value_of(&value).map_err(|error| {
            // The class stays, the text says where.
            let text = format!("{}, key '{key}': {}", place(), error.value(object.py()));
            PyErr::from_type(error.get_type(object.py()), text)
        })?;
        sample.set(Name::new(key), value);
    }
    Ok(sample)
}

/// Whether a view handed out is to be writable where that needs a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Views {
    /// NumPy arrays, writable exactly where nothing else sees the memory.
    AsTheyAre,
    /// NumPy arrays that are private: copied where anything else sees the memory.
    Private,
    /// Arrays of umber.
    Arrays,
}

/// An array over a value's memory.
pub(super) fn object_of(py: Python<'_>, value: Value, views: Views) -> PyResult<Bound<'_, PyAny>> {
    let value =
        if views == Views::Private && !value.is_alone() { value.copied().or_raise(py)? } else { value };
    let dtype = value.dtype();
    let array = value.into_array().or_raise(py)?;
    let array = NewArray::sharing(array).object(py)?.into_any();
    if views == Views::Arrays {
        return Ok(array);
    }
    let numpy = py.import("numpy")?;
    match dtype {
        // NumPy knows these by another package, which `__array__` asks for.
        DType::BFloat16 => array.call_method0("__array__"),
        // The buffer protocol says `long long`, which NumPy prints as a dtype of its own.
        DType::Int64 | DType::UInt64 => {
            let dtype = numpy.getattr(if dtype == DType::Int64 { "int64" } else { "uint64" })?;
            numpy.call_method1("asarray", (array,))?.call_method1("view", (dtype,))
        }
        _ => numpy.call_method1("asarray", (array,)),
    }
}

/// A dict of a sample's arrays. `is_array` tells the keys whose values are arrays of umber.
pub(super) fn dict_of(
    py: Python<'_>,
    sample: Sample,
    views: Views,
    is_array: impl Fn(&str) -> bool,
) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in sample {
        let views = if is_array(name.as_str()) { Views::Arrays } else { views };
        dict.set_item(name.as_str(), object_of(py, value, views)?)?;
    }
    Ok(dict)
}
