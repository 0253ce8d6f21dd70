//! Histograms.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use umber_core::Array;
use umber_core::ops::{self, BinRule, Bins, Density};

use crate::args::{Operand, StreamArg, compute, index};
use crate::array::PyArray;
use crate::enter::OrRaise;
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

fn density_of(density: Option<bool>) -> Density {
    if density == Some(true) { Density::Normalised } else { Density::Counts }
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
/// histogram2d, histogramdd, histogram_bin_edges, bincount, digitize
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
    let density = density_of(density);
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

/// Lower and upper ends of bins of equal width, for each axis.
type Ranges = Vec<Option<[f64; 2]>>;

/// The bins of `count` axes. `bins` has an entry for each, or is a number for all.
fn bins_of_axes(
    op: &str,
    count: usize,
    bins: Option<&[Bound<'_, PyAny>]>,
    range: Option<Ranges>,
) -> PyResult<Vec<Bins>> {
    let ranges = range.unwrap_or_else(|| vec![None; count]);
    let lengths = [("bins", bins.map_or(count, <[_]>::len)), ("range", ranges.len())];
    if let Some((name, length)) = lengths.iter().find(|(_, length)| *length != count) {
        return Err(PyValueError::new_err(format!(
            "[{op}] {name} must have an entry for each of the {count} axes, got {length}"
        )));
    }
    let ranges = ranges.into_iter().map(|range| range.map(|[low, high]| (low, high)));
    let Some(bins) = bins else { return Ok(ranges.map(|range| Bins::Count(10, range)).collect()) };
    let entry = |(bins, range): (&Bound<'_, PyAny>, _)| match index(bins) {
        Ok(count) => Ok(Bins::Count(count, range)),
        Err(_) => Ok(Bins::Edges(bins.extract::<Operand>()?.into_array())),
    };
    bins.iter().zip(ranges).map(entry).collect()
}

/// The entries of `bins` for each axis; a number is repeated.
fn bin_entries<'py>(bins: &Bound<'py, PyAny>, count: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if index(bins).is_ok() {
        return Ok(vec![bins.clone(); count]);
    }
    // An array of edges may be long.
    if bins.len()? > MAX_AXES {
        return Err(PyValueError::new_err(format!(
            "bins must be a number or have an entry for each axis, got {} entries",
            bins.len()?
        )));
    }
    bins.try_iter()?.collect()
}

/// More axes than any histogram has: each doubles the number of bins.
const MAX_AXES: usize = 64;

/// The coordinates along each axis: the columns of a matrix, or the arrays in a sequence.
fn columns_of(sample: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    if sample.is_instance_of::<PyList>() || sample.is_instance_of::<PyTuple>() {
        let items =
            sample.try_iter()?.map(|item| item?.extract::<Operand>()).collect::<PyResult<Vec<_>>>()?;
        if items.iter().any(|item| matches!(item, Operand::Array(array) if array.ndim() > 0)) {
            return Ok(items.into_iter().map(Operand::into_array).collect());
        }
    }
    let sample = sample.extract::<Operand>()?.into_array();
    match sample.ndim() {
        0 | 1 => ops::flatten(&sample, 0, -1).map(|column| vec![column]).or_raise(),
        2 => ops::unstack(&sample, 1).or_raise(),
        _ => Err(PyValueError::new_err(format!(
            "sample must be a matrix with a row for each point, got shape {}",
            sample.shape()
        ))),
    }
}

/// Count the points in each bin of a grid.
///
/// Parameters
/// ----------
/// sample : array_like or sequence of array_like
///     Points: a matrix of shape ``(N, D)`` with a row for each point, or a sequence of `D` vectors, the coordinates along
///     each axis.
/// bins : int, or sequence of int or array_like, optional
///     Number of bins of equal width along every axis; or for each axis such a number or bin edges in ascending order.
///     Default: 10.
/// range : sequence of tuple of float, optional
///     For each axis lower and upper end of bins of equal width, or None. Default: minimum and maximum along each axis.
/// density : bool, optional
///     Divide each count by the total and by the volume of its bin, so that the integral is one. Default: False.
/// weights : array_like, optional
///     Weights of the points, of shape ``(N,)``, to be summed instead of counted. Default: none.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// counts : array
///     int32 counts, or sums of `weights` in their dtype; a floating dtype with `density`. One axis for each column of
///     `sample`.
/// edges : tuple of array
///     Edges of the bins along each axis, of the dtype of its column, float32 for integers; or those in `bins`.
///
/// Raises
/// ------
/// TypeError
///     If `sample` is complex, or an argument is not convertible.
/// ValueError
///     If there are no bins, the edges descend, `bins` or `range` has not one entry for each axis, a range descends or is
///     not finite, the points are not finite and no `range` is given, or the columns or `weights` have different lengths.
///
/// See Also
/// --------
/// histogram, histogram2d
///
/// Notes
/// -----
/// A bin includes its lower edge; the last bin along each axis includes its upper edge too. Points outside of the bins,
/// and those with a NaN, are not counted.
///
/// Examples
/// --------
/// >>> points = mx.array([[0.0, 5.0], [0.1, 7.0], [0.9, 7.0]])
/// >>> counts, edges = mx.histogramdd(points, bins=(2, 3), range=[(0, 1), None])
/// >>> counts
/// array([[1, 0, 1],
///        [0, 0, 1]], dtype=int32)
/// >>> edges[0]
/// array([0, 0.5, 1], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (sample, bins = None, range = None, density = None, weights = None, *, stream = None),
    text_signature = "(sample, bins=10, range=None, density=None, weights=None, *, stream=None)"
)]
fn histogramdd<'py>(
    py: Python<'py>,
    sample: &Bound<'py, PyAny>,
    bins: Option<&Bound<'py, PyAny>>,
    range: Option<Ranges>,
    density: Option<bool>,
    weights: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, Bound<'py, PyTuple>)> {
    let columns = columns_of(sample)?;
    let entries = bins.map(|bins| bin_entries(bins, columns.len())).transpose()?;
    let bins = bins_of_axes("histogramdd", columns.len(), entries.as_deref(), range)?;
    let (density, weights) = (density_of(density), weights.map(Operand::into_array));
    let (counts, edges) =
        compute(py, stream, || ops::histogramdd(&columns, &bins, weights.as_ref(), density))?;
    Ok((counts.into(), PyTuple::new(py, edges.into_iter().map(PyArray::from))?))
}

/// Count the points of a plane in each bin of a grid.
///
/// Parameters
/// ----------
/// x, y : array_like
///     Coordinates of the points: vectors of one length.
/// bins : int, array_like or pair of either, optional
///     Number of bins of equal width along both axes; bin edges along both axes in ascending order; or a pair with one of
///     these for each axis. Default: 10.
/// range : sequence of tuple of float, optional
///     For each axis lower and upper end of bins of equal width, or None. Default: minimum and maximum along each axis.
/// density : bool, optional
///     Divide each count by the total and by the area of its bin, so that the integral is one. Default: False.
/// weights : array_like, optional
///     Weights of the points, of the shape of `x`, to be summed instead of counted. Default: none.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// counts : array
///     int32 counts, or sums of `weights` in their dtype; a floating dtype with `density`. `x` along the first axis, `y`
///     along the second.
/// x_edges, y_edges : array
///     Edges of the bins along each axis, of the dtype of the coordinates, float32 for integers; or those in `bins`.
///
/// Raises
/// ------
/// TypeError
///     If `x` or `y` is complex, or an argument is not convertible.
/// ValueError
///     If there are no bins, the edges descend, `bins` or `range` has not one entry for each axis, a range descends or is
///     not finite, the points are not finite and no `range` is given, or `x`, `y` and `weights` are not vectors of one
///     length.
///
/// See Also
/// --------
/// histogram, histogramdd
///
/// Notes
/// -----
/// A bin includes its lower edge; the last bin along each axis includes its upper edge too. Points outside of the bins,
/// and those with a NaN, are not counted.
///
/// Examples
/// --------
/// >>> mx.histogram2d(mx.array([1, 2, 2]), mx.array([5, 5, 6]), bins=2)[0]
/// array([[1, 0],
///        [1, 1]], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (x, y, bins = None, range = None, density = None, weights = None, *, stream = None),
    text_signature = "(x, y, bins=10, range=None, density=None, weights=None, *, stream=None)"
)]
fn histogram2d(
    py: Python<'_>,
    x: Operand,
    y: Operand,
    bins: Option<&Bound<'_, PyAny>>,
    range: Option<Ranges>,
    density: Option<bool>,
    weights: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray, PyArray)> {
    let entries = match bins {
        // As in NumPy, two entries are one for each axis, and more are edges for both.
        Some(bins) if index(bins).is_err() && bins.len()? > 2 => Some(vec![bins.clone(); 2]),
        bins => bins.map(|bins| bin_entries(bins, 2)).transpose()?,
    };
    let bins = bins_of_axes("histogram2d", 2, entries.as_deref(), range)?;
    let (density, weights) = (density_of(density), weights.map(Operand::into_array));
    let (x, y) = (x.into_array(), y.into_array());
    let (counts, edges) = compute(py, stream, || ops::histogram2d(&x, &y, &bins, weights.as_ref(), density))?;
    let [x_edges, y_edges] = edges;
    Ok((counts.into(), x_edges.into(), y_edges.into()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bincount, module)?)?;
    module.add_function(wrap_pyfunction!(histogram, module)?)?;
    module.add_function(wrap_pyfunction!(histogram2d, module)?)?;
    module.add_function(wrap_pyfunction!(histogramdd, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_bin_edges, module)?)
}
