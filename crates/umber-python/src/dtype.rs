//! `Dtype`, and what stands for one.

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};
use umber::types::Kind;
use umber::{DType, Scalar};

/// The type of an array's elements.
#[pyclass(name = "Dtype", module = "umber.core", frozen)]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PyDtype(pub(crate) DType);

/// The name a dtype has as a constant of the module.
pub(crate) fn constant_name(dtype: DType) -> &'static str {
    if dtype == DType::Bool { "bool_" } else { dtype.name() }
}

#[pymethods]
impl PyDtype {
    /// The dtype with this name.
    #[new]
    fn new(name: DtypeArg) -> PyDtype {
        PyDtype(name.0)
    }

    /// Bytes per element.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// The dtype's name: `"float32"`.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Bytes per element, under NumPy's name.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// NumPy's letter for the kind of number: "b", "i", "u", "f" or "c".
    #[getter]
    fn kind(&self) -> &'static str {
        letter(self.0.kind())
    }

    /// NumPy's class of numbers of this dtype.
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__numpy_dtype__(py)?.getattr("type")
    }

    fn __repr__(&self) -> String {
        format!("umber.core.{}", self.0.name())
    }

    fn __hash__(&self) -> u64 {
        self.0 as u64
    }

    /// Equal to whatever names the same dtype where a dtype is taken; different from everything else.
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Py<PyAny> {
        let py = other.py();
        let same = named(other) == Some(Ok(self.0));
        match op {
            CompareOp::Eq => PyBool::new(py, same).to_owned().into_any().unbind(),
            CompareOp::Ne => PyBool::new(py, !same).to_owned().into_any().unbind(),
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => py.NotImplemented(),
        }
    }

    /// The same type as NumPy's: `numpy.dtype(umber.core.float32)` works, and so does passing a dtype to NumPy's
    /// functions. bfloat16 and floats of eight bits are ml_dtypes'.
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

/// Has NumPy this dtype with the package ml_dtypes alone?
pub(crate) fn is_of_ml_dtypes(dtype: DType) -> bool {
    dtype == DType::BFloat16 || dtype.is_float8()
}

/// NumPy's letter for a kind of number.
fn letter(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "b",
        Kind::Signed => "i",
        Kind::Unsigned => "u",
        Kind::Float => "f",
        Kind::Complex => "c",
    }
}

/// The dtype that NumPy writes as a letter and a number of bytes: `f8`.
fn of_code(code: &str) -> Option<DType> {
    let is_named = |dtype: &DType| format!("{}{}", letter(dtype.kind()), dtype.size()) == code;
    DType::ALL.into_iter().filter(|&dtype| !is_of_ml_dtypes(dtype)).find(is_named)
}

/// The dtype that an object names: a `Dtype`, a name, one of Python's number types (which stand for the dtypes that
/// their values become), or NumPy's dtypes and scalar types. `None` for anything else, `Err` for a name of no dtype.
fn named(object: &Bound<'_, PyAny>) -> Option<Result<DType, String>> {
    let known = |name: String| DType::from_name(&name).or_else(|| of_code(&name)).ok_or(name);
    if let Ok(dtype) = object.cast::<PyDtype>() {
        return Some(Ok(dtype.get().0));
    }
    if let Ok(name) = object.cast::<PyString>() {
        return Some(known(name.to_string_lossy().into_owned()));
    }
    let py = object.py();
    if let Ok(class) = object.cast::<PyType>() {
        let own = |one: &Bound<'_, PyType>| class.is(one);
        let number = if own(&py.get_type::<PyBool>()) {
            Scalar::Bool(false)
        } else if own(&py.get_type::<PyInt>()) {
            Scalar::Int(0)
        } else if own(&py.get_type::<PyFloat>()) {
            Scalar::Float(0.0)
        } else if own(&py.get_type::<PyComplex>()) {
            Scalar::Complex(0.0, 0.0)
        } else {
            return if is_of_numpy(class) { Some(known(class.name().ok()?.to_string())) } else { None };
        };
        return Some(Ok(number.default_dtype()));
    }
    // Of NumPy's objects only dtypes have a name; arrays and scalars have none.
    if !is_of_numpy(&object.get_type()) {
        return None;
    }
    Some(known(object.getattr("name").ok()?.extract().ok()?))
}

/// Is the class one of NumPy's, or of the package that adds further floats to NumPy?
fn is_of_numpy(class: &Bound<'_, PyType>) -> bool {
    let module = class.module().map(|module| module.to_string()).unwrap_or_default();
    let package = module.split('.').next().unwrap_or_default();
    package == "numpy" || package == "ml_dtypes"
}

/// A dtype argument: anything that names a dtype.
#[derive(Clone, Copy)]
pub(crate) struct DtypeArg(pub(crate) DType);

impl<'a, 'py> FromPyObject<'a, 'py> for DtypeArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match named(&object) {
            Some(Ok(dtype)) => Ok(DtypeArg(dtype)),
            Some(Err(name)) => {
                let names: Vec<&str> = DType::COMPUTED.into_iter().map(DType::name).collect();
                Err(PyTypeError::new_err(format!(
                    "got '{name}', expected the name of a dtype: one of {} and the float8 ones",
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

/// The dtype of an optional argument.
pub(crate) fn or(dtype: Option<DtypeArg>, default: DType) -> DType {
    dtype.map_or(default, |dtype| dtype.0)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDtype>()?;
    for dtype in DType::ALL {
        module.add(constant_name(dtype), PyDtype(dtype))?;
    }
    // The array API standard's name, but not in `__all__`: `from umber.core import *` leaves Python's own alone.
    module.setattr(DType::Bool.name(), PyDtype(DType::Bool))
}
