//! `scan`, `associative_scan`, `fori_loop`, `map`, `while_loop`, `cond`, `switch`.

mod associative_scan;
mod branches;
pub(super) mod leaves;
mod loops;

use pyo3::prelude::*;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    loops::register(module)?;
    associative_scan::register(module)?;
    branches::register(module)
}
