//! Histograms.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use umber_core::ops::{self, BinRule, Bins, Density};

use crate::args::{Operand, StreamArg, compute, index};
use crate::array::PyArray;
use crate::new_array::NewArray;

/// How often each integer from zero on occurs in `x`, as int32, or the sum of the `weights` of its occurrences, in floating
/// point; at least `minlength` elements. `x` is evaluated.
#[pyfunction]
#[pyo3(signature = (x, /, weights = None, minlength = 0, *, stream = None))]
fn bincount(
    py: Python<'_>,
    x: Operand,
    weights: Option<Operand>,
    minlength: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, weights) = (x.alone(), weights.map(Operand::alone));
    compute(py, stream, || ops::bincount(&x, weights.as_ref(), minlength)).map(NewArray::from)
}

fn bins_of(op: &str, bins: &Bound<'_, PyAny>, range: Option<(f64, f64)>) -> PyResult<Bins> {
    if let Ok(name) = bins.cast::<PyString>() {
        let name = name.to_str()?;
        return BinRule::from_name(name).map(|rule| Bins::Suited(rule, range)).ok_or_else(|| {
            let names: Vec<&str> = BinRule::ALL.iter().map(|(_, name)| *name).collect();
            PyValueError::new_err(format!(
                "[{op}] got bins '{name}', expected a number, edges or one of {}",
                names.join(", ")
            ))
        });
    }
    match index(bins) {
        Ok(count) => Ok(Bins::Count(count, range)),
        Err(_) => Ok(Bins::Edges(bins.extract::<Operand>()?.alone())),
    }
}

/// How many elements of `a`, or what `weights`, fall into each bin, and the edges of the bins: (counts, edges).
///
/// `bins` is a number of bins of one width over `range` (by default from the least element to the greatest), the name of a rule
/// for it ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"; not with weights), or an array of rising edges. A
/// bin begins with its lower edge, the last one has its upper edge too. With `density` the integral is one.
#[pyfunction]
#[pyo3(
    signature = (a, bins = None, range = None, density = None, weights = None, *, stream = None),
    text_signature = "(a, bins=10, range=None, density=None, weights=None, *, stream=None)"
)]
fn histogram(
    py: Python<'_>,
    a: Operand,
    bins: Option<&Bound<'_, PyAny>>,
    range: Option<(f64, f64)>,
    density: Option<bool>,
    weights: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray)> {
    let bins = bins.map_or(Ok(Bins::Count(10, range)), |bins| bins_of("histogram", bins, range))?;
    let density = if density == Some(true) { Density::Normalised } else { Density::Counts };
    let (a, weights) = (a.alone(), weights.map(Operand::alone));
    if matches!(bins, Bins::Suited(..)) && weights.is_some() {
        return Err(PyTypeError::new_err(
            "[histogram] bin rules do not support weights; pass the number of bins or their edges",
        ));
    }
    let (counts, edges) = compute(py, stream, || ops::histogram(&a, &bins, weights.as_ref(), density))?;
    Ok((counts.into(), edges.into()))
}

/// The edges of the bins of a histogram; `weights` change nothing.
#[pyfunction]
#[pyo3(
    signature = (a, bins = None, range = None, weights = None, *, stream = None),
    text_signature = "(a, bins=10, range=None, weights=None, *, stream=None)"
)]
fn histogram_bin_edges(
    py: Python<'_>,
    a: Operand,
    bins: Option<&Bound<'_, PyAny>>,
    range: Option<(f64, f64)>,
    weights: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = weights;
    let bins = bins.map_or(Ok(Bins::Count(10, range)), |bins| bins_of("histogram_bin_edges", bins, range))?;
    let a = a.alone();
    compute(py, stream, || ops::histogram_bin_edges(&a, &bins)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bincount, module)?)?;
    module.add_function(wrap_pyfunction!(histogram, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_bin_edges, module)?)
}
