//! The buffer protocol (PEP 3118), outwards.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::export::Export;
use super::formats::struct_format;
use crate::array::PyArray;

/// What a `Py_buffer` points into while it is out.
struct Exported {
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
    _export: Export,
}

fn is_dense(shape: &[isize], strides: &[isize], itemsize: isize, fortran: bool) -> bool {
    let mut step = itemsize;
    let axes: Vec<usize> =
        if fortran { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
    if shape.contains(&0) {
        return true;
    }
    for axis in axes {
        if shape[axis] != 1 && strides[axis] != step {
            return false;
        }
        step *= shape[axis];
    }
    true
}

/// Refuse what the layout cannot give.
fn check(flags: c_int, export: &Export, shape: &[isize], strides: &[isize], itemsize: isize) -> PyResult<()> {
    let asks = |flag: c_int| flags & flag == flag;
    if asks(ffi::PyBUF_WRITABLE) && !export.is_writable() {
        return Err(PyBufferError::new_err(
            "[buffer] the memory is visible elsewhere, or read-only: only a read-only view can be had",
        ));
    }
    let c = is_dense(shape, strides, itemsize, false);
    let f = is_dense(shape, strides, itemsize, true);
    let refused = if asks(ffi::PyBUF_C_CONTIGUOUS) {
        !c
    } else if asks(ffi::PyBUF_F_CONTIGUOUS) {
        !f
    } else if asks(ffi::PyBUF_ANY_CONTIGUOUS) {
        !c && !f
    } else {
        !asks(ffi::PyBUF_STRIDES) && !c
    };
    if refused {
        return Err(PyBufferError::new_err(
            "[buffer] the array is not contiguous and the consumer takes no strides: copy it first",
        ));
    }
    Ok(())
}

#[pymethods]
impl PyArray {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("[buffer] got no view to fill"));
        }
        // SAFETY: the caller gives a view to fill; on failure its `obj` must be null.
        unsafe { (*view).obj = std::ptr::null_mut() };
        let dtype = slf.get().get().dtype();
        let Some(format) = struct_format(dtype) else {
            return Err(PyBufferError::new_err(format!(
                "[buffer] got {dtype}, for which the buffer protocol has no format, expected DLPack, or np.asarray \
                 with ml_dtypes"
            )));
        };
        let export = Export::new(slf.py(), slf.get())?;
        let itemsize = dtype.size() as isize;
        let shape: Vec<isize> = export.array.shape().iter().map(|&length| length as isize).collect();
        let strides: Vec<isize> = export.layout().strides.iter().map(|&stride| stride * itemsize).collect();
        check(flags, &export, &shape, &strides, itemsize)?;
        let (start, readonly, bytes) = (export.start(), !export.is_writable(), export.array.nbytes());
        let mut exported = Box::new(Exported { shape, strides, _export: export });
        let asks = |flag: c_int| flags & flag == flag;
        // SAFETY: `view` is the caller's to fill. Shape and strides live in the box that `internal` owns until
        // `__releasebuffer__`; the memory is pinned by the lease in it.
        unsafe {
            (*view).buf = start.cast();
            (*view).len = bytes as isize;
            (*view).itemsize = itemsize;
            (*view).readonly = c_int::from(readonly);
            (*view).ndim = exported.shape.len() as c_int;
            (*view).format =
                if asks(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { std::ptr::null_mut() };
            (*view).shape =
                if asks(ffi::PyBUF_ND) { exported.shape.as_mut_ptr() } else { std::ptr::null_mut() };
            (*view).strides =
                if asks(ffi::PyBUF_STRIDES) { exported.strides.as_mut_ptr() } else { std::ptr::null_mut() };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = Box::into_raw(exported).cast::<c_void>();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box that `__getbuffer__` made for this view, released once by the protocol.
        unsafe { drop(Box::from_raw((*view).internal.cast::<Exported>())) };
    }
}
