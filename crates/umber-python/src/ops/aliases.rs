//! Aliases of functions under a second name of NumPy.

use pyo3::prelude::*;

/// NumPy's name and umber's name.
const ALIASES: [(&str, &str); 10] = [
    ("absolute", "abs"),
    ("amax", "max"),
    ("amin", "min"),
    ("around", "round"),
    ("bitwise_not", "bitwise_invert"),
    ("fix", "trunc"),
    ("invert", "bitwise_invert"),
    ("mod", "remainder"),
    ("row_stack", "vstack"),
    ("true_divide", "divide"),
];

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, function) in ALIASES {
        module.add(name, module.getattr(function)?)?;
    }
    module.add("cross", module.getattr("linalg")?.getattr("cross")?)
}
