//! Statistics of several values.

use pyo3::prelude::*;
use umber_core::ops::{self, Covariance, Variables};

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::dtype::{DtypeArg, beside};
use crate::new_array::NewArray;

/// Largest element over `axis` minus the smallest.
#[pyfunction]
#[pyo3(signature = (a, axis = None, keepdims = false, *, stream = None))]
fn ptp(a: Operand, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::ptp(&a, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
}

/// Weighted mean over `axis`: `sum(a * weights) / sum(weights)`, not finite where the weights add up to zero.
///
/// `weights` have the shape of `a`, or that of the axes alone; without them it is the mean. With `returned` the sum of
/// the weights comes with it.
#[pyfunction]
#[pyo3(signature = (a, axis = None, weights = None, returned = false, *, keepdims = false, stream = None))]
fn average(
    py: Python<'_>,
    a: Operand,
    axis: Option<Ints>,
    weights: Option<Operand>,
    returned: bool,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let (a, weights) = (a.alone(), weights.map(Operand::alone));
    let found =
        record_on(stream, || ops::average(&a, axes(axis.as_ref()), weights.as_ref(), keep(keepdims)))?;
    let mean = NewArray::from(found.mean);
    if returned {
        return Ok((mean, NewArray::from(found.weight)).into_pyobject(py)?.into_any());
    }
    Ok(mean.object(py)?.into_any())
}

fn variables(rowvar: bool) -> Variables {
    if rowvar { Variables::Rows } else { Variables::Columns }
}

/// Covariance matrix of the variables in `m` and `y`, in rows or (without `rowvar`) in columns; a variance for one.
///
/// Sums are divided by the number of observations less `ddof`, which is 1, or 0 with `bias`. `fweights` say how often
/// each observation was made, `aweights` how much it counts. Integers answer float32.
#[pyfunction]
#[pyo3(
    signature = (m, y = None, rowvar = true, bias = false, ddof = None, fweights = None, aweights = None, *,
        dtype = None, stream = None)
)]
#[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
fn cov(
    m: Operand,
    y: Option<Operand>,
    rowvar: bool,
    bias: bool,
    ddof: Option<i64>,
    fweights: Option<Operand>,
    aweights: Option<Operand>,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (m, y) = (m.alone(), y.map(Operand::alone));
    let (fweights, aweights) = (fweights.map(Operand::alone), aweights.map(Operand::alone));
    let options = Covariance {
        variables: variables(rowvar),
        ddof: ddof.unwrap_or(i64::from(!bias)),
        frequencies: fweights.as_ref(),
        weights: aweights.as_ref(),
        dtype: beside(dtype, m.dtype()),
    };
    record_on(stream, || ops::cov(&m, y.as_ref(), options)).map(NewArray::from)
}

/// Correlation coefficients, -1 to 1, of the variables in `x` and `y`, in rows or (without `rowvar`) in columns.
///
/// Not a number for a variable that does not vary. Integers answer float32.
#[pyfunction]
#[pyo3(signature = (x, y = None, rowvar = true, *, dtype = None, stream = None))]
fn corrcoef(
    x: Operand,
    y: Option<Operand>,
    rowvar: bool,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, y) = (x.alone(), y.map(Operand::alone));
    let dtype = beside(dtype, x.dtype());
    record_on(stream, || ops::corrcoef(&x, y.as_ref(), variables(rowvar), dtype)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ptp, module)?)?;
    module.add_function(wrap_pyfunction!(average, module)?)?;
    module.add_function(wrap_pyfunction!(cov, module)?)?;
    module.add_function(wrap_pyfunction!(corrcoef, module)?)
}
