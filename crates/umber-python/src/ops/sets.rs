//! Set operations on the elements of arrays.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::ops::{self, Distinct, NanIsEqual, Unique, UniqueSize};

use crate::args::{Operand, StreamArg, compute, index, record_on};
use crate::named_tuple::NamedTuple;
use crate::new_array::NewArray;

/// Find the distinct elements of an array, in ascending order.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape. Without `size` it is evaluated, since its values determine the shape of the result.
/// size : int, optional
///     Number of elements to return: the smallest distinct ones, then `fill_value`. The shape is then known, so that the
///     function works inside `vmap` and `compile`. Default: all distinct elements.
/// return_index : bool, optional
///     Whether to return the first index of each distinct element. Default: False.
/// return_inverse : bool, optional
///     Whether to return the index of the distinct element that each element equals. Default: False.
/// return_counts : bool, optional
///     Whether to return the number of occurrences of each distinct element. Default: False.
/// fill_value : array_like, optional
///     Padding for `size`. Default: the smallest element.
/// axis : int, optional
///     Axis along which distinct subarrays are found; they are ordered lexicographically. Default: flatten the array first.
/// equal_nan : bool, optional
///     Whether NaN equals NaN. Default: True without `size`, False with it.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// values : array
///     Distinct elements in the dtype of `a`, NaN last. Alone if nothing else is requested, otherwise part of a tuple.
/// indices : array
///     With `return_index`: indices of the flattened array, or along `axis`; uint32.
/// inverse : array
///     With `return_inverse`: indices into `values`, uint32, of the shape of `a`, or 1-d for an `axis`. Elements that `size`
///     excludes have the last index.
/// counts : array
///     With `return_counts`: numbers of occurrences, int32; 0 for padding.
///
/// Raises
/// ------
/// ValueError
///     If `size` is negative; if `a` is empty and `size` is given without `fill_value`; without `size` inside `vmap` and
///     `compile`, where `a` has no value.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// unique_all, unique_counts, unique_inverse, unique_values, isin
///
/// Examples
/// --------
/// >>> mx.unique(mx.array([3, 1, 3, 2]))
/// array([1, 2, 3], dtype=int32)
/// >>> mx.unique(mx.array([3, 1, 3]), return_counts=True)
/// (array([1, 3], dtype=int32), array([1, 2], dtype=int32))
/// >>> mx.unique(mx.array([3, 1, 3]), size=3, fill_value=0)
/// array([1, 3, 0], dtype=int32)
#[pyfunction]
#[pyo3(signature = (
    a, /, size = None, return_index = false, return_inverse = false, return_counts = false, fill_value = None, *,
    axis = None, equal_nan = None, stream = None,
))]
#[expect(clippy::too_many_arguments, reason = "the signature is MLX's")]
fn unique<'py>(
    py: Python<'py>,
    a: Operand,
    size: Option<&Bound<'py, PyAny>>,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    fill_value: Option<Operand>,
    axis: Option<i64>,
    equal_nan: Option<bool>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let a = a.into_array();
    let size = match size.map(index).transpose()? {
        None => UniqueSize::Found,
        Some(size) => UniqueSize::Fixed {
            size: usize::try_from(size).map_err(|_| {
                PyValueError::new_err(format!("[unique] size must not be negative, got {size}"))
            })?,
            fill: fill_value.map(|fill| fill.promote_with(&a)).transpose()?,
        },
    };
    let equal_nan = equal_nan.unwrap_or(matches!(size, UniqueSize::Found));
    let nan = if equal_nan { NanIsEqual::Yes } else { NanIsEqual::No };
    let result = compute(py, stream, || ops::unique(&a, &size, nan, axis))?;
    if !(return_index || return_inverse || return_counts) {
        return Ok(NewArray::from(result.values).object(py)?.into_any());
    }
    let outputs = [
        (true, result.values),
        (return_index, result.indices),
        (return_inverse, result.inverse),
        (return_counts, result.counts),
    ];
    let outputs =
        outputs.into_iter().filter(|(requested, _)| *requested).map(|(_, array)| NewArray::from(array));
    Ok(PyTuple::new(py, outputs.collect::<Vec<_>>())?.into_any())
}

/// The distinct elements, indices and counts; NaN is not equal to NaN, as in the array API standard.
fn find_unique(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Unique> {
    let x = x.into_array();
    compute(py, stream, || ops::unique(&x, &UniqueSize::Found, NanIsEqual::No, None))
}

static ALL: NamedTuple =
    NamedTuple::new("UniqueAllResult", &["values", "indices", "inverse_indices", "counts"]);
static COUNTS: NamedTuple = NamedTuple::new("UniqueCountsResult", &["values", "counts"]);
static INVERSE: NamedTuple = NamedTuple::new("UniqueInverseResult", &["values", "inverse_indices"]);

/// Find the distinct elements of an array, their first indices, inverse indices and counts.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// UniqueAllResult
///     Named tuple ``(values, indices, inverse_indices, counts)``: distinct elements in ascending order, index of the first
///     occurrence of each in the flattened array (uint32), index into `values` for each element of `x` (uint32, the shape
///     of `x`), and number of occurrences (int32).
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where `x` has no value.
///
/// See Also
/// --------
/// unique, unique_counts, unique_inverse, unique_values
///
/// Notes
/// -----
/// NaN is different from every element, also from other NaN.
///
/// Examples
/// --------
/// >>> mx.unique_all(mx.array([3, 1, 3])).indices
/// array([1, 0], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_all(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyAny>> {
    let Unique { values, indices, inverse, counts } = find_unique(py, x, stream)?;
    ALL.of(py, [values, indices, inverse, counts].map(NewArray::from))
}

/// Find the distinct elements of an array and their counts.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// UniqueCountsResult
///     Named tuple ``(values, counts)``: distinct elements in ascending order, and number of occurrences (int32).
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where `x` has no value.
///
/// See Also
/// --------
/// unique, unique_all, bincount
///
/// Notes
/// -----
/// NaN is different from every element, also from other NaN.
///
/// Examples
/// --------
/// >>> values, counts = mx.unique_counts(mx.array([3, 1, 3]))
/// >>> counts
/// array([1, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_counts(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyAny>> {
    let unique = find_unique(py, x, stream)?;
    COUNTS.of(py, [unique.values, unique.counts].map(NewArray::from))
}

/// Find the distinct elements of an array and the indices that reconstruct it.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// UniqueInverseResult
///     Named tuple ``(values, inverse_indices)``: distinct elements in ascending order, and uint32 indices of the shape of
///     `x`, such that ``values[inverse_indices]`` equals `x`.
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where `x` has no value.
///
/// See Also
/// --------
/// unique, unique_all
///
/// Notes
/// -----
/// NaN is different from every element, also from other NaN.
///
/// Examples
/// --------
/// >>> values, inverse = mx.unique_inverse(mx.array([3, 1, 3]))
/// >>> values[inverse]
/// array([3, 1, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_inverse(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyAny>> {
    let unique = find_unique(py, x, stream)?;
    INVERSE.of(py, [unique.values, unique.inverse].map(NewArray::from))
}

/// Find the distinct elements of an array, in ascending order, with every NaN distinct.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Distinct elements in the dtype of `x`. NaN comes last; every NaN is an element of its own.
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where `x` has no value.
///
/// See Also
/// --------
/// unique, unique_all
///
/// Examples
/// --------
/// >>> mx.unique_values(mx.array([3, 1, 3]))
/// array([1, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_values(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    Ok(find_unique(py, x, stream)?.values.into())
}

/// Test which elements are contained in a set of values.
///
/// Parameters
/// ----------
/// element : array_like
///     Elements to test, of any shape.
/// test_elements : array_like
///     Values of the set, of any shape.
/// assume_unique : bool, optional
///     Accepted for compatibility with NumPy; it has no effect. Default: False.
/// invert : bool, optional
///     Whether to test for elements that are not contained. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Bool array of the shape of `element`.
///
/// See Also
/// --------
/// intersect1d, setdiff1d, searchsorted
///
/// Notes
/// -----
/// NaN is not contained in any set. Values of different dtypes are compared exactly, without rounding.
///
/// Examples
/// --------
/// >>> mx.isin(mx.array([1, 2, 5]), mx.array([2, 5]))
/// array([False, True, True], dtype=bool)
#[pyfunction]
#[pyo3(signature = (element, test_elements, assume_unique = false, invert = false, *, stream = None))]
fn isin(
    element: Operand,
    test_elements: Operand,
    assume_unique: bool,
    invert: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    // The algorithm does not depend on distinct elements.
    let _ = assume_unique;
    let (element, set) = Operand::compared(element, test_elements)?;
    record_on(stream, || {
        let is_member = ops::isin(&element, &set)?;
        if invert { ops::logical_not(&is_member) } else { Ok(is_member) }
    })
    .map(NewArray::from)
}

fn distinct(assume_unique: bool) -> Distinct {
    if assume_unique { Distinct::Yes } else { Distinct::Unknown }
}

/// Find the distinct elements that are in both arrays, in ascending order.
///
/// Parameters
/// ----------
/// ar1, ar2 : array_like
///     Inputs, which are flattened and evaluated.
/// assume_unique : bool, optional
///     Whether the elements of each array are known to be distinct, which saves work. Default: False.
/// return_indices : bool, optional
///     Whether to return the first index of each element in either array. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or tuple of array
///     Common elements in the promoted dtype; with `return_indices` a tuple ``(values, indices1, indices2)`` of them and of
///     uint32 indices into the flattened arrays.
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where the arrays have no value.
///
/// See Also
/// --------
/// union1d, setdiff1d, setxor1d, isin
///
/// Notes
/// -----
/// NaN is not equal to anything, and so never in the result.
///
/// Examples
/// --------
/// >>> mx.intersect1d(mx.array([5, 1, 5, 2]), mx.array([2, 7, 5]))
/// array([2, 5], dtype=int32)
#[pyfunction]
#[pyo3(signature = (ar1, ar2, assume_unique = false, return_indices = false, *, stream = None))]
fn intersect1d(
    py: Python<'_>,
    ar1: Operand,
    ar2: Operand,
    assume_unique: bool,
    return_indices: bool,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let (a, b) = Operand::compared(ar1, ar2)?;
    let arrays = compute(py, stream, || ops::intersect1d(&a, &b, distinct(assume_unique)))?;
    if return_indices {
        return Ok(super::searching::tuple(py, arrays.into())?.into_any());
    }
    let [common, ..] = arrays;
    Ok(NewArray::from(common).object(py)?.into_any())
}

/// Find the distinct elements that are in either array, in ascending order.
///
/// Parameters
/// ----------
/// ar1, ar2 : array_like
///     Inputs, which are flattened and evaluated.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     1-d array in the promoted dtype. NaN comes last, and counts once.
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where the arrays have no value.
///
/// See Also
/// --------
/// intersect1d, setdiff1d, setxor1d, unique
///
/// Examples
/// --------
/// >>> mx.union1d(mx.array([3, 1, 3]), mx.array([2, 1]))
/// array([1, 2, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (ar1, ar2, *, stream = None))]
fn union1d(py: Python<'_>, ar1: Operand, ar2: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(ar1, ar2)?;
    compute(py, stream, || ops::union1d(&a, &b)).map(NewArray::from)
}

/// Functions that compute differences of sets.
macro_rules! differences {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (ar1, ar2, assume_unique = false, *, stream = None))]
            fn $name(
                py: Python<'_>,
                ar1: Operand,
                ar2: Operand,
                assume_unique: bool,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, b) = Operand::compared(ar1, ar2)?;
                compute(py, stream, || ops::$name(&a, &b, distinct(assume_unique))).map(NewArray::from)
            }
        )*

        fn register_differences(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

differences! {
    /// Find the distinct elements of one array that are not in another, in ascending order.
    ///
    /// Parameters
    /// ----------
    /// ar1, ar2 : array_like
    ///     Inputs, which are flattened and evaluated.
    /// assume_unique : bool, optional
    ///     Whether the elements of `ar1` are known to be distinct; they then keep their order. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Elements of `ar1` that are not in `ar2`, 1-d, in the dtype of `ar1`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Inside `vmap` and `compile`, where the arrays have no value.
    ///
    /// See Also
    /// --------
    /// intersect1d, union1d, setxor1d, isin
    ///
    /// Notes
    /// -----
    /// NaN is not equal to anything, so that the NaN of `ar1` is always in the result.
    ///
    /// Examples
    /// --------
    /// >>> mx.setdiff1d(mx.array([3, 1, 2, 3]), mx.array([2]))
    /// array([1, 3], dtype=int32)
    setdiff1d,
    /// Find the distinct elements that are in exactly one of two arrays, in ascending order.
    ///
    /// Parameters
    /// ----------
    /// ar1, ar2 : array_like
    ///     Inputs, which are flattened and evaluated.
    /// assume_unique : bool, optional
    ///     Whether the elements of each array are known to be distinct, which saves work. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     1-d array in the promoted dtype.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Inside `vmap` and `compile`, where the arrays have no value.
    ///
    /// See Also
    /// --------
    /// intersect1d, union1d, setdiff1d
    ///
    /// Notes
    /// -----
    /// NaN is not equal to anything, so that the NaN of either array is in the result.
    ///
    /// Examples
    /// --------
    /// >>> mx.setxor1d(mx.array([3, 1, 3]), mx.array([2, 1]))
    /// array([2, 3], dtype=int32)
    setxor1d,
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(unique, module)?,
        wrap_pyfunction!(unique_all, module)?,
        wrap_pyfunction!(unique_counts, module)?,
        wrap_pyfunction!(unique_inverse, module)?,
        wrap_pyfunction!(unique_values, module)?,
        wrap_pyfunction!(isin, module)?,
        wrap_pyfunction!(intersect1d, module)?,
        wrap_pyfunction!(union1d, module)?,
    ] {
        module.add_function(function)?;
    }
    register_differences(module)
}
