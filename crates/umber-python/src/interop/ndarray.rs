//! Import of NumPy arrays by their C structure.
//!
//! For each request by the buffer protocol, NumPy creates a format string and copies shape and strides. Reading its structure
//! is faster. The head of the structure is part of NumPy's ABI: macros such as `PyArray_DATA` and `PyArray_DIMS` compile it
//! into every extension. It is checked once, against the attributes of an array.
//!
//! Invariants: only objects whose class is exactly `numpy.ndarray` are read, with the interpreter lock held. The values are
//! copied before the lock is released, since a program may then reshape the array. A reference keeps the memory alive as a
//! buffer would: NumPy does not count buffers, and `resize` checks the reference count only.

use std::ffi::c_int;
use std::slice;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use umber_core::graph::ArrayInternals;
use umber_core::memory::{Access, ExternalWrites};
use umber_core::types::layout::Strides;
use umber_core::{Array, DType, Shape};

use super::foreign_buffer::{Copying, ForeignBuffer, Provenance, SMALL};
use super::formats::{ByteOrder, struct_format};
use super::import::PyOwner;
use super::numpy::loaded;
use crate::enter::OrRaise;

/// The fields of NumPy's structure after the object header.
#[derive(Clone, Copy)]
#[repr(C)]
struct Fields {
    data: *mut u8,
    ndim: c_int,
    lengths: *const usize,
    strides: *const isize,
    base: *mut ffi::PyObject,
    dtype: *mut ffi::PyObject,
    flags: c_int,
}

const C_CONTIGUOUS: c_int = 1;
const WRITEABLE: c_int = 0x400;
/// Writable with a warning; the buffer protocol exports such memory as read-only.
const WARN_ON_WRITE: c_int = c_int::MIN;

impl Fields {
    fn is_writable(&self) -> bool {
        self.flags & (WRITEABLE | WARN_ON_WRITE) == WRITEABLE
    }

    /// Lengths and strides, in bytes.
    ///
    /// # Safety
    /// The fields were just read from a live array, with the GIL held.
    unsafe fn axes(&self) -> (&[usize], &[isize]) {
        match usize::try_from(self.ndim) {
            // SAFETY: NumPy's arrays have `ndim` lengths and strides.
            Ok(ndim) if ndim > 0 => unsafe {
                (slice::from_raw_parts(self.lengths, ndim), slice::from_raw_parts(self.strides, ndim))
            },
            Ok(_) | Err(_) => (&[], &[]),
        }
    }
}

/// The loaded NumPy module.
struct NumPy {
    ndarray: Py<PyType>,
    /// Size in bytes of the object header.
    header_size: usize,
    /// NumPy's dtype objects, which are singletons for builtin dtypes.
    dtypes: Vec<(Py<PyAny>, DType)>,
}

/// The loaded NumPy; the inner `None` means that its structure was not recognised.
static NUMPY: PyOnceLock<Option<NumPy>> = PyOnceLock::new();

impl NumPy {
    /// Describe a NumPy module, if its arrays have the expected structure.
    fn new(numpy: &Bound<'_, PyAny>) -> PyResult<Option<NumPy>> {
        let py = numpy.py();
        let ndarray = numpy.getattr("ndarray")?.cast_into::<PyType>()?;
        let header_size: usize =
            py.import("builtins")?.getattr("object")?.getattr("__basicsize__")?.extract()?;
        let size: usize = ndarray.getattr("__basicsize__")?.extract()?;
        let is_aligned = header_size.is_multiple_of(align_of::<Fields>());
        if !is_aligned || size < header_size + size_of::<Fields>() {
            return Ok(None);
        }
        let mut dtypes = Vec::new();
        // In reverse, because floats, the most common dtypes, are among the last.
        for dtype in DType::ALL.into_iter().rev().filter(|&dtype| struct_format(dtype).is_some()) {
            dtypes.push((numpy.call_method1("dtype", (dtype.name(),))?.unbind(), dtype));
        }
        let known = NumPy { ndarray: ndarray.unbind(), header_size, dtypes };
        Ok(known.agrees(numpy)?.then_some(known))
    }

    /// Whether the fields of a test array agree with its attributes.
    fn agrees(&self, numpy: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = numpy.py();
        let owner = numpy.call_method1("zeros", ((3, 4), "float32"))?;
        let address = |array: &Bound<'_, PyAny>| -> PyResult<usize> {
            array.getattr("__array_interface__")?.get_item("data")?.get_item(0)?.extract()
        };
        let step = |start: isize, step: isize| pyo3::types::PySlice::new(py, start, 4, step);
        let array = owner.get_item((step(1, 1), step(0, 2)))?;
        // SAFETY: the fields lie within the array object, and any bytes are valid integers and pointers.
        let fields = unsafe { self.fields(&array) };
        let is_equal = fields.data as usize == address(&array)?
            && fields.ndim == 2
            && fields.base == owner.as_ptr()
            && fields.dtype == array.getattr("dtype")?.as_ptr()
            && fields.is_writable();
        if !is_equal {
            return Ok(false);
        }
        array.getattr("flags")?.setattr("writeable", false)?;
        // SAFETY: the fields agreed with an array of two axes.
        let (fields, axes) = unsafe { (self.fields(&array), fields.axes()) };
        Ok(!fields.is_writable() && axes.0 == [2, 2] && axes.1 == [16, 8])
    }

    /// Read the fields of an object.
    ///
    /// # Safety
    /// The object has at least `header_size + size_of::<Fields>()` bytes.
    unsafe fn fields(&self, object: &Bound<'_, PyAny>) -> Fields {
        // SAFETY: the caller guarantees the size of the object; `new` checked the alignment of the fields.
        unsafe { object.as_ptr().byte_add(self.header_size).cast::<Fields>().read() }
    }
}

/// If the object is the first NumPy array seen, check NumPy's structure and enable [`from_ndarray`] for it.
pub(super) fn learn_class(object: &Bound<'_, PyAny>) {
    let py = object.py();
    if NUMPY.get(py).is_some() {
        return;
    }
    let class = object.get_type();
    if class.name().is_ok_and(|name| name == "ndarray")
        && let Ok(Some(numpy)) = loaded(py)
        && numpy.getattr("ndarray").is_ok_and(|ndarray| class.is(&ndarray))
    {
        NUMPY.get_or_init(py, || NumPy::new(&numpy).ok().flatten());
    }
}

/// An array over the memory of a NumPy array, or a copy of it; `None` if its structure alone does not suffice.
pub(crate) fn from_ndarray(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    let py = object.py();
    let Some(numpy) = NUMPY.get(py).and_then(Option::as_ref) else { return Ok(None) };
    if object.get_type_ptr().cast() != numpy.ndarray.as_ptr() {
        return Ok(None);
    }
    // SAFETY: the class is the `ndarray` whose structure was checked.
    let fields = unsafe { numpy.fields(object) };
    let Some(&(_, dtype)) = numpy.dtypes.iter().find(|(own, _)| own.as_ptr() == fields.dtype) else {
        return Ok(None);
    };
    // SAFETY: read under the GIL, which is held until the slices are copied.
    let (lengths, strides) = unsafe { fields.axes() };
    let shape = Shape::from(lengths);
    if copying == Copying::Always {
        if fields.flags & C_CONTIGUOUS != 0 && shape.size() * dtype.size() <= SMALL {
            // SAFETY: NumPy's flag marks the elements as dense, and the GIL is held during the copy.
            return unsafe { Array::from_dense(fields.data, &shape, dtype) }.or_raise().map(Some);
        }
    } else if !fields.is_writable() {
        // For read-only memory the general path checks by `is_fixed` whether others may write to it. A copy needs no check.
        return Ok(None);
    }
    let foreign = ForeignBuffer {
        start: fields.data,
        dtype,
        order: ByteOrder::Native,
        shape,
        strides: Strides::from_slice(strides),
        access: Access::Writable,
        stability: ExternalWrites::Possible,
        provenance: Provenance::Owner,
    };
    let keep = Box::new(PyOwner::new(object));
    // SAFETY: NumPy keeps the memory while the array lives, which `PyOwner` ensures.
    unsafe { foreign.check(copying)?.take(py, keep) }.map(Some)
}
