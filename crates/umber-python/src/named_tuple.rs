//! Classes of `collections.namedtuple`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::new_array::NewArray;

/// A class of named tuples, created on first use.
pub(crate) struct NamedTuple {
    name: &'static str,
    fields: &'static [&'static str],
    class: PyOnceLock<Py<PyAny>>,
}

impl NamedTuple {
    /// A class of this name with these fields.
    pub(crate) const fn new(name: &'static str, fields: &'static [&'static str]) -> NamedTuple {
        NamedTuple { name, fields, class: PyOnceLock::new() }
    }

    /// A tuple of arrays.
    pub(crate) fn of<'py>(
        &self,
        py: Python<'py>,
        arrays: impl IntoIterator<Item = NewArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.get_or_try_init(py, || {
            let keywords = PyDict::new(py);
            keywords.set_item("module", "umber.core")?;
            let arguments = (self.name, self.fields.to_vec());
            let class = py.import("collections")?.call_method("namedtuple", arguments, Some(&keywords))?;
            Ok::<_, PyErr>(class.unbind())
        })?;
        let arrays: Vec<NewArray> = arrays.into_iter().collect();
        class.bind(py).call_method1("_make", (arrays,))
    }
}
