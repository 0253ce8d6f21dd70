//! DLPack, both ways (structures after the published header, version 1.1).
//!
//! A capsule owns its managed tensor until a consumer renames it; then the consumer calls the deleter, once, from
//! any thread.

use std::ffi::{CStr, c_void};

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umber::memory::{Access, Stability};
use umber::types::layout::row_major_strides;

use super::export::Export;
use super::formats::{ByteOrder, dlpack_code, from_dlpack_code};
use super::import::{Copying, Described, Trust, share};
use crate::array::PyArray;
use crate::enter::{OrRaise, to_exception};

const CPU: i32 = 1;
/// Host memory that CUDA pinned or manages: readable by the CPU.
const CPU_READABLE: [i32; 3] = [CPU, 3, 13];
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
const VERSION: Version = Version { major: 1, minor: 1 };

const NAME: &CStr = c"dltensor";
const USED_NAME: &CStr = c"used_dltensor";
const VERSIONED_NAME: &CStr = c"dltensor_versioned";
const USED_VERSIONED_NAME: &CStr = c"used_dltensor_versioned";

#[repr(C)]
#[derive(Clone, Copy)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: Tensor,
}

/// What an exported tensor points into.
struct Context {
    shape: Vec<i64>,
    strides: Vec<i64>,
    _export: Export,
}

fn describe(export: Export) -> (Tensor, *mut c_void) {
    let dtype = export.array.dtype();
    let (code, bits) = dlpack_code(dtype);
    let empty = export.array.size() == 0;
    let data = if empty { std::ptr::null_mut() } else { export.start().cast() };
    let shape: Vec<i64> = export.array.shape().iter().map(|&length| length as i64).collect();
    let strides: Vec<i64> = export.layout().strides.iter().map(|&stride| stride as i64).collect();
    let mut context = Box::new(Context { shape, strides, _export: export });
    let scalar = context.shape.is_empty();
    let tensor = Tensor {
        data,
        device_type: CPU,
        device_id: 0,
        ndim: context.shape.len() as i32,
        code,
        bits,
        lanes: 1,
        shape: if scalar { std::ptr::null_mut() } else { context.shape.as_mut_ptr() },
        strides: if scalar { std::ptr::null_mut() } else { context.strides.as_mut_ptr() },
        byte_offset: 0,
    };
    (tensor, Box::into_raw(context).cast())
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both boxes were made by `capsule`, and a deleter is called once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Context>()));
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: as in `delete`.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Context>()));
    }
}

unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: called by Python with the capsule; a consumer has renamed what it took over.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<Managed>();
            delete(managed);
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED_NAME.as_ptr()) == 1 {
            let managed =
                ffi::PyCapsule_GetPointer(capsule, VERSIONED_NAME.as_ptr()).cast::<ManagedVersioned>();
            delete_versioned(managed);
        }
    }
}

fn capsule(py: Python<'_>, export: Export, versioned: bool, copied: bool) -> PyResult<Bound<'_, PyAny>> {
    let read_only = !export.is_writable();
    let (tensor, context) = describe(export);
    let (pointer, name) = if versioned {
        let flags = if read_only { READ_ONLY } else { 0 } | if copied { IS_COPIED } else { 0 };
        let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut ManagedVersioned));
        let managed = ManagedVersioned { version: VERSION, context, deleter, flags, tensor };
        (Box::into_raw(Box::new(managed)).cast::<c_void>(), VERSIONED_NAME)
    } else {
        let managed = Managed { tensor, context, deleter: Some(delete) };
        (Box::into_raw(Box::new(managed)).cast::<c_void>(), NAME)
    };
    // SAFETY: the name is static, the pointer is a live box that `destroy` frees unless a consumer does.
    unsafe {
        let object = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy));
        Bound::from_owned_ptr_or_err(py, object)
    }
}

#[pymethods]
impl PyArray {
    /// A DLPack capsule of this array's memory.
    ///
    /// Without `max_version`, or below 1.0, the capsule cannot say that it is read-only: then memory that others see
    /// raises `BufferError`, unless `copy` is true.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(stream) = stream {
            return Err(if stream.extract::<i64>().is_ok() {
                PyValueError::new_err("[dlpack] stream must be None for memory of the CPU")
            } else {
                PyTypeError::new_err(
                    "[dlpack] stream must be None for memory of the CPU, got no integer either",
                )
            });
        }
        if let Some((kind, _)) = dl_device.filter(|(kind, _)| *kind != CPU) {
            return Err(PyBufferError::new_err(format!(
                "[dlpack] cannot export to a device of type {kind}, only to the CPU"
            )));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if copy == Some(true) {
            return capsule(py, Export::copied(py, slf.get())?, versioned, true);
        }
        let export = Export::new(py, slf.get())?;
        if !versioned && !export.is_writable() && super::export::is_foreign_read_only(&export) {
            return Err(PyBufferError::new_err(
                "[dlpack] the memory is read-only, which a capsule without version cannot say: ask for \
                 max_version=(1, 0) or copy=True",
            ));
        }
        capsule(py, export, versioned, false)
    }

    /// The device type and index that the memory is on: `(1, 0)`, the CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (CPU, 0)
    }
}

/// A managed tensor taken over from a capsule: its deleter is called when the last array over it is gone.
enum Owned {
    Plain(*mut Managed),
    Versioned(*mut ManagedVersioned),
}

// SAFETY: DLPack allows the deleter to be called from any thread.
unsafe impl Send for Owned {}
// SAFETY: only `drop` uses the pointer.
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // Deleters of Python producers need the interpreter; without one left the memory goes with the process.
        Python::try_attach(|_| {
            // SAFETY: taken over from a renamed capsule, so the deleter is ours to call, once.
            unsafe {
                match *self {
                    Owned::Plain(managed) => {
                        if let Some(deleter) = (*managed).deleter {
                            deleter(managed);
                        }
                    }
                    Owned::Versioned(managed) => {
                        if let Some(deleter) = (*managed).deleter {
                            deleter(managed);
                        }
                    }
                }
            }
        });
    }
}

/// Ask for a capsule, of the newest kind that the producer knows.
fn request<'py>(object: &Bound<'py, PyAny>, copying: Copying) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let keywords = PyDict::new(py);
    keywords.set_item("max_version", (VERSION.major, VERSION.minor))?;
    match copying {
        Copying::IfNeeded => {}
        Copying::Always => keywords.set_item("copy", true)?,
        Copying::Never => keywords.set_item("copy", false)?,
    }
    match object.call_method("__dlpack__", (), Some(&keywords)) {
        Err(first) if first.is_instance_of::<PyTypeError>(py) => {
            object.call_method0("__dlpack__").map_err(|_| first)
        }
        other => other,
    }
}

fn check_tensor(tensor: &Tensor) -> PyResult<umber::DType> {
    if !CPU_READABLE.contains(&tensor.device_type) {
        return Err(PyBufferError::new_err(format!(
            "[from_dlpack] the memory is on a device of type {}, which the CPU cannot read",
            tensor.device_type
        )));
    }
    match from_dlpack_code(tensor.code, tensor.bits) {
        Some(dtype) if tensor.lanes == 1 => Ok(dtype),
        _ => Err(PyBufferError::new_err(format!(
            "[from_dlpack] no dtype of umber holds elements of type code {}, {} bits and {} lanes",
            tensor.code, tensor.bits, tensor.lanes
        ))),
    }
}

/// Read shape and strides of a tensor.
///
/// # Safety
/// The tensor is a live one that follows the DLPack specification.
unsafe fn read(tensor: &Tensor, access: Access, stability: Stability) -> PyResult<Described> {
    let dtype = check_tensor(tensor)?;
    let ndim = usize::try_from(tensor.ndim)
        .map_err(|_| PyBufferError::new_err(format!("[from_dlpack] got {} dimensions", tensor.ndim)))?;
    // SAFETY: the specification gives `ndim` entries each; strides may be absent for dense memory.
    let (shape, strides) = unsafe {
        let shape: Vec<i64> =
            if ndim == 0 { Vec::new() } else { std::slice::from_raw_parts(tensor.shape, ndim).to_vec() };
        let strides = (ndim > 0 && !tensor.strides.is_null())
            .then(|| std::slice::from_raw_parts(tensor.strides, ndim).to_vec());
        (shape, strides)
    };
    let lengths: Vec<usize> = umber::Shape::checked("from_dlpack", &shape).map_err(to_exception)?.to_vec();
    let itemsize = dtype.size() as isize;
    let steps: Vec<isize> = match strides {
        Some(strides) => strides
            .iter()
            .map(|&stride| (stride as isize).checked_mul(itemsize))
            .collect::<Option<_>>()
            .ok_or_else(|| PyBufferError::new_err("[from_dlpack] the strides overflow"))?,
        None => row_major_strides(&lengths).iter().map(|stride| stride * itemsize).collect(),
    };
    Ok(Described {
        start: tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize),
        dtype,
        order: ByteOrder::Native,
        shape: lengths,
        strides: steps,
        access,
        stability,
        trust: Trust::Hearsay,
    })
}

/// An array over the memory of an object that speaks DLPack.
pub(super) fn import(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<umber::Array> {
    let capsule = request(object, copying)?;
    consume(&capsule, copying)
}

fn consume(capsule: &Bound<'_, PyAny>, copying: Copying) -> PyResult<umber::Array> {
    let pointer = capsule.as_ptr();
    let named = |name: &CStr| {
        // SAFETY: asks about a live object; false for anything but a capsule of that name.
        unsafe { ffi::PyCapsule_IsValid(pointer, name.as_ptr()) == 1 }
    };
    // SAFETY: a capsule of either name holds a managed tensor of that kind; it is renamed before the tensor is taken
    // over, and left as it was when refused.
    unsafe {
        if named(VERSIONED_NAME) {
            let managed =
                ffi::PyCapsule_GetPointer(pointer, VERSIONED_NAME.as_ptr()).cast::<ManagedVersioned>();
            if (*managed).version.major != VERSION.major {
                return Err(PyBufferError::new_err(format!(
                    "[from_dlpack] the capsule is of version {}, expected 1",
                    (*managed).version.major
                )));
            }
            let flags = (*managed).flags;
            if copying == Copying::Never && flags & IS_COPIED != 0 {
                copying.allow("the producer made a copy")?;
            }
            let (access, stability) = if flags & IS_COPIED != 0 {
                (Access::Writable, Stability::Fixed)
            } else if flags & READ_ONLY != 0 {
                (Access::ReadOnly, Stability::Changing)
            } else {
                (Access::Writable, Stability::Changing)
            };
            let described = read(&(*managed).tensor, access, stability)?;
            ffi::PyCapsule_SetName(pointer, USED_VERSIONED_NAME.as_ptr());
            let array = share(described, Box::new(Owned::Versioned(managed)), without_always(copying))?;
            let needs_copy = copying == Copying::Always && flags & IS_COPIED == 0;
            return if needs_copy { array.copied().or_raise() } else { Ok(array) };
        }
        if named(NAME) {
            let managed = ffi::PyCapsule_GetPointer(pointer, NAME.as_ptr()).cast::<Managed>();
            // Without flags nobody knows who may write: never through us, perhaps by the producer.
            let described = read(&(*managed).tensor, Access::ReadOnly, Stability::Changing)?;
            ffi::PyCapsule_SetName(pointer, USED_NAME.as_ptr());
            return share(described, Box::new(Owned::Plain(managed)), copying);
        }
        if named(USED_NAME) || named(USED_VERSIONED_NAME) {
            return Err(PyBufferError::new_err("[from_dlpack] the capsule was consumed before"));
        }
    }
    Err(PyTypeError::new_err(format!(
        "[from_dlpack] expected an object with __dlpack__, got {}",
        capsule.get_type().name()?
    )))
}

fn without_always(copying: Copying) -> Copying {
    if copying == Copying::Always { Copying::IfNeeded } else { copying }
}

/// An array over the memory of an object with `__dlpack__`, shared unless `copy` is true.
#[pyfunction]
#[pyo3(signature = (x, /, *, device = None, copy = None))]
fn from_dlpack(
    x: &Bound<'_, PyAny>,
    device: Option<crate::args::DeviceArg>,
    copy: Option<bool>,
) -> PyResult<PyArray> {
    // All memory that an array can be over is where every device reads it.
    let _ = device;
    let copying = Copying::of(copy);
    if !x.hasattr("__dlpack__")? {
        return consume(x, copying).map(PyArray::sharing);
    }
    import(x, copying).map(PyArray::sharing)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(from_dlpack, module)?)
}
