//! `ArrayLike`: objects from which an array can be made.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::convert;
use crate::new_array::NewArray;

/// Wrapper of an object from which an array can be made.
///
/// Parameters
/// ----------
/// object : array_like
///     A number, a nested sequence, or an object that shares its memory.
///
/// Raises
/// ------
/// TypeError
///     If an array cannot be made of `object`.
///
/// See Also
/// --------
/// array
///
/// Examples
/// --------
/// >>> mx.ArrayLike([1, 2]).object
/// [1, 2]
#[pyclass(name = "ArrayLike", module = "umber.core", frozen)]
struct ArrayLike {
    /// The wrapped object.
    ///
    /// Returns
    /// -------
    /// object
    ///
    /// Examples
    /// --------
    /// >>> mx.ArrayLike([1, 2]).object
    /// [1, 2]
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
