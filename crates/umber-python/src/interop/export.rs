//! Exported views and their write permission.

use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::graph::ArrayInternals;
use umber_core::memory::{Access, Lease, ViewPolicy};
use umber_core::types::layout::Strides;
use umber_core::{Array, DType, Layout, Result};

use crate::array::PyArray;
use crate::enter::{OrRaise, enter, evaluate, warn_if_traced};

/// Set how arrays share memory with views of other libraries, and return the previous policy.
///
/// Parameters
/// ----------
/// policy : {"checked", "writable", "readonly"}
///     The new policy; "checked" is the initial one.
///
/// Returns
/// -------
/// str
///     Previous policy.
///
/// Raises
/// ------
/// ValueError
///     If the policy is unknown.
///
/// See Also
/// --------
/// asarray, from_numpy
///
/// Notes
/// -----
/// "checked": a view is writable exactly if nothing else can see the memory. Operations on memory that others can write
/// run eagerly.
///
/// "writable": a view is writable whenever the memory is, even while it is shared or a derivative is taken, and
/// operations stay lazy. The program is responsible for the effects of its writes.
///
/// "readonly": as "checked", but no view is writable.
///
/// Examples
/// --------
/// >>> before = mx.set_view_policy("readonly")
/// >>> np.asarray(mx.ones(2)).flags.writeable
/// False
/// >>> mx.set_view_policy(before)
/// 'readonly'
#[pyfunction]
fn set_view_policy(policy: &str) -> PyResult<&'static str> {
    let Some(requested) = ViewPolicy::ALL.into_iter().find(|known| known.name() == policy) else {
        return Err(PyValueError::new_err(format!(
            "[set_view_policy] got '{policy}', expected 'checked', 'writable' or 'readonly'"
        )));
    };
    Ok(requested.choose().name())
}

/// Pinned memory of an exported array, and its layout. The array itself is not referenced, so that exported views do not
/// count as users of its memory.
pub(super) struct Export {
    pub(super) dtype: DType,
    /// Axes of length 0 or 1 have the strides of a dense array: some consumers check them.
    pub(super) layout: Layout,
    start: NonNull<u8>,
    lease: Lease,
}

impl Export {
    /// Pin the memory of an evaluated array; `None` for a pending one.
    #[inline(always)]
    pub(super) fn evaluated_storage(py: Python<'_>, exported: &PyArray) -> Option<Result<Export>> {
        let export = |array: &Array| {
            let is_evaluated = array.storage().is_some_and(|storage| storage.buffer().is_on_host());
            let is_evaluated = is_evaluated && !array.is_traced();
            is_evaluated.then(|| Export::of(array, access(array, Handles::Objects)))
        };
        // SAFETY: reads fields and takes a lease on the memory.
        unsafe { exported.with_ref(py, export) }
    }

    /// Evaluate the array with the interpreter lock released and pin its memory.
    #[inline]
    pub(super) fn new(py: Python<'_>, exported: &PyArray) -> PyResult<Export> {
        match Export::evaluated_storage(py, exported) {
            Some(export) => export.or_raise(),
            None => Export::evaluated(py, exported),
        }
    }

    #[cold]
    fn evaluated(py: Python<'_>, exported: &PyArray) -> PyResult<Export> {
        let array = exported.get();
        evaluate(py, &array)?;
        warn_if_traced(py, &array)?;
        let host = enter(py, || array.to_host())?;
        // The host sees a copy of another device's memory: writes to it would be lost.
        let access =
            if host.is_same(&array) { access(&array, Handles::ObjectsAndTwo) } else { Access::ReadOnly };
        Export::of(&host, access).or_raise()
    }

    /// A private copy: always writable.
    pub(super) fn copied(py: Python<'_>, exported: &PyArray) -> PyResult<Export> {
        let array = exported.get();
        warn_if_traced(py, &array)?;
        let copy = enter(py, || array.to_host()?.copied())?;
        Export::of(&copy, Access::Writable).or_raise()
    }

    /// Pin the memory of an evaluated array in host memory, for readers only.
    pub(super) fn read_only(array: &Array) -> PyResult<Export> {
        Export::of(array, Access::ReadOnly).or_raise()
    }

    // Inlined with its callees, so that an export is constructed in place.
    #[inline(always)]
    fn of(array: &Array, access: Access) -> Result<Export> {
        let storage = array.storage().expect("evaluated by the caller");
        let lease = Lease::new(storage.buffer(), access)?;
        let start = storage.buffer().host_start().expect("memory is on the host");
        Ok(Export { dtype: array.dtype(), layout: export_layout(storage.layout()), start, lease })
    }

    /// Address of the element at index zero.
    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr().wrapping_add(self.layout.offset * self.dtype.size())
    }

    /// Bytes of all elements.
    pub(super) fn bytes(&self) -> usize {
        self.layout.size() * self.dtype.size()
    }

    /// Whether an axis runs backwards in memory.
    #[inline]
    pub(super) fn has_negative_strides(&self) -> bool {
        self.layout.strides.iter().any(|&stride| stride < 0)
    }

    /// For a consumer without a notion of read-only or shared memory: grant exclusive write access. `None` if others may
    /// write, or if the memory is read-only.
    pub(super) fn into_exclusive(self) -> PyResult<Option<Export>> {
        let buffer = self.lease.buffer();
        if !self.is_writable() || (buffer.writers() > 1 && ViewPolicy::current() != ViewPolicy::Writable) {
            return Ok(None);
        }
        let lease = Lease::sole(buffer).or_raise()?;
        Ok(Some(Export { lease, ..self }))
    }

    /// Convert to a pin, which keeps the memory without restricting other users.
    pub(super) fn into_pin(self) -> Lease {
        Lease::pin(self.lease.buffer())
    }

    /// Whether the holder may write.
    pub(super) fn is_writable(&self) -> bool {
        self.lease.is_writable()
    }

    /// Whether the producer declared the memory read-only, as opposed to its being shared.
    pub(super) fn is_declared_read_only(&self) -> bool {
        self.lease.buffer().access() == Access::ReadOnly
    }
}

/// Layout as it is exported.
#[inline(always)]
fn export_layout(layout: &Layout) -> Layout {
    let shape = layout.shape.clone();
    let mut strides = Strides::from_slice(&layout.strides);
    let is_empty = shape.contains(&0);
    let mut dense = 1isize;
    for (stride, &length) in strides.iter_mut().zip(shape.iter()).rev() {
        if length <= 1 || is_empty {
            *stride = dense;
        }
        dense = dense.saturating_mul(length.max(1) as isize);
    }
    Layout { shape, strides, offset: layout.offset }
}

/// References to a node that only one Python object exposes.
#[derive(Clone, Copy)]
enum Handles {
    /// The object.
    Objects = 1,
    /// The object, and the two handles of an evaluated export.
    ObjectsAndTwo = 3,
}

/// Access of a view of an evaluated array.
#[inline]
fn access(array: &Array, handles: Handles) -> Access {
    let storage = array.storage().expect("evaluated by the caller");
    let buffer = storage.buffer();
    let is_overlapping = || !storage.layout().is_contiguous() && storage.layout().is_overlapping();
    if buffer.access() != Access::Writable || is_overlapping() {
        return Access::ReadOnly;
    }
    match ViewPolicy::current() {
        ViewPolicy::Writable => Access::Writable,
        ViewPolicy::ReadOnly => Access::ReadOnly,
        ViewPolicy::Checked => {
            // The node holds one reference to the buffer, and each lease one.
            let is_exclusive = Arc::strong_count(array.node()) <= handles as usize
                && Arc::strong_count(buffer) <= 1 + buffer.leases()
                && !buffer.has_readers()
                && !array.is_traced();
            if is_exclusive { Access::Writable } else { Access::ReadOnly }
        }
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_view_policy, module)?)
}
