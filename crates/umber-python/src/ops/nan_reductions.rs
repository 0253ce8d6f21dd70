//! Reductions and scans that pass over what is not a number.

use pyo3::prelude::*;
use umber_core::ops;

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::dtype::{DtypeArg, summing};
use crate::new_array::NewArray;
use crate::ops::masked_reductions::Selected;
use crate::ops::reductions::{arg_reductions, reductions};

/// Reductions over any axes of selected elements, from a start, that may compute in a given dtype.
macro_rules! folds {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// `dtype` is what it is computed and answered in; elements where `where` does not hold are left out; `initial`
            /// is what the reduction starts from.
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, *, dtype = None, initial = None, r#where = None,
                    stream = None)
            )]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                dtype: Option<DtypeArg>,
                initial: Option<Operand>,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let selected = Selected::new(&a, dtype, initial, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$name(&a, axes, keep, selected.selection())).map(NewArray::from)
            }
        )*

        fn register_folds(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

folds! {
    nansum "Sum over `axis` of what is a number; 0 where nothing is.",
    nanprod "Product over `axis` of what is a number; 1 where nothing is.",
}

/// Extrema over any axes of selected elements, from a start.
macro_rules! extrema {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// Elements where `where` does not hold are left out; `initial`, which it needs, is what the reduction starts
            /// from.
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, *, initial = None, r#where = None, stream = None)
            )]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                initial: Option<Operand>,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let selected = Selected::new(&a, None, initial, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$name(&a, axes, keep, selected.selection())).map(NewArray::from)
            }
        )*

        fn register_extrema(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

extrema! {
    nanmin "Smallest number over `axis`; NaN where there is none.",
    nanmax "Largest number over `axis`; NaN where there is none.",
}

reductions! {
    nanmedian "Median over `axis` of what is a number; NaN where nothing is.",
}

/// Mean over `axis` of what is a number; NaN where nothing is. Integers answer float32.
///
/// `dtype` is what it is computed and answered in; elements where `where` does not hold are left out.
#[pyfunction]
#[pyo3(
    signature = (a, /, axis = None, keepdims = false, *, dtype = None, r#where = None, stream = None)
)]
fn nanmean(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    dtype: Option<DtypeArg>,
    r#where: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    let selected = Selected::new(&a, dtype, None, r#where)?;
    let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
    record_on(stream, || ops::nanmean(&a, axes, keep, selected.selection())).map(NewArray::from)
}

arg_reductions! {
    nanargmin "Index of the first smallest number along `axis`, as uint32. Where there is none, evaluation raises ValueError.",
    nanargmax "Index of the first largest number along `axis`, as uint32. Where there is none, evaluation raises ValueError.",
}

/// Dispersions, with `ddof` taken off the number of elements.
macro_rules! dispersions {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// NaN where `ddof` leaves nothing; `correction` is the array API standard's name for `ddof`, `dtype` is what
            /// it is computed in. Elements where `where` does not hold are left out; `mean` is their mean, where it is
            /// known already, with the axes kept.
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, ddof = 0, *, correction = None, dtype = None,
                    r#where = None, mean = None, stream = None)
            )]
            #[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                ddof: i64,
                correction: Option<i64>,
                dtype: Option<DtypeArg>,
                r#where: Option<Operand>,
                mean: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, ddof) = (a.alone(), correction.unwrap_or(ddof));
                let selected = Selected::new(&a, dtype, None, r#where)?.around(&a, mean)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$name(&a, axes, keep, ddof, selected.selection())).map(NewArray::from)
            }
        )*

        fn register_dispersions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

dispersions! {
    nanvar "Variance over `axis` of what is a number: squared distances from the mean divided by `n - ddof`.",
    nanstd "Standard deviation over `axis` of what is a number: the square root of `nanvar`.",
}

/// Scans that may compute in a given dtype.
macro_rules! scans {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, dtype = None, *, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<i64>,
                dtype: Option<DtypeArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let order = ops::ScanOrder { axis, ..ops::ScanOrder::default() };
                record_on(stream, || ops::$name(&a, order, summing(dtype, a.dtype()))).map(NewArray::from)
            }
        )*

        fn register_scans(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

scans! {
    nancumsum "Sum so far of what is a number, along `axis` (of the flattened array by default).",
    nancumprod "Product so far of what is a number, along `axis` (of the flattened array by default).",
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_folds(module)?;
    register_extrema(module)?;
    register_reductions(module)?;
    module.add_function(wrap_pyfunction!(nanmean, module)?)?;
    register_arg_reductions(module)?;
    register_dispersions(module)?;
    register_scans(module)
}
