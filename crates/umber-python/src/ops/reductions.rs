//! Reductions and scans.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::Scalar;
use umber_core::ops::{self, Precision};

use crate::args::{Ints, Operand, StreamArg, axes, keep, number, record_on, scan_order};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, summing};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Reductions over any axes.
macro_rules! reductions {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, stream = None))]
            fn $name(a: Operand, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.alone();
                record_on(stream, || ops::$name(&a, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
            }
        )*

        fn register_reductions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}
pub(super) use reductions;

reductions! {
    logsumexp "`log(sum(exp(a)))` over `axis` without overflow.",
    median "Median over `axis`: the mean of the middle two where their number is even.",
}

/// Position of an extremum along one axis.
macro_rules! arg_reductions {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, stream = None))]
            fn $name(a: Operand, axis: Option<i64>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.alone();
                record_on(stream, || ops::$name(&a, axis, keep(keepdims))).map(NewArray::from)
            }
        )*

        fn register_arg_reductions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}
pub(super) use arg_reductions;

arg_reductions! {
    argmin "Index of the first smallest element along `axis` (of the flattened array by default), as uint32.",
    argmax "Index of the first largest element along `axis` (of the flattened array by default), as uint32.",
}

/// Scans that keep the dtype.
macro_rules! scans {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, *, reverse = false, inclusive = true, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                reverse: bool,
                inclusive: bool,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                record_on(stream, || ops::$name(&a, scan_order(axis, reverse, inclusive))).map(NewArray::from)
            }
        )*

        fn register_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

scans! {
    cummax "Largest element so far along `axis` (of the flattened array by default).",
    cummin "Smallest element so far along `axis` (of the flattened array by default).",
    logcumsumexp "`log(cumsum(exp(a)))` along `axis` without overflow.",
}

/// Scans that may compute in a given dtype.
macro_rules! typed_scans {
    ($($name:ident $function:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, *, reverse = false, inclusive = true, dtype = None, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                reverse: bool,
                inclusive: bool,
                dtype: Option<DtypeArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let order = scan_order(axis, reverse, inclusive);
                record_on(stream, || ops::$function(&a, order, summing(dtype, a.dtype()))).map(NewArray::from)
            }
        )*

        fn register_typed_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

typed_scans! {
    cumsum cumsum "Sum so far along `axis` (of the flattened array by default).",
    cumprod cumprod "Product so far along `axis` (of the flattened array by default).",
}

/// [`typed_scans`] under the array API's names, which may begin with what they start from.
macro_rules! cumulative_scans {
    ($($name:ident $function:ident $initial:literal $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (
                a, /, axis = None, *, reverse = false, inclusive = true, dtype = None, include_initial = false,
                stream = None
            ))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                reverse: bool,
                inclusive: bool,
                dtype: Option<DtypeArg>,
                include_initial: bool,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let order = scan_order(axis, reverse, inclusive);
                record_on(stream, || {
                    let scan = ops::$function(&a, order, summing(dtype, a.dtype()))?;
                    if include_initial { ops::with_initial(&scan, order, $initial) } else { Ok(scan) }
                })
                .map(NewArray::from)
            }
        )*

        fn register_cumulative_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

cumulative_scans! {
    cumulative_sum cumsum 0 "The same as `cumsum`; with `include_initial` a zero comes first.",
    cumulative_prod cumprod 1 "The same as `cumprod`; with `include_initial` a one comes first.",
}

/// Exponentials over `axis` (all axes by default) divided by their sum; `precise` computes in float32 at least.
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, precise = false, stream = None))]
fn softmax(a: Operand, axis: Option<Ints>, precise: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    let precision = if precise { Precision::Full } else { Precision::Native };
    record_on(stream, || ops::softmax(&a, axes(axis.as_ref()), precision)).map(NewArray::from)
}

/// The logarithm of `softmax` over `axis` (all axes by default): `(a - max(a)) - log(sum(exp(a - max(a))))`.
///
/// The result has the shape and the floating dtype of `a`, float32 for integers; 16-bit floats compute in float32. Beside a large
/// maximum it keeps the digits that `a - logsumexp(a)` loses. Raises IndexError for an axis that is not there.
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, stream = None))]
fn log_softmax(a: Operand, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::log_softmax(&a, axes(axis.as_ref()))).map(NewArray::from)
}

/// How many elements over `axis` are different from zero.
#[pyfunction]
#[pyo3(signature = (a, /, *, axis = None, keepdims = false, stream = None))]
fn count_nonzero(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::count_nonzero(&a, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
}

/// Smallest and largest element over `axis`.
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, keepdims = false, *, stream = None))]
fn minmax(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray)> {
    let a = a.alone();
    let (low, high) = record_on(stream, || ops::minmax(&a, axes(axis.as_ref()), keep(keepdims)))?;
    Ok((low.into(), high.into()))
}

/// The differences of neighbours along `axis`, taken `n` times; `prepend` and `append` (arrays, or numbers that are
/// repeated) stand before `a` and behind it.
#[pyfunction]
#[pyo3(signature = (a, /, n = 1, axis = -1, *, prepend = None, append = None, stream = None))]
fn diff(
    a: Operand,
    n: i64,
    axis: i64,
    prepend: Option<Operand>,
    append: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    let before = prepend.map(|end| end.beside(&a)).transpose()?;
    let behind = append.map(|end| end.beside(&a)).transpose()?;
    record_on(stream, || ops::diff_between(&a, before.as_ref(), behind.as_ref(), n, axis)).map(NewArray::from)
}

/// Values along `axis` with multiples of `period` added, so that neighbours differ by half of it at most; steps below
/// `discont`, by default half the period, stay as they are. Integers stay integers if the period is one.
#[pyfunction]
#[pyo3(
    signature = (p, discont = None, axis = -1, *, period = None, stream = None),
    text_signature = "(p, discont=None, axis=-1, *, period=6.283185307179586, stream=None)"
)]
fn unwrap(
    p: Operand,
    discont: Option<f64>,
    axis: i64,
    period: Option<&Bound<'_, PyAny>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let p = p.alone();
    let period = period.map_or(Ok(Some(Scalar::Float(std::f64::consts::TAU))), number)?;
    let period = period.ok_or_else(|| PyTypeError::new_err("[unwrap] period must be a number, not None"))?;
    record_on(stream, || ops::unwrap(&p, discont, axis, period)).map(NewArray::from)
}

/// The sum of the elements on a diagonal of two axes.
#[pyfunction]
#[pyo3(signature = (a, /, offset = 0, axis1 = 0, axis2 = 1, dtype = None, *, stream = None))]
fn trace(
    a: Operand,
    offset: i64,
    axis1: i64,
    axis2: i64,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::trace(&a, offset, axis1, axis2, summing(dtype, a.dtype()))).map(NewArray::from)
}

/// How many elements of `a` there are along `axis`, as a float32 scalar; None where there are fewer than `least`.
///
/// In a function that is traced for other lengths it is no number, as one computed from `shape` would be.
#[pyfunction]
#[pyo3(name = "_number_of_elements", signature = (a, axis, least))]
fn number_of_elements(a: Operand, axis: Ints, least: usize) -> PyResult<Option<NewArray>> {
    let a = a.alone();
    let (number, count) = ops::number_of_elements(&a, axes(Some(&axis))).or_raise()?;
    Ok((count >= least).then(|| NewArray::from(number)))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(number_of_elements, module)?)?;
    register_reductions(module)?;
    register_arg_reductions(module)?;
    register_scans(module)?;
    register_typed_scans(module)?;
    register_cumulative_scans(module)?;
    module.add_function(wrap_pyfunction!(softmax, module)?)?;
    module.add_function(wrap_pyfunction!(log_softmax, module)?)?;
    module.add_function(wrap_pyfunction!(count_nonzero, module)?)?;
    module.add_function(wrap_pyfunction!(diff, module)?)?;
    module.add_function(wrap_pyfunction!(unwrap, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(minmax, module)?)
}
