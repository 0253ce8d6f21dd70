//! Reductions that take NumPy's `dtype`, `initial` and `where` in addition to MLX's arguments.

use pyo3::prelude::*;
use umber_core::ops::{self, Selection};
use umber_core::types::ReduceKind;
use umber_core::{Array, DType};

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::dtype::{DtypeArg, summing};
use crate::new_array::NewArray;

/// NumPy's optional arguments of reductions.
pub(super) struct ReductionArgs {
    dtype: Option<DType>,
    initial: Option<Array>,
    condition: Option<Array>,
    mean: Option<Array>,
}

impl ReductionArgs {
    pub(super) fn new(
        a: &Array,
        dtype: Option<DtypeArg>,
        initial: Option<Operand>,
        condition: Option<Operand>,
    ) -> PyResult<ReductionArgs> {
        let initial = initial.map(|value| value.promote_with(a)).transpose()?;
        let dtype = summing(dtype, a.dtype());
        Ok(ReductionArgs { dtype, initial, condition: condition.map(Operand::into_array), mean: None })
    }

    /// Add a known mean, from which deviations are computed.
    pub(super) fn with_mean(self, a: &Array, mean: Option<Operand>) -> PyResult<ReductionArgs> {
        Ok(ReductionArgs { mean: mean.map(|mean| mean.promote_with(a)).transpose()?, ..self })
    }

    pub(super) fn selection(&self) -> Selection<'_> {
        Selection {
            dtype: self.dtype,
            initial: self.initial.as_ref(),
            condition: self.condition.as_ref(),
            mean: self.mean.as_ref(),
        }
    }
}

/// Reductions over any axes with `dtype`, `initial` and `where`.
macro_rules! folds {
    ($($(#[$doc:meta])* $name:ident $kind:ident,)*) => {
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
                record_on(stream, || ops::reduce_selected(ReduceKind::$kind, &a, axes, keep, args.selection()))
                    .map(NewArray::from)
            }
        )*

        fn register_folds(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

folds! {
    /// Sum of the elements over axes.
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
    /// mean, prod, cumsum, nansum
    ///
    /// Notes
    /// -----
    /// The sum of no elements is zero. float16 and bfloat16 are accumulated in float32 and rounded once. Integers wrap
    /// around on overflow.
    ///
    /// Examples
    /// --------
    /// >>> a = mx.array([[1, 2], [3, 4]])
    /// >>> mx.sum(a, axis=0)
    /// array([4, 6], dtype=int32)
    /// >>> mx.sum(a, where=a > 1)
    /// array(9, dtype=int32)
    sum Sum,
    /// Product of the elements over axes.
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
    /// sum, cumprod, nanprod
    ///
    /// Notes
    /// -----
    /// The product of no elements is one. float16 and bfloat16 are accumulated in float32 and rounded once. Integers
    /// wrap around on overflow.
    ///
    /// Examples
    /// --------
    /// >>> mx.prod(mx.array([[1, 2], [3, 4]]), axis=1)
    /// array([2, 12], dtype=int32)
    prod Prod,
    /// Minimum of the elements over axes; NaN if any element is NaN.
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
    ///     `a`.
    /// initial : array_like, optional
    ///     Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`, then
    ///     as a 0-d value. Default: none.
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
    ///     If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without a
    ///     0-d `initial`, or one of them does not broadcast.
    ///
    /// See Also
    /// --------
    /// max, argmin, nanmin, minimum
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. If several elements are the
    /// minimum, they share the gradient equally.
    ///
    /// Examples
    /// --------
    /// >>> mx.min(mx.array([[3, 1], [2, 4]]), axis=1)
    /// array([1, 2], dtype=int32)
    /// >>> mx.min(mx.array([3, 1]), initial=0)
    /// array(0, dtype=int32)
    min Min,
    /// Maximum of the elements over axes; NaN if any element is NaN.
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
    ///     `a`.
    /// initial : array_like, optional
    ///     Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`, then
    ///     as a 0-d value. Default: none.
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
    ///     If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without a
    ///     0-d `initial`, or one of them does not broadcast.
    ///
    /// See Also
    /// --------
    /// min, argmax, nanmax, maximum
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. If several elements are the
    /// maximum, they share the gradient equally.
    ///
    /// Examples
    /// --------
    /// >>> mx.max(mx.array([[3, 1], [2, 4]]), axis=1)
    /// array([3, 4], dtype=int32)
    /// >>> mx.max(mx.array([3, 1]), initial=9)
    /// array(9, dtype=int32)
    max Max,
}

/// Reductions over any axes with `where`.
macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident $kind:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, r#where = None, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.into_array();
                let args = ReductionArgs::new(&a, None, None, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::reduce_selected(ReduceKind::$kind, &a, axes, keep, args.selection()))
                    .map(NewArray::from)
            }
        )*

        fn register_tests(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

tests! {
    /// Test whether all elements over axes are nonzero.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Bool array without the reduced axes, or with length one for them if `keepdims`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `where` does not broadcast.
    ///
    /// See Also
    /// --------
    /// any, allclose
    ///
    /// Notes
    /// -----
    /// NaN is not zero. No elements give True.
    ///
    /// Examples
    /// --------
    /// >>> mx.all(mx.array([[1, 0], [1, 1]]), axis=1)
    /// array([False, True], dtype=bool)
    all All,
    /// Test whether any element over axes is nonzero.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// where : array_like, optional
    ///     Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
    ///     elements.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Bool array without the reduced axes, or with length one for them if `keepdims`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `where` does not broadcast.
    ///
    /// See Also
    /// --------
    /// all, count_nonzero
    ///
    /// Notes
    /// -----
    /// NaN is not zero. No elements give False.
    ///
    /// Examples
    /// --------
    /// >>> mx.any(mx.array([[1, 0], [0, 0]]), axis=1)
    /// array([True, False], dtype=bool)
    any Any,
}

/// Arithmetic mean of the elements over axes: `sum(a) / n`.
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
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice, or `where` does not broadcast.
///
/// See Also
/// --------
/// average, median, var, nanmean
///
/// Notes
/// -----
/// The mean of no elements is NaN. The sum is accumulated with more digits or divided before it is rounded, so it
/// does not overflow; float16 and bfloat16 are accumulated in float32.
///
/// Examples
/// --------
/// >>> mx.mean(mx.array([[1, 2], [3, 4]]), axis=0)
/// array([2, 3], dtype=float32)
/// >>> mx.mean(mx.array([1.0, 2.0, 9.0]), where=mx.array([True, True, False]))
/// array(1.5, dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (a, /, axis = None, keepdims = false, *, dtype = None, r#where = None, stream = None)
)]
fn mean(
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
    record_on(stream, || ops::mean_selected(&a, axes, keep, args.selection())).map(NewArray::from)
}

/// Variance and standard deviation.
macro_rules! dispersions {
    ($($(#[$doc:meta])* $name:ident $function:ident $python:literal,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction(name = $python)]
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
                record_on(stream, || ops::$function(&a, axes, keep, ddof, args.selection())).map(NewArray::from)
            }
        )*

        fn register_dispersions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

dispersions! {
    /// Variance of the elements over axes: `sum(abs(a - mean(a))**2) / (n - ddof)`.
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
    ///     Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0.
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
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `where` or `mean` does not broadcast.
    ///
    /// See Also
    /// --------
    /// std, mean, cov, nanvar
    ///
    /// Notes
    /// -----
    /// Real also for complex numbers. A divisor of zero or less gives an infinity or NaN. float16 and bfloat16 are
    /// computed in float32.
    ///
    /// Examples
    /// --------
    /// >>> mx.var(mx.array([1.0, 3.0]))
    /// array(1, dtype=float32)
    /// >>> mx.var(mx.array([1.0, 3.0]), ddof=1)
    /// array(2, dtype=float32)
    variance var_selected "var",
    /// Standard deviation of the elements over axes: `sqrt(var(a))`.
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
    ///     Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0.
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
    ///     If an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis is given twice, or `where` or `mean` does not broadcast.
    ///
    /// See Also
    /// --------
    /// var, mean, nanstd
    ///
    /// Notes
    /// -----
    /// Real also for complex numbers. A divisor of zero or less gives an infinity or NaN. The squares do not overflow
    /// unless the result does. The gradient between equal elements, where the function is not differentiable, is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.std(mx.array([[1.0, 5.0], [2.0, 2.0]]), axis=1)
    /// array([2, 0], dtype=float32)
    standard_deviation std_selected "std",
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_folds(module)?;
    register_tests(module)?;
    register_dispersions(module)?;
    module.add_function(wrap_pyfunction!(mean, module)?)
}
