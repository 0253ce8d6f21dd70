//! Categories, limits and promotion of dtypes; the constants of the module.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::DType;
use umber_core::types::{Float8, Kind, bf16, error, f16, promote};

use crate::args::number;
use crate::array::PyArray;
use crate::dtype::{DtypeArg, PyDtype};
use crate::enter::to_exception;
use crate::enumeration::Enumeration;

/// A category of dtypes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Category {
    /// Complex numbers.
    ComplexFloating,
    /// Real floating-point numbers.
    Floating,
    /// Real and complex floating-point numbers.
    Inexact,
    /// Signed integers.
    SignedInteger,
    /// Unsigned integers.
    UnsignedInteger,
    /// Integers.
    Integer,
    /// All dtypes except bool.
    Number,
    /// All dtypes.
    Generic,
}

static NAMES: Enumeration = Enumeration::new(
    "DtypeCategory",
    "A category of dtypes.",
    &[
        "complexfloating",
        "floating",
        "inexact",
        "signedinteger",
        "unsignedinteger",
        "integer",
        "number",
        "generic",
    ],
);

/// In the order of [`NAMES`].
const CATEGORIES: [Category; 8] = [
    Category::ComplexFloating,
    Category::Floating,
    Category::Inexact,
    Category::SignedInteger,
    Category::UnsignedInteger,
    Category::Integer,
    Category::Number,
    Category::Generic,
];

impl Category {
    /// The category that contains this one; `generic` contains itself.
    fn parent(self) -> Category {
        match self {
            Category::ComplexFloating | Category::Floating => Category::Inexact,
            Category::SignedInteger | Category::UnsignedInteger => Category::Integer,
            Category::Inexact | Category::Integer => Category::Number,
            Category::Number | Category::Generic => Category::Generic,
        }
    }

    fn is_within(self, other: Category) -> bool {
        self == other || (self != Category::Generic && self.parent().is_within(other))
    }

    fn of(dtype: DType) -> Category {
        match dtype.kind() {
            Kind::Bool => Category::Generic,
            Kind::Unsigned => Category::UnsignedInteger,
            Kind::Signed => Category::SignedInteger,
            Kind::Float => Category::Floating,
            Kind::Complex => Category::ComplexFloating,
        }
    }
}

/// A dtype or a category.
enum TypeArg {
    Category(Category),
    Dtype(DtypeArg),
}

impl<'a, 'py> FromPyObject<'a, 'py> for TypeArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match NAMES.index_of(&object)? {
            Some(index) => Ok(TypeArg::Category(CATEGORIES[index])),
            None => object.extract().map(TypeArg::Dtype),
        }
    }
}

/// Test whether a dtype or category of dtypes belongs to another.
///
/// Parameters
/// ----------
/// arg1, arg2 : dtype or DtypeCategory
///     Dtypes, such as ``mx.float32``, or categories, such as ``mx.floating``.
///
/// Returns
/// -------
/// bool
///     For two dtypes whether they are equal; otherwise whether `arg1` is, or belongs to, the category `arg2`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is neither a dtype nor a category.
///
/// See Also
/// --------
/// isdtype, can_cast
///
/// Notes
/// -----
/// The categories are `complexfloating` and `floating`, which form `inexact`; `signedinteger` and `unsignedinteger`, which
/// form `integer`; `inexact` and `integer` form `number`; `generic` contains all dtypes, also bool.
///
/// Examples
/// --------
/// >>> mx.issubdtype(mx.float16, mx.floating)
/// True
/// >>> mx.issubdtype(mx.bool_, mx.number)
/// False
#[pyfunction]
fn issubdtype(arg1: TypeArg, arg2: TypeArg) -> bool {
    match (arg1, arg2) {
        (TypeArg::Dtype(a), TypeArg::Dtype(b)) => a.default_dtype() == b.default_dtype(),
        (TypeArg::Dtype(a), TypeArg::Category(b)) => Category::of(a.default_dtype()).is_within(b),
        (TypeArg::Category(a), TypeArg::Category(b)) => a.is_within(b),
        (TypeArg::Category(_), TypeArg::Dtype(_)) => false,
    }
}

/// Whether `dtype` equals a dtype, or is of a kind that the array API standard names. (`"bool"` is both.)
pub(crate) fn is_kind(op: &str, dtype: DType, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(other) = kind.extract::<DtypeArg>() {
        return Ok(other.default_dtype() == dtype);
    }
    let name: String = kind.extract()?;
    Ok(match name.as_str() {
        "bool" => dtype == DType::Bool,
        "signed integer" => dtype.kind() == Kind::Signed,
        "unsigned integer" => dtype.kind() == Kind::Unsigned,
        "integral" => dtype.is_integer(),
        "real floating" => dtype.is_floating(),
        "complex floating" => dtype.is_complex(),
        "numeric" => dtype != DType::Bool,
        other => {
            return Err(to_exception(error!(
                Value(op),
                "got kind '{other}', expected 'bool', 'signed integer', 'unsigned integer', 'integral', \
                 'real floating', 'complex floating' or 'numeric'"
            )));
        }
    })
}

/// Test whether a dtype is of a kind, as in the array API standard.
///
/// Parameters
/// ----------
/// dtype : dtype
///     Dtype to test.
/// kind : dtype, str or tuple
///     A dtype, the name of a kind, or a tuple of these, of which one has to match. The names are ``"bool"``,
///     ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``, ``"complex floating"`` and
///     ``"numeric"``.
///
/// Returns
/// -------
/// bool
///     Whether `dtype` is of the kind.
///
/// Raises
/// ------
/// ValueError
///     If a name is unknown.
/// TypeError
///     If `kind` is neither a dtype nor a name.
///
/// See Also
/// --------
/// issubdtype
///
/// Examples
/// --------
/// >>> mx.isdtype(mx.int8, "integral")
/// True
/// >>> mx.isdtype(mx.float32, ("integral", mx.float64))
/// False
#[pyfunction]
fn isdtype(dtype: DtypeArg, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    match kind.cast::<PyTuple>() {
        Ok(kinds) => {
            for kind in kinds {
                if is_kind("isdtype", dtype.default_dtype(), &kind)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Err(_) => is_kind("isdtype", dtype.default_dtype(), kind),
    }
}

/// The dtype of an argument that is an array or a dtype.
struct DtypeLike(DType);

impl<'a, 'py> FromPyObject<'a, 'py> for DtypeLike {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray>() {
            return Ok(DtypeLike(array.get().get().dtype()));
        }
        match object.extract::<DtypeArg>() {
            Ok(dtype) => Ok(DtypeLike(dtype.default_dtype())),
            // NumPy's arrays and scalars have a `dtype` attribute.
            Err(error) => match object.getattr("dtype") {
                Ok(dtype) => dtype.extract::<DtypeArg>().map(|dtype| DtypeLike(dtype.default_dtype())),
                Err(_) => Err(error),
            },
        }
    }
}

/// Compute the dtype of the result of an operation on the arguments.
///
/// Parameters
/// ----------
/// *arrays_and_dtypes : array, dtype or number
///     Arrays, dtypes, Python numbers and their types.
///
/// Returns
/// -------
/// dtype
///     The promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If there are no arguments.
/// TypeError
///     If an argument has no dtype.
///
/// See Also
/// --------
/// can_cast
///
/// Notes
/// -----
/// Python numbers and number types are weak: they raise the kind of the dtype (bool, integer, floating, complex) where
/// necessary, but not its precision.
///
/// Examples
/// --------
/// >>> mx.result_type(mx.int8, mx.uint8)
/// umber.core.int16
/// >>> mx.result_type(mx.float16, 2.5)
/// umber.core.float16
/// >>> mx.result_type(mx.array([1, 2]), 2.5)
/// umber.core.float32
#[pyfunction]
#[pyo3(signature = (*arrays_and_dtypes))]
fn result_type(arrays_and_dtypes: &Bound<'_, PyTuple>) -> PyResult<PyDtype> {
    let mut promoted: Option<DType> = None;
    let mut numbers = Vec::new();
    for value in arrays_and_dtypes {
        if let Some(value) = number(&value)? {
            numbers.push(value);
            continue;
        }
        if let Some(value) = value.extract::<DtypeArg>().ok().and_then(DtypeArg::weak) {
            numbers.push(value);
            continue;
        }
        let dtype = value.extract::<DtypeLike>()?.0;
        promoted = Some(promoted.map_or(dtype, |promoted| promote(promoted, dtype)));
    }
    for value in numbers {
        let weak = promoted.map_or(value.default_dtype(), |promoted| value.weak_dtype(promoted));
        promoted = Some(promoted.map_or(weak, |promoted| promote(promoted, weak)));
    }
    promoted
        .map(PyDtype)
        .ok_or_else(|| to_exception(error!(Value("result_type"), "needs at least one array or dtype")))
}

/// Test whether promotion converts a dtype to another.
///
/// Parameters
/// ----------
/// from_ : dtype or array
///     Source, a dtype or an array of it.
/// to : dtype
///     Target.
///
/// Returns
/// -------
/// bool
///     Whether ``result_type(from_, to)`` is `to`.
///
/// Raises
/// ------
/// TypeError
///     If an argument has no dtype.
///
/// See Also
/// --------
/// result_type, issubdtype
///
/// Examples
/// --------
/// >>> mx.can_cast(mx.int32, mx.float16)
/// True
/// >>> mx.can_cast(mx.float32, mx.int32)
/// False
#[pyfunction]
fn can_cast(from_: DtypeLike, to: DtypeArg) -> bool {
    let to = to.dtype_for(from_.0);
    promote(from_.0, to) == to
}

/// Numerical limits of a floating-point dtype.
///
/// Parameters
/// ----------
/// dtype : dtype or array
///     Floating-point or complex dtype, or an array of it. For a complex dtype the limits are those of its parts.
///
/// Raises
/// ------
/// TypeError
///     If the dtype is neither floating-point nor complex.
///
/// See Also
/// --------
/// iinfo
///
/// Notes
/// -----
/// Attributes: `bits`, `eps`, `max`, `min`, `smallest_normal`, `tiny`, `precision`, `resolution` and `dtype`.
///
/// Examples
/// --------
/// >>> mx.finfo(mx.float16)
/// finfo(min=-65504, max=65504, dtype=float16)
/// >>> mx.finfo(mx.float32).eps
/// 1.1920928955078125e-07
#[pyclass(name = "finfo", module = "umber.core", frozen, get_all, eq)]
#[derive(PartialEq)]
struct FloatInfo {
    /// Number of bits of a real number.
    bits: usize,
    /// Distance from 1 to the next larger representable number.
    eps: f64,
    /// Largest number.
    max: f64,
    /// Smallest (most negative) number.
    min: f64,
    /// Smallest positive normal number.
    smallest_normal: f64,
    /// The dtype that has these limits.
    dtype: PyDtype,
}

#[pymethods]
impl FloatInfo {
    #[new]
    fn new(dtype: DtypeLike) -> PyResult<FloatInfo> {
        let real = dtype.0.real();
        let (eps, max, smallest_normal) = match real {
            DType::Float16 => (f16::EPSILON.to_f64(), f16::MAX.to_f64(), f16::MIN_POSITIVE.to_f64()),
            DType::BFloat16 => (bf16::EPSILON.to_f64(), bf16::MAX.to_f64(), bf16::MIN_POSITIVE.to_f64()),
            DType::Float32 => (f64::from(f32::EPSILON), f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)),
            DType::Float64 => (f64::EPSILON, f64::MAX, f64::MIN_POSITIVE),
            other if let Some(format) = Float8::of(other) => {
                (format.epsilon(), format.max(), format.smallest_normal())
            }
            other => {
                return Err(to_exception(error!(
                    Type("finfo"),
                    "dtype must be floating-point or complex, not {other}"
                )));
            }
        };
        // `float8_e8m0fnu` has no sign.
        let min = Float8::of(real).map_or(-max, Float8::min);
        Ok(FloatInfo { bits: real.size() * 8, eps, max, min, smallest_normal, dtype: PyDtype(real) })
    }

    /// Alias of `smallest_normal`.
    ///
    /// Returns
    /// -------
    /// float
    ///     Smallest positive normal number.
    ///
    /// Examples
    /// --------
    /// >>> mx.finfo(mx.float16).tiny
    /// 6.103515625e-05
    #[getter]
    fn tiny(&self) -> f64 {
        self.smallest_normal
    }

    /// Number of decimal digits that the dtype represents exactly.
    ///
    /// Returns
    /// -------
    /// int
    ///     ``floor(-log10(eps))``.
    ///
    /// Examples
    /// --------
    /// >>> mx.finfo(mx.float32).precision
    /// 6
    #[getter]
    fn precision(&self) -> i32 {
        -self.eps.log10().ceil() as i32
    }

    /// Decimal resolution of the dtype: ``10 ** -precision``.
    ///
    /// Returns
    /// -------
    /// float
    ///     Distance of neighbouring decimal numbers near 1 at this precision.
    ///
    /// Examples
    /// --------
    /// >>> mx.finfo(mx.float32).resolution
    /// 1e-06
    #[getter]
    fn resolution(&self) -> f64 {
        10f64.powi(-self.precision())
    }

    fn __hash__(&self) -> u64 {
        self.dtype.0 as u64
    }

    fn __repr__(&self) -> String {
        let number = |value| umber_core::runtime::printing::general(value, 6);
        format!("finfo(min={}, max={}, dtype={})", number(self.min), number(self.max), self.dtype.0)
    }
}

/// Numerical limits of an integer dtype.
///
/// Parameters
/// ----------
/// dtype : dtype or array
///     Integer dtype, or an array of it.
///
/// Raises
/// ------
/// TypeError
///     If the dtype is not an integer type.
///
/// See Also
/// --------
/// finfo
///
/// Notes
/// -----
/// Attributes: `bits`, `max`, `min` and `dtype`.
///
/// Examples
/// --------
/// >>> mx.iinfo(mx.int8)
/// iinfo(min=-128, max=127, dtype=int8)
#[pyclass(name = "iinfo", module = "umber.core", frozen, get_all, eq)]
#[derive(PartialEq)]
struct IntegerInfo {
    /// Number of bits of an element.
    bits: usize,
    /// Largest number.
    max: u64,
    /// Smallest number.
    min: i64,
    /// The dtype that has these limits.
    dtype: PyDtype,
}

#[pymethods]
impl IntegerInfo {
    #[new]
    fn new(dtype: DtypeLike) -> PyResult<IntegerInfo> {
        let dtype = dtype.0;
        let bits = dtype.size() * 8;
        let (min, max) = match dtype.kind() {
            Kind::Unsigned => (0, u64::MAX >> (64 - bits)),
            Kind::Signed => (i64::MIN >> (64 - bits), i64::MAX as u64 >> (64 - bits)),
            Kind::Bool | Kind::Float | Kind::Complex => {
                return Err(to_exception(error!(
                    Type("iinfo"),
                    "dtype must be an integer dtype, not {dtype}"
                )));
            }
        };
        Ok(IntegerInfo { bits, max, min, dtype: PyDtype(dtype) })
    }

    fn __hash__(&self) -> u64 {
        self.dtype.0 as u64
    }

    fn __repr__(&self) -> String {
        format!("iinfo(min={}, max={}, dtype={})", self.min, self.max, self.dtype.0)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    NAMES.register(module)?;
    module.add_class::<FloatInfo>()?;
    module.add_class::<IntegerInfo>()?;
    module.add("pi", std::f64::consts::PI)?;
    module.add("e", std::f64::consts::E)?;
    module.add("euler_gamma", 0.577_215_664_901_532_9_f64)?;
    module.add("inf", f64::INFINITY)?;
    module.add("nan", f64::NAN)?;
    module.add("newaxis", module.py().None())?;
    for function in [
        wrap_pyfunction!(issubdtype, module)?,
        wrap_pyfunction!(isdtype, module)?,
        wrap_pyfunction!(result_type, module)?,
        wrap_pyfunction!(can_cast, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
