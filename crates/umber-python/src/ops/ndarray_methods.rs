//! Methods of `array` that exist for compatibility with NumPy's `ndarray`.
//!
//! One subject: short bindings of methods; most lines are their documentation.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::Array;
use umber_core::ops::{self, SortOrder};

use super::insert_delete::repeated;
use super::searching::{insertion_points, tuple};
use super::selecting::mode_of;
use crate::args::{Ints, Operand, StreamArg, axes, check_fits, compute, keep, record_on};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, summing};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Check a name of a sorting algorithm of NumPy. All of them select the same algorithm.
fn check_kind(op: &str, kind: Option<&str>) -> PyResult<()> {
    match kind {
        None | Some("quicksort" | "mergesort" | "heapsort" | "stable") => Ok(()),
        Some(other) => Err(PyValueError::new_err(format!(
            "[{op}] got kind '{other}', expected 'quicksort', 'mergesort', 'heapsort' or 'stable'"
        ))),
    }
}

impl PyArray {
    /// Replace the value by `changed` and return the object.
    fn replace_value<'py>(slf: &Bound<'py, Self>, changed: Array) -> PyResult<Bound<'py, Self>> {
        slf.get().update(slf.py(), changed)?;
        Ok(slf.clone())
    }
}

#[pymethods]
impl PyArray {
    /// Compute the complex conjugate of each element.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape and dtype.
    ///
    /// See Also
    /// --------
    /// umber.core.conjugate, conj
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1 + 2j]).conjugate()
    /// array([1-2j], dtype=complex64)
    #[pyo3(signature = (*, stream = None))]
    fn conjugate(&self, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::conjugate(&self.get())).map(NewArray::from)
    }

    /// Limit the elements to an interval.
    ///
    /// Parameters
    /// ----------
    /// min, max : array_like, optional
    ///     Bounds, broadcast against the array. None sets no bound. Default: None.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     ``minimum(maximum(a, min), max)``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes cannot be broadcast.
    ///
    /// See Also
    /// --------
    /// umber.core.clip
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 5, 9]).clip(2, 8)
    /// array([2, 5, 8], dtype=int32)
    #[pyo3(signature = (min = None, max = None, *, stream = None))]
    fn clip(
        &self,
        min: Option<Operand>,
        max: Option<Operand>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let a = self.get();
        let low = min.map(|low| low.promote_with(&a)).transpose()?;
        let high = max.map(|high| high.promote_with(&a)).transpose()?;
        record_on(stream, || ops::clip(&a, low.as_ref(), high.as_ref())).map(NewArray::from)
    }

    /// Compute the dot product: over this array's last axis and the second to last (or only) axis of `b`.
    ///
    /// Parameters
    /// ----------
    /// b : array_like
    ///     Second operand.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Sum of products; a matrix product for two matrices.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the two axes have different lengths.
    ///
    /// See Also
    /// --------
    /// umber.core.matmul, umber.core.inner, umber.core.tensordot
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]]).dot(mx.array([1, 10]))
    /// array([21, 43], dtype=int32)
    #[pyo3(signature = (b, *, stream = None))]
    fn dot(&self, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
        let a = self.get();
        let b = b.promote_with(&a)?;
        record_on(stream, || ops::dot(&a, &b)).map(NewArray::from)
    }

    /// Return the indices of the non-zero elements.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// tuple of array
    ///     One uint32 array for each axis, in row-major order of the elements.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array has no axes, or if it has no value because it is traced.
    ///
    /// See Also
    /// --------
    /// umber.core.nonzero
    ///
    /// Notes
    /// -----
    /// The shape of the result depends on values, so the array is evaluated.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([0, 3, 0, 4]).nonzero()
    /// (array([1, 3], dtype=uint32),)
    #[pyo3(signature = (*, stream = None))]
    fn nonzero<'py>(&self, py: Python<'py>, stream: Option<StreamArg>) -> PyResult<Bound<'py, PyTuple>> {
        let a = self.get();
        tuple(py, compute(py, stream, || ops::nonzero(&a))?)
    }

    /// Select slices along an axis by a condition.
    ///
    /// Parameters
    /// ----------
    /// condition : array_like
    ///     One axis, at most as long as the axis; non-zero elements select.
    /// axis : int, optional
    ///     Axis to select along. Default: the flattened array.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The selected slices.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds, or if the condition selects beyond its end.
    /// ValueError
    ///     If `condition` does not have one axis.
    ///
    /// See Also
    /// --------
    /// umber.core.compress, take
    ///
    /// Notes
    /// -----
    /// `condition` is evaluated, since the shape of the result depends on it.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2, 3], [4, 5, 6]]).compress([True, False, True], axis=1)
    /// array([[1, 3],
    ///        [4, 6]], dtype=int32)
    #[pyo3(signature = (condition, axis = None, *, stream = None))]
    fn compress(
        &self,
        py: Python<'_>,
        condition: Operand,
        axis: Option<i64>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let (a, condition) = (self.get(), condition.into_array());
        compute(py, stream, || ops::compress(&condition, &a, axis)).map(NewArray::from)
    }

    /// Compute the range of values over axes: the maximum minus the minimum.
    ///
    /// Parameters
    /// ----------
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep reduced axes with length 1. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Without the reduced axes, unless `keepdims`.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If there are no elements.
    ///
    /// See Also
    /// --------
    /// max, min
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 5], [2, 9]]).ptp(axis=1)
    /// array([4, 7], dtype=int32)
    #[pyo3(signature = (axis = None, keepdims = false, *, stream = None))]
    fn ptp(&self, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::ptp(&self.get(), axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
    }

    /// Compute the sum of a diagonal.
    ///
    /// Parameters
    /// ----------
    /// offset : int, optional
    ///     Diagonal: 0 is the main one, positive ones are above it. Default: 0.
    /// axis1, axis2 : int, optional
    ///     Rows and columns of the matrices. Default: 0 and 1.
    /// dtype : Dtype or str, optional
    ///     Type to convert the elements to first.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Without `axis1` and `axis2`.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If the array has fewer than two axes.
    ///
    /// See Also
    /// --------
    /// umber.core.trace, diagonal
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]]).trace()
    /// array(5, dtype=int32)
    #[pyo3(signature = (offset = 0, axis1 = 0, axis2 = 1, dtype = None, *, stream = None))]
    fn trace(
        &self,
        offset: i64,
        axis1: i64,
        axis2: i64,
        dtype: Option<DtypeArg>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let a = self.get();
        let dtype = summing(dtype, a.dtype());
        record_on(stream, || ops::trace(&a, offset, axis1, axis2, dtype)).map(NewArray::from)
    }

    /// Repeat each element along an axis.
    ///
    /// Parameters
    /// ----------
    /// repeats : int or integer array_like
    ///     Number of repetitions: one for all, or one for each element.
    /// axis : int, optional
    ///     Axis to repeat along. Default: the flattened array.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The elements, each repeated.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds.
    /// ValueError
    ///     If a number of repetitions is negative.
    ///
    /// See Also
    /// --------
    /// umber.core.repeat, umber.core.tile
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 2]).repeat(2)
    /// array([1, 1, 2, 2], dtype=int32)
    /// >>> mx.array([1, 2]).repeat(mx.array([3, 1]))
    /// array([1, 1, 1, 2], dtype=int32)
    #[pyo3(signature = (repeats, axis = None, *, stream = None))]
    fn repeat(
        &self,
        repeats: &Bound<'_, PyAny>,
        axis: Option<i64>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        repeated(repeats.py(), &self.get(), repeats, axis, stream)
    }

    /// Find the indices at which values would be inserted into this sorted array.
    ///
    /// Parameters
    /// ----------
    /// v : array_like
    ///     Values to insert.
    /// side : {"left", "right"}, optional
    ///     Insert before or after equal elements. Default: "left".
    /// sorter : integer array_like, optional
    ///     Indices that sort the array, if it is not sorted. Default: None.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Indices, uint32, of the shape of `v`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array does not have one axis, or if `side` is unknown.
    ///
    /// See Also
    /// --------
    /// umber.core.searchsorted, argsort
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 3, 5]).searchsorted(mx.array([3, 6]))
    /// array([1, 3], dtype=uint32)
    /// >>> mx.array([1, 3, 5]).searchsorted(3, side="right")
    /// array(2, dtype=uint32)
    #[pyo3(signature = (v, side = "left", sorter = None, *, stream = None))]
    fn searchsorted(
        &self,
        v: Operand,
        side: &str,
        sorter: Option<Operand>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        insertion_points(Operand::Array(self.get()), v, side, sorter, stream)
    }

    /// Return the indices that sort the array along an axis.
    ///
    /// Parameters
    /// ----------
    /// axis : int, optional
    ///     Axis to sort. None sorts the flattened array. Default: -1.
    /// kind : str, optional
    ///     Accepted for compatibility with NumPy; has no effect.
    /// stable : bool, optional
    ///     Accepted for compatibility with NumPy; the sort is always stable.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Indices, uint32. Equal elements keep their order; NaN comes last.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// umber.core.argsort, sort
    ///
    /// Examples
    /// --------
    /// >>> mx.array([3, 1, 2]).argsort()
    /// array([1, 2, 0], dtype=uint32)
    #[pyo3(signature = (axis = -1, kind = None, *, stable = true, stream = None))]
    fn argsort(
        &self,
        axis: Option<i64>,
        kind: Option<&str>,
        stable: Option<bool>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let _ = stable;
        check_kind("argsort", kind)?;
        record_on(stream, || ops::argsort(&self.get(), axis, SortOrder::Ascending)).map(NewArray::from)
    }

    /// Return the indices that partition the array along an axis about its `kth` element.
    ///
    /// Parameters
    /// ----------
    /// kth : int or sequence of int
    ///     Position, along the axis, of the element that gets its sorted place, or positions of several.
    /// axis : int, optional
    ///     Axis to partition. None partitions the flattened array. Default: -1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Indices, uint32. No element before position `kth` is larger, none after it is smaller.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds.
    /// TypeError
    ///     If `kth` is not an integer or a sequence of integers. Booleans are not.
    /// ValueError
    ///     If `kth` is empty, or a position in it is out of bounds.
    ///
    /// See Also
    /// --------
    /// umber.core.argpartition, partition
    ///
    /// Examples
    /// --------
    /// >>> a = mx.array([5, 1, 4, 2])
    /// >>> a[a.argpartition(1)][:2].max()
    /// array(2, dtype=int32)
    #[pyo3(signature = (kth, axis = -1, *, stream = None))]
    fn argpartition(&self, kth: Ints, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::argpartition_about(&self.get(), kth.as_slice(), axis)).map(NewArray::from)
    }

    /// Sort the array in place along an axis, and return it.
    ///
    /// Parameters
    /// ----------
    /// axis : int, optional
    ///     Axis to sort. Default: -1.
    /// kind : str, optional
    ///     Accepted for compatibility with NumPy; has no effect.
    /// stable : bool, optional
    ///     Accepted for compatibility with NumPy; the sort is always stable.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     This array.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// umber.core.sort, argsort
    ///
    /// Notes
    /// -----
    /// `umber.core.sort` returns a new array instead. NaN comes last.
    ///
    /// Examples
    /// --------
    /// >>> a = mx.array([3, 1, 2])
    /// >>> _ = a.sort()
    /// >>> a
    /// array([1, 2, 3], dtype=int32)
    #[pyo3(signature = (axis = -1, kind = None, *, stable = true, stream = None))]
    fn sort<'py>(
        slf: &Bound<'py, Self>,
        axis: i64,
        kind: Option<&str>,
        stable: Option<bool>,
        stream: Option<StreamArg>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = stable;
        check_kind("sort", kind)?;
        let sorted = record_on(stream, || ops::sort(&slf.get().get(), Some(axis), SortOrder::Ascending))?;
        Self::replace_value(slf, sorted)
    }

    /// Partition the array in place along an axis about its `kth` element, and return it.
    ///
    /// Parameters
    /// ----------
    /// kth : int or sequence of int
    ///     Position, along the axis, of the element that gets its sorted place, or positions of several.
    /// axis : int, optional
    ///     Axis to partition. Default: -1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     This array. No element before position `kth` is larger, none after it is smaller.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds.
    /// TypeError
    ///     If `kth` is not an integer or a sequence of integers. Booleans are not.
    /// ValueError
    ///     If `kth` is empty, or a position in it is out of bounds.
    ///
    /// See Also
    /// --------
    /// umber.core.partition, argpartition
    ///
    /// Examples
    /// --------
    /// >>> a = mx.array([5, 1, 4, 2])
    /// >>> _ = a.partition(1)
    /// >>> a[1]
    /// array(2, dtype=int32)
    #[pyo3(signature = (kth, axis = -1, *, stream = None))]
    fn partition<'py>(
        slf: &Bound<'py, Self>,
        kth: Ints,
        axis: i64,
        stream: Option<StreamArg>,
    ) -> PyResult<Bound<'py, Self>> {
        let partitioned =
            record_on(stream, || ops::partition_about(&slf.get().get(), kth.as_slice(), Some(axis)))?;
        Self::replace_value(slf, partitioned)
    }

    /// Set every element to a number in place, and return the array.
    ///
    /// Parameters
    /// ----------
    /// value : scalar
    ///     Number, or array with one element, converted to the dtype.
    ///
    /// Returns
    /// -------
    /// array
    ///     This array.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `value` is not a single number.
    ///
    /// See Also
    /// --------
    /// umber.core.full
    ///
    /// Examples
    /// --------
    /// >>> mx.zeros((2, 2)).fill(3)
    /// array([[3, 3],
    ///        [3, 3]], dtype=float32)
    fn fill<'py>(slf: &Bound<'py, Self>, value: Operand) -> PyResult<Bound<'py, Self>> {
        let a = slf.get().get();
        let value = match value {
            Operand::Array(array) => array,
            Operand::Number(number) => {
                check_fits(number, a.dtype())?;
                Array::scalar(number, a.dtype())
            }
        };
        if value.size() != 1 {
            return Err(PyValueError::new_err(format!(
                "[fill] value must be a scalar, got shape {}",
                value.shape()
            )));
        }
        let value = ops::reshape(&value, ()).or_raise()?;
        let filled = ops::full(a.shape(), &value, Some(a.dtype())).or_raise()?;
        Self::replace_value(slf, filled)
    }

    /// Set elements at indices of the flattened array in place, and return the array.
    ///
    /// Parameters
    /// ----------
    /// indices : integer array_like
    ///     Indices into the flattened array.
    /// values : array_like
    ///     New values; repeated if there are fewer than indices.
    /// mode : {"raise", "wrap", "clip"}, optional
    ///     What to do with indices out of bounds: raise, wrap around, or clip to the valid range. Default: "raise".
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     This array.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If `mode` is "raise" and an index is out of bounds.
    ///
    /// See Also
    /// --------
    /// take, umber.core.put_along_axis
    ///
    /// Examples
    /// --------
    /// >>> mx.zeros(4).put([0, 2, 3], [1, 2])
    /// array([1, 0, 2, 1], dtype=float32)
    #[pyo3(signature = (indices, values, mode = "raise", *, stream = None))]
    fn put<'py>(
        slf: &Bound<'py, Self>,
        indices: Operand,
        values: Operand,
        mode: &str,
        stream: Option<StreamArg>,
    ) -> PyResult<Bound<'py, Self>> {
        let (a, py) = (slf.get().get(), slf.py());
        let (indices, values, mode) = (indices.into_array(), values.promote_with(&a)?, mode_of("put", mode)?);
        crate::indexing::evaluate_index(py, [&indices])?;
        let changed = compute(py, stream, || ops::put(&a, &indices, &values, mode))?;
        Self::replace_value(slf, changed)
    }
}
