//! What the array API standard asks of the array's class and of its module: where an array is, which namespace it
//! belongs to, what can be asked of that, and operators in place that keep dtype and shape.

use std::cell::Cell;
use umber_core::types::error;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umber_core::{Array, DType, Stream, device, ops};

use crate::args::{DeviceArg, StreamArg, placed};
use crate::array::PyArray;
use crate::dtype::PyDtype;
use crate::enter::{OrRaise, to_exception};
use crate::new_array::NewArray;
use crate::ops::is_kind;
use crate::streams::{PyDevice, PyStream};

/// The newest version of the standard that is spoken.
const VERSION: &str = "2025.12";
/// The module that knows the versions of the one that answers as the standard says.
const VERSIONS: &str = "umber.array_api._versions";

#[pymethods]
impl PyArray {
    /// The module of functions that the array API standard asks for, as a version of it says: `umber.array_api`.
    #[pyo3(signature = (api_version = None))]
    fn __array_namespace__<'py>(
        slf: &Bound<'py, Self>,
        api_version: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import(VERSIONS)?.call_method1("namespace", (api_version,))
    }

    /// The device whose memory the array is in.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.get().device())
    }

    /// The array in the memory of `device`: itself where that is the one it is in.
    ///
    /// The transfer goes to `stream`, else to the default stream of the device.
    #[pyo3(signature = (device, /, *, stream = None))]
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: DeviceArg,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stream = match stream {
            Some(stream) => match stream.cast::<PyStream>() {
                Ok(stream) => Some(StreamArg(stream.get().0)),
                Err(_) => {
                    return Err(PyTypeError::new_err(format!(
                        "[to_device] got {} as stream, expected a Stream",
                        stream.get_type().name()?
                    )));
                }
            },
            None => None,
        };
        let array = slf.get().get();
        let stream = placed("to_device", stream, Some(device))?.map_or(Stream::CPU, |stream| stream.0);
        let moved = ops::to_stream(&array, stream).or_raise()?;
        if moved.is_same(&array) {
            return Ok(slf.clone().into_any());
        }
        Ok(NewArray::from(moved).object(slf.py())?.into_any())
    }
}

/// What can be asked of a namespace of the array API standard.
#[pyclass(name = "ArrayNamespaceInfo", module = "umber.core", frozen, subclass)]
struct NamespaceInfo;

/// The dtypes that the standard knows.
const STANDARD: [DType; 13] = [
    DType::Bool,
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
];

/// Is the dtype of a kind of the standard: one by name, or any of a tuple of names?
fn is_any_kind(dtype: DType, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(kinds) = kind.cast::<PyTuple>() else { return is_kind("dtypes", dtype, kind) };
    kinds.iter().try_fold(false, |found, kind| Ok(found | is_kind("dtypes", dtype, &kind)?))
}

#[pymethods]
impl NamespaceInfo {
    #[new]
    fn new() -> NamespaceInfo {
        NamespaceInfo
    }

    /// What the namespace can do: a dict of "boolean indexing", "data-dependent shapes" and "max dimensions".
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        found.set_item("boolean indexing", true)?;
        found.set_item("data-dependent shapes", true)?;
        // Memory is the only bound.
        found.set_item("max dimensions", py.None())?;
        Ok(found)
    }

    /// The device that arrays are made on.
    fn default_device(&self) -> PyDevice {
        PyDevice(device::default_device())
    }

    /// The dtypes that arrays have where none is given, by kind; "indexing" is that of indices.
    #[pyo3(signature = (*, device = None))]
    fn default_dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<DeviceArg>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let found = PyDict::new(py);
        found.set_item("real floating", PyDtype(DType::Float32))?;
        found.set_item("complex floating", PyDtype(DType::Complex64))?;
        found.set_item("integral", PyDtype(DType::Int32))?;
        found.set_item("indexing", PyDtype(DType::UInt32))?;
        Ok(found)
    }

    /// The devices that there are.
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, device::available().map(PyDevice).collect::<Vec<_>>())
    }

    /// The dtypes of the standard by name; with a `kind` those of that kind, or of any of a tuple of kinds.
    #[pyo3(signature = (*, device = None, kind = None))]
    fn dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<DeviceArg>,
        kind: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let found = PyDict::new(py);
        for dtype in STANDARD {
            if kind.map_or(Ok(true), |kind| is_any_kind(dtype, kind))? {
                found.set_item(dtype.name(), PyDtype(dtype))?;
            }
        }
        Ok(found)
    }
}

/// What can be asked of this namespace: its capabilities, devices and dtypes.
#[pyfunction]
fn __array_namespace_info__() -> NamespaceInfo {
    NamespaceInfo
}

thread_local! {
    /// Do operators in place keep dtype and shape on this thread?
    static KEEPS: Cell<bool> = const { Cell::new(false) };
}

/// Inside, `x += y` and its kin raise where the dtype or the shape of `x` would change, as the array API standard has
/// it; outside such a block they change it, as MLX has it. For the thread that enters it.
#[pyclass(name = "InPlaceKeepsType", module = "umber.core")]
struct InPlaceKeepsType {
    before: Vec<bool>,
}

#[pymethods]
impl InPlaceKeepsType {
    #[new]
    fn new() -> InPlaceKeepsType {
        InPlaceKeepsType { before: Vec::new() }
    }

    fn __enter__(&mut self) {
        self.before.push(KEEPS.replace(true));
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&mut self, _args: &Bound<'_, PyTuple>) {
        if let Some(before) = self.before.pop() {
            KEEPS.set(before);
        }
    }
}

/// A result that goes in place of an array: in strict blocks it must be what the array was.
#[inline]
pub(crate) fn check_in_place(op: &str, before: &Array, result: &Array) -> PyResult<()> {
    if !KEEPS.get() {
        return Ok(());
    }
    if before.dtype() != result.dtype() {
        return Err(to_exception(error!(
            Type(op),
            "cannot store {} in place in an array of {}",
            result.dtype(),
            before.dtype()
        )));
    }
    if before.shape() != result.shape() {
        return Err(PyValueError::new_err(format!(
            "[{op}] cannot store shape {} in place in an array of shape {}",
            result.shape(),
            before.shape()
        )));
    }
    Ok(())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NamespaceInfo>()?;
    module.add_class::<InPlaceKeepsType>()?;
    module.add("__array_api_version__", VERSION)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(__array_namespace_info__, module)?)
}
