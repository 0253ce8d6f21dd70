//! `a[...]`, `a[...] = v`, `a.at[...]`.

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyEllipsis, PyInt, PyList, PySlice, PyString, PyTuple};
use smallvec::SmallVec;
use umber_core::graph::ArrayInternals;
use umber_core::types::{ScatterKind, error};
use umber_core::{Array, DType, Scalar, ops};

use crate::args::Operand;
use crate::array::PyArray;
use crate::convert;
use crate::enter::{OrRaise, enter, to_exception};
use crate::error_text::with_name;
use crate::narrow_x64::is_under_mlx;
use crate::new_array::NewArray;
use crate::operators::class_of_kind;
use ops::Index;
use ops::indexing::Entry;

type Indices = SmallVec<[Index; 4]>;

/// The entries of an index expression.
fn parse(index: &Bound<'_, PyAny>) -> PyResult<Indices> {
    match index.cast::<PyTuple>() {
        Ok(tuple) if index.is_exact_instance_of::<PyTuple>() => {
            tuple.iter().map(|entry| parse_one(&entry)).collect()
        }
        // By its iterator, which a subclass of tuple may override.
        Ok(tuple) => tuple.try_iter()?.map(|entry| parse_one(&entry?)).collect(),
        Err(_) => Ok(smallvec::smallvec![parse_one(index)?]),
    }
}

/// One entry of an index expression.
pub(crate) fn parse_one(entry: &Bound<'_, PyAny>) -> PyResult<Index> {
    if entry.is_instance_of::<PyBool>() {
        let value: bool = entry.extract()?;
        return Ok(Index::Mask(Array::scalar(Scalar::Bool(value), DType::Bool)));
    }
    if entry.is_instance_of::<PyInt>() {
        return integer(entry).map(Index::Int);
    }
    if let Ok(slice) = entry.cast::<PySlice>() {
        let py = entry.py();
        let bound = |name: &Bound<'_, PyString>| -> PyResult<Option<i64>> {
            let value = slice.getattr(name)?;
            if value.is_none() { Ok(None) } else { clamped(&value).map(Some) }
        };
        return Ok(Index::Slice {
            start: bound(intern!(py, "start"))?,
            stop: bound(intern!(py, "stop"))?,
            step: bound(intern!(py, "step"))?,
        });
    }
    if entry.is_none() {
        return Ok(Index::NewAxis);
    }
    if entry.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if let Ok(array) = entry.cast::<PyArray>() {
        return of_array(array.get().get());
    }
    if entry.is_instance_of::<PyList>() || entry.is_instance_of::<PyTuple>() {
        let array = convert::array(entry, None)?;
        if array.size() == 0 {
            // An empty list has no elements that determine a dtype.
            return Ok(Index::Array(Array::full(array.shape().clone(), Scalar::Int(0), DType::Int32)));
        }
        return of_array(array);
    }
    // NumPy integers are indices, too. Its arrays share their memory; bytes do as well, but are not indices.
    if !entry.is_instance_of::<PyBytes>()
        && let Some(array) = convert::shared(entry, crate::interop::Copying::IfNeeded)?
    {
        if array.ndim() == 0 && array.dtype().is_integer() {
            return integer(entry).map(Index::Int);
        }
        return of_array(array);
    }
    match integer(entry) {
        Ok(value) => Ok(Index::Int(value)),
        // An exception raised by its own `__index__` is more specific.
        Err(error) if entry.hasattr(intern!(entry.py(), "__index__"))? => Err(error),
        Err(_) if entry.is_instance(&entry.py().import("builtins")?.getattr("range")?)? => {
            let items = entry.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            parse_one(PyList::new(entry.py(), items)?.as_any())
        }
        Err(_) => Err(PyIndexError::new_err(format!(
            "[index] got {}, expected integers, slices (`:`), ellipsis (`...`), None, or arrays of integers \
             or bool",
            entry.get_type().name()?
        ))),
    }
}

/// Fast path: an index of integers and full slices only; `None` for any other.
#[inline]
fn integers_and_full_slices(index: &Bound<'_, PyAny>) -> Option<SmallVec<[Entry; 4]>> {
    let mut entries = SmallVec::new();
    let Ok(tuple) = index.cast_exact::<PyTuple>() else {
        entries.push(integer_entry(index)?);
        return Some(entries);
    };
    for entry in tuple.iter_borrowed() {
        entries.push(match integer_entry(&entry) {
            Some(entry) => entry,
            None if is_full_slice(&entry) => Entry::All,
            None => return None,
        });
    }
    Some(entries)
}

#[inline]
fn integer_entry(entry: &Bound<'_, PyAny>) -> Option<Entry> {
    if entry.is_exact_instance_of::<PyInt>() { entry.extract().ok().map(Entry::Index) } else { None }
}

/// Whether it is the slice `:`.
fn is_full_slice(entry: &Bound<'_, PyAny>) -> bool {
    let Ok(slice) = entry.cast::<PySlice>() else { return false };
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: the object is a slice, and the three outputs are valid.
    let failed =
        unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step) } != 0;
    if failed {
        // The general path reports the error.
        drop(PyErr::take(entry.py()));
    }
    !failed && (start, stop, step) == (0, isize::MAX, 1)
}

/// The value of an object with `__index__`; beyond 64 bits it is out of bounds for every axis.
fn integer(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract::<i64>().map_err(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py()) {
            PyIndexError::new_err(format!("[index] index {value} is out of bounds: it does not fit 64 bits"))
        } else {
            error
        }
    })
}

/// The value of a slice's bound; beyond 64 bits the nearest that fits, since bounds are clamped anyway.
fn clamped(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract::<i64>().or_else(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py()) {
            let integer = value.call_method0(intern!(value.py(), "__index__"))?;
            Ok(if integer.lt(0)? { i64::MIN } else { i64::MAX })
        } else {
            Err(error)
        }
    })
}

fn of_array(array: Array) -> PyResult<Index> {
    if array.dtype() == DType::Bool {
        return Ok(Index::Mask(array));
    }
    if array.dtype().is_integer() {
        return Ok(Index::Array(array));
    }
    Err(PyIndexError::new_err(format!("[index] index arrays must be integer or bool, not {}", array.dtype())))
}

/// Whether an index expression contains a list of integers.
fn has_list(index: &Bound<'_, PyAny>) -> bool {
    match index.cast::<PyTuple>() {
        Ok(entries) => entries.iter().any(|entry| entry.is_instance_of::<PyList>()),
        Err(_) => index.is_instance_of::<PyList>(),
    }
}

/// Masks are evaluated immediately; all other indices are recorded lazily.
fn is_lazy(indices: &Indices) -> bool {
    !indices.iter().any(|index| matches!(index, Index::Mask(_)))
}

/// Evaluate pending index arrays before an in-place update, so that indices out of bounds raise before it.
///
/// Traced index arrays have no values and are skipped.
pub(crate) fn evaluate_index<'a>(
    py: Python<'_>,
    arrays: impl IntoIterator<Item = &'a Array>,
) -> PyResult<()> {
    let is_pending = |array: &&Array| !array.is_evaluated() && !array.is_traced();
    let pending: Vec<Array> = arrays.into_iter().filter(is_pending).cloned().collect();
    if pending.is_empty() {
        return Ok(());
    }
    enter(py, move || umber_core::eval(&pending))
}

/// As [`evaluate_index`], for the arrays in a parsed index expression.
fn evaluate_index_entries(py: Python<'_>, indices: &Indices) -> PyResult<()> {
    evaluate_index(
        py,
        indices.iter().filter_map(|index| if let Index::Array(array) = index { Some(array) } else { None }),
    )
}

/// As [`evaluate_index`], for the arrays in an index expression of Python.
pub(crate) fn evaluate_index_object(index: &Bound<'_, PyAny>) -> PyResult<()> {
    evaluate_index_entries(index.py(), &parse(index)?)
}

fn read(py: Python<'_>, array: &Array, indices: &Indices) -> PyResult<Array> {
    if is_lazy(indices) {
        ops::get(array, indices).or_raise()
    } else {
        enter(py, || ops::get(array, indices))
    }
}

fn write(
    py: Python<'_>,
    kind: ScatterKind,
    array: &Array,
    indices: &Indices,
    values: &Bound<'_, PyAny>,
) -> PyResult<Array> {
    let values = match with_name(py, "index", || values.extract::<Operand>())? {
        Operand::Array(values) => values,
        Operand::Number(value) => {
            let dtype = array.dtype();
            with_name(py, "index", || crate::args::check_fits(value, dtype))?;
            Array::scalar(value, dtype)
        }
    };
    if is_lazy(indices) {
        return ops::update(kind, array, indices, &values).or_raise();
    }
    match &indices[..] {
        // MLX ignores surplus values.
        [Index::Mask(mask)] if kind == ScatterKind::Set && mask.ndim() > 0 && is_under_mlx() => {
            enter(py, || ops::assign_first(array, mask, &values))
        }
        _ => enter(py, || ops::update(kind, array, indices, &values)),
    }
}

/// Raise for the last step of `a[index] += value` if the sum is of a higher kind than the elements of `a`: converting it,
/// for example floats to integers, would lose information silently.
///
/// Python reads `a[index]`, adds to it in place, and assigns the object back, to which no other reference exists. Under MLX's
/// name the values are converted, as in MLX.
fn check_augmented(array: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(sum) = value.cast::<PyArray>() else { return Ok(()) };
    // SAFETY: reads the reference count of a live object, with the interpreter lock held.
    let is_held_elsewhere = || unsafe { ffi::Py_REFCNT(value.as_ptr()) } > 1;
    if !sum.get().is_widened() || is_held_elsewhere() || is_under_mlx() {
        return Ok(());
    }
    let widened = sum.get().get_cloned(value.py()).dtype();
    if class_of_kind(widened) <= class_of_kind(array.dtype()) {
        return Ok(());
    }
    Err(to_exception(umber_core::types::error!(
        Type("index"),
        "cannot store {widened} in place in an array of {0}; convert the array first, or assign `(a[index] + \
         value).astype({0})`",
        array.dtype()
    )))
}

#[pymethods]
impl PyArray {
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        if let Some(entries) = integers_and_full_slices(index) {
            // SAFETY: reads fields only.
            let part = unsafe { self.with_ref(index.py(), |array| ops::indexing::part(array, &entries)) };
            if let Some(part) = part {
                return NewArray::sharing(part).object(index.py());
            }
        }
        let indices = with_name(index.py(), "index", || parse(index))?;
        let array = self.get_cloned(index.py());
        // Indices in a list are constants, so they are checked immediately, as integers are.
        if has_list(index) {
            ops::check_index(&array, &indices).or_raise()?;
        }
        NewArray::from(read(index.py(), &array, &indices)?).object(index.py())
    }

    fn __setitem__(&self, index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let indices = with_name(index.py(), "index", || parse(index))?;
        evaluate_index_entries(index.py(), &indices)?;
        let array = self.get();
        check_augmented(&array, value)?;
        let updated = write(index.py(), ScatterKind::Set, &array, &indices, value)?;
        drop(array);
        self.update(index.py(), updated)
    }

    fn __delitem__(&self, _index: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("[index] arrays do not support item deletion; use umber.core.delete"))
    }

    /// Index of functional updates: ``a.at[index].add(value)`` returns a new array.
    ///
    /// Returns
    /// -------
    /// ArrayAt
    ///     Object to index with ``[]``. Its methods are `add`, `subtract`, `multiply`, `divide`, `maximum` and `minimum`.
    ///
    /// Notes
    /// -----
    /// If an index occurs several times, every occurrence counts, unlike with ``a[index] += value``.
    ///
    /// Examples
    /// --------
    /// >>> a = mx.zeros(3)
    /// >>> a.at[mx.array([0, 0, 2])].add(1)
    /// array([2, 0, 1], dtype=float32)
    /// >>> a
    /// array([0, 0, 0], dtype=float32)
    #[getter]
    fn at(slf: Bound<'_, Self>) -> ArrayAt {
        ArrayAt { array: slf.unbind(), indices: None }
    }
}

type Quotient = fn(&Array, &Array) -> umber_core::Result<Array>;

/// An array and the index at which to update it; made by ``a.at[index]``.
///
/// Examples
/// --------
/// >>> mx.zeros(3).at[1].add(5)
/// array([0, 5, 0], dtype=float32)
#[pyclass(name = "ArrayAt", module = "umber.core", frozen)]
pub(crate) struct ArrayAt {
    array: Py<PyArray>,
    indices: Option<Indices>,
}

impl ArrayAt {
    fn update(&self, kind: ScatterKind, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        let Some(indices) = &self.indices else {
            return Err(PyTypeError::new_err("[at] missing index: write a.at[index].add(value)"));
        };
        let array = self.array.get().get();
        write(value.py(), kind, &array, indices, value).map(NewArray::from)
    }
}

#[pymethods]
impl ArrayAt {
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<ArrayAt> {
        Ok(ArrayAt {
            array: self.array.clone_ref(py),
            indices: Some(with_name(py, "index", || parse(index))?),
        })
    }

    /// Add a value at the index.
    ///
    /// Parameters
    /// ----------
    /// value : array_like
    ///     Value, broadcast to the shape of the indexed elements and converted to the dtype.
    ///
    /// Returns
    /// -------
    /// array
    ///     Updated copy. Repeated indices accumulate.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If there is no index: ``a.at.add(value)``.
    /// IndexError
    ///     If an index is out of bounds.
    /// ValueError
    ///     If `value` cannot be broadcast to the indexed elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.zeros(3).at[mx.array([0, 0])].add(5)
    /// array([10, 0, 0], dtype=float32)
    fn add(&self, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        self.update(ScatterKind::Add, value)
    }

    /// Subtract a value at the index.
    ///
    /// Parameters
    /// ----------
    /// value : array_like
    ///     Value, broadcast to the shape of the indexed elements and converted to the dtype.
    ///
    /// Returns
    /// -------
    /// array
    ///     Updated copy. Repeated indices accumulate.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If there is no index, or if the array is boolean.
    /// IndexError
    ///     If an index is out of bounds.
    /// ValueError
    ///     If `value` cannot be broadcast to the indexed elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.zeros(3).at[mx.array([0, 0])].subtract(5)
    /// array([-10, 0, 0], dtype=float32)
    fn subtract(&self, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        let negative = with_name(value.py(), "index", || negated(value, &self.array.get().get()))?;
        self.update(ScatterKind::Add, NewArray::from(negative).object(value.py())?.as_any())
    }

    /// Multiply by a value at the index.
    ///
    /// Parameters
    /// ----------
    /// value : array_like
    ///     Value, broadcast to the shape of the indexed elements and converted to the dtype.
    ///
    /// Returns
    /// -------
    /// array
    ///     Updated copy. Repeated indices accumulate.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If there is no index.
    /// IndexError
    ///     If an index is out of bounds.
    /// ValueError
    ///     If `value` cannot be broadcast to the indexed elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.ones(3).at[mx.array([0, 0])].multiply(5)
    /// array([25, 1, 1], dtype=float32)
    fn multiply(&self, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        self.update(ScatterKind::Multiply, value)
    }

    /// Divide by a value at the index.
    ///
    /// Parameters
    /// ----------
    /// value : array_like
    ///     Value, broadcast to the shape of the indexed elements.
    ///
    /// Returns
    /// -------
    /// array
    ///     Updated copy; integers are divided as by ``//``. Repeated indices accumulate.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If there is no index.
    /// IndexError
    ///     If an index is out of bounds.
    /// ValueError
    ///     If `value` cannot be broadcast to the indexed elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.ones(3).at[0].divide(4)
    /// array([0.25, 1, 1], dtype=float32)
    /// >>> mx.array([7, 8]).at[0].divide(2)
    /// array([3, 8], dtype=int32)
    fn divide(&self, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        let (py, like) = (value.py(), self.array.get().get());
        let array_dtype = like.dtype();
        let divisor = with_name(py, "index", || value.extract::<Operand>()?.promote_with(&like))?;
        let (divisor, quotient): (Array, Quotient) = if array_dtype.is_integer() {
            (ops::astype(&divisor, array_dtype).or_raise()?, ops::floor_divide)
        } else {
            (divisor, ops::divide)
        };
        let Some(indices) = &self.indices else { return self.update(ScatterKind::Set, value) };
        if !indices.iter().any(|index| matches!(index, Index::Array(_))) {
            // No index array: no element occurs twice.
            let old = read(py, &like, indices)?;
            let quotient = NewArray::from(quotient(&old, &divisor).or_raise()?);
            return self.update(ScatterKind::Set, quotient.object(py)?.as_any());
        }
        // Multiply all divisors of an element first, in the widest dtype of their kind, then divide once.
        let widest = match array_dtype {
            DType::UInt64 => array_dtype,
            _ if array_dtype.is_integer() => DType::Int64,
            _ => array_dtype.inexact(),
        };
        let ones = ops::ones(like.shape(), widest);
        let divisor = NewArray::from(ops::astype(&divisor, widest).or_raise()?).object(py)?;
        let divisors = write(py, ScatterKind::Multiply, &ones, indices, divisor.as_any())?;
        let updated = quotient(&ops::astype(&like, widest).or_raise()?, &divisors).or_raise()?;
        ops::astype(&updated, array_dtype).or_raise().map(NewArray::from)
    }

    /// Take the maximum with a value at the index.
    ///
    /// Parameters
    /// ----------
    /// value : array_like
    ///     Value, broadcast to the shape of the indexed elements and converted to the dtype.
    ///
    /// Returns
    /// -------
    /// array
    ///     Updated copy. Repeated indices accumulate.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If there is no index.
    /// IndexError
    ///     If an index is out of bounds.
    /// ValueError
    ///     If `value` cannot be broadcast to the indexed elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.ones(3).at[mx.array([0, 0])].maximum(mx.array([5, 3]))
    /// array([5, 1, 1], dtype=float32)
    fn maximum(&self, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        self.update(ScatterKind::Maximum, value)
    }

    /// Take the minimum with a value at the index.
    ///
    /// Parameters
    /// ----------
    /// value : array_like
    ///     Value, broadcast to the shape of the indexed elements and converted to the dtype.
    ///
    /// Returns
    /// -------
    /// array
    ///     Updated copy. Repeated indices accumulate.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If there is no index.
    /// IndexError
    ///     If an index is out of bounds.
    /// ValueError
    ///     If `value` cannot be broadcast to the indexed elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.ones(3).at[mx.array([0, 0])].minimum(mx.array([5, -3]))
    /// array([-3, 1, 1], dtype=float32)
    fn minimum(&self, value: &Bound<'_, PyAny>) -> PyResult<NewArray> {
        self.update(ScatterKind::Minimum, value)
    }
}

fn negated(value: &Bound<'_, PyAny>, like: &Array) -> PyResult<Array> {
    if like.dtype() == DType::Bool {
        return Err(to_exception(error!(Type("index"), "cannot subtract from a bool array")));
    }
    let value = value.extract::<Operand>()?.promote_with(like)?;
    ops::negative(&ops::astype(&value, like.dtype()).or_raise()?).or_raise()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrayAt>()
}
