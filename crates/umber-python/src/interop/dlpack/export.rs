//! Export of arrays as DLPack capsules.

use std::ffi::c_void;
use std::sync::OnceLock;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{ffi, intern};
use umber_core::backend::{Backend, backend};

use super::super::export::Export;
use super::super::foreign_buffer::refuse;
use super::super::formats::dlpack_code;
use super::{
    CPU, IS_COPIED, Managed, ManagedVersioned, NAME, READ_ONLY, Tensor, VERSION, VERSIONED_NAME, device_name,
};
use crate::array::PyArray;

/// A managed tensor and the export it points into, in one allocation, whose address is that of the managed tensor.
#[repr(C)]
struct Exported<M> {
    managed: M,
    export: Export,
}

// DLPack's shape and strides are 64-bit integers; they point to the export's `usize` and `isize` values.
const _: () = assert!(size_of::<usize>() == size_of::<i64>());

impl<M> Exported<M> {
    /// Box an export with the managed tensor that `manage` creates for it; `tensor` projects to the tensor inside.
    fn boxed(
        export: Export,
        manage: impl FnOnce(Tensor) -> M,
        tensor: impl FnOnce(&mut M) -> &mut Tensor,
    ) -> *mut c_void {
        let (code, bits) = dlpack_code(export.dtype);
        let is_empty = export.bytes() == 0;
        let ndim = export.layout.ndim() as i32;
        let descriptor = Tensor {
            data: if is_empty { std::ptr::null_mut() } else { export.start().cast() },
            device_type: CPU,
            device_id: 0,
            ndim,
            code,
            bits,
            lanes: 1,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let mut exported = Box::new(Exported { managed: manage(descriptor), export });
        if ndim > 0 {
            let layout = &exported.export.layout;
            let (shape, strides) = (layout.shape.as_ptr(), layout.strides.as_ptr());
            let tensor = tensor(&mut exported.managed);
            tensor.shape = shape.cast_mut().cast();
            tensor.strides = strides.cast_mut().cast();
        }
        Box::into_raw(exported).cast()
    }
}

unsafe extern "C" fn delete<M>(managed: *mut M) {
    // SAFETY: the box was created by `Exported::boxed`, and a deleter is called once.
    unsafe { drop(Box::from_raw(managed.cast::<Exported<M>>())) };
}

unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule; a consumer renames a capsule whose tensor it takes over.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<Managed>();
            delete::<Managed>(managed);
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED_NAME.as_ptr()) == 1 {
            let managed =
                ffi::PyCapsule_GetPointer(capsule, VERSIONED_NAME.as_ptr()).cast::<ManagedVersioned>();
            delete::<ManagedVersioned>(managed);
        }
    }
}

/// The two kinds of capsule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Before 1.0: without a version, and without flags.
    Plain,
    Versioned,
}

/// Whether the memory in a capsule is shared with the array or a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Shared,
    Copied,
}

fn capsule(py: Python<'_>, export: Export, form: Form, content: Content) -> PyResult<Bound<'_, PyAny>> {
    let read_only = if export.is_writable() { 0 } else { READ_ONLY };
    let copied = if content == Content::Copied { IS_COPIED } else { 0 };
    let context = std::ptr::null_mut();
    let (pointer, name) = match form {
        Form::Versioned => {
            let (deleter, flags) = (Some(delete as _), read_only | copied);
            let manage = |tensor| ManagedVersioned { version: VERSION, context, deleter, flags, tensor };
            (Exported::boxed(export, manage, |managed| &mut managed.tensor), VERSIONED_NAME)
        }
        Form::Plain => {
            let manage = |tensor| Managed { tensor, context, deleter: Some(delete) };
            (Exported::boxed(export, manage, |managed| &mut managed.tensor), NAME)
        }
    };
    // SAFETY: the name is static, the pointer is a live box that `destroy` frees unless a consumer does.
    unsafe {
        let object = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy));
        Bound::from_owned_ptr_or_err(py, object)
    }
}

/// The CPU has no streams.
fn check_stream(stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(stream) = stream else { return Ok(()) };
    Err(match stream.extract::<i64>() {
        Ok(stream) => {
            PyValueError::new_err(format!("[__dlpack__] stream must be None on the CPU, got {stream}"))
        }
        Err(_) => PyTypeError::new_err(format!(
            "[__dlpack__] stream must be None on the CPU, got {}",
            stream.get_type().name()?
        )),
    })
}

#[pymethods]
impl PyArray {
    /// A DLPack capsule of this array's memory, versioned and with flags if `max_version` is 1.0 or more.
    ///
    /// A capsule without a version cannot mark its memory as read-only. It then holds a copy of memory that is shared, unless
    /// `copy` is false; memory that its producer declared read-only raises `BufferError`, unless `copy` is true. Memory with negative
    /// strides, which PyTorch and others reject, is copied unless `copy` is false, too.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        check_stream(stream)?;
        if let Some((kind, index)) = dl_device.filter(|&device| device != (CPU, 0)) {
            return Err(refuse(format!(
                "[__dlpack__] cannot export to device ({kind}, {index}), {} number {index}, only to (1, 0), \
                 the CPU",
                device_name(kind)
            )));
        }
        if let Some(backend) = elsewhere(slf.get())
            && (dl_device.is_none() || copy == Some(false))
        {
            let device = backend.device();
            return Err(refuse(format!(
                "[__dlpack__] memory of {device} cannot be shared with dl_device={}, copy={}; pass \
                 dl_device=(1, 0) for a copy on the CPU",
                dl_device.map_or_else(|| "None".to_owned(), |(kind, index)| format!("({kind}, {index})")),
                if copy == Some(false) { "False" } else { "None" },
            )));
        }
        let form =
            if max_version.is_some_and(|(major, _)| major >= 1) { Form::Versioned } else { Form::Plain };
        if copy == Some(true) {
            return capsule(py, Export::copied(py, slf.get())?, form, Content::Copied);
        }
        let export = Export::new(py, slf.get())?;
        if copy.is_none() && export.has_negative_strides() {
            return capsule(py, Export::copied(py, slf.get())?, form, Content::Copied);
        }
        if form == Form::Versioned {
            return capsule(py, export, form, Content::Shared);
        }
        let is_declared_read_only = export.is_declared_read_only();
        if let Some(exclusive) = export.into_exclusive()? {
            return capsule(py, exclusive, form, Content::Shared);
        }
        if copy == Some(false) || is_declared_read_only {
            return Err(refuse(format!(
                "[__dlpack__] read-only or shared memory needs a versioned capsule: got max_version={}, \
                 expected (1, 0) or later, or copy=True",
                max_version.map_or_else(|| "None".to_owned(), |(major, minor)| format!("({major}, {minor})"))
            )));
        }
        capsule(py, Export::copied(py, slf.get())?, form, Content::Copied)
    }

    /// The device type and index that the memory is on: `(1, 0)` for the CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        elsewhere(self).map_or((CPU, 0), Backend::dlpack_device)
    }
}

/// The backend of the device that an array is on, if that is not the CPU.
fn elsewhere(array: &PyArray) -> Option<&'static dyn Backend> {
    let device = array.get().device();
    if device == umber_core::Device::CPU { None } else { backend(device) }
}

/// PyO3's C function of `__dlpack__`.
static ORIGINAL: OnceLock<ffi::PyCFunctionFastWithKeywords> = OnceLock::new();

/// Whether a call of `__dlpack__` requests a versioned capsule and nothing else.
///
/// # Safety
/// The arguments are those of a call by the interpreter.
unsafe fn is_plain(
    py: Python<'_>,
    arguments: *const *mut ffi::PyObject,
    count: isize,
    names: *mut ffi::PyObject,
) -> bool {
    if count != 0 || names.is_null() {
        return false;
    }
    // SAFETY: `names` is a tuple, and there is one value for each name after the (absent) positional arguments.
    let (names, values) = unsafe {
        let names = Borrowed::from_ptr(py, names).cast_unchecked::<PyTuple>();
        (names, std::slice::from_raw_parts(arguments, names.len()))
    };
    let others = [intern!(py, "dl_device"), intern!(py, "copy"), intern!(py, "stream")];
    let mut is_versioned = false;
    for (name, &value) in names.iter_borrowed().zip(values) {
        // SAFETY: the interpreter keeps the arguments alive during the call.
        let value = unsafe { Borrowed::from_ptr(py, value) };
        if name.is(intern!(py, "max_version")) {
            is_versioned = value.extract::<(u32, u32)>().is_ok_and(|(major, _)| major >= 1);
            if !is_versioned {
                return false;
            }
        } else if !value.is_none() || !others.iter().any(|other| name.is(other)) {
            return false;
        }
    }
    is_versioned
}

/// Fast path of `__dlpack__` for an evaluated array and a versioned capsule, as current consumers request. All other calls are
/// passed on to [`ORIGINAL`].
unsafe extern "C" fn shared(
    own: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: isize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with the GIL held, with the stated number of arguments and an object of this class,
    // after ORIGINAL was set.
    unsafe {
        let py = Python::assume_attached();
        if is_plain(py, arguments, count, names) {
            let array = Borrowed::from_ptr(py, own).cast_unchecked::<PyArray>();
            if let Some(Ok(export)) = Export::evaluated_storage(py, array.get())
                && !export.has_negative_strides()
                && let Ok(capsule_object) = capsule(py, export, Form::Versioned, Content::Shared)
            {
                return capsule_object.into_ptr();
            }
        }
        ORIGINAL.get().map_or(std::ptr::null_mut(), |call| call(own, arguments, count, names))
    }
}

/// Install [`shared`] as the fast path of the C function of `__dlpack__`.
pub(crate) fn before_dlpack(original: ffi::PyCFunctionFastWithKeywords) -> ffi::PyCFunctionFastWithKeywords {
    ORIGINAL.get_or_init(|| original);
    shared
}
