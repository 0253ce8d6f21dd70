//! Conversion of Python arguments: arrays or numbers, axes, shapes, streams.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple,
};
use smallvec::SmallVec;
use umber_core::types::promote;
use umber_core::{Array, DType, KeepAxes, Scalar, Stream, device, ops};

use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::error_text::shortened;
use crate::streams::{PyDevice, PyDeviceType, PyStream, PyThreadLocalStream};

/// An array, or a Python number whose dtype depends on the other operand (a weakly typed scalar).
#[derive(Clone)]
pub(crate) enum Operand {
    /// An array.
    Array(Array),
    /// A number without a dtype of its own.
    Number(Scalar),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Operand {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray>() {
            return Ok(Operand::Array(array.get().get_cloned(array.py())));
        }
        if let Some(number) = weak_number(&object)? {
            return Ok(Operand::Number(number));
        }
        // Functions return several results in a tuple; stacking those arrays would hide a mistake.
        if object.is_instance_of::<PyTuple>() && crate::convert::is_of_arrays(&object) {
            return Err(PyTypeError::new_err(format!(
                "got a {} of arrays, expected an array, a number or a list of arrays of one shape",
                object.get_type().name()?
            )));
        }
        if let Some(array) = crate::convert::from_object(&object, None)? {
            return Ok(Operand::Array(array));
        }
        match crate::convert::number_by_methods(&object) {
            Some(number) => Ok(Operand::Number(number)),
            None => Err(PyTypeError::new_err(format!(
                "got {}, expected an array or a number",
                object.get_type().name()?
            ))),
        }
    }
}

/// The value of a Python number, or of a NumPy scalar that counts as one; `None` for anything else.
#[inline]
pub(crate) fn weak_number(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    match number(object)? {
        None => crate::interop::numpy_scalar(object),
        number => Ok(number),
    }
}

/// The value of a float or a 64-bit integer, excluding subclasses; `None` for anything else.
#[inline]
pub(crate) fn plain_number(object: &Bound<'_, PyAny>) -> Option<Scalar> {
    if object.is_exact_instance_of::<PyFloat>() {
        return Some(Scalar::Float(object.extract().ok()?));
    }
    if object.is_exact_instance_of::<PyInt>() {
        return Some(Scalar::Int(object.extract().ok()?));
    }
    None
}

/// The value of a Python number; `None` for anything else.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.extract()?)));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Some(Scalar::Bool(object.extract()?)));
    }
    if object.is_instance_of::<PyInt>() {
        return integer(object).map(Some);
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return Ok(Some(Scalar::Complex(value.real(), value.imag())));
    }
    Ok(None)
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Scalar::Int(value));
    }
    object.extract::<u64>().map(Scalar::UInt).map_err(|_| {
        PyOverflowError::new_err(format!("{} does not fit any dtype (-2**63..2**64 - 1)", shortened(object)))
    })
}

impl Operand {
    /// Convert to an array; a number takes its default dtype.
    pub(crate) fn into_array(self) -> Array {
        match self {
            Operand::Array(array) => array,
            Operand::Number(value) => Array::scalar(value, value.default_dtype()),
        }
    }

    /// Convert to an array for an operation with `like`: a number takes the dtype of `like`, if that is of its own or a higher
    /// kind.
    pub(crate) fn promote_with(self, like: &Array) -> PyResult<Array> {
        match self {
            Operand::Array(array) => Ok(array),
            Operand::Number(value) => {
                check_fits(value, value.weak_dtype(like.dtype()))?;
                Ok(ops::weak(value, like))
            }
        }
    }

    /// Convert to an array for an operation with `like` that does not compute in the dtype of `like`: a number outside the
    /// range of an integer dtype takes its default dtype.
    pub(crate) fn widen_with(self, like: &Array) -> PyResult<Array> {
        match self {
            Operand::Number(value) if value.check_fits(value.weak_dtype(like.dtype())).is_err() => {
                Ok(self.into_array())
            }
            operand => operand.promote_with(like),
        }
    }

    /// Convert both operands of a function that computes in double precision: numbers are not rounded to a narrower dtype.
    #[expect(clippy::unnecessary_wraps, reason = "as the other conversions of two operands")]
    pub(crate) fn in_double(a: Operand, b: Operand) -> PyResult<(Array, Array)> {
        let convert = |operand| match operand {
            Operand::Array(array) => array,
            Operand::Number(value) => Array::scalar(value, promote(value.default_dtype(), DType::Float64)),
        };
        Ok((convert(a), convert(b)))
    }

    /// Convert both operands of a comparison or a logical function: a number outside the range of the other operand's integer
    /// dtype takes its default dtype.
    pub(crate) fn compared(a: Operand, b: Operand) -> PyResult<(Array, Array)> {
        match (a, b) {
            (Operand::Array(a), b) => {
                let b = b.widen_with(&a)?;
                Ok((a, b))
            }
            (a, Operand::Array(b)) => {
                let a = a.widen_with(&b)?;
                Ok((a, b))
            }
            (a, b) => Ok((a.into_array(), b.into_array())),
        }
    }

    /// Convert both operands to arrays, promoting a number with the other operand.
    pub(crate) fn pair(a: Operand, b: Operand) -> PyResult<(Array, Array)> {
        match (a, b) {
            (Operand::Array(a), b) => {
                let b = b.promote_with(&a)?;
                Ok((a, b))
            }
            (a, Operand::Array(b)) => {
                let a = a.promote_with(&b)?;
                Ok((a, b))
            }
            (a, b) => Ok((a.into_array(), b.into_array())),
        }
    }

    /// Convert three operands to arrays, promoting numbers with the arrays among them.
    pub(crate) fn three(a: Operand, b: Operand, c: Operand) -> PyResult<[Array; 3]> {
        let operands = [a, b, c];
        let dtypes = operands.iter().filter_map(|operand| match operand {
            Operand::Array(array) => Some(array.dtype()),
            Operand::Number(_) => None,
        });
        let Some(dtype) = dtypes.reduce(promote) else { return Ok(operands.map(Operand::into_array)) };
        let (like, [a, b, c]) = (Array::scalar(0.0, dtype), operands);
        Ok([a.promote_with(&like)?, b.promote_with(&like)?, c.promote_with(&like)?])
    }
}

/// Check that an integer fits the integer dtype it is converted to.
pub(crate) fn check_fits(value: Scalar, dtype: DType) -> PyResult<()> {
    value.check_fits(dtype).or_raise()
}

/// The `stream` argument of every function: the stream of the nodes that one call records.
#[derive(Clone, Copy)]
pub(crate) struct StreamArg(pub(crate) Stream);

impl<'a, 'py> FromPyObject<'a, 'py> for StreamArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(stream) = object.cast::<PyStream>() {
            return Ok(StreamArg(stream.get().0));
        }
        if let Ok(stream) = object.cast::<PyThreadLocalStream>() {
            return Ok(StreamArg(stream.get().0.here()));
        }
        let target = if let Ok(device) = object.cast::<PyDevice>() {
            device.get().0
        } else if let Some(kind) = PyDeviceType::find(&object)? {
            umber_core::Device { kind: kind.0, index: 0 }
        } else {
            return Err(PyTypeError::new_err(format!(
                "got {}, expected a Stream, a Device or a DeviceType",
                object.get_type().name()?
            )));
        };
        device::default_stream(target).or_raise().map(StreamArg)
    }
}

/// The `device` argument of the array API standard: the device of the result.
#[derive(Clone, Copy)]
pub(crate) struct DeviceArg(StreamArg);

impl<'a, 'py> FromPyObject<'a, 'py> for DeviceArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyStream>() {
            return Err(PyTypeError::new_err("got Stream, expected a Device"));
        }
        if let Ok(name) = object.cast::<PyString>() {
            let kind = match name.to_str()? {
                "cpu" => umber_core::types::DeviceType::Cpu,
                "gpu" => umber_core::types::DeviceType::Gpu,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "got '{other}', expected 'cpu', 'gpu' or a Device"
                    )));
                }
            };
            return device::default_stream(umber_core::Device { kind, index: 0 })
                .or_raise()
                .map(|s| DeviceArg(StreamArg(s)));
        }
        match object.extract::<StreamArg>() {
            Ok(stream) => Ok(DeviceArg(stream)),
            Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {
                Err(PyTypeError::new_err(format!("got {}, expected a Device", object.get_type().name()?)))
            }
            Err(error) => Err(error),
        }
    }
}

/// The stream of a call: the `stream` argument, else the default stream of the `device` argument.
pub(crate) fn resolve_stream(
    op: &str,
    stream: Option<StreamArg>,
    device: Option<DeviceArg>,
) -> PyResult<Option<StreamArg>> {
    match (stream, device) {
        (Some(StreamArg(stream)), Some(DeviceArg(StreamArg(other)))) if stream.device != other.device => {
            Err(PyValueError::new_err(format!("[{op}] {stream} is not a stream on {}", other.device)))
        }
        (stream, device) => Ok(stream.or(device.map(|device| device.0))),
    }
}

/// Run `body` with the given stream as this thread's default.
#[inline]
pub(crate) fn record_on<T>(
    stream: Option<StreamArg>,
    body: impl FnOnce() -> umber_core::Result<T>,
) -> PyResult<T> {
    let before = stream.map(make_default).transpose()?;
    let result = body();
    before.map(restore_default).transpose()?;
    result.or_raise()
}

/// Make a stream this thread's default and return the previous one.
#[cold]
fn make_default(StreamArg(stream): StreamArg) -> PyResult<Stream> {
    let before = device::current_stream();
    device::set_default_stream(stream).or_raise()?;
    Ok(before)
}

#[cold]
fn restore_default(before: Stream) -> PyResult<()> {
    device::set_default_stream(before).or_raise()
}

/// As [`record_on`], with the GIL released, because `body` may evaluate.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    stream: Option<StreamArg>,
    body: impl Send + FnOnce() -> umber_core::Result<T>,
) -> PyResult<T> {
    py.detach(|| record_on(stream, body))
}

/// The offset of a diagonal of a matrix. An integer beyond 64 bits is clamped, since all diagonals beyond the last are empty.
#[derive(Clone, Copy)]
pub(crate) struct Diagonal(pub(crate) i64);

impl<'a, 'py> FromPyObject<'a, 'py> for Diagonal {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i64>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Ok(Diagonal(if object.gt(0)? { i64::MAX } else { i64::MIN }))
            }
            diagonal => diagonal.map(Diagonal),
        }
    }
}

/// One integer or a sequence of them: axes, shapes, repetitions.
#[derive(Clone, Debug)]
pub(crate) struct Ints(pub(crate) SmallVec<[i64; 4]>);

/// Limit on the number of integers, so that an infinite or very long iterable raises before it is collected.
const MAX_INTS: usize = 1 << 20;

impl<'a, 'py> FromPyObject<'a, 'py> for Ints {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = object.cast::<PyList>() {
            return list.iter().map(|item| index(&item)).collect::<PyResult<_>>().map(Ints);
        }
        // A subclass of tuple may override `__iter__`, as `Lengths` of traced arrays does: only exact tuples are read directly.
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            return tuple.iter().map(|item| index(&item)).collect::<PyResult<_>>().map(Ints);
        }
        let refusal = match index(&object) {
            Ok(one) => return Ok(Ints(smallvec::smallvec![one])),
            // An error other than TypeError was raised by the object's own `__index__`; it is more specific than the error below.
            Err(error) if !error.is_instance_of::<PyTypeError>(object.py()) => return Err(error),
            Err(error) => error,
        };
        // Bytes iterate as integers, but as axes or a shape they are a mistake.
        let is_text = object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>();
        match object.try_iter() {
            Ok(items) if !is_text => {
                let mut ints = Ints(SmallVec::new());
                for item in items {
                    if ints.0.len() == MAX_INTS {
                        return Err(PyValueError::new_err(format!("got more than {MAX_INTS} integers")));
                    }
                    ints.0.push(index(&item?)?);
                }
                Ok(ints)
            }
            Err(_) if object.hasattr("__index__")? => Err(refusal),
            _ => Err(PyTypeError::new_err(format!(
                "got {}, expected an integer or a sequence of integers",
                object.get_type().name()?
            ))),
        }
    }
}

/// Anything with `__index__`, but not a bool.
pub(crate) fn index(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if object.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("got bool, expected an integer"));
    }
    object.extract::<i64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(object.py()) {
            PyOverflowError::new_err("integer does not fit 64 bits")
        } else if object.hasattr("__len__").unwrap_or(false) {
            // NumPy's message describes the arrays it could convert, not the type it got.
            match object.get_type().name() {
                Ok(name) => PyTypeError::new_err(format!("got {name}, expected an integer")),
                Err(error) => error,
            }
        } else {
            error
        }
    })
}

impl Ints {
    /// The integers.
    pub(crate) fn as_slice(&self) -> &[i64] {
        &self.0
    }
}

/// Match the arguments of a call of `op` to the names of its parameters, of which the first `required` must be present.
pub(crate) fn named<'py, const N: usize>(
    op: &str,
    names: [&str; N],
    required: usize,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<[Option<Bound<'py, PyAny>>; N]> {
    let call_error = |fault: String| {
        let parameters = names.join(", ");
        Err(PyTypeError::new_err(format!("[{op}] got {fault}, expected {op}({parameters})")))
    };
    if args.len() > N {
        return call_error(format!("{} positional arguments", args.len()));
    }
    let mut values: [Option<Bound<'py, PyAny>>; N] =
        std::array::from_fn(|i| if i < args.len() { args.get_item(i).ok() } else { None });
    for (name, value) in kwargs.into_iter().flatten() {
        let keyword = name.cast::<PyString>()?.to_str()?;
        match names.iter().position(|&known| known == keyword) {
            Some(i) if values[i].is_none() => values[i] = Some(value),
            Some(_) => return call_error(format!("the argument {keyword} twice")),
            None => return call_error(format!("an argument {keyword}")),
        }
    }
    match values[..required].iter().position(Option::is_none) {
        Some(missing) => call_error(format!("no argument {}", names[missing])),
        None => Ok(values),
    }
}

/// The axes of an optional argument: `None` means all.
pub(crate) fn axes(axis: Option<&Ints>) -> Option<&[i64]> {
    axis.map(Ints::as_slice)
}

/// `keepdims`.
pub(crate) fn keep(keepdims: bool) -> KeepAxes {
    if keepdims { KeepAxes::Yes } else { KeepAxes::No }
}

/// `axis`, `reverse` and `inclusive` of a scan.
pub(crate) fn scan_order(axis: Option<i64>, reverse: bool, inclusive: bool) -> ops::ScanOrder {
    use umber_core::types::{ScanDirection, ScanExtent};
    let direction = if reverse { ScanDirection::Reverse } else { ScanDirection::Forward };
    let extent = if inclusive { ScanExtent::Inclusive } else { ScanExtent::Exclusive };
    ops::ScanOrder { axis, direction, extent }
}
