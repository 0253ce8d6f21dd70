//! `array`: a mutable handle of an immutable `Array`. In-place updates rebind the handle.
//!
//! One subject: the class `array` and its conversions; half of the lines are documentation of its attributes.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView, PyTuple, PyType};
use pyo3::{ffi, intern};
use umber_core::graph::ArrayInternals;
use umber_core::graph::tracing::{self, LengthRead, Reading};
use umber_core::memory::{Lease, ViewPolicy};
use umber_core::{Array, DType, Scalar, ops};

use crate::args::named;
use crate::convert;
use crate::dtype::{DtypeArg, PyDtype};
use crate::enter::{OrRaise, enter, item, to_exception, warn_if_traced};
use crate::error_text::with_name;
use crate::gil_cell::GilCell;
use crate::interop::{Copying, from_ndarray, from_shared};
use crate::narrow_x64::narrow_dtype;
use crate::new_array::NewArray;
use crate::pytree::class_of;
use crate::random_key;
use crate::trace_scope;

/// N-dimensional array of elements of one dtype.
///
/// Parameters
/// ----------
/// val : array_like
///     A number, a nested sequence of numbers or arrays, an `array`, or an object that shares its memory: by the buffer
///     protocol, `__array_interface__`, DLPack, or `__array__`. The elements are copied.
/// dtype : Dtype, str or type, optional
///     Type of the elements. Default: that of `val`; for Python numbers bool, int32 (int64 or uint64 if they do not fit),
///     float32 or complex64.
///
/// Raises
/// ------
/// TypeError
///     If an array cannot be made of `val`, or if `dtype` does not name a dtype.
/// ValueError
///     If nested sequences have different lengths.
/// OverflowError
///     If an integer does not fit the dtype.
///
/// See Also
/// --------
/// asarray, zeros, ones, full, arange
///
/// Notes
/// -----
/// Operations on arrays are lazy: they are recorded, and computed when a value is needed or by `eval`. Inside transforms
/// an array may be traced, without a value. Augmented assignments and item assignments update an array in place; views
/// taken before keep their values.
///
/// Examples
/// --------
/// >>> mx.array([[1, 2], [3, 4]])
/// array([[1, 2],
///        [3, 4]], dtype=int32)
/// >>> mx.array([1, 2.5], dtype=mx.float16)
/// array([1, 2.5], dtype=float16)
#[pyclass(name = "array", module = "umber.core", frozen, weakref, subclass)]
pub(crate) struct PyArray {
    /// The content, which in-place updates replace.
    value: GilCell<Array>,
    /// Leases on memory exported by protocols without a release callback: they live as long as this object.
    pins: Mutex<Vec<Lease>>,
    /// The trace in which it was created.
    born: u64,
    /// Whether an augmented assignment (`a += b`) promoted it to a dtype of a higher kind.
    widened: AtomicBool,
}

/// The result of an operation, which later writes of other owners must not change: if the operation returned externally mutable
/// memory (for example as the identity does), the values are copied.
#[inline]
pub(crate) fn own(array: Array) -> Array {
    if array.is_externally_mutable() && !array.is_traced() {
        return array.copied().unwrap_or(array);
    }
    array
}

impl From<Array> for PyArray {
    fn from(array: Array) -> PyArray {
        PyArray::sharing(own(array))
    }
}

impl PyArray {
    /// An array over memory that others may write, as `asarray` returns.
    #[inline]
    pub(crate) fn sharing(array: Array) -> PyArray {
        PyArray {
            value: GilCell::new(array),
            pins: Mutex::new(Vec::new()),
            born: trace_scope::current(),
            widened: AtomicBool::new(false),
        }
    }

    /// The current value.
    #[inline]
    pub(crate) fn get(&self) -> Array {
        self.value.get()
    }

    /// The current value, read under the GIL without taking another lock.
    #[inline]
    pub(crate) fn get_cloned(&self, py: Python<'_>) -> Array {
        self.value.get_cloned(py)
    }

    /// The result of `of` for a reference to the current value, without cloning it.
    ///
    /// # Safety
    /// `of` runs no Python code and does not release the GIL.
    #[inline]
    pub(crate) unsafe fn with_ref<T>(&self, py: Python<'_>, of: impl FnOnce(&Array) -> T) -> T {
        // SAFETY: `of` neither runs Python code nor releases the GIL, as the caller guarantees.
        unsafe { self.value.with_ref(py, of) }
    }

    /// Keep memory alive as long as this object.
    pub(crate) fn pin(&self, lease: Lease) {
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        if !pins.iter().any(|pin| std::sync::Arc::ptr_eq(pin.buffer(), lease.buffer())) {
            pins.push(lease);
        }
    }

    /// Replace the content for an in-place update by the user.
    pub(crate) fn update(&self, py: Python<'_>, array: Array) -> PyResult<()> {
        if array.is_traced() {
            trace_scope::check_write(self.address(), self.born)?;
        }
        random_key::set_if_key(py, self, &array)?;
        self.set(py, array);
        Ok(())
    }

    /// Record that an augmented assignment promoted it to a dtype of a higher kind.
    pub(crate) fn note_widened(&self) {
        self.widened.store(true, Ordering::Relaxed);
    }

    /// Whether an augmented assignment promoted it to a dtype of a higher kind.
    pub(crate) fn is_widened(&self) -> bool {
        self.widened.load(Ordering::Relaxed)
    }

    /// The address, which identifies the object.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Replace the value.
    pub(crate) fn set(&self, py: Python<'_>, array: Array) {
        drop(self.value.replace(py, array));
    }
}

/// Record that Python reads the shape of a traced array, so that the trace is only reused for this shape.
pub(crate) fn note_shape(array: Array) -> Array {
    if array.is_traced() {
        tracing::note_shape_read(&array);
    }
    array
}

/// The shape of an array as Python sees it.
pub(crate) fn shape_of<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyTuple>> {
    let lengths = PyTuple::new(py, array.shape().iter())?;
    if !array.is_traced() {
        return Ok(lengths);
    }
    if !tracing::are_lengths_free() {
        tracing::note_shape_read(array);
        return Ok(lengths);
    }
    let reader = Bound::new(py, LengthReader(array.clone()))?;
    let axes = PyTuple::new(py, 0..array.ndim())?;
    let class = py.import("umber._traced_shape")?.getattr("Lengths")?;
    Ok(class.call1((lengths, reader, axes))?.cast_into()?)
}

/// Records which axis lengths of a traced array are read; used by ``compile(shapeless=True)``.
#[pyclass(name = "LengthReader", module = "umber.core", frozen)]
struct LengthReader(Array);

#[pymethods]
impl LengthReader {
    /// Record that the length of an axis was read.
    fn note(&self, axis: usize) {
        tracing::note_length_read(&self.0, axis);
    }

    /// Record that the length of an axis was compared equal to that of an axis of another array.
    fn note_equal(&self, axis: usize, other: &LengthReader, along: usize) {
        let (own, theirs) = (self.0.clone(), other.0.clone());
        tracing::note(LengthRead { array: own, axis, reading: Reading::Equals(theirs, along) });
    }
}

#[pymethods]
impl PyArray {
    #[new]
    #[pyo3(signature = (*args, **kwargs), text_signature = "(val, dtype=None)")]
    #[classmethod]
    fn new<'py>(
        class: &Bound<'py, PyType>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let object = with_name(args.py(), "array", || {
            // Unpickling creates the object before its state is set; `__init__` rejects a user's call without arguments.
            if args.is_empty() && kwargs.is_none_or(PyDictMethods::is_empty) {
                return Ok(NewArray::sharing(blank().clone()));
            }
            // Fast path for `array(ndarray)`, which is common in programs with small arrays: no other arguments to parse.
            if kwargs.is_none()
                && args.len() == 1
                && let only = args.get_item(0)?
                && let Some(copied) = from_ndarray(&only, Copying::Always)?
            {
                return narrow_dtype(copied, &only).map(NewArray::sharing)?.on_default_device();
            }
            let [val, dtype] = named("array", ["val", "dtype"], 1, args, kwargs)?;
            let dtype = dtype
                .filter(|dtype| !dtype.is_none())
                .map(|dtype| dtype.extract::<DtypeArg>())
                .transpose()?;
            let none = args.py().None().into_bound(args.py());
            let val = val.as_ref().unwrap_or(&none);
            let array = match dtype {
                Some(dtype) => convert::array_of(val, Some(dtype))?,
                None => narrow_dtype(convert::array(val, None)?, val)?,
            };
            let is_same_array =
                val.cast::<PyArray>().is_ok_and(|argument| argument.get().get().is_same(&array));
            // A pending array has no memory yet that could be shared; with writable views it would share it once evaluated.
            let has_memory = array.is_evaluated() || ViewPolicy::current() == ViewPolicy::Writable;
            if is_same_array && has_memory && !array.is_traced() {
                let copied = enter(args.py(), || {
                    array.eval()?;
                    array.copied()
                });
                return copied.map(NewArray::sharing);
            }
            NewArray::from(array).on_default_device()
        });
        object?.of_class(class)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        // A subclass may set its value from other arguments in its `__new__`.
        if args.is_empty() && self.get().is_same(blank()) {
            with_name(args.py(), "array", || named("array", ["val", "dtype"], 1, args, kwargs))?;
        }
        Ok(())
    }

    /// Priority of operators with NumPy arrays: NumPy defers to this class.
    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    /// Hash by identity: arrays are compared elementwise.
    fn __hash__(slf: &Bound<'_, Self>) -> isize {
        slf.as_ptr() as isize >> 4
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let array = self.get();
        if array.size() != 1 {
            return Err(PyValueError::new_err(format!(
                "[bool] truth value of an array of shape {} is ambiguous; use any() or all()",
                array.shape()
            )));
        }
        Ok(item(py, &array)?.as_bool())
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let value = one_element(py, "int", &self.get())?;
        if let Scalar::Float(float) = value
            && !float.is_finite()
        {
            return Err(to_exception(umber_core::types::error!(
                Overflow("int"),
                "cannot convert {float} to an integer"
            )));
        }
        convert::to_number(py, value)?.call_method0(py, "__int__")
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        match one_element(py, "float", &self.get())? {
            Scalar::Complex(..) => {
                Err(PyTypeError::new_err("[float] cannot convert a complex array to a real number"))
            }
            value => Ok(value.as_f64()),
        }
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyComplex>> {
        let (re, im) = one_element(py, "complex", &self.get())?.as_complex();
        Ok(pyo3::types::PyComplex::from_doubles(py, re, im))
    }

    /// Round to a number of decimals, halves to even.
    ///
    /// Parameters
    /// ----------
    /// ndigits : int, optional
    ///     Number of decimals. Default: None, round to integers.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape and dtype.
    ///
    /// See Also
    /// --------
    /// round
    ///
    /// Examples
    /// --------
    /// >>> round(mx.array([1.256, 2.5]), 2)
    /// array([1.26, 2.5], dtype=float32)
    #[pyo3(signature = (ndigits = None, /), text_signature = "($self, ndigits=None, /)")]
    fn __round__(&self, ndigits: Option<i32>) -> PyResult<NewArray> {
        ops::round(&self.get(), ndigits.unwrap_or(0)).or_raise().map(NewArray::from)
    }

    fn __trunc__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        whole_number(py, "trunc", &self.get())
    }

    fn __floor__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        whole_number(py, "floor", &self.get())
    }

    fn __ceil__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        whole_number(py, "ceil", &self.get())
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        if !array.dtype().is_integer() || array.ndim() != 0 {
            return Err(PyTypeError::new_err(format!(
                "[index] only a 0-d integer array converts to an index, got shape {} and dtype {}",
                array.shape(),
                array.dtype()
            )));
        }
        convert::to_number(py, one_element(py, "index", &array)?)
    }

    fn __len__(&self) -> PyResult<usize> {
        let array = self.get();
        if array.ndim() > 0 {
            tracing::note_length_read(&array, 0);
        }
        array.shape().first().copied().ok_or_else(|| PyTypeError::new_err("[len] 0-d arrays have no length"))
    }

    fn __iter__(&self) -> PyResult<ArrayIterator> {
        ArrayIterator::new("iter", self, Direction::Forward)
    }

    fn __reversed__(&self) -> PyResult<ArrayIterator> {
        ArrayIterator::new("reversed", self, Direction::Backward)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let array = self.get();
        enter(py, move || crate::printing::repr(&array))
    }

    fn __format__(slf: &Bound<'_, Self>, spec: &str) -> PyResult<String> {
        let py = slf.py();
        let array = slf.get().get();
        if array.ndim() > 0 {
            if spec.is_empty() {
                return slf.get().__repr__(py);
            }
            return Err(PyTypeError::new_err(format!(
                "[format] format '{spec}' requires a 0-d array, got shape {}",
                array.shape()
            )));
        }
        let value = convert::to_number(py, one_element(py, "format", &array)?)?;
        value.call_method1(py, "__format__", (spec,))?.extract(py)
    }

    /// Return the bytes of the elements in row-major order.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// See Also
    /// --------
    /// tobytes
    ///
    /// Examples
    /// --------
    /// >>> bytes(mx.array([1, 258], mx.uint16))
    /// b'\x01\x00\x02\x01'
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let array = self.get();
        warn_if_traced(py, &array)?;
        let dense = enter(py, move || array.to_dense())?;
        Ok(PyBytes::new(py, convert::dense_bytes(&dense)))
    }

    fn __copy__(&self) -> NewArray {
        self.get().into()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> NewArray {
        self.get().into()
    }

    /// Return the parts that pickle needs, for a version of its protocol.
    ///
    /// From protocol 5 on, the elements are a buffer, which pickle does not copy if it transmits buffers out of band.
    ///
    /// Parameters
    /// ----------
    /// protocol : int
    ///     Version of the pickle protocol.
    ///
    /// Returns
    /// -------
    /// tuple
    ///
    /// Examples
    /// --------
    /// >>> import pickle
    /// >>> buffers = []
    /// >>> data = pickle.dumps(mx.array([1, 2]), protocol=5, buffer_callback=buffers.append)
    /// >>> pickle.loads(data, buffers=buffers)
    /// array([1, 2], dtype=int32)
    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, protocol: i32) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let is_overridden = slf.get_type().getattr(intern!(py, "__reduce__"))?;
        let own = py.get_type::<PyArray>().getattr(intern!(py, "__reduce__"))?;
        if protocol < 5 || !is_overridden.is(&own) {
            return slf.call_method0(intern!(py, "__reduce__"));
        }
        let array = slf.get().get();
        warn_if_traced(py, &array)?;
        let (shape, dtype) = (array.shape().to_vec(), array.dtype());
        let bytes = enter(py, move || {
            let bytes = ops::view(&ops::reshape(&array, [-1])?, DType::UInt8)?;
            bytes.eval()?;
            Ok(bytes)
        })?;
        // Read-only, because the array may share its memory.
        let memory = PyMemoryView::from(NewArray::from(bytes).object(py)?.as_any())?;
        let memory = memory.call_method0(intern!(py, "toreadonly"))?;
        let buffer = py.import("pickle")?.getattr("PickleBuffer")?.call1((memory,))?;
        let empty: Vec<i32> = Vec::new();
        Ok((slf.get_type(), (empty,), (buffer, shape, dtype.name())).into_pyobject(py)?.into_any())
    }

    /// Return the parts that pickle needs, for protocols before 5.
    ///
    /// Returns
    /// -------
    /// tuple
    ///
    /// Examples
    /// --------
    /// >>> import pickle
    /// >>> pickle.loads(pickle.dumps(mx.array([1, 2])))
    /// array([1, 2], dtype=int32)
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let state = slf.get().__getstate__(slf.py())?;
        let empty: Vec<i32> = Vec::new();
        Ok((slf.get_type(), (empty,), state).into_pyobject(slf.py())?.into_any())
    }

    /// Return the state for pickle: the bytes of the elements, the shape and the name of the dtype.
    ///
    /// Returns
    /// -------
    /// tuple of bytes, list and str
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 2], mx.int8).__getstate__()
    /// (b'\x01\x02', [2], 'int8')
    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>, String)> {
        let dense = {
            let array = self.get();
            warn_if_traced(py, &array)?;
            enter(py, move || array.to_dense())?
        };
        let bytes = convert::dense_bytes(&dense);
        Ok((PyBytes::new(py, bytes), dense.shape().to_vec(), dense.dtype().name().into()))
    }

    fn __setstate__(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok((values, code)) = state.extract::<(Bound<'_, PyAny>, usize)>() {
            self.set(py, of_mlx(&values, code)?);
            return Ok(());
        }
        let (elements, shape, name): (Bound<'_, PyAny>, Vec<usize>, String) = state.extract()?;
        let dtype = umber_core::DType::from_name(&name)
            .ok_or_else(|| PyValueError::new_err(format!("[array] state has unknown dtype '{name}'")))?;
        let shape = umber_core::Shape::from(shape);
        let memory = PyMemoryView::from(&elements).map_err(|_| {
            PyTypeError::new_err(format!("[array] state holds {}, expected bytes", class_of(&elements)))
        })?;
        let size: usize = memory.getattr(intern!(py, "nbytes"))?.extract()?;
        if size != shape.size().saturating_mul(dtype.size()) {
            return Err(PyValueError::new_err(format!(
                "[array] state has {size} bytes, expected {} for shape {shape} of {dtype}",
                shape.size().saturating_mul(dtype.size())
            )));
        }
        if let Ok(bytes) = elements.cast::<PyBytes>() {
            self.set(py, convert::from_bytes(bytes.as_bytes(), &shape, dtype)?);
            return Ok(());
        }
        // Memory that others may write is copied.
        let is_readonly: bool = memory.getattr(intern!(py, "readonly"))?.extract()?;
        let copying = if is_readonly { Copying::IfNeeded } else { Copying::Always };
        let bytes = from_shared(&memory.call_method1(intern!(py, "cast"), ("B",))?, copying)?;
        let bytes = bytes.expect("a view of memory is shared or copied");
        self.set(py, convert::reinterpret_bytes(&bytes, &shape, dtype)?);
        Ok(())
    }

    /// Lengths of the axes.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).shape
    /// (2, 3)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape_of(py, &self.get())
    }

    /// Type of the elements.
    ///
    /// Returns
    /// -------
    /// Dtype
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).dtype
    /// umber.core.float32
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyDtype {
        // SAFETY: `Array::dtype` only reads a field.
        PyDtype(unsafe { self.with_ref(py, Array::dtype) })
    }

    /// Number of axes.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).ndim
    /// 2
    #[getter]
    fn ndim(&self, py: Python<'_>) -> usize {
        // SAFETY: `Array::ndim` only reads a field.
        unsafe { self.with_ref(py, Array::ndim) }
    }

    /// Number of elements.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).size
    /// 6
    #[getter]
    fn size(&self) -> usize {
        note_shape(self.get()).size()
    }

    /// Number of bytes of one element.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).itemsize
    /// 4
    #[getter]
    fn itemsize(&self) -> usize {
        self.get().dtype().size()
    }

    /// Number of bytes of all elements.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).nbytes
    /// 24
    #[getter]
    fn nbytes(&self) -> usize {
        note_shape(self.get()).nbytes()
    }

    /// The array with its axes in reverse order.
    ///
    /// Returns
    /// -------
    /// array
    ///     View.
    ///
    /// See Also
    /// --------
    /// mT, transpose
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3, 4)).T.shape
    /// (4, 3, 2)
    #[getter(T)]
    fn transposed(&self) -> PyResult<NewArray> {
        ops::transpose(&self.get(), None).or_raise().map(NewArray::from)
    }

    /// Return the element of an array of size 1 as a Python number.
    ///
    /// Returns
    /// -------
    /// bool, int, float or complex
    ///     The element.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array does not have exactly one element, or if it has no value because it is traced.
    ///
    /// See Also
    /// --------
    /// tolist
    ///
    /// Notes
    /// -----
    /// The array is evaluated.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([2.5]).item()
    /// 2.5
    fn item(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        let value = item(py, &array)?;
        warn_if_traced(py, &array)?;
        convert::to_number(py, value)
    }

    /// Return the elements as nested lists of Python numbers.
    ///
    /// Returns
    /// -------
    /// list, bool, int, float or complex
    ///     One list per axis; a number for a 0-d array.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array has no value because it is traced.
    ///
    /// See Also
    /// --------
    /// item
    ///
    /// Notes
    /// -----
    /// The array is evaluated.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]]).tolist()
    /// [[1, 2], [3, 4]]
    fn tolist(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        let list = convert::to_list(py, &array)?;
        warn_if_traced(py, &array)?;
        Ok(list)
    }
}

/// The value of an object that is not initialised yet.
fn blank() -> &'static Array {
    static BLANK: OnceLock<Array> = OnceLock::new();
    BLANK.get_or_init(|| Array::full(umber_core::Shape::from(vec![0]), 0, DType::Float32))
}

/// The array in a state pickled by MLX: a NumPy array, with bfloat16 stored as uint16, and MLX's number of the dtype.
fn of_mlx(values: &Bound<'_, PyAny>, code: usize) -> PyResult<Array> {
    /// Indexed by MLX's dtype numbers.
    const DTYPES: [DType; 14] = [
        DType::Bool,
        DType::UInt8,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float16,
        DType::Float32,
        DType::Float64,
        DType::BFloat16,
        DType::Complex64,
    ];
    let array = convert::array(values, None)?;
    match DTYPES.get(code) {
        Some(&dtype) if array.dtype() == dtype => Ok(array),
        Some(DType::BFloat16) if array.dtype() == DType::UInt16 => {
            let dense = enter(values.py(), move || array.to_dense())?;
            convert::from_bytes(convert::dense_bytes(&dense), dense.shape(), DType::BFloat16)
        }
        _ => Err(PyValueError::new_err(format!(
            "[array] MLX state with values of {} has dtype number {code}, expected less than {}",
            array.dtype(),
            DTYPES.len()
        ))),
    }
}

/// PyO3's C function of the method `item`.
static ITEM: OnceLock<ffi::PyCFunction> = OnceLock::new();

/// `item` of an evaluated array whose element is a float or a 64-bit integer. All other calls are passed on to [`ITEM`].
unsafe extern "C" fn item_if_evaluated(
    own: *mut ffi::PyObject,
    none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with the GIL held and with an object of this class, after ITEM was set; the closure only
    // reads memory.
    unsafe {
        let py = Python::assume_attached();
        let array = Borrowed::from_ptr(py, own).cast_unchecked::<PyArray>();
        let value = |array: &Array| if array.is_traced() { None } else { array.item_if_evaluated() };
        match array.get().with_ref(py, value) {
            Some(Scalar::Float(value)) => ffi::PyFloat_FromDouble(value),
            Some(Scalar::Int(value)) => ffi::PyLong_FromLongLong(value),
            _ => ITEM.get().map_or(ptr::null_mut(), |item| item(own, none)),
        }
    }
}

/// Install [`item_if_evaluated`] as the fast path of the C function of `item`.
pub(crate) fn before_item(original: ffi::PyCFunction) -> ffi::PyCFunction {
    ITEM.get_or_init(|| original);
    item_if_evaluated
}

/// The only element of an array, for conversions that require exactly one.
fn one_element(py: Python<'_>, what: &str, array: &Array) -> PyResult<Scalar> {
    if array.size() != 1 {
        return Err(PyValueError::new_err(format!(
            "[{what}] array must have exactly one element, got shape {}",
            array.shape()
        )));
    }
    let value = item(py, array)?;
    warn_if_traced(py, array)?;
    Ok(value)
}

/// The exact integer that Python's `math.<name>` returns for the only element of an array.
fn whole_number(py: Python<'_>, name: &str, array: &Array) -> PyResult<Py<PyAny>> {
    let number = convert::to_number(py, one_element(py, name, array)?)?;
    Ok(py.import("math")?.call_method1(name, (number,))?.unbind())
}

/// Iterator over the slices along the first axis.
///
/// Examples
/// --------
/// >>> [x.item() for x in mx.array([1, 2])]
/// [1, 2]
#[pyclass(name = "ArrayIterator", module = "umber.core")]
pub(crate) struct ArrayIterator {
    array: Array,
    remaining: Range<usize>,
    direction: Direction,
}

/// Direction of an iteration.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

impl ArrayIterator {
    fn new(op: &str, array: &PyArray, direction: Direction) -> PyResult<ArrayIterator> {
        let array = array.get();
        let Some(&length) = array.shape().first() else {
            return Err(PyTypeError::new_err(format!("[{op}] cannot iterate over a 0-d array")));
        };
        tracing::note_length_read(&array, 0);
        Ok(ArrayIterator { array, remaining: 0..length, direction })
    }
}

#[pymethods]
impl ArrayIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> PyResult<Option<NewArray>> {
        let next = match self.direction {
            Direction::Forward => self.remaining.next(),
            Direction::Backward => self.remaining.next_back(),
        };
        let Some(next) = next else { return Ok(None) };
        let index = ops::Index::Int(next as i64);
        ops::get(&self.array, &[index]).or_raise().map(NewArray::from).map(Some)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyArray>()?;
    module.add_class::<ArrayIterator>()
}
