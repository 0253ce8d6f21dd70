//! Distributions of `umber.core.random` that are computed from gamma, binomial and other draws.

use pyo3::prelude::*;
use umber_core::ops::random;
use umber_core::{Array, DType};

use super::random::{array_value, sample_dtype};
use crate::args::{Ints, Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;

/// Draw from the log-normal distribution, whose logarithm is normal.
///
/// Parameters
/// ----------
/// sigma : array_like, optional
///     Standard deviation of the logarithm. Default: 1.0.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// mean : array_like, optional
///     Mean of the logarithm. Default: 0.0.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype`. Elements whose `sigma` is negative are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `sigma` is a negative number, the dtype is not real floating point, the parameters do not broadcast to `shape`,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// normal, gamma
///
/// Notes
/// -----
/// Computed as ``exp(mean + sigma * z)``, where `z` is the draw of `normal` with the same key. Differentiable with respect
/// to both parameters.
///
/// Examples
/// --------
/// >>> mx.random.lognormal(mx.array([0.0, 0.5]), mean=1.0, key=mx.random.key(0))
/// array([2.71828, 4.17128], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (sigma = None, shape = None, dtype = None, mean = None, key = None, stream = None),
    text_signature = "(sigma=1.0, shape=None, dtype=None, mean=0.0, key=None, stream=None)"
)]
fn lognormal(
    sigma: Option<Operand>,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    mean: Option<Operand>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[sigma.as_ref(), mean.as_ref()], DType::Float32);
    let sigma = sigma.map_or_else(|| Array::scalar(1.0, DType::Float32), Operand::into_array);
    let (mean, key) = (mean.map(Operand::into_array), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::lognormal(&sigma, shape, dtype, mean.as_ref(), key.as_ref()))
        .map(NewArray::from)
}

/// Draw from the chi-square distribution with `df` degrees of freedom.
///
/// Parameters
/// ----------
/// df : array_like
///     Degrees of freedom, above 0, which is the mean.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype`. Elements whose `df` is not positive are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `df` is a number that is not positive, the dtype is not real floating point, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// gamma, f, t
///
/// Notes
/// -----
/// Computed as twice a gamma draw with shape parameter ``df / 2``. No gradient flows to `df`.
///
/// Examples
/// --------
/// >>> mx.random.chisquare(3.0, (2,), key=mx.random.key(0))
/// array([1.95328, 4.77212], dtype=float32)
#[pyfunction]
#[pyo3(signature = (df, shape = None, dtype = None, key = None, stream = None))]
fn chisquare(
    df: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&df)], DType::Float32);
    let (df, key) = (df.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::chisquare(&df, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw from Student's t distribution with `df` degrees of freedom.
///
/// Parameters
/// ----------
/// df : array_like
///     Degrees of freedom, above 0.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype`. Elements whose `df` is not positive are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `df` is a number that is not positive, the dtype is not real floating point, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// normal, chisquare, f
///
/// Notes
/// -----
/// Computed as ``z * sqrt(df / x)`` of a normal draw `z` and a chi-square draw `x` with `df` degrees of freedom. No gradient
/// flows to `df`.
///
/// Examples
/// --------
/// >>> mx.random.t(5.0, (2,), key=mx.random.key(0))
/// array([-0.0519253, -1.57024], dtype=float32)
#[pyfunction]
#[pyo3(signature = (df, shape = None, dtype = None, key = None, stream = None))]
fn t(
    df: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&df)], DType::Float32);
    let (df, key) = (df.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::t(&df, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw from the F distribution with `dfnum` and `dfden` degrees of freedom.
///
/// Parameters
/// ----------
/// dfnum, dfden : array_like
///     Degrees of freedom of the numerator and the denominator, above 0.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype`. Elements whose parameters are not positive are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `dfnum` or `dfden` is a number that is not positive, the dtype is not real floating point, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// chisquare, t, beta
///
/// Notes
/// -----
/// Computed as ``(x / dfnum) / (y / dfden)`` of chi-square draws `x` and `y`, from their logarithms, so that few degrees of
/// freedom do not underflow. No gradient flows to the parameters.
///
/// Examples
/// --------
/// >>> mx.random.f(3.0, 12.0, (2,), key=mx.random.key(0))
/// array([0.342737, 2.5464], dtype=float32)
#[pyfunction]
#[pyo3(signature = (dfnum, dfden, shape = None, dtype = None, key = None, stream = None))]
fn f(
    dfnum: Operand,
    dfden: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&dfnum), Some(&dfden)], DType::Float32);
    let (dfnum, dfden, key) = (dfnum.into_array(), dfden.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::f(&dfnum, &dfden, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw angles from the von Mises distribution about `mu` with concentration `kappa`.
///
/// Parameters
/// ----------
/// mu : array_like
///     Mean direction, an angle.
/// kappa : array_like
///     Concentration, at least 0; 0 gives the uniform distribution.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Angles of `dtype` between ``-pi`` and ``pi``. Elements whose `kappa` is negative are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `kappa` is a negative number, the dtype is not real floating point, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// normal, uniform
///
/// Notes
/// -----
/// The density is proportional to ``exp(kappa * cos(x - mu))``. Drawn in float64 by rejection (D. J. Best and N. I. Fisher,
/// Applied Statistics 28, 1979). Differentiable with respect to `mu`; `kappa` has no gradient.
///
/// Examples
/// --------
/// >>> mx.random.vonmises(0.0, 4.0, (2,), key=mx.random.key(0))
/// array([-0.408592, 0.846736], dtype=float32)
#[pyfunction]
#[pyo3(signature = (mu, kappa, shape = None, dtype = None, key = None, stream = None))]
fn vonmises(
    mu: Operand,
    kappa: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&mu), Some(&kappa)], DType::Float32);
    let (mu, kappa, key) = (mu.into_array(), kappa.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::vonmises(&mu, &kappa, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw the number of successes in `n` trials with probability `p` each.
///
/// Parameters
/// ----------
/// n : array_like
///     Number of trials, at least 0; rounded down to an integer.
/// p : array_like
///     Probability of success, from 0 to 1.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Integer or real floating-point dtype of the result. Default: int32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Counts of `dtype`. Elements whose `n` is negative or NaN, or whose `p` is not from 0 to 1, are -1, which wraps in
///     unsigned dtypes. Counts above the maximum of an integer dtype become the maximum.
///
/// Raises
/// ------
/// ValueError
///     If `n` is a number that is negative, NaN or above the maximum of an integer dtype, `p` is a number that is not from 0
///     to 1, the dtype is bool or complex, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// multinomial, bernoulli, poisson, geometric
///
/// Notes
/// -----
/// Drawn by inversion for small means, and by transformed rejection for others (W. Hörmann, Journal of Statistical
/// Computation and Simulation 46, 1993). The gradient is zero.
///
/// Examples
/// --------
/// >>> mx.random.binomial(10, mx.array([0.0, 0.3, 1.0]), key=mx.random.key(0))
/// array([0, 4, 10], dtype=int32)
#[pyfunction]
#[pyo3(signature = (n, p, shape = None, dtype = None, key = None, stream = None))]
fn binomial(
    n: Operand,
    p: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&n), Some(&p)], DType::Int32);
    let (n, p, key) = (n.into_array(), p.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::binomial(&n, &p, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw how often each category occurs in `n` trials with probabilities `p`.
///
/// Parameters
/// ----------
/// n : array_like
///     Number of trials, at least 0, which broadcasts with the leading axes of `p`; rounded down to an integer.
/// p : array_like
///     Probabilities of the categories along the last axis, which sum to 1.
/// shape : int or sequence of int, optional
///     Shape of the result without its last axis. Default: the broadcast shape of `n` and of `p` without its last axis.
/// dtype : Dtype, optional
///     Integer or real floating-point dtype of the result. Default: int32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Counts of `dtype` and shape ``(*shape, p.shape[-1])`` that sum to `n` along the last axis. Rows whose `n` is negative
///     or NaN are -1, which wraps in unsigned dtypes.
///
/// Raises
/// ------
/// ValueError
///     If `n` is a number that is negative, NaN or above the maximum of an integer dtype, `p` is negative, not finite or does
///     not sum to 1, there are no categories, the dtype is bool or complex, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// binomial, choice, categorical
///
/// Notes
/// -----
/// Computed from binomial draws, which divide the trials between halves of the categories, then between quarters, and so on.
/// `p` is evaluated; in `vmap` and `compile`, where its values are unknown, its sum is not checked, the probabilities are
/// normalised, and invalid ones give -1. The gradient is zero.
///
/// Examples
/// --------
/// >>> mx.random.multinomial(10, mx.array([0.5, 0.3, 0.2]), (2,), key=mx.random.key(0))
/// array([[8, 0, 2],
///        [8, 1, 1]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (n, p, shape = None, dtype = None, key = None, stream = None))]
fn multinomial(
    py: Python<'_>,
    n: Operand,
    p: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&n), Some(&p)], DType::Int32);
    let (n, p, key) = (n.into_array(), p.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    compute(py, stream, || random::multinomial(&n, &p, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw the number of trials up to and including the first success.
///
/// Parameters
/// ----------
/// p : array_like
///     Probability of success, above 0 and at most 1.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Integer or real floating-point dtype of the result. Default: int32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Counts of `dtype`, at least 1. Elements whose `p` is not above 0 and at most 1 are -1, which wraps in unsigned dtypes.
///     Counts above the maximum of an integer dtype become the maximum.
///
/// Raises
/// ------
/// ValueError
///     If `p` is a number that is not above 0 and at most 1, the dtype is bool or complex, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// binomial, exponential, bernoulli
///
/// Notes
/// -----
/// Computed as ``floor(log(1 - u) / log(1 - p)) + 1`` of a uniform `u` in float64. The gradient is zero.
///
/// Examples
/// --------
/// >>> mx.random.geometric(0.25, (3,), key=mx.random.key(0))
/// array([3, 5, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (p, shape = None, dtype = None, key = None, stream = None))]
fn geometric(
    p: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&p)], DType::Int32);
    let (p, key) = (p.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::geometric(&p, shape, dtype, key.as_ref())).map(NewArray::from)
}

pub(super) fn register(random: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(lognormal, random)?,
        wrap_pyfunction!(chisquare, random)?,
        wrap_pyfunction!(f, random)?,
        wrap_pyfunction!(t, random)?,
        wrap_pyfunction!(vonmises, random)?,
        wrap_pyfunction!(binomial, random)?,
        wrap_pyfunction!(multinomial, random)?,
        wrap_pyfunction!(geometric, random)?,
    ] {
        random.add_function(function)?;
    }
    Ok(())
}
