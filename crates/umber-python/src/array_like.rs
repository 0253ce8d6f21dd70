//! `ArrayLike`: what arrays can be made of.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::convert;
use crate::new_array::NewArray;

/// An object that an array can be made of, checked: a number, a nested sequence, or what shares its memory.
#[pyclass(name = "ArrayLike", module = "umber.core", frozen)]
struct ArrayLike {
    /// The object that is like an array.
    #[pyo3(get)]
    object: Py<PyAny>,
}

#[pymethods]
impl ArrayLike {
    #[new]
    fn new(object: &Bound<'_, PyAny>) -> PyResult<ArrayLike> {
        if convert::is_array_like(object)? {
            return Ok(ArrayLike { object: object.clone().unbind() });
        }
        Err(PyTypeError::new_err(format!(
            "[ArrayLike] got {}, expected numbers, a nested sequence of numbers, or an object that exports \
             its memory",
            object.get_type().name()?
        )))
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__(
        &self,
        py: Python<'_>,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let array = NewArray::from(convert::array(self.object.bind(py), None)?);
        array.object(py)?.call_method1("__array__", (dtype, copy)).map(Bound::unbind)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrayLike>()
}
