//! Reductions and scans.
//!
//! One subject: tables of reductions; most lines are their documentation.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::Scalar;
use umber_core::ops::{self, Precision};

use crate::args::{Ints, Operand, StreamArg, axes, keep, number, record_on, scan_order};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, summing};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Reductions over any axes.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, stream = None))]
            fn $name(a: Operand, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.into_array();
                record_on(stream, || ops::$name(&a, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
            }
        )*

        fn register_reductions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}
pub(super) use reductions;

reductions! {
    /// Logarithm of the sum of exponentials over axes: `log(sum(exp(a)))`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`. Dtype: float32 for integers,
    ///     booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or an axis without elements is reduced.
    ///
    /// See Also
    /// --------
    /// softmax, log_softmax, logaddexp, logcumsumexp
    ///
    /// Notes
    /// -----
    /// Computed as ``m + log(sum(exp(a - m)))`` with the maximum ``m``, so large elements do not overflow.
    ///
    /// Examples
    /// --------
    /// >>> mx.logsumexp(mx.array([1000.0, 1000.0]))
    /// array(1000.69, dtype=float32)
    logsumexp,
    /// Median of the elements over axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`. Dtype: float32 for integers,
    ///     booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice.
    ///
    /// See Also
    /// --------
    /// mean, quantile, nanmedian
    ///
    /// Notes
    /// -----
    /// The middle element in sorted order, or the mean of the two middle ones if their number is even. NaN if any
    /// element is NaN, or if there are no elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.median(mx.array([3, 1, 2, 10]))
    /// array(2.5, dtype=float32)
    median,
}

/// Index of an extremum along one axis.
macro_rules! arg_reductions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, stream = None))]
            fn $name(a: Operand, axis: Option<i64>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.into_array();
                record_on(stream, || ops::$name(&a, axis, keep(keepdims))).map(NewArray::from)
            }
        )*

        fn register_arg_reductions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}
pub(super) use arg_reductions;

arg_reductions! {
    /// Index of the minimum along an axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to search. Default: the flattened array.
    /// keepdims : bool, optional
    ///     Keep the reduced axis (all axes if `axis` is None) with length one. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     uint32 array of indices: the first one if several elements are the minimum.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If the axis has no elements.
    ///
    /// See Also
    /// --------
    /// min, argmax, nanargmin
    ///
    /// Notes
    /// -----
    /// NaN counts as the minimum. Without `axis`, the index is that into the flattened array.
    ///
    /// Examples
    /// --------
    /// >>> mx.argmin(mx.array([[3, 1, 1], [2, 4, 9]]), axis=1)
    /// array([1, 0], dtype=uint32)
    /// >>> mx.argmin(mx.array([[3, 1, 1], [2, 4, 9]]))
    /// array(1, dtype=uint32)
    argmin,
    /// Index of the maximum along an axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to search. Default: the flattened array.
    /// keepdims : bool, optional
    ///     Keep the reduced axis (all axes if `axis` is None) with length one. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     uint32 array of indices: the first one if several elements are the maximum.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If the axis has no elements.
    ///
    /// See Also
    /// --------
    /// max, argmin, nanargmax
    ///
    /// Notes
    /// -----
    /// NaN counts as the maximum. Without `axis`, the index is that into the flattened array.
    ///
    /// Examples
    /// --------
    /// >>> mx.argmax(mx.array([[3, 1, 1], [2, 4, 9]]), axis=1)
    /// array([0, 2], dtype=uint32)
    /// >>> mx.argmax(mx.array([[3, 1, 1], [2, 4, 9]]))
    /// array(5, dtype=uint32)
    argmax,
}

/// Scans whose result has the dtype of the input.
macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, *, reverse = false, inclusive = true, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                reverse: bool,
                inclusive: bool,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                record_on(stream, || ops::$name(&a, scan_order(axis, reverse, inclusive))).map(NewArray::from)
            }
        )*

        fn register_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

scans! {
    /// Cumulative maximum along an axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from the lowest value
    ///     of the dtype (negative infinity for floating dtypes). Default: True.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`. The dtype is that of `a`; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// cummin, max
    ///
    /// Notes
    /// -----
    /// NaN makes itself and all later results NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.cummax(mx.array([1, 3, 2, 5]))
    /// array([1, 3, 3, 5], dtype=int32)
    /// >>> mx.cummax(mx.array([1.0, 3.0, 2.0]), inclusive=False)
    /// array([-inf, 1, 3], dtype=float32)
    cummax,
    /// Cumulative minimum along an axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from the highest
    ///     value of the dtype (infinity for floating dtypes). Default: True.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`. The dtype is that of `a`; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// cummax, min
    ///
    /// Notes
    /// -----
    /// NaN makes itself and all later results NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.cummin(mx.array([3, 1, 2, 0]))
    /// array([3, 1, 1, 0], dtype=int32)
    cummin,
    /// Logarithm of the cumulative sum of exponentials along an axis: `log(cumsum(exp(a)))`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from negative
    ///     infinity. Default: True.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`. Dtype: float32 for integers, booleans and float8,
    ///     else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// logsumexp, cumsum
    ///
    /// Notes
    /// -----
    /// Large elements do not overflow.
    ///
    /// Examples
    /// --------
    /// >>> mx.logcumsumexp(mx.array([1000.0, 1000.0]))
    /// array([1000, 1000.69], dtype=float32)
    logcumsumexp,
}

/// Scans with a `dtype` argument.
macro_rules! typed_scans {
    ($($(#[$doc:meta])* $name:ident $function:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, *, reverse = false, inclusive = true, dtype = None, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                reverse: bool,
                inclusive: bool,
                dtype: Option<DtypeArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                let order = scan_order(axis, reverse, inclusive);
                record_on(stream, || ops::$function(&a, order, summing(dtype, a.dtype()))).map(NewArray::from)
            }
        )*

        fn register_typed_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

typed_scans! {
    /// Cumulative sum along an axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from zero. Default:
    ///     True.
    /// dtype : dtype, str or type, optional
    ///     Dtype to compute in and of the result. Default: that of `a`; int32 for booleans.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// sum, cumprod, nancumsum, cumulative_sum
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow; pass `dtype` for a wider one.
    ///
    /// Examples
    /// --------
    /// >>> mx.cumsum(mx.array([[1, 2, 3], [4, 5, 6]]), axis=1)
    /// array([[1, 3, 6],
    ///        [4, 9, 15]], dtype=int32)
    /// >>> mx.cumsum(mx.array([1, 2, 3]), reverse=True)
    /// array([6, 5, 3], dtype=int32)
    /// >>> mx.cumsum(mx.array([1, 2, 3]), inclusive=False)
    /// array([0, 1, 3], dtype=int32)
    cumsum cumsum,
    /// Cumulative product along an axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from one. Default:
    ///     True.
    /// dtype : dtype, str or type, optional
    ///     Dtype to compute in and of the result. Default: that of `a`.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// prod, cumsum, nancumprod, cumulative_prod
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow; pass `dtype` for a wider one.
    ///
    /// Examples
    /// --------
    /// >>> mx.cumprod(mx.array([2, 3, 4]))
    /// array([2, 6, 24], dtype=int32)
    /// >>> mx.cumprod(mx.array([2, 3, 4]), reverse=True)
    /// array([24, 12, 4], dtype=int32)
    cumprod cumprod,
}

/// [`typed_scans`] under the array API's names, with `include_initial`.
macro_rules! cumulative_scans {
    ($($(#[$doc:meta])* $name:ident $function:ident $initial:literal,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (
                a, /, axis = None, *, reverse = false, inclusive = true, dtype = None, include_initial = false,
                stream = None
            ))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                reverse: bool,
                inclusive: bool,
                dtype: Option<DtypeArg>,
                include_initial: bool,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                let order = scan_order(axis, reverse, inclusive);
                record_on(stream, || {
                    let scan = ops::$function(&a, order, summing(dtype, a.dtype()))?;
                    if include_initial { ops::with_initial(&scan, order, $initial) } else { Ok(scan) }
                })
                .map(NewArray::from)
            }
        )*

        fn register_cumulative_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

cumulative_scans! {
    /// Cumulative sum along an axis, as the array API standard names it.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from zero. Default:
    ///     True.
    /// dtype : dtype, str or type, optional
    ///     Dtype to compute in and of the result. Default: that of `a`; int32 for booleans.
    /// include_initial : bool, optional
    ///     Insert a zero before the first result, after the last one if `reverse`. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`. The axis is longer by one if `include_initial`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// cumsum
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow; pass `dtype` for a wider one.
    ///
    /// Examples
    /// --------
    /// >>> mx.cumulative_sum(mx.array([2, 3, 4]))
    /// array([2, 5, 9], dtype=int32)
    /// >>> mx.cumulative_sum(mx.array([2, 3, 4]), include_initial=True)
    /// array([0, 2, 5, 9], dtype=int32)
    cumulative_sum cumsum 0,
    /// Cumulative product along an axis, as the array API standard names it.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
    /// reverse : bool, optional
    ///     Accumulate from the end of the axis. Default: False.
    /// inclusive : bool, optional
    ///     Include each element in its own result; otherwise results are shifted by one and start from one. Default:
    ///     True.
    /// dtype : dtype, str or type, optional
    ///     Dtype to compute in and of the result. Default: that of `a`.
    /// include_initial : bool, optional
    ///     Insert a one before the first result, after the last one if `reverse`. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the shape of `a`, or one axis without `axis`. The axis is longer by one if `include_initial`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// cumprod
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow; pass `dtype` for a wider one.
    ///
    /// Examples
    /// --------
    /// >>> mx.cumulative_prod(mx.array([2, 3, 4]))
    /// array([2, 6, 24], dtype=int32)
    /// >>> mx.cumulative_prod(mx.array([2, 3, 4]), include_initial=True)
    /// array([1, 2, 6, 24], dtype=int32)
    cumulative_prod cumprod 1,
}

/// Softmax over one or more axes: `exp(a) / sum(exp(a))`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int, optional
///     Axes to normalise over. Default: all axes.
/// precise : bool, optional
///     Compute float16 and bfloat16 in float32 throughout. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice.
///
/// See Also
/// --------
/// log_softmax, logsumexp, sigmoid
///
/// Notes
/// -----
/// Computed as ``exp(a - max(a)) / sum(exp(a - max(a)))``, so large inputs do not overflow. NaN where all inputs
/// are ``-inf`` or any is ``inf`` or NaN.
///
/// Examples
/// --------
/// >>> mx.softmax(mx.array([0.0, 0.0]))
/// array([0.5, 0.5], dtype=float32)
/// >>> mx.softmax(mx.array([[1000.0, 1000.0], [0.0, -mx.inf]]), axis=-1)
/// array([[0.5, 0.5],
///        [1, 0]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, precise = false, stream = None))]
fn softmax(a: Operand, axis: Option<Ints>, precise: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    let precision = if precise { Precision::Full } else { Precision::Native };
    record_on(stream, || ops::softmax(&a, axes(axis.as_ref()), precision)).map(NewArray::from)
}

/// Logarithm of the softmax over one or more axes: `a - logsumexp(a)`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int, optional
///     Axes to normalise over. Default: all axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice.
///
/// See Also
/// --------
/// softmax, logsumexp
///
/// Notes
/// -----
/// Computed as ``(a - max(a)) - log(sum(exp(a - max(a))))``, which keeps digits that ``a - logsumexp(a)`` loses
/// beside a large maximum. float16 and bfloat16 are computed in float32 and rounded once.
///
/// Examples
/// --------
/// >>> mx.log_softmax(mx.array([1e6, 1e6, -mx.inf]))
/// array([-0.693147, -0.693147, -inf], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, stream = None))]
fn log_softmax(a: Operand, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::log_softmax(&a, axes(axis.as_ref()))).map(NewArray::from)
}

/// Count the nonzero elements over axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int, optional
///     Axes to count over. Default: all axes.
/// keepdims : bool, optional
///     Keep the reduced axes with length one. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     int32 array without the reduced axes, or with length one for them if `keepdims`; int64 if int32 cannot count
///     the elements.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice.
///
/// See Also
/// --------
/// any, nonzero, sum
///
/// Notes
/// -----
/// NaN is not zero.
///
/// Examples
/// --------
/// >>> mx.count_nonzero(mx.array([[0.0, 2.0], [mx.nan, 1.0]]), axis=1)
/// array([1, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, *, axis = None, keepdims = false, stream = None))]
fn count_nonzero(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::count_nonzero(&a, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
}

/// Minimum and maximum of the elements over axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int, optional
///     Axes to reduce. Default: all axes.
/// keepdims : bool, optional
///     Keep the reduced axes with length one. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// minimum : array
///     Array without the reduced axes, or with length one for them if `keepdims`.
/// maximum : array
///     Array of the same shape.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice, or an axis without elements is reduced.
///
/// See Also
/// --------
/// min, max, ptp
///
/// Notes
/// -----
/// Both are NaN if any element is NaN.
///
/// Examples
/// --------
/// >>> mx.minmax(mx.array([[3, 1], [2, 4]]), axis=1)
/// (array([1, 2], dtype=int32), array([3, 4], dtype=int32))
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, keepdims = false, *, stream = None))]
fn minmax(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray)> {
    let a = a.into_array();
    let (low, high) = record_on(stream, || ops::minmax(&a, axes(axis.as_ref()), keep(keepdims)))?;
    Ok((low.into(), high.into()))
}

/// Differences of adjacent elements along an axis: `a[i + 1] - a[i]`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input with at least one axis.
/// n : int, optional
///     How many times to take the difference. Default: 1.
/// axis : int, optional
///     Axis to difference along. Default: -1, the last one.
/// prepend : array_like, optional
///     Values to insert before `a` along the axis; a number is repeated along the other axes. Default: none.
/// append : array_like, optional
///     Values to append to `a` along the axis, likewise. Default: none.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array whose axis is shorter by `n`, down to zero; the dtype is that of `a`, promoted with `prepend` and
///     `append`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If `n` is negative, or `prepend` or `append` does not fit the shape of `a`.
///
/// See Also
/// --------
/// ediff1d, gradient, cumsum
///
/// Notes
/// -----
/// The difference of booleans is their logical XOR. Unsigned integers wrap around.
///
/// Examples
/// --------
/// >>> mx.diff(mx.array([1, 4, 9, 16]))
/// array([3, 5, 7], dtype=int32)
/// >>> mx.diff(mx.array([1, 4, 9, 16]), n=2)
/// array([2, 2], dtype=int32)
/// >>> mx.diff(mx.array([1, 4, 9]), prepend=0)
/// array([1, 3, 5], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, n = 1, axis = -1, *, prepend = None, append = None, stream = None))]
fn diff(
    a: Operand,
    n: i64,
    axis: i64,
    prepend: Option<Operand>,
    append: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    let before = prepend.map(|end| end.promote_with(&a)).transpose()?;
    let after = append.map(|end| end.promote_with(&a)).transpose()?;
    record_on(stream, || ops::diff_between(&a, before.as_ref(), after.as_ref(), n, axis)).map(NewArray::from)
}

/// Remove jumps of more than half a period by adding multiples of the period.
///
/// Parameters
/// ----------
/// p : array_like
///     Input of a real dtype with at least one axis.
/// discont : float, optional
///     Smallest jump to remove; values below half the period have no effect. Default: half the period.
/// axis : int, optional
///     Axis along which to unwrap. Default: -1, the last one.
/// period : float, optional
///     Period of the values. Default: 2 * pi.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the same shape, in which adjacent elements differ by at most half a period unless the difference is
///     below `discont`. Integers keep their dtype if the period is an integer, otherwise they become float32.
///
/// Raises
/// ------
/// TypeError
///     If `p` is complex, or boolean with an integer period; if an argument is not convertible.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If the period is not positive.
///
/// See Also
/// --------
/// diff, angle
///
/// Notes
/// -----
/// The gradient with respect to `p` is one.
///
/// Examples
/// --------
/// >>> mx.unwrap(mx.array([22, 23, 0, 1]), period=24)
/// array([22, 23, 24, 25], dtype=int32)
/// >>> mx.unwrap(mx.array([0.0, 3.0, -3.0]))
/// array([0, 3, 3.28319], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (p, discont = None, axis = -1, *, period = None, stream = None),
    text_signature = "(p, discont=None, axis=-1, *, period=6.283185307179586, stream=None)"
)]
fn unwrap(
    p: Operand,
    discont: Option<f64>,
    axis: i64,
    period: Option<&Bound<'_, PyAny>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let p = p.into_array();
    let period = period.map_or(Ok(Some(Scalar::Float(std::f64::consts::TAU))), number)?;
    let period = period.ok_or_else(|| PyTypeError::new_err("[unwrap] period must be a number, not None"))?;
    record_on(stream, || ops::unwrap(&p, discont, axis, period)).map(NewArray::from)
}

/// Sum of the elements on a diagonal of two axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input with at least two axes.
/// offset : int, optional
///     Which diagonal: above the main one if positive, below it if negative. Default: 0.
/// axis1 : int, optional
///     Axis of the rows. Default: 0.
/// axis2 : int, optional
///     Axis of the columns. Default: 1.
/// dtype : dtype, str or type, optional
///     Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
///     `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array with the other axes of `a`; 0-d for a matrix.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If `a` has fewer than two axes, or `axis1` and `axis2` are the same.
///
/// See Also
/// --------
/// diagonal, diag, sum
///
/// Examples
/// --------
/// >>> mx.trace(mx.array([[1, 2], [3, 4]]))
/// array(5, dtype=int32)
/// >>> mx.trace(mx.array([[1, 2], [3, 4]]), offset=1)
/// array(2, dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, offset = 0, axis1 = 0, axis2 = 1, dtype = None, *, stream = None))]
fn trace(
    a: Operand,
    offset: i64,
    axis1: i64,
    axis2: i64,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::trace(&a, offset, axis1, axis2, summing(dtype, a.dtype()))).map(NewArray::from)
}

/// Number of elements over axes, as a float32 scalar; None if there are fewer than `least`.
///
/// In a function that is traced for variable lengths the result depends on the input, whereas a number computed from `shape`
/// would be a constant.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int
///     Axes to count over.
/// least : int
///     Smallest number of elements for which to return an array.
///
/// Returns
/// -------
/// array or None
///     0-d float32 array.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// Examples
/// --------
/// >>> mx._number_of_elements(mx.ones((2, 3)), 1, 2)
/// array(3, dtype=float32)
#[pyfunction]
#[pyo3(name = "_number_of_elements", signature = (a, axis, least))]
fn number_of_elements(a: Operand, axis: Ints, least: usize) -> PyResult<Option<NewArray>> {
    let a = a.into_array();
    let (number, count) = ops::number_of_elements(&a, axes(Some(&axis))).or_raise()?;
    Ok((count >= least).then(|| NewArray::from(number)))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(number_of_elements, module)?)?;
    register_reductions(module)?;
    register_arg_reductions(module)?;
    register_scans(module)?;
    register_typed_scans(module)?;
    register_cumulative_scans(module)?;
    module.add_function(wrap_pyfunction!(softmax, module)?)?;
    module.add_function(wrap_pyfunction!(log_softmax, module)?)?;
    module.add_function(wrap_pyfunction!(count_nonzero, module)?)?;
    module.add_function(wrap_pyfunction!(diff, module)?)?;
    module.add_function(wrap_pyfunction!(unwrap, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(minmax, module)?)
}
