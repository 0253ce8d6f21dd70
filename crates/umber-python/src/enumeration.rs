//! Closed sets as Python's `enum` makes them, so that members have names, are listed, copied and pickled.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// A class of `enum.Enum`, made when it is first needed. Members have their places as values.
pub(crate) struct Enumeration {
    name: &'static str,
    doc: &'static str,
    members: &'static [&'static str],
    made: PyOnceLock<EnumClass>,
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
        Enumeration { name, doc, members, made: PyOnceLock::new() }
    }

    fn made(&self, py: Python<'_>) -> PyResult<&EnumClass> {
        self.made.get_or_try_init(py, || {
            let base = py.import("enum")?.getattr("Enum")?;
            let keywords = PyDict::new(py);
            keywords.set_item("module", "umber.core")?;
            let numbered: Vec<(&str, usize)> = self.members.iter().copied().zip(0..).collect();
            let class = base.call((self.name, numbered), Some(&keywords))?;
            class.setattr("__doc__", self.doc)?;
            // As MLX writes them: the name, without the value that stands for nothing.
            class.setattr("__repr__", base.getattr("__str__")?)?;
            let members = class.try_iter()?.map(|member| Ok(member?.unbind())).collect::<PyResult<_>>()?;
            Ok(EnumClass { class: class.unbind(), members })
        })
    }

    /// The member at a place of the list.
    pub(crate) fn member<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.made(py)?.members[place].bind(py).clone())
    }

    /// The place of a member; `None` of any other object.
    pub(crate) fn place(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        Ok(self.made(object.py())?.members.iter().position(|member| object.is(member)))
    }

    /// Put the class and its members into a module.
    pub(crate) fn register(&self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        let made = self.made(module.py())?;
        module.add(self.name, &made.class)?;
        self.members.iter().zip(&made.members).try_for_each(|(name, member)| module.add(*name, member))
    }
}
