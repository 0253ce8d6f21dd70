//! Sort: the elements of an axis in ascending order, or where each comes from.

use smallvec::smallvec;
use umber_types::{DType, Result, ScatterKind, SortOrder};

use super::gather::Places;
use super::rules::zeros_like;
use crate::generalization::{Anchor, Change, Deciding, Generalized, Hint};
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// What a sort answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Sorted {
    /// The elements, ascending.
    Values,
    /// Their places before, as uint32.
    Indices(SortOrder),
    /// The elements, of which only the one here is in its ascending order, between lesser and greater ones.
    ValuesAround(usize),
    /// Places before, as uint32, of which only the one here is in its ascending order, between lesser and greater ones.
    Around(usize),
}

impl Sorted {
    /// The only place in order, where not all are.
    pub(crate) fn place(self) -> Option<usize> {
        match self {
            Sorted::Values | Sorted::Indices(_) => None,
            Sorted::ValuesAround(place) | Sorted::Around(place) => Some(place),
        }
    }

    /// The same around another place.
    pub(crate) fn with_place(self, place: usize) -> Sorted {
        match self {
            Sorted::Values | Sorted::Indices(_) => self,
            Sorted::ValuesAround(_) => Sorted::ValuesAround(place),
            Sorted::Around(_) => Sorted::Around(place),
        }
    }
}

/// A stable order along an axis, NaN last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Sort {
    /// Along which axis.
    pub axis: usize,
    /// Elements or places?
    pub what: Sorted,
}

impl Sort {
    /// Where each sorted element comes from.
    fn places(self, x: &Array, y: &Array) -> Result<Places> {
        let order = |of: &Array| {
            Array::record_one(Sort { what: Sorted::Indices(SortOrder::Ascending), ..self }, &[of])
        };
        let indices = match self.what {
            Sorted::ValuesAround(_) => {
                // Brought in full order, input and output are the same.
                let to = Places::along(self.name(), self.axis, order(y)?);
                to.write(ScatterKind::Set, &zeros_like(&order(x)?), &order(x)?)?
            }
            Sorted::Values | Sorted::Indices(_) | Sorted::Around(_) => order(x)?,
        };
        Ok(Places::along(self.name(), self.axis, indices))
    }
}

impl Sort {
    /// What it answers at other lengths; the place that is in order may count from the end of the axis.
    fn sorted_at(self, change: &mut Change<'_>) -> Option<Sorted> {
        let (old, new) = (change.old[0].shape[self.axis], change.new[0].shape[self.axis]);
        let Some(place) = self.what.place().filter(|_| old != new) else { return Some(self.what) };
        let anchor = match change.deciding {
            Deciding::Hints(_) => change.hint(|hint| match hint {
                Hint::Place(anchor) => Some(*anchor),
                Hint::Rest(_) | Hint::Cut(_) | Hint::Lengths(_) => None,
            })?,
            Deciding::Trace(..) => {
                let Some(Op::Sort(other)) = change.other() else { return None };
                let has_moved = |anchor: &Anchor| {
                    let moved = anchor.moved(place, old, new);
                    moved.is_some() && moved == other.what.place()
                };
                let anchor = [Anchor::Start, Anchor::End].into_iter().find(has_moved)?;
                change.note(Hint::Place(anchor));
                anchor
            }
        };
        let place = anchor.moved(place, old, new).filter(|&place| place < new.max(1))?;
        Some(self.what.with_place(place))
    }
}

impl Primitive for Sort {
    fn name(&self) -> &'static str {
        match self.what {
            Sorted::Values => "sort",
            Sorted::Indices(_) => "argsort",
            Sorted::ValuesAround(_) => "partition",
            Sorted::Around(_) => "argpartition",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let dtype = match self.what {
            Sorted::Values | Sorted::ValuesAround(_) => inputs[0].dtype,
            Sorted::Indices(_) | Sorted::Around(_) => DType::UInt32,
        };
        Ok(ArraySpec { shape: inputs[0].shape.clone(), dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.axis(self.axis)?;
        let length = site.inputs[0].shape[self.axis];
        let is_within = self.what.place().is_none_or(|place| place < length.max(1));
        site.must(is_within, "an index within the axis")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let what = self.sorted_at(change)?;
        Some(Generalized::along(Sort { what, ..*self }, change, 0))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, zeros) = (&at.inputs[0], zeros_like(&at.inputs[0]));
            Ok(smallvec![Some(match self.what {
                Sorted::Values | Sorted::ValuesAround(_) => {
                    self.places(x, &at.outputs[0])?.write(ScatterKind::Add, &zeros, &cotangents[0])?
                }
                Sorted::Indices(_) | Sorted::Around(_) => zeros,
            })])
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let t = tangents[0].as_ref().expect("jvp rules run with a tangent");
            Ok(vec![match self.what {
                Sorted::Values | Sorted::ValuesAround(_) => {
                    self.places(&at.inputs[0], &at.outputs[0])?.read(t)?
                }
                Sorted::Indices(_) | Sorted::Around(_) => zeros_like(&at.outputs[0]),
            }])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let inner = Sort { axis: self.axis + 1, ..*self };
            Ok(vec![Batched::yes(Array::record_one(inner, &[&inputs[0].array])?)])
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| match self.what {
            Sorted::Values => umber_kernels::sort::sort(inputs[0], self.axis, output),
            Sorted::Indices(order) => umber_kernels::sort::argsort(inputs[0], self.axis, order, output),
            Sorted::ValuesAround(kth) => umber_kernels::sort::partition(inputs[0], self.axis, kth, output),
            Sorted::Around(kth) => umber_kernels::sort::argpartition(inputs[0], self.axis, kth, output),
        })
        .map_err(|error| error.or_op(self.name()))
    }
}
