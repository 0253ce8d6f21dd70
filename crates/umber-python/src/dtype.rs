//! `Dtype`, and the objects that are accepted as one.
//!
//! One subject: dtypes and the objects that name them; a third of the lines are documentation of NumPy's attributes.

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};
use umber_core::types::Kind;
use umber_core::{DType, Scalar};

/// Type of an array's elements.
///
/// Parameters
/// ----------
/// name : str, Dtype or type
///     Name of the dtype, or another object that stands for one, such as a NumPy dtype.
///
/// Raises
/// ------
/// TypeError
///     If `name` does not name a dtype.
///
/// See Also
/// --------
/// finfo, iinfo, result_type
///
/// Notes
/// -----
/// A dtype equals every object that names it where a dtype is accepted: strings and NumPy dtypes.
///
/// Examples
/// --------
/// >>> mx.Dtype("float32")
/// umber.core.float32
/// >>> mx.float32 == "float32"
/// True
#[pyclass(name = "Dtype", module = "umber.core", frozen)]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PyDtype(pub(crate) DType);

/// The name a dtype has as a constant of the module.
pub(crate) fn constant_name(dtype: DType) -> &'static str {
    if dtype == DType::Bool { "bool_" } else { dtype.name() }
}

#[pymethods]
impl PyDtype {
    /// Return the dtype with a name.
    #[new]
    fn new(name: DtypeArg) -> PyDtype {
        PyDtype(name.default_dtype())
    }

    /// Number of bytes of one element.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.size
    /// 4
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// Name of the dtype.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.name
    /// 'float32'
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Number of bytes of one element; NumPy's name for `size`.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.itemsize
    /// 4
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// NumPy's letter for the kind of number: "b", "i", "u", "f" or "c".
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.kind
    /// 'f'
    #[getter]
    fn kind(&self) -> &'static str {
        letter(self.0.kind())
    }

    /// NumPy's scalar class of this dtype.
    ///
    /// Returns
    /// -------
    /// type
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.type
    /// <class 'numpy.float32'>
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.getattr("type")
    }

    /// NumPy's character code of the dtype.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.char
    /// 'f'
    #[getter]
    fn r#char<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.getattr("char")
    }

    /// NumPy's number of the dtype.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.num
    /// 11
    #[getter]
    fn num<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.getattr("num")
    }

    /// NumPy's type string: byte order, kind and size.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.str
    /// '<f4'
    #[getter]
    fn str<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.getattr("str")
    }

    /// NumPy's description of the dtype as a list with one unnamed field.
    ///
    /// Returns
    /// -------
    /// list of tuple
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.descr
    /// [('', '<f4')]
    #[getter]
    fn descr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.getattr("descr")
    }

    /// NumPy's byte order: "=" for the native one, "|" for dtypes of one byte.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.byteorder
    /// '='
    #[getter]
    fn byteorder(&self) -> &'static str {
        if self.0.size() == 1 { "|" } else { "=" }
    }

    /// Whether elements have the native byte order: always True.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.isnative
    /// True
    #[getter]
    fn isnative(&self) -> bool {
        true
    }

    /// Alignment of an element in bytes.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.alignment
    /// 4
    #[getter]
    fn alignment(&self) -> usize {
        self.0.real().size()
    }

    /// Whether elements are Python objects: always False.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.hasobject
    /// False
    #[getter]
    fn hasobject(&self) -> bool {
        false
    }

    /// Fields of a structured dtype: always None.
    ///
    /// Returns
    /// -------
    /// None
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.fields
    #[getter]
    fn fields(&self, py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    /// Names of the fields of a structured dtype: always None.
    ///
    /// Returns
    /// -------
    /// None
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.names
    #[getter]
    fn names(&self, py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    /// Dtype and shape of a subarray dtype: always None.
    ///
    /// Returns
    /// -------
    /// None
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.subdtype
    #[getter]
    fn subdtype(&self, py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    /// Return NumPy's dtype with another byte order.
    ///
    /// Parameters
    /// ----------
    /// new_order : str, optional
    ///     Byte order, as NumPy names it. Default: "S", swapped.
    ///
    /// Returns
    /// -------
    /// numpy.dtype
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If NumPy does not know the byte order.
    ///
    /// Examples
    /// --------
    /// >>> mx.float32.newbyteorder(">")
    /// dtype('>f4')
    #[pyo3(signature = (new_order = "S"))]
    fn newbyteorder<'py>(&self, py: Python<'py>, new_order: &str) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.call_method1("newbyteorder", (new_order,))
    }

    /// The name, qualified by the module of the class, which is MLX's under `umber.mlx`.
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("{}.{}", slf.get_type().module()?, slf.get().0.name()))
    }

    fn __hash__(&self) -> u64 {
        self.0 as u64
    }

    /// Equal to every object that names the same dtype where a dtype is accepted; unequal to all others.
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Py<PyAny> {
        let py = other.py();
        let same = matches!(named(other), Some(Ok(dtype)) if dtype.default_dtype() == self.0);
        match op {
            CompareOp::Eq => PyBool::new(py, same).to_owned().into_any().unbind(),
            CompareOp::Ne => PyBool::new(py, !same).to_owned().into_any().unbind(),
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => py.NotImplemented(),
        }
    }

    /// NumPy's dtype for the same elements.
    ///
    /// Returns
    /// -------
    /// numpy.dtype
    ///     For bfloat16 and float8 dtypes, that of the package ml_dtypes.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If ml_dtypes is required but not installed.
    ///
    /// Notes
    /// -----
    /// NumPy (2.4 or later) reads it wherever it accepts a dtype.
    ///
    /// Examples
    /// --------
    /// >>> np.dtype(mx.float32)
    /// dtype('float32')
    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        if !is_of_ml_dtypes(self.0) {
            return numpy.call_method1("dtype", (self.0.name(),));
        }
        let ml_dtypes = py.import("ml_dtypes").map_err(|_| {
            PyAttributeError::new_err(format!("{} is a dtype of NumPy only with ml_dtypes installed", self.0))
        })?;
        numpy.call_method1("dtype", (ml_dtypes.getattr(self.0.name())?,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let name = slf.get().0.name();
        Ok((slf.get_type(), (name,)).into_pyobject(slf.py())?.into_any())
    }
}

/// Whether NumPy has this dtype only with the package ml_dtypes.
pub(crate) fn is_of_ml_dtypes(dtype: DType) -> bool {
    dtype == DType::BFloat16 || dtype.is_float8()
}

/// NumPy's kind character.
fn letter(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "b",
        Kind::Signed => "i",
        Kind::Unsigned => "u",
        Kind::Float => "f",
        Kind::Complex => "c",
    }
}

/// The dtype of a NumPy code: a kind character and the item size, such as `f8`.
fn of_code(code: &str) -> Option<DType> {
    let is_named = |dtype: &DType| format!("{}{}", letter(dtype.kind()), dtype.size()) == code;
    DType::ALL.into_iter().filter(|&dtype| !is_of_ml_dtypes(dtype)).find(is_named)
}

/// The dtype that an object stands for: a `Dtype`, a name, a Python number type, or a NumPy dtype or scalar type. `None` for
/// other objects, `Err` for an unknown name.
fn named(object: &Bound<'_, PyAny>) -> Option<Result<DtypeArg, String>> {
    let known =
        |name: String| DType::from_name(&name).or_else(|| of_code(&name)).map(DtypeArg::Exact).ok_or(name);
    if let Ok(dtype) = object.cast::<PyDtype>() {
        return Some(Ok(DtypeArg::Exact(dtype.get().0)));
    }
    if let Ok(name) = object.cast::<PyString>() {
        return Some(known(name.to_string_lossy().into_owned()));
    }
    let py = object.py();
    if let Ok(class) = object.cast::<PyType>() {
        let is = |other: &Bound<'_, PyType>| class.is(other);
        let dtype = if is(&py.get_type::<PyBool>()) {
            DtypeArg::Exact(DType::Bool)
        } else if is(&py.get_type::<PyInt>()) {
            DtypeArg::Number(NumberType::Int)
        } else if is(&py.get_type::<PyFloat>()) {
            DtypeArg::Number(NumberType::Float)
        } else if is(&py.get_type::<PyComplex>()) {
            DtypeArg::Number(NumberType::Complex)
        } else {
            return if is_of_numpy(class) { Some(known(class.name().ok()?.to_string())) } else { None };
        };
        return Some(Ok(dtype));
    }
    // Among NumPy objects, only dtypes have a name.
    if !is_of_numpy(&object.get_type()) {
        return None;
    }
    Some(known(object.getattr("name").ok()?.extract().ok()?))
}

/// Whether the class belongs to NumPy or ml_dtypes.
fn is_of_numpy(class: &Bound<'_, PyType>) -> bool {
    let module = class.module().map(|module| module.to_string()).unwrap_or_default();
    let package = module.split('.').next().unwrap_or_default();
    package == "numpy" || package == "ml_dtypes"
}

/// A Python number type, which selects a kind of dtype and leaves the width open.
#[derive(Clone, Copy)]
pub(crate) enum NumberType {
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `complex`.
    Complex,
}

/// A dtype argument.
#[derive(Clone, Copy)]
pub(crate) enum DtypeArg {
    /// A dtype, or its name.
    Exact(DType),
    /// A Python number type.
    Number(NumberType),
}

impl NumberType {
    /// A zero of this type, which stands for it in dtype promotion.
    fn scalar(self) -> Scalar {
        match self {
            NumberType::Int => Scalar::Int(0),
            NumberType::Float => Scalar::Float(0.0),
            NumberType::Complex => Scalar::Complex(0.0, 0.0),
        }
    }

    /// The dtype to convert elements of `source` to: `source` itself if it is of this kind, else the default width, or the 64-bit
    /// width if `source` has values that the default width cannot represent.
    fn dtype_for(self, source: DType) -> DType {
        let fits_float32 = source.size() <= 2 || source == DType::Float32 || source == DType::Complex64;
        match (self, source.kind()) {
            (NumberType::Int, Kind::Signed)
            | (NumberType::Float, Kind::Float)
            | (NumberType::Complex, Kind::Complex)
                if !source.is_float8() =>
            {
                source
            }
            // No signed integer dtype holds all values of uint64.
            (NumberType::Int, Kind::Unsigned) if source == DType::UInt64 => source,
            (NumberType::Int, Kind::Bool | Kind::Unsigned) if source.size() <= 2 => DType::Int32,
            // The largest finite float16 is 65504.
            (NumberType::Int, Kind::Float) if source == DType::Float16 => DType::Int32,
            (NumberType::Int, _) => DType::Int64,
            (NumberType::Float, Kind::Complex) => source.real(),
            (NumberType::Float, _) if fits_float32 => DType::Float32,
            (NumberType::Float, _) => DType::Float64,
            (NumberType::Complex, _) if fits_float32 => DType::Complex64,
            (NumberType::Complex, _) => DType::Complex128,
        }
    }

    /// The dtype of this kind whose real components are as wide as those of `source`; `None` if there is none.
    fn viewing(self, source: DType) -> Option<DType> {
        let width = source.real().size();
        match self {
            NumberType::Int => match width {
                1 => Some(DType::Int8),
                2 => Some(DType::Int16),
                4 => Some(DType::Int32),
                _ => Some(DType::Int64),
            },
            NumberType::Float if source.is_inexact() => Some(source.real()),
            NumberType::Float => match width {
                2 => Some(DType::Float16),
                4 => Some(DType::Float32),
                8 => Some(DType::Float64),
                _ => None,
            },
            NumberType::Complex if source.is_inexact() => match width {
                4 => Some(DType::Complex64),
                8 => Some(DType::Complex128),
                _ => None,
            },
            NumberType::Complex => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            NumberType::Int => "int",
            NumberType::Float => "float",
            NumberType::Complex => "complex",
        }
    }
}

impl DtypeArg {
    /// The dtype without a source array: int32, float32 or complex64 for Python's number types.
    pub(crate) fn default_dtype(self) -> DType {
        match self {
            DtypeArg::Exact(dtype) => dtype,
            DtypeArg::Number(number) => number.scalar().default_dtype(),
        }
    }

    /// The dtype that elements of `source` are converted to.
    ///
    /// Python's number types keep the width of a source of their kind, and otherwise take a width that holds all values of the
    /// source, if there is one.
    pub(crate) fn dtype_for(self, source: DType) -> DType {
        match self {
            DtypeArg::Exact(dtype) => dtype,
            DtypeArg::Number(number) => number.dtype_for(source),
        }
    }

    /// The dtype in which elements of `source` are summed or multiplied: as [`DtypeArg::dtype_for`], but sums of small integers
    /// as a number type have the same width as without a dtype argument.
    pub(crate) fn summing(self, source: DType) -> DType {
        match self {
            DtypeArg::Exact(dtype) => dtype,
            DtypeArg::Number(number) => number.dtype_for(source).sum_dtype(),
        }
    }

    /// The dtype as which `view` reinterprets the bytes of `source`: a number type keeps the width of the real components.
    pub(crate) fn viewing(self, source: DType) -> PyResult<DType> {
        match self {
            DtypeArg::Exact(dtype) => Ok(dtype),
            DtypeArg::Number(number) => number.viewing(source).ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "[view] no dtype of kind {} is as wide as {source}; name the dtype instead",
                    number.name()
                ))
            }),
        }
    }

    /// The weakly typed value that stands for a Python number type in dtype promotion; `None` for a dtype.
    pub(crate) fn weak(self) -> Option<Scalar> {
        match self {
            DtypeArg::Exact(_) => None,
            DtypeArg::Number(number) => Some(number.scalar()),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for DtypeArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match named(&object) {
            Some(Ok(dtype)) => Ok(dtype),
            Some(Err(name)) => {
                let names: Vec<&str> = DType::COMPUTE.into_iter().map(DType::name).collect();
                Err(PyTypeError::new_err(format!(
                    "unknown dtype '{name}', expected one of {} or a float8 dtype",
                    names.join(", ")
                )))
            }
            None => Err(PyTypeError::new_err(format!(
                "got {}, expected a Dtype or the name of one",
                object.get_type().name()?
            ))),
        }
    }
}

/// The dtype of an optional argument without a source array.
pub(crate) fn or(dtype: Option<DtypeArg>, default: DType) -> DType {
    dtype.map_or(default, DtypeArg::default_dtype)
}

/// The dtype of an optional argument for elements of `source`.
pub(crate) fn dtype_for(dtype: Option<DtypeArg>, source: DType) -> Option<DType> {
    dtype.map(|dtype| dtype.dtype_for(source))
}

/// The dtype of an optional argument for sums and products of elements of `source`.
pub(crate) fn summing(dtype: Option<DtypeArg>, source: DType) -> Option<DType> {
    dtype.map(|dtype| dtype.summing(source))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDtype>()?;
    for dtype in DType::ALL {
        module.add(constant_name(dtype), PyDtype(dtype))?;
    }
    // The array API standard's name, but not in `__all__`: `from umber.core import *` must not shadow Python's `bool`.
    module.setattr(DType::Bool.name(), PyDtype(DType::Bool))
}
