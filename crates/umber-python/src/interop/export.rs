//! Who may write through a view that goes out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber::memory::{Access, Lease};
use umber::{Array, Layout};

use crate::array::PyArray;
use crate::enter::{OrRaise, enter, warn_if_traced};

/// How views go out: `set_view_policy`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Policy {
    /// Writable exactly when nothing else can see the memory.
    Checked,
    /// Writable whenever the memory is.
    Writable,
    /// Never writable.
    ReadOnly,
}

static POLICY: AtomicU8 = AtomicU8::new(Policy::Checked as u8);

const NAMES: [(&str, Policy); 3] =
    [("checked", Policy::Checked), ("writable", Policy::Writable), ("readonly", Policy::ReadOnly)];

fn policy() -> Policy {
    let now = POLICY.load(Ordering::Relaxed);
    NAMES.iter().map(|(_, policy)| *policy).find(|&policy| policy as u8 == now).unwrap_or(Policy::Checked)
}

/// Choose when views of arrays are writable: "checked" (the default: exactly when nothing else can see the
/// memory), "writable" (whenever the memory itself is) or "readonly" (never). Returns the policy before.
#[pyfunction]
fn set_view_policy(policy: &str) -> PyResult<&'static str> {
    let Some((_, wanted)) = NAMES.iter().find(|(name, _)| *name == policy) else {
        return Err(PyValueError::new_err(format!(
            "[set_view_policy] got '{policy}', expected 'checked', 'writable' or 'readonly'"
        )));
    };
    let before = self::policy();
    POLICY.store(*wanted as u8, Ordering::Relaxed);
    Ok(NAMES.iter().find(|(_, policy)| *policy == before).map_or("checked", |(name, _)| name))
}

/// An array on its way out: its memory, pinned.
pub(super) struct Export {
    pub(super) array: Array,
    pub(super) lease: Lease,
}

impl Export {
    /// Evaluate the array with the interpreter lock released and pin its memory.
    pub(super) fn new(py: Python<'_>, exported: &PyArray) -> PyResult<Export> {
        let array = exported.get();
        enter(py, || array.eval())?;
        warn_if_traced(py, &array)?;
        let access = access(&array);
        let storage = array.storage().expect("just evaluated");
        let lease = Lease::new(&storage.buffer, access).or_raise()?;
        Ok(Export { array, lease })
    }

    /// A copy that shares nothing: always writable.
    pub(super) fn copied(py: Python<'_>, exported: &PyArray) -> PyResult<Export> {
        let array = exported.get();
        warn_if_traced(py, &array)?;
        let copy = enter(py, || {
            array.eval()?;
            array.copied()
        })?;
        let lease =
            Lease::new(&copy.storage().expect("born evaluated").buffer, Access::Writable).or_raise()?;
        Ok(Export { array: copy, lease })
    }

    /// Which elements of the buffer the array is.
    pub(super) fn layout(&self) -> &Layout {
        &self.array.storage().expect("evaluated on construction").layout
    }

    /// Address of the element at index zero.
    pub(super) fn start(&self) -> *mut u8 {
        let offset = self.layout().offset * self.array.dtype().size();
        self.lease.buffer().start().as_ptr().wrapping_add(offset)
    }

    /// The lease alone, good for reading.
    pub(super) fn into_read_only(self) -> PyResult<Lease> {
        Lease::new(self.lease.buffer(), Access::ReadOnly).or_raise()
    }

    /// May the holder write?
    pub(super) fn is_writable(&self) -> bool {
        self.lease.access() == Access::Writable
    }
}

/// The storage of an array, evaluated with the interpreter lock released.
pub(super) fn evaluated(py: Python<'_>, array: &Array) -> PyResult<umber::graph::Storage> {
    enter(py, || array.eval())?;
    Ok(array.storage().expect("just evaluated").clone())
}

/// What a view of an evaluated array may do.
fn access(array: &Array) -> Access {
    let storage = array.storage().expect("evaluated by the caller");
    let buffer = &storage.buffer;
    if buffer.access() == Access::ReadOnly || storage.layout.is_overlapping() {
        return Access::ReadOnly;
    }
    match policy() {
        Policy::Writable => Access::Writable,
        Policy::ReadOnly => Access::ReadOnly,
        Policy::Checked => {
            // Handles of this node: the Python object's and the caller's. Of the buffer: the node's and the leases'.
            let alone = Arc::strong_count(array.node()) <= 2
                && Arc::strong_count(buffer) <= 1 + buffer.leases()
                && !array.is_traced();
            if alone { Access::Writable } else { Access::ReadOnly }
        }
    }
}

/// Is it memory that must never be written, rather than memory that is merely seen elsewhere?
pub(super) fn is_foreign_read_only(export: &Export) -> bool {
    export.lease.buffer().access() == Access::ReadOnly
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_view_policy, module)?)
}
