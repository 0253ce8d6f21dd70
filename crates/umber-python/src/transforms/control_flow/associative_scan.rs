//! `associative_scan`.

use pyo3::prelude::*;
use umber_core::transforms::control_flow::{AssociativeScan, Order};

use super::super::call_user;
use super::super::check_callable;
use super::leaves::Leaves;
use super::loops::Failure;
use crate::enter::OrRaise;

const OP: &str = "associative_scan";

/// Combine all prefixes of sequences with an associative function, in logarithmic depth.
///
/// Parameters
/// ----------
/// fn : callable
///     Called as ``fn(a, b)`` with two trees like `elems`, of slices of the sequences; combines them element by element along
///     the axis and returns such a tree. Must be associative; earlier elements are in `a`.
/// elems : array or pytree of arrays
///     Sequences of equal length along `axis`.
/// reverse : bool, optional
///     Combine suffixes instead: start at the last element. Default: False.
/// axis : int, optional
///     Axis of the sequences. Default: 0.
///
/// Returns
/// -------
/// array or pytree of arrays
///     Arrays of the structure, shapes and dtypes of `elems`. Element ``i`` combines elements 0 to ``i``.
///
/// Raises
/// ------
/// TypeError
///     If `fn` is not callable, or returns another structure or other dtypes.
/// ValueError
///     If `elems` holds no arrays, if lengths differ, or if `fn` returns other shapes.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// scan, cumsum, cumprod
///
/// Notes
/// -----
/// ``out[i] = fn(out[i - 1], elems[i])``, computed by combining neighbours, scanning these pairs and inserting the prefixes
/// between them (Blelloch, "Prefix sums and their applications", 1990): about ``2 n`` combinations in ``2 log2(n)`` calls of
/// `fn`. These are recorded as ordinary operations, so all transforms apply. `scan` needs less memory, but its steps run in
/// order.
///
/// Examples
/// --------
/// >>> mx.associative_scan(mx.maximum, mx.array([1, 4, 2, 5, 3]))
/// array([1, 4, 4, 5, 5], dtype=int32)
/// >>> compose = lambda f, g: (f[0] * g[0], g[0] * f[1] + g[1])
/// >>> mx.associative_scan(compose, (mx.full(3, 0.5), mx.ones(3)))[1]
/// array([1, 1.5, 1.75], dtype=float32)
#[pyfunction]
#[pyo3(signature = (r#fn, elems, reverse = false, axis = 0))]
fn associative_scan<'py>(
    r#fn: &Bound<'py, PyAny>,
    elems: &Bound<'py, PyAny>,
    reverse: bool,
    axis: i64,
) -> PyResult<Py<PyAny>> {
    let py = r#fn.py();
    check_callable(OP, r#fn)?;
    let elems = Leaves::of(OP, "elems", elems)?;
    let name = |i: usize| elems.name(i);
    let order = if reverse { Order::Backwards } else { Order::Forwards };
    let scan = AssociativeScan::begin(&elems.arrays, order, axis, &name).or_raise()?;
    let mut combine = |a: &[_], b: &[_]| {
        let call = || {
            let arguments = (elems.tree.rebuild(py, a)?, elems.tree.rebuild(py, b)?);
            elems.matching(py, OP, "result", &call_user(r#fn, arguments, None)?)
        };
        call().map_err(Failure::Python)
    };
    let scanned = scan.run::<Failure>(&mut combine, &name)?;
    elems.tree.rebuild(py, &scanned)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(associative_scan, module)?)
}
