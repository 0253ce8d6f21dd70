//! Reductions and scans that ignore NaN.

use pyo3::prelude::*;
use umber_core::ops;

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::dtype::{DtypeArg, summing};
use crate::new_array::NewArray;
use crate::ops::masked_reductions::ReductionArgs;
use crate::ops::reductions::{arg_reductions, reductions};

/// Reductions over any axes with `dtype`, `initial` and `where`.
macro_rules! folds {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, *, dtype = None, initial = None, r#where = None,
                    stream = None)
            )]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                dtype: Option<DtypeArg>,
                initial: Option<Operand>,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                let args = ReductionArgs::new(&a, dtype, initial, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$name(&a, axes, keep, args.selection())).map(NewArray::from)
            }
        )*

        fn register_folds(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

folds! {
    /// Sum of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// dtype : dtype, str or type, optional
    ///     Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
    ///     `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    /// initial : array_like, optional
    ///     Value that the reduction starts from; it broadcasts to the shape of the result. Default: 0.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `initial` or `where` does not broadcast.
    ///
    /// See Also
    /// --------
    /// sum, nanmean
    ///
    /// Notes
    /// -----
    /// NaN counts as 0, so the result is 0 if there are no other elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.nansum(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    /// array([5, 0], dtype=float32)
    nansum,
    /// Product of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// dtype : dtype, str or type, optional
    ///     Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
    ///     `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    /// initial : array_like, optional
    ///     Value that the reduction starts from; it broadcasts to the shape of the result. Default: 1.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `initial` or `where` does not broadcast.
    ///
    /// See Also
    /// --------
    /// prod, nanmean
    ///
    /// Notes
    /// -----
    /// NaN counts as 1, so the result is 1 if there are no other elements.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanprod(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    /// array([6, 1], dtype=float32)
    nanprod,
}

/// Extrema over any axes with `initial` and `where`.
macro_rules! extrema {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, *, initial = None, r#where = None, stream = None)
            )]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                initial: Option<Operand>,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                let args = ReductionArgs::new(&a, None, initial, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$name(&a, axes, keep, args.selection())).map(NewArray::from)
            }
        )*

        fn register_extrema(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

extrema! {
    /// Minimum of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// initial : array_like, optional
    ///     Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`.
    ///     Default: none.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without
    ///     `initial`, or one of them does not broadcast.
    ///
    /// See Also
    /// --------
    /// min, nanargmin, fmin
    ///
    /// Notes
    /// -----
    /// NaN where all elements are NaN. If several elements are the minimum, they share the gradient equally.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanmin(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    /// array([2, nan], dtype=float32)
    nanmin,
    /// Maximum of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// initial : array_like, optional
    ///     Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`.
    ///     Default: none.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without
    ///     `initial`, or one of them does not broadcast.
    ///
    /// See Also
    /// --------
    /// max, nanargmax, fmax
    ///
    /// Notes
    /// -----
    /// NaN where all elements are NaN. If several elements are the maximum, they share the gradient equally.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanmax(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    /// array([3, nan], dtype=float32)
    nanmax,
}

reductions! {
    /// Median of the elements over axes, ignoring NaN.
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
    /// median, nanquantile, nanmean
    ///
    /// Notes
    /// -----
    /// NaN where all elements are NaN, or there are none.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanmedian(mx.array([4.0, 1.0, mx.nan, 2.0]))
    /// array(2, dtype=float32)
    nanmedian,
}

/// Arithmetic mean of the elements over axes, ignoring NaN.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int, optional
///     Axes to reduce. Default: all axes.
/// keepdims : bool, optional
///     Keep the reduced axes with length one. Default: False.
/// dtype : dtype, str or type, optional
///     Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
///     `a`; float32 for integers, booleans and float8.
/// where : array_like, optional
///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
///     elements.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array without the reduced axes, or with length one for them if `keepdims`.
///
/// Raises
/// ------
/// TypeError
///     If `dtype` is not inexact although `a` is, or an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice, or `where` does not broadcast.
///
/// See Also
/// --------
/// mean, nanmedian, nansum
///
/// Notes
/// -----
/// NaN where there is no other element.
///
/// Examples
/// --------
/// >>> mx.nanmean(mx.array([1.0, mx.nan, 2.0]))
/// array(1.5, dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (a, /, axis = None, keepdims = false, *, dtype = None, r#where = None, stream = None)
)]
fn nanmean(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    dtype: Option<DtypeArg>,
    r#where: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    let args = ReductionArgs::new(&a, dtype, None, r#where)?;
    let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
    record_on(stream, || ops::nanmean(&a, axes, keep, args.selection())).map(NewArray::from)
}

arg_reductions! {
    /// Index of the minimum along an axis, ignoring NaN.
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
    ///     If the axis has no elements; upon evaluation, if all elements along the axis are NaN.
    ///
    /// See Also
    /// --------
    /// argmin, nanmin
    ///
    /// Examples
    /// --------
    /// >>> mx.nanargmin(mx.array([[mx.nan, 3.0, 2.0], [4.0, mx.nan, 5.0]]), axis=1)
    /// array([2, 0], dtype=uint32)
    nanargmin,
    /// Index of the maximum along an axis, ignoring NaN.
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
    ///     If the axis has no elements; upon evaluation, if all elements along the axis are NaN.
    ///
    /// See Also
    /// --------
    /// argmax, nanmax
    ///
    /// Examples
    /// --------
    /// >>> mx.nanargmax(mx.array([[mx.nan, 3.0, 2.0], [4.0, mx.nan, 5.0]]), axis=1)
    /// array([1, 2], dtype=uint32)
    nanargmax,
}

/// Variance and standard deviation.
macro_rules! dispersions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, ddof = 0, *, correction = None, dtype = None,
                    r#where = None, mean = None, stream = None)
            )]
            #[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                ddof: i64,
                correction: Option<f64>,
                dtype: Option<DtypeArg>,
                r#where: Option<Operand>,
                mean: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, ddof) = (a.into_array(), correction.unwrap_or(ddof as f64));
                let args = ReductionArgs::new(&a, dtype, None, r#where)?.with_mean(&a, mean)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$name(&a, axes, keep, ddof, args.selection())).map(NewArray::from)
            }
        )*

        fn register_dispersions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

dispersions! {
    /// Variance of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// ddof : int, optional
    ///     Delta degrees of freedom: the divisor is ``n - ddof``, where ``n`` counts the elements that are not NaN.
    ///     Default: 0.
    /// correction : float, optional
    ///     The array API standard's name for `ddof`; it takes precedence and may be fractional. Default: `ddof`.
    /// dtype : dtype, str or type, optional
    ///     Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
    ///     `a`; float32 for integers, booleans and float8.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// mean : array_like, optional
    ///     Mean of the elements if it is known already, with the reduced axes kept. Default: the computed mean.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`; of the real dtype of the same
    ///     precision.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `dtype` is not inexact although `a` is, or an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `where` or `mean` does not broadcast.
    ///
    /// See Also
    /// --------
    /// var, nanstd, nanmean
    ///
    /// Notes
    /// -----
    /// ``sum(abs(a - mean)**2) / (n - ddof)``, real also for complex numbers. NaN where ``n <= ddof``.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanvar(mx.array([1.0, mx.nan, 3.0]))
    /// array(1, dtype=float32)
    /// >>> mx.nanvar(mx.array([1.0, mx.nan, 3.0]), ddof=1)
    /// array(2, dtype=float32)
    nanvar,
    /// Standard deviation of the elements over axes, ignoring NaN: `sqrt(nanvar(a))`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// ddof : int, optional
    ///     Delta degrees of freedom: the divisor is ``n - ddof``, where ``n`` counts the elements that are not NaN.
    ///     Default: 0.
    /// correction : float, optional
    ///     The array API standard's name for `ddof`; it takes precedence and may be fractional. Default: `ddof`.
    /// dtype : dtype, str or type, optional
    ///     Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
    ///     `a`; float32 for integers, booleans and float8.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// mean : array_like, optional
    ///     Mean of the elements if it is known already, with the reduced axes kept. Default: the computed mean.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array without the reduced axes, or with length one for them if `keepdims`; of the real dtype of the same
    ///     precision.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `dtype` is not inexact although `a` is, or an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `where` or `mean` does not broadcast.
    ///
    /// See Also
    /// --------
    /// std, nanvar, nanmean
    ///
    /// Notes
    /// -----
    /// NaN where ``n <= ddof``. The gradient between equal elements, where the function is not differentiable, is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanstd(mx.array([1.0, mx.nan, 5.0]))
    /// array(2, dtype=float32)
    nanstd,
}

/// Scans with a `dtype` argument.
macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, dtype = None, *, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                dtype: Option<DtypeArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                let order = ops::ScanOrder { axis, ..ops::ScanOrder::default() };
                record_on(stream, || ops::$name(&a, order, summing(dtype, a.dtype()))).map(NewArray::from)
            }
        )*

        fn register_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

scans! {
    /// Cumulative sum along an axis, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
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
    /// cumsum, nansum
    ///
    /// Notes
    /// -----
    /// NaN counts as 0.
    ///
    /// Examples
    /// --------
    /// >>> mx.nancumsum(mx.array([1.0, mx.nan, 2.0]))
    /// array([1, 1, 3], dtype=float32)
    nancumsum,
    /// Cumulative product along an axis, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int, optional
    ///     Axis to accumulate along. Default: the flattened array.
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
    /// cumprod, nanprod
    ///
    /// Notes
    /// -----
    /// NaN counts as 1.
    ///
    /// Examples
    /// --------
    /// >>> mx.nancumprod(mx.array([3.0, mx.nan, 2.0]))
    /// array([3, 3, 6], dtype=float32)
    nancumprod,
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_folds(module)?;
    register_extrema(module)?;
    register_reductions(module)?;
    module.add_function(wrap_pyfunction!(nanmean, module)?)?;
    register_arg_reductions(module)?;
    register_dispersions(module)?;
    register_scans(module)
}
