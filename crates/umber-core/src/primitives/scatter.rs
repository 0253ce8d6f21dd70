//! Scatter: an array with updates written at the elements that index arrays select.
//!
//! Indices may repeat: sums, products and extrema accumulate all updates; of several `Set` updates the last one wins.

use smallvec::SmallVec;
use umber_kernels::View;
use umber_types::{BinaryKind, DType, Result, ScatterKind, Shape, ensure};

use super::gather::{
    Form, Places, are_axes, batched_places, check_along, grid_shape, iota, named, shared_places, slice_sizes,
    unnamed, with_indexed_axes,
};
use super::product_rules::others_of_element;
use super::rules::{
    add, batch, binary, broadcast, cast, conj, div, doubled, move_axis, mul_absorbing, reshape,
    tangent_or_zero, widened, zeros_like,
};
use super::select::Select;
use super::slice_update::update;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// The part of the source in an extremum of updates, which decides its derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SourceRole {
    /// A value like the updates: where it ties with them, they share the cotangent.
    #[default]
    Value,
    /// The identity, which stands for the absence of updates: where it ties with them, they get the whole cotangent.
    Identity,
}

impl SourceRole {
    fn is_default(&self) -> bool {
        *self == SourceRole::default()
    }
}

/// Inputs: the source, one index array per indexed axis (all of one shape), and updates with that shape followed by
/// the lengths of the axes that are not indexed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Scatter {
    /// How updates combine with the elements of the source.
    pub kind: ScatterKind,
    /// The part of the source in an extremum.
    #[serde(default, skip_serializing_if = "SourceRole::is_default")]
    pub source: SourceRole,
    /// Which axes are indexed, in ascending order.
    pub axes: Box<[usize]>,
    /// The function that was called, which messages name; files do not keep it.
    #[serde(skip, default = "unnamed")]
    pub op: &'static str,
}

/// Inputs: the source, indices along one axis, and updates of the indices' shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ScatterAxis {
    /// How updates combine with the elements of the source.
    pub kind: ScatterKind,
    /// The part of the source in an extremum.
    #[serde(default, skip_serializing_if = "SourceRole::is_default")]
    pub source: SourceRole,
    /// Which axis is indexed.
    pub axis: usize,
    /// The function that was called, which messages name; files do not keep it.
    #[serde(skip, default = "unnamed")]
    pub op: &'static str,
}

/// A node with a scatter of either form, for the derivative rules.
struct ScatterSite<'a> {
    kind: ScatterKind,
    role: SourceRole,
    places: Places,
    source: &'a Array,
    updates: &'a Array,
    output: &'a Array,
}

impl<'a> ScatterSite<'a> {
    fn new(kind: ScatterKind, role: SourceRole, places: Places, at: &'a Point<'_>) -> ScatterSite<'a> {
        let updates = &at.inputs[at.inputs.len() - 1];
        ScatterSite { kind, role, places, source: &at.inputs[0], updates, output: &at.outputs[0] }
    }

    fn pull(&self, at: &Point<'_>, ct: &Array) -> Result<Cotangents> {
        let last = at.inputs.len() - 1;
        at.pull(|i| match i {
            0 => self.pull_to_source(ct).map(Some),
            i if i == last => self.pull_to_updates(ct).map(Some),
            _ => Ok(None),
        })
    }

    fn pull_to_source(&self, ct: &Array) -> Result<Array> {
        match self.kind {
            ScatterKind::Set => self.places.write(ScatterKind::Set, ct, &zeros_like(self.updates)),
            ScatterKind::Add => Ok(ct.clone()),
            ScatterKind::Multiply => {
                let updates = conj(&doubled(self.updates)?)?;
                cast(&self.places.write(ScatterKind::Multiply, &doubled(ct)?, &updates)?, ct.dtype())
            }
            ScatterKind::Maximum | ScatterKind::Minimum => {
                let Ties { attains: _, source_attains, share } = self.ties(ct)?;
                Array::record_one(Select, &[&source_attains, &share, &zeros_like(ct)])
            }
        }
    }

    fn pull_to_updates(&self, ct: &Array) -> Result<Array> {
        match self.kind {
            ScatterKind::Set => {
                let read = self.places.read(ct)?;
                Array::record_one(Select, &[&self.winners()?, &read, &zeros_like(&read)])
            }
            ScatterKind::Add => self.places.read(ct),
            ScatterKind::Multiply => {
                let from_source = mul_absorbing(&doubled(ct)?, &conj(&doubled(self.source)?)?)?;
                let read = self.places.read(&from_source)?;
                let others = others_of_element(&doubled(self.updates)?, &self.places, self.source.shape())?;
                cast(&mul_absorbing(&read, &conj(&others)?)?, ct.dtype())
            }
            ScatterKind::Maximum | ScatterKind::Minimum => {
                let Ties { attains, source_attains: _, share } = self.ties(ct)?;
                let share = self.places.read(&share)?;
                Array::record_one(Select, &[&attains, &share, &zeros_like(&share)])
            }
        }
    }

    /// The values among source and updates that attain the extremum: at each element they share the cotangent.
    fn ties(&self, ct: &Array) -> Result<Ties> {
        let attains = binary(BinaryKind::Equal, self.updates, &self.places.read(self.output)?)?;
        let wide_ct = widened(ct)?;
        let zeros = zeros_like(&wide_ct);
        let number = self.places.write(ScatterKind::Add, &zeros, &cast(&attains, zeros.dtype())?)?;
        let source_attains = match self.role {
            SourceRole::Value => binary(BinaryKind::Equal, self.source, self.output)?,
            SourceRole::Identity => binary(BinaryKind::Equal, &number, &zeros)?,
        };
        let number = add(&number, &cast(&source_attains, zeros.dtype())?)?;
        Ok(Ties { attains, source_attains, share: cast(&div(&wide_ct, &number)?, ct.dtype())? })
    }

    /// Which updates the result of a `Set` contains: every update writes its own index and compares the element that is read
    /// back.
    fn winners(&self) -> Result<Array> {
        let shape = self.updates.shape();
        let update_indices = match &self.places.form {
            Form::Grid { indices, .. } => {
                let grid = indices[0].shape();
                let flat = iota(&Shape::from([grid.size()]), 0)?;
                let slice_ndim = shape.ndim() - grid.ndim();
                let aligned: Shape = grid.iter().copied().chain(std::iter::repeat_n(1, slice_ndim)).collect();
                broadcast(&reshape(&flat, aligned)?, shape)?
            }
            Form::Along { axis, .. } => iota(shape, *axis)?,
        };
        let no_update = Array::full(self.source.shape().clone(), -1, DType::Int64);
        let read_back =
            self.places.read(&self.places.write(ScatterKind::Set, &no_update, &update_indices)?)?;
        binary(BinaryKind::Equal, &read_back, &update_indices)
    }

    /// `Set` and `Add` are linear; the jvp of the other kinds is derived from [`ScatterSite::pull`].
    fn push(&self, tangents: &Tangents) -> Rule<Vec<Array>> {
        match self.kind {
            ScatterKind::Set | ScatterKind::Add => rule(|| {
                let source = tangent_or_zero(tangents[0].as_ref(), self.source);
                let updates = tangent_or_zero(tangents[tangents.len() - 1].as_ref(), self.updates);
                Ok(vec![self.places.write(self.kind, &source, &updates)?])
            }),
            ScatterKind::Multiply | ScatterKind::Maximum | ScatterKind::Minimum => None,
        }
    }
}

/// The values that attain an extremum.
struct Ties {
    /// Which updates attain it.
    attains: Array,
    /// At which elements the source attains it.
    source_attains: Array,
    /// At each element, the part of the cotangent that each of these values gets.
    share: Array,
}

fn check_updates(op: &str, source: &ArraySpec, updates: &ArraySpec, shape: &Shape) -> Result<()> {
    ensure!(
        updates.shape == *shape && updates.dtype == source.dtype,
        Value(op),
        "updates have shape {} and dtype {}, expected {shape} and {}",
        updates.shape,
        updates.dtype,
        source.dtype
    );
    Ok(())
}

impl Scatter {
    fn scatter_site<'a>(&self, at: &'a Point<'_>) -> ScatterSite<'a> {
        let indices = at.inputs[1..at.inputs.len() - 1].iter().cloned().collect();
        ScatterSite::new(self.kind, self.source, Places::grid(self.op, &self.axes, indices), at)
    }
}

impl Primitive for Scatter {
    fn name(&self) -> &'static str {
        "scatter"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (source, updates) = (inputs[0], inputs[inputs.len() - 1]);
        let shape = grid_shape(self.op, &self.axes, source, &inputs[1..inputs.len() - 1])?;
        check_updates(self.op, source, updates, &shape)?;
        Ok(source.clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2 + self.axes.len())?;
        site.must(are_axes(&self.axes, site.ndim(0)), "axes in ascending order")
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| self.scatter_site(at).pull(at, &cotangents[0]))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        self.scatter_site(at).push(tangents)
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (batch_size, last) = (batch_size(inputs), inputs.len() - 1);
            let (source, updates) = (batch(&inputs[0], batch_size)?, batch(&inputs[last], batch_size)?);
            let indices = &inputs[1..last];
            let out = if indices.iter().any(|index| index.batched) {
                batched_places(self.op, &self.axes, indices, batch_size)?.write_onto(
                    self.source,
                    self.kind,
                    &source,
                    &updates,
                )?
            } else {
                // The batch axis is not indexed: in the updates it is the first axis after those of the indices.
                let updates = move_axis(&updates, 0, indices[0].ndim())?;
                shared_places(self.op, &self.axes, indices).write_onto(
                    self.source,
                    self.kind,
                    &source,
                    &updates,
                )?
            };
            Ok(vec![Batched::yes(out)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        (1..=self.axes.len()).contains(&input)
    }

    fn takes_float8(&self) -> bool {
        self.kind == ScatterKind::Set
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let source = task.inputs[0].layout.shape.clone();
        let sizes = slice_sizes(&self.axes, &source);
        update(task, |target, others, dtypes| {
            let last = others.len() - 1;
            let layout = with_indexed_axes(&others[last].layout, &self.axes, source.ndim());
            let updates = others[last].with_layout(layout);
            let indices: SmallVec<[View<'_>; 3]> = others[..last]
                .iter()
                .zip(dtypes)
                .map(|(index, &dtype)| index.on_host().view(dtype))
                .collect();
            let dtype = dtypes[last];
            let view = target.view_mut(dtype).expect("targets are unique");
            umber_kernels::scatter::scatter(
                self.kind,
                view,
                &indices,
                &self.axes,
                &sizes,
                updates.on_host().view(dtype),
            )
            .map_err(|error| named(self.op, error))
        })
    }
}

impl ScatterAxis {
    fn scatter_site<'a>(self, at: &'a Point<'_>) -> ScatterSite<'a> {
        let places = Places::along(self.op, self.axis, at.inputs[1].clone());
        ScatterSite::new(self.kind, self.source, places, at)
    }
}

impl Primitive for ScatterAxis {
    fn name(&self) -> &'static str {
        "put_along_axis"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        check_along(self.op, self.axis, inputs[0], inputs[1])?;
        check_updates(self.op, inputs[0], inputs[2], &inputs[1].shape)?;
        Ok(inputs[0].clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(3)?;
        site.axis(self.axis)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| self.scatter_site(at).pull(at, &cotangents[0]))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        self.scatter_site(at).push(tangents)
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let arrays = inputs.iter().map(|input| batch(input, batch_size)).collect::<Result<Inputs>>()?;
            let places = Places::along(self.op, self.axis + 1, arrays[1].clone());
            let out = places.write_onto(self.source, self.kind, &arrays[0], &arrays[2])?;
            Ok(vec![Batched::yes(out)])
        })
    }

    fn is_index(&self, input: usize) -> bool {
        input == 1
    }

    fn takes_float8(&self) -> bool {
        self.kind == ScatterKind::Set
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        update(task, |target, others, dtypes| {
            let view = target.view_mut(dtypes[1]).expect("targets are unique");
            let (indices, updates) =
                (others[0].on_host().view(dtypes[0]), others[1].on_host().view(dtypes[1]));
            umber_kernels::scatter::scatter_axis(self.kind, view, indices, self.axis, updates)
                .map_err(|error| named(self.op, error))
        })
    }
}
