//! Operators of two arrays that are alike, recorded without asking what becomes of their dtypes and shapes: most operators of a
//! program with large arrays are of such.

use umber_kernels::tape::supports_binary;
use umber_types::BinaryKind;
use umber_types::tape::binary_dtype;

use crate::graph::few::is_at_once;
use crate::graph::{Array, ArraySpec, lines_are_known};
use crate::primitives::binary::Binary;

/// `kind(a, b)` of arrays of one shape and a dtype that it keeps or compares; `None` for what is recorded as usual, whatever the
/// reason: nothing has happened then.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::BinaryKind;
/// use umber::{Array, ops};
/// let (x, y) = (Array::from([1, 2]), Array::from([3, 4]));
/// assert_eq!(ops::alike(BinaryKind::Add, &x, &y).unwrap().to_vec::<i32>()?, [4, 6]);
/// assert!(ops::alike(BinaryKind::Divide, &x, &y).is_none(), "integers divide as floats");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn alike(kind: BinaryKind, a: &Array, b: &Array) -> Option<Array> {
    let spec = a.spec();
    let dtype = spec.dtype;
    let is_kept =
        !dtype.is_float8() && supports_binary(kind, dtype) && (dtype.is_inexact() || !kind.answers_inexact());
    if is_at_once(&spec.shape) {
        // Where it can be, it is computed as it is recorded.
        return None;
    }
    let is_plain = |x: &Array| x.node().follower().is_none() && !x.is_volatile();
    if !is_kept || spec != b.spec() || !is_plain(a) || !is_plain(b) || lines_are_known() {
        return None;
    }
    let spec = ArraySpec { shape: spec.shape.clone(), dtype: binary_dtype(kind, dtype) };
    Some(Array::record_plain(Binary(kind).into(), a, b, spec))
}
