//! Fast allocation of `array` objects for results.
//!
//! PyO3 creates an object by calling `object.__new__` with an empty tuple, which also registers it with the cyclic garbage
//! collector; this takes as long as a small addition. Here an object of the class is allocated directly, and the value is
//! written at the offset at which PyO3 stores it, which is determined once from an object that PyO3 created.
//!
//! Invariant: except for its value, an object that is created here has the same bytes as one created by PyO3.

use std::ffi::c_void;
use std::mem::transmute;
use std::ops::Range;
use std::ptr;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use umber_core::{Array, DType, Device, Shape, Stream, device, ops};

use crate::array::{PyArray, own};
use crate::enter::OrRaise;

/// An array that is converted to a Python object when it is returned.
pub(crate) struct NewArray(Array);

impl From<Array> for NewArray {
    #[inline]
    fn from(array: Array) -> NewArray {
        NewArray(own(array))
    }
}

impl NewArray {
    /// Wrap an array without copying externally mutable memory: an array that shares it on purpose, or a new one.
    #[inline]
    pub(crate) fn sharing(array: Array) -> NewArray {
        NewArray(array)
    }

    /// In memory of the device that this thread's operations run on.
    #[inline]
    pub(crate) fn on_default_device(self) -> PyResult<NewArray> {
        let stream = device::current_stream();
        if stream.device == Device::CPU { Ok(self) } else { self.on(stream) }
    }

    /// Move the array to the device of a stream.
    pub(crate) fn on(self, stream: Stream) -> PyResult<NewArray> {
        ops::to_stream(&self.0, stream).or_raise().map(NewArray)
    }

    /// The device of the array.
    pub(crate) fn device(&self) -> Device {
        self.0.device()
    }

    /// Create the Python object.
    ///
    /// It is not tracked by the cyclic garbage collector, which could not traverse it anyway: the class has no `tp_traverse`.
    #[inline]
    pub(crate) fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyArray>> {
        let template = ObjectTemplate::get(py)?;
        // SAFETY: the interpreter initialises the header of the new object, and `template` the rest.
        unsafe {
            let object = ffi::PyObject_GC_New::<ffi::PyObject>(template.class);
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            template.zero_words().for_each(|offset| object.byte_add(offset).cast::<usize>().write(0));
            Ok(template.fill(py, object, self.0))
        }
    }

    /// Create the Python object, of the class `array` or a subclass.
    pub(crate) fn of_class<'py>(self, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyArray>> {
        let py = class.py();
        let template = ObjectTemplate::get(py)?;
        if ptr::eq(class.as_type_ptr(), template.class) {
            return self.object(py);
        }
        // SAFETY: `object.__new__`, called as the interpreter calls it, returns an object whose remaining bytes are zero.
        unsafe {
            let new = ffi::PyType_GetSlot(&raw mut ffi::PyBaseObject_Type, ffi::Py_tp_new);
            let new = transmute::<*mut c_void, ffi::newfunc>(new);
            let object = new(class.as_type_ptr(), PyTuple::empty(py).as_ptr(), ptr::null_mut());
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            Ok(template.fill(py, object, self.0))
        }
    }
}

impl<'py> IntoPyObject<'py> for NewArray {
    type Target = PyArray;
    type Output = Bound<'py, PyArray>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyArray>> {
        self.object(py)
    }
}

/// The layout of objects of the class.
struct ObjectTemplate {
    class: *mut ffi::PyTypeObject,
    /// Offset of the value in bytes.
    value: usize,
    /// Size of an object in bytes.
    bytes: usize,
}

// SAFETY: the class lives as long as the process, and its objects are created only under the GIL.
unsafe impl Send for ObjectTemplate {}
// SAFETY: shared references only read the fields.
unsafe impl Sync for ObjectTemplate {}

static TEMPLATE: PyOnceLock<ObjectTemplate> = PyOnceLock::new();

/// Size of the object header in bytes.
const HEADER: usize = size_of::<ffi::PyObject>();
const WORD: usize = size_of::<usize>();
const _: () = assert!(size_of::<PyArray>().is_multiple_of(WORD) && align_of::<PyArray>() == WORD);

impl ObjectTemplate {
    #[inline]
    fn get(py: Python<'_>) -> PyResult<&ObjectTemplate> {
        match TEMPLATE.get(py) {
            Some(template) => Ok(template),
            None => TEMPLATE.get_or_try_init(py, || ObjectTemplate::new(py)),
        }
    }

    /// Determine the layout from a sample object, and check that its bytes other than the header and the value are zero, which
    /// depends on PyO3.
    #[cold]
    fn new(py: Python<'_>) -> PyResult<ObjectTemplate> {
        let sample = Bound::new(py, PyArray::sharing(Array::full(Shape::scalar(), 0, DType::Bool)))?;
        let class = py.get_type::<PyArray>();
        let bytes: usize = class.getattr("__basicsize__")?.extract()?;
        let start = sample.as_ptr();
        let value = ptr::from_ref(sample.get()) as usize - start as usize;
        let template = ObjectTemplate { class: class.as_type_ptr(), value, bytes };
        let is_as_expected = value.is_multiple_of(WORD)
            && bytes.is_multiple_of(WORD)
            && value + size_of::<PyArray>() <= bytes
            // SAFETY: aligned words inside the object, which were initialised with zeros when it was created.
            && template.zero_words().all(|offset| unsafe { start.byte_add(offset).cast::<usize>().read() } == 0);
        if !is_as_expected {
            return Err(PyRuntimeError::new_err(
                "PyO3 fills objects of `array` with more than their value: new_array.rs needs to know of it",
            ));
        }
        Ok(template)
    }

    /// Offsets of the words that are zero in a new object.
    #[inline]
    fn zero_words(&self) -> impl Iterator<Item = usize> + use<> {
        let words = |range: Range<usize>| range.step_by(WORD);
        words(HEADER..self.value).chain(words(self.value + size_of::<PyArray>()..self.bytes))
    }

    /// Write the value into a new object.
    ///
    /// # Safety
    /// The caller owns the object, which is of the class or a subclass and initialised except for its value.
    #[inline]
    unsafe fn fill<'py>(
        &self,
        py: Python<'py>,
        object: *mut ffi::PyObject,
        array: Array,
    ) -> Bound<'py, PyArray> {
        // SAFETY: the caller guarantees that the object is initialised except for its value, which is stored at `self.value`.
        unsafe {
            object.byte_add(self.value).cast::<PyArray>().write(PyArray::sharing(array));
            Bound::from_owned_ptr(py, object).cast_into_unchecked()
        }
    }
}
