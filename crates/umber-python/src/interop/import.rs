//! Import of foreign memory: the buffer protocol, NumPy's array interface, DLPack, Arrow, `__array__`, in this order.

use std::ffi::{CStr, c_int};

use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView, PyTuple, PyType};
use umber_core::graph::ArrayInternals;
use umber_core::memory::{Access, ExternalWrites};
use umber_core::types::layout::{Strides, row_major_strides};
use umber_core::{Array, DType, Shape, ops};

use super::arrow::Imported;
use super::foreign_buffer::{Copying, ForeignBuffer, Provenance, refuse};
use super::formats::{ByteOrder, from_struct_format, from_typestr, order_of_typestr};
use super::ndarray;
use crate::args::{DeviceArg, StreamArg, record_on, resolve_stream};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, dtype_for, is_of_ml_dtypes};
use crate::enter::{OrRaise, enter};
use crate::new_array::NewArray;

/// An owned `Py_buffer`, released on drop.
struct PyBufferGuard(Box<ffi::Py_buffer>);

// SAFETY: the buffer is released under the GIL; its memory may be read from any thread.
unsafe impl Send for PyBufferGuard {}
// SAFETY: shared references only read the view.
unsafe impl Sync for PyBufferGuard {}

impl PyBufferGuard {
    /// Request the memory of an object with the buffer protocol.
    fn new(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<PyBufferGuard> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: fills the boxed view, whose address does not change until it is released.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(PyBufferGuard(view))
    }

    fn is_read_only(&self) -> bool {
        self.0.readonly != 0
    }
}

impl Drop for PyBufferGuard {
    fn drop(&mut self) {
        // After the interpreter has shut down there is nothing to release.
        let view: *mut ffi::Py_buffer = &raw mut *self.0;
        Python::try_attach(|_| {
            // SAFETY: the view was filled by PyObject_GetBuffer and is released once, under the GIL.
            unsafe { ffi::PyBuffer_Release(view) };
        });
    }
}

/// Keeps a Python object alive from any thread.
pub(super) struct PyOwner(Option<Py<PyAny>>);

impl PyOwner {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyOwner {
        PyOwner(Some(object.clone().unbind()))
    }
}

impl Drop for PyOwner {
    fn drop(&mut self) {
        // Drop immediately; without `attach`, PyO3 would defer it until a thread next acquires the GIL.
        let object = self.0.take();
        Python::try_attach(|_| drop(object));
    }
}

fn supports_buffer(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is live.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
}

/// Whether read-only memory is immutable, so that no other owner can write it either.
pub(super) fn is_fixed(object: &Bound<'_, PyAny>) -> bool {
    if object.is_instance_of::<PyBytes>() {
        return true;
    }
    let class = object.get_type();
    let named = |module: &str, name: &str| {
        class.name().is_ok_and(|own| own == name) && class.module().is_ok_and(|own| own == module)
    };
    if named("mmap", "mmap") {
        // Another process may still write to the file, which no reader can detect.
        return PyBufferGuard::new(object, ffi::PyBUF_SIMPLE).is_ok_and(|view| view.is_read_only());
    }
    if let Ok(view) = object.cast::<PyMemoryView>() {
        return view.getattr("obj").is_ok_and(|owner| is_fixed(&owner));
    }
    if class.name().is_ok_and(|name| name == "ArrayImpl") {
        return class.module().is_ok_and(|module| module.to_string_lossy().starts_with("jaxlib"));
    }
    // For a NumPy array, check the view and all its bases down to the owner.
    let flag = object
        .getattr(intern!(object.py(), "flags"))
        .and_then(|flags| flags.getattr(intern!(object.py(), "writeable")));
    if !flag.is_ok_and(|writable| writable.is_truthy().is_ok_and(|writable| !writable)) {
        return false;
    }
    match object.getattr(intern!(object.py(), "base")) {
        Ok(base) if base.is_none() => true,
        Ok(base) => is_fixed(&base),
        Err(_) => false,
    }
}

/// Access to the memory of a source that is read-only or not.
fn rights(object: &Bound<'_, PyAny>, is_read_only: bool) -> (Access, ExternalWrites) {
    if !is_read_only {
        return (Access::Writable, ExternalWrites::Possible);
    }
    (Access::ReadOnly, if is_fixed(object) { ExternalWrites::Fixed } else { ExternalWrites::Possible })
}

/// Create an array over the memory of an object with the buffer protocol; `None` if umber has no dtype for its format.
fn from_buffer(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    let buffer_guard = PyBufferGuard::new(object, ffi::PyBUF_FULL_RO as c_int)?;
    let view = &buffer_guard.0;
    let format = if view.format.is_null() {
        "B".into()
    } else {
        // SAFETY: a NUL-terminated string that lives as long as the view.
        unsafe { CStr::from_ptr(view.format) }.to_string_lossy()
    };
    let ndim = usize::try_from(view.ndim).unwrap_or(0);
    let is_of_ctypes = is_of_ctypes(object);
    if ndim > 0 && (view.shape.is_null() || (view.strides.is_null() && !is_of_ctypes)) {
        // An exporter that ignores the requested flags (NumPy's datetime scalars): try other protocols.
        return Ok(None);
    }
    let Some((dtype, order)) = from_struct_format(&format, view.itemsize as usize) else {
        return Err(PyTypeError::new_err(format!(
            "[asarray] buffer format '{format}' with {} bytes per element is not supported",
            view.itemsize
        )));
    };
    let shape: Shape = if ndim == 0 {
        Shape::scalar()
    } else {
        // SAFETY: PyBUF_FULL_RO requests the shape, which is not null and has `ndim` entries.
        unsafe { std::slice::from_raw_parts(view.shape, ndim) }.iter().map(|&n| n as usize).collect()
    };
    let strides = if ndim == 0 || view.strides.is_null() {
        dense_strides(&shape, view.itemsize)
    } else {
        // SAFETY: PyBUF_FULL_RO requests the strides, which are not null and have `ndim` entries.
        Strides::from_slice(unsafe { std::slice::from_raw_parts(view.strides, ndim) })
    };
    if !view.suboffsets.is_null() {
        return Err(PyTypeError::new_err("[asarray] indirect buffers (suboffsets) are not supported"));
    }
    let (access, stability) = rights(object, buffer_guard.is_read_only());
    // A ctypes object may be created from any address; other exporters own their memory.
    let provenance = if is_of_ctypes { Provenance::Untrusted } else { Provenance::Owner };
    let foreign =
        ForeignBuffer { start: view.buf.cast(), dtype, order, shape, strides, access, stability, provenance };
    // SAFETY: the exporter keeps the memory valid until the view is released, which dropping `buffer_guard` does.
    unsafe { foreign.check(copying)?.take(object.py(), Box::new(buffer_guard)) }.map(Some)
}

/// Strides in bytes of dense memory.
fn dense_strides(shape: &[usize], itemsize: isize) -> Strides {
    let steps = row_major_strides(shape);
    steps.iter().map(|&step| step.saturating_mul(itemsize)).collect()
}

/// Whether the object is a ctypes object, or a view of one.
fn is_of_ctypes(object: &Bound<'_, PyAny>) -> bool {
    let viewed = object.cast::<PyMemoryView>().ok().and_then(|view| view.getattr("obj").ok());
    let owner = viewed.as_ref().unwrap_or(object);
    // ctypes creates an array type for each length, so the metaclass identifies them, unless it is `type`.
    let metaclass = owner.get_type().get_type();
    !metaclass.is(object.py().get_type::<PyType>())
        && metaclass.module().is_ok_and(|module| module == "_ctypes")
}

/// The dtype of an array interface.
fn dtype_of_interface(object: &Bound<'_, PyAny>, typestr: &Bound<'_, PyAny>) -> PyResult<(DType, ByteOrder)> {
    let dtype = object.getattr("dtype");
    let name = dtype.as_ref().ok().and_then(|dtype| dtype.getattr("name").ok()?.extract::<String>().ok());
    let typestr_text: String = typestr.extract().map_err(|_| malformed("typestr", typestr, "a string"))?;
    let known = match name.as_deref() {
        Some(name) => DType::from_name(name)
            .filter(|&dtype| is_of_ml_dtypes(dtype))
            .or_else(|| from_typestr(&typestr_text)),
        None => from_typestr(&typestr_text),
    };
    known.map(|dtype| (dtype, order_of_typestr(&typestr_text))).ok_or_else(|| {
        let elements = dtype.as_ref().unwrap_or(typestr);
        PyTypeError::new_err(format!("[asarray] elements of type {elements} are not supported"))
    })
}

/// The exception for an invalid entry of an array interface.
fn malformed(entry: &str, got: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let got = crate::error_text::shortened(got);
    PyValueError::new_err(format!("[asarray] __array_interface__['{entry}']: got {got}, expected {expected}"))
}

/// The address in an array interface, and whether it is read-only.
fn address_of_interface(data: &Bound<'_, PyTuple>) -> PyResult<(usize, bool)> {
    let read = || Ok((data.get_item(0)?.extract()?, data.get_item(1)?.is_truthy()?));
    read().map_err(|_: PyErr| malformed("data", data, "a pair of an address and whether it is read-only"))
}

/// Create an array over the memory of an object with NumPy's array interface; `None` if it has none.
fn from_interface(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    let py = object.py();
    let Some(interface) = object.getattr_opt("__array_interface__")? else { return Ok(None) };
    let Ok(interface) = interface.cast_into::<PyDict>() else { return Ok(None) };
    let get = |key: &str| interface.get_item(key).map(|item| item.filter(|item| !item.is_none()));
    let need = |key: &str| {
        get(key)?.ok_or_else(|| {
            PyValueError::new_err(format!(
                "[asarray] __array_interface__ lacks '{key}', expected typestr, shape and data"
            ))
        })
    };
    let (typestr, shape, data) = (need("typestr")?, need("shape")?, need("data")?);
    let (dtype, order) = dtype_of_interface(object, &typestr)?;
    let lengths: Vec<i64> = shape.extract().map_err(|_| malformed("shape", &shape, "a tuple of lengths"))?;
    let shape = Shape::checked("asarray", &lengths).or_raise()?;
    let strides: Strides = match get("strides")? {
        Some(strides) => strides
            .cast::<PyTuple>()
            .ok()
            .and_then(|steps| steps.extract::<Vec<isize>>().ok())
            .map(Strides::from_vec)
            .ok_or_else(|| malformed("strides", &strides, "a tuple of integers, or None"))?,
        None => dense_strides(&shape, dtype.size() as isize),
    };
    if strides.len() != shape.len() {
        return Err(PyValueError::new_err(format!(
            "[asarray] array interface has {} strides for {} axes, expected one per axis",
            strides.len(),
            shape.len()
        )));
    }
    if let Ok(data) = data.cast::<PyTuple>() {
        let (address, is_read_only) = address_of_interface(data)?;
        let (access, stability) = rights(object, is_read_only);
        let (start, provenance) = (address as *mut u8, Provenance::Untrusted);
        let foreign = ForeignBuffer { start, dtype, order, shape, strides, access, stability, provenance };
        let keep = Box::new(PyOwner::new(object));
        // SAFETY: the interface guarantees that the memory is valid while the object lives, which `PyOwner` ensures.
        return unsafe { foreign.check(copying)?.take(py, keep) }.map(Some);
    }
    if !supports_buffer(&data) {
        return Err(malformed("data", &data, "a pair of an address and a bool, or an object with a buffer"));
    }
    // The memory belongs to another object, as for PIL images.
    let buffer_guard = PyBufferGuard::new(&data, ffi::PyBUF_SIMPLE)?;
    let offset: usize = match get("offset")? {
        Some(offset) => {
            offset.extract().map_err(|_| malformed("offset", &offset, "an integer of 0 or more"))?
        }
        None => 0,
    };
    let first = buffer_guard.0.buf as usize;
    let bounds = first..first.saturating_add(usize::try_from(buffer_guard.0.len).unwrap_or(0));
    let (access, stability) = rights(&data, buffer_guard.is_read_only());
    let start = buffer_guard.0.buf.cast::<u8>().wrapping_add(offset);
    let provenance = Provenance::Within(bounds);
    let foreign = ForeignBuffer { start, dtype, order, shape, strides, access, stability, provenance };
    // SAFETY: checked to lie within the buffer that `buffer_guard` holds.
    unsafe { foreign.check(copying)?.take(py, Box::new(buffer_guard)) }.map(Some)
}

/// Create an array over the result of `__array__`; `None` if there is no such method.
fn from_method(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    if object.is_instance_of::<PyType>() || !object.hasattr("__array__")? {
        return Ok(None);
    }
    let converted = if copying == Copying::Never {
        let py = object.py();
        let keywords = PyDict::new(py);
        keywords.set_item("copy", false)?;
        match object.call_method("__array__", (), Some(&keywords)) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                return copying.allow("__array__ of the object requires a copy").map(|()| None);
            }
            converted => converted?,
        }
    } else {
        object.call_method0("__array__")?
    };
    if converted.is(object) {
        return Ok(None);
    }
    from_memory(&converted, copying)
}

/// Create an array by the buffer protocol or the array interface.
fn from_memory(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    if !supports_buffer(object) {
        return from_interface(object, copying);
    }
    match from_buffer(object, copying) {
        Ok(Some(array)) => Ok(Some(array)),
        Ok(None) => from_interface(object, copying),
        Err(error)
            if object.hasattr("__array_interface__")? && may_try_other_protocol(object.py(), &error) =>
        {
            from_interface(object, copying)
        }
        Err(error) => Err(error),
    }
}

/// Whether the elements of its buffer are references to Python objects.
fn holds_objects(object: &Bound<'_, PyAny>) -> bool {
    supports_buffer(object)
        && PyBufferGuard::new(object, ffi::PyBUF_FULL_RO as c_int).is_ok_and(|buffer_guard| {
            // SAFETY: a NUL-terminated string that lives as long as the view, where there is one.
            !buffer_guard.0.format.is_null() && unsafe { CStr::from_ptr(buffer_guard.0.format) } == c"O"
        })
}

/// Whether another protocol may succeed after this error: arrays of ml_dtypes have their own formats, and TensorFlow exports
/// float8 only by `__array__`.
fn may_try_other_protocol(py: Python<'_>, error: &PyErr) -> bool {
    let class = error.get_type(py);
    class.is(py.get_type::<PyTypeError>())
        || class.is(py.get_type::<PyValueError>())
        || class.is(py.get_type::<pyo3::exceptions::PyBufferError>())
}

/// Create an array that shares or copies the memory of an object by any protocol; `None` if it has none.
pub(crate) fn from_shared(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    ndarray::learn_class(object);
    let failed = match from_memory(object, copying) {
        Ok(Some(array)) => return Ok(Some(array)),
        Ok(None) => None,
        // On failure, try DLPack, which otherwise reports the reason. Not for Python objects: exporting TensorFlow strings
        // aborts the process.
        Err(error) if holds_objects(object) => return Err(error),
        Err(error) if supports_buffer(object) && may_try_other_protocol(object.py(), &error) => Some(error),
        Err(error) => return Err(error),
    };
    let failed = if object.hasattr("__dlpack__")? {
        match super::dlpack::import(object, copying) {
            Ok(array) => return Ok(Some(array)),
            // Other libraries raise their own exceptions.
            Err(error) if error.is_instance_of::<PyException>(object.py()) => Some(failed.unwrap_or(error)),
            Err(error) => return Err(error),
        }
    } else {
        failed
    };
    let failed = match super::arrow::import(object, copying) {
        Ok(Imported::Array(array)) => return Ok(Some(array)),
        Ok(Imported::Nulls(error)) => return Err(error),
        Ok(Imported::Declined) => failed,
        Err(error) if error.is_instance_of::<PyException>(object.py()) => Some(failed.unwrap_or(error)),
        Err(error) => return Err(error),
    };
    match (from_method(object, copying), &failed) {
        (Ok(Some(array)), _) => return Ok(Some(array)),
        (Err(error), None) => return Err(error),
        // The earlier error is more informative.
        (Ok(None), _) | (Err(_), Some(_)) => {}
    }
    if object.hasattr("__cuda_array_interface__")? {
        return Err(refuse(
            "[asarray] the CPU cannot read CUDA memory: the object has only __cuda_array_interface__, expected \
             memory of the CPU"
                .into(),
        ));
    }
    failed.map_or(Ok(None), Err)
}

/// Return an array of umber itself, or a copy.
pub(super) fn own(array: &Bound<'_, PyArray>, copying: Copying) -> PyResult<NewArray> {
    let source = array.get().get();
    // A copy is differentiable, and traced memory cannot be written by others.
    if copying != Copying::Always || source.is_traced() {
        return Ok(NewArray::sharing(source));
    }
    let copied = enter(array.py(), || {
        source.eval()?;
        source.copied()
    });
    copied.map(NewArray::sharing)
}

/// Return an array that shares memory with an object where possible.
///
/// Parameters
/// ----------
/// a : array_like
///     An array, an object that shares its memory, a number, or a nested sequence.
/// dtype : Dtype, str or type, optional
///     Type of the elements. Default: that of `a`.
/// device : Device, DeviceType or str, optional
///     Device of the result. Default: that of the memory of `a`.
/// copy : bool, optional
///     True always copies, False never does. Default: None, copy only where necessary.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///
/// Raises
/// ------
/// TypeError
///     If an array cannot be made of `a`.
/// ValueError
///     If the device is not available. If `copy` is False and a copy is necessary, the exception is also a BufferError.
///
/// See Also
/// --------
/// array, from_numpy, from_arrow, set_view_policy
///
/// Notes
/// -----
/// Memory is requested by these protocols, in this order: the buffer protocol, `__array_interface__`, `__dlpack__`,
/// `__arrow_c_array__`, `__arrow_c_stream__`, `__array__`. Operations on memory that its producer can still write run eagerly.
///
/// Examples
/// --------
/// >>> n = np.zeros(2, dtype=np.float32)
/// >>> a = mx.asarray(n)
/// >>> n[0] = 5
/// >>> a
/// array([5, 0], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, dtype = None, *, device = None, copy = None, stream = None))]
fn asarray(
    a: &Bound<'_, PyAny>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    copy: Option<bool>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let copying = Copying::of(copy);
    let stream = resolve_stream("asarray", stream, device)?;
    let array = shared_or_copied(a, dtype, copying, stream)?;
    let may_move = copying != Copying::Never && !a.is_instance_of::<PyArray>();
    match stream {
        Some(StreamArg(stream)) if stream.device != array.device() => {
            copying.allow("memory of another device requires a copy")?;
            array.on(stream)
        }
        None if may_move => array.on_default_device(),
        _ => Ok(array),
    }
}

/// Create an array from `a` on the device of `a`.
fn shared_or_copied(
    a: &Bound<'_, PyAny>,
    dtype: Option<DtypeArg>,
    copying: Copying,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let cast = |array: &Array, dtype: DType| {
        copying.allow("conversion to another dtype requires a copy")?;
        record_on(stream, || ops::astype(array, dtype)).map(NewArray::from)
    };
    if let Ok(array) = a.cast::<PyArray>() {
        let current = array.get().get();
        return match dtype_for(dtype, current.dtype()) {
            Some(dtype) if dtype != current.dtype() => cast(&current, dtype),
            _ => own(array, copying),
        };
    }
    // The conversion to another dtype copies anyway.
    let sharing = if dtype.is_some() && copying == Copying::Always { Copying::IfNeeded } else { copying };
    let Some(shared) = crate::convert::shared(a, sharing)? else {
        copying.allow("a Python number or sequence requires a copy")?;
        return crate::convert::array_of(a, dtype).map(NewArray::from);
    };
    match dtype_for(dtype, shared.dtype()) {
        Some(dtype) if dtype != shared.dtype() => cast(&shared, dtype),
        _ if sharing != copying => enter(a.py(), || shared.copied()).map(NewArray::sharing),
        _ => Ok(NewArray::sharing(shared)),
    }
}

/// Return an array over the memory of a NumPy array.
///
/// Parameters
/// ----------
/// a : numpy.ndarray
///     NumPy array.
/// zero_copy : bool, optional
///     Share the memory and make `a` read-only, so that operations stay lazy; otherwise copy it. Default: True.
///
/// Returns
/// -------
/// array
///
/// Raises
/// ------
/// TypeError
///     If `a` is not a NumPy array, or if umber has no dtype for its elements.
/// BufferError
///     If `zero_copy` is set and the memory cannot be shared.
///
/// See Also
/// --------
/// asarray, array
///
/// Examples
/// --------
/// >>> n = np.zeros(2, dtype=np.float32)
/// >>> a = mx.from_numpy(n)
/// >>> n.flags.writeable
/// False
#[pyfunction]
#[pyo3(signature = (a, *, zero_copy = true))]
fn from_numpy(a: &Bound<'_, PyAny>, zero_copy: bool) -> PyResult<NewArray> {
    let numpy = a.py().import("numpy")?;
    if !a.is_instance(&numpy.getattr("ndarray")?)? {
        return Err(PyTypeError::new_err(format!(
            "[from_numpy] a: got {}, expected a NumPy array",
            a.get_type().name()?
        )));
    }
    if !zero_copy {
        return convert(a, Copying::Always);
    }
    let flags = a.getattr("flags")?;
    let was_writable: bool = flags.getattr("writeable")?.extract()?;
    flags.setattr("writeable", false)?;
    convert(a, Copying::Never).or_else(|error| {
        // A failed call must not change the source.
        flags.setattr("writeable", was_writable)?;
        Err(error)
    })
}

fn convert(a: &Bound<'_, PyAny>, copying: Copying) -> PyResult<NewArray> {
    match crate::convert::shared(a, copying)? {
        Some(array) => Ok(NewArray::sharing(array)),
        None => Err(PyTypeError::new_err(format!(
            "[from_numpy] elements of type {} are not supported",
            a.getattr("dtype")?
        ))),
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(asarray, module)?)?;
    module.add_function(wrap_pyfunction!(from_numpy, module)?)
}
