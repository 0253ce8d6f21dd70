//! What an index means for an array of some shape.
//!
//! Every index is a window of the array, then index arrays on some of the window's axes, then a shape. Integers
//! are part of the window; where they stand still decides, as in NumPy, where the axes of index arrays go.

use smallvec::SmallVec;
use umber_types::shape::{from_start, out_of_bounds};
use umber_types::{Result, Shape, bail, ensure};

use super::{Index, bounds, broadcast_indices, check_integers, mask};
use crate::graph::tracing::note_length_read;
use crate::graph::{Array, Inputs};
use crate::primitives::gather::Places;
use crate::primitives::rules;
use crate::primitives::slice::Window;

/// No axis is as long: bounds from here on mean its ends, whatever its length.
const BEYOND_ALL: u64 = 1 << 62;

/// An index, resolved.
pub(super) struct Plan {
    /// The part of the array that is indexed. Its axes are the array's.
    pub(super) window: Window,
    /// Axes picked from by index arrays, ascending.
    pub(super) axes: SmallVec<[usize; 4]>,
    /// Their index arrays, not yet broadcast.
    indices: Inputs,
    /// The common shape of the index arrays.
    pub(super) indexed_shape: Shape,
    /// Axes of the result that do not come from index arrays.
    kept_axes: Shape,
    /// Before which of the kept axes those of the index arrays go.
    axis_position: usize,
    /// The axes whose ends cut off a slice.
    cut: SmallVec<[usize; 2]>,
}

/// Where entries that count as index arrays stand.
#[derive(Default)]
struct Group {
    /// Kept axes before the first.
    axis_position: Option<usize>,
    /// Entry number of the last.
    last: usize,
    /// Was there another entry between two of them?
    is_split: bool,
}

impl Group {
    fn meet(&mut self, entry: usize, kept_axes: usize) {
        match self.axis_position {
            None => self.axis_position = Some(kept_axes),
            Some(_) => self.is_split |= entry != self.last + 1,
        }
        self.last = entry;
    }
}

impl Plan {
    /// What an index means for an array, of which a part is taken.
    pub(super) fn of(a: &Array, index: &[Index]) -> Result<Plan> {
        let plan = Plan::new(a.shape(), index)?;
        for &axis in &plan.cut {
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
            cut: SmallVec::new(),
        };
        let mut group = Group::default();
        let mut axis = 0;
        let mut has_arrays = false;
        for (number, entry) in index.iter().enumerate() {
            if matches!(entry, Index::Int(_) | Index::Array(_) | Index::Mask(_)) {
                group.meet(number, plan.kept_axes.ndim());
            }
            match entry {
                Index::Int(axis_position) => plan.take_one(axis, resolve(*axis_position, axis, shape[axis])?),
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
                    plan.pick(axis, array.clone())?;
                }
                Index::Mask(array) => {
                    check_mask(array, shape, axis)?;
                    has_arrays = true;
                    plan.pick_where(axis, array)?;
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

    fn take_one(&mut self, axis: usize, axis_position: usize) {
        self.window.starts[axis] = axis_position;
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
        // Backwards, -1 stands for one before the first element.
        let (lowest, highest) = if step < 0 { (-1, n - 1) } else { (0, n) };
        let counted = |axis_position: i64| from_start(axis_position, length);
        let bound = |given: Option<i64>, default: i64| {
            given.map_or(default, |axis_position| counted(axis_position).clamp(lowest, highest))
        };
        let (first, last) = if step < 0 { (highest, lowest) } else { (lowest, highest) };
        // What is beyond any length says nothing of this one.
        let is_cut = |&axis_position: &i64| {
            axis_position.unsigned_abs() < BEYOND_ALL && !(lowest..=highest).contains(&counted(axis_position))
        };
        let is_cut = [start, stop].iter().flatten().any(is_cut);
        let (start, stop) = (bound(start, first), bound(stop, last));
        let distance = if step < 0 { start - stop } else { stop - start };
        if is_cut || distance < 0 {
            self.cut.push(axis);
        }
        let count = (distance.max(0) as u64).div_ceil(step.unsigned_abs()) as usize;
        if count > 0 {
            self.window.starts[axis] = start as usize;
        }
        if count > 1 {
            self.window.steps[axis] = step as isize;
        }
        self.window.lengths.as_mut_slice()[axis] = count;
        self.kept_axes.push(count);
        Ok(())
    }

    fn pick(&mut self, axis: usize, indices: Array) -> Result<()> {
        self.meet_shape(indices.shape())?;
        self.axes.push(axis);
        self.indices.push(indices);
        Ok(())
    }

    fn pick_where(&mut self, axis: usize, array: &Array) -> Result<()> {
        let places = mask::places(array)?;
        if array.ndim() == 0 {
            // No axis is picked from: once if true, never if false.
            return self.meet_shape(&Shape::from([places.count]));
        }
        for (i, indices) in places.indices(array)?.into_iter().enumerate() {
            self.pick(axis + i, indices)?;
        }
        Ok(())
    }

    fn meet_shape(&mut self, shape: &Shape) -> Result<()> {
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

    /// The index arrays with the axes they pick from.
    pub(super) fn places(&self) -> Result<Places> {
        let indices = broadcast_indices(&self.indices, &self.indexed_shape)?;
        Ok(Places::grid("index", &self.axes, indices))
    }

    /// Refuse index arrays whose values are known to lie outside.
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

    /// The shape of what the places read from the window: the index arrays' axes, then the others, integers' too.
    pub(super) fn read_shape(&self) -> Shape {
        let lengths = self.window.lengths.iter().enumerate();
        let rest = lengths.filter(|(axis, _)| !self.axes.contains(axis)).map(|(_, &length)| length);
        self.indexed_shape.iter().copied().chain(rest).collect()
    }

    /// The shape of the result with the index arrays' axes in front.
    pub(super) fn gathered_shape(&self) -> Shape {
        self.indexed_shape.iter().chain(self.kept_axes.iter()).copied().collect()
    }

    /// From the index arrays' axes in front to the order of the result.
    pub(super) fn move_picked_to_place(&self, x: &Array) -> Result<Array> {
        let indexed_shape = self.indexed_shape.ndim();
        let order = (indexed_shape..indexed_shape + self.axis_position)
            .chain(0..indexed_shape)
            .chain(indexed_shape + self.axis_position..x.ndim());
        rules::transpose(x, &order.collect::<SmallVec<[usize; 6]>>())
    }

    /// From the order of the result to the index arrays' axes in front.
    pub(super) fn move_picked_to_front(&self, x: &Array) -> Result<Array> {
        let indexed_shape = self.indexed_shape.ndim();
        let order = (self.axis_position..self.axis_position + indexed_shape)
            .chain(0..self.axis_position)
            .chain(self.axis_position + indexed_shape..x.ndim());
        rules::transpose(x, &order.collect::<SmallVec<[usize; 6]>>())
    }
}

/// How many axes of the array an entry stands for; an ellipsis takes what the others leave.
pub(super) fn axes_used(entry: &Index) -> usize {
    match entry {
        Index::Int(_) | Index::Slice { .. } | Index::Array(_) => 1,
        Index::Ellipsis | Index::NewAxis => 0,
        Index::Mask(mask) => mask.ndim(),
    }
}

/// An index counted from the start.
fn resolve(axis_position: i64, axis: usize, length: usize) -> Result<usize> {
    let shifted = from_start(axis_position, length);
    if (0..length as i64).contains(&shifted) {
        Ok(shifted as usize)
    } else {
        Err(out_of_bounds(axis_position, axis, length).with_op("index"))
    }
}

/// Refuse a mask that is not bool, or whose shape is not that of the axes it picks from.
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
