//! `Dtype` and its categories.

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber::DType;

/// The type of an array's elements.
#[pyclass(name = "Dtype", module = "umber.core", frozen)]
#[derive(Clone, Copy)]
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

    fn __repr__(&self) -> String {
        format!("umber.core.{}", self.0.name())
    }

    fn __hash__(&self) -> u64 {
        self.0 as u64
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Py<PyAny> {
        let py = other.py();
        let other = match other.cast::<PyDtype>() {
            Ok(other) => Some(other.get().0),
            Err(_) => other.extract::<String>().ok().and_then(|name| DType::from_name(&name)),
        };
        let same = other == Some(self.0);
        match op {
            CompareOp::Eq => same.into_pyobject(py).map(|b| b.to_owned().into_any().unbind()),
            CompareOp::Ne => (!same).into_pyobject(py).map(|b| b.to_owned().into_any().unbind()),
            _ => return py.NotImplemented(),
        }
        .unwrap_or_else(|never| match never {})
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let name = slf.get().0.name();
        Ok((slf.get_type(), (name,)).into_pyobject(slf.py())?.into_any())
    }
}

/// A dtype argument: a `Dtype`, or its name.
#[derive(Clone, Copy)]
pub(crate) struct DtypeArg(pub(crate) DType);

impl<'a, 'py> FromPyObject<'a, 'py> for DtypeArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dtype) = object.cast::<PyDtype>() {
            return Ok(DtypeArg(dtype.get().0));
        }
        if let Ok(name) = object.extract::<String>() {
            return DType::from_name(&name)
                .map(DtypeArg)
                .ok_or_else(|| PyTypeError::new_err(format!("'{name}' is not the name of a dtype")));
        }
        Err(PyTypeError::new_err(format!("expected a Dtype, got {}", object.get_type().name()?)))
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
    Ok(())
}
