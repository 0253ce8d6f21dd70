//! Histograms.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use umber_core::ops::{self, BinRule, Bins, Density};

use crate::args::{Operand, StreamArg, compute, index};
use crate::array::PyArray;
use crate::new_array::NewArray;

/// Count the occurrences of each integer from zero to the maximum.
///
/// Parameters
/// ----------
/// x : array_like
///     Integers or booleans with one axis, none negative.
/// weights : array_like, optional
///     Weights of the elements, of the shape of `x`, to be summed instead of counted. Default: none.
/// minlength : int, optional
///     Smallest length of the result. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of length ``max(max(x) + 1, minlength)``: int32 counts, or floating-point sums of `weights` (float32
///     for integers).
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If `x` has not one axis of integers, an element or `minlength` is negative, or `weights` has another shape;
///     inside `vmap` and `compile`, as values decide the length.
///
/// See Also
/// --------
/// histogram, unique
///
/// Notes
/// -----
/// `x` is evaluated.
///
/// Examples
/// --------
/// >>> mx.bincount(mx.array([0, 2, 2]))
/// array([1, 0, 2], dtype=int32)
/// >>> mx.bincount(mx.array([0, 2, 2]), weights=mx.array([0.5, 1.0, 2.0]))
/// array([0.5, 0, 3], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, /, weights = None, minlength = 0, *, stream = None))]
fn bincount(
    py: Python<'_>,
    x: Operand,
    weights: Option<Operand>,
    minlength: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, weights) = (x.into_array(), weights.map(Operand::into_array));
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
        Err(_) => Ok(Bins::Edges(bins.extract::<Operand>()?.into_array())),
    }
}

/// Count the elements in each bin.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and real dtype.
/// bins : int, str or array_like, optional
///     Number of bins of equal width; name of a rule that chooses it; or bin edges in ascending order. Default: 10.
/// range : tuple of float, optional
///     Lower and upper end of bins of equal width. Default: minimum and maximum of `a`.
/// density : bool, optional
///     Divide each count by the total and by the width of its bin, so that the integral is one. Default: False.
/// weights : array_like, optional
///     Weights of the elements, of the shape of `a`, to be summed instead of counted. Not with a rule. Default:
///     none.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// counts : array
///     int32 counts, or sums of `weights` in their dtype; a floating dtype with `density`.
/// edges : array
///     Edges of the bins, one more than there are bins: the dtype of `a`, float32 for integers; or `bins` if it
///     holds the edges.
///
/// Raises
/// ------
/// TypeError
///     If `a` is complex, weights are given with a rule, or an argument is not convertible.
/// ValueError
///     If there are no bins, the edges descend, the rule is unknown, `range` descends or is not finite, the elements are
///     not finite and no `range` is given, or `weights` has another shape. Inside `vmap` and `compile` also if `bins` is a
///     rule.
///
/// See Also
/// --------
/// histogram_bin_edges, bincount, digitize
///
/// Notes
/// -----
/// A bin includes its lower edge; the last bin includes its upper edge too. Elements outside of the bins, and NaN,
/// are not counted.
///
/// The rules are ``"sqrt"``, ``"sturges"`` (1926), ``"rice"``, ``"scott"`` (1979), ``"fd"`` (Freedman and Diaconis,
/// 1981), ``"doane"`` (1976), ``"stone"`` (1984) and ``"auto"``, which takes the smaller width of ``"sturges"`` and
/// ``"fd"``. They evaluate `a`.
///
/// Examples
/// --------
/// >>> mx.histogram(mx.array([1.0, 2.0, 1.0, 4.0]), bins=3)
/// (array([2, 1, 1], dtype=int32), array([1, 2, 3, 4], dtype=float32))
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
    let (a, weights) = (a.into_array(), weights.map(Operand::into_array));
    if matches!(bins, Bins::Suited(..)) && weights.is_some() {
        return Err(PyTypeError::new_err(
            "[histogram] bin rules do not support weights; pass the number of bins or their edges",
        ));
    }
    let (counts, edges) = compute(py, stream, || ops::histogram(&a, &bins, weights.as_ref(), density))?;
    Ok((counts.into(), edges.into()))
}

/// Edges of the bins of a histogram.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and real dtype.
/// bins : int, str or array_like, optional
///     Number of bins of equal width; name of a rule that chooses it; or bin edges in ascending order. Default: 10.
/// range : tuple of float, optional
///     Lower and upper end of bins of equal width. Default: minimum and maximum of `a`.
/// weights : array_like, optional
///     Accepted for compatibility; it has no effect.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Edges, one more than there are bins: the dtype of `a`, float32 for integers; or `bins` if it holds the
///     edges.
///
/// Raises
/// ------
/// TypeError
///     If `a` is complex, or an argument is not convertible.
/// ValueError
///     If there are no bins, the edges descend, the rule is unknown, `range` descends or is not finite, or the elements are
///     not finite and no `range` is given. Inside `vmap` and `compile` also if `bins` is a rule.
///
/// See Also
/// --------
/// histogram
///
/// Notes
/// -----
/// The rules are ``"sqrt"``, ``"sturges"`` (1926), ``"rice"``, ``"scott"`` (1979), ``"fd"`` (Freedman and Diaconis,
/// 1981), ``"doane"`` (1976), ``"stone"`` (1984) and ``"auto"``, which takes the smaller width of ``"sturges"`` and
/// ``"fd"``. They evaluate `a`.
///
/// Examples
/// --------
/// >>> mx.histogram_bin_edges(mx.array([1.0, 2.0, 5.0]), bins=2)
/// array([1, 3, 5], dtype=float32)
/// >>> mx.histogram_bin_edges(mx.array([1.0, 2.0, 5.0]), bins=4, range=(0, 1))
/// array([0, 0.25, 0.5, 0.75, 1], dtype=float32)
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
    let a = a.into_array();
    compute(py, stream, || ops::histogram_bin_edges(&a, &bins)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bincount, module)?)?;
    module.add_function(wrap_pyfunction!(histogram, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_bin_edges, module)?)
}
