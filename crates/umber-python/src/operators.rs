//! Operators of `array`: arithmetic, comparison, augmented assignment.
#![allow(unsafe_op_in_unsafe_fn, reason = "what `pymethods` writes around methods made by a table")]

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use umber_core::ops::Side;
use umber_core::types::{BinaryKind, Kind, error};
use umber_core::{Array, DType, Result, Scalar, ops};

use crate::args::{self, Operand, StreamArg, record_on};
use crate::array::PyArray;
use crate::convert;
use crate::enter::{OrRaise, to_exception};
use crate::error_text::with_name;
use crate::namespace::check_in_place;
use crate::new_array::NewArray;

/// Result of an operator: an array, or `NotImplemented` to defer to the other operand.
enum OperatorResult {
    Array(NewArray),
    NotImplemented,
}

impl<'py> IntoPyObject<'py> for OperatorResult {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            OperatorResult::Array(array) => Ok(array.object(py)?.into_any()),
            OperatorResult::NotImplemented => Ok(py.NotImplemented().into_bound(py)),
        }
    }
}

type Binary = fn(&Array, &Array) -> Result<Array>;

/// Convert the other operand of an operator to an array, promoted with `own`; `None` if operators do not take it.
#[inline]
fn other_operand(own: &Array, other: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(other) = other.cast::<PyArray>() {
        return Ok(Some(other.get().get_cloned(other.py())));
    }
    if let Some(number) = args::weak_number(other)? {
        return Operand::Number(number).promote_with(own).map(Some);
    }
    if other.is_instance_of::<pyo3::types::PyString>() || other.is_none() || convert::is_of_arrays(other) {
        return Ok(None);
    }
    match convert::from_object(other, None)? {
        Some(array) => Ok(Some(array)),
        None => convert::number_by_methods(other)
            .map(|number| Operand::Number(number).promote_with(own))
            .transpose(),
    }
}

/// Whether `==` of an array and this list or tuple returns a single truth value, as for objects that are not sequences.
/// It does if the shapes cannot be broadcast, or if the sequence is empty and the array is not.
fn is_other_sequence(own: &Array, other: &Bound<'_, PyAny>, array: &Array) -> bool {
    let is_sequence = other.is_instance_of::<PyList>() || other.is_instance_of::<PyTuple>();
    let is_empty = array.size() == 0 && own.shape() != array.shape();
    is_sequence && (is_empty || own.shape().broadcast(array.shape()).is_none())
}

/// Fast path for operands of one dtype; `None` for all other cases.
#[inline]
fn try_fast_path(
    this: &PyArray,
    other: &Bound<'_, PyAny>,
    kind: BinaryKind,
    side: Side,
) -> Option<OperatorResult> {
    let py = other.py();
    // SAFETY: neither arithmetic on memory nor creating a node runs Python code or releases the GIL.
    let result = unsafe {
        match other.cast::<PyArray>() {
            Ok(other) => this.with_ref(py, |own| {
                other.get().with_ref(py, |other| ops::fast_path::binary(kind, own, other))
            }),
            Err(_) => {
                let number = args::plain_number(other)?;
                this.with_ref(py, |own| ops::fast_path::with_number(kind, own, number, side))
            }
        }
    };
    result.map(NewArray::sharing).map(OperatorResult::Array)
}

#[inline]
fn left(this: &PyArray, other: &Bound<'_, PyAny>, name: &str, op: Binary) -> PyResult<OperatorResult> {
    let array = this.get_cloned(other.py());
    match with_name(other.py(), name, || other_operand(&array, other))? {
        Some(other) => Ok(OperatorResult::Array(op(&array, &other).or_raise()?.into())),
        None => refuse_or_defer(name, other),
    }
}

fn right(this: &PyArray, other: &Bound<'_, PyAny>, name: &str, op: Binary) -> PyResult<OperatorResult> {
    let array = this.get_cloned(other.py());
    match with_name(other.py(), name, || other_operand(&array, other))? {
        Some(other) => Ok(OperatorResult::Array(op(&other, &array).or_raise()?.into())),
        None => refuse_or_defer(name, other),
    }
}

/// Handle an operand that is not an array: return `NotImplemented` for classes that may implement the operator.
///
/// Built-in classes do not, and `*` would repeat a sequence `int(array)` times: these raise TypeError.
#[cold]
fn refuse_or_defer(name: &str, other: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
    let class = other.get_type();
    if other.is_none() || class.module()? != "builtins" {
        return Ok(OperatorResult::NotImplemented);
    }
    Err(not_an_operand(name, other)?)
}

/// The exception for an unsupported operand.
fn not_an_operand(name: &str, other: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    Ok(to_exception(error!(Type(name), "got {}, expected an array or a number", other.get_type().name()?)))
}

/// `this op= other`: compute the result and rebind the array object to it.
fn update(this: &PyArray, other: &Bound<'_, PyAny>, name: &str, op: Binary) -> PyResult<()> {
    let (own, py) = (this.get_cloned(other.py()), other.py());
    let Some(other) = with_name(other.py(), name, || other_operand(&own, other))? else {
        return Err(not_an_operand(name, other)?);
    };
    // The quotient of integers is a float array, which other references to the memory would not see.
    if name == "divide" && !own.dtype().is_inexact() {
        return Err(to_exception(error!(
            Type("divide"),
            "cannot store floats in place in an array of {}; use `//=`, or `a = a / b`",
            own.dtype()
        )));
    }
    let result = op(&own, &other).or_raise()?;
    check_in_place(name, &own, &result)?;
    let is_widened = class_of_kind(result.dtype()) > class_of_kind(own.dtype());
    drop(own);
    this.update(py, result)?;
    if is_widened {
        this.note_widened();
    }
    Ok(())
}

/// Rank of a kind of dtype: bool, integer, float, complex. Assignment to a lower rank loses information.
pub(crate) fn class_of_kind(dtype: DType) -> u8 {
    match dtype.kind() {
        Kind::Bool => 0,
        Kind::Unsigned | Kind::Signed => 1,
        Kind::Float => 2,
        Kind::Complex => 3,
    }
}

/// The operators, by their names in the number protocol, and the kind of those with a fast path.
macro_rules! operators {
    ($($name:ident $reflected:ident $in_place:ident $function:ident $($kind:ident)?),* $(,)?) => {
        #[pymethods]
        impl PyArray {
            $(
                fn $name(&self, other: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
                    $(
                        if let Some(output) = try_fast_path(self, other, BinaryKind::$kind, Side::Right) {
                            return Ok(output);
                        }
                    )?
                    left(self, other, stringify!($function), ops::$function)
                }
                fn $reflected(&self, other: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
                    $(
                        if let Some(output) = try_fast_path(self, other, BinaryKind::$kind, Side::Left) {
                            return Ok(output);
                        }
                    )?
                    right(self, other, stringify!($function), ops::$function)
                }
                fn $in_place(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    update(self, other, stringify!($function), ops::$function)
                }
            )*
        }
    };
}

operators! {
    __add__ __radd__ __iadd__ add Add,
    __sub__ __rsub__ __isub__ subtract Subtract,
    __mul__ __rmul__ __imul__ multiply Multiply,
    __truediv__ __rtruediv__ __itruediv__ divide Divide,
    __floordiv__ __rfloordiv__ __ifloordiv__ floor_divide FloorDivide,
    __mod__ __rmod__ __imod__ remainder Remainder,
    __matmul__ __rmatmul__ __imatmul__ matmul,
    __and__ __rand__ __iand__ bitwise_and BitwiseAnd,
    __or__ __ror__ __ior__ bitwise_or BitwiseOr,
    __xor__ __rxor__ __ixor__ bitwise_xor BitwiseXor,
    __lshift__ __rlshift__ __ilshift__ left_shift,
    __rshift__ __rrshift__ __irshift__ right_shift,
}

/// Quotient and remainder, or `NotImplemented`.
fn quotient(a: Array, b: Array, py: Python<'_>) -> PyResult<Py<PyAny>> {
    let (quotient, remainder) = ops::divmod(&a, &b).or_raise()?;
    Ok((NewArray::from(quotient), NewArray::from(remainder)).into_pyobject(py)?.into_any().unbind())
}

/// Compare an integer or boolean array with a number outside the range of its dtype, where all elements give the same
/// result; `None` for other operands.
fn compare_out_of_range(own: &Array, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Option<Array>> {
    if own.dtype().is_inexact() || other.is_instance_of::<PyArray>() {
        return Ok(None);
    }
    let number = if other.is_instance_of::<PyInt>() {
        other.extract::<Comparand>()?
    } else {
        match args::weak_number(other) {
            Ok(Some(number)) => Comparand::Operand(Operand::Number(number)),
            Ok(None) | Err(_) => return Ok(None),
        }
    };
    Ok(number.side(own).map(|is_above| constant_comparison(own, is_above, op)))
}

/// Convert the other operand of a comparison: floats are compared with integers of any size.
fn other_comparand(own: &Array, other: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if own.dtype().is_inexact() && other.is_instance_of::<PyInt>() {
        return other.extract::<Comparand>()?.operand(Some(own.dtype()))?.promote_with(own).map(Some);
    }
    other_operand(own, other)
}

/// Result of comparing integers with a number above or below the range of their dtype.
fn constant_comparison(own: &Array, is_above: bool, op: CompareOp) -> Array {
    let output = match op {
        CompareOp::Eq => false,
        CompareOp::Ne => true,
        CompareOp::Lt | CompareOp::Le => is_above,
        CompareOp::Gt | CompareOp::Ge => !is_above,
    };
    Array::full(own.shape().clone(), output, DType::Bool)
}

/// Operand of a comparison: an array, a number, or an integer outside the range of all dtypes.
pub(crate) enum Comparand {
    /// An array, or a number in the range of a dtype.
    Operand(Operand),
    /// Another integer: the nearest float, and the exception for operands that cannot be compared with it.
    OutOfRange { value: f64, error: PyErr },
}

impl<'a, 'py> FromPyObject<'a, 'py> for Comparand {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<Operand>() {
            Ok(operand) => Ok(Comparand::Operand(operand)),
            Err(error) if object.is_instance_of::<PyInt>() => {
                let infinite = if object.gt(0)? { f64::INFINITY } else { f64::NEG_INFINITY };
                Ok(Comparand::OutOfRange { value: object.extract().unwrap_or(infinite), error })
            }
            Err(error) => Err(error),
        }
    }
}

impl Comparand {
    /// Whether it is above (true) or below (false) the range of `own`'s dtype; `None` if it is inside.
    fn side(&self, own: &Array) -> Option<bool> {
        match self {
            _ if own.dtype().is_inexact() => None,
            Comparand::OutOfRange { value, .. } => Some(*value > 0.0),
            Comparand::Operand(Operand::Number(value)) => {
                let fits = args::check_fits(*value, value.weak_dtype(own.dtype())).is_ok();
                (!fits).then(|| value.as_f64() > 0.0)
            }
            Comparand::Operand(Operand::Array(_)) => None,
        }
    }

    fn dtype(&self) -> Option<DType> {
        match self {
            Comparand::Operand(Operand::Array(array)) => Some(array.dtype()),
            Comparand::Operand(Operand::Number(_)) | Comparand::OutOfRange { .. } => None,
        }
    }

    /// Convert to the operand of an operation whose other operand has the dtype `other`.
    fn operand(self, other: Option<DType>) -> PyResult<Operand> {
        match self {
            Comparand::Operand(operand) => Ok(operand),
            Comparand::OutOfRange { value, .. } if other.is_some_and(DType::is_inexact) => {
                Ok(Operand::Number(Scalar::Float(value)))
            }
            Comparand::OutOfRange { error, .. } => Err(error),
        }
    }
}

/// `a op b` for the comparison functions.
pub(crate) fn compared(
    a: Comparand,
    b: Comparand,
    op: CompareOp,
    stream: Option<StreamArg>,
    function: Binary,
) -> PyResult<NewArray> {
    let output = match (&a, &b) {
        (Comparand::Operand(Operand::Array(own)), other) => {
            other.side(own).map(|is_above| constant_comparison(own, is_above, op))
        }
        (other, Comparand::Operand(Operand::Array(own))) => {
            other.side(own).map(|is_above| constant_comparison(own, is_above, mirrored_comparison(op)))
        }
        _ => None,
    };
    if let Some(output) = output {
        return Ok(output.into());
    }
    let dtypes = (a.dtype(), b.dtype());
    let (a, b) = Operand::pair(a.operand(dtypes.1)?, b.operand(dtypes.0)?)?;
    record_on(stream, || function(&a, &b)).map(NewArray::from)
}

/// The comparison with exchanged operands: it holds for `b, a` if `op` holds for `a, b`.
fn mirrored_comparison(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        CompareOp::Eq | CompareOp::Ne => op,
    }
}

#[pymethods]
impl PyArray {
    /// Return the quotient rounded down and the remainder: ``(a // b, a % b)``.
    fn __divmod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        match with_name(other.py(), "divmod", || other_operand(&array, other))? {
            Some(other_array) => quotient(array, other_array, other.py()),
            None => Ok(other.py().NotImplemented()),
        }
    }

    fn __rdivmod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let array = self.get();
        match with_name(other.py(), "divmod", || other_operand(&array, other))? {
            Some(other_array) => quotient(other_array, array, other.py()),
            None => Ok(other.py().NotImplemented()),
        }
    }

    /// Alias of ``/``.
    ///
    /// Parameters
    /// ----------
    /// other : array_like
    ///     Divisor.
    ///
    /// Returns
    /// -------
    /// array
    ///     Quotient.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1.0, 2.0]).__div__(2)
    /// array([0.5, 1], dtype=float32)
    fn __div__(&self, other: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
        left(self, other, "divide", ops::divide)
    }

    /// Alias of ``/`` with exchanged operands.
    ///
    /// Parameters
    /// ----------
    /// other : array_like
    ///     Dividend.
    ///
    /// Returns
    /// -------
    /// array
    ///     Quotient.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1.0, 2.0]).__rdiv__(2)
    /// array([2, 1], dtype=float32)
    fn __rdiv__(&self, other: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
        right(self, other, "divide", ops::divide)
    }

    fn __pow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
        if !modulo.is_none() {
            return Ok(OperatorResult::NotImplemented);
        }
        match try_fast_path(self, other, BinaryKind::Power, Side::Right) {
            Some(output) => Ok(output),
            None => left(self, other, "power", ops::power),
        }
    }

    fn __rpow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<OperatorResult> {
        if modulo.is_none() {
            right(self, other, "power", ops::power)
        } else {
            Ok(OperatorResult::NotImplemented)
        }
    }

    fn __ipow__(&self, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        update(self, other, "power", ops::power)
    }

    fn __neg__(&self) -> PyResult<NewArray> {
        ops::negative(&self.get()).or_raise().map(NewArray::from)
    }

    fn __pos__(&self) -> PyArray {
        self.get().into()
    }

    fn __abs__(&self) -> PyResult<NewArray> {
        ops::abs(&self.get()).or_raise().map(NewArray::from)
    }

    fn __invert__(&self) -> PyResult<NewArray> {
        ops::bitwise_invert(&self.get()).or_raise().map(NewArray::from)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let kind = match op {
            CompareOp::Lt => BinaryKind::Less,
            CompareOp::Le => BinaryKind::LessEqual,
            CompareOp::Eq => BinaryKind::Equal,
            CompareOp::Ne => BinaryKind::NotEqual,
            CompareOp::Gt => BinaryKind::Greater,
            CompareOp::Ge => BinaryKind::GreaterEqual,
        };
        if let Some(output) = try_fast_path(self, other, kind, Side::Right) {
            return Ok(output.into_pyobject(py)?.unbind());
        }
        let this = self.get();
        if let Some(output) = compare_out_of_range(&this, other, op)? {
            return Ok(NewArray::from(output).object(py)?.into_any().unbind());
        }
        let function: Binary = match op {
            CompareOp::Lt => ops::less,
            CompareOp::Le => ops::less_equal,
            CompareOp::Eq => ops::equal,
            CompareOp::Ne => ops::not_equal,
            CompareOp::Gt => ops::greater,
            CompareOp::Ge => ops::greater_equal,
        };
        let other = match (other_comparand(&this, other), op) {
            (Ok(Some(array)), CompareOp::Eq | CompareOp::Ne) if is_other_sequence(&this, other, &array) => {
                return Ok(py.NotImplemented());
            }
            (Ok(Some(other)), _) => other,
            // An array never equals an object that cannot be converted: Python compares by identity.
            (Ok(None), _) | (Err(_), CompareOp::Eq | CompareOp::Ne) => return Ok(py.NotImplemented()),
            (Err(error), CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge) => {
                return with_name(py, kind.name(), || Err(error));
            }
        };
        let output: NewArray = function(&this, &other).or_raise()?.into();
        Ok(output.object(py)?.into_any().unbind())
    }
}
