//! Methods of `array` that clients of NumPy's arrays call.

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

/// NumPy's names of sorting algorithms, of which one serves for all.
fn check_kind(op: &str, kind: Option<&str>) -> PyResult<()> {
    match kind {
        None | Some("quicksort" | "mergesort" | "heapsort" | "stable") => Ok(()),
        Some(other) => Err(PyValueError::new_err(format!(
            "[{op}] got kind '{other}', expected 'quicksort', 'mergesort', 'heapsort' or 'stable'"
        ))),
    }
}

impl PyArray {
    /// Put `changed` in place of the value, and return the object.
    fn replaced<'py>(slf: &Bound<'py, Self>, changed: Array) -> PyResult<Bound<'py, Self>> {
        slf.get().update(slf.py(), changed)?;
        Ok(slf.clone())
    }
}

#[pymethods]
impl PyArray {
    /// Complex conjugate of each element.
    #[pyo3(signature = (*, stream = None))]
    fn conjugate(&self, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::conjugate(&self.get())).map(NewArray::from)
    }

    /// The elements limited to `min..=max`; `None` does not limit.
    #[pyo3(signature = (min = None, max = None, *, stream = None))]
    fn clip(
        &self,
        min: Option<Operand>,
        max: Option<Operand>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let a = self.get();
        let low = min.map(|low| low.beside(&a)).transpose()?;
        let high = max.map(|high| high.beside(&a)).transpose()?;
        record_on(stream, || ops::clip(&a, low.as_ref(), high.as_ref())).map(NewArray::from)
    }

    /// The dot product with `b`: over the last axis of this array and the second to last (or only) one of `b`.
    #[pyo3(signature = (b, *, stream = None))]
    fn dot(&self, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
        let a = self.get();
        let b = b.beside(&a)?;
        record_on(stream, || ops::dot(&a, &b)).map(NewArray::from)
    }

    /// The indices of the elements that are not zero: a tuple of a uint32 array for each axis. The array is evaluated.
    #[pyo3(signature = (*, stream = None))]
    fn nonzero<'py>(&self, py: Python<'py>, stream: Option<StreamArg>) -> PyResult<Bound<'py, PyTuple>> {
        let a = self.get();
        tuple(py, compute(py, stream, || ops::nonzero(&a))?)
    }

    /// The parts along `axis` (elements of the flattened array by default) where `condition`, of one axis and perhaps
    /// shorter, is not zero. `condition` is evaluated.
    #[pyo3(signature = (condition, axis = None, *, stream = None))]
    fn compress(
        &self,
        py: Python<'_>,
        condition: Operand,
        axis: Option<i64>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let (a, condition) = (self.get(), condition.alone());
        compute(py, stream, || ops::compress(&condition, &a, axis)).map(NewArray::from)
    }

    /// Largest element over `axis` minus the smallest.
    #[pyo3(signature = (axis = None, keepdims = false, *, stream = None))]
    fn ptp(&self, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::ptp(&self.get(), axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
    }

    /// The sum of the elements on a diagonal of two axes.
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

    /// Each element `repeats` times along `axis` (of the flattened array by default): a number, or one for each element.
    #[pyo3(signature = (repeats, axis = None, *, stream = None))]
    fn repeat(
        &self,
        repeats: &Bound<'_, PyAny>,
        axis: Option<i64>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        repeated(repeats.py(), &self.get(), repeats, axis, stream)
    }

    /// Where each value would go into this sorted array of one axis, as uint32: before ("left") or after ("right") equal
    /// elements.
    ///
    /// `sorter` holds the indices that bring the array in order, if it is not.
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

    /// Indices that sort the array along `axis` (the flattened array if `None`), as uint32; equal elements keep their
    /// order. `kind` and `stable` are NumPy's, and change nothing.
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

    /// Indices that partition the array along `axis` about its `kth` element, as uint32.
    #[pyo3(signature = (kth, axis = -1, *, stream = None))]
    fn argpartition(&self, kth: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::argpartition(&self.get(), kth, axis)).map(NewArray::from)
    }

    /// Sort the array in place along `axis`, as NumPy's method does, and return it; `sort` of the module returns a new
    /// array. `kind` and `stable` are NumPy's, and change nothing.
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
        Self::replaced(slf, sorted)
    }

    /// Bring the `kth` element along `axis` to its sorted place, none larger before it and none smaller after it, in place,
    /// and return the array.
    #[pyo3(signature = (kth, axis = -1, *, stream = None))]
    fn partition<'py>(
        slf: &Bound<'py, Self>,
        kth: i64,
        axis: i64,
        stream: Option<StreamArg>,
    ) -> PyResult<Bound<'py, Self>> {
        let parted = record_on(stream, || ops::partition(&slf.get().get(), kth, Some(axis)))?;
        Self::replaced(slf, parted)
    }

    /// Set every element to `value`, in place, and return the array.
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
        let value = ops::reshape(&value, &[]).or_raise()?;
        let filled = ops::full(a.shape(), &value, Some(a.dtype())).or_raise()?;
        Self::replaced(slf, filled)
    }

    /// Set the elements at `indices` of the flattened array to `values`, which begin again when they are used up, in place,
    /// and return the array. `mode` says what becomes of indices outside: "raise", "wrap" or "clip".
    #[pyo3(signature = (indices, values, mode = "raise", *, stream = None))]
    fn put<'py>(
        slf: &Bound<'py, Self>,
        indices: Operand,
        values: Operand,
        mode: &str,
        stream: Option<StreamArg>,
    ) -> PyResult<Bound<'py, Self>> {
        let (a, py) = (slf.get().get(), slf.py());
        let (indices, values, mode) = (indices.alone(), values.beside(&a)?, mode_of("put", mode)?);
        crate::indexing::evaluate_index(py, [&indices])?;
        let changed = compute(py, stream, || ops::put(&a, &indices, &values, mode))?;
        Self::replaced(slf, changed)
    }
}
