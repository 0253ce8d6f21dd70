//! Reductions and scans that pass over what is not a number.

use pyo3::prelude::*;
use umber::ops;

use crate::args::{Ints, Operand, StreamArg, axes, keep, on};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::ops::reductions::{arg_reductions, reductions};

/// Reductions over any axes that may compute in a given dtype.
macro_rules! typed_reductions {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// `dtype` is what it is computed and answered in.
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, dtype = None, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                dtype: Option<DtypeArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<PyArray> {
                let (a, dtype) = (a.alone(), dtype.map(|dtype| dtype.0));
                on(stream, || ops::$name(&a, axes(axis.as_ref()), keep(keepdims), dtype)).map(PyArray::from)
            }
        )*

        fn register_typed_reductions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

typed_reductions! {
    nansum "Sum over `axis` of what is a number; 0 where nothing is.",
    nanprod "Product over `axis` of what is a number; 1 where nothing is.",
    nanmean "Mean over `axis` of what is a number; NaN where nothing is. Integers answer float32.",
}

reductions! {
    nanmin "Smallest number over `axis`; NaN where there is none.",
    nanmax "Largest number over `axis`; NaN where there is none.",
    nanmedian "Median over `axis` of what is a number; NaN where nothing is.",
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
            /// it is computed in.
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, ddof = 0, *, correction = None, dtype = None,
                    stream = None)
            )]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                ddof: i64,
                correction: Option<i64>,
                dtype: Option<DtypeArg>,
                stream: Option<StreamArg>,
            ) -> PyResult<PyArray> {
                let (a, ddof, dtype) = (a.alone(), correction.unwrap_or(ddof), dtype.map(|dtype| dtype.0));
                on(stream, || ops::$name(&a, axes(axis.as_ref()), keep(keepdims), ddof, dtype)).map(PyArray::from)
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
            ) -> PyResult<PyArray> {
                let a = a.alone();
                let order = ops::ScanOrder { axis, ..ops::ScanOrder::default() };
                on(stream, || ops::$name(&a, order, dtype.map(|dtype| dtype.0))).map(PyArray::from)
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
    register_reductions(module)?;
    register_typed_reductions(module)?;
    register_arg_reductions(module)?;
    register_dispersions(module)?;
    register_scans(module)
}
