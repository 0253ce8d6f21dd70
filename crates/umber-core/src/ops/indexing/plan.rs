//! Resolution of an index against the shape of an array.
//!
//! Every index is a window of the array, index arrays on some of the window's axes, and a final shape. Integers are part of the
//! window, but their position among the entries still decides, as in NumPy, where the axes of index arrays go.

use smallvec::SmallVec;
use umber_types::shape::{from_start, out_of_bounds};
use umber_types::{Result, Shape, bail, ensure};

use super::{Index, bounds, broadcast_indices, check_integers, mask};
use crate::graph::tracing::note_length_read;
use crate::graph::{Array, Inputs};
use crate::primitives::gather::Places;
use crate::primitives::rules;
use crate::primitives::slice::Window;

/// Longer than any axis: a slice bound of at least this magnitude refers to an end of the axis, whatever its length.
const UNBOUNDED: u64 = 1 << 62;

/// A resolved index.
pub(super) struct Plan {
    /// The window of the array that is indexed. It has the axes of the array.
    pub(super) window: Window,
    /// The axes with index arrays, ascending.
    pub(super) axes: SmallVec<[usize; 4]>,
    /// The index arrays, before broadcasting.
    indices: Inputs,
    /// The common shape of the index arrays.
    pub(super) indexed_shape: Shape,
    /// Axes of the result that do not come from index arrays.
    kept_axes: Shape,
    /// The position among the kept axes at which the axes of the index arrays are inserted.
    axis_position: usize,
    /// The axes with slice bounds that are clamped to the axis.
    clamped: SmallVec<[usize; 2]>,
}

/// The positions of the entries that count as index arrays.
#[derive(Default)]
struct Group {
    /// The number of kept axes before the first of them.
    axis_position: Option<usize>,
    /// The position of the last of them.
    last: usize,
    /// Whether there is another entry between two of them.
    is_split: bool,
}

impl Group {
    fn add(&mut self, entry: usize, kept_axes: usize) {
        match self.axis_position {
            None => self.axis_position = Some(kept_axes),
            Some(_) => self.is_split |= entry != self.last + 1,
        }
        self.last = entry;
    }
}

impl Plan {
    /// Resolve an index of `a`, and record which lengths of axes the result depends on.
    pub(super) fn of(a: &Array, index: &[Index]) -> Result<Plan> {
        let plan = Plan::new(a.shape(), index)?;
        for &axis in &plan.clamped {
            note_length_read(a, axis);
        }
        Ok(plan)
    }

    pub(super) fn new(shape: &Shape, index: &[Index]) -> Result<Plan> {
        let ndim = shape.ndim();
        let used: usize = index.iter().map(axes_used).sum();
        ensure!(
            used <= ndim,
            Index("index"),
            "too many indices: the array is {ndim}-dimensional, but {used} were indexed"
        );
        ensure!(
            index.iter().filter(|entry| matches!(entry, Index::Ellipsis)).count() <= 1,
            Index("index"),
            "an index can have only one ellipsis ('...')"
        );
        let mut plan = Plan {
            window: Window::whole(shape),
            axes: SmallVec::new(),
            indices: Inputs::new(),
            indexed_shape: Shape::scalar(),
            kept_axes: Shape::scalar(),
            axis_position: 0,
            clamped: SmallVec::new(),
        };
        let mut group = Group::default();
        let mut axis = 0;
        let mut has_arrays = false;
        for (position, entry) in index.iter().enumerate() {
            if matches!(entry, Index::Int(_) | Index::Array(_) | Index::Mask(_)) {
                group.add(position, plan.kept_axes.ndim());
            }
            match entry {
                Index::Int(i) => plan.take_index(axis, resolve(*i, axis, shape[axis])?),
                Index::Slice { start, stop, step } => {
                    plan.take_slice(axis, shape[axis], *start, *stop, step.unwrap_or(1))?;
                }
                Index::Ellipsis => {
                    for _ in used..ndim {
                        plan.kept_axes.push(shape[axis]);
                        axis += 1;
                    }
                }
                Index::NewAxis => plan.kept_axes.push(1),
                Index::Array(array) => {
                    check_integers("index", array)?;
                    has_arrays = true;
                    plan.add_index_array(axis, array.clone())?;
                }
                Index::Mask(array) => {
                    check_mask(array, shape, axis)?;
                    has_arrays = true;
                    plan.add_mask(axis, array)?;
                }
            }
            axis += axes_used(entry);
        }
        plan.kept_axes = plan.kept_axes.iter().chain(&shape[axis..]).copied().collect();
        if has_arrays && !group.is_split {
            plan.axis_position = group.axis_position.unwrap_or(0);
        }
        Ok(plan)
    }

    fn take_index(&mut self, axis: usize, index: usize) {
        self.window.starts[axis] = index;
        self.window.lengths.as_mut_slice()[axis] = 1;
    }

    fn take_slice(
        &mut self,
        axis: usize,
        length: usize,
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    ) -> Result<()> {
        ensure!(step != 0, Value("index"), "slice step must be non-zero");
        let n = length as i64;
        // For a negative step, -1 is the position before the first element.
        let (lowest, highest) = if step < 0 { (-1, n - 1) } else { (0, n) };
        let resolved = |i: i64| from_start(i, length);
        let bound =
            |value: Option<i64>, default: i64| value.map_or(default, |i| resolved(i).clamp(lowest, highest));
        let (first, last) = if step < 0 { (highest, lowest) } else { (lowest, highest) };
        // Bounds beyond all lengths do not depend on this one.
        let is_clamped =
            |&i: &i64| i.unsigned_abs() < UNBOUNDED && !(lowest..=highest).contains(&resolved(i));
        let is_clamped = [start, stop].iter().flatten().any(is_clamped);
        let (start, stop) = (bound(start, first), bound(stop, last));
        let distance = if step < 0 { start - stop } else { stop - start };
        if is_clamped || distance < 0 {
            self.clamped.push(axis);
        }
        let count = (distance.max(0) as u64).div_ceil(step.unsigned_abs()) as usize;
        if count > 0 {
            self.window.starts[axis] = start as usize;
            // Also of a single element: a longer axis may have more.
            self.window.steps[axis] = step as isize;
        }
        self.window.lengths.as_mut_slice()[axis] = count;
        self.kept_axes.push(count);
        Ok(())
    }

    fn add_index_array(&mut self, axis: usize, indices: Array) -> Result<()> {
        self.broadcast_with(indices.shape())?;
        self.axes.push(axis);
        self.indices.push(indices);
        Ok(())
    }

    fn add_mask(&mut self, axis: usize, array: &Array) -> Result<()> {
        let selected = mask::mask_indices(array)?;
        if array.ndim() == 0 {
            // A mask without axes selects everything once if true, and nothing if false.
            return self.broadcast_with(&Shape::from([selected.count]));
        }
        for (i, indices) in selected.indices(array)?.into_iter().enumerate() {
            self.add_index_array(axis + i, indices)?;
        }
        Ok(())
    }

    fn broadcast_with(&mut self, shape: &Shape) -> Result<()> {
        match self.indexed_shape.broadcast(shape) {
            Some(common) => self.indexed_shape = common,
            None => bail!(
                Index("index"),
                "index arrays of shapes {} and {shape} cannot be broadcast",
                self.indexed_shape
            ),
        }
        Ok(())
    }

    /// The index arrays, with the axes that they index.
    pub(super) fn places(&self) -> Result<Places> {
        let indices = broadcast_indices(&self.indices, &self.indexed_shape)?;
        Ok(Places::grid("index", &self.axes, indices))
    }

    /// Fail for index arrays whose values are known and out of bounds.
    pub(super) fn check_known(&self) -> Result<()> {
        for (&axis, indices) in self.axes.iter().zip(&self.indices) {
            bounds::check_known("index", indices, axis, self.window.lengths[axis])?;
        }
        Ok(())
    }

    /// The shape of the result.
    pub(super) fn shape(&self) -> Shape {
        let (before, after) = self.kept_axes.split_at(self.axis_position);
        before.iter().chain(self.indexed_shape.iter()).chain(after).copied().collect()
    }

    /// The shape of the elements read from the window: the axes of the index arrays, then the other axes, with those of integers.
    pub(super) fn read_shape(&self) -> Shape {
        let lengths = self.window.lengths.iter().enumerate();
        let others = lengths.filter(|(axis, _)| !self.axes.contains(axis)).map(|(_, &length)| length);
        self.indexed_shape.iter().copied().chain(others).collect()
    }

    /// The shape of the result with the axes of the index arrays in front.
    pub(super) fn gathered_shape(&self) -> Shape {
        self.indexed_shape.iter().chain(self.kept_axes.iter()).copied().collect()
    }

    /// Move the axes of the index arrays from the front to their position in the result.
    pub(super) fn move_indexed_to_position(&self, x: &Array) -> Result<Array> {
        let indexed_ndim = self.indexed_shape.ndim();
        let order = (indexed_ndim..indexed_ndim + self.axis_position)
            .chain(0..indexed_ndim)
            .chain(indexed_ndim + self.axis_position..x.ndim());
        rules::transpose(x, &order.collect::<SmallVec<[usize; 6]>>())
    }

    /// Move the axes of the index arrays from their position in the result to the front.
    pub(super) fn move_indexed_to_front(&self, x: &Array) -> Result<Array> {
        let indexed_ndim = self.indexed_shape.ndim();
        let order = (self.axis_position..self.axis_position + indexed_ndim)
            .chain(0..self.axis_position)
            .chain(self.axis_position + indexed_ndim..x.ndim());
        rules::transpose(x, &order.collect::<SmallVec<[usize; 6]>>())
    }
}

/// The number of axes that an entry indexes; an ellipsis stands for the axes that the others do not index.
pub(super) fn axes_used(entry: &Index) -> usize {
    match entry {
        Index::Int(_) | Index::Slice { .. } | Index::Array(_) => 1,
        Index::Ellipsis | Index::NewAxis => 0,
        Index::Mask(mask) => mask.ndim(),
    }
}

/// An index counted from the start.
fn resolve(index: i64, axis: usize, length: usize) -> Result<usize> {
    let resolved = from_start(index, length);
    if (0..length as i64).contains(&resolved) {
        Ok(resolved as usize)
    } else {
        Err(out_of_bounds(index, axis, length).with_op("index"))
    }
}

/// Fail for a mask that is not bool, or whose shape differs from that of the axes it indexes.
pub(super) fn check_mask(mask: &Array, shape: &Shape, axis: usize) -> Result<()> {
    ensure!(
        mask.dtype() == umber_types::DType::Bool,
        Type("index"),
        "mask must be bool, not {}",
        mask.dtype()
    );
    ensure!(
        axis + mask.ndim() <= shape.ndim(),
        Index("index"),
        "too many indices: the array is {}-dimensional, but {} were indexed",
        shape.ndim(),
        axis + mask.ndim()
    );
    for (i, &length) in mask.shape().iter().enumerate() {
        ensure!(
            length == shape[axis + i],
            Index("index"),
            "mask of shape {} does not match axis {} of length {}",
            mask.shape(),
            axis + i,
            shape[axis + i]
        );
    }
    Ok(())
}
