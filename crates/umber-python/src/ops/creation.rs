//! Arrays from parameters.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyTuple};
use umber_core::graph::ArrayInternals;
use umber_core::types::shape::normalize_axis;
use umber_core::{Array, DType, Scalar, Shape, ops};

use crate::args::{
    DeviceArg, Diagonal, Ints, Operand, StreamArg, check_fits, named, number, placed, record_on,
};
use crate::array::PyArray;
use crate::convert::from_object;
use crate::dtype::{DtypeArg, NumberType, beside, or};
use crate::enter::{OrRaise, enter, warn_if_traced};
use crate::new_array::NewArray;

fn shape_of(op: &str, shape: &Ints) -> PyResult<Shape> {
    Shape::checked(op, shape.as_slice()).or_raise()
}

/// An array full of zeros.
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, device = None, stream = None))]
fn zeros(
    shape: Ints,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("zeros", &shape)?, placed("zeros", stream, device)?);
    record_on(stream, || Ok(ops::zeros(&shape, or(dtype, DType::Float32)))).map(NewArray::from)
}

/// An array full of ones.
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, device = None, stream = None))]
fn ones(
    shape: Ints,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("ones", &shape)?, placed("ones", stream, device)?);
    record_on(stream, || Ok(ops::ones(&shape, or(dtype, DType::Float32)))).map(NewArray::from)
}

/// An array whose elements are not promised to be anything; they are zeros.
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, device = None, stream = None))]
fn empty(
    shape: Ints,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (shape, stream) = (shape_of("empty", &shape)?, placed("empty", stream, device)?);
    record_on(stream, || Ok(ops::zeros(&shape, or(dtype, DType::Float32)))).map(NewArray::from)
}

/// `value` in the shape given, or in that of an array.
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

/// Arrays with the shape and dtype of another.
macro_rules! like {
    ($($name:ident $value:literal $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, dtype = None, *, shape = None, device = None, stream = None))]
            fn $name(
                a: Operand,
                dtype: Option<DtypeArg>,
                shape: Option<Ints>,
                device: Option<DeviceArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, stream) = (a.alone(), placed(stringify!($name), stream, device)?);
                let dtype = beside(dtype, a.dtype()).unwrap_or(a.dtype());
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
    zeros_like 0 "Zeros with the shape and dtype of `a`, unless others are given.",
    ones_like 1 "Ones with the shape and dtype of `a`, unless others are given.",
    empty_like 0 "An array with the shape and dtype of `a`, unless others are given, whose elements are not promised to be anything.",
}

/// What fills an array of `dtype`: a number goes to an inexact dtype directly, without rounding in between.
fn filling(vals: Operand, dtype: Option<DType>) -> PyResult<Array> {
    match (vals, dtype) {
        (Operand::Number(value), Some(dtype)) if dtype.is_inexact() => Ok(Array::scalar(value, dtype)),
        (Operand::Number(value), Some(dtype)) => {
            check_fits(value, dtype)?;
            Ok(Operand::Number(value).alone())
        }
        (vals, _) => Ok(vals.alone()),
    }
}

/// The dtype of an array that is filled with `vals`: a number type takes its width from an array, and from an integer that
/// int32 does not hold.
fn dtype_of_filling(vals: &Operand, dtype: DtypeArg) -> DType {
    match vals {
        Operand::Array(array) => dtype.beside(array.dtype()),
        Operand::Number(value @ (Scalar::Int(_) | Scalar::UInt(_))) => match dtype {
            DtypeArg::Number(NumberType::Int) => value.default_dtype(),
            DtypeArg::Exact(_) | DtypeArg::Number(_) => dtype.alone(),
        },
        Operand::Number(_) => dtype.alone(),
    }
}

/// What an array is filled with: `vals`, or `fill_value` as the array API calls it.
fn one_filling(op: &str, vals: Option<Operand>, fill_value: Option<Operand>) -> PyResult<Operand> {
    match (vals, fill_value) {
        (Some(value), None) | (None, Some(value)) => Ok(value),
        (None, None) => Err(PyTypeError::new_err(format!("[{op}] missing value: pass vals or fill_value"))),
        (Some(_), Some(_)) => Err(PyTypeError::new_err(format!(
            "[{op}] vals and fill_value are the same argument; pass only one"
        ))),
    }
}

/// `vals` broadcast to `shape`, in its own dtype unless one is given. `fill_value` is the array API standard's name for
/// `vals`.
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
    let (shape, stream) = (shape_of("full", &shape)?, placed("full", stream, device)?);
    let vals = one_filling("full", vals, fill_value)?;
    let dtype = dtype.map(|dtype| dtype_of_filling(&vals, dtype));
    let vals = filling(vals, dtype)?;
    record_on(stream, || ops::full(&shape, &vals, dtype)).map(NewArray::from)
}

/// `vals` broadcast to the shape of `a`, in the dtype of `a`, unless others are given. `fill_value` is the array API
/// standard's name for `vals`.
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
    let (a, stream) = (a.alone(), placed("full_like", stream, device)?);
    let dtype = beside(dtype, a.dtype()).unwrap_or(a.dtype());
    let vals = filling(one_filling("full_like", vals, fill_value)?, Some(dtype))?;
    filled_like("full_like", &a, &vals, shape, dtype, stream)
}

/// A number that a range is made from.
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

/// What a line goes between.
pub(super) enum Ends {
    Numbers(Scalar, Scalar),
    /// Of which one has axes, or a transformation follows it: it goes on through what lies between.
    Arrays(Array, Array),
}

impl Ends {
    pub(super) fn new(op: &str, start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>) -> PyResult<Ends> {
        let number = |name: &str, value: &Bound<'_, PyAny>| end_of_line(op, name, value);
        Ok(match (with_axes(start)?, with_axes(stop)?) {
            (None, None) => Ends::Numbers(number("start", start)?, number("stop", stop)?),
            (Some(first), Some(last)) => Ends::Arrays(first, last),
            (Some(first), None) => Ends::Arrays(first, exact(number("stop", stop)?)),
            (None, Some(last)) => Ends::Arrays(exact(number("start", start)?), last),
        })
    }

    /// Real numbers, if that is what it goes between.
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

/// A number as an array of 64 bits a part, which holds it exactly.
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

/// The array that has axes, or that a transformation follows; numbers in lists are read in double precision.
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
    let wide = if array.dtype().is_complex() { DType::Complex128 } else { DType::Float64 };
    from_object(value, Some(wide))
}

/// The value of a whole number, exactly.
fn whole(value: Scalar) -> Option<i128> {
    match value {
        Scalar::Bool(value) => Some(value.into()),
        Scalar::Int(value) => Some(value.into()),
        Scalar::UInt(value) => Some(value.into()),
        Scalar::Float(_) | Scalar::Complex(..) => None,
    }
}

/// `start, start + step, …` up to but not including `stop`; `arange(stop)` and `arange(stop=stop)` start at zero.
///
/// The dtype is int32 (int64 where the values need it) if all numbers are integers, else float32, unless given. An infinite
/// step reaches no second element.
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
    let stream = placed("arange", stream, device)?;
    let [start, stop, step, fourth] = named("arange", ["start", "stop", "step", "dtype"], 0, args, kwargs)?;
    let given = |value: Option<Bound<'py, PyAny>>| value.filter(|value| !value.is_none());
    let (start, stop, step) = (given(start), given(stop), given(step));
    let dtype = match (given(fourth), dtype) {
        (Some(_), Some(_)) => return Err(PyTypeError::new_err("[arange] dtype is given twice")),
        (Some(fourth), None) => Some(fourth.extract()?),
        (None, dtype) => dtype,
    };
    // Only by its place is a lone number the end.
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
    let given = [first, last, step].map(Scalar::default_dtype);
    let found = given.into_iter().fold(DType::Int32, umber_core::types::promote);
    let dtype = match dtype {
        // Integers that int32 does not hold keep their width.
        Some(DtypeArg::Number(NumberType::Int)) if found.is_integer() => found,
        dtype => or(dtype, found),
    };
    if let (true, [Some(first), Some(last), Some(step)]) =
        (dtype.is_integer(), [first, last, step].map(whole))
    {
        return record_on(stream, || ops::arange_whole(first, last, step, dtype)).map(NewArray::from);
    }
    record_on(stream, || ops::arange(first.as_f64(), last.as_f64(), step.as_f64(), dtype)).map(NewArray::from)
}

/// `num` values from `start` to `stop`, evenly spaced; with `endpoint` the last one is `stop`. Complex numbers answer
/// complex64 unless a dtype is given.
///
/// Arrays broadcast, and the values lie along `axis`. With `retstep` the distance of neighbours comes with them, NaN
/// where there are none.
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
    let stream = placed("linspace", stream, device)?;
    let ends = Ends::new("linspace", start, stop)?;
    let (first, last) = ends.arrays();
    let line = record_on(stream, || match ends {
        Ends::Numbers(first, last) => {
            normalize_axis("linspace", axis, 1)?;
            line_of_numbers(first, last, num, endpoint, dtype)
        }
        Ends::Arrays(..) => {
            let dtype = spaced_dtype(dtype, &[&first, &last]);
            ops::linspace_between(&first, &last, num, endpoint, axis, dtype)
        }
    })?;
    if !retstep {
        return Ok(NewArray::from(line).object(py)?.into_any());
    }
    let step = record_on(stream, || ops::linspace_step(&first, &last, num, endpoint, line.dtype()))?;
    Ok((NewArray::from(line), NewArray::from(step)).into_pyobject(py)?.into_any())
}

fn line_of_numbers(
    first: Scalar,
    last: Scalar,
    num: i64,
    endpoint: bool,
    dtype: Option<DtypeArg>,
) -> umber_core::Result<Array> {
    let is_complex = [first, last].iter().any(|end| matches!(end, Scalar::Complex(..)));
    if is_complex || dtype.is_some_and(|dtype| dtype.alone().is_complex()) {
        let (first, last, dtype) = (first.as_complex(), last.as_complex(), or(dtype, DType::Complex64));
        return ops::linspace_complex(first, last, num, endpoint, dtype);
    }
    let is_wide = |end: Scalar| end.as_f64().abs() > f64::from(i32::MAX);
    let dtype = match dtype {
        Some(DtypeArg::Number(NumberType::Int)) if is_wide(first) || is_wide(last) => DType::Int64,
        dtype => or(dtype, DType::Float32),
    };
    if dtype.is_integer() && whole(first).is_some() && whole(last).is_some() {
        return ops::linspace_between(&exact(first), &exact(last), num, endpoint, 0, dtype);
    }
    ops::linspace(first.as_f64(), last.as_f64(), num, endpoint, dtype)
}

/// The dtype asked for, or the default one for values between such ends.
pub(super) fn spaced_dtype(dtype: Option<DtypeArg>, ends: &[&Array]) -> DType {
    let is_complex = ends.iter().any(|end| end.dtype().is_complex());
    let default = if is_complex { DType::Complex64 } else { DType::Float32 };
    dtype.map_or(default, |dtype| {
        let given = ends.iter().map(|end| end.dtype()).reduce(umber_core::types::promote);
        given.map_or(dtype.alone(), |given| dtype.beside(given))
    })
}

/// A number that a line begins or ends with.
pub(super) fn end_of_line(op: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    match value.cast::<PyComplex>() {
        Ok(_) => Ok(number(value)?.unwrap_or(Scalar::Int(0))),
        Err(_) => {
            bound(op, name, value).or_else(|error| crate::convert::number_by_methods(value).ok_or(error))
        }
    }
}

/// A matrix of `n` rows and `m` (by default `n`) columns with ones on diagonal `k`.
#[pyfunction]
#[pyo3(signature = (n, m = None, k = Diagonal(0), dtype = None, *, device = None, stream = None), text_signature = "(n, m=None, k=0, dtype=None, *, device=None, stream=None)")]
fn eye(
    n: i64,
    m: Option<i64>,
    k: Diagonal,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let stream = placed("eye", stream, device)?;
    record_on(stream, || ops::eye(n, m.unwrap_or(n), k.0, or(dtype, DType::Float32))).map(NewArray::from)
}

/// The identity matrix of order `n`.
#[pyfunction]
#[pyo3(signature = (n, dtype = None, *, stream = None))]
fn identity(n: i64, dtype: Option<DtypeArg>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::eye(n, n, 0, or(dtype, DType::Float32))).map(NewArray::from)
}

/// A matrix of `n` rows and `m` (by default `n`) columns with ones on and below diagonal `k`.
#[pyfunction]
#[pyo3(signature = (n, m = None, k = Diagonal(0), dtype = None, *, stream = None), text_signature = "(n, m=None, k=0, dtype=None, *, stream=None)")]
fn tri(
    n: i64,
    m: Option<i64>,
    k: Diagonal,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    record_on(stream, || ops::tri(n, m.unwrap_or(n), k.0, or(dtype, DType::Float32))).map(NewArray::from)
}

/// `x` with zeros above diagonal `k` of the last two axes.
#[pyfunction]
#[pyo3(signature = (x, k = Diagonal(0), *, stream = None), text_signature = "(x, k=0, *, stream=None)")]
fn tril(x: Operand, k: Diagonal, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let x = x.alone();
    record_on(stream, || ops::tril(&x, k.0)).map(NewArray::from)
}

/// `x` with zeros below diagonal `k` of the last two axes.
#[pyfunction]
#[pyo3(signature = (x, k = Diagonal(0), *, stream = None), text_signature = "(x, k=0, *, stream=None)")]
fn triu(x: Operand, k: Diagonal, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let x = x.alone();
    record_on(stream, || ops::triu(&x, k.0)).map(NewArray::from)
}

/// A matrix with `a` on diagonal `k`, or diagonal `k` of a matrix.
#[pyfunction]
#[pyo3(signature = (a, /, k = 0, *, stream = None))]
fn diag(a: Operand, k: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::diag(&a, k)).map(NewArray::from)
}

/// Coordinates of a grid from the coordinates along each of its axes, with `indexing` "xy" or "ij".
///
/// Of arrays with several axes the elements are taken in row-major order.
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
    let arrays: Vec<Array> = arrays.into_iter().map(Operand::alone).collect();
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
