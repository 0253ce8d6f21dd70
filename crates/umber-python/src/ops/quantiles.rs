//! Quantiles and percentiles.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyComplex;
use umber_core::ops::{self, NanPolicy, QuantileMethod};
use umber_core::{Array, DType, Error};

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::array::PyArray;
use crate::convert::from_object;
use crate::new_array::NewArray;

/// The parts of the whole: an array as it is, Python's numbers in double precision.
fn parts(op: &str, q: &Bound<'_, PyAny>) -> PyResult<Array> {
    let dtype = if q.is_instance_of::<PyArray>() { None } else { Some(DType::Float64) };
    if q.is_instance_of::<PyComplex>() {
        return Err(PyTypeError::new_err(format!("[{op}] q: got complex, expected a real number")));
    }
    match from_object(q, dtype)? {
        Some(parts) => Ok(parts),
        None => Err(PyTypeError::new_err(format!(
            "[{op}] q: got {}, expected a number or an array of numbers",
            q.get_type().name()?
        ))),
    }
}

fn method_of(op: &str, name: &str) -> PyResult<QuantileMethod> {
    QuantileMethod::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = QuantileMethod::ALL.iter().map(|(_, name)| *name).collect();
        PyValueError::new_err(format!("[{op}] got method '{name}', expected one of {}", names.join(", ")))
    })
}

/// Only the inverse of a distribution knows what weights mean.
fn check_weighted(op: &str, method: QuantileMethod) -> PyResult<()> {
    if method == QuantileMethod::InvertedCdf {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("[{op}] weights require method='inverted_cdf'")))
}

/// Functions of an array and of parts of its elements.
macro_rules! quantiles {
    ($($name:ident $weighted:ident $nan:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// The result has the shape of `q` followed by that of the reduction. `method` is one of NumPy's: "linear",
            /// "lower", "higher", "midpoint", "nearest", and the nine of R. J. Hyndman and Y. Fan, Sample Quantiles in
            /// Statistical Packages, 1996. Methods that pick an element keep the dtype; else integers answer float32.
            /// `weights`, of the shape of `a` or of `axis` alone, say how often each element counts, and need the method
            /// "inverted_cdf".
            #[pyfunction]
            #[pyo3(signature = (a, q, axis = None, *, method = "linear", keepdims = false, weights = None, stream = None))]
            fn $name(
                a: Operand,
                q: &Bound<'_, PyAny>,
                axis: Option<Ints>,
                method: &str,
                keepdims: bool,
                weights: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, q) = (a.alone(), parts(stringify!($name), q)?);
                let method = method_of(stringify!($name), method)?;
                if let Some(weights) = weights.map(Operand::alone) {
                    check_weighted(stringify!($name), method)?;
                    let renamed = |error: Error| error.with_op(stringify!($name));
                    return record_on(stream, || {
                        let axes = axes(axis.as_ref());
                        ops::$weighted(&a, &q, &weights, axes, keep(keepdims), NanPolicy::$nan).map_err(renamed)
                    })
                    .map(NewArray::from);
                }
                record_on(stream, || ops::$name(&a, &q, axes(axis.as_ref()), keep(keepdims), method)).map(NewArray::from)
            }
        )*

        pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

quantiles! {
    quantile weighted_quantile Spreads "Values over `axis` below which the parts `q` (0 to 1) of the elements lie; NaN if any element is.",
    percentile weighted_percentile Spreads "Values over `axis` below which `q` hundredths (0 to 100) of the elements lie; NaN if any element is.",
    nanquantile weighted_quantile IsSkipped "Values over `axis` below which the parts `q` (0 to 1) of what is a number lie; NaN where nothing is.",
    nanpercentile weighted_percentile IsSkipped "Values over `axis` below which `q` hundredths (0 to 100) of what is a number lie; NaN where nothing is.",
}
