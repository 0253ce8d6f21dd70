//! Numbers: find the operation that produces the first NaN or infinity.
//!
//! After each step its results are searched. An operation produces a NaN if an element is NaN and no input is; for an elementwise
//! operation, no input at the same index. A fused region whose results hold NaN is computed again, one operation after the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::{SmallVec, smallvec};
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{DType, Error, ErrorKind, Layout, Result, Scalar, Shape, Stream, UnaryKind};

use super::{ObservedStep, SWITCH};
use crate::backend::{Backend, Cpu, Task, transfer};
use crate::frontend::{Interrupts, frontend};
use crate::graph::{ArraySpec, Storage};
use crate::op::Op;
use crate::primitive::{FusionRole, Primitive};
use crate::primitives::float8::Float8Cast;
use crate::primitives::fused::Fused;
use crate::primitives::matmul::MatMul;
use crate::primitives::region::{Region, RegionKind, TapeValue};
use crate::primitives::unary::Unary;
use crate::{eager, source_line};

/// Which values an operation should not produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwanted {
    /// NaN.
    Nan,
    /// NaN and infinities.
    NonFinite,
}

/// What happens when an operation produces such a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The evaluation fails with an error of kind [`ErrorKind::NonFinite`].
    Raise,
    /// The front end shows a warning, and the evaluation continues.
    Warn,
}

/// A search of the results of all operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberCheck {
    /// What is searched.
    pub unwanted: Unwanted,
    /// What happens when it is found.
    pub action: Action,
}

const IS_ON: u8 = 1;
const WITH_INFINITIES: u8 = 2;
const ONLY_WARNS: u8 = 4;
const OWN_FLAGS: u8 = IS_ON | WITH_INFINITIES | ONLY_WARNS;

/// Held while the search is enabled or disabled.
static CHANGING: ForkMutex<()> = ForkMutex::new(|| (), (), Level::Last, InChild::Keep);

/// Search the results of all evaluations of the process from now on, or stop; returns the previous setting.
pub fn set(check: Option<NumberCheck>) -> Option<NumberCheck> {
    let _changing = CHANGING.lock();
    let before = current();
    match (before, check) {
        (None, Some(_)) => {
            source_line::keep();
            eager::suspend(true);
        }
        (Some(_), None) => {
            source_line::release();
            eager::suspend(false);
        }
        (None, None) | (Some(_), Some(_)) => {}
    }
    let flags = check.map_or(0, NumberCheck::flags);
    let _ =
        SWITCH.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |switch| Some(switch & !OWN_FLAGS | flags));
    before
}

/// The search that is on.
pub fn current() -> Option<NumberCheck> {
    NumberCheck::of(SWITCH.load(Ordering::Relaxed))
}

/// A value that is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nan,
    Infinity,
}

impl Kind {
    fn test(self) -> UnaryKind {
        match self {
            Kind::Nan => UnaryKind::IsNan,
            Kind::Infinity => UnaryKind::IsInf,
        }
    }

    fn counted(self, count: usize) -> String {
        match (self, count) {
            (Kind::Nan, _) => format!("{count} NaN"),
            (Kind::Infinity, 1) => "1 infinity".into(),
            (Kind::Infinity, _) => format!("{count} infinities"),
        }
    }
}

/// An evaluated array in host memory.
#[derive(Clone)]
struct Value {
    storage: Storage,
    dtype: DType,
}

/// An operation that produced a value that was searched for.
struct Finding {
    name: &'static str,
    line: Option<Arc<str>>,
    detail: String,
}

impl NumberCheck {
    fn flags(self) -> u8 {
        let unwanted = match self.unwanted {
            Unwanted::Nan => 0,
            Unwanted::NonFinite => WITH_INFINITIES,
        };
        let action = match self.action {
            Action::Raise => 0,
            Action::Warn => ONLY_WARNS,
        };
        IS_ON | unwanted | action
    }

    pub(super) fn of(switch: u8) -> Option<NumberCheck> {
        (switch & IS_ON != 0).then_some(NumberCheck {
            unwanted: if switch & WITH_INFINITIES == 0 { Unwanted::Nan } else { Unwanted::NonFinite },
            action: if switch & ONLY_WARNS == 0 { Action::Raise } else { Action::Warn },
        })
    }

    /// Search the results of a step that ran on these inputs.
    pub(super) fn check(
        self,
        step: &ObservedStep<'_>,
        inputs: &[Storage],
        task: &Task<'_>,
        interrupts: &mut Interrupts,
    ) -> Result<()> {
        if !may_produce(step.op) {
            return Ok(());
        }
        let on_host = |storage: &Storage, dtype: DType, interrupts: &mut Interrupts| {
            Value { storage: transfer::to_host(storage, dtype, interrupts)?, dtype }.widened()
        };
        let mut outputs: SmallVec<[Value; 1]> = SmallVec::new();
        for (storage, spec) in task.outputs.iter().zip(&task.specs) {
            if let Some(storage) = storage.as_ref().filter(|_| spec.dtype.is_inexact()) {
                outputs.push(on_host(storage, spec.dtype, interrupts)?);
            }
        }
        let kinds: &[Kind] = match self.unwanted {
            Unwanted::Nan => &[Kind::Nan],
            Unwanted::NonFinite => &[Kind::Nan, Kind::Infinity],
        };
        for &kind in kinds {
            let mut is_found = false;
            for output in &outputs {
                is_found |= output.mask(kind)?.iter().any(|&is_found| is_found);
            }
            if !is_found {
                continue;
            }
            let inputs = inputs
                .iter()
                .zip(&task.dtypes)
                .map(|(input, &dtype)| on_host(input, dtype, interrupts))
                .collect::<Result<SmallVec<[Value; 3]>>>()?;
            if let Some(finding) = find(kind, step, &inputs, &outputs)? {
                return self.report(finding, step);
            }
        }
        Ok(())
    }

    fn report(self, finding: Finding, step: &ObservedStep<'_>) -> Result<()> {
        let line = finding.line.or_else(step.origin);
        let error = Error::new(ErrorKind::NonFinite, finding.detail).with_op(finding.name);
        if self.action == Action::Warn
            && frontend().warn(&error.clone().recorded_at(line.as_ref()).to_string())
        {
            return Ok(());
        }
        Err(error.recorded_at(line.as_ref()))
    }
}

/// Whether results can hold a NaN that no input holds: not of constants and views, nor of loops, whose own steps are searched.
fn may_produce(op: &Op) -> bool {
    !op.is_view()
        && !op.forwards()
        && op.control_flow().is_none()
        && !matches!(op, Op::View(_) | Op::Transfer(_))
        && op.fusion_role() != FusionRole::Constant
}

/// The operation of a step that produced a value, given that a result holds one.
fn find(kind: Kind, step: &ObservedStep<'_>, inputs: &[Value], outputs: &[Value]) -> Result<Option<Finding>> {
    if let Op::Fused(Fused(region)) = step.op {
        if let Some(finding) = find_in_region(kind, region, inputs)? {
            return Ok(Some(finding));
        }
        let has_constant = region.constants().any(|(_, value)| is(kind, value));
        if has_constant {
            return Ok(None);
        }
    }
    for output in outputs {
        if let Some(detail) = produced(kind, step.op, inputs, output)? {
            return Ok(Some(Finding { name: step.name, line: None, detail }));
        }
    }
    Ok(None)
}

/// Compute a region one operation after the other, until one produces a value.
fn find_in_region(kind: Kind, region: &Region, inputs: &[Value]) -> Result<Option<Finding>> {
    let (factors, elements) = inputs.split_at(region.factors());
    let mut values: Vec<Value> = Vec::with_capacity(region.tape.inputs.len() + region.tape.steps.len());
    let finding = |op: &Op, line: Option<&Arc<str>>, inputs: &[Value], output: &Value| {
        let detail = produced(kind, op, inputs, output)?;
        Result::Ok(detail.map(|detail| Finding { name: op.name(), line: line.cloned(), detail }))
    };
    if !factors.is_empty() {
        let product = apply(&MatMul.into(), factors)?;
        if let Some(found) = finding(&MatMul.into(), None, factors, &product)? {
            return Ok(Some(found));
        }
        values.push(product.contiguous_as(&region.shape));
    }
    values.extend(elements.iter().map(|element| element.broadcast_to(&region.shape)));
    for (i, step) in region.tape.steps.iter().enumerate() {
        let value = match TapeValue::of(step) {
            TapeValue::Constant(value, dtype) => {
                Value { storage: Storage::splat(value, &region.shape, dtype)?, dtype }
            }
            TapeValue::Result(op) => {
                let operands: SmallVec<[Value; 3]> =
                    step.operands().iter().map(|&id| values[id as usize].clone()).collect();
                let value = apply(&op, &operands)?;
                if let Some(found) = finding(&op, region.line(i), &operands, &value)? {
                    return Ok(Some(found));
                }
                value
            }
        };
        values.push(value);
    }
    if let RegionKind::Reduction(reduction) = &region.kind {
        let (op, operand) = (reduction.clone().into(), &values[region.tape.outputs[0] as usize]);
        let reduced = apply(&op, std::slice::from_ref(operand))?;
        return finding(&op, None, std::slice::from_ref(operand), &reduced);
    }
    Ok(None)
}

/// The first result of an operation.
fn apply(op: &Op, inputs: &[Value]) -> Result<Value> {
    let specs: SmallVec<[ArraySpec; 3]> = inputs.iter().map(Value::spec).collect();
    let spec = op.infer(&specs.iter().collect::<SmallVec<[&ArraySpec; 3]>>())?.swap_remove(0);
    let storages = inputs.iter().map(|input| input.storage.clone()).collect();
    let dtypes = inputs.iter().map(|input| input.dtype).collect();
    let mut task = Task::new(Stream::CPU, storages, dtypes, smallvec![&spec]);
    // SAFETY: `infer` gave the spec for these inputs.
    unsafe { Cpu.launch(op, &mut task) }?;
    let storage = task.outputs.pop().flatten().expect("a kernel that ran has an output");
    Ok(Value { storage, dtype: spec.dtype })
}

/// If an operation produced a value: how often, where, and from which inputs.
fn produced(kind: Kind, op: &Op, inputs: &[Value], output: &Value) -> Result<Option<String>> {
    if !output.dtype.is_inexact() {
        return Ok(None);
    }
    let shape = output.shape();
    let mut mask = output.mask(kind)?;
    if !mask.contains(&true) {
        return Ok(None);
    }
    let is_elementwise = matches!(op.fusion_role(), FusionRole::Step(_));
    for input in inputs.iter().filter(|input| input.dtype.is_inexact()) {
        if is_elementwise {
            let input_mask = input.broadcast_to(shape).mask(kind)?;
            mask.iter_mut().zip(input_mask).for_each(|(is_new, is_old)| *is_new &= !is_old);
        } else if input.mask(kind)?.contains(&true) {
            return Ok(None);
        }
    }
    let Some(first) = mask.iter().position(|&is_new| is_new) else { return Ok(None) };
    let count = mask.iter().filter(|&&is_new| is_new).count();
    let index = index_of(first, shape);
    let element = |input: &Value| input.broadcast_to(shape).element(&index).to_string();
    let elements: Vec<String> = inputs.iter().filter(|_| is_elementwise).map(element).collect();
    let from = if is_elementwise { format!(", from {}", elements.join(", ")) } else { String::new() };
    let summary = |(i, input): (usize, &Value)| Ok(format!("; input {i} {}", input.summary()?));
    let summaries: Vec<String> = inputs.iter().enumerate().map(summary).collect::<Result<_>>()?;
    Ok(Some(format!(
        "produced {} in a result of {} elements (shape {shape}, dtype {}), the first at index {index}{from}{}",
        kind.counted(count),
        shape.size(),
        output.dtype,
        summaries.concat(),
    )))
}

/// Whether a constant is such a value.
fn is(kind: Kind, value: Scalar) -> bool {
    let (re, im) = value.as_complex();
    [re, im].into_iter().any(|part: f64| match kind {
        Kind::Nan => part.is_nan(),
        Kind::Infinity => part.is_infinite(),
    })
}

/// The index of an element, given its position in row-major order.
fn index_of(mut position: usize, shape: &Shape) -> Shape {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&length| {
            let along = position % length;
            position /= length;
            along
        })
        .collect();
    index.reverse();
    index.into_iter().collect()
}

impl Value {
    fn shape(&self) -> &Shape {
        &self.storage.layout.shape
    }

    fn spec(&self) -> ArraySpec {
        ArraySpec { shape: self.shape().clone(), dtype: self.dtype }
    }

    fn with_layout(&self, layout: Layout) -> Value {
        Value { storage: self.storage.with_layout(layout), dtype: self.dtype }
    }

    /// As float32, if it is float8, which kernels do not compute with.
    fn widened(self) -> Result<Value> {
        if self.dtype.is_float8() { apply(&Float8Cast(DType::Float32).into(), &[self]) } else { Ok(self) }
    }

    /// Broadcast to a shape.
    fn broadcast_to(&self, shape: &Shape) -> Value {
        if self.shape() == shape {
            self.clone()
        } else {
            self.with_layout(self.storage.layout.broadcast_to(shape))
        }
    }

    /// The elements of a contiguous array under another shape.
    fn contiguous_as(&self, shape: &Shape) -> Value {
        self.with_layout(Layout { offset: self.storage.layout.offset, ..Layout::contiguous(shape.clone()) })
    }

    /// Which elements are such values, in row-major order.
    fn mask(&self, kind: Kind) -> Result<Vec<bool>> {
        if self.shape().size() == 0 {
            return Ok(Vec::new());
        }
        let mask = apply(&Unary(kind.test()).into(), std::slice::from_ref(self))?;
        let bytes = mask.storage.on_host().dense_bytes(DType::Bool).expect("a new result is contiguous");
        Ok(bytes.iter().map(|&byte| byte != 0).collect())
    }

    /// The element at an index.
    fn element(&self, index: &Shape) -> Scalar {
        let layout = &self.storage.layout;
        let steps = index.iter().zip(&layout.strides).map(|(&i, &stride)| i as isize * stride).sum::<isize>();
        let offset = (layout.offset as isize + steps) as usize;
        let element = self.with_layout(Layout { offset, ..Layout::contiguous(Shape::scalar()) });
        let bytes = element.storage.on_host().dense_bytes(self.dtype).expect("one element is contiguous");
        Scalar::from_bytes(self.dtype, bytes)
    }

    /// How many NaN and infinities it holds.
    fn summary(&self) -> Result<String> {
        let mut held = Vec::new();
        for kind in [Kind::Nan, Kind::Infinity] {
            let is_searched = self.dtype.is_inexact();
            let count = if is_searched { self.mask(kind)?.into_iter().filter(|&is| is).count() } else { 0 };
            if count > 0 {
                held.push(kind.counted(count));
            }
        }
        Ok(if held.is_empty() { "is finite".into() } else { format!("holds {}", held.join(" and ")) })
    }
}
