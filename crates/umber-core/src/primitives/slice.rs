//! Slice: a strided window of an array. Never copies.

use smallvec::{SmallVec, smallvec};
use umber_types::layout::Strides;
use umber_types::{Layout, Result, ScatterKind, Shape, ensure};

use super::rules::{linear_jvp, reshape, zeros_like};
use super::slice_update::slice_update;
use crate::generalization::{Change, Generalized, cut, without_ones};
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// A strided window of an array: first index, step and number of elements along each axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// First index along each axis.
    pub starts: SmallVec<[usize; 4]>,
    /// Difference between consecutive indices; may be negative, never zero.
    pub steps: Strides,
    /// Number of indices.
    pub lengths: Shape,
}

/// The elements inside a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Slice {
    /// The window.
    pub window: Box<Window>,
    /// The shape of the result: the window's lengths, with axes of length one removed or inserted.
    pub shape: Shape,
}

impl Window {
    /// All of an array of this shape.
    pub fn whole(shape: &Shape) -> Window {
        Window {
            starts: SmallVec::from_elem(0, shape.ndim()),
            steps: SmallVec::from_elem(1, shape.ndim()),
            lengths: shape.clone(),
        }
    }

    /// `length` contiguous indices along one axis, the full length of the others.
    pub fn along(shape: &Shape, axis: usize, start: usize, length: usize) -> Window {
        let mut window = Window::whole(shape);
        window.starts[axis] = start;
        window.lengths = shape.with(axis, length);
        window
    }

    /// Reverse an axis that the window covers fully.
    pub fn reverse(&mut self, axis: usize) {
        if self.lengths[axis] > 1 {
            self.starts[axis] = self.lengths[axis] - 1;
            self.steps[axis] = -1;
        }
    }

    /// Is it all of an array of this shape, in order?
    pub fn is_whole(&self, shape: &Shape) -> bool {
        let in_order = |axis: usize| self.lengths[axis] <= 1 || self.steps[axis] == 1;
        self.lengths == *shape && (0..shape.ndim()).all(in_order)
    }

    /// Are all its indices within the bounds of this shape?
    pub fn is_inside(&self, shape: &Shape) -> bool {
        let inside = |axis: usize| {
            let (length, start, axis_length) = (self.lengths[axis], self.starts[axis], shape[axis]);
            if length == 0 {
                return true;
            }
            let last = (length as isize - 1)
                .checked_mul(self.steps[axis])
                .and_then(|distance| distance.checked_add_unsigned(start));
            start < axis_length && last.is_some_and(|last| last >= 0 && (last as usize) < axis_length)
        };
        let ndim = shape.ndim();
        self.starts.len() == ndim
            && self.steps.len() == ndim
            && self.lengths.ndim() == ndim
            && !self.steps.contains(&0)
            && (0..ndim).all(inside)
    }

    /// Disjoint windows that cover all elements of an array of this shape outside of the window; `None` if a step of
    /// the window has magnitude above one.
    pub(crate) fn outside(&self, shape: &Shape) -> Option<SmallVec<[Window; 4]>> {
        let mut windows = SmallVec::new();
        let mut remaining = Window::whole(shape);
        for axis in 0..shape.ndim() {
            let (length, start) = (self.lengths[axis], self.starts[axis]);
            if length > 1 && self.steps[axis].unsigned_abs() > 1 {
                return None;
            }
            let low = if length > 1 && self.steps[axis] < 0 { start + 1 - length } else { start };
            let low = low.min(shape[axis]);
            for (start, end) in [(0, low), (low + length, shape[axis])] {
                if start < end {
                    let mut window = remaining.clone();
                    window.starts[axis] = start;
                    window.lengths = window.lengths.with(axis, end - start);
                    windows.push(window);
                }
            }
            remaining.starts[axis] = low;
            remaining.lengths = remaining.lengths.with(axis, length);
        }
        Some(windows)
    }

    /// The same window with the full length of a new leading axis.
    #[must_use]
    pub fn batched(&self, batch_size: usize) -> Window {
        let mut window = self.clone();
        window.starts.insert(0, 0);
        window.steps.insert(0, 1);
        window.lengths.insert(0, batch_size);
        window
    }

    /// The composition: the window `inner` of this window.
    pub(crate) fn then(&self, inner: &Window) -> Option<Window> {
        let mut window = inner.clone();
        for axis in 0..self.starts.len() {
            let (start, step) = (inner.starts[axis], self.steps[axis]);
            let distance = step.checked_mul(isize::try_from(start).ok()?)?;
            // The start of an empty window may be out of bounds, so that it is not translated.
            let start =
                if inner.lengths[axis] == 0 { 0 } else { self.starts[axis].checked_add_signed(distance)? };
            window.starts[axis] = start;
            window.steps[axis] = step.checked_mul(inner.steps[axis])?;
        }
        Some(window)
    }

    /// Does `shape` equal the shape of the window up to axes of length one?
    fn has_shape(&self, shape: &Shape) -> bool {
        self.lengths == *shape || {
            let squeezed =
                |lengths: &Shape| lengths.iter().copied().filter(|&length| length != 1).collect::<Shape>();
            squeezed(&self.lengths) == squeezed(shape)
        }
    }

    /// The layout of the elements inside the window.
    #[must_use]
    pub fn of(&self, layout: &Layout) -> Layout {
        layout.slice(&self.starts, &self.steps, &self.lengths)
    }
}

impl Slice {
    /// The layout of the result.
    pub(crate) fn of(&self, layout: &Layout) -> Layout {
        with_shape(self.window.of(layout), &self.shape)
    }
}

/// The elements of `x` inside the window; `x` itself if the window covers it.
pub(crate) fn slice(x: &Array, window: Window) -> Result<Array> {
    if window.is_whole(x.shape()) {
        return Ok(x.clone());
    }
    let shape = window.lengths.clone();
    slice_into(x, window, shape)
}

/// The elements of `x` inside the window, with axes of length one removed or inserted to give `shape`.
pub(crate) fn slice_into(x: &Array, window: Window, shape: Shape) -> Result<Array> {
    if let Some(value) = x.constant() {
        return Ok(Array::full(shape, value, x.dtype()));
    }
    if window.is_whole(x.shape()) {
        return reshape(x, shape);
    }
    Array::record_one(Slice { window: Box::new(window), shape }, &[x])
}

/// `length` contiguous elements along one axis.
pub(crate) fn slice_along(x: &Array, axis: usize, start: usize, length: usize) -> Result<Array> {
    slice(x, Window::along(x.shape(), axis, start, length))
}

/// `x` in reverse order along one axis.
pub(crate) fn reversed(x: &Array, axis: usize) -> Result<Array> {
    let mut window = Window::whole(x.shape());
    window.reverse(axis);
    slice(x, window)
}

/// `layout` with the shape `shape`, which differs only in axes of length one.
fn with_shape(layout: Layout, shape: &Shape) -> Layout {
    if layout.shape == *shape {
        return layout;
    }
    let mut squeezed = layout.shape.iter().zip(&layout.strides).filter(|&(&length, _)| length != 1);
    let stride =
        |&length: &usize| if length == 1 { 1 } else { squeezed.next().map_or(1, |(_, &stride)| stride) };
    let strides = shape.iter().map(stride).collect();
    Layout { shape: shape.clone(), strides, offset: layout.offset }
}

impl Primitive for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let shape = &inputs[0].shape;
        let window = &self.window;
        ensure!(window.is_inside(shape), Value("slice"), "{window:?} is out of bounds for shape {shape}");
        ensure!(
            window.has_shape(&self.shape),
            Value("slice"),
            "slice of shape {} cannot be squeezed to shape {}",
            window.lengths,
            self.shape
        );
        Ok(ArraySpec { shape: self.shape.clone(), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let other = if let Some(Op::Slice(other)) = change.other() { Some(&*other.window) } else { None };
        let window = cut(&self.window, change, other)?;
        let shape = without_ones(&self.window.lengths, &window.lengths, &self.shape)?;
        Some(Generalized::of(Slice { shape, window: Box::new(window) }))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let zeros = zeros_like(&at.inputs[0]);
            let ct = reshape(&cotangents[0], self.window.lengths.clone())?;
            Ok(smallvec![Some(slice_update(ScatterKind::Set, &zeros, (*self.window).clone(), &ct)?)])
        })
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(self.clone(), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let source = &inputs[0].array;
            let batch_size = source.shape()[0];
            let mut shape = self.shape.clone();
            shape.insert(0, batch_size);
            Ok(vec![Batched::yes(slice_into(source, self.window.batched(batch_size), shape)?)])
        })
    }

    fn is_view(&self) -> bool {
        true
    }

    fn view(&self, input: &Layout) -> Option<Layout> {
        Some(self.of(input))
    }

    fn eager_reads(&self, _inputs: &[&Array], _specs: &[ArraySpec]) -> Option<usize> {
        Some(0)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let input = &task.inputs[0];
        let storage = input.with_layout(self.of(&input.layout));
        task.answer(storage);
        Ok(())
    }
}
