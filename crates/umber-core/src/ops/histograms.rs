//! Histograms.

use umber_types::{BinaryKind, DType, KeepAxes, Result, ScatterKind, Shape, Side, bail, ensure, promote};

use super::bin_widths::{BinRule, estimated_count};
use super::data_dependent;
use super::elementwise::{add, divide, equal, minimum, multiply, select, subtract};
use super::interpolation::overflow_scale;
use super::promotion::cast_constant;
use super::reductions::{all, max, min, sum};
use super::searching::search_as;
use super::sets::count_dtype;
use crate::graph::Array;
use crate::primitives::gather::{Places, iota};
use crate::primitives::rules::{binary, broadcast, cast, constant, reshape};
use crate::primitives::slice::slice_along;

/// Sum the weights, by default ones, for each index; the index `length` is discarded.
fn accumulate(op: &'static str, indices: &Array, weights: Option<&Array>, length: usize) -> Result<Array> {
    let ones = broadcast(&Array::scalar(1, count_dtype(indices.size())), indices.shape())?;
    let weights = weights.unwrap_or(&ones);
    let zeros = Array::full([length + 1].into(), 0, weights.dtype());
    let bins = Places::grid(op, &[0], smallvec::smallvec![indices.clone()]);
    slice_along(&bins.write(ScatterKind::Add, &zeros, weights)?, 0, 0, length)
}

/// The weights, flattened, if they have the shape of `a`.
fn checked(op: &str, a: &Array, weights: Option<&Array>) -> Result<Option<Array>> {
    let Some(weights) = weights else { return Ok(None) };
    ensure!(
        weights.shape() == a.shape(),
        Value(op),
        "weights of shape {} do not match array of shape {}",
        weights.shape(),
        a.shape()
    );
    let dtype = if weights.dtype() == DType::Bool { DType::Int32 } else { weights.dtype() };
    reshape(&cast_constant(weights, dtype)?, [a.size()]).map(Some)
}

/// Count the occurrences of each integer from zero to the maximum.
///
/// The result is int32, or the floating-point sum of the weights of the occurrences. It has at least `min_length`
/// elements.
///
/// # Errors
/// If `a` is not one-dimensional and integer, an element is negative, or weights have another shape; inside `vmap` and
/// `compile`, where `a` has no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([0, 2, 2]);
/// assert_eq!(ops::bincount(&a, None, 4)?.to_vec::<i32>()?, [1, 0, 2, 0]);
/// let weights = Array::from([0.5f32, 1.0, 2.0]);
/// assert_eq!(ops::bincount(&a, Some(&weights), 0)?.to_vec::<f32>()?, [0.5, 0.0, 3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn bincount(a: &Array, weights: Option<&Array>, min_length: i64) -> Result<Array> {
    ensure!(
        a.ndim() == 1 && (a.dtype().is_integer() || a.dtype() == DType::Bool || a.size() == 0),
        Value("bincount"),
        "array must be one-dimensional and integer, got shape {} and dtype {}",
        a.shape(),
        a.dtype()
    );
    ensure!(min_length >= 0, Value("bincount"), "minlength must not be negative, got {min_length}");
    let weights = checked("bincount", a, weights)?;
    let weights = weights.map(|weights| cast(&weights, weights.dtype().inexact())).transpose()?;
    let mut length = min_length as u64;
    let indices = if a.dtype() == DType::UInt64 {
        // Values beyond int64 become negative and fail below.
        cast(a, DType::Int64)?
    } else if a.dtype().is_integer() {
        a.clone()
    } else {
        cast(a, DType::UInt8)?
    };
    if a.size() > 0 {
        let min_value = data_dependent::value_of("bincount", &min(&indices, None, KeepAxes::No)?)?.as_i64();
        ensure!(min_value >= 0, Value("bincount"), "elements must not be negative, got {min_value}");
        let max_value = data_dependent::value_of("bincount", &max(&indices, None, KeepAxes::No)?)?.as_i64();
        length = length.max(max_value as u64 + 1);
    }
    let shape = Shape::checked("bincount", &[i64::try_from(length).unwrap_or(i64::MAX)])?;
    accumulate("bincount", &indices, weights.as_ref(), shape[0])
}

/// The bins of a histogram.
#[derive(Clone, Debug)]
pub enum Bins {
    /// A number of bins of equal width, over the given range or from the minimum to the maximum.
    Count(i64, Option<(f64, f64)>),
    /// Bins of equal width over the same range, whose number is chosen from the elements by a rule.
    Suited(BinRule, Option<(f64, f64)>),
    /// Edges in ascending order.
    Edges(Array),
}

/// Edges of the bins of a [`histogram`], one more than there are bins.
///
/// # Errors
/// If there is no bin, edges do not increase, or a range is not finite; for a rule inside `vmap` and `compile`, where `a` has no
/// value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Bins};
/// let a = Array::from([1.0f32, 2.0, 5.0]);
/// let edges = |bins| ops::histogram_bin_edges(&a, &bins)?.to_vec::<f32>();
/// assert_eq!(edges(Bins::Count(2, None))?, [1.0, 3.0, 5.0]);
/// assert_eq!(edges(Bins::Count(4, Some((0.0, 1.0))))?, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// assert!(edges(Bins::Count(0, None)).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn histogram_bin_edges(a: &Array, bins: &Bins) -> Result<Array> {
    narrowed(&edges_of("histogram_bin_edges", a, bins)?, a, bins)
}

/// The edges in the dtype of the result.
fn narrowed(edges: &Array, a: &Array, bins: &Bins) -> Result<Array> {
    if matches!(bins, Bins::Edges(_)) { Ok(edges.clone()) } else { cast(edges, a.dtype().inexact()) }
}

/// The edges that elements are compared with; float64 for integers, which is exact up to 2^53.
fn edges_of(op: &str, a: &Array, bins: &Bins) -> Result<Array> {
    ensure!(!a.dtype().is_complex(), Type(op), "dtype {} is not supported, expected real numbers", a.dtype());
    let (count, range) = match bins {
        Bins::Count(count, range) => (*count, *range),
        Bins::Suited(rule, range) => (estimated_count(op, a, *rule, *range)?, *range),
        Bins::Edges(edges) => return check_edges(op, edges),
    };
    ensure!(count > 0, Value(op), "number of bins must be at least 1, got {count}");
    let shape = Shape::checked(op, &[count.saturating_add(1)])?;
    let dtype = if a.dtype().is_inexact() { a.dtype() } else { DType::Float64 };
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let scalar = |value: f64| Array::scalar(value, wide);
    let (low, high) = match range {
        Some((low, high)) => {
            ensure!(low <= high, Value(op), "range must not end below its start, got ({low}, {high})");
            (scalar(low), scalar(high))
        }
        None if a.size() == 0 => (scalar(0.0), scalar(1.0)),
        None => (cast(&min(a, None, KeepAxes::No)?, wide)?, cast(&max(a, None, KeepAxes::No)?, wide)?),
    };
    if let (Some(low), Some(high)) = (data_dependent::known(&low)?, data_dependent::known(&high)?) {
        let (low, high) = (low.as_f64(), high.as_f64());
        ensure!(
            low.is_finite() && high.is_finite(),
            Value(op),
            "the range ({low}, {high}) of the elements is not finite; pass range=(low, high)"
        );
    }
    // Widen an empty range to width one around its point.
    let is_point = equal(&low, &high)?;
    let half = select(&is_point, &scalar(0.5), &scalar(0.0))?;
    let (low, high) = (subtract(&low, &half)?, add(&high, &half)?);
    let step = cast(&iota(&shape, 0)?, wide)?;
    let scale = overflow_scale(&low, &high)?;
    let (bottom, top) = (multiply(&low, &scale)?, multiply(&high, &scale)?);
    let width = divide(&subtract(&top, &bottom)?, &scalar(count as f64))?;
    let edges = divide(&add(&bottom, &multiply(&step, &width)?)?, &scale)?;
    // The last edge is exactly the upper end, despite rounding of the steps.
    let is_last = equal(&step, &scalar(count as f64))?;
    cast(&select(&is_last, &high, &edges)?, dtype)
}

fn check_edges(op: &str, edges: &Array) -> Result<Array> {
    ensure!(
        edges.ndim() == 1 && edges.size() > 0 && !edges.dtype().is_complex(),
        Value(op),
        "bin edges must be one-dimensional, non-empty and real, got shape {} and dtype {}",
        edges.shape(),
        edges.dtype()
    );
    let count = edges.size() - 1;
    let (low, high) = (slice_along(edges, 0, 0, count)?, slice_along(edges, 0, 1, count)?);
    let rises = all(&binary(BinaryKind::LessEqual, &low, &high)?, None, KeepAxes::No)?;
    match data_dependent::known(&rises)? {
        Some(rises) if !rises.as_bool() => {
            bail!(Value(op), "bin edges must increase monotonically")
        }
        _ => Ok(edges.clone()),
    }
}

/// Whether a histogram counts elements or estimates their density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// The count, or weight, of each bin.
    Counts,
    /// The count divided by the width of the bin and by the total, so that the integral is one.
    Normalised,
}

/// Count the elements in each bin, and return the edges of the bins too.
///
/// A bin includes its lower edge; the last bin includes its upper edge too. Elements outside of the bins, and NaN,
/// are not counted.
///
/// Counts are int32; weights are summed in their dtype, integers for a density in float32.
///
/// # Errors
/// The errors of [`histogram_bin_edges`]; also if weights have another shape than `a`.
///
/// # Examples
/// ```
/// use umber_core::{Array, ops};
///
/// let a = Array::from_slice(&[1.0f32, 2.0, 1.0, 4.0], [4]).unwrap();
/// let (counts, edges) = ops::histogram(&a, &ops::Bins::Count(3, None), None, ops::Density::Counts).unwrap();
/// assert_eq!(counts.to_vec::<i32>().unwrap(), [2, 1, 1]);
/// assert_eq!(edges.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
/// ```
pub fn histogram(
    a: &Array,
    bins: &Bins,
    weights: Option<&Array>,
    density: Density,
) -> Result<(Array, Array)> {
    let edges = edges_of("histogram", a, bins)?;
    let weights = checked("histogram", a, weights)?;
    let flat = reshape(a, [a.size()])?;
    let count = edges.size() - 1;
    if count == 0 {
        let dtype = weights.as_ref().map_or(DType::Int32, Array::dtype);
        return Ok((Array::full([0].into(), 0, dtype), narrowed(&edges, a, bins)?));
    }
    let index = bin_indices("histogram", &edges, &flat)?;
    let counts = accumulate("histogram", &index, weights.as_ref(), count)?;
    let out_edges = narrowed(&edges, a, bins)?;
    if density == Density::Counts {
        return Ok((counts, out_edges));
    }
    let dtype = promote(promote(counts.dtype(), out_edges.dtype()), a.dtype()).inexact();
    let counts = cast(&counts, dtype)?;
    let total = sum(&counts, None, KeepAxes::No)?;
    let widths = Widths::of(&edges, dtype)?;
    let densities = multiply(&divide(&divide(&counts, &widths.scaled)?, &total)?, &widths.scale)?;
    Ok((densities, out_edges))
}

/// The bin of each element of a vector; the number of bins for those outside of all bins and for NaN.
fn bin_indices(op: &str, edges: &Array, elements: &Array) -> Result<Array> {
    let count = edges.size() - 1;
    let insertion = search_as(op, edges, elements, Side::Right, None)?;
    let number = |value: usize| Array::scalar(value as i64, insertion.dtype());
    let last = reshape(&slice_along(edges, 0, count, 1)?, Shape::scalar())?;
    let is_last = equal(elements, &last)?;
    // Below the first edge, subtraction wraps around to the largest integer, so that outliers on both sides exceed the last bin.
    let bin = select(&is_last, &number(count - 1), &subtract(&insertion, &number(1))?)?;
    minimum(&bin, &number(count))
}

/// The widths of bins, multiplied by a scale at which they do not overflow.
struct Widths {
    scaled: Array,
    scale: Array,
}

impl Widths {
    fn of(edges: &Array, dtype: DType) -> Result<Widths> {
        let count = edges.size() - 1;
        let (low, high) = (slice_along(edges, 0, 0, count)?, slice_along(edges, 0, 1, count)?);
        let scale = overflow_scale(&low, &high)?;
        let scaled = subtract(&multiply(&high, &scale)?, &multiply(&low, &scale)?)?;
        Ok(Widths { scaled: cast(&scaled, dtype)?, scale: cast(&scale, dtype)? })
    }
}

/// Count the points in each bin of a grid, and return the edges of the bins along each axis too.
///
/// `columns` holds the coordinates of the points, a vector for each axis of the grid; `bins` the bins of each axis. Bins,
/// dtypes, weights and densities are those of [`histogram`]; a point outside of the bins of one axis is not counted.
///
/// # Errors
/// If there are no columns, they are not vectors of one length, or there is not one entry of `bins` for each; otherwise
/// those of [`histogram`].
///
/// # Examples
/// ```
/// use umber_core::{Array, Shape, ops};
///
/// let (x, y) = (Array::from([0.0f32, 0.1, 0.9]), Array::from([5.0f32, 7.0, 7.0]));
/// let bins = [ops::Bins::Count(2, Some((0.0, 1.0))), ops::Bins::Count(3, None)];
/// let (counts, edges) = ops::histogramdd(&[x, y], &bins, None, ops::Density::Counts)?;
/// assert_eq!(counts.shape(), &Shape::from([2, 3]));
/// assert_eq!(counts.to_vec::<i32>()?, [1, 0, 1, 0, 0, 1]);
/// assert_eq!(edges[0].to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn histogramdd(
    columns: &[Array],
    bins: &[Bins],
    weights: Option<&Array>,
    density: Density,
) -> Result<(Array, Vec<Array>)> {
    const OP: &str = "histogramdd";
    ensure!(!columns.is_empty(), Value(OP), "sample must have at least one column");
    for column in columns {
        ensure!(
            column.ndim() == 1 && column.shape() == columns[0].shape(),
            Value(OP),
            "the columns of the sample must be vectors of one length, got shapes {} and {}",
            columns[0].shape(),
            column.shape()
        );
    }
    ensure!(
        bins.len() == columns.len(),
        Value(OP),
        "bins must have an entry for each of the {} columns of the sample, got {}",
        columns.len(),
        bins.len()
    );
    let weights = checked(OP, &columns[0], weights)?;
    let edges = columns
        .iter()
        .zip(bins)
        .map(|(column, bins)| edges_of(OP, column, bins))
        .collect::<Result<Vec<_>>>()?;
    let out_edges = edges
        .iter()
        .zip(columns.iter().zip(bins))
        .map(|(edges, (column, bins))| narrowed(edges, column, bins))
        .collect::<Result<Vec<_>>>()?;
    let mut counts = grid_counts(columns, &edges, weights.as_ref())?;
    if density == Density::Normalised {
        let inputs = columns.iter().chain(&out_edges).map(Array::dtype);
        let dtype = inputs.fold(counts.dtype(), promote).inexact();
        counts = cast(&counts, dtype)?;
        let total = sum(&counts, None, KeepAxes::No)?;
        counts = divide(&counts, &total)?;
        for (axis, edges) in edges.iter().enumerate() {
            let widths = Widths::of(edges, dtype)?;
            let aligned = Shape::from(vec![1; columns.len()]).with(axis, widths.scaled.size());
            let [scaled, scale] = [&widths.scaled, &widths.scale].map(|row| reshape(row, aligned.clone()));
            counts = multiply(&divide(&counts, &scaled?)?, &scale?)?;
        }
    }
    Ok((counts, out_edges))
}

/// The number, or weight, of the points in each bin of a grid.
fn grid_counts(columns: &[Array], edges: &[Array], weights: Option<&Array>) -> Result<Array> {
    const OP: &str = "histogramdd";
    let lengths: Vec<i64> = edges.iter().map(|edges| edges.size() as i64 - 1).collect();
    let shape = Shape::checked(OP, &lengths)?;
    if shape.size() == 0 {
        return Ok(Array::full(shape, 0, weights.map_or(DType::Int32, Array::dtype)));
    }
    // One more bin along each axis collects the points outside.
    let padded = Shape::checked(OP, &lengths.iter().map(|length| length + 1).collect::<Vec<_>>())?;
    let mut index = Array::full(columns[0].shape().clone(), 0, DType::Int64);
    for (axis, (edges, column)) in edges.iter().zip(columns).enumerate() {
        let row = multiply(&index, &constant(&index, padded[axis] as i64))?;
        index = add(&row, &cast(&bin_indices(OP, edges, column)?, DType::Int64)?)?;
    }
    let mut grid = reshape(&accumulate(OP, &index, weights, padded.size())?, padded)?;
    for (axis, &length) in shape.iter().enumerate() {
        grid = slice_along(&grid, axis, 0, length)?;
    }
    Ok(grid)
}

/// [`histogramdd`] of two columns, `x` along the first axis and `y` along the second.
///
/// # Errors
/// Those of [`histogramdd`].
///
/// # Examples
/// ```
/// use umber_core::{Array, ops};
///
/// let (x, y) = (Array::from([1, 2, 2]), Array::from([5, 5, 6]));
/// let bins = [ops::Bins::Count(2, None), ops::Bins::Count(2, None)];
/// let (counts, edges) = ops::histogram2d(&x, &y, &bins, None, ops::Density::Counts)?;
/// assert_eq!(counts.to_vec::<i32>()?, [1, 0, 1, 1]);
/// assert_eq!(edges[1].to_vec::<f32>()?, [5.0, 5.5, 6.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn histogram2d(
    x: &Array,
    y: &Array,
    bins: &[Bins],
    weights: Option<&Array>,
    density: Density,
) -> Result<(Array, [Array; 2])> {
    let (counts, edges) = histogramdd(&[x.clone(), y.clone()], bins, weights, density)
        .map_err(|error| error.with_op("histogram2d"))?;
    Ok((counts, edges.try_into().expect("edges for each of two columns")))
}
