//! `umber.core.random`: random numbers from a key or from the global state.
//!
//! One subject: one binding per distribution; most lines are their documentation.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use umber_core::ops::random::{self, Replacement, Samples};
use umber_core::{Array, DType};

use super::{random_families, random_state};
use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, or};
use crate::enter::OrRaise;
use crate::error_text::shortened;
use crate::new_array::NewArray;

/// The value of an optional array argument.
pub(super) fn array_value(array: Option<&Bound<'_, PyArray>>) -> Option<Array> {
    array.map(|array| array.get().get())
}

fn shape_or_scalar(shape: Option<&Ints>) -> &[i64] {
    shape.map_or(&[], Ints::as_slice)
}

/// Parse a 64-bit seed.
fn seed_of(op: &str, seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    seed.extract::<u64>().map_err(|error| {
        let got = shortened(seed);
        if error.is_instance_of::<PyOverflowError>(seed.py()) {
            return PyValueError::new_err(format!(
                "[random.{op}] seed must be between 0 and 2**64 - 1, got {got}"
            ));
        }
        PyTypeError::new_err(format!("[random.{op}] seed must be an integer, got {got}"))
    })
}

/// Make a random key from a seed.
///
/// Parameters
/// ----------
/// seed : int
///     Integer from 0 to ``2**64 - 1``.
///
/// Returns
/// -------
/// array
///     The upper and the lower 32 bits of the seed: uint32 of shape ``(2,)``.
///
/// Raises
/// ------
/// ValueError
///     If the seed is out of range.
/// TypeError
///     If the seed is not an integer.
///
/// See Also
/// --------
/// split, seed
///
/// Notes
/// -----
/// A draw depends only on its key, shape and dtype. The generator is Threefry 2x32 (J. K. Salmon et al., Parallel
/// Random Numbers: As Easy as 1, 2, 3, 2011).
///
/// Examples
/// --------
/// >>> mx.random.key(7)
/// array([0, 7], dtype=uint32)
#[pyfunction]
fn key(seed: &Bound<'_, PyAny>) -> PyResult<NewArray> {
    random::key(seed_of("key", seed)?).or_raise().map(NewArray::from)
}

/// Set the global random key from a seed.
///
/// Parameters
/// ----------
/// seed : int
///     Integer from 0 to ``2**64 - 1``.
///
/// Raises
/// ------
/// ValueError
///     If the seed is out of range.
/// TypeError
///     If the seed is not an integer.
///
/// See Also
/// --------
/// key
///
/// Notes
/// -----
/// Functions that are called without a key draw from the global state, which starts from an arbitrary seed.
/// `random.state` holds its key: save it with ``list(mx.random.state)`` and assign it to restore the state.
///
/// Examples
/// --------
/// >>> mx.random.seed(1)
/// >>> first = mx.random.normal((3,))
/// >>> mx.random.seed(1)
/// >>> mx.array_equal(first, mx.random.normal((3,))).item()
/// True
#[pyfunction]
fn seed(seed: &Bound<'_, PyAny>) -> PyResult<()> {
    random::seed(seed_of("seed", seed)?).or_raise()
}

/// Split a key into several independent keys.
///
/// Parameters
/// ----------
/// key : array
///     Key from `key` or `split`.
/// num : int, optional
///     Number of new keys. Default: 2.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     One key per row: uint32 of shape ``(num, 2)``.
///
/// Raises
/// ------
/// ValueError
///     If `num` is negative or `key` is not uint32 of shape ``(2,)``.
///
/// See Also
/// --------
/// key
///
/// Examples
/// --------
/// >>> first, second = mx.random.split(mx.random.key(0))
/// >>> mx.random.split(mx.random.key(0), 3).shape
/// (3, 2)
#[pyfunction]
#[pyo3(signature = (key, num = 2, stream = None))]
fn split(key: &Bound<'_, PyArray>, num: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let key = key.get().get();
    record_on(stream, || random::split(&key, num)).map(NewArray::from)
}

/// Reject a negative scale. Arrays are not checked, since they may not be evaluated yet.
fn check_scale(scale: Option<&Operand>) -> PyResult<()> {
    if let Some(Operand::Number(value)) = scale
        && !matches!(value, umber_core::Scalar::Complex(..))
        && value.as_f64() < 0.0
    {
        return Err(PyValueError::new_err(format!("scale must not be negative, got {}", value.as_f64())));
    }
    Ok(())
}

/// A scale as an array.
fn scale_of(scale: Option<Operand>) -> PyResult<Option<Array>> {
    check_scale(scale.as_ref())?;
    Ok(scale.map(Operand::into_array))
}

/// The dtype of random numbers with these parameters. A Python number type as dtype takes its width from array parameters.
pub(super) fn sample_dtype(
    dtype: Option<DtypeArg>,
    parameters: &[Option<&Operand>],
    default: DType,
) -> DType {
    let dtypes = parameters.iter().flatten().filter_map(|parameter| match parameter {
        Operand::Array(array) => Some(array.dtype()),
        Operand::Number(_) => None,
    });
    match (dtype, dtypes.reduce(umber_core::types::promote)) {
        (Some(dtype), Some(promoted)) => dtype.dtype_for(promoted),
        (dtype, _) => or(dtype, default),
    }
}

/// Draw from the uniform distribution over ``[low, high)``.
///
/// Parameters
/// ----------
/// low : array_like, optional
///     Lower bound, which broadcasts to `shape`. Default: 0.
/// high : array_like, optional
///     Upper bound, which broadcasts to `shape`. Default: 1.
/// shape : int or sequence of int, optional
///     Shape of the result. Default: a scalar.
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
///     Numbers of `shape` and `dtype`.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not real floating point, the bounds do not broadcast to `shape`,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// randint, normal
///
/// Examples
/// --------
/// >>> mx.random.uniform(-1, 1, (2,), key=mx.random.key(0))
/// array([-0.567409, 0.608248], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (low = None, high = None, shape = None, dtype = None, key = None, stream = None),
    text_signature = "(low=0, high=1, shape=[], dtype=None, key=None, stream=None)"
)]
fn uniform(
    low: Option<Operand>,
    high: Option<Operand>,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[low.as_ref(), high.as_ref()], DType::Float32);
    let low = low.map_or_else(|| Array::scalar(0.0, dtype), Operand::into_array);
    let high = high.map_or_else(|| Array::scalar(1.0, dtype), Operand::into_array);
    let key = array_value(key);
    record_on(stream, || random::uniform(&low, &high, shape_or_scalar(shape.as_ref()), dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Draw from the normal distribution with mean `loc` and standard deviation `scale`.
///
/// Parameters
/// ----------
/// shape : int or sequence of int, optional
///     Shape of the result, which broadcasts with `loc` and `scale`. Default: a scalar.
/// dtype : Dtype, optional
///     Real or complex floating-point dtype of the result. Default: float32.
/// loc : array_like, optional
///     Mean. Default: 0.
/// scale : array_like, optional
///     Standard deviation. Default: 1.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype` and of the broadcast shape. Real and imaginary parts of complex numbers have variance 1/2
///     each before scaling.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not floating point, `scale` is a negative number, the shapes do not broadcast,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// lognormal, truncated_normal, multivariate_normal, t, uniform
///
/// Notes
/// -----
/// Computed from the inverse error function of a uniform draw. Elements of an array `scale` are not checked: where they are
/// negative, the draw is mirrored at `loc`.
///
/// Examples
/// --------
/// >>> mx.random.normal((2,), loc=10.0, key=mx.random.key(0))
/// array([9.21523, 10.8564], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (shape = None, dtype = None, loc = None, scale = None, key = None, stream = None),
    text_signature = "(shape=[], dtype=None, loc=None, scale=None, key=None, stream=None)"
)]
fn normal(
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    loc: Option<Operand>,
    scale: Option<Operand>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[loc.as_ref(), scale.as_ref()], DType::Float32);
    let (loc, scale, key) = (loc.map(Operand::into_array), scale_of(scale)?, array_value(key));
    record_on(stream, || {
        random::normal(shape_or_scalar(shape.as_ref()), dtype, loc.as_ref(), scale.as_ref(), key.as_ref())
    })
    .map(NewArray::from)
}

/// Draw booleans that are True with probability `p`.
///
/// Parameters
/// ----------
/// p : array_like, optional
///     Floating-point probabilities. Default: 0.5.
/// shape : int or sequence of int, optional
///     Shape of the result, to which `p` broadcasts. Default: the shape of `p`.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     bool.
///
/// Raises
/// ------
/// ValueError
///     If `p` is not floating point, `p` does not broadcast to `shape`,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// randint, categorical
///
/// Notes
/// -----
/// Probabilities above 1 give True, those below 0 and NaN give False.
///
/// Examples
/// --------
/// >>> mx.random.bernoulli(mx.array([0.0, 1.0]))
/// array([False, True], dtype=bool)
#[pyfunction]
#[pyo3(
    signature = (p = None, shape = None, key = None, stream = None),
    text_signature = "(p=0.5, shape=None, key=None, stream=None)"
)]
fn bernoulli(
    p: Option<Operand>,
    shape: Option<Ints>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let p = p.map_or_else(|| Array::scalar(0.5, DType::Float32), Operand::into_array);
    let key = array_value(key);
    record_on(stream, || random::bernoulli(&p, shape.as_ref().map(Ints::as_slice), key.as_ref()))
        .map(NewArray::from)
}

/// Draw integers uniformly from ``[low, high)``.
///
/// Parameters
/// ----------
/// low, high : array_like
///     Bounds, which broadcast to `shape`.
/// shape : int or sequence of int, optional
///     Shape of the result. Default: a scalar.
/// dtype : Dtype, optional
///     Integer dtype or bool. Default: int32.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Integers of `shape` and `dtype`.
///
/// Raises
/// ------
/// ValueError
///     If ``low >= high`` for numbers, the bounds do not fit the dtype, the dtype is not integer or bool, the bounds do
///     not broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// uniform, permutation, choice
///
/// Notes
/// -----
/// Bounds of at most ``2**24`` in magnitude scale a float32 draw; larger bounds scale 64 random bits, with a bias of at
/// most ``(high - low) / 2**64``. Where an array of bounds has ``low >= high``, the result is `low`.
///
/// Examples
/// --------
/// >>> mx.random.randint(0, 10, (3,), key=mx.random.key(0))
/// array([9, 3, 6], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (low, high, shape = None, dtype = None, key = None, stream = None),
    text_signature = "(low, high, shape=[], dtype=None, key=None, stream=None)"
)]
fn randint(
    low: Operand,
    high: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&low), Some(&high)], DType::Int32);
    let (low, high, key) = (low.into_array(), high.into_array(), array_value(key));
    record_on(stream, || random::randint(&low, &high, shape_or_scalar(shape.as_ref()), dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Draw from the standard normal distribution truncated to ``[lower, upper]``.
///
/// Parameters
/// ----------
/// lower, upper : array_like
///     Bounds.
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
///     Numbers of `dtype`, within the bounds.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not real floating point, the bounds do not broadcast to `shape`,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// normal
///
/// Examples
/// --------
/// >>> x = mx.random.truncated_normal(-1, 1, (1000,))
/// >>> (x.min() >= -1).item(), (x.max() <= 1).item()
/// (True, True)
#[pyfunction]
#[pyo3(
    signature = (lower, upper, shape = None, dtype = None, key = None, stream = None),
    text_signature = "(lower, upper, shape=None, dtype=None, key=None, stream=None)"
)]
fn truncated_normal(
    lower: Operand,
    upper: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&lower), Some(&upper)], DType::Float32);
    let (lower, upper, key) = (lower.into_array(), upper.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::truncated_normal(&lower, &upper, shape, dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Draw from the standard Gumbel distribution: ``-log(-log(u))`` of a uniform `u`.
///
/// Parameters
/// ----------
/// shape : int or sequence of int, optional
///     Shape of the result. Default: a scalar.
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
///     Numbers of `shape` and `dtype`.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not real floating point,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// categorical
///
/// Notes
/// -----
/// ``argmax(logits + gumbel)`` draws a class with probabilities ``softmax(logits)``.
///
/// Examples
/// --------
/// >>> mx.random.gumbel((2,), key=mx.random.key(0))
/// array([-0.425993, 1.52325], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (shape = None, dtype = None, key = None, stream = None),
    text_signature = "(shape=[], dtype=None, key=None, stream=None)"
)]
fn gumbel(
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (dtype, key) = (or(dtype, DType::Float32), array_value(key));
    record_on(stream, || random::gumbel(shape_or_scalar(shape.as_ref()), dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Draw from the Laplace distribution with mean `loc` and scale `scale`.
///
/// Parameters
/// ----------
/// shape : int or sequence of int, optional
///     Shape of the result, which broadcasts with `loc` and `scale`. Default: a scalar.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// loc : array_like, optional
///     Mean. Default: 0.0.
/// scale : array_like, optional
///     Scale. Default: 1.0.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype` and of the broadcast shape.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not real floating point, `scale` is a negative number, the shapes do not broadcast,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// normal, exponential
///
/// Notes
/// -----
/// The density is ``exp(-abs(x - loc) / scale) / (2 * scale)``. Elements of an array `scale` are not checked: where they are
/// negative, the draw is mirrored at `loc`.
///
/// Examples
/// --------
/// >>> mx.random.laplace((3,), loc=5.0, scale=0.0)
/// array([5, 5, 5], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (shape = None, dtype = None, loc = None, scale = None, key = None, stream = None),
    text_signature = "(shape=[], dtype=None, loc=0.0, scale=1.0, key=None, stream=None)"
)]
fn laplace(
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    loc: Option<Operand>,
    scale: Option<Operand>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (dtype, key) =
        (sample_dtype(dtype, &[loc.as_ref(), scale.as_ref()], DType::Float32), array_value(key));
    // A number is converted to the dtype directly, so that it is rounded only once.
    let exact = |parameter: Operand| match parameter {
        Operand::Number(value) => Array::scalar(value, dtype),
        Operand::Array(array) => array,
    };
    check_scale(scale.as_ref())?;
    let (loc, scale) = (loc.map(exact), scale.map(exact));
    record_on(stream, || {
        random::laplace(shape_or_scalar(shape.as_ref()), dtype, loc.as_ref(), scale.as_ref(), key.as_ref())
    })
    .map(NewArray::from)
}

/// Draw vectors from the multivariate normal distribution.
///
/// Parameters
/// ----------
/// mean : array_like
///     Mean of shape ``(..., d)``.
/// cov : array_like
///     Covariance of shape ``(..., d, d)``, symmetric and positive semi-definite, which is not checked.
/// shape : int or sequence of int, optional
///     Shape of the result without its last axis. It broadcasts with the leading axes of `mean` and `cov`. Default: a
///     scalar.
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
///     Numbers of `dtype` and shape ``(*shape, d)``.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not real floating point, the shapes do not match or broadcast,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// normal
///
/// Notes
/// -----
/// Computed as ``mean + z @ C`` with a standard normal `z` and the symmetric square root `C` of the covariance, from
/// its singular value decomposition.
///
/// Examples
/// --------
/// >>> mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), (5, 3)).shape
/// (5, 3, 2)
#[pyfunction]
#[pyo3(
    signature = (mean, cov, shape = None, dtype = None, key = None, stream = None),
    text_signature = "(mean, cov, shape=[], dtype=None, key=None, stream=None)"
)]
fn multivariate_normal(
    mean: Operand,
    cov: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&mean), Some(&cov)], DType::Float32);
    let (mean, cov) = (mean.into_array(), cov.into_array());
    let (shape, key) = (shape_or_scalar(shape.as_ref()), array_value(key));
    record_on(stream, || random::multivariate_normal(&mean, &cov, shape, dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Draw class indices with probabilities ``softmax(logits)`` along an axis.
///
/// Parameters
/// ----------
/// logits : array_like
///     Unnormalised log-probabilities.
/// axis : int, optional
///     Axis of the classes. Default: -1.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the shape of `logits` without `axis` broadcasts. Default: the latter.
/// num_samples : int, optional
///     Number of draws, along a new last axis. At most one of `shape` and `num_samples` may be given. Default: one
///     draw.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Class indices as uint32.
///
/// Raises
/// ------
/// ValueError
///     If both `shape` and `num_samples` are given, there are no classes, the shapes do not broadcast,
///     the shape has a negative length, or `key` is not a key.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// choice, gumbel, bernoulli
///
/// Notes
/// -----
/// With a single set of logits and `shape` or `num_samples`, the cumulative sum of ``exp(logits - max(logits))`` is
/// inverted; otherwise the result is ``argmax(logits + gumbel)``.
///
/// Examples
/// --------
/// >>> mx.random.categorical(mx.array([-mx.inf, 0.0, -mx.inf]), num_samples=4)
/// array([1, 1, 1, 1], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (logits, axis = -1, shape = None, num_samples = None, key = None, stream = None))]
fn categorical(
    logits: Operand,
    axis: i64,
    shape: Option<Ints>,
    num_samples: Option<i64>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (logits, key) = (logits.into_array(), array_value(key));
    let samples = match (&shape, num_samples) {
        (Some(_), Some(_)) => {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "[categorical] shape and num_samples are mutually exclusive",
            ));
        }
        (Some(shape), None) => Samples::Shape(shape.as_slice()),
        (None, Some(count)) => Samples::Count(count),
        (None, None) => Samples::One,
    };
    record_on(stream, || random::categorical(&logits, axis, samples, key.as_ref())).map(NewArray::from)
}

/// Return integers or the slices of an array in random order.
///
/// Parameters
/// ----------
/// x : int or array_like
///     An integer `n` stands for ``arange(n)``; an array is permuted along `axis`.
/// axis : int, optional
///     Axis to permute. Default: 0.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     uint32 of shape ``(x,)`` for an integer, else a permuted copy of `x`.
///
/// Raises
/// ------
/// ValueError
///     If the integer is negative or `key` is not a key.
/// TypeError
///     If `x` is neither an integer nor an array.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// shuffle, choice
///
/// Examples
/// --------
/// >>> mx.random.permutation(5, key=mx.random.key(0))
/// array([1, 2, 0, 4, 3], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (x, axis = 0, key = None, stream = None))]
fn permutation(
    x: &Bound<'_, PyAny>,
    axis: i64,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let key = array_value(key);
    if let Ok(array) = x.cast::<PyArray>() {
        let array = array.get().get();
        return record_on(stream, || random::permuted(&array, axis, key.as_ref())).map(NewArray::from);
    }
    match x.extract::<i64>() {
        Ok(count) => record_on(stream, || random::permutation(count, key.as_ref())).map(NewArray::from),
        Err(error) if !error.is_instance_of::<PyTypeError>(x.py()) => Err(error),
        // NumPy arrays, and anything else that converts to an array.
        Err(_) => match x.extract::<Operand>() {
            Ok(Operand::Array(array)) => {
                record_on(stream, || random::permuted(&array, axis, key.as_ref())).map(NewArray::from)
            }
            Ok(Operand::Number(_)) | Err(_) => Err(PyTypeError::new_err(format!(
                "[permutation] x: got {}, expected an integer or an array",
                x.get_type().name()?
            ))),
        },
    }
}

/// Permute an array in place along an axis and return it.
///
/// Parameters
/// ----------
/// x : array_like
///     Array to permute. Anything but an `mx.array` stays unchanged, and a permuted copy is returned.
/// axis : int, optional
///     Axis to permute. Default: 0.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     `x` itself, or the copy.
///
/// Raises
/// ------
/// ValueError
///     If `key` is not a key.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// permutation
///
/// Examples
/// --------
/// >>> x = mx.array([7, 8, 9])
/// >>> mx.random.shuffle(x, key=mx.random.key(0)) is x
/// True
/// >>> x
/// array([8, 9, 7], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, axis = 0, key = None, stream = None))]
fn shuffle<'py>(
    py: Python<'py>,
    x: ShuffleArg<'py>,
    axis: i64,
    key: Option<&Bound<'py, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'py, PyArray>> {
    let (old, key) = (x.value.into_array(), array_value(key));
    let new = record_on(stream, || random::shuffle(&old, axis, key.as_ref()))?;
    let Some(array) = x.array else { return NewArray::from(new).object(py) };
    array.get().update(py, new)?;
    Ok(array)
}

/// The argument of `shuffle`, and the array to write the result into.
struct ShuffleArg<'py> {
    value: Operand,
    array: Option<Bound<'py, PyArray>>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for ShuffleArg<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(ShuffleArg {
            value: object.extract()?,
            array: object.cast::<PyArray>().ok().map(Borrowed::to_owned),
        })
    }
}

/// Draw integers or slices of an array at random, with or without replacement.
///
/// Parameters
/// ----------
/// a : int or array_like
///     An integer `n` stands for ``arange(n)`` as uint32; of an array, slices along `axis` are drawn.
/// shape : int or sequence of int, optional
///     Shape of the draws, which takes the place of `axis` in the result. Default: a single draw.
/// replace : bool, optional
///     Allow an item to be drawn more than once. Default: True.
/// p : array_like, optional
///     Probabilities of the items, which sum to 1. Default: uniform.
/// axis : int, optional
///     Axis of the items. Default: 0.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
/// size : int or sequence of int, optional
///     NumPy's name of `shape`. Only one of them may be given.
///
/// Returns
/// -------
/// array
///     uint32 for an integer `a`, else the dtype of `a`.
///
/// Raises
/// ------
/// ValueError
///     If there are no items, there are too few without replacement (of non-zero probability), or `p` has another shape
///     or does not sum to 1.
/// TypeError
///     If both `shape` and `size` are given.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// permutation, categorical, randint
///
/// Notes
/// -----
/// Without replacement, weighted items are those with the largest ``log(p) + gumbel`` (P. S. Efraimidis and P. G.
/// Spirakis, Information Processing Letters 97, 2006). In `vmap` and `compile`, where the values of `p` are unknown,
/// its sum is not checked and the probabilities are normalised.
///
/// Examples
/// --------
/// >>> mx.random.choice(52, (5,), replace=False, key=mx.random.key(0))
/// array([4, 17, 41, 51, 12], dtype=uint32)
/// >>> mx.random.choice(mx.array([10, 20, 30]), (2,), p=[0.0, 0.0, 1.0])
/// array([30, 30], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (a, shape = None, replace = true, p = None, axis = 0, key = None, stream = None, *, size = None),
    text_signature = "(a, shape=[], replace=True, p=None, axis=0, key=None, stream=None, *, size=None)"
)]
fn choice(
    a: &Bound<'_, PyAny>,
    shape: Option<Ints>,
    replace: bool,
    p: Option<Operand>,
    axis: i64,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
    size: Option<Ints>,
) -> PyResult<NewArray> {
    if shape.is_some() && size.is_some() {
        return Err(PyTypeError::new_err(
            "[choice] the shape is given under both of its names; pass only one",
        ));
    }
    let shape = shape.or(size);
    let replacement = if replace { Replacement::With } else { Replacement::Without };
    let (p, key) = (p.map(Operand::into_array), array_value(key));
    let source = match crate::args::number(a)? {
        Some(_) => None,
        None => Some(a.extract::<Operand>()?.into_array()),
    };
    let count = match &source {
        Some(array) => umber_core::types::shape::normalize_axis("choice", axis, array.ndim())
            .map(|axis| array.shape()[axis] as i64)
            .or_raise()?,
        None => a.extract()?,
    };
    record_on(stream, || {
        let shape = shape_or_scalar(shape.as_ref());
        let indices = random::choice(count, shape, replacement, p.as_ref(), key.as_ref())?;
        match &source {
            Some(array) => umber_core::ops::take(array, &indices, Some(axis)),
            None => Ok(indices),
        }
    })
    .map(NewArray::from)
}

/// Draw from the exponential distribution with mean `scale`.
///
/// Parameters
/// ----------
/// shape : int or sequence of int, optional
///     Shape of the result. Default: the shape of `scale`.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// scale : array_like, optional
///     Mean, which broadcasts to `shape`. Default: 1.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `shape` and `dtype`, computed as ``-scale * log(1 - u)`` of a uniform `u`. Elements whose `scale` is
///     negative are NaN.
///
/// Raises
/// ------
/// ValueError
///     If the dtype is not real floating point, `scale` is a negative number, `scale` does not broadcast to `shape`,
///     the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// gamma, poisson, geometric
///
/// Examples
/// --------
/// >>> mx.random.exponential((2,), scale=3.0, key=mx.random.key(0))
/// array([0.73117, 4.89082], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (shape = None, dtype = None, scale = None, key = None, stream = None),
    text_signature = "(shape=None, dtype=None, scale=None, key=None, stream=None)"
)]
fn exponential(
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    scale: Option<Operand>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[scale.as_ref()], DType::Float32);
    let (scale, key) = (scale.map(Operand::into_array), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::exponential(shape, dtype, scale.as_ref(), key.as_ref())).map(NewArray::from)
}

/// Draw from the gamma distribution with shape parameter `a` and scale `scale`.
///
/// Parameters
/// ----------
/// a : array_like
///     Shape parameter, above 0. Its mean is ``a * scale``.
/// shape : int or sequence of int, optional
///     Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// scale : array_like, optional
///     Scale. Default: 1.
/// key : array, optional
///     Key from `key` or `split`. Default: a new key from the global state.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of `dtype`. Elements whose `a` is not positive or whose `scale` is negative are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `a` is a number that is not positive, `scale` is a negative number, the dtype is not real floating point, the
///     parameters do not broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// beta, chisquare, dirichlet, exponential
///
/// Notes
/// -----
/// Drawn in float64 by rejection (G. Marsaglia and W. W. Tsang, ACM Transactions on Mathematical Software 26, 2000).
/// Differentiable with respect to `scale`; `a` has no gradient.
///
/// Examples
/// --------
/// >>> mx.random.gamma(2.5, (2,), key=mx.random.key(0))
/// array([1.90364, 3.72197], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, shape = None, dtype = None, scale = None, key = None, stream = None))]
fn gamma(
    a: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    scale: Option<Operand>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&a), scale.as_ref()], DType::Float32);
    let (a, scale, key) = (a.into_array(), scale.map(Operand::into_array), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::gamma(&a, shape, dtype, scale.as_ref(), key.as_ref())).map(NewArray::from)
}

/// Draw from the beta distribution with parameters `a` and `b`.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Parameters, above 0.
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
///     Numbers of `dtype` in ``[0, 1]``. Elements whose parameters are not positive are NaN.
///
/// Raises
/// ------
/// ValueError
///     If `a` or `b` is a number that is not positive, the dtype is not real floating point, the parameters do not
///     broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// gamma, dirichlet
///
/// Notes
/// -----
/// Computed as ``x / (x + y)`` of gamma draws `x` and `y` with parameters `a` and `b`, from their logarithms, so that
/// small parameters do not underflow. No gradient flows to `a` and `b`.
///
/// Examples
/// --------
/// >>> mx.random.beta(2.0, 6.0, (2,), key=mx.random.key(0))
/// array([0.125141, 0.463742], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, shape = None, dtype = None, key = None, stream = None))]
fn beta(
    a: Operand,
    b: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&a), Some(&b)], DType::Float32);
    let (a, b, key) = (a.into_array(), b.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::beta(&a, &b, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw probability vectors from the Dirichlet distribution.
///
/// Parameters
/// ----------
/// alpha : array_like
///     Parameters along the last axis, above 0.
/// shape : int or sequence of int, optional
///     Shape of the result without its last axis. Default: that of `alpha`.
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
///     Numbers of `dtype` that sum to 1 along the last axis.
///
/// Raises
/// ------
/// ValueError
///     If an element of `alpha` is not positive, `alpha` is 0-D, the dtype is not real floating point, `alpha` does not
///     broadcast, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// beta, gamma
///
/// Notes
/// -----
/// Computed as gamma draws with parameters `alpha` divided by their sum. If `alpha` has not been evaluated, its
/// elements are not checked, and invalid ones give NaN. No gradient flows to `alpha`.
///
/// Examples
/// --------
/// >>> x = mx.random.dirichlet(mx.array([1.0, 2.0, 5.0]), (4,))
/// >>> x.shape, mx.allclose(x.sum(axis=-1), mx.ones(4)).item()
/// ((4, 3), True)
#[pyfunction]
#[pyo3(signature = (alpha, shape = None, dtype = None, key = None, stream = None))]
fn dirichlet(
    alpha: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[Some(&alpha)], DType::Float32);
    let (alpha, key) = (alpha.into_array(), array_value(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::dirichlet(&alpha, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Draw from the Poisson distribution with mean `lam`.
///
/// Parameters
/// ----------
/// lam : array_like, optional
///     Mean, at least 0. Default: 1.0.
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
///     Counts of `dtype`. Elements whose `lam` is negative or NaN are -1, which wraps in unsigned dtypes. Counts above
///     the maximum of an integer dtype become the maximum.
///
/// Raises
/// ------
/// ValueError
///     If `lam` is a number that is negative, NaN or above the maximum of an integer dtype, the dtype is bool or
///     complex, `lam` does not broadcast to `shape`, the shape has a negative length, or `key` is not a key.
///
/// See Also
/// --------
/// binomial, exponential, gamma
///
/// Notes
/// -----
/// Drawn by counting exponential waiting times for small means, and by transformed rejection for others (W. Hörmann,
/// Insurance: Mathematics and Economics 12, 1993).
///
/// Examples
/// --------
/// >>> mx.random.poisson(4.0, (3,), key=mx.random.key(0))
/// array([4, 1, 2], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (lam = None, shape = None, dtype = None, key = None, stream = None),
    text_signature = "(lam=1.0, shape=None, dtype=None, key=None, stream=None)"
)]
fn poisson(
    lam: Option<Operand>,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = sample_dtype(dtype, &[lam.as_ref()], DType::Int32);
    let lam = lam.map_or_else(|| Array::scalar(1.0, DType::Float32), Operand::into_array);
    let (shape, key) = (shape.as_ref().map(Ints::as_slice), array_value(key));
    record_on(stream, || random::poisson(&lam, shape, dtype, key.as_ref())).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let random = PyModule::new(py, "random")?;
    random.setattr("__name__", "umber.core.random")?;
    random.setattr("__doc__", "Random numbers from keys (threefry2x32), or from the global state.")?;
    for function in [
        wrap_pyfunction!(key, &random)?,
        wrap_pyfunction!(seed, &random)?,
        wrap_pyfunction!(split, &random)?,
        wrap_pyfunction!(uniform, &random)?,
        wrap_pyfunction!(normal, &random)?,
        wrap_pyfunction!(bernoulli, &random)?,
        wrap_pyfunction!(randint, &random)?,
        wrap_pyfunction!(truncated_normal, &random)?,
        wrap_pyfunction!(gumbel, &random)?,
        wrap_pyfunction!(laplace, &random)?,
        wrap_pyfunction!(multivariate_normal, &random)?,
        wrap_pyfunction!(categorical, &random)?,
        wrap_pyfunction!(permutation, &random)?,
        wrap_pyfunction!(shuffle, &random)?,
        wrap_pyfunction!(choice, &random)?,
        wrap_pyfunction!(exponential, &random)?,
        wrap_pyfunction!(gamma, &random)?,
        wrap_pyfunction!(beta, &random)?,
        wrap_pyfunction!(dirichlet, &random)?,
        wrap_pyfunction!(poisson, &random)?,
    ] {
        random.add_function(function)?;
    }
    random_families::register(&random)?;
    random_state::register(&random)?;
    module.add("random", &random)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.random", random)
}
