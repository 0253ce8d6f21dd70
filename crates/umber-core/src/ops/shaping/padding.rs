//! Padding: extending arrays at the ends of their axes.

use smallvec::{SmallVec, smallvec};
use umber_types::{DType, KeepAxes, Result, Scalar, ScatterKind, Shape, bail, ensure};

use super::checked_length;
use crate::graph::{Array, Inputs};
use crate::ops::promotion::{cast_constant, weak};
use crate::ops::{add, arange, divide, floor, max, mean, median, min, multiply, round, subtract};
use crate::primitives::broadcast::Broadcast;
use crate::primitives::concatenate::concatenate;
use crate::primitives::rules;
use crate::primitives::slice::{Window, slice, slice_along};
use crate::primitives::slice_update::slice_update;

/// The content of a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadMode {
    /// A given value.
    Constant,
    /// The element at the edge.
    Edge,
    /// The elements mirrored, without the edge element.
    Reflect,
    /// The elements mirrored, with the edge element.
    Symmetric,
    /// The elements of the opposite end, periodically.
    Wrap,
    /// Equal steps from the element at the edge to a given value at the end.
    LinearRamp,
    /// A statistic of the elements along the axis, or of this many elements next to the border.
    Statistic(PadStatistic, Option<usize>),
    /// Unspecified values; zeros.
    Empty,
}

/// The statistic that fills a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadStatistic {
    /// The maximum.
    Maximum,
    /// The mean; for integers rounded, halves to even.
    Mean,
    /// The median; for integers rounded, halves to even.
    Median,
    /// The minimum.
    Minimum,
}

impl PadMode {
    /// Whether the mode copies or combines existing elements, so that the axis must not be empty.
    fn needs_elements(self) -> bool {
        match self {
            PadMode::Constant | PadMode::Empty => false,
            PadMode::Edge
            | PadMode::Reflect
            | PadMode::Symmetric
            | PadMode::Wrap
            | PadMode::LinearRamp
            | PadMode::Statistic(..) => true,
        }
    }
}

/// Extend an array at the ends of its axes.
///
/// `widths` has a pair (before, after) for each axis, or one pair for all. `value` is the constant of [`PadMode::Constant`]
/// and the number at the ends of [`PadMode::LinearRamp`].
///
/// Axes are padded one after the other, so that corners depend on the borders of the earlier axes. The dtype is that of `a`.
/// Fails for negative widths, another number of pairs, a value that does not broadcast, and a border made of the
/// elements of an empty axis.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::PadMode;
/// let (a, zero) = (Array::from([1, 2, 3]), Array::from(0));
/// assert_eq!(ops::pad(&a, &[(1, 2)], PadMode::Constant, &zero)?.to_vec::<i32>()?, [0, 1, 2, 3, 0, 0]);
/// assert_eq!(ops::pad(&a, &[(0, 2)], PadMode::Reflect, &zero)?.to_vec::<i32>()?, [1, 2, 3, 2, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn pad(a: &Array, widths: &[(i64, i64)], mode: PadMode, value: &Array) -> Result<Array> {
    let ndim = a.ndim();
    ensure!(
        widths.len() == 1 || widths.len() == ndim,
        Value("pad"),
        "got {} pairs in pad_width, expected one, or one for each of {ndim} axes",
        widths.len()
    );
    let mut lengths: SmallVec<[i64; 6]> = SmallVec::new();
    for axis in 0..ndim {
        let (low, high) = widths[if widths.len() == 1 { 0 } else { axis }];
        ensure!(
            low >= 0 && high >= 0,
            Value("pad"),
            "pad_width must not be negative, got ({low}, {high}) for axis {axis}"
        );
        let length = a.shape()[axis] as i64;
        let padded = length.checked_add(low).and_then(|length| length.checked_add(high));
        lengths.push(checked_length("pad", padded, || {
            format!("widths ({low}, {high}) for axis {axis} of length {length}")
        })?);
    }
    let shape = Shape::checked("pad", &lengths)?;
    let low = |axis: usize| widths[if widths.len() == 1 { 0 } else { axis }].0 as usize;
    if shape == *a.shape() {
        return Ok(a.clone());
    }
    check_mode(a, &shape, mode, value)?;
    if matches!(mode, PadMode::Constant | PadMode::Empty) || a.size() == 0 {
        let value = if mode == PadMode::Constant { value } else { &Array::scalar(0.0, a.dtype()) };
        let border = fill_like(&cast_constant(value, a.dtype())?, &shape)?;
        let mut window = Window::whole(a.shape());
        (0..ndim).for_each(|axis| window.starts[axis] = low(axis));
        return slice_update(ScatterKind::Set, &border, window, a);
    }
    let mut padded = a.clone();
    for axis in 0..ndim {
        let length = a.shape()[axis];
        if shape[axis] == length {
            continue;
        }
        let widths = [low(axis), shape[axis] - length - low(axis)];
        let borders = match mode {
            PadMode::LinearRamp => Some(ramp_borders(&padded, axis, widths, value)?),
            PadMode::Statistic(statistic, count) => {
                Some(statistic_borders(&padded, axis, widths, statistic, count)?)
            }
            PadMode::Constant
            | PadMode::Empty
            | PadMode::Edge
            | PadMode::Reflect
            | PadMode::Symmetric
            | PadMode::Wrap => None,
        };
        if let Some([before, after]) = borders {
            padded = concatenate(smallvec![before, padded, after], axis)?;
            continue;
        }
        let indices: Vec<usize> = (0..shape[axis])
            .map(|i| source_index(mode, i as i64 - low(axis) as i64, length as i64))
            .collect();
        padded = assemble(&padded, axis, &indices)?;
    }
    Ok(padded)
}

/// `value` broadcast to the padded shape as a view, so that elements which the array will cover are not written first.
fn fill_like(value: &Array, shape: &Shape) -> Result<Array> {
    if value.shape() == shape {
        return Ok(value.clone());
    }
    Array::record_one(Broadcast { shape: shape.clone() }, &[value])
}

/// Check that the mode can extend the array to `shape`.
fn check_mode(a: &Array, shape: &Shape, mode: PadMode, value: &Array) -> Result<()> {
    if let PadMode::Statistic(_, Some(0)) = mode {
        bail!(Value("pad"), "stat_length must be at least 1");
    }
    if mode == PadMode::Constant {
        ensure!(
            value.shape().broadcasts_to(shape),
            Value("pad"),
            "cannot broadcast constant of shape {} to {shape}",
            value.shape()
        );
    }
    if mode == PadMode::LinearRamp {
        ensure!(value.size() == 1, Value("pad"), "end value must be a scalar, got shape {}", value.shape());
    }
    if let Some(axis) =
        (0..a.ndim()).find(|&axis| a.shape()[axis] == 0 && shape[axis] > 0 && mode.needs_elements())
    {
        bail!(Value("pad"), "cannot pad empty axis {axis} of shape {} with its own elements", a.shape());
    }
    Ok(())
}

/// The index of the element that fills `position`, counted from the first element of an axis of `length`.
fn source_index(mode: PadMode, position: i64, length: i64) -> usize {
    let index = match mode {
        PadMode::Wrap => position.rem_euclid(length),
        PadMode::Constant | PadMode::Empty | PadMode::LinearRamp | PadMode::Statistic(..) | PadMode::Edge => {
            position.clamp(0, length - 1)
        }
        PadMode::Reflect if length == 1 => 0,
        PadMode::Reflect => {
            let period = 2 * (length - 1);
            let offset = position.rem_euclid(period);
            offset.min(period - offset)
        }
        PadMode::Symmetric => {
            let offset = position.rem_euclid(2 * length);
            offset.min(2 * length - 1 - offset)
        }
    };
    index as usize
}

/// The elements at `indices` along an axis. Ascending, descending and constant runs are read as views and concatenated.
fn assemble(a: &Array, axis: usize, indices: &[usize]) -> Result<Array> {
    let mut parts = Inputs::new();
    let mut remaining = indices;
    while let Some(&first) = remaining.first() {
        let step = remaining.get(1).map_or(0, |&next| next as isize - first as isize);
        let end = remaining.windows(2).position(|pair| pair[1] as isize - pair[0] as isize != step);
        let count = end.map_or(remaining.len(), |end| end + 1);
        parts.push(if step == 0 {
            rules::broadcast(&slice_along(a, axis, first, 1)?, &a.shape().with(axis, count))?
        } else {
            let mut window = Window::along(a.shape(), axis, first, count);
            window.steps[axis] = step;
            slice(a, window)?
        });
        remaining = &remaining[count..];
    }
    concatenate(parts, axis)
}

/// Borders with equal steps from an end value to the element at the edge; integers are rounded down.
fn ramp_borders(a: &Array, axis: usize, widths: [usize; 2], end: &Array) -> Result<[Array; 2]> {
    let dtype = a.dtype();
    let wide = if dtype.is_half() {
        DType::Float32
    } else if dtype.is_inexact() {
        dtype
    } else {
        DType::Float64
    };
    let end = rules::reshape(&cast_constant(&cast_constant(end, dtype)?, wide)?, Shape::scalar())?;
    let ramp = |width: usize, edge: usize, reversed: bool| {
        let edge = rules::cast(&slice_along(a, axis, edge, 1)?, wide)?;
        let steps = arange(0.0, width as f64, 1.0, wide.real())?;
        let last = weak(Scalar::Float(width as f64 - 1.0), &steps);
        let steps = if reversed { subtract(&last, &steps)? } else { steps };
        let steps = divide(&steps, &weak(Scalar::Float(width.max(1) as f64), &steps))?;
        let aligned: Shape = (0..a.ndim()).map(|other| if other == axis { width } else { 1 }).collect();
        let steps = rules::reshape(&rules::cast(&steps, wide)?, aligned)?;
        let ramp = add(&end, &multiply(&subtract(&edge, &end)?, &steps)?)?;
        rules::cast(&if dtype.is_inexact() { ramp } else { floor(&ramp)? }, dtype)
    };
    Ok([ramp(widths[0], 0, false)?, ramp(widths[1], a.shape()[axis] - 1, true)?])
}

/// Borders filled with a statistic of the elements along the axis, or of the `count` elements next to the border.
fn statistic_borders(
    a: &Array,
    axis: usize,
    widths: [usize; 2],
    statistic: PadStatistic,
    count: Option<usize>,
) -> Result<[Array; 2]> {
    let length = a.shape()[axis];
    let count = count.map_or(length, |count| count.min(length));
    let axes = [axis as i64];
    let border = |start: usize, width: usize| {
        let elements = slice_along(a, axis, start, count)?;
        let rounded = |function: fn(&Array, Option<&[i64]>, KeepAxes) -> Result<Array>| {
            if a.dtype().is_inexact() {
                return function(&elements, Some(&axes), KeepAxes::Yes);
            }
            round(&function(&rules::cast(&elements, DType::Float64)?, Some(&axes), KeepAxes::Yes)?, 0)
        };
        let value = match statistic {
            PadStatistic::Maximum => max(&elements, Some(&axes), KeepAxes::Yes)?,
            PadStatistic::Minimum => min(&elements, Some(&axes), KeepAxes::Yes)?,
            PadStatistic::Mean => rounded(mean)?,
            PadStatistic::Median => rounded(median)?,
        };
        rules::broadcast(&rules::cast(&value, a.dtype())?, &a.shape().with(axis, width))
    };
    Ok([border(0, widths[0])?, border(length - count, widths[1])?])
}
