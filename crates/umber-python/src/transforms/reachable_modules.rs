//! Modules that a function reaches without being given them: their arrays are restored after a trace.
//!
//! A trace that ends leaves arrays without values. A layer that stores one, such as the running averages of batch
//! normalisation, could not be used or saved any more.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple};
use umber_core::graph::ArrayInternals;

use super::state::{StateSlot, StateSnapshot};
use crate::pytree::is_module;

/// The arrays of the modules that a function reaches, as they were before a trace.
pub(super) struct ReachableModules {
    modules: Vec<(Py<PyAny>, StateSnapshot)>,
}

impl ReachableModules {
    /// Find the modules of a function: itself, the instance of a method, variables of enclosing functions, and global
    /// variables that it names; also those of the functions among them.
    pub(super) fn of(fun: &Bound<'_, PyAny>) -> PyResult<ReachableModules> {
        let py = fun.py();
        let mut modules = Vec::new();
        let mut visited: Vec<Bound<'_, PyAny>> = Vec::new();
        let mut pending = vec![fun.clone()];
        while let Some(value) = pending.pop() {
            if visited.iter().any(|other| other.is(&value)) {
                continue;
            }
            if is_module(&value) {
                let object = value.clone().unbind();
                // A module that contains itself has no finite snapshot.
                if let Ok(snapshot) = StateSnapshot::of(&object, py) {
                    modules.push((object, snapshot));
                }
            } else if let Ok(function) = value.cast::<PyFunction>() {
                variables(function, &mut pending)?;
            }
            if value.is_callable() {
                for name in [intern!(py, "__self__"), intern!(py, "__wrapped__"), intern!(py, "func")] {
                    // An attribute of a user's class may raise.
                    pending.extend(value.getattr_opt(name).ok().flatten());
                }
            }
            visited.push(value);
        }
        Ok(ReachableModules { modules })
    }

    /// Restore the modules of which arrays were replaced, or that hold traced ones. Returns the paths of these arrays.
    ///
    /// Otherwise parameters that a module creates in its first call remain.
    pub(super) fn restore(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut paths = Vec::new();
        for (module, before) in &self.modules {
            let current = StateSnapshot::of(module, py)?;
            let changed = before.changed(py, current);
            let count = paths.len();
            for slot in &changed {
                if slot.value.is_traced() || before.has_array_at(py, slot) {
                    paths.push(described(module.bind(py), slot)?);
                }
            }
            if paths.len() > count {
                before.restore(py, &[])?;
            }
        }
        Ok(paths)
    }
}

/// Push the variables of enclosing functions, and the modules and functions of the same file that the function names.
fn variables<'py>(function: &Bound<'py, PyFunction>, found: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    let py = function.py();
    if let Ok(cells) = function.getattr(intern!(py, "__closure__"))?.cast::<PyTuple>() {
        // A cell is empty before its variable is assigned.
        found.extend(cells.iter().filter_map(|cell| cell.getattr(intern!(py, "cell_contents")).ok()));
    }
    let globals = function.getattr(intern!(py, "__globals__"))?;
    let names = function.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_names"))?;
    for name in names.try_iter()? {
        let Some(value) = globals.cast::<PyDict>()?.get_item(name?.cast::<PyString>()?)? else { continue };
        let is_of_file = || -> PyResult<bool> {
            Ok(value.is_instance_of::<PyFunction>()
                && value.getattr(intern!(py, "__globals__"))?.is(&globals))
        };
        if is_module(&value) || is_of_file()? || value.hasattr(intern!(py, "__wrapped__"))? {
            found.push(value);
        }
    }
    Ok(())
}

/// The path of an array in a module, such as `layers.1.running_mean of Sequential`.
fn described(module: &Bound<'_, PyAny>, slot: &StateSlot) -> PyResult<String> {
    let keys = slot.path.iter().map(|key| Ok(key.bind(module.py()).str()?.to_string()));
    let path = keys.collect::<PyResult<Vec<_>>>()?.join(".");
    Ok(format!("{path} of {}", module.get_type().name()?))
}
