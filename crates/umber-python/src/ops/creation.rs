//! Creating arrays: constant values, ranges, grids and structured matrices.
//!
//! One subject: each binding takes a few lines; most lines of this file are documentation.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyTuple};
use umber_core::graph::ArrayInternals;
use umber_core::types::shape::normalize_axis;
use umber_core::{Array, DType, Scalar, Shape, ops};

use crate::args::{
    DeviceArg, Diagonal, Ints, Operand, StreamArg, check_fits, named, number, record_on, resolve_stream,
};
use crate::array::PyArray;
use crate::convert::from_object;
use crate::dtype::{DtypeArg, NumberType, dtype_for, or};
use crate::enter::{OrRaise, enter, warn_if_traced};
use crate::new_array::NewArray;

fn shape_of(op: &str, shape: &Ints) -> PyResult<Shape> {
    Shape::checked(op, shape.as_slice()).or_raise()
}

/// Create an array of zeros.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     Shape of the array.
/// dtype : dtype, optional
///     Dtype of the array. Default: float32.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the given shape, filled with zeros.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative, or the device is not available.
/// OverflowError
///     If the array has more elements than memory can address.
///
/// See Also
/// --------
/// zeros_like, ones, full, empty
///
/// Examples
/// --------
/// >>> mx.zeros((2, 2), mx.int8)
/// array([[0, 0],
///        [0, 0]], dtype=int8)
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, device = None, stream = None))]
fn zeros(
    shape: Ints,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("zeros", &shape)?, resolve_stream("zeros", stream, device)?);
    record_on(stream, || Ok(ops::zeros(&shape, or(dtype, DType::Float32)))).map(NewArray::from)
}

/// Create an array of ones.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     Shape of the array.
/// dtype : dtype, optional
///     Dtype of the array. Default: float32.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the given shape, filled with ones.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative, or the device is not available.
/// OverflowError
///     If the array has more elements than memory can address.
///
/// See Also
/// --------
/// ones_like, zeros, full
///
/// Examples
/// --------
/// >>> mx.ones(3)
/// array([1, 1, 1], dtype=float32)
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, device = None, stream = None))]
fn ones(
    shape: Ints,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("ones", &shape)?, resolve_stream("ones", stream, device)?);
    record_on(stream, || Ok(ops::ones(&shape, or(dtype, DType::Float32)))).map(NewArray::from)
}

/// Create an array with unspecified elements.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     Shape of the array.
/// dtype : dtype, optional
///     Dtype of the array. Default: float32.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the given shape. The elements are currently zeros; programs must not rely on it.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative, or the device is not available.
/// OverflowError
///     If the array has more elements than memory can address.
///
/// See Also
/// --------
/// empty_like, zeros
///
/// Examples
/// --------
/// >>> mx.empty((2, 3)).shape
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, device = None, stream = None))]
fn empty(
    shape: Ints,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("empty", &shape)?, resolve_stream("empty", stream, device)?);
    record_on(stream, || Ok(ops::zeros(&shape, or(dtype, DType::Float32)))).map(NewArray::from)
}

/// `value` broadcast to the given shape, or to the shape of `a`.
fn filled_like(
    op: &str,
    a: &Array,
    value: &Array,
    shape: Option<Ints>,
    dtype: DType,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let shape = shape.map(|shape| shape_of(op, &shape)).transpose()?;
    record_on(stream, || match &shape {
        Some(shape) => ops::full(shape, value, Some(dtype)),
        None => ops::full_like(a, value, dtype),
    })
    .map(NewArray::from)
}

/// Functions that create arrays with the shape and dtype of another.
macro_rules! like {
    ($($(#[$doc:meta])* $name:ident $value:literal,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, dtype = None, *, shape = None, device = None, stream = None))]
            fn $name(
                a: Operand,
                dtype: Option<DtypeArg>,
                shape: Option<Ints>,
                device: Option<DeviceArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, stream) = (a.into_array(), resolve_stream(stringify!($name), stream, device)?);
                let dtype = dtype_for(dtype, a.dtype()).unwrap_or(a.dtype());
                filled_like(stringify!($name), &a, &Array::scalar($value, dtype), shape, dtype, stream)
            }
        )*

        fn register_like(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

like! {
    /// Create an array of zeros with the shape and dtype of another array.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Array that determines shape and dtype.
    /// dtype : dtype, optional
    ///     Dtype of the result. Default: the dtype of `a`.
    /// shape : int or sequence of int, optional
    ///     Shape of the result. Default: the shape of `a`.
    /// device : Device or str, optional
    ///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
    ///     `stream`.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array filled with zeros.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a length is negative, or the device is not available.
    ///
    /// See Also
    /// --------
    /// zeros, ones_like, full_like, empty_like
    ///
    /// Examples
    /// --------
    /// >>> mx.zeros_like(mx.array([1, 2]))
    /// array([0, 0], dtype=int32)
    zeros_like 0,
    /// Create an array of ones with the shape and dtype of another array.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Array that determines shape and dtype.
    /// dtype : dtype, optional
    ///     Dtype of the result. Default: the dtype of `a`.
    /// shape : int or sequence of int, optional
    ///     Shape of the result. Default: the shape of `a`.
    /// device : Device or str, optional
    ///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
    ///     `stream`.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array filled with ones.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a length is negative, or the device is not available.
    ///
    /// See Also
    /// --------
    /// ones, zeros_like, full_like, empty_like
    ///
    /// Examples
    /// --------
    /// >>> mx.ones_like(mx.array([3, 4]), dtype=mx.float16)
    /// array([1, 1], dtype=float16)
    ones_like 1,
    /// Create an array with unspecified elements and the shape and dtype of another array.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Array that determines shape and dtype.
    /// dtype : dtype, optional
    ///     Dtype of the result. Default: the dtype of `a`.
    /// shape : int or sequence of int, optional
    ///     Shape of the result. Default: the shape of `a`.
    /// device : Device or str, optional
    ///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
    ///     `stream`.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array whose elements are currently zeros; programs must not rely on it.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a length is negative, or the device is not available.
    ///
    /// See Also
    /// --------
    /// empty, zeros_like, ones_like, full_like
    ///
    /// Examples
    /// --------
    /// >>> x = mx.empty_like(mx.array([1, 2]), shape=(2, 3))
    /// >>> x.shape, x.dtype
    /// ((2, 3), umber.core.int32)
    empty_like 0,
}

/// The fill value as an array. A number is converted to an inexact dtype directly, so that it is rounded only once.
fn fill_array(vals: Operand, dtype: Option<DType>) -> PyResult<Array> {
    match (vals, dtype) {
        (Operand::Number(value), Some(dtype)) if dtype.is_inexact() => Ok(Array::scalar(value, dtype)),
        (Operand::Number(value), Some(dtype)) => {
            check_fits(value, dtype)?;
            Ok(Operand::Number(value).into_array())
        }
        (vals, _) => Ok(vals.into_array()),
    }
}

/// The dtype of an array that is filled with `vals`. A Python number type takes its width from an array, or from an integer
/// that does not fit int32.
fn fill_dtype(vals: &Operand, dtype: DtypeArg) -> DType {
    match vals {
        Operand::Array(array) => dtype.dtype_for(array.dtype()),
        Operand::Number(value @ (Scalar::Int(_) | Scalar::UInt(_))) => match dtype {
            DtypeArg::Number(NumberType::Int) => value.default_dtype(),
            DtypeArg::Exact(_) | DtypeArg::Number(_) => dtype.default_dtype(),
        },
        Operand::Number(_) => dtype.default_dtype(),
    }
}

/// The fill value: `vals`, or `fill_value`, its name in the array API standard.
fn fill_argument(op: &str, vals: Option<Operand>, fill_value: Option<Operand>) -> PyResult<Operand> {
    match (vals, fill_value) {
        (Some(value), None) | (None, Some(value)) => Ok(value),
        (None, None) => Err(PyTypeError::new_err(format!("[{op}] missing value: pass vals or fill_value"))),
        (Some(_), Some(_)) => Err(PyTypeError::new_err(format!(
            "[{op}] vals and fill_value are the same argument; pass only one"
        ))),
    }
}

/// Create an array filled with a value.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     Shape of the array.
/// vals : array_like
///     Value, which broadcasts to `shape`.
/// dtype : dtype, optional
///     Dtype of the array. Default: the dtype of `vals`; for a Python number int32 (int64 if necessary), float32, complex64
///     or bool.
/// fill_value : array_like, optional
///     The name of `vals` in the array API standard. Exactly one of the two is given.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the given shape, filled with `vals`.
///
/// Raises
/// ------
/// ValueError
///     If `vals` does not broadcast to `shape`, a length is negative, or the device is not available.
/// TypeError
///     If none or both of `vals` and `fill_value` are given.
/// OverflowError
///     If a Python integer does not fit the dtype.
///
/// See Also
/// --------
/// full_like, zeros, ones, broadcast_to
///
/// Examples
/// --------
/// >>> mx.full((2, 2), 7)
/// array([[7, 7],
///        [7, 7]], dtype=int32)
/// >>> mx.full((2, 2), mx.array([1, 2.5]))
/// array([[1, 2.5],
///        [1, 2.5]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (shape, vals = None, dtype = None, *, fill_value = None, device = None, stream = None))]
fn full(
    shape: Ints,
    vals: Option<Operand>,
    dtype: Option<DtypeArg>,
    fill_value: Option<Operand>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("full", &shape)?, resolve_stream("full", stream, device)?);
    let vals = fill_argument("full", vals, fill_value)?;
    let dtype = dtype.map(|dtype| fill_dtype(&vals, dtype));
    let vals = fill_array(vals, dtype)?;
    record_on(stream, || ops::full(&shape, &vals, dtype)).map(NewArray::from)
}

/// Create an array filled with a value, with the shape and dtype of another array.
///
/// Parameters
/// ----------
/// a : array_like
///     Array that determines shape and dtype.
/// vals : array_like
///     Value, which broadcasts to the shape and is converted to the dtype.
/// dtype : dtype, optional
///     Dtype of the result. Default: the dtype of `a`.
/// fill_value : array_like, optional
///     The name of `vals` in the array API standard. Exactly one of the two is given.
/// shape : int or sequence of int, optional
///     Shape of the result. Default: the shape of `a`.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array filled with `vals`.
///
/// Raises
/// ------
/// ValueError
///     If `vals` does not broadcast to the shape, a length is negative, or the device is not available.
/// TypeError
///     If none or both of `vals` and `fill_value` are given.
/// OverflowError
///     If a Python integer does not fit the dtype.
///
/// See Also
/// --------
/// full, zeros_like, ones_like
///
/// Examples
/// --------
/// >>> mx.full_like(mx.array([1, 2]), 2.5)
/// array([2, 2], dtype=int32)
/// >>> mx.full_like(mx.array([1, 2]), 2.5, dtype=mx.float32)
/// array([2.5, 2.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, vals = None, dtype = None, *, fill_value = None, shape = None, device = None, stream = None))]
fn full_like(
    a: Operand,
    vals: Option<Operand>,
    dtype: Option<DtypeArg>,
    fill_value: Option<Operand>,
    shape: Option<Ints>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, stream) = (a.into_array(), resolve_stream("full_like", stream, device)?);
    let dtype = dtype_for(dtype, a.dtype()).unwrap_or(a.dtype());
    let vals = fill_array(fill_argument("full_like", vals, fill_value)?, Some(dtype))?;
    filled_like("full_like", &a, &vals, shape, dtype, stream)
}

/// A real number that bounds a range, or its step.
pub(super) fn bound(op: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(array) = value.cast::<PyArray>() {
        let array = array.get().get();
        let scalar = enter(value.py(), || array.item())?;
        warn_if_traced(value.py(), &array)?;
        return Ok(scalar);
    }
    let value_or_foreign = match number(value)? {
        Some(value) => Some(value),
        None => crate::convert::foreign_number(value)?,
    };
    match value_or_foreign {
        Some(Scalar::Complex(..)) | None => Err(PyTypeError::new_err(format!(
            "[{op}] {name}: got {}, expected a real number",
            value.get_type().name()?
        ))),
        Some(value) => Ok(value),
    }
}

/// The ends of an interval of evenly spaced values.
pub(super) enum Ends {
    Numbers(Scalar, Scalar),
    /// At least one end has axes or is traced by a transformation.
    Arrays(Array, Array),
}

impl Ends {
    pub(super) fn new(op: &str, start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>) -> PyResult<Ends> {
        let number = |name: &str, value: &Bound<'_, PyAny>| interval_end(op, name, value);
        Ok(match (with_axes(start)?, with_axes(stop)?) {
            (None, None) => Ends::Numbers(number("start", start)?, number("stop", stop)?),
            (Some(first), Some(last)) => Ends::Arrays(first, last),
            (Some(first), None) => Ends::Arrays(first, exact(number("stop", stop)?)),
            (None, Some(last)) => Ends::Arrays(exact(number("start", start)?), last),
        })
    }

    /// The ends, if both are real numbers.
    pub(super) fn reals(&self) -> Option<(f64, f64)> {
        match self {
            Ends::Numbers(Scalar::Complex(..), _)
            | Ends::Numbers(_, Scalar::Complex(..))
            | Ends::Arrays(..) => None,
            Ends::Numbers(first, last) => Some((first.as_f64(), last.as_f64())),
        }
    }

    pub(super) fn arrays(&self) -> (Array, Array) {
        match self {
            Ends::Numbers(first, last) => (exact(*first), exact(*last)),
            Ends::Arrays(first, last) => (first.clone(), last.clone()),
        }
    }
}

/// A number as a 64-bit (for complex numbers 128-bit) array, which holds it exactly.
pub(super) fn exact(value: Scalar) -> Array {
    let dtype = match value {
        Scalar::Bool(_) | Scalar::Int(_) => DType::Int64,
        Scalar::UInt(value) if i64::try_from(value).is_ok() => DType::Int64,
        Scalar::UInt(_) => DType::UInt64,
        Scalar::Float(_) => DType::Float64,
        Scalar::Complex(..) => DType::Complex128,
    };
    Array::scalar(value, dtype)
}

/// The argument as an array if it has axes or is traced, otherwise `None`. Lists of floats are read as float64.
pub(super) fn with_axes(value: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(array) = value.cast::<PyArray>() {
        let array = array.get().get();
        return Ok((array.is_traced() || array.ndim() > 0).then_some(array));
    }
    let Ok(Operand::Array(array)) = value.extract::<Operand>() else { return Ok(None) };
    if array.ndim() == 0 {
        return Ok(None);
    }
    if array.dtype().is_integer() {
        return Ok(Some(array));
    }
    let dtype = if array.dtype().is_complex() { DType::Complex128 } else { DType::Float64 };
    from_object(value, Some(dtype))
}

/// The exact value of an integer.
fn integer_value(value: Scalar) -> Option<i128> {
    match value {
        Scalar::Bool(value) => Some(value.into()),
        Scalar::Int(value) => Some(value.into()),
        Scalar::UInt(value) => Some(value.into()),
        Scalar::Float(_) | Scalar::Complex(..) => None,
    }
}

/// Create evenly spaced values in a half-open interval, with a given step.
///
/// Parameters
/// ----------
/// start : int or float, optional
///     First value. Default: 0. A single positional argument is `stop`.
/// stop : int or float
///     End of the interval, which is not part of the result.
/// step : int or float, optional
///     Distance of neighbouring values; may be negative. Default: 1.
/// dtype : dtype, optional
///     Dtype of the result. Default: int32 if all numbers are integers (int64 if necessary), otherwise float32.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The values ``start + i * step`` before `stop`, ``ceil((stop - start) / step)`` elements along one axis. An infinite
///     step towards `stop` yields `start` alone.
///
/// Raises
/// ------
/// ValueError
///     If the step is zero or NaN, an end is infinite or NaN, or the device is not available.
/// TypeError
///     If `stop` is missing, an argument is no real number, or the dtype is bool.
///
/// See Also
/// --------
/// linspace, logspace, geomspace
///
/// Notes
/// -----
/// The numbers may be arrays of one element; they are evaluated.
///
/// Examples
/// --------
/// >>> mx.arange(3)
/// array([0, 1, 2], dtype=int32)
/// >>> mx.arange(1, 2, 0.25)
/// array([1, 1.25, 1.5, 1.75], dtype=float32)
/// >>> mx.arange(5, 0, -2)
/// array([5, 3, 1], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (*args, dtype = None, device = None, stream = None, **kwargs),
    text_signature = "(start=None, stop=None, step=None, dtype=None, *, device=None, stream=None)"
)]
fn arange<'py>(
    args: &Bound<'py, PyTuple>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<NewArray> {
    let stream = resolve_stream("arange", stream, device)?;
    let [start, stop, step, fourth] = named("arange", ["start", "stop", "step", "dtype"], 0, args, kwargs)?;
    let not_none = |value: Option<Bound<'py, PyAny>>| value.filter(|value| !value.is_none());
    let (start, stop, step) = (not_none(start), not_none(stop), not_none(step));
    let dtype = match (not_none(fourth), dtype) {
        (Some(_), Some(_)) => return Err(PyTypeError::new_err("[arange] dtype is given twice")),
        (Some(fourth), None) => Some(fourth.extract()?),
        (None, dtype) => dtype,
    };
    // A single number is `stop` only if it is positional.
    if args.is_empty() && start.is_some() && stop.is_none() {
        return Err(PyTypeError::new_err("[arange] missing stop: call arange(stop) or arange(start, stop)"));
    }
    let (first, last) = match (&start, &stop) {
        (Some(start), Some(stop)) => (bound("arange", "start", start)?, bound("arange", "stop", stop)?),
        (None, Some(stop)) | (Some(stop), None) => (Scalar::Int(0), bound("arange", "stop", stop)?),
        (None, None) => {
            return Err(PyTypeError::new_err(
                "[arange] missing stop: call arange(stop) or arange(start, stop)",
            ));
        }
    };
    let step = step.map_or(Ok(Scalar::Int(1)), |step| bound("arange", "step", &step))?;
    let dtypes = [first, last, step].map(Scalar::default_dtype);
    let promoted = dtypes.into_iter().fold(DType::Int32, umber_core::types::promote);
    let dtype = match dtype {
        // Integers beyond int32 keep their width.
        Some(DtypeArg::Number(NumberType::Int)) if promoted.is_integer() => promoted,
        dtype => or(dtype, promoted),
    };
    if let (true, [Some(first), Some(last), Some(step)]) =
        (dtype.is_integer(), [first, last, step].map(integer_value))
    {
        return record_on(stream, || ops::arange_whole(first, last, step, dtype)).map(NewArray::from);
    }
    record_on(stream, || ops::arange(first.as_f64(), last.as_f64(), step.as_f64(), dtype)).map(NewArray::from)
}

/// Create a given number of evenly spaced values between two ends.
///
/// Parameters
/// ----------
/// start, stop : array_like
///     Ends of the interval, real or complex. Arrays broadcast.
/// num : int, optional
///     Number of values. Default: 50.
/// endpoint : bool, optional
///     Whether the last value is `stop`. If False, `stop` would be the next value. Default: True.
/// dtype : dtype, optional
///     Dtype of the result. Default: float32, for complex ends complex64.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
/// retstep : bool, optional
///     Whether to return the distance of neighbouring values, too. Default: False.
/// axis : int, optional
///     Axis of the result along which the values lie, for arrays as ends. Default: 0.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
///
/// Returns
/// -------
/// array
///     The values ``start + i * (stop - start) / (num - endpoint)``. If `dtype` is an integer type, they are truncated
///     towards zero.
/// step : array
///     Only with `retstep`: the distance of neighbouring values, NaN if there are none.
///
/// Raises
/// ------
/// ValueError
///     If `num` is negative, or the ends do not broadcast.
/// IndexError
///     If `axis` is out of bounds.
/// TypeError
///     If an end is complex and `dtype` is not.
///
/// See Also
/// --------
/// arange, logspace, geomspace
///
/// Notes
/// -----
/// If the ends are arrays, the values are differentiable with respect to them.
///
/// Examples
/// --------
/// >>> mx.linspace(0, 1, 5)
/// array([0, 0.25, 0.5, 0.75, 1], dtype=float32)
/// >>> mx.linspace(mx.array([0, 1]), 2, 3, axis=-1)
/// array([[0, 1, 2],
///        [1, 1.5, 2]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (
        start, stop, num = 50, endpoint = true, dtype = None, stream = None, *, retstep = false, axis = 0, device = None
    )
)]
#[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
fn linspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: i64,
    endpoint: bool,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
    retstep: bool,
    axis: i64,
    device: Option<DeviceArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let stream = resolve_stream("linspace", stream, device)?;
    let ends = Ends::new("linspace", start, stop)?;
    let (first, last) = ends.arrays();
    let values = record_on(stream, || match ends {
        Ends::Numbers(first, last) => {
            normalize_axis("linspace", axis, 1)?;
            linspace_of_numbers(first, last, num, endpoint, dtype)
        }
        Ends::Arrays(..) => {
            let dtype = spaced_dtype(dtype, &[&first, &last]);
            ops::linspace_between(&first, &last, num, endpoint, axis, dtype)
        }
    })?;
    if !retstep {
        return Ok(NewArray::from(values).object(py)?.into_any());
    }
    let step = record_on(stream, || ops::linspace_step(&first, &last, num, endpoint, values.dtype()))?;
    Ok((NewArray::from(values), NewArray::from(step)).into_pyobject(py)?.into_any())
}

fn linspace_of_numbers(
    first: Scalar,
    last: Scalar,
    num: i64,
    endpoint: bool,
    dtype: Option<DtypeArg>,
) -> umber_core::Result<Array> {
    let is_complex = [first, last].iter().any(|end| matches!(end, Scalar::Complex(..)));
    if is_complex || dtype.is_some_and(|dtype| dtype.default_dtype().is_complex()) {
        let (first, last, dtype) = (first.as_complex(), last.as_complex(), or(dtype, DType::Complex64));
        return ops::linspace_complex(first, last, num, endpoint, dtype);
    }
    let is_wide = |end: Scalar| end.as_f64().abs() > f64::from(i32::MAX);
    let dtype = match dtype {
        Some(DtypeArg::Number(NumberType::Int)) if is_wide(first) || is_wide(last) => DType::Int64,
        dtype => or(dtype, DType::Float32),
    };
    if dtype.is_integer() && integer_value(first).is_some() && integer_value(last).is_some() {
        return ops::linspace_between(&exact(first), &exact(last), num, endpoint, 0, dtype);
    }
    ops::linspace(first.as_f64(), last.as_f64(), num, endpoint, dtype)
}

/// The requested dtype, or the default dtype of values between these ends.
pub(super) fn spaced_dtype(dtype: Option<DtypeArg>, ends: &[&Array]) -> DType {
    let is_complex = ends.iter().any(|end| end.dtype().is_complex());
    let default = if is_complex { DType::Complex64 } else { DType::Float32 };
    dtype.map_or(default, |dtype| {
        let promoted = ends.iter().map(|end| end.dtype()).reduce(umber_core::types::promote);
        promoted.map_or(dtype.default_dtype(), |promoted| dtype.dtype_for(promoted))
    })
}

/// A number that is an end of the interval.
pub(super) fn interval_end(op: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    match value.cast::<PyComplex>() {
        Ok(_) => Ok(number(value)?.unwrap_or(Scalar::Int(0))),
        Err(_) => {
            bound(op, name, value).or_else(|error| crate::convert::number_by_methods(value).ok_or(error))
        }
    }
}

/// Create a matrix with ones on a diagonal and zeros elsewhere.
///
/// Parameters
/// ----------
/// n : int
///     Number of rows.
/// m : int, optional
///     Number of columns. Default: `n`.
/// k : int, optional
///     Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// dtype : dtype, optional
///     Dtype of the matrix. Default: float32.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Matrix of shape ``(n, m)``.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative, or the device is not available.
///
/// See Also
/// --------
/// identity, diag, tri
///
/// Examples
/// --------
/// >>> mx.eye(2, 3, k=1)
/// array([[0, 1, 0],
///        [0, 0, 1]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (n, m = None, k = Diagonal(0), dtype = None, *, device = None, stream = None),
    text_signature = "(n, m=None, k=0, dtype=None, *, device=None, stream=None)"
)]
fn eye(
    n: i64,
    m: Option<i64>,
    k: Diagonal,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let stream = resolve_stream("eye", stream, device)?;
    record_on(stream, || ops::eye(n, m.unwrap_or(n), k.0, or(dtype, DType::Float32))).map(NewArray::from)
}

/// Create a square identity matrix.
///
/// Parameters
/// ----------
/// n : int
///     Number of rows and columns.
/// dtype : dtype, optional
///     Dtype of the matrix. Default: float32.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Identity matrix of shape ``(n, n)``.
///
/// Raises
/// ------
/// ValueError
///     If `n` is negative.
///
/// See Also
/// --------
/// eye
///
/// Examples
/// --------
/// >>> mx.identity(2)
/// array([[1, 0],
///        [0, 1]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (n, dtype = None, *, stream = None))]
fn identity(n: i64, dtype: Option<DtypeArg>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::eye(n, n, 0, or(dtype, DType::Float32))).map(NewArray::from)
}

/// Create a matrix with ones on and below a diagonal and zeros elsewhere.
///
/// Parameters
/// ----------
/// n : int
///     Number of rows.
/// m : int, optional
///     Number of columns. Default: `n`.
/// k : int, optional
///     Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// dtype : dtype, optional
///     Dtype of the matrix. Default: float32.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Matrix of shape ``(n, m)``.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative.
///
/// See Also
/// --------
/// tril, triu, eye
///
/// Examples
/// --------
/// >>> mx.tri(2, 3)
/// array([[1, 0, 0],
///        [1, 1, 0]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (n, m = None, k = Diagonal(0), dtype = None, *, stream = None),
    text_signature = "(n, m=None, k=0, dtype=None, *, stream=None)"
)]
fn tri(
    n: i64,
    m: Option<i64>,
    k: Diagonal,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    record_on(stream, || ops::tri(n, m.unwrap_or(n), k.0, or(dtype, DType::Float32))).map(NewArray::from)
}

/// Return the lower triangle of each matrix, with zeros above a diagonal.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of at least two axes, a matrix or a batch of matrices.
/// k : int, optional
///     Last diagonal to keep: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the shape and dtype of `x`.
///
/// Raises
/// ------
/// ValueError
///     If `x` has fewer than two axes.
///
/// See Also
/// --------
/// triu, tri, tril_indices
///
/// Examples
/// --------
/// >>> mx.tril(mx.array([[1, 2], [3, 4]]))
/// array([[1, 0],
///        [3, 4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, k = Diagonal(0), *, stream = None), text_signature = "(x, k=0, *, stream=None)")]
fn tril(x: Operand, k: Diagonal, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let x = x.into_array();
    record_on(stream, || ops::tril(&x, k.0)).map(NewArray::from)
}

/// Return the upper triangle of each matrix, with zeros below a diagonal.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of at least two axes, a matrix or a batch of matrices.
/// k : int, optional
///     First diagonal to keep: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the shape and dtype of `x`.
///
/// Raises
/// ------
/// ValueError
///     If `x` has fewer than two axes.
///
/// See Also
/// --------
/// tril, tri, triu_indices
///
/// Examples
/// --------
/// >>> mx.triu(mx.array([[1, 2], [3, 4]]), k=1)
/// array([[0, 2],
///        [0, 0]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, k = Diagonal(0), *, stream = None), text_signature = "(x, k=0, *, stream=None)")]
fn triu(x: Operand, k: Diagonal, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let x = x.into_array();
    record_on(stream, || ops::triu(&x, k.0)).map(NewArray::from)
}

/// Extract a diagonal of a matrix, or build a matrix with a vector on a diagonal.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrix or vector.
/// k : int, optional
///     Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     For a matrix its diagonal, a vector; for a vector a square matrix with ``a.size + abs(k)`` rows, zero off the
///     diagonal.
///
/// Raises
/// ------
/// ValueError
///     If `a` has other than one or two axes.
///
/// See Also
/// --------
/// diagonal, diagflat, eye
///
/// Examples
/// --------
/// >>> mx.diag(mx.array([[1, 2], [3, 4]]))
/// array([1, 4], dtype=int32)
/// >>> mx.diag(mx.array([1, 2]))
/// array([[1, 0],
///        [0, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, k = 0, *, stream = None))]
fn diag(a: Operand, k: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::diag(&a, k)).map(NewArray::from)
}

/// Create coordinate arrays of a grid from the coordinates along its axes.
///
/// Parameters
/// ----------
/// *arrays : array_like
///     Coordinates along each axis of the grid. Arrays of several axes are flattened.
/// sparse : bool, optional
///     Whether each result has length one along the axes of the other arrays, and broadcasts to the grid. Default: False.
/// indexing : {"xy", "ij"}, optional
///     ``"xy"``, Cartesian: the first array varies along axis 1, the second along axis 0. ``"ij"``, matrix: array ``i``
///     varies along axis ``i``. Default: ``"xy"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     One array for each input, in the dtype of the input.
///
/// Raises
/// ------
/// ValueError
///     If `indexing` is neither ``"xy"`` nor ``"ij"``.
///
/// See Also
/// --------
/// indices, ix_
///
/// Examples
/// --------
/// >>> x, y = mx.meshgrid(mx.array([1, 2, 3]), mx.array([10, 20]))
/// >>> x
/// array([[1, 2, 3],
///        [1, 2, 3]], dtype=int32)
/// >>> y
/// array([[10, 10, 10],
///        [20, 20, 20]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (*arrays, sparse = false, indexing = "xy", stream = None))]
fn meshgrid(
    py: Python<'_>,
    arrays: Vec<Operand>,
    sparse: bool,
    indexing: &str,
    stream: Option<StreamArg>,
) -> PyResult<Py<PyTuple>> {
    let indexing = match indexing {
        "xy" => ops::MeshIndexing::Xy,
        "ij" => ops::MeshIndexing::Ij,
        other => {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "[meshgrid] got indexing '{other}', expected 'xy' or 'ij'"
            )));
        }
    };
    let kind = if sparse { ops::MeshKind::Sparse } else { ops::MeshKind::Full };
    let arrays: Vec<Array> = arrays.into_iter().map(Operand::into_array).collect();
    let arrays: Vec<&Array> = arrays.iter().collect();
    let grids = record_on(stream, || ops::meshgrid(&arrays, kind, indexing))?;
    Ok(PyTuple::new(py, grids.into_iter().map(NewArray::from))?.unbind())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_like(module)?;
    for function in [
        wrap_pyfunction!(zeros, module)?,
        wrap_pyfunction!(ones, module)?,
        wrap_pyfunction!(empty, module)?,
        wrap_pyfunction!(full, module)?,
        wrap_pyfunction!(full_like, module)?,
        wrap_pyfunction!(arange, module)?,
        wrap_pyfunction!(linspace, module)?,
        wrap_pyfunction!(eye, module)?,
        wrap_pyfunction!(identity, module)?,
        wrap_pyfunction!(tri, module)?,
        wrap_pyfunction!(tril, module)?,
        wrap_pyfunction!(triu, module)?,
        wrap_pyfunction!(diag, module)?,
        wrap_pyfunction!(meshgrid, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
