//! Control: identity operations that restrict gradients, order the evaluation, or check values when they are evaluated.

use smallvec::smallvec;
use umber_kernels::View;
use umber_types::{ArgReduceKind, DType, Layout, ReduceKind, Result, Scalar, Shape, ensure};

use super::gather::unnamed;
use super::rules::{tangent_or_zero, zeros_like};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs, Storage};
use crate::primitive::{Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// An operation that returns some of its inputs unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Control {
    /// The input; no gradient passes through it.
    StopGradient,
    /// The first inputs, after all inputs are evaluated.
    Depends {
        /// How many of the inputs are outputs.
        outputs: u32,
    },
    /// The first input, the indices of extrema of rows that may contain NaN. Evaluation fails if the second input, bool, is true
    /// anywhere: that row contains only NaN.
    Found(ArgReduceKind),
    /// The first input, the result of an assignment to the elements that a mask selects. Evaluation fails if a count of
    /// selected elements in the second input, int64, does not fit the number of values.
    Counted {
        /// Number of values.
        values: u64,
        /// Are there allowed to be more values than selected elements?
        surplus: Surplus,
    },
    /// The input, class indices of a signed dtype. Evaluation fails if one is negative: it would count from the last class.
    Classes {
        /// The function that was called, which messages name; files do not keep it.
        #[serde(skip, default = "unnamed")]
        op: &'static str,
    },
}

/// The treatment of more values than a mask selects elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Surplus {
    /// An error.
    Refused,
    /// They are ignored.
    Ignored,
}

/// `inputs`, available only after all inputs and all `dependencies` are evaluated.
pub(crate) fn depends(inputs: &[Array], dependencies: &[Array]) -> Result<Vec<Array>> {
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let op = Control::Depends { outputs: inputs.len() as u32 };
    Ok(Array::record(op, inputs.iter().chain(dependencies).cloned().collect())?.into_vec())
}

impl Control {
    /// How many of the inputs are outputs.
    fn outputs(self) -> usize {
        match self {
            Control::StopGradient | Control::Found(_) | Control::Counted { .. } | Control::Classes { .. } => {
                1
            }
            Control::Depends { outputs } => outputs as usize,
        }
    }
}

/// The bytes of the reduction of all elements.
fn reduced_to_one<const N: usize>(kind: ReduceKind, x: View<'_>) -> Result<[u8; N]> {
    let one: Shape = x.shape().iter().map(|_| 1).collect();
    let mut reduced = Storage::allocate(&one, x.dtype())?;
    let axes: Vec<usize> = (0..one.ndim()).collect();
    let view = reduced.view_mut(x.dtype()).expect("fresh storage is unique");
    umber_kernels::reduce::reduce(kind, x, &axes, view);
    let bytes = reduced.on_host().dense_bytes(x.dtype()).expect("fresh storage is dense");
    Ok(bytes.try_into().expect("N is the item size"))
}

/// Is any element of a mask true?
fn holds_anywhere(mask: View<'_>) -> Result<bool> {
    Ok(reduced_to_one(ReduceKind::Any, mask)? != [0])
}

/// Fail if a class index is negative.
fn check_classes(op: &str, classes: View<'_>) -> Result<()> {
    if classes.size() == 0 {
        return Ok(());
    }
    let kind = ReduceKind::Min;
    let min = match classes.dtype().size() {
        1 => i64::from(i8::from_ne_bytes(reduced_to_one(kind, classes)?)),
        2 => i64::from(i16::from_ne_bytes(reduced_to_one(kind, classes)?)),
        4 => i64::from(i32::from_ne_bytes(reduced_to_one(kind, classes)?)),
        _ => i64::from_ne_bytes(reduced_to_one(kind, classes)?),
    };
    ensure!(min >= 0, Index(op), "class index {min} is negative; set ignore_index to exclude targets");
    Ok(())
}

/// Fail if the number `count` of elements that a mask selects does not fit the number of `values`.
pub(crate) fn check_count(count: i64, values: u64, surplus: Surplus) -> Result<()> {
    let fits = match surplus {
        Surplus::Refused => count as u64 == values,
        Surplus::Ignored => count as u64 <= values,
    };
    ensure!(
        fits,
        Value("index"),
        "cannot assign {values} values to {count} elements selected by a boolean mask, expected {} or a \
         single value",
        match surplus {
            Surplus::Refused => "as many",
            Surplus::Ignored => "at least as many",
        }
    );
    Ok(())
}

impl Primitive for Control {
    fn name(&self) -> &'static str {
        match self {
            Control::StopGradient => "stop_gradient",
            Control::Depends { .. } => "depends",
            Control::Found(ArgReduceKind::ArgMin) => "nanargmin",
            Control::Found(ArgReduceKind::ArgMax) => "nanargmax",
            Control::Counted { .. } => "index",
            Control::Classes { op } => op,
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[..self.outputs()].iter().map(|&spec| spec.clone()).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        match self {
            Control::StopGradient => site.takes(1),
            Control::Depends { .. } => site.takes_some(),
            Control::Found(_) => {
                site.takes(2)?;
                site.must(site.inputs[1].dtype == DType::Bool, "indices and a bool condition")
            }
            Control::Counted { .. } => {
                site.takes(2)?;
                site.must(site.inputs[1].dtype == DType::Int64, "an array and counts of int64")
            }
            Control::Classes { .. } => {
                site.takes(1)?;
                let is_signed =
                    matches!(site.inputs[0].dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
                site.must(is_signed, "signed integers")
            }
        }
    }

    any_lengths!(along 0);

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        if let Control::Counted { .. } = self {
            // The derivative of the assignment makes the same check.
            return Some(at.pull(|input| match (input, cotangents.first()) {
                (0, Some(cotangent)) => Array::record_one(*self, &[cotangent, &at.inputs[1]]).map(Some),
                _ => Ok(None),
            }));
        }
        Some(Ok(match self {
            Control::StopGradient => smallvec![Some(zeros_like(&at.inputs[0]))],
            Control::Depends { .. }
            | Control::Found(_)
            | Control::Counted { .. }
            | Control::Classes { .. } => {
                (0..at.inputs.len()).map(|input| cotangents.get(input).cloned()).collect()
            }
        }))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        if let (Control::Counted { .. }, Some(Some(tangent))) = (self, tangents.first()) {
            return Some(Array::record_one(*self, &[tangent, &at.inputs[1]]).map(|pushed| vec![pushed]));
        }
        Some(Ok(match self {
            Control::StopGradient => vec![zeros_like(&at.outputs[0])],
            Control::Depends { .. }
            | Control::Found(_)
            | Control::Counted { .. }
            | Control::Classes { .. } => {
                let pushed = tangents.iter().zip(at.outputs);
                pushed.map(|(tangent, output)| tangent_or_zero(tangent.as_ref(), output)).collect()
            }
        }))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let arrays = Array::record(*self, inputs.iter().map(|input| input.array.clone()).collect())?;
            Ok(arrays
                .into_iter()
                .zip(inputs)
                .map(|(array, input)| Batched { array, batched: input.batched })
                .collect())
        })
    }

    fn fusion_role(&self) -> FusionRole {
        if *self == Control::StopGradient { FusionRole::Alias } else { FusionRole::Alone }
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn view(&self, input: &Layout) -> Option<Layout> {
        (*self == Control::StopGradient).then(|| input.clone())
    }

    fn adds_lengths(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        match *self {
            Control::Found(_) => {
                ensure!(!holds_anywhere(task.view(1))?, Value(self.name()), "slice contains only NaN");
            }
            Control::Counted { values, surplus } => {
                let counts = task.host(1).to_dense(DType::Int64)?;
                let bytes = counts.on_host().dense_bytes(DType::Int64).expect("to_dense is dense");
                for count in bytes.chunks_exact(DType::Int64.size()) {
                    check_count(Scalar::from_bytes(DType::Int64, count).as_i64(), values, surplus)?;
                }
            }
            Control::Classes { op } => check_classes(op, task.view(0))?,
            Control::StopGradient | Control::Depends { .. } => {}
        }
        task.outputs = task.inputs.drain(..self.outputs()).map(Some).collect();
        Ok(())
    }
}
