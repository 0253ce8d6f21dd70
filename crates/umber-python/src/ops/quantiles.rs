//! Quantiles and percentiles.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyComplex;
use umber_core::ops::{self, NanPolicy, QuantileMethod};
use umber_core::{Array, DType, Error};

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::array::PyArray;
use crate::convert::from_object;
use crate::new_array::NewArray;

/// The argument `q`: arrays keep their dtype, Python's numbers become float64.
fn fractions(op: &str, q: &Bound<'_, PyAny>) -> PyResult<Array> {
    let dtype = if q.is_instance_of::<PyArray>() { None } else { Some(DType::Float64) };
    if q.is_instance_of::<PyComplex>() {
        return Err(PyTypeError::new_err(format!("[{op}] q: got complex, expected a real number")));
    }
    match from_object(q, dtype)? {
        Some(fractions) => Ok(fractions),
        None => Err(PyTypeError::new_err(format!(
            "[{op}] q: got {}, expected a number or an array of numbers",
            q.get_type().name()?
        ))),
    }
}

fn method_of(op: &str, name: &str) -> PyResult<QuantileMethod> {
    QuantileMethod::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = QuantileMethod::ALL.iter().map(|(_, name)| *name).collect();
        PyValueError::new_err(format!("[{op}] got method '{name}', expected one of {}", names.join(", ")))
    })
}

/// Weights are defined for the inverse of the cumulative distribution only.
fn check_weighted(op: &str, method: QuantileMethod) -> PyResult<()> {
    if method == QuantileMethod::InvertedCdf {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("[{op}] weights require method='inverted_cdf'")))
}

/// Functions of an array and of probabilities or percentages.
macro_rules! quantiles {
    ($($(#[$doc:meta])* $name:ident $weighted:ident $nan:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, q, axis = None, *, method = "linear", keepdims = false, weights = None, stream = None))]
            fn $name(
                a: Operand,
                q: &Bound<'_, PyAny>,
                axis: Option<Ints>,
                method: &str,
                keepdims: bool,
                weights: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, q) = (a.into_array(), fractions(stringify!($name), q)?);
                let method = method_of(stringify!($name), method)?;
                if let Some(weights) = weights.map(Operand::into_array) {
                    check_weighted(stringify!($name), method)?;
                    let renamed = |error: Error| error.with_op(stringify!($name));
                    return record_on(stream, || {
                        let axes = axes(axis.as_ref());
                        ops::$weighted(&a, &q, &weights, axes, keep(keepdims), NanPolicy::$nan).map_err(renamed)
                    })
                    .map(NewArray::from);
                }
                record_on(stream, || ops::$name(&a, &q, axes(axis.as_ref()), keep(keepdims), method)).map(NewArray::from)
            }
        )*

        pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

quantiles! {
    /// Quantiles of the elements over axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// q : float or array_like
    ///     Probabilities in [0, 1], of any shape. An array must have a floating dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// method : str, optional
    ///     One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
    ///     ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
    ///     ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// weights : array_like, optional
    ///     Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
    ///     method ``"inverted_cdf"``. Default: equal weights.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
    ///     ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
    ///     others give float32 for integers and booleans.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, `q` is an array that is not floating, or an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `q` is outside of [0, 1], the method is unknown, an axis is given twice, an axis without elements is
    ///     reduced, or `weights` is negative, not finite, of another shape or given with another method, or adds up to
    ///     zero.
    ///
    /// See Also
    /// --------
    /// percentile, median, nanquantile
    ///
    /// Notes
    /// -----
    /// NaN if any element is NaN.
    ///
    /// The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    /// ``"linear"`` interpolates at position ``q * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    /// values of `q` are limited to their range instead of checked.
    ///
    /// Examples
    /// --------
    /// >>> mx.quantile(mx.array([4.0, 1.0, 3.0, 2.0]), mx.array([0.25, 0.5]))
    /// array([1.75, 2.5], dtype=float32)
    /// >>> mx.quantile(mx.array([4, 1, 3, 2]), 0.5, method="lower")
    /// array(2, dtype=int32)
    /// >>> mx.quantile(mx.array([1, 2, 3]), 0.5, method="inverted_cdf", weights=mx.array([1, 1, 4]))
    /// array(3, dtype=int32)
    quantile weighted_quantile Spreads,
    /// Percentiles of the elements over axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// q : float or array_like
    ///     Percentages in [0, 100], of any shape.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// method : str, optional
    ///     One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
    ///     ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
    ///     ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// weights : array_like, optional
    ///     Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
    ///     method ``"inverted_cdf"``. Default: equal weights.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
    ///     ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
    ///     others give float32 for integers and booleans.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, `q` is complex, or an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `q` is outside of [0, 100], the method is unknown, an axis is given twice, an axis without elements is
    ///     reduced, or `weights` is negative, not finite, of another shape or given with another method, or adds up to
    ///     zero.
    ///
    /// See Also
    /// --------
    /// quantile, nanpercentile
    ///
    /// Notes
    /// -----
    /// NaN if any element is NaN.
    ///
    /// The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    /// ``"linear"`` interpolates at position ``q / 100 * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    /// values of `q` are limited to their range instead of checked.
    ///
    /// Examples
    /// --------
    /// >>> mx.percentile(mx.array([4, 1, 3, 2]), 75)
    /// array(3.25, dtype=float32)
    percentile weighted_percentile Spreads,
    /// Quantiles of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// q : float or array_like
    ///     Probabilities in [0, 1], of any shape. An array must have a floating dtype.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// method : str, optional
    ///     One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
    ///     ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
    ///     ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// weights : array_like, optional
    ///     Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
    ///     method ``"inverted_cdf"``. Default: equal weights.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
    ///     ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
    ///     others give float32 for integers and booleans.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, `q` is an array that is not floating, or an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `q` is outside of [0, 1], the method is unknown, an axis is given twice, or `weights` is negative, not
    ///     finite, of another shape or given with another method.
    ///
    /// See Also
    /// --------
    /// quantile, nanpercentile, nanmedian
    ///
    /// Notes
    /// -----
    /// NaN where all elements are NaN, or there are none.
    ///
    /// The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    /// ``"linear"`` interpolates at position ``q * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    /// values of `q` are limited to their range instead of checked.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanquantile(mx.array([4.0, 1.0, mx.nan, 2.0]), 0.5)
    /// array(2, dtype=float32)
    nanquantile weighted_quantile IsSkipped,
    /// Percentiles of the elements over axes, ignoring NaN.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// q : float or array_like
    ///     Percentages in [0, 100], of any shape.
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// method : str, optional
    ///     One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
    ///     ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
    ///     ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    /// keepdims : bool, optional
    ///     Keep the reduced axes with length one. Default: False.
    /// weights : array_like, optional
    ///     Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
    ///     method ``"inverted_cdf"``. Default: equal weights.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
    ///     ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
    ///     others give float32 for integers and booleans.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, `q` is complex, or an argument is not convertible to an array.
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `q` is outside of [0, 100], the method is unknown, an axis is given twice, or `weights` is negative, not
    ///     finite, of another shape or given with another method.
    ///
    /// See Also
    /// --------
    /// percentile, nanquantile
    ///
    /// Notes
    /// -----
    /// NaN where all elements are NaN, or there are none.
    ///
    /// The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    /// ``"linear"`` interpolates at position ``q / 100 * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    /// values of `q` are limited to their range instead of checked.
    ///
    /// Examples
    /// --------
    /// >>> mx.nanpercentile(mx.array([4.0, 1.0, mx.nan, 2.0]), 50)
    /// array(2, dtype=float32)
    nanpercentile weighted_percentile IsSkipped,
}
