//! Values that determine a shape or the outcome of a check. They are evaluated eagerly, as by `.item()`.

use umber_types::{Axes, DType, Error, ErrorKind, KeepAxes, Result, Scalar, ensure, error};

use crate::graph::Array;
use crate::primitives::nonzero::Nonzero;
use crate::primitives::rules::cast;

/// The value of a one-element array that determines the shape of the result of `op`.
pub(super) fn value_of(op: &str, array: &Array) -> Result<Scalar> {
    array.item().map_err(|error| explain(op, error))
}

/// The values of an integer array that determines the shape of the result of `op`.
pub(super) fn integers_of(op: &str, array: &Array) -> Result<Vec<i64>> {
    ensure!(
        array.dtype().is_integer() || array.dtype() == DType::Bool,
        Type(op),
        "array must be integer or bool, not {}",
        array.dtype()
    );
    cast(array, DType::Int64)?.to_vec::<i64>().map_err(|error| explain(op, error))
}

/// Evaluate `array` and return true if it has a value. Traced arguments inside `vmap` or `compile` have none, so that checks of
/// values are skipped there.
pub(super) fn has_value(array: &Array) -> Result<bool> {
    match array.eval() {
        Ok(()) => Ok(true),
        Err(error) if lacks_value(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The value of a one-element array, or `None` if it is traced.
pub(super) fn known(array: &Array) -> Result<Option<Scalar>> {
    if has_value(array)? { array.item().map(Some) } else { Ok(None) }
}

/// The number of true elements of a mask.
pub(super) fn count_of(op: &str, mask: &Array) -> Result<usize> {
    debug_assert_eq!(mask.dtype(), DType::Bool);
    if let Some(value) = mask.constant() {
        return Ok(if value.as_bool() { mask.size() } else { 0 });
    }
    Ok(value_of(op, &count_lazily(mask)?)?.as_i64() as usize)
}

/// The number of true elements of a mask, as an array that is not evaluated.
pub(super) fn count_lazily(mask: &Array) -> Result<Array> {
    let counted = super::reductions::count_true(mask, &Axes::all(mask.ndim()), KeepAxes::No)?;
    cast(&counted, DType::Int64)
}

/// The row-major indices of the true elements of a mask, as uint32, or int64 for masks with too many elements for that.
pub(super) fn places_of(op: &str, mask: &Array) -> Result<Array> {
    Nonzero::of(mask, count_of(op, mask)?)
}

/// Whether the error says that a traced argument, or an array that depends on one, has no value.
fn lacks_value(error: &Error) -> bool {
    error.kind() == ErrorKind::NoValue
}

/// Explain an error about a missing value, and name the alternatives.
fn explain(op: &str, error: Error) -> Error {
    if !lacks_value(&error) {
        return error;
    }
    let what = match op {
        "index" => "the number of elements that a boolean mask selects depends on its values",
        _ => "the shape of the result depends on values",
    };
    error!(
        NoValue(op),
        "{what}, which are unknown inside vmap or compile; use mx.where, or pass a fixed size ({error})"
    )
}
