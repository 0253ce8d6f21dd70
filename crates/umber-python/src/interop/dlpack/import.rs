//! Import of arrays from DLPack capsules.

use std::ffi::CStr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umber_core::Array;
use umber_core::memory::{Access, ExternalWrites};
use umber_core::types::layout::{Strides, row_major_strides};

use super::super::foreign_buffer::{CheckedBuffer, Copying, ForeignBuffer, Provenance, refuse};
use super::super::formats::{ByteOrder, from_dlpack_code};
use super::super::import::{is_fixed, own};
use super::super::ndarray::{self, from_ndarray};
use super::{
    CPU, CPU_READABLE, IS_COPIED, Managed, ManagedVersioned, NAME, READ_ONLY, Tensor, USED_NAME,
    USED_VERSIONED_NAME, VERSION, VERSIONED_NAME, Version, device_name, type_name,
};
use crate::args::DeviceArg;
use crate::array::PyArray;
use crate::error_text::shortened;
use crate::new_array::NewArray;

/// Limit on the number of axes, so that a malicious capsule does not cause reads of arbitrary length.
const MAX_AXES: usize = 64;

/// A managed tensor taken over from a capsule: its deleter is called when the last array over it is dropped.
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
        // Deleters of Python producers need the interpreter; after it has shut down, the memory is leaked.
        Python::try_attach(|_| {
            // SAFETY: the tensor was taken over from a renamed capsule, so its deleter must be called here, once.
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

/// The requested device. Only the CPU is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    /// Not specified: the device of the producer's memory.
    Unspecified,
    /// Requested explicitly.
    Cpu,
}

/// Reject memory that the CPU cannot read before requesting a capsule, unless the producer may copy it.
fn check_device(object: &Bound<'_, PyAny>, device: Device, copying: Copying) -> PyResult<()> {
    let Some(method) = object.getattr_opt(intern!(object.py(), "__dlpack_device__"))? else { return Ok(()) };
    let reported = method.call0()?;
    let (kind, _): (i32, i32) = reported.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "[from_dlpack] __dlpack_device__ returned {}, expected the numbers of a device type and a device",
            shortened(&reported)
        ))
    })?;
    if CPU_READABLE.contains(&kind) || (device == Device::Cpu && copying != Copying::Never) {
        return Ok(());
    }
    Err(wrong_device(kind))
}

fn wrong_device(kind: i32) -> PyErr {
    refuse(format!(
        "[from_dlpack] the CPU cannot read memory of device type {kind}, {}; pass device=cpu if the producer \
         can copy",
        device_name(kind)
    ))
}

/// Request a capsule of the newest version that the producer supports.
fn request<'py>(object: &Bound<'py, PyAny>, device: Device, copying: Copying) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "max_version"), (VERSION.major, VERSION.minor))?;
    if device == Device::Cpu {
        keywords.set_item("dl_device", (CPU, 0))?;
    }
    match copying {
        Copying::IfNeeded => {}
        Copying::Always => keywords.set_item("copy", true)?,
        Copying::Never => keywords.set_item("copy", false)?,
    }
    match object.call_method(intern!(py, "__dlpack__"), (), Some(&keywords)) {
        // The producer may predate these keywords.
        Err(first) if first.is_instance_of::<PyTypeError>(py) => {
            object.call_method0("__dlpack__").map_err(|second| {
                // An error with a traceback was raised inside the producer and names the cause; one of the call itself only means
                // that the producer predates the keywords.
                let is_own = |error: &PyErr| error.traceback(py).is_some();
                let is_older =
                    !is_own(&first) && (is_own(&second) || !second.is_instance_of::<PyTypeError>(py));
                if is_older { second } else { first }
            })
        }
        other => other,
    }
}

fn check_tensor(tensor: &Tensor) -> PyResult<umber_core::DType> {
    if !CPU_READABLE.contains(&tensor.device_type) {
        return Err(wrong_device(tensor.device_type));
    }
    match from_dlpack_code(tensor.code, tensor.bits) {
        Some(dtype) if tensor.lanes == 1 => Ok(dtype),
        _ => Err(refuse(format!(
            "[from_dlpack] elements of type code {} ({}), {} bits and {} lanes are not supported",
            tensor.code,
            type_name(tensor.code),
            tensor.bits,
            tensor.lanes
        ))),
    }
}

/// Read shape and strides of a tensor.
///
/// # Safety
/// The tensor is a live one that follows the DLPack specification.
unsafe fn read(tensor: &Tensor, access: Access, stability: ExternalWrites) -> PyResult<ForeignBuffer> {
    let dtype = check_tensor(tensor)?;
    let ndim = usize::try_from(tensor.ndim).ok().filter(|&ndim| ndim <= MAX_AXES).ok_or_else(|| {
        refuse(format!("[from_dlpack] tensor has {} axes, expected 0 to {MAX_AXES}", tensor.ndim))
    })?;
    if ndim > 0 && tensor.shape.is_null() {
        return Err(refuse(format!("[from_dlpack] tensor of {ndim} axes has no shape")));
    }
    // SAFETY: the specification gives `ndim` entries each; strides may be absent for dense memory.
    let (shape, strides) = unsafe {
        let shape: &[i64] = if ndim == 0 { &[] } else { std::slice::from_raw_parts(tensor.shape, ndim) };
        let strides =
            (ndim > 0 && !tensor.strides.is_null()).then(|| std::slice::from_raw_parts(tensor.strides, ndim));
        (shape, strides)
    };
    let shape =
        umber_core::Shape::checked("from_dlpack", shape).map_err(|error| refuse(error.to_string()))?;
    let itemsize = dtype.size() as isize;
    let steps: Strides = match strides {
        Some(strides) => strides
            .iter()
            .zip(shape.iter())
            // The stride of an axis of length 1 is never used.
            .map(|(&stride, &n)| if n == 1 { Some(0) } else { (stride as isize).checked_mul(itemsize) })
            .collect::<Option<_>>()
            .ok_or_else(|| refuse(format!("[from_dlpack] strides {strides:?} are too large to address")))?,
        None => row_major_strides(&shape).iter().map(|stride| stride * itemsize).collect(),
    };
    let offset = usize::try_from(tensor.byte_offset).ok();
    if offset.and_then(|offset| (tensor.data as usize).checked_add(offset)).is_none() {
        return Err(refuse(format!(
            "[from_dlpack] byte_offset {} is too large to address",
            tensor.byte_offset
        )));
    }
    Ok(ForeignBuffer {
        start: tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize),
        dtype,
        order: ByteOrder::Native,
        shape,
        strides: steps,
        access,
        stability,
        provenance: Provenance::Untrusted,
    })
}

/// An array over the memory of an object that speaks DLPack.
pub(in super::super) fn import(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Array> {
    import_to(object, Device::Unspecified, copying)
}

fn import_to(object: &Bound<'_, PyAny>, device: Device, copying: Copying) -> PyResult<Array> {
    check_device(object, device, copying)?;
    let capsule = request(object, device, copying)?;
    consume(
        &capsule,
        || if is_fixed(object) { ExternalWrites::Fixed } else { ExternalWrites::Possible },
        copying,
    )
}

fn is_named(capsule: &Bound<'_, PyAny>, name: &CStr) -> bool {
    // SAFETY: the object is live; the function returns false for anything but a capsule of that name.
    unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) == 1 }
}

/// Take over the tensor of a capsule; a rejected capsule is left unchanged. `stability` computes whether others may write memory
/// that is read-only to the consumer.
fn consume(
    capsule: &Bound<'_, PyAny>,
    stability: impl Fn() -> ExternalWrites,
    copying: Copying,
) -> PyResult<Array> {
    let pointer = capsule.as_ptr();
    if is_named(capsule, VERSIONED_NAME) {
        // SAFETY: a capsule of this name holds a managed tensor of this kind; for another major version only the
        // version is read.
        return unsafe {
            let managed =
                ffi::PyCapsule_GetPointer(pointer, VERSIONED_NAME.as_ptr()).cast::<ManagedVersioned>();
            if (*managed).version.major != VERSION.major {
                let Version { major, minor } = (*managed).version;
                return Err(refuse(format!(
                    "[from_dlpack] capsule version {major}.{minor} is not supported, expected version 1"
                )));
            }
            let flags = (*managed).flags;
            let is_copied = flags & IS_COPIED != 0;
            if is_copied {
                copying.allow("the producer made a copy")?;
            }
            let (access, stability) = match (is_copied, flags & READ_ONLY != 0) {
                (true, false) => (Access::Writable, ExternalWrites::Fixed),
                (true, true) => (Access::ReadOnly, ExternalWrites::Fixed),
                (false, true) => (Access::ReadOnly, stability()),
                (false, false) => (Access::Writable, ExternalWrites::Possible),
            };
            let copying = if is_copied { Copying::IfNeeded } else { copying };
            let buffer = read(&(*managed).tensor, access, stability)?;
            take(capsule, USED_VERSIONED_NAME, &buffer.check(copying)?, Owned::Versioned(managed))
        };
    }
    if is_named(capsule, NAME) {
        // SAFETY: a capsule of this name holds a managed tensor without a version.
        return unsafe {
            let managed = ffi::PyCapsule_GetPointer(pointer, NAME.as_ptr()).cast::<Managed>();
            // Without flags it is unknown who may write: umber does not, but the producer may.
            let buffer = read(&(*managed).tensor, Access::Undeclared, stability())?;
            take(capsule, USED_NAME, &buffer.check(copying)?, Owned::Plain(managed))
        };
    }
    if is_named(capsule, USED_NAME) || is_named(capsule, USED_VERSIONED_NAME) {
        return Err(refuse("[from_dlpack] the capsule was already consumed".into()));
    }
    Err(PyTypeError::new_err(format!(
        "[from_dlpack] got {}, expected an object with __dlpack__ or a DLPack capsule",
        capsule.get_type().name()?
    )))
}

/// The array over, or copied from, a validated tensor.
///
/// # Safety
/// The checked memory is that of the capsule's tensor, and `owned` is the capsule's managed tensor.
unsafe fn take(
    capsule: &Bound<'_, PyAny>,
    used: &'static CStr,
    checked: &CheckedBuffer<'_>,
    owned: Owned,
) -> PyResult<Array> {
    // The deleter may be called only after the capsule was renamed.
    let owned = std::mem::ManuallyDrop::new(owned);
    // SAFETY: the capsule keeps the memory alive during the copy.
    let copy = unsafe { checked.copy_if_needed(capsule.py()) }?;
    // SAFETY: the capsule is live and the name is static.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
        return Err(PyErr::fetch(capsule.py()));
    }
    let owned = std::mem::ManuallyDrop::into_inner(owned);
    match copy {
        Some(copy) => Ok(copy),
        // SAFETY: `owned` keeps the memory alive.
        None => unsafe { checked.share(Box::new(owned)) },
    }
}

/// Array over the memory of an object that exports DLPack.
///
/// Parameters
/// ----------
/// x : object with `__dlpack__` and `__dlpack_device__`
///     Array of any library, in memory of the host.
/// device : Device, optional
///     Device of the result. The producer is asked to copy memory of another device to the host. Default: the producer's.
/// copy : bool, optional
///     True always copies, False raises where sharing is impossible, None copies only where it must. Default: None.
///
/// Returns
/// -------
/// array
///     Same shape and dtype as `x`, sharing its memory unless copied.
///
/// Raises
/// ------
/// BufferError
///     If `copy` is False and the memory cannot be shared.
///
/// See Also
/// --------
/// asarray
///
/// Notes
/// -----
/// Operations on memory that its producer can still write are evaluated when they are recorded.
///
/// Examples
/// --------
/// >>> a = np.array([1.0, 2.0])
/// >>> x = mx.from_dlpack(a)
/// >>> a[0] = 5.0
/// >>> x
/// array([5, 2], dtype=float64)
#[pyfunction]
#[pyo3(signature = (x, /, *, device = None, copy = None))]
fn from_dlpack(x: &Bound<'_, PyAny>, device: Option<DeviceArg>, copy: Option<bool>) -> PyResult<NewArray> {
    let copying = Copying::of(copy);
    if let Ok(array) = x.cast::<PyArray>() {
        return own(array, copying);
    }
    // Fast path: read a NumPy array's structure instead of requesting a capsule.
    if let Some(array) = from_ndarray(x, copying)? {
        return Ok(NewArray::sharing(array));
    }
    if !x.hasattr(intern!(x.py(), "__dlpack__"))? {
        return consume(x, || ExternalWrites::Possible, copying).map(NewArray::sharing);
    }
    ndarray::learn_class(x);
    let device = if device.is_some() { Device::Cpu } else { Device::Unspecified };
    import_to(x, device, copying).map(NewArray::sharing)
}

pub(in super::super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(from_dlpack, module)?)
}
