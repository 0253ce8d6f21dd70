//! Values that a shape or a check depends on: they are evaluated where they stand, as `.item()` does.

use umber_types::{Axes, DType, Error, ErrorKind, KeepAxes, Result, Scalar, ensure, error};

use crate::graph::Array;
use crate::primitives::nonzero::Nonzero;
use crate::primitives::rules::cast;

/// The one value of `array`, on which the shape of what `op` answers depends.
pub(super) fn value_of(op: &str, array: &Array) -> Result<Scalar> {
    array.item().map_err(|error| explain(op, error))
}

/// The values of an array of integers, on which the shape of what `op` answers depends.
pub(super) fn integers_of(op: &str, array: &Array) -> Result<Vec<i64>> {
    ensure!(
        array.dtype().is_integer() || array.dtype() == DType::Bool,
        Type(op),
        "array must be integer or bool, not {}",
        array.dtype()
    );
    cast(array, DType::Int64)?.to_vec::<i64>().map_err(|error| explain(op, error))
}

/// Has `array` a value? Then it is evaluated; an argument of a function inside `vmap` or `compile` has none, and what is
/// only checked is not checked there.
pub(super) fn has_value(array: &Array) -> Result<bool> {
    match array.eval() {
        Ok(()) => Ok(true),
        Err(error) if lacks_value(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The one value of `array`, where it has one.
pub(super) fn known(array: &Array) -> Result<Option<Scalar>> {
    if has_value(array)? { array.item().map(Some) } else { Ok(None) }
}

/// How many elements of a mask are true.
pub(super) fn count_of(op: &str, mask: &Array) -> Result<usize> {
    debug_assert_eq!(mask.dtype(), DType::Bool);
    if let Some(value) = mask.constant() {
        return Ok(if value.as_bool() { mask.size() } else { 0 });
    }
    Ok(value_of(op, &count_lazily(mask)?)?.as_i64() as usize)
}

/// How many elements of a mask are true, not yet evaluated.
pub(super) fn count_lazily(mask: &Array) -> Result<Array> {
    let counted = super::reductions::count_true(mask, &Axes::all(mask.ndim()), KeepAxes::No)?;
    cast(&counted, DType::Int64)
}

/// The row-major places where a mask is true, as uint32, or int64 where there are too many elements for that.
pub(super) fn places_of(op: &str, mask: &Array) -> Result<Array> {
    Nonzero::of(mask, count_of(op, mask)?)
}

/// Did somebody ask an argument of a traced function for its value, or for what depends on it?
fn lacks_value(error: &Error) -> bool {
    error.kind() == ErrorKind::NoValue
}

/// Say what to do instead where there is no value yet.
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
