//! Sort: sort and partition along an axis, of the elements or of their indices.

use smallvec::smallvec;
use umber_types::{DType, Result, ScatterKind, SortOrder};

use super::gather::Places;
use super::rules::zeros_like;
use crate::generalization::{Anchor, Change, Deciding, Generalized, Hint};
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// The result of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Sorted {
    /// The elements, ascending.
    Values,
    /// The indices that sort the elements, as uint32.
    Indices(SortOrder),
    /// The elements partitioned around the k-th: it has its sorted position, no element before it is greater and none after
    /// it is less.
    ValuesAround(usize),
    /// The indices that partition the elements around the k-th, as uint32.
    Around(usize),
}

impl Sorted {
    /// The pivot's index of a partition; `None` for a full sort.
    pub(crate) fn kth(self) -> Option<usize> {
        match self {
            Sorted::Values | Sorted::Indices(_) => None,
            Sorted::ValuesAround(kth) | Sorted::Around(kth) => Some(kth),
        }
    }

    /// The same partition around another index.
    pub(crate) fn with_kth(self, kth: usize) -> Sorted {
        match self {
            Sorted::Values | Sorted::Indices(_) => self,
            Sorted::ValuesAround(_) => Sorted::ValuesAround(kth),
            Sorted::Around(_) => Sorted::Around(kth),
        }
    }
}

/// A stable order along an axis, NaN last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Sort {
    /// Along which axis.
    pub axis: usize,
    /// Elements or indices, sorted or partitioned.
    pub what: Sorted,
}

impl Sort {
    /// The index in `x` of each element of the result `y`.
    fn source_indices(self, x: &Array, y: &Array) -> Result<Places> {
        let order = |of: &Array| {
            Array::record_one(Sort { what: Sorted::Indices(SortOrder::Ascending), ..self }, &[of])
        };
        let indices = match self.what {
            Sorted::ValuesAround(_) => {
                // Input and output sort to the same sequence: element `order(y)[i]` of the output equals element
                // `order(x)[i]` of the input.
                let sorted_outputs = Places::along(self.name(), self.axis, order(y)?);
                sorted_outputs.write(ScatterKind::Set, &zeros_like(&order(x)?), &order(x)?)?
            }
            Sorted::Values | Sorted::Indices(_) | Sorted::Around(_) => order(x)?,
        };
        Ok(Places::along(self.name(), self.axis, indices))
    }
}

impl Sort {
    /// The result kind at other lengths: the pivot's index may count from the end of the axis.
    fn sorted_at(self, change: &mut Change<'_>) -> Option<Sorted> {
        let (old, new) = (change.old[0].shape[self.axis], change.new[0].shape[self.axis]);
        let Some(kth) = self.what.kth().filter(|_| old != new) else { return Some(self.what) };
        let anchor = match change.deciding {
            Deciding::Hints(_) => change.hint(|hint| match hint {
                Hint::Place(anchor) => Some(*anchor),
                Hint::Rest(_) | Hint::Cut(_) | Hint::Lengths(_) => None,
            })?,
            Deciding::Trace(..) => {
                let Some(Op::Sort(other)) = change.other() else { return None };
                let agrees = |anchor: &Anchor| {
                    let moved = anchor.moved(kth, old, new);
                    moved.is_some() && moved == other.what.kth()
                };
                let anchor = [Anchor::Start, Anchor::End].into_iter().find(agrees)?;
                change.note(Hint::Place(anchor));
                anchor
            }
        };
        let kth = anchor.moved(kth, old, new).filter(|&kth| kth < new.max(1))?;
        Some(self.what.with_kth(kth))
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
        let is_within = self.what.kth().is_none_or(|kth| kth < length.max(1));
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
                    self.source_indices(x, &at.outputs[0])?.write(ScatterKind::Add, &zeros, &cotangents[0])?
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
                    self.source_indices(&at.inputs[0], &at.outputs[0])?.read(t)?
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
