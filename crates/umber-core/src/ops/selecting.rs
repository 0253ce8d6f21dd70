//! Selecting elements from several arrays, and setting selected elements.

use umber_types::{DType, Result, Shape, bail, ensure, promote};

use super::data_dependent;
use super::indexing::{OutOfBounds, check_known, resolve_indices, take};
use super::promotion::{broadcast_all, cast_constant, common_shape};
use super::scans::{ScanOrder, cumsum};
use super::shaping::{resize, set_cyclic, stack};
use crate::graph::{Array, Inputs};
use crate::primitives::gather::Places;
use crate::primitives::rules::{broadcast, cast, constant, reshape, sub};
use crate::primitives::select::Select;

/// The arrays in the dtype promoted with `other`.
fn promoted(arrays: &[&Array], other: DType) -> Result<Inputs> {
    let dtype = arrays.iter().map(|array| array.dtype()).fold(other, promote);
    arrays.iter().map(|array| cast_constant(array, dtype)).collect()
}

/// Select elements from the choice of the first condition that is true.
///
/// # Errors
/// If there are no conditions, not as many choices as conditions, a condition is not bool, or the shapes do not broadcast.
///
/// # Examples
/// ```
/// use umber_core::{Array, DType, ops};
///
/// let x = Array::from_slice(&[1, 2, 3], [3]).unwrap();
/// let is_two = ops::equal(&x, &Array::scalar(2, DType::Int32)).unwrap();
/// let selected = ops::select_from(&[&is_two], &[&x], &Array::scalar(0, DType::Int32)).unwrap();
/// assert_eq!(selected.to_vec::<i32>().unwrap(), [0, 2, 0]);
/// ```
pub fn select_from(conditions: &[&Array], choices: &[&Array], default: &Array) -> Result<Array> {
    ensure!(
        conditions.len() == choices.len() && !conditions.is_empty(),
        Value("select"),
        "needs equally many conditions and choices, at least one of each, got {} and {}",
        conditions.len(),
        choices.len()
    );
    for condition in conditions {
        ensure!(
            condition.dtype() == DType::Bool,
            Type("select"),
            "conditions must be bool, not {}",
            condition.dtype()
        );
    }
    let all: Vec<&Array> = conditions.iter().chain(choices).copied().chain([default]).collect();
    let shape = common_shape("select", &all)?;
    let dtype = choices.iter().map(|choice| choice.dtype()).fold(default.dtype(), promote);
    let broadcast_to_common = |x: &Array, dtype| broadcast(&cast_constant(x, dtype)?, &shape);
    let mut selected = broadcast_to_common(default, dtype)?;
    for (condition, choice) in conditions.iter().zip(choices).rev() {
        let (condition, choice) =
            (broadcast_to_common(condition, DType::Bool)?, broadcast_to_common(choice, dtype)?);
        selected = Array::record_one(Select, &[&condition, &choice, &selected])?;
    }
    Ok(selected)
}

/// Select each element from the choice with the number given by an index array.
///
/// # Errors
/// If there are no choices, the indices are not integers, or shapes do not broadcast; in [`OutOfBounds::Raise`] if an index is
/// negative or not less than the number of choices, when it is evaluated.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::{self, OutOfBounds};
/// use umber::Array;
/// let (low, high) = (Array::from([1, 2, 3]), Array::from([10, 20, 30]));
/// let which = Array::from([0, 1, 7]);
/// let selected = ops::choose(&which, &[&low, &high], OutOfBounds::Clip)?;
/// assert_eq!(selected.to_vec::<i32>()?, [1, 20, 30]);
/// assert!(ops::choose(&which, &[&low, &high], OutOfBounds::Raise).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn choose(indices: &Array, choices: &[&Array], mode: OutOfBounds) -> Result<Array> {
    let Some(first) = choices.first() else { bail!(Value("choose"), "needs at least one choice") };
    let indices = resolve_indices("choose", indices, choices.len(), mode)?;
    if mode == OutOfBounds::Raise {
        super::index_grids::check_inside("choose", &indices, choices.len())?;
    }
    // Cast to uint64, so that negative indices are out of bounds.
    let indices = cast(&indices, DType::UInt64)?;
    let choices = promoted(choices, first.dtype())?;
    let arrays: Vec<&Array> = choices.iter().chain([&indices]).collect();
    let mut arrays = broadcast_all("choose", &arrays)?;
    let Some(indices) = arrays.pop() else { bail!(Value("choose"), "needs at least one choice") };
    let stacked = stack(&arrays.iter().collect::<Vec<_>>(), 0)?;
    let row: Shape = std::iter::once(1).chain(indices.shape().iter().copied()).collect();
    let selected = Places::along("choose", 0, reshape(&indices, row)?).read(&stacked)?;
    reshape(&selected, indices.shape().clone())
}

/// Copy an array with the elements at indices of the flattened array set to values.
///
/// Values are repeated if there are fewer than indices; without values the result is `a`.
///
/// # Errors
/// If there are indices but no elements, or the indices are not integers; in [`OutOfBounds::Raise`] if an index is out of
/// bounds, which may be detected only when the result is evaluated.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::{self, OutOfBounds};
/// use umber::Array;
/// let (a, indices) = (Array::from([[1, 2], [3, 4]]), Array::from([0, 2, 3]));
/// let updated = ops::put(&a, &indices, &Array::from([-1, -2]), OutOfBounds::Raise)?;
/// assert_eq!(updated.to_vec::<i32>()?, [-1, 2, -2, -1]);
/// assert_eq!(updated.shape(), a.shape());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn put(a: &Array, indices: &Array, values: &Array, mode: OutOfBounds) -> Result<Array> {
    ensure!(
        a.size() > 0 || indices.size() == 0,
        Index("put"),
        "cannot put {} elements into an empty array",
        indices.size()
    );
    if values.size() == 0 {
        return Ok(a.clone());
    }
    let flat_indices = resolve_indices("put", indices, a.size(), mode)?;
    if mode == OutOfBounds::Raise {
        check_known("put", indices, 0, a.size())?;
    }
    set_cyclic("put", a, &flat_indices, values)
}

/// Copy an array with the elements where a mask is true set to consecutive values.
///
/// The `i`-th true element takes the `i`-th value; values are repeated if there are fewer.
///
/// # Errors
/// If the mask has another size than `a`, or there are no values for true elements.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([1, 2, 3, 4]);
/// let mask = Array::from([true, false, true, true]);
/// let updated = ops::place(&a, &mask, &Array::from([10, 20]))?;
/// assert_eq!(updated.to_vec::<i32>()?, [10, 2, 20, 10]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn place(a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    let mask = check_mask("place", a, mask)?;
    if values.size() == 0 {
        if data_dependent::count_of("place", &mask)? == 0 {
            return Ok(a.clone());
        }
        bail!(Value("place"), "values must not be empty");
    }
    let flat = reshape(&mask, [mask.size()])?;
    let value_index = cumsum(&cast(&flat, DType::Int64)?, ScanOrder::along(0), None)?;
    let value_index = sub(&value_index, &constant(&value_index, 1))?;
    let value_index = resolve_indices("place", &value_index, values.size(), OutOfBounds::Wrap)?;
    let selected =
        take(&cast_constant(values, a.dtype())?, &reshape(&value_index, a.shape().clone())?, None)?;
    Array::record_one(Select, &[&mask, &selected, a])
}

/// Copy an array with the elements where a mask is true set to the values at the same positions.
///
/// Values are repeated if there are fewer than elements of `a`.
///
/// # Errors
/// If the mask has another size than `a`, or there are no values.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([1, 2, 3, 4]);
/// let mask = Array::from([true, false, true, true]);
/// let updated = ops::putmask(&a, &mask, &Array::from([10, 20]))?; // in turn 10, 20, 10, 20
/// assert_eq!(updated.to_vec::<i32>()?, [10, 2, 10, 20]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn putmask(a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    let mask = check_mask("putmask", a, mask)?;
    ensure!(values.size() > 0 || a.size() == 0, Value("putmask"), "values must not be empty");
    let lengths: Vec<i64> = a.shape().iter().map(|&length| length as i64).collect();
    let values = resize(&cast_constant(values, a.dtype())?, &lengths)?;
    Array::record_one(Select, &[&mask, &values, a])
}

/// A mask of the size of `a`, reshaped to its shape.
fn check_mask(op: &str, a: &Array, mask: &Array) -> Result<Array> {
    ensure!(
        mask.size() == a.size(),
        Value(op),
        "sizes of mask and array differ: shapes {} and {}",
        mask.shape(),
        a.shape()
    );
    reshape(&cast_constant(mask, DType::Bool)?, a.shape().clone())
}
