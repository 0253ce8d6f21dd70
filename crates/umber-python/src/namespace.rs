//! Attributes and functions of the Python array API standard: devices, the namespace, its inspection
//! functions, and augmented assignments that keep dtype and shape.

use std::cell::Cell;
use umber_core::types::error;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umber_core::{Array, DType, Stream, device, ops};

use crate::args::{DeviceArg, StreamArg, resolve_stream};
use crate::array::PyArray;
use crate::dtype::PyDtype;
use crate::enter::{OrRaise, to_exception};
use crate::new_array::NewArray;
use crate::ops::is_kind;
use crate::streams::{PyDevice, PyStream};

/// The newest supported version of the standard.
const VERSION: &str = "2025.12";
/// The module that maps versions of the standard to namespaces.
const VERSIONS: &str = "umber.array_api._versions";

#[pymethods]
impl PyArray {
    /// Return the module with the functions of the Python array API standard.
    ///
    /// Parameters
    /// ----------
    /// api_version : str, optional
    ///     Version of the standard, from "2021.12" to "2025.12". Default: the newest.
    ///
    /// Returns
    /// -------
    /// module
    ///     `umber.array_api`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the version is not supported.
    ///
    /// Examples
    /// --------
    /// >>> mx.array(1).__array_namespace__().__name__
    /// 'umber.array_api'
    #[pyo3(signature = (api_version = None))]
    fn __array_namespace__<'py>(
        slf: &Bound<'py, Self>,
        api_version: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import(VERSIONS)?.call_method1("namespace", (api_version,))
    }

    /// Device whose memory holds the array.
    ///
    /// Returns
    /// -------
    /// Device
    ///
    /// Examples
    /// --------
    /// >>> mx.array(1).device
    /// Device(cpu, 0)
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.get().device())
    }

    /// Transfer the array to the memory of a device.
    ///
    /// Parameters
    /// ----------
    /// device : Device, DeviceType or str
    ///     Target: a device, its type, or "cpu" or "gpu".
    /// stream : Stream, optional
    ///     Stream of the transfer. Default: the default stream of the device.
    ///
    /// Returns
    /// -------
    /// array
    ///     On that device; this array if it is there already.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `stream` is not a Stream.
    /// ValueError
    ///     If the device is unknown or not available.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 2]).to_device("cpu")
    /// array([1, 2], dtype=int32)
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
        let stream =
            resolve_stream("to_device", stream, Some(device))?.map_or(Stream::CPU, |stream| stream.0);
        let moved = ops::to_stream(&array, stream).or_raise()?;
        if moved.is_same(&array) {
            return Ok(slf.clone().into_any());
        }
        Ok(NewArray::from(moved).object(slf.py())?.into_any())
    }
}

/// Information about a namespace of the Python array API standard.
///
/// Examples
/// --------
/// >>> mx.__array_namespace_info__().default_device()
/// Device(cpu, 0)
#[pyclass(name = "ArrayNamespaceInfo", module = "umber.core", frozen, subclass)]
struct NamespaceInfo;

/// The dtypes of the standard.
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

/// Whether the dtype is of a kind of the standard: one name, or any of a tuple of names.
fn is_any_kind(dtype: DType, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(kinds) = kind.cast::<PyTuple>() else { return is_kind("dtypes", dtype, kind) };
    kinds.iter().try_fold(false, |is_any, kind| Ok(is_any | is_kind("dtypes", dtype, &kind)?))
}

#[pymethods]
impl NamespaceInfo {
    #[new]
    fn new() -> NamespaceInfo {
        NamespaceInfo
    }

    /// Return the optional features of the namespace.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Values of "boolean indexing", "data-dependent shapes" and "max dimensions".
    ///
    /// Examples
    /// --------
    /// >>> mx.__array_namespace_info__().capabilities()
    /// {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': None}
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let capabilities = PyDict::new(py);
        capabilities.set_item("boolean indexing", true)?;
        capabilities.set_item("data-dependent shapes", true)?;
        // The number of axes is limited only by memory.
        capabilities.set_item("max dimensions", py.None())?;
        Ok(capabilities)
    }

    /// Return the device on which arrays are created by default.
    ///
    /// Returns
    /// -------
    /// Device
    ///
    /// Examples
    /// --------
    /// >>> mx.__array_namespace_info__().default_device()
    /// Device(cpu, 0)
    fn default_device(&self) -> PyDevice {
        PyDevice(device::default_device())
    }

    /// Return the dtypes that arrays get by default.
    ///
    /// Parameters
    /// ----------
    /// device : Device, DeviceType or str, optional
    ///     An available device; the dtypes are the same on every device. Default: None.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Dtypes by kind: "real floating", "complex floating", "integral" and "indexing" (of indices).
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the device is unknown or not available.
    ///
    /// Examples
    /// --------
    /// >>> mx.__array_namespace_info__().default_dtypes().get("integral")
    /// umber.core.int32
    #[pyo3(signature = (*, device = None))]
    fn default_dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<DeviceArg>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let dtypes = PyDict::new(py);
        dtypes.set_item("real floating", PyDtype(DType::Float32))?;
        dtypes.set_item("complex floating", PyDtype(DType::Complex64))?;
        dtypes.set_item("integral", PyDtype(DType::Int32))?;
        dtypes.set_item("indexing", PyDtype(DType::UInt32))?;
        Ok(dtypes)
    }

    /// Return the available devices.
    ///
    /// Returns
    /// -------
    /// tuple of Device
    ///
    /// Examples
    /// --------
    /// >>> len(mx.__array_namespace_info__().devices()) >= 1
    /// True
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, device::available().map(PyDevice).collect::<Vec<_>>())
    }

    /// Return the dtypes of the standard by name.
    ///
    /// Parameters
    /// ----------
    /// device : Device, DeviceType or str, optional
    ///     An available device; the dtypes are the same on every device. Default: None.
    /// kind : str or tuple of str, optional
    ///     Kinds to include: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating" or
    ///     "numeric". Default: all.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Dtypes by name.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a kind is unknown, or if the device is unknown or not available.
    ///
    /// Examples
    /// --------
    /// >>> mx.__array_namespace_info__().dtypes(kind="real floating")
    /// {'float32': umber.core.float32, 'float64': umber.core.float64}
    #[pyo3(signature = (*, device = None, kind = None))]
    fn dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<DeviceArg>,
        kind: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let dtypes = PyDict::new(py);
        for dtype in STANDARD {
            if kind.map_or(Ok(true), |kind| is_any_kind(dtype, kind))? {
                dtypes.set_item(dtype.name(), PyDtype(dtype))?;
            }
        }
        Ok(dtypes)
    }
}

/// Return information about this namespace: its capabilities, devices and dtypes.
///
/// Returns
/// -------
/// ArrayNamespaceInfo
///
/// Examples
/// --------
/// >>> mx.__array_namespace_info__().default_dtypes().get("real floating")
/// umber.core.float32
#[pyfunction]
fn __array_namespace_info__() -> NamespaceInfo {
    NamespaceInfo
}

thread_local! {
    /// Whether augmented assignments must keep dtype and shape on this thread.
    static IS_STRICT: Cell<bool> = const { Cell::new(false) };
}

/// Context manager in which augmented assignments must keep the dtype and the shape of an array.
///
/// Notes
/// -----
/// Inside, ``x += y`` and the like raise TypeError where the dtype of `x` would change and ValueError where its shape
/// would, as the array API standard requires. Outside they change `x`, as in MLX. Holds for the thread that enters it.
///
/// Examples
/// --------
/// >>> x = mx.array([1, 2])
/// >>> with mx.InPlaceKeepsType():
/// ...     x += 1
/// >>> x += 0.5
/// >>> x
/// array([2.5, 3.5], dtype=float32)
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
        self.before.push(IS_STRICT.replace(true));
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&mut self, _args: &Bound<'_, PyTuple>) {
        if let Some(before) = self.before.pop() {
            IS_STRICT.set(before);
        }
    }
}

/// Check the result of an augmented assignment: in strict blocks it must have the dtype and shape of the array.
#[inline]
pub(crate) fn check_in_place(op: &str, before: &Array, result: &Array) -> PyResult<()> {
    if !IS_STRICT.get() {
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
