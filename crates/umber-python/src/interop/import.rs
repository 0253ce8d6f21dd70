//! Memory that comes in: the buffer protocol, NumPy's array interface, DLPack, `__array__`, in this order.

use std::ffi::{CStr, c_int};
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView, PyTuple};
use umber::memory::{Access, Buffer, Stability};
use umber::{Array, DType, Layout, Shape, ops};

use super::formats::{ByteOrder, from_struct_format, from_typestr};
use crate::args::{DeviceArg, StreamArg, placed};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::enter::{OrRaise, enter, to_exception};

/// What `copy=` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    /// `None`: share where possible.
    IfNeeded,
    /// `True`.
    Always,
    /// `False`: raise where a copy is needed.
    Never,
}

impl Copying {
    pub(super) fn of(copy: Option<bool>) -> Copying {
        match copy {
            None => Copying::IfNeeded,
            Some(true) => Copying::Always,
            Some(false) => Copying::Never,
        }
    }

    /// A copy is needed: is it allowed?
    pub(super) fn allow(self, why: &str) -> PyResult<()> {
        if self == Copying::Never {
            return Err(to_exception(umber::Error::Buffer(format!(
                "[asarray] {why}: got copy=False, expected copy=None or True"
            ))));
        }
        Ok(())
    }
}

/// Somebody's memory as they describe it.
pub(super) struct Described {
    pub(super) start: *mut u8,
    pub(super) dtype: DType,
    pub(super) order: ByteOrder,
    pub(super) shape: Vec<usize>,
    /// In bytes.
    pub(super) strides: Vec<isize>,
    pub(super) access: Access,
    pub(super) stability: Stability,
    pub(super) trust: Trust,
}

/// What is known of a described address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It comes from the owner of the memory.
    Owner,
    /// Anybody may have written it down: the system is asked whether there is memory at all.
    Hearsay,
}

/// The array over described memory, kept alive by `keep`.
///
/// # Safety
/// Every element that shape and strides reach is readable while `keep` lives.
pub(super) unsafe fn share(
    from: Described,
    keep: Box<dyn std::any::Any + Send + Sync>,
    copying: Copying,
) -> PyResult<Array> {
    let itemsize = from.dtype.size();
    let too_large =
        || PyValueError::new_err("[asarray] got described memory, expected no more than memory can address");
    let mut bytes: usize = itemsize;
    for &length in &from.shape {
        bytes =
            bytes.checked_mul(length.max(1)).filter(|&b| isize::try_from(b).is_ok()).ok_or_else(too_large)?;
    }
    let shape = Shape::from(from.shape.clone());
    if shape.size() == 0 {
        return Array::from_storage(
            umber::graph::Storage::allocate(&shape, from.dtype).or_raise()?,
            from.dtype,
        )
        .or_raise();
    }
    let Some(address) = NonNull::new(from.start) else {
        return Err(PyValueError::new_err("[asarray] got described memory without an address, expected one"));
    };
    // The lowest and the highest address reached.
    let (mut low, mut high) = (0isize, 0isize);
    for (&length, &stride) in from.shape.iter().zip(&from.strides) {
        let reach =
            isize::try_from(length - 1).ok().and_then(|n| n.checked_mul(stride)).ok_or_else(too_large)?;
        if reach < 0 {
            low = low.checked_add(reach).ok_or_else(too_large)?;
        } else {
            high = high.checked_add(reach).ok_or_else(too_large)?;
        }
    }
    let span = high
        .checked_sub(low)
        .and_then(|span| usize::try_from(span).ok()?.checked_add(itemsize))
        .ok_or_else(too_large)?;
    let start = NonNull::new(from.start.wrapping_offset(low)).ok_or_else(too_large)?;
    if from.trust == Trust::Hearsay && !umber::memory::is_mapped(start.as_ptr(), span) {
        return Err(PyValueError::new_err(format!(
            "[asarray] the described memory is not there: got {span} bytes at address {start:p}, expected memory of \
             this process"
        )));
    }
    let aligned = (address.as_ptr() as usize).is_multiple_of(alignment(from.dtype))
        && from
            .strides
            .iter()
            .zip(&from.shape)
            .all(|(&stride, &n)| n <= 1 || stride % itemsize as isize == 0);
    if !aligned || from.order == ByteOrder::Swapped {
        copying.allow(if aligned {
            "the bytes are in the other order: a copy is needed"
        } else {
            "the elements are not aligned: a copy is needed"
        })?;
        // SAFETY: passed on from the caller.
        return unsafe { gather_bytes(&from, &shape) };
    }
    // SAFETY: the caller's promise, for the span that shape and strides reach.
    let buffer = unsafe { Buffer::foreign(start, span, from.access, from.stability, keep) };
    let layout = Layout {
        shape,
        strides: from
            .strides
            .iter()
            .zip(&from.shape)
            .map(|(&stride, &length)| if length <= 1 { 0 } else { stride / itemsize as isize })
            .collect(),
        offset: (-low) as usize / itemsize,
    };
    let array = Array::from_buffer(Arc::new(buffer), layout, from.dtype).or_raise()?;
    if copying == Copying::Always { array.copied().or_raise() } else { Ok(array) }
}

fn alignment(dtype: DType) -> usize {
    if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() }
}

/// A copy element by element, for memory that kernels cannot read.
///
/// # Safety
/// As for [`share`].
unsafe fn gather_bytes(from: &Described, shape: &Shape) -> PyResult<Array> {
    let itemsize = from.dtype.size();
    let unit = alignment(from.dtype);
    let mut bytes = vec![0u8; shape.size() * itemsize];
    for (i, element) in bytes.chunks_exact_mut(itemsize).enumerate() {
        let (mut rest, mut at) = (i, 0isize);
        for (&length, &stride) in from.shape.iter().zip(&from.strides).rev() {
            at += (rest % length) as isize * stride;
            rest /= length;
        }
        // SAFETY: `at` is the place of an element, by the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(from.start.wrapping_offset(at), element.as_mut_ptr(), itemsize);
        };
        if from.order == ByteOrder::Swapped {
            element.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
    }
    crate::convert::from_bytes(&bytes, shape, from.dtype)
}

/// A `Py_buffer` that is ours to release.
struct Held(Box<ffi::Py_buffer>);

// SAFETY: the buffer is released under the interpreter lock; its memory may be read from any thread.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // Without an interpreter left there is nobody to release to.
        let view: *mut ffi::Py_buffer = &raw mut *self.0;
        Python::try_attach(|_| {
            // SAFETY: filled by PyObject_GetBuffer, released once, under the lock.
            unsafe { ffi::PyBuffer_Release(view) };
        });
    }
}

/// Keeps a Python object alive from any thread.
struct Kept {
    _object: Py<PyAny>,
}

/// An array over the memory of an object that speaks the buffer protocol; `None` if it does not.
fn from_buffer(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    // SAFETY: asks about a live object.
    if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
        return Ok(None);
    }
    let mut held = Held(Box::new(ffi::Py_buffer::new()));
    // SAFETY: fills the boxed view, which stays where it is until released.
    if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *held.0, ffi::PyBUF_FULL_RO as c_int) } != 0
    {
        std::mem::forget(held);
        let _ = PyErr::take(object.py());
        return Ok(None);
    }
    let view = &held.0;
    let ndim = view.ndim as usize;
    let format = if view.format.is_null() {
        "B".to_owned()
    } else {
        // SAFETY: a NUL-terminated string that lives as long as the view.
        unsafe { CStr::from_ptr(view.format) }.to_string_lossy().into_owned()
    };
    let Some((dtype, order)) = from_struct_format(&format, view.itemsize as usize) else {
        // Others may say it in a way of their own (ml_dtypes through the array interface).
        return Ok(None);
    };
    if ndim > 0 && (view.shape.is_null() || view.strides.is_null()) {
        // An exporter that does not do what was asked for (NumPy's datetime scalars): see what else it speaks.
        return Ok(None);
    }
    // SAFETY: shape and strides are there, of `ndim` entries each as PyBUF_FULL_RO asks for.
    let (shape, strides) = unsafe {
        if ndim == 0 {
            (Vec::new(), Vec::new())
        } else {
            (
                std::slice::from_raw_parts(view.shape, ndim).iter().map(|&n| n as usize).collect(),
                std::slice::from_raw_parts(view.strides, ndim).to_vec(),
            )
        }
    };
    if !view.suboffsets.is_null() {
        return Err(PyTypeError::new_err(
            "[asarray] got an indirect buffer (suboffsets), expected a direct one",
        ));
    }
    let readonly = view.readonly != 0;
    let described = Described {
        start: view.buf.cast(),
        dtype,
        order,
        shape,
        strides,
        access: if readonly { Access::ReadOnly } else { Access::Writable },
        stability: if readonly && is_fixed(object) { Stability::Fixed } else { Stability::Changing },
        // An object of ctypes is made of any address; others own what they export.
        trust: if is_of_ctypes(object) { Trust::Hearsay } else { Trust::Owner },
    };
    // SAFETY: the exporter promises the memory until the view is released, which `held` does last.
    unsafe { share(described, Box::new(held), copying) }.map(Some)
}

/// Is the object one of ctypes, or a view of one?
fn is_of_ctypes(object: &Bound<'_, PyAny>) -> bool {
    let viewed = object.cast::<PyMemoryView>().ok().and_then(|view| view.getattr("obj").ok());
    let owner = viewed.as_ref().unwrap_or(object);
    // Its array types are made for their lengths, so that the metaclass tells.
    owner.get_type().get_type().module().is_ok_and(|module| module == "_ctypes")
}

/// Is memory that is read-only to us read-only to everybody?
fn is_fixed(object: &Bound<'_, PyAny>) -> bool {
    if object.is_instance_of::<PyBytes>() {
        return true;
    }
    // An ndarray that owns its read-only memory; a read-only view may have a writable base.
    let Ok(flags) = object.getattr("flags") else { return false };
    flags.getattr("owndata").and_then(|own| own.extract::<bool>()).unwrap_or(false)
}

/// An array over memory told of by NumPy's array interface; `None` if there is none.
fn from_interface(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    let Ok(interface) = object.getattr("__array_interface__") else { return Ok(None) };
    let Ok(interface) = interface.cast_into::<PyDict>() else { return Ok(None) };
    let get = |key: &str| interface.get_item(key).map(|item| item.filter(|item| !item.is_none()));
    let (Some(typestr), Some(shape), Some(data)) = (get("typestr")?, get("shape")?, get("data")?) else {
        return Ok(None);
    };
    let name = object.getattr("dtype").and_then(|d| d.getattr("name")).and_then(|n| n.extract::<String>());
    let known = match name.as_deref() {
        Ok("bfloat16") => Some((DType::BFloat16, ByteOrder::Native)),
        _ => from_typestr(&typestr.extract::<String>()?),
    };
    let Some((dtype, order)) = known else {
        return Err(PyTypeError::new_err(format!(
            "[asarray] got elements of type {typestr}, expected one that umber has a dtype for"
        )));
    };
    let Ok((address, readonly)) = data.extract::<(usize, bool)>() else { return Ok(None) };
    let shape: Vec<usize> = shape.extract()?;
    let strides = match get("strides")? {
        Some(strides) => strides.cast::<PyTuple>()?.extract()?,
        None => {
            let dense = umber::types::layout::row_major_strides(&shape);
            dense.iter().map(|stride| stride * dtype.size() as isize).collect::<Vec<_>>()
        }
    };
    if strides.len() != shape.len() {
        return Err(PyValueError::new_err(
            "[asarray] got an array interface with strides of another length than its shape, expected one for each \
             axis",
        ));
    }
    let described = Described {
        start: address as *mut u8,
        dtype,
        order,
        shape,
        strides,
        access: if readonly { Access::ReadOnly } else { Access::Writable },
        stability: if readonly && is_fixed(object) { Stability::Fixed } else { Stability::Changing },
        trust: Trust::Hearsay,
    };
    // SAFETY: the interface promises the memory while the object lives, which `Kept` ensures.
    unsafe { share(described, Box::new(Kept { _object: object.clone().unbind() }), copying) }.map(Some)
}

/// An array over (or a copy of) what an object shares by any protocol; `None` if it shares nothing.
pub(crate) fn from_shared(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    if let Some(array) = from_buffer(object, copying)? {
        return Ok(Some(array));
    }
    if let Some(array) = from_interface(object, copying)? {
        return Ok(Some(array));
    }
    if object.hasattr("__dlpack__")? {
        return super::dlpack::import(object, copying).map(Some);
    }
    if object.hasattr("__array__")? && !object.is_instance_of::<pyo3::types::PyType>() {
        let made = object.call_method0("__array__")?;
        if made.is(object) {
            return Ok(None);
        }
        copying.allow("the object makes a new array for __array__: a copy is needed")?;
        return from_buffer(&made, Copying::Always).and_then(|found| match found {
            Some(array) => Ok(Some(array)),
            None => from_interface(&made, Copying::Always),
        });
    }
    Ok(None)
}

/// An array of `a`: shared with whatever `a` shares its memory by, unless `dtype` or `copy` asks for a copy.
///
/// Operations on an array whose producer can still write run when they are recorded.
#[pyfunction]
#[pyo3(signature = (a, dtype = None, *, device = None, copy = None, stream = None))]
fn asarray(
    a: &Bound<'_, PyAny>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    copy: Option<bool>,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    let copying = Copying::of(copy);
    let wanted = dtype.map(|dtype| dtype.0);
    // All memory that an array can be over is where every device reads it.
    let _ = placed("asarray", stream, device)?;
    let array = if let Ok(own) = a.cast::<PyArray>() {
        let own = own.get().get();
        // Inside a transform there is no memory to copy, and a copy would be a constant to a derivative.
        if copying == Copying::Always && !own.is_traced() {
            let py = a.py();
            enter(py, || own.eval())?;
            own.copied().or_raise()?
        } else {
            own
        }
    } else if let Some(shared) = crate::convert::shared(a, copying)? {
        shared
    } else {
        copying.allow("a Python number or sequence has no memory to share: a copy is needed")?;
        return crate::convert::array(a, wanted).map(PyArray::from);
    };
    match wanted {
        Some(dtype) if dtype != array.dtype() => {
            copying.allow("a conversion to another dtype needs a copy")?;
            ops::astype(&array, dtype).or_raise().map(PyArray::from)
        }
        _ => Ok(PyArray::sharing(array)),
    }
}

/// An array over the memory of a NumPy array.
///
/// With `zero_copy` the memory is handed over: `a` becomes read-only, so that operations stay lazy. Without, it is
/// copied.
#[pyfunction]
#[pyo3(signature = (a, *, zero_copy = true))]
fn from_numpy(a: &Bound<'_, PyAny>, zero_copy: bool) -> PyResult<PyArray> {
    let numpy = a.py().import("numpy")?;
    if !a.is_instance(&numpy.getattr("ndarray")?)? {
        return Err(PyTypeError::new_err(format!(
            "[from_numpy] expected a NumPy array, got {}",
            a.get_type().name()?
        )));
    }
    if zero_copy {
        a.getattr("flags")?.setattr("writeable", false)?;
    }
    let copying = if zero_copy { Copying::Never } else { Copying::Always };
    match from_shared(a, copying)? {
        Some(array) => Ok(PyArray::sharing(array)),
        None => Err(PyTypeError::new_err(format!(
            "[from_numpy] got elements of {}, expected a type that umber has a dtype for",
            a.getattr("dtype")?
        ))),
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(asarray, module)?)?;
    module.add_function(wrap_pyfunction!(from_numpy, module)?)
}
