//! `umber.core.random`: numbers from keys, or from the global state.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use umber_core::ops::random::{self, Replacement, Samples};
use umber_core::{Array, DType};

use super::random_state;
use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, or};
use crate::enter::OrRaise;
use crate::error_text::shortened;
use crate::new_array::NewArray;

/// An optional array argument, as the core takes it.
fn given(array: Option<&Bound<'_, PyArray>>) -> Option<Array> {
    array.map(|array| array.get().get())
}

fn shape_or_scalar(shape: Option<&Ints>) -> &[i64] {
    shape.map_or(&[], Ints::as_slice)
}

/// The 64 bits of a seed.
fn bits_of(op: &str, seed: &Bound<'_, PyAny>) -> PyResult<u64> {
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

/// A key from a seed (an integer from 0 to 2**64 - 1): two words, uint32.
#[pyfunction]
fn key(seed: &Bound<'_, PyAny>) -> PyResult<NewArray> {
    random::key(bits_of("key", seed)?).or_raise().map(NewArray::from)
}

/// Set the global key from a seed (an integer from 0 to 2**64 - 1).
#[pyfunction]
fn seed(seed: &Bound<'_, PyAny>) -> PyResult<()> {
    random::seed(bits_of("seed", seed)?).or_raise()
}

/// `num` keys from one.
#[pyfunction]
#[pyo3(signature = (key, num = 2, stream = None))]
fn split(key: &Bound<'_, PyArray>, num: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let key = key.get().get();
    record_on(stream, || random::split(&key, num)).map(NewArray::from)
}

/// A scale, which cannot be negative. That of an array is not looked at: it may not be computed yet.
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
    Ok(scale.map(Operand::alone))
}

/// The dtype of numbers that are drawn with these parameters: one of Python's number types takes its width from the
/// parameters that are arrays.
fn drawn(dtype: Option<DtypeArg>, parameters: &[Option<&Operand>], default: DType) -> DType {
    let given = parameters.iter().flatten().filter_map(|parameter| match parameter {
        Operand::Array(array) => Some(array.dtype()),
        Operand::Number(_) => None,
    });
    match (dtype, given.reduce(umber_core::types::promote)) {
        (Some(dtype), Some(given)) => dtype.beside(given),
        (dtype, _) => or(dtype, default),
    }
}

/// Uniform numbers in `[low, high)`.
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
    let dtype = drawn(dtype, &[low.as_ref(), high.as_ref()], DType::Float32);
    let low = low.map_or_else(|| Array::scalar(0.0, dtype), Operand::alone);
    let high = high.map_or_else(|| Array::scalar(1.0, dtype), Operand::alone);
    let key = given(key);
    record_on(stream, || random::uniform(&low, &high, shape_or_scalar(shape.as_ref()), dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Normally distributed numbers of mean `loc` and standard deviation `scale`.
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
    let dtype = drawn(dtype, &[loc.as_ref(), scale.as_ref()], DType::Float32);
    let (loc, scale, key) = (loc.map(Operand::alone), scale_of(scale)?, given(key));
    record_on(stream, || {
        random::normal(shape_or_scalar(shape.as_ref()), dtype, loc.as_ref(), scale.as_ref(), key.as_ref())
    })
    .map(NewArray::from)
}

/// Bools that are true with probability `p`.
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
    let p = p.map_or_else(|| Array::scalar(0.5, DType::Float32), Operand::alone);
    let key = given(key);
    record_on(stream, || random::bernoulli(&p, shape.as_ref().map(Ints::as_slice), key.as_ref()))
        .map(NewArray::from)
}

/// Integers in `[low, high)`.
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
    let dtype = drawn(dtype, &[Some(&low), Some(&high)], DType::Int32);
    let (low, high, key) = (low.alone(), high.alone(), given(key));
    record_on(stream, || random::randint(&low, &high, shape_or_scalar(shape.as_ref()), dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Normally distributed numbers that lie between `lower` and `upper`.
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
    let dtype = drawn(dtype, &[Some(&lower), Some(&upper)], DType::Float32);
    let (lower, upper, key) = (lower.alone(), upper.alone(), given(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::truncated_normal(&lower, &upper, shape, dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Numbers of the standard Gumbel distribution.
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
    let (dtype, key) = (or(dtype, DType::Float32), given(key));
    record_on(stream, || random::gumbel(shape_or_scalar(shape.as_ref()), dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Numbers of the Laplace distribution with mean `loc` and scale `scale`.
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
    let (dtype, key) = (drawn(dtype, &[loc.as_ref(), scale.as_ref()], DType::Float32), given(key));
    // A number goes to the dtype directly, without rounding in between.
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

/// Normal vectors with a mean `[..., d]` and a covariance `[..., d, d]`; of shape `shape + [d]`.
///
/// `shape` broadcasts with the other axes of both. The covariance should be symmetric and positive semi-definite, which
/// is not checked; its symmetric square root comes from a singular value decomposition.
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
    let dtype = drawn(dtype, &[Some(&mean), Some(&cov)], DType::Float32);
    let (mean, cov) = (mean.alone(), cov.alone());
    let (shape, key) = (shape_or_scalar(shape.as_ref()), given(key));
    record_on(stream, || random::multivariate_normal(&mean, &cov, shape, dtype, key.as_ref()))
        .map(NewArray::from)
}

/// Indices drawn with the probabilities that `softmax(logits)` gives along `axis`, as uint32.
///
/// `shape` is the whole shape of the result, `num_samples` adds a last axis; at most one may be given.
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
    let (logits, key) = (logits.alone(), given(key));
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

/// A random order of `0..x` for an integer `x`; of an array, its parts along `axis` in a random order.
#[pyfunction]
#[pyo3(signature = (x, axis = 0, key = None, stream = None))]
fn permutation(
    x: &Bound<'_, PyAny>,
    axis: i64,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let key = given(key);
    if let Ok(array) = x.cast::<PyArray>() {
        let array = array.get().get();
        return record_on(stream, || random::permuted(&array, axis, key.as_ref())).map(NewArray::from);
    }
    match x.extract::<i64>() {
        Ok(count) => record_on(stream, || random::permutation(count, key.as_ref())).map(NewArray::from),
        Err(error) if !error.is_instance_of::<PyTypeError>(x.py()) => Err(error),
        // NumPy's arrays, and whatever else arrays are made of.
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

/// Put the parts of `x` along `axis` into random order, in place, and answer it. What is not an array of umber stays as it
/// is: the answer is a copy.
#[pyfunction]
#[pyo3(signature = (x, axis = 0, key = None, stream = None))]
fn shuffle<'py>(
    py: Python<'py>,
    x: Shuffled<'py>,
    axis: i64,
    key: Option<&Bound<'py, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'py, PyArray>> {
    let (old, key) = (x.value.alone(), given(key));
    let new = record_on(stream, || random::shuffle(&old, axis, key.as_ref()))?;
    let Some(array) = x.array else { return NewArray::from(new).object(py) };
    array.get().update(py, new)?;
    Ok(array)
}

/// What is shuffled, and the array to write it into.
struct Shuffled<'py> {
    value: Operand,
    array: Option<Bound<'py, PyArray>>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Shuffled<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Shuffled {
            value: object.extract()?,
            array: object.cast::<PyArray>().ok().map(Borrowed::to_owned),
        })
    }
}

/// Parts of `a` along `axis` (or of `0..a` for an integer, as uint32), drawn at random into the axes of `shape`.
///
/// `replace` says whether a part can be drawn more than once. `p` are probabilities of the parts, of shape
/// `(length,)`, which sum to one (Efraimidis and Spirakis, 2006, without replacement); inside `vmap` and `compile`,
/// where they have no values, they count in proportion. Raises `ValueError` if there are not enough parts, without
/// replacement not enough of a probability above zero.
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
    let (p, key) = (p.map(Operand::alone), given(key));
    let source = match crate::args::number(a)? {
        Some(_) => None,
        None => Some(a.extract::<Operand>()?.alone()),
    };
    let count = match &source {
        Some(array) => umber_core::types::shape::normalize_axis("choice", axis, array.ndim())
            .map(|axis| array.shape()[axis] as i64)
            .or_raise()?,
        None => a.extract()?,
    };
    record_on(stream, || {
        let shape = shape_or_scalar(shape.as_ref());
        let places = random::choice(count, shape, replacement, p.as_ref(), key.as_ref())?;
        match &source {
            Some(array) => umber_core::ops::take(array, &places, Some(axis)),
            None => Ok(places),
        }
    })
    .map(NewArray::from)
}

/// Numbers of the exponential distribution with mean `scale`.
#[pyfunction]
#[pyo3(
    signature = (shape = None, dtype = None, scale = None, key = None, stream = None),
    text_signature = "(shape=[], dtype=None, scale=None, key=None, stream=None)"
)]
fn exponential(
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    scale: Option<Operand>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = drawn(dtype, &[scale.as_ref()], DType::Float32);
    let (scale, key) = (scale_of(scale)?, given(key));
    record_on(stream, || {
        random::exponential(shape_or_scalar(shape.as_ref()), dtype, scale.as_ref(), key.as_ref())
    })
    .map(NewArray::from)
}

/// Numbers of the gamma distribution with shape parameter `a` and the given scale, of mean `a * scale`.
///
/// `shape` is that of the result, by default that of the parameters. Elements whose `a` is not positive are NaN.
/// The scale has a gradient, `a` has none. (Marsaglia and Tsang, ACM TOMS 26, 2000.)
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
    let dtype = drawn(dtype, &[Some(&a), scale.as_ref()], DType::Float32);
    let (a, scale, key) = (a.alone(), scale_of(scale)?, given(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::gamma(&a, shape, dtype, scale.as_ref(), key.as_ref())).map(NewArray::from)
}

/// Numbers of the beta distribution with parameters `a` and `b`, in `[0, 1]`; no gradient flows to them.
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
    let dtype = drawn(dtype, &[Some(&a), Some(&b)], DType::Float32);
    let (a, b, key) = (a.alone(), b.alone(), given(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::beta(&a, &b, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Probabilities of the Dirichlet distribution: along the last axis they sum to one.
///
/// `alpha` has the parameters along its last axis; `shape` is that of the result without it. An element that is not
/// positive raises `ValueError`; where `alpha` is not computed yet its draws are NaN. No gradient flows to `alpha`.
#[pyfunction]
#[pyo3(signature = (alpha, shape = None, dtype = None, key = None, stream = None))]
fn dirichlet(
    alpha: Operand,
    shape: Option<Ints>,
    dtype: Option<DtypeArg>,
    key: Option<&Bound<'_, PyArray>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let dtype = drawn(dtype, &[Some(&alpha)], DType::Float32);
    let (alpha, key) = (alpha.alone(), given(key));
    let shape = shape.as_ref().map(Ints::as_slice);
    record_on(stream, || random::dirichlet(&alpha, shape, dtype, key.as_ref())).map(NewArray::from)
}

/// Counts of the Poisson distribution with mean `lam`, as an integer (int32 by default) or real dtype.
///
/// Elements whose `lam` is negative or NaN are -1, and counts that the dtype cannot hold are its greatest number.
/// (Hörmann, Insurance: Mathematics and Economics 12, 1993.)
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
    let dtype = drawn(dtype, &[lam.as_ref()], DType::Int32);
    let lam = lam.map_or_else(|| Array::scalar(1.0, DType::Float32), Operand::alone);
    let (shape, key) = (shape.as_ref().map(Ints::as_slice), given(key));
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
    random_state::register(&random)?;
    module.add("random", &random)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.random", random)
}
