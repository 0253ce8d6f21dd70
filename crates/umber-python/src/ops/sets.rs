//! Arrays as sets.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::ops::{self, Distinct, NanIsEqual, Unique, UniqueSize};

use crate::args::{Operand, StreamArg, compute, index, record_on};
use crate::named_tuple::NamedTuple;
use crate::new_array::NewArray;

/// The distinct elements of `a` in ascending order, not-a-number last.
///
/// With a `size` that many of the least ones, then `fill_value` (by default the least one); the shape is known, so that it
/// works inside `vmap` and `compile`. Without one as many as there are; `a` is evaluated.
///
/// `return_index` adds where each stands first in the flattened array (uint32), `return_inverse` which of them each element
/// is (uint32, the shape of `a`), `return_counts` how often each occurs (int32). Not-a-number equals itself if
/// `equal_nan`, by default without a size. Along an `axis` the distinct parts of the array are found, ordered by their first
/// elements, then their second ones and so on; `return_inverse` has one number for each.
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
    let a = a.alone();
    let size = match size.map(index).transpose()? {
        None => UniqueSize::Found,
        Some(size) => UniqueSize::Fixed {
            size: usize::try_from(size).map_err(|_| {
                PyValueError::new_err(format!("[unique] size must not be negative, got {size}"))
            })?,
            fill: fill_value.map(|fill| fill.beside(&a)).transpose()?,
        },
    };
    let equal_nan = equal_nan.unwrap_or(matches!(size, UniqueSize::Found));
    let nan = if equal_nan { NanIsEqual::Yes } else { NanIsEqual::No };
    let found = compute(py, stream, || ops::unique(&a, &size, nan, axis))?;
    if !(return_index || return_inverse || return_counts) {
        return Ok(NewArray::from(found.values).object(py)?.into_any());
    }
    let parts = [
        (true, found.values),
        (return_index, found.indices),
        (return_inverse, found.inverse),
        (return_counts, found.counts),
    ];
    let parts = parts.into_iter().filter(|(wanted, _)| *wanted).map(|(_, array)| NewArray::from(array));
    Ok(PyTuple::new(py, parts.collect::<Vec<_>>())?.into_any())
}

/// The distinct elements and where they are; NaN equals nothing, as the array API has it.
fn found(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Unique> {
    let x = x.alone();
    compute(py, stream, || ops::unique(&x, &UniqueSize::Found, NanIsEqual::No, None))
}

static ALL: NamedTuple =
    NamedTuple::new("UniqueAllResult", &["values", "indices", "inverse_indices", "counts"]);
static COUNTS: NamedTuple = NamedTuple::new("UniqueCountsResult", &["values", "counts"]);
static INVERSE: NamedTuple = NamedTuple::new("UniqueInverseResult", &["values", "inverse_indices"]);

/// The distinct elements of `x`: (values, indices, inverse_indices, counts). Every not-a-number counts for itself.
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_all(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyAny>> {
    let Unique { values, indices, inverse, counts } = found(py, x, stream)?;
    ALL.of(py, [values, indices, inverse, counts].map(NewArray::from))
}

/// The distinct elements of `x` and how often each occurs: (values, counts). Every not-a-number counts for itself.
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_counts(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyAny>> {
    let found = found(py, x, stream)?;
    COUNTS.of(py, [found.values, found.counts].map(NewArray::from))
}

/// The distinct elements of `x` and which of them each element is: (values, inverse_indices). Every not-a-number counts
/// for itself.
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_inverse(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyAny>> {
    let found = found(py, x, stream)?;
    INVERSE.of(py, [found.values, found.inverse].map(NewArray::from))
}

/// The distinct elements of `x` in ascending order. Every not-a-number counts for itself.
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn unique_values(py: Python<'_>, x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    Ok(found(py, x, stream)?.values.into())
}

/// Whether each element is among the test elements, or with `invert` whether it is not. Not-a-number is among nothing.
#[pyfunction]
#[pyo3(signature = (element, test_elements, assume_unique = false, invert = false, *, stream = None))]
fn isin(
    element: Operand,
    test_elements: Operand,
    assume_unique: bool,
    invert: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    // It saves nothing here.
    let _ = assume_unique;
    let (element, set) = Operand::compared(element, test_elements)?;
    record_on(stream, || {
        let found = ops::isin(&element, &set)?;
        if invert { ops::logical_not(&found) } else { Ok(found) }
    })
    .map(NewArray::from)
}

fn distinct(assume_unique: bool) -> Distinct {
    if assume_unique { Distinct::Yes } else { Distinct::Unknown }
}

/// The distinct elements that are in both arrays, in ascending order; with `return_indices` also where each stands first in
/// either. The arrays are evaluated.
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
    let parts = compute(py, stream, || ops::intersect1d(&a, &b, distinct(assume_unique)))?;
    if return_indices {
        return Ok(super::searching::tuple(py, parts.into())?.into_any());
    }
    let [common, ..] = parts;
    Ok(NewArray::from(common).object(py)?.into_any())
}

/// The distinct elements that are in either array, in ascending order. The arrays are evaluated.
#[pyfunction]
#[pyo3(signature = (ar1, ar2, *, stream = None))]
fn union1d(py: Python<'_>, ar1: Operand, ar2: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(ar1, ar2)?;
    compute(py, stream, || ops::union1d(&a, &b)).map(NewArray::from)
}

/// Differences of sets.
macro_rules! differences {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
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
    setdiff1d "The distinct elements of `ar1` that are not in `ar2`, in ascending order, or as they are with `assume_unique`. The arrays are evaluated.",
    setxor1d "The distinct elements that are in one array but not in both, in ascending order. The arrays are evaluated.",
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
