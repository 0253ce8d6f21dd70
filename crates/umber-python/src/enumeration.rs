//! Classes of Python's `enum`, so that members have names and can be listed, copied and pickled.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// A subclass of `enum.Enum`, created on first use. The value of a member is its index.
pub(crate) struct Enumeration {
    name: &'static str,
    doc: &'static str,
    members: &'static [&'static str],
    class: PyOnceLock<EnumClass>,
}

struct EnumClass {
    class: Py<PyAny>,
    members: Vec<Py<PyAny>>,
}

impl Enumeration {
    /// A class of this name with these members.
    pub(crate) const fn new(
        name: &'static str,
        doc: &'static str,
        members: &'static [&'static str],
    ) -> Enumeration {
        Enumeration { name, doc, members, class: PyOnceLock::new() }
    }

    fn class(&self, py: Python<'_>) -> PyResult<&EnumClass> {
        self.class.get_or_try_init(py, || {
            let base = py.import("enum")?.getattr("Enum")?;
            let keywords = PyDict::new(py);
            keywords.set_item("module", "umber.core")?;
            let numbered: Vec<(&str, usize)> = self.members.iter().copied().zip(0..).collect();
            let class = base.call((self.name, numbered), Some(&keywords))?;
            class.setattr("__doc__", self.doc)?;
            // As MLX prints them: the name without the value, which has no meaning.
            class.setattr("__repr__", base.getattr("__str__")?)?;
            let members = class.try_iter()?.map(|member| Ok(member?.unbind())).collect::<PyResult<_>>()?;
            Ok(EnumClass { class: class.unbind(), members })
        })
    }

    /// The member at an index of the list.
    pub(crate) fn member<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.class(py)?.members[index].bind(py).clone())
    }

    /// The index of a member; `None` for any other object.
    pub(crate) fn index_of(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        Ok(self.class(object.py())?.members.iter().position(|member| object.is(member)))
    }

    /// Put the class and its members into a module.
    pub(crate) fn register(&self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        let class = self.class(module.py())?;
        module.add(self.name, &class.class)?;
        self.members.iter().zip(&class.members).try_for_each(|(name, member)| module.add(*name, member))
    }
}
