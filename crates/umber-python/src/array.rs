//! `array`: a handle whose content may be rebound, which is what in-place updates are.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
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
use crate::interop::{Copying, from_ndarray};
use crate::narrow_x64::narrow_dtype;
use crate::new_array::NewArray;
use crate::random_key;
use crate::trace_scope;

/// An N-dimensional array of numbers of one dtype.
///
/// Operations on arrays are recorded and computed when a value is needed.
#[pyclass(name = "array", module = "umber.core", frozen, weakref, subclass)]
pub(crate) struct PyArray {
    /// The value. In-place updates put another one in its place.
    value: GilCell<Array>,
    /// Memory told of by protocols that have no release: kept as long as this object.
    pins: Mutex<Vec<Lease>>,
    /// The trace it was made in.
    born: u64,
    /// Whether an operator in place gave it elements of a higher kind than it had.
    widened: AtomicBool,
}

/// The result of an operation. It never shows what others write later: where an operation answered with memory that somebody
/// else can write (an identity, say), the result is a copy of its values now.
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
    /// An array over memory that others may write: what `asarray` gives.
    #[inline]
    pub(crate) fn sharing(array: Array) -> PyArray {
        PyArray {
            value: GilCell::new(array),
            pins: Mutex::new(Vec::new()),
            born: trace_scope::current(),
            widened: AtomicBool::new(false),
        }
    }

    /// The value now.
    #[inline]
    pub(crate) fn get(&self) -> Array {
        self.value.get()
    }

    /// The value now, for whoever holds the interpreter lock: without another.
    #[inline]
    pub(crate) fn get_cloned(&self, py: Python<'_>) -> Array {
        self.value.get_cloned(py)
    }

    /// What `of` says of the value now, without a handle of its own.
    ///
    /// # Safety
    /// `of` runs no Python code and does not let go of the interpreter lock.
    #[inline]
    pub(crate) unsafe fn with_ref<T>(&self, py: Python<'_>, of: impl FnOnce(&Array) -> T) -> T {
        // SAFETY: the caller's.
        unsafe { self.value.with_ref(py, of) }
    }

    /// Keep memory alive as long as this object.
    pub(crate) fn pin(&self, lease: Lease) {
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        if !pins.iter().any(|pin| std::sync::Arc::ptr_eq(pin.buffer(), lease.buffer())) {
            pins.push(lease);
        }
    }

    /// Put another value in place, as a user's update does.
    pub(crate) fn update(&self, py: Python<'_>, array: Array) -> PyResult<()> {
        if array.is_traced() {
            trace_scope::check_write(self.address(), self.born)?;
        }
        random_key::follow(py, self, &array)?;
        self.set(py, array);
        Ok(())
    }

    /// Note that an operator in place gave it elements of a higher kind.
    pub(crate) fn note_widened(&self) {
        self.widened.store(true, Ordering::Relaxed);
    }

    /// Did an operator in place give it elements of a higher kind?
    pub(crate) fn is_widened(&self) -> bool {
        self.widened.load(Ordering::Relaxed)
    }

    /// Which object it is.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Put another value in place.
    pub(crate) fn set(&self, py: Python<'_>, array: Array) {
        drop(self.value.replace(py, array));
    }
}

/// An array whose lengths Python is about to see: what a function that is traced makes of them is its own affair.
pub(crate) fn noting_sizes(array: Array) -> Array {
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
    let class = py.import("umber._lengths")?.getattr("Lengths")?;
    Ok(class.call1((lengths, reader, axes))?.cast_into()?)
}

/// Keeps which lengths of a traced array are read.
#[pyclass(name = "LengthReader", module = "umber.core", frozen)]
struct LengthReader(Array);

#[pymethods]
impl LengthReader {
    /// The length of an axis was read.
    fn note(&self, axis: usize) {
        tracing::note_length_read(&self.0, axis);
    }

    /// The length of an axis was found to be that of an axis of another array.
    fn note_equal(&self, axis: usize, other: &LengthReader, along: usize) {
        let (own, its) = (self.0.clone(), other.0.clone());
        tracing::note(LengthRead { array: own, axis, reading: Reading::Equals(its, along) });
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
        let made = with_name(args.py(), "array", || {
            // Unpickling makes an object before it has its state; `__init__` refuses a call without arguments.
            if args.is_empty() && kwargs.is_none_or(PyDictMethods::is_empty) {
                return Ok(NewArray::sharing(blank().clone()));
            }
            // An array of NumPy's alone, which programs with small arrays often give, needs nothing else to be read.
            if kwargs.is_none()
                && args.len() == 1
                && let only = args.get_item(0)?
                && let Some(copied) = from_ndarray(&only, Copying::Always)?
            {
                return narrow_dtype(copied, &only).map(NewArray::sharing)?.placed();
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
            let is_given = val.cast::<PyArray>().is_ok_and(|given| given.get().get().is_same(&array));
            // What is still to be computed has no memory yet, and none that is written through a view while it is shared.
            let has_memory = array.is_evaluated() || ViewPolicy::current() == ViewPolicy::Writable;
            if is_given && has_memory && !array.is_traced() {
                let copied = enter(args.py(), || {
                    array.eval()?;
                    array.copied()
                });
                return copied.map(NewArray::sharing);
            }
            NewArray::from(array).placed()
        });
        made?.of_class(class)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        // A class made of this one may make its value of other arguments.
        if args.is_empty() && self.get().is_same(blank()) {
            with_name(args.py(), "array", || named("array", ["val", "dtype"], 1, args, kwargs))?;
        }
        Ok(())
    }

    /// NumPy leaves operators with its arrays to this class.
    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    /// Arrays are compared elementwise, and hashed by identity.
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

    /// Each element rounded to the nearest integer, or to `ndigits` places, halves to even; an array of the same dtype.
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

    /// The elements' bytes in row-major order.
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

    /// For pickle, of every protocol.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let state = slf.get().__getstate__(slf.py())?;
        let empty: Vec<i32> = Vec::new();
        Ok((slf.get_type(), (empty,), state).into_pyobject(slf.py())?.into_any())
    }

    /// The elements as bytes with shape and dtype, for pickle.
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
        let (bytes, shape, name): (Vec<u8>, Vec<usize>, String) = state.extract()?;
        let dtype = umber_core::DType::from_name(&name)
            .ok_or_else(|| PyValueError::new_err(format!("[array] state has unknown dtype '{name}'")))?;
        let shape = umber_core::Shape::from(shape);
        if bytes.len() != shape.size().saturating_mul(dtype.size()) {
            return Err(PyValueError::new_err(format!(
                "[array] state has {} bytes, expected {} for shape {shape} of {dtype}",
                bytes.len(),
                shape.size().saturating_mul(dtype.size())
            )));
        }
        self.set(py, convert::from_bytes(&bytes, &shape, dtype)?);
        Ok(())
    }

    /// Lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape_of(py, &self.get())
    }

    /// Type of the elements.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyDtype {
        // SAFETY: a look at a field.
        PyDtype(unsafe { self.with_ref(py, Array::dtype) })
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> usize {
        // SAFETY: a look at a field.
        unsafe { self.with_ref(py, Array::ndim) }
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> usize {
        noting_sizes(self.get()).size()
    }

    /// Bytes per element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.get().dtype().size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        noting_sizes(self.get()).nbytes()
    }

    /// The array with its axes in reverse order.
    #[getter(T)]
    fn transposed(&self) -> PyResult<NewArray> {
        ops::transpose(&self.get(), None).or_raise().map(NewArray::from)
    }

    /// The one element of an array of size one, as a Python number.
    fn item(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        let value = item(py, &array)?;
        warn_if_traced(py, &array)?;
        convert::to_number(py, value)
    }

    /// The elements as nested lists; a 0-d array as a number.
    fn tolist(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        let list = convert::to_list(py, &array)?;
        warn_if_traced(py, &array)?;
        Ok(list)
    }
}

/// The value of an object that has none yet.
fn blank() -> &'static Array {
    static BLANK: OnceLock<Array> = OnceLock::new();
    BLANK.get_or_init(|| Array::full(umber_core::Shape::from(vec![0]), 0, DType::Float32))
}

/// The array in the state that MLX pickles: NumPy's array of it, in which bfloat16 is uint16, and a number for its dtype.
fn of_mlx(values: &Bound<'_, PyAny>, code: usize) -> PyResult<Array> {
    /// In the order of MLX's numbers.
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

/// `item` as PyO3 calls it.
static ITEM: OnceLock<ffi::PyCFunction> = OnceLock::new();

/// `item` of what is there: a float, or an integer of 64 bits. Anything else goes on to [`ITEM`].
unsafe extern "C" fn item_if_evaluated(
    own: *mut ffi::PyObject,
    none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls with its lock held, as a method of this class, and once ITEM is there; this looks at memory.
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

/// [`item_if_evaluated`] before the C function of `item`.
pub(crate) fn before_item(original: ffi::PyCFunction) -> ffi::PyCFunction {
    ITEM.get_or_init(|| original);
    item_if_evaluated
}

/// The one element of an array, for conversions that need exactly one.
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

/// What Python's function `math.name` makes of the one element of an array: an integer, exactly.
fn whole_number(py: Python<'_>, name: &str, array: &Array) -> PyResult<Py<PyAny>> {
    let number = convert::to_number(py, one_element(py, name, array)?)?;
    Ok(py.import("math")?.call_method1(name, (number,))?.unbind())
}

/// Iterates over the first axis.
#[pyclass(name = "ArrayIterator", module = "umber.core")]
pub(crate) struct ArrayIterator {
    array: Array,
    left: Range<usize>,
    direction: Direction,
}

/// Which end of an axis comes first.
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
        Ok(ArrayIterator { array, left: 0..length, direction })
    }
}

#[pymethods]
impl ArrayIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> PyResult<Option<NewArray>> {
        let next = match self.direction {
            Direction::Forward => self.left.next(),
            Direction::Backward => self.left.next_back(),
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
