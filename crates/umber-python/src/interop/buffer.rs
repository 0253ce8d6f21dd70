//! Export by the buffer protocol (PEP 3118).

use std::ffi::{CStr, c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use umber_core::Device;

use super::export::Export;
use super::foreign_buffer::refuse;
use super::formats::{name_as_format, struct_format};
use super::memory_layout::is_column_major;
use super::native_caller::is_numpy_converting;
use crate::array::PyArray;

/// Raise BufferError for a request that the layout does not satisfy.
fn check(flags: c_int, export: &Export) -> PyResult<()> {
    let requests = |flag: c_int| flags & flag == flag;
    if requests(ffi::PyBUF_WRITABLE) && !export.is_writable() {
        return Err(refuse(
            "[buffer] the memory is read-only, or visible elsewhere: got a request for a writable view, expected one \
             for reading"
                .into(),
        ));
    }
    let layout = &export.layout;
    let refused = if layout.is_contiguous() {
        requests(ffi::PyBUF_F_CONTIGUOUS) && !is_column_major(layout)
    } else {
        requests(ffi::PyBUF_C_CONTIGUOUS)
            || ((requests(ffi::PyBUF_F_CONTIGUOUS) || requests(ffi::PyBUF_ANY_CONTIGUOUS))
                && !is_column_major(layout))
            || !requests(ffi::PyBUF_STRIDES)
    };
    if refused {
        return Err(refuse(format!(
            "[buffer] array of shape {:?} and strides {:?} (in elements) is not contiguous in the requested \
             order; request strides, or copy it",
            &layout.shape[..],
            &layout.strides[..]
        )));
    }
    Ok(())
}

/// Fill a view of an export whose elements have the format `format`; `owner` is released with it.
///
/// # Safety
/// `view` is a `Py_buffer` that the consumer passed to be filled, and `owner` releases it with [`release`].
#[inline]
unsafe fn fill(
    view: *mut ffi::Py_buffer,
    flags: c_int,
    export: Export,
    format: &'static CStr,
    owner: Bound<'_, PyAny>,
) -> PyResult<()> {
    check(flags, &export)?;
    // The view points into this box until it is released; its strides are in bytes.
    let mut export = Box::new(export);
    let itemsize = export.dtype.size() as isize;
    let (start, readonly, bytes) = (export.start(), !export.is_writable(), export.bytes());
    export.layout.strides.iter_mut().for_each(|stride| *stride *= itemsize);
    let layout = &export.layout;
    let requests = |flag: c_int| flags & flag == flag;
    let pointer_if = |requested: bool, values: *const isize| {
        // Without axes, the pointers are null.
        if requested && !layout.strides.is_empty() { values.cast_mut() } else { std::ptr::null_mut() }
    };
    // SAFETY: `view` may be written. Shape and strides live in the box that `internal` owns until `release`; the lease in the
    // box pins the memory.
    unsafe {
        (*view).buf = start.cast();
        (*view).len = bytes as isize;
        (*view).itemsize = itemsize;
        (*view).readonly = c_int::from(readonly);
        // A consumer that does not request axes gets one-dimensional bytes; some reject any other `ndim`.
        (*view).ndim = if requests(ffi::PyBUF_ND) { layout.ndim() as c_int } else { 1 };
        (*view).format =
            if requests(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { std::ptr::null_mut() };
        (*view).shape = pointer_if(requests(ffi::PyBUF_ND), layout.shape.as_ptr().cast());
        (*view).strides = pointer_if(requests(ffi::PyBUF_STRIDES), layout.strides.as_ptr());
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = Box::into_raw(export).cast::<c_void>();
        (*view).obj = owner.into_ptr();
    }
    Ok(())
}

/// Release a view that [`fill`] filled.
///
/// # Safety
/// Called once for each filled view.
unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is the box that `fill` created for this view.
    unsafe { drop(Box::from_raw((*view).internal.cast::<Export>())) };
}

/// The view to fill, without an owner, as the protocol requires if the request fails.
fn to_fill(view: *mut ffi::Py_buffer) -> PyResult<*mut ffi::Py_buffer> {
    if view.is_null() {
        return Err(PyBufferError::new_err("[buffer] missing view to fill"));
    }
    // SAFETY: the consumer passes a view that may be written.
    unsafe { (*view).obj = std::ptr::null_mut() };
    Ok(view)
}

#[pymethods]
impl PyArray {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let view = to_fill(view)?;
        // SAFETY: both only read fields.
        let (dtype, device) =
            unsafe { slf.get().with_ref(slf.py(), |array| (array.dtype(), array.device())) };
        // After this error NumPy calls `__array__`, to which it tells whether it may copy.
        if device != Device::CPU && is_numpy_converting() {
            return Err(refuse(format!(
                "[buffer] the CPU cannot access memory of {device}; call .to_device(umber.core.cpu) first"
            )));
        }
        let format = match struct_format(dtype) {
            Some(format) => format,
            // Without a format, NumPy would interpret the bits as integers; after this error it calls `__array__`.
            None if flags & ffi::PyBUF_FORMAT != 0 && is_numpy_converting() => {
                return Err(refuse(format!(
                    "[buffer] the buffer protocol has no format for {dtype}; use DLPack, or np.asarray with \
                     ml_dtypes"
                )));
            }
            None => name_as_format(dtype),
        };
        let export = Export::new(slf.py(), slf.get())?;
        // SAFETY: a view to fill, released below.
        unsafe { fill(view, flags, export, format, slf.into_any()) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: filled above, released once by the protocol.
        unsafe { release(view) };
    }
}

/// The elements of an array as unsigned integers of one or two bytes, for dtypes without a format in the protocol.
#[pyclass(frozen)]
pub(super) struct Bits {
    array: Py<PyArray>,
}

impl Bits {
    /// Wrap `array`.
    pub(super) fn new(array: &Bound<'_, PyArray>) -> Bits {
        Bits { array: array.clone().unbind() }
    }
}

#[pymethods]
impl Bits {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let view = to_fill(view)?;
        let export = Export::new(slf.py(), slf.get().array.get())?;
        let format = if export.dtype.size() == 1 { c"B" } else { c"H" };
        // SAFETY: a view to fill, released below.
        unsafe { fill(view, flags, export, format, slf.into_any()) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: filled above, released once by the protocol.
        unsafe { release(view) };
    }
}
