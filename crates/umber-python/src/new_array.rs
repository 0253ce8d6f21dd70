//! Objects of `array` for results.
//!
//! PyO3 makes an object by calling `object.__new__` with an empty tuple, and the collector of cycles is told of it, which takes
//! as long as adding a few numbers. Here the interpreter is asked for memory of the class and nothing else, and the value is
//! written where PyO3 has it: that is learnt once, from an object that PyO3 made.
//!
//! Invariant: an object that is made here has the bytes that one made by PyO3 has, its value aside.

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

/// An array on its way to Python. What stands in its object is made there.
pub(crate) struct NewArray(Array);

impl From<Array> for NewArray {
    #[inline]
    fn from(array: Array) -> NewArray {
        NewArray(own(array))
    }
}

impl NewArray {
    /// An array over memory that others may write, or over memory of ours that nobody else has seen.
    #[inline]
    pub(crate) fn sharing(array: Array) -> NewArray {
        NewArray(array)
    }

    /// In memory of the device that this thread's operations run on.
    #[inline]
    pub(crate) fn placed(self) -> PyResult<NewArray> {
        let stream = device::current_stream();
        if stream.device == Device::CPU { Ok(self) } else { self.on(stream) }
    }

    /// In memory of a stream's device.
    pub(crate) fn on(self, stream: Stream) -> PyResult<NewArray> {
        ops::to_stream(&self.0, stream).or_raise().map(NewArray)
    }

    /// The device whose memory the array is in.
    pub(crate) fn device(&self) -> Device {
        self.0.device()
    }

    /// The object.
    ///
    /// It is unknown to the collector of cycles, which could not look through it anyway: arrays do not tell it what they hold.
    #[inline]
    pub(crate) fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyArray>> {
        let mould = ObjectTemplate::get(py)?;
        // SAFETY: the interpreter fills the head of what it gives, and `mould` the rest.
        unsafe {
            let object = ffi::PyObject_GC_New::<ffi::PyObject>(mould.class);
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            mould.blanks().for_each(|at| object.byte_add(at).cast::<usize>().write(0));
            Ok(mould.fill(py, object, self.0))
        }
    }

    /// The object, of `array` or of a class that was made of it.
    pub(crate) fn of_class<'py>(self, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyArray>> {
        let py = class.py();
        let mould = ObjectTemplate::get(py)?;
        if ptr::eq(class.as_type_ptr(), mould.class) {
            return self.object(py);
        }
        // SAFETY: the base class's maker, called as the interpreter calls it, gives an object whose value is zeros so far.
        unsafe {
            let make = ffi::PyType_GetSlot(&raw mut ffi::PyBaseObject_Type, ffi::Py_tp_new);
            let make = transmute::<*mut c_void, ffi::newfunc>(make);
            let object = make(class.as_type_ptr(), PyTuple::empty(py).as_ptr(), ptr::null_mut());
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            Ok(mould.fill(py, object, self.0))
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

/// What the objects of the class are like.
struct ObjectTemplate {
    class: *mut ffi::PyTypeObject,
    /// Where the value begins, in bytes.
    value: usize,
    /// Bytes of an object.
    bytes: usize,
}

// SAFETY: the class lives as long as the program, and is only asked for objects under the interpreter lock.
unsafe impl Send for ObjectTemplate {}
// SAFETY: as above.
unsafe impl Sync for ObjectTemplate {}

static TEMPLATE: PyOnceLock<ObjectTemplate> = PyOnceLock::new();

/// Bytes of what every object begins with.
const HEAD: usize = size_of::<ffi::PyObject>();
const WORD: usize = size_of::<usize>();
const _: () = assert!(size_of::<PyArray>().is_multiple_of(WORD) && align_of::<PyArray>() == WORD);

impl ObjectTemplate {
    #[inline]
    fn get(py: Python<'_>) -> PyResult<&ObjectTemplate> {
        match TEMPLATE.get(py) {
            Some(mould) => Ok(mould),
            None => TEMPLATE.get_or_try_init(py, || ObjectTemplate::new(py)),
        }
    }

    /// What a sample tells. That there is no more in it than a value and zeros depends on PyO3 alone.
    #[cold]
    fn new(py: Python<'_>) -> PyResult<ObjectTemplate> {
        let sample = Bound::new(py, PyArray::sharing(Array::full(Shape::scalar(), 0, DType::Bool)))?;
        let class = py.get_type::<PyArray>();
        let bytes: usize = class.getattr("__basicsize__")?.extract()?;
        let start = sample.as_ptr();
        let value = ptr::from_ref(sample.get()) as usize - start as usize;
        let mould = ObjectTemplate { class: class.as_type_ptr(), value, bytes };
        let is_as_expected = value.is_multiple_of(WORD)
            && bytes.is_multiple_of(WORD)
            && value + size_of::<PyArray>() <= bytes
            // SAFETY: words of the object, which were zero when it was made and are pointers or nothing.
            && mould.blanks().all(|at| unsafe { start.byte_add(at).cast::<usize>().read() } == 0);
        if !is_as_expected {
            return Err(PyRuntimeError::new_err(
                "PyO3 fills objects of `array` with more than their value: made.rs needs to know of it",
            ));
        }
        Ok(mould)
    }

    /// Where the words are that are zero in a new object.
    #[inline]
    fn blanks(&self) -> impl Iterator<Item = usize> + use<> {
        let words = |range: Range<usize>| range.step_by(WORD);
        words(HEAD..self.value).chain(words(self.value + size_of::<PyArray>()..self.bytes))
    }

    /// Put the value into a new object.
    ///
    /// # Safety
    /// The object is the caller's, of the class or one made of it, and has no value yet; all but that is as in a new one.
    #[inline]
    unsafe fn fill<'py>(
        &self,
        py: Python<'py>,
        object: *mut ffi::PyObject,
        array: Array,
    ) -> Bound<'py, PyArray> {
        // SAFETY: the caller's promise, and the head of the file.
        unsafe {
            object.byte_add(self.value).cast::<PyArray>().write(PyArray::sharing(array));
            Bound::from_owned_ptr(py, object).cast_into_unchecked()
        }
    }
}
