//! The buffer protocol (PEP 3118), outwards.

use std::ffi::{CStr, c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::described::refuse;
use super::export::Export;
use super::formats::struct_format;
use crate::array::PyArray;

/// What a `Py_buffer` points into while it is out.
struct Exported {
    shape: SmallVec<[ffi::Py_ssize_t; 4]>,
    strides: SmallVec<[ffi::Py_ssize_t; 4]>,
    _export: Export,
}

fn is_dense(shape: &[isize], strides: &[isize], itemsize: isize, fortran: bool) -> bool {
    let mut step = itemsize;
    if shape.contains(&0) {
        return true;
    }
    for place in 0..shape.len() {
        let axis = if fortran { place } else { shape.len() - 1 - place };
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
        return Err(refuse(
            "[buffer] the memory is read-only, or visible elsewhere: got a request for a writable view, expected one \
             for reading"
                .into(),
        ));
    }
    let c = is_dense(shape, strides, itemsize, false);
    let f = is_dense(shape, strides, itemsize, true);
    let refused = (asks(ffi::PyBUF_C_CONTIGUOUS) && !c)
        || (asks(ffi::PyBUF_F_CONTIGUOUS) && !f)
        || (asks(ffi::PyBUF_ANY_CONTIGUOUS) && !c && !f)
        || (!asks(ffi::PyBUF_STRIDES) && !c);
    if refused {
        return Err(refuse(format!(
            "[buffer] the array is not contiguous as asked: got shape {shape:?} with steps of {strides:?} bytes, \
             expected a consumer that takes strides, or a copy"
        )));
    }
    Ok(())
}

/// Fill a view of an export whose elements are called `format`; `owner` is released with it.
///
/// # Safety
/// `view` is the caller's to fill, and `owner` releases it by [`release`].
unsafe fn fill(
    view: *mut ffi::Py_buffer,
    flags: c_int,
    export: Export,
    format: &'static CStr,
    owner: Bound<'_, PyAny>,
) -> PyResult<()> {
    let itemsize = export.dtype.size() as isize;
    let shape: SmallVec<[isize; 4]> = export.layout.shape.iter().map(|&length| length as isize).collect();
    let strides: SmallVec<[isize; 4]> = export.strides().iter().map(|&stride| stride * itemsize).collect();
    check(flags, &export, &shape, &strides, itemsize)?;
    let (start, readonly, bytes) = (export.start(), !export.is_writable(), export.bytes());
    let mut exported = Box::new(Exported { shape, strides, _export: export });
    let asks = |flag: c_int| flags & flag == flag;
    let given = |asked: bool, values: &mut SmallVec<[ffi::Py_ssize_t; 4]>| {
        // Without axes there is nothing to point to.
        if asked && !values.is_empty() { values.as_mut_ptr() } else { std::ptr::null_mut() }
    };
    // SAFETY: `view` is the caller's to fill. Shape and strides live in the box that `internal` owns until
    // `release`; the memory is pinned by the lease in it.
    unsafe {
        (*view).buf = start.cast();
        (*view).len = bytes as isize;
        (*view).itemsize = itemsize;
        (*view).readonly = c_int::from(readonly);
        // Who does not ask for axes sees bytes in a row, and would refuse more than one.
        (*view).ndim = if asks(ffi::PyBUF_ND) { exported.shape.len() as c_int } else { 1 };
        (*view).format =
            if asks(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { std::ptr::null_mut() };
        (*view).shape = given(asks(ffi::PyBUF_ND), &mut exported.shape);
        (*view).strides = given(asks(ffi::PyBUF_STRIDES), &mut exported.strides);
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = Box::into_raw(exported).cast::<c_void>();
        (*view).obj = owner.into_ptr();
    }
    Ok(())
}

/// Let go of what [`fill`] filled.
///
/// # Safety
/// Called once for each filled view.
unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is the box that `fill` made for this view.
    unsafe { drop(Box::from_raw((*view).internal.cast::<Exported>())) };
}

/// A view to fill, with its owner marked as missing, as a view that is refused must have it.
fn to_fill(view: *mut ffi::Py_buffer) -> PyResult<*mut ffi::Py_buffer> {
    if view.is_null() {
        return Err(PyBufferError::new_err("[buffer] got no view to fill, expected one"));
    }
    // SAFETY: the caller gives a view to fill.
    unsafe { (*view).obj = std::ptr::null_mut() };
    Ok(view)
}

#[pymethods]
impl PyArray {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let view = to_fill(view)?;
        let dtype = slf.get().get().dtype();
        let Some(format) = struct_format(dtype) else {
            return Err(refuse(format!(
                "[buffer] the buffer protocol has no format for these elements: got {dtype}, expected DLPack, or \
                 np.asarray with ml_dtypes"
            )));
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

/// The bits of an array's elements of one or two bytes, for which the protocol has no format.
#[pyclass(frozen)]
pub(super) struct Bits {
    array: Py<PyArray>,
}

impl Bits {
    /// The bits of `array`.
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
