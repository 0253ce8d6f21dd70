//! Export by NumPy's protocols: `__array__` and `__array_interface__`.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyTuple, PyType};
use umber_core::{DType, Device, Scalar};

use super::buffer::Bits;
use super::export::Export;
use super::foreign_buffer::refuse;
use super::formats::typestr;
use crate::args::number;
use crate::array::PyArray;
use crate::dtype::is_of_ml_dtypes;
use crate::enter::enter;

/// The NumPy module, if the program has imported it.
pub(super) fn loaded(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.get_item("numpy")
}

/// The value of a NumPy scalar whose type umber supports; `None` for anything else.
pub(crate) fn scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    let generic = match GENERIC.get(py) {
        Some(generic) => generic,
        None => {
            // Without NumPy loaded, no object is a NumPy scalar.
            let Some(numpy) = loaded(py)? else { return Ok(None) };
            GENERIC.get_or_try_init(py, || {
                PyResult::Ok(numpy.getattr("generic")?.cast_into::<PyType>()?.unbind())
            })?
        }
    };
    if !object.is_instance(generic.bind(py))? {
        return Ok(None);
    }
    let value = object.call_method0("item")?;
    // `item` of a datetime or timedelta returns an integer if its unit is finer than Python's, or absent.
    let is_time = value.is_instance_of::<PyInt>() && {
        let kind: String = object.getattr("dtype")?.getattr("kind")?.extract()?;
        matches!(kind.as_str(), "m" | "M")
    };
    if is_time { Ok(None) } else { number(&value) }
}

#[pymethods]
impl PyArray {
    /// Convert to a NumPy array.
    ///
    /// Parameters
    /// ----------
    /// dtype : numpy.dtype, optional
    ///     Type of the elements. Default: the same.
    /// copy : bool, optional
    ///     True always copies; False raises where a copy is necessary. Default: None, copy only to convert the dtype.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     View of this array's memory, or a copy.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If NumPy does not know the dtype.
    /// ValueError
    ///     If `copy` is False and the dtype differs, or the memory is not the CPU's; the exception is
    ///     also a BufferError.
    ///
    /// Notes
    /// -----
    /// bfloat16 and float8 arrays require the package ml_dtypes.
    ///
    /// Examples
    /// --------
    /// >>> np.asarray(mx.array([1, 2])).sum()
    /// np.int64(3)
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let numpy = py.import("numpy")?;
        let (array_dtype, device) = (slf.get().get().dtype(), slf.get().get().device());
        if copy == Some(false) && device != Device::CPU {
            return Err(refuse(format!(
                "[__array__] NumPy cannot share memory of {device}; pass copy=None or copy=True for a copy on the CPU"
            )));
        }
        let on_host = match device {
            Device::CPU => slf.clone(),
            _ => {
                let array = slf.get().get().clone();
                Bound::new(py, PyArray::sharing(enter(py, || array.to_host())?))?
            }
        };
        let view = if is_of_ml_dtypes(array_dtype) {
            of_ml_dtypes(&on_host, array_dtype)?
        } else {
            numpy_view(on_host.as_any())?
        };
        if device != Device::CPU {
            // Writes to the copy would not reach this array.
            view.call_method1("setflags", (false,))?;
        }
        let same = match dtype {
            Some(dtype) => dtype_of_numpy(&numpy, dtype)?.eq(view.getattr("dtype")?)?,
            None => true,
        };
        match (same, copy) {
            (true, Some(true)) => view.call_method0("copy"),
            (true, _) => Ok(view),
            (false, Some(false)) => {
                Err(refuse("[__array__] conversion to another dtype requires a copy, but copy=False".into()))
            }
            (false, _) => view.call_method1("astype", (dtype,)),
        }
    }

    /// NumPy's array interface, version 3.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Values of "shape", "typestr", "data", "strides" and "version".
    ///
    /// Raises
    /// ------
    /// AttributeError
    ///     If the interface has no type for the elements, such as bfloat16, or the memory is not the
    ///     CPU's.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 2]).__array_interface__["typestr"]
    /// '<i4'
    #[getter]
    fn __array_interface__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let py = slf.py();
        let (dtype, device) = (slf.get().get().dtype(), slf.get().get().device());
        if device != Device::CPU {
            return Err(PyAttributeError::new_err(format!(
                "[__array_interface__] the CPU cannot access memory of {device}; use np.asarray for a copy"
            )));
        }
        let Some(typestr) = typestr(dtype) else {
            return Err(PyAttributeError::new_err(format!(
                "[__array_interface__] the array interface has no type for {dtype}; use DLPack, or \
                 np.asarray with ml_dtypes"
            )));
        };
        // The interface has no release callback: the consumer keeps this object alive, which pins the exported memory.
        // Read-only, since the end of a consumer's writes could not be detected.
        let export = Export::new(py, slf.get())?;
        let interface = PyDict::new(py);
        let itemsize = dtype.size() as isize;
        interface.set_item("shape", PyTuple::new(py, export.layout.shape.iter())?)?;
        interface.set_item("typestr", typestr)?;
        interface.set_item("data", (export.start() as usize, true))?;
        if export.layout.is_contiguous() {
            interface.set_item("strides", py.None())?;
        } else {
            let strides: Vec<isize> = export.layout.strides.iter().map(|&stride| stride * itemsize).collect();
            interface.set_item("strides", PyTuple::new(py, strides)?)?;
        }
        interface.set_item("version", 3)?;
        slf.get().pin(export.into_pin());
        Ok(interface)
    }

    /// CUDA array interface: not available, because the memory is the CPU's.
    ///
    /// Raises
    /// ------
    /// AttributeError
    ///     Always.
    ///
    /// Examples
    /// --------
    /// >>> hasattr(mx.array([1, 2]), "__cuda_array_interface__")
    /// False
    #[getter]
    fn __cuda_array_interface__(&self) -> PyResult<Py<PyAny>> {
        Err(PyAttributeError::new_err(
            "[__cuda_array_interface__] the memory is the CPU's: got a request for memory of a CUDA device, expected \
             one for __array_interface__ or __dlpack__",
        ))
    }
}

/// Convert an object to a NumPy dtype.
fn dtype_of_numpy<'py>(
    numpy: &Bound<'py, PyModule>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    numpy.call_method1("dtype", (dtype,)).map_err(|error| {
        let py = dtype.py();
        let got = dtype.get_type().name().map_or_else(|_| "another type".into(), |name| name.to_string());
        let exception = PyTypeError::new_err(format!("dtype: got {got}, expected a NumPy dtype"));
        exception.set_cause(py, Some(error));
        exception
    })
}

/// A NumPy view through the buffer protocol.
fn numpy_view<'py>(memory: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let view = pyo3::types::PyMemoryView::from(memory)?;
    memory.py().import("numpy")?.call_method1("asarray", (view,))
}

/// A NumPy view of elements whose dtype is defined by ml_dtypes, created from a view of their bits.
fn of_ml_dtypes<'py>(array: &Bound<'py, PyArray>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let ml_dtypes = py.import("ml_dtypes").map_err(|_| {
        PyTypeError::new_err(format!(
            "[__array__] NumPy has no dtype {dtype}; install ml_dtypes, or call .astype(umber.core.float32) \
             first"
        ))
    })?;
    let bits = numpy_view(Bound::new(py, Bits::new(array))?.as_any())?;
    bits.call_method1("view", (ml_dtypes.getattr(dtype.name())?,))
}
