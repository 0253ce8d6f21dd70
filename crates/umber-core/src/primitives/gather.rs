//! Gather: elements selected by index arrays, and helpers that the rules of gathers and scatters share.

use smallvec::SmallVec;
use umber_kernels::View;
use umber_types::{DType, Error, ErrorKind, Layout, Result, Scalar, ScatterKind, Shape, ensure, error};

use super::create::{Arange, ArangeParameters};
use super::rules::{batch, broadcast, move_axis, reshape, zeros_like};
use super::scatter::{Scatter, ScatterAxis, SourceRole};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs, Storage};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Inputs: the source, and one index array per indexed axis, all of one shape. The result has that shape followed by
/// the lengths of the axes that are not indexed: `out[i, r] = source[indices[i], r]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Gather {
    /// Which axes are indexed, in ascending order.
    pub axes: Box<[usize]>,
    /// The function that was called, which messages name; files do not keep it.
    #[serde(skip, default = "unnamed")]
    pub op: &'static str,
}

/// Inputs: the source, and indices along one axis; their shapes differ only along that axis.
/// `out[a, i, b] = source[a, indices[a, i, b], b]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct GatherAxis {
    /// Which axis is indexed.
    pub axis: usize,
    /// The function that was called, which messages name; files do not keep it.
    #[serde(skip, default = "unnamed")]
    pub op: &'static str,
}

/// The function named in error messages of a program loaded from a file, which does not store the name.
pub(super) fn unnamed() -> &'static str {
    "index"
}

/// The indices at which a gather reads and a scatter writes.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) form: Form,
    /// The function that was called, which messages name.
    pub(crate) op: &'static str,
}

/// The form of the indices.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// One index array per axis, all of one shape.
    Grid { axes: Box<[usize]>, indices: Inputs },
    /// Indices along one axis.
    Along { axis: usize, indices: Array },
}

impl Places {
    /// One index array per axis, all of one shape.
    pub(crate) fn grid(op: &'static str, axes: &[usize], indices: Inputs) -> Places {
        Places { form: Form::Grid { axes: axes.into(), indices }, op }
    }

    /// Indices along one axis.
    pub(crate) fn along(op: &'static str, axis: usize, indices: Array) -> Places {
        Places { form: Form::Along { axis, indices }, op }
    }

    /// The elements of `x` at the indices.
    pub(crate) fn read(&self, x: &Array) -> Result<Array> {
        match &self.form {
            Form::Grid { axes, indices } => {
                let inputs = std::iter::once(x).chain(indices).cloned().collect();
                record(Gather { axes: axes.clone(), op: self.op }, inputs)
            }
            Form::Along { axis, indices } => {
                Array::record_one(GatherAxis { axis: *axis, op: self.op }, &[x, indices])
            }
        }
    }

    /// `x` with `updates` written at the indices.
    pub(crate) fn write(&self, kind: ScatterKind, x: &Array, updates: &Array) -> Result<Array> {
        self.write_onto(SourceRole::Value, kind, x, updates)
    }

    /// As [`Places::write`], with the part that `x` has in an extremum.
    pub(crate) fn write_onto(
        &self,
        source: SourceRole,
        kind: ScatterKind,
        x: &Array,
        updates: &Array,
    ) -> Result<Array> {
        match &self.form {
            Form::Grid { axes, indices } => {
                let inputs = std::iter::once(x).chain(indices).chain([updates]).cloned().collect();
                record(Scatter { kind, source, axes: axes.clone(), op: self.op }, inputs)
            }
            Form::Along { axis, indices } => {
                let op = ScatterAxis { kind, source, axis: *axis, op: self.op };
                Array::record_one(op, &[x, indices, updates])
            }
        }
    }
}

fn record(op: impl Into<crate::op::Op>, inputs: Inputs) -> Result<Array> {
    let mut outputs = Array::record(op, inputs)?;
    Ok(outputs.pop().expect("one output"))
}

/// `0, 1, 2, …` along `axis`, repeated along the other axes of `shape`.
pub(crate) fn iota(shape: &Shape, axis: usize) -> Result<Array> {
    let arange = ArangeParameters {
        start: Scalar::Int(0),
        step: Scalar::Int(1),
        length: shape[axis] as u64,
        dtype: DType::Int64,
    };
    let values = Array::record_one(Arange(Box::new(arange)), &[])?;
    let aligned: Shape = (0..shape.ndim()).map(|a| if a == axis { shape[axis] } else { 1 }).collect();
    broadcast(&reshape(&values, aligned)?, shape)
}

/// Are these distinct axes of an array with `ndim` dimensions, in ascending order?
pub(crate) fn are_axes(axes: &[usize], ndim: usize) -> bool {
    axes.windows(2).all(|pair| pair[0] < pair[1]) && axes.last().is_none_or(|&last| last < ndim)
}

/// Check the index arrays of a gather or scatter; returns the shape of the gathered elements or of the updates.
pub(crate) fn grid_shape(
    op: &str,
    axes: &[usize],
    source: &ArraySpec,
    indices: &[&ArraySpec],
) -> Result<Shape> {
    ensure!(
        axes.len() == indices.len() && !axes.is_empty() && are_axes(axes, source.shape.ndim()),
        Value(op),
        "{} index arrays do not match axes {axes:?} of shape {}",
        indices.len(),
        source.shape
    );
    let shape = &indices[0].shape;
    for index in indices {
        ensure!(index.dtype.is_integer(), Type(op), "indices must be integers, not {}", index.dtype);
        ensure!(
            index.shape == *shape,
            Value(op),
            "shapes of index arrays differ: {shape} and {}",
            index.shape
        );
    }
    let not_indexed =
        (0..source.shape.ndim()).filter(|axis| !axes.contains(axis)).map(|axis| source.shape[axis]);
    Ok(shape.iter().copied().chain(not_indexed).collect())
}

/// Check the indices of a gather or scatter along an axis.
pub(crate) fn check_along(op: &str, axis: usize, source: &ArraySpec, indices: &ArraySpec) -> Result<()> {
    ensure!(indices.dtype.is_integer(), Type(op), "indices must be integers, not {}", indices.dtype);
    ensure!(
        axis < source.shape.ndim()
            && indices.shape.ndim() == source.shape.ndim()
            && indices.shape.with(axis, 0) == source.shape.with(axis, 0),
        Value(op),
        "indices of shape {} do not match array of shape {1} along axis {axis}",
        indices.shape,
        source.shape
    );
    Ok(())
}

/// The shape of the slice that one index selects: length one along indexed axes, the full length along the others.
pub(crate) fn slice_sizes(axes: &[usize], source: &Shape) -> Shape {
    source.iter().enumerate().map(|(axis, &length)| if axes.contains(&axis) { 1 } else { length }).collect()
}

/// `layout`, whose axes are those of the indices and then those that are not indexed, with axes of length one inserted
/// for the indexed axes, as the kernels expect.
pub(crate) fn with_indexed_axes(layout: &Layout, axes: &[usize], source_ndim: usize) -> Layout {
    let index_ndim = layout.ndim() + axes.len() - source_ndim;
    let mut full = layout.clone();
    for &axis in axes {
        full.shape.insert(index_ndim + axis, 1);
        full.strides.insert(index_ndim + axis, 0);
    }
    full
}

/// An index error prefixed with the name of the operation.
pub(crate) fn named(op: &str, error: Error) -> Error {
    if error.kind() != ErrorKind::Index {
        return error;
    }
    // The caller gave the start of a window, not the indices that the kernel reports.
    if matches!(op, "slice" | "slice_update") {
        return error!(
            Index(op),
            "start is out of bounds, expected 0 <= start <= length - size along each axis"
        );
    }
    error.or_op(op)
}

/// The indices of a batched gather or scatter, for `vmap`: every index array batched, preceded by the batch index.
pub(crate) fn batched_places(
    op: &'static str,
    axes: &[usize],
    indices: &[Batched],
    batch_size: usize,
) -> Result<Places> {
    let batched = indices.iter().map(|index| batch(index, batch_size)).collect::<Result<Inputs>>()?;
    let batch_index = iota(batched[0].shape(), 0)?;
    let axes: SmallVec<[usize; 4]> = std::iter::once(0).chain(axes.iter().map(|axis| axis + 1)).collect();
    Ok(Places::grid(op, &axes, std::iter::once(batch_index).chain(batched).collect()))
}

/// The same indices for every batch element, for `vmap`.
pub(crate) fn shared_places(op: &'static str, axes: &[usize], indices: &[Batched]) -> Places {
    let axes: SmallVec<[usize; 4]> = axes.iter().map(|axis| axis + 1).collect();
    Places::grid(op, &axes, indices.iter().map(|index| index.array.clone()).collect())
}

fn pull(at: &Point<'_>, places: &Places, ct: &Array) -> Result<Cotangents> {
    at.pull(|i| match i {
        0 => places.write(ScatterKind::Add, &zeros_like(&at.inputs[0]), ct).map(Some),
        _ => Ok(None),
    })
}

fn push(at: &Point<'_>, places: &Places, tangents: &Tangents) -> Result<Vec<Array>> {
    match &tangents[0] {
        Some(tangent) => Ok(vec![places.read(tangent)?]),
        None => Ok(vec![zeros_like(&at.outputs[0])]),
    }
}

impl Gather {
    fn places(&self, inputs: &[Array]) -> Places {
        Places::grid(self.op, &self.axes, inputs[1..].iter().cloned().collect())
    }

    /// The memory layout of a result of this shape. If the indexed axes are adjacent, the axes of the indices take their
    /// position in memory order, because the caller usually moves them there next; that transpose is then dense.
    fn layout(&self, shape: &Shape, source: &Shape) -> Layout {
        /// With fewer rows before the indexed axes the row-major layout is faster.
        const MIN_ROWS: usize = 16;
        let dense = |shape| Layout::contiguous(shape);
        let [first, ..] = *self.axes else { return dense(shape.clone()) };
        let rows: usize = source[..first].iter().product();
        if rows < MIN_ROWS || !self.axes.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            return dense(shape.clone());
        }
        let index_ndim = shape.ndim() + self.axes.len() - source.ndim();
        let order =
            (index_ndim..index_ndim + first).chain(0..index_ndim).chain(index_ndim + first..shape.ndim());
        let permuted = dense(order.map(|axis| shape[axis]).collect());
        let inverse = (first..first + index_ndim).chain(0..first).chain(index_ndim + first..shape.ndim());
        permuted.permute(&inverse.collect::<SmallVec<[usize; 6]>>())
    }
}

impl Primitive for Gather {
    fn name(&self) -> &'static str {
        "take"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let shape = grid_shape(self.op, &self.axes, inputs[0], &inputs[1..])?;
        Ok(ArraySpec { shape, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1 + self.axes.len())?;
        site.must(are_axes(&self.axes, site.ndim(0)), "axes in ascending order")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| pull(at, &self.places(at.inputs), &cotangents[0]))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| push(at, &self.places(at.inputs), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (source, indices) = (&inputs[0], &inputs[1..]);
            let out = if !indices.iter().any(|index| index.batched) {
                // The batch axis is not indexed: in the result it is the first axis after those of the indices.
                let read = shared_places(self.op, &self.axes, indices).read(&source.array)?;
                move_axis(&read, indices[0].ndim(), 0)?
            } else if source.batched {
                batched_places(self.op, &self.axes, indices, batch_size(inputs))?.read(&source.array)?
            } else {
                let batch_size = batch_size(inputs);
                let indices =
                    indices.iter().map(|index| batch(index, batch_size)).collect::<Result<Inputs>>()?;
                Places::grid(self.op, &self.axes, indices).read(&source.array)?
            };
            Ok(vec![Batched::yes(out)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input > 0
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let spec = task.specs[0];
        let source = &task.inputs[0].layout.shape;
        let sizes = slice_sizes(&self.axes, source);
        let mut output = Storage::allocate(&spec.shape, spec.dtype)?;
        let layout = self.layout(&spec.shape, source);
        output.layout = with_indexed_axes(&layout, &self.axes, source.ndim());
        {
            let indices: SmallVec<[View<'_>; 3]> = (1..task.inputs.len()).map(|i| task.view(i)).collect();
            let view = output.view_mut(spec.dtype).expect("fresh storage is unique");
            umber_kernels::gather::gather(task.view(0), &indices, &self.axes, &sizes, view)
                .map_err(|error| named(self.op, error))?;
        }
        output.layout = layout;
        task.answer(output);
        Ok(())
    }
}

impl Primitive for GatherAxis {
    fn name(&self) -> &'static str {
        "take_along_axis"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        check_along(self.op, self.axis, inputs[0], inputs[1])?;
        Ok(ArraySpec { shape: inputs[1].shape.clone(), dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2)?;
        site.axis(self.axis)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| pull(at, &Places::along(self.op, self.axis, at.inputs[1].clone()), &cotangents[0]))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| push(at, &Places::along(self.op, self.axis, at.inputs[1].clone()), tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let (source, indices) = (batch(&inputs[0], batch_size)?, batch(&inputs[1], batch_size)?);
            let read = Places::along(self.op, self.axis + 1, indices).read(&source)?;
            Ok(vec![Batched::yes(read)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input == 1
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let op = self.op;
        task.run_one(|inputs, output| {
            umber_kernels::gather::gather_axis(inputs[0], inputs[1], self.axis, output)
                .map_err(|error| named(op, error))
        })
    }
}
