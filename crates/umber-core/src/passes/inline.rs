//! Inline: replace composite steps by the operations they consist of.
//!
//! A fused step becomes its operations again, so that it can be fused with its neighbours. Custom derivatives and checkpoints
//! only matter to transforms: their outputs are replaced by the inputs that they forward. An operation without a kernel on its
//! device is replaced by its expansion.

use smallvec::{SmallVec, smallvec};
use umber_types::tape::Step as TapeStep;
use umber_types::{Device, Result, Shape};

use crate::backend::decomposes;
use crate::device::on_stream;
use crate::graph::program::{Operand, Step};
use crate::graph::{Array, ArraySpec, Program, tracing};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::broadcast::Broadcast;
use crate::primitives::cast::Cast;
use crate::primitives::leaf::Leaf;
use crate::primitives::matmul::MatMul;
use crate::primitives::region::{Region, RegionKind};
use crate::primitives::reshape::Reshape;
use crate::primitives::select::Select;
use crate::primitives::ternary::Ternary;
use crate::primitives::unary::Unary;

/// A program without composite steps.
pub(crate) struct InlinedProgram {
    pub(crate) program: Program,
    /// The spec of each slot.
    pub(crate) specs: Vec<ArraySpec>,
    /// The slot of the original program that each slot corresponds to, if any.
    pub(crate) slots: Vec<Option<u32>>,
    /// The step of the original program that each step comes from.
    pub(crate) roots: Vec<u32>,
    /// The last arguments: arrays captured by expansions.
    pub(crate) captured: Vec<Array>,
}

impl InlinedProgram {
    /// Compose with the mapping of `outer`, whose program this was inlined from.
    pub(crate) fn after(mut self, outer: &InlinedProgram) -> InlinedProgram {
        self.slots.iter_mut().for_each(|slot| *slot = slot.and_then(|slot| outer.slots[slot as usize]));
        self.roots.iter_mut().for_each(|root| *root = outer.roots[*root as usize]);
        self.captured.splice(0..0, outer.captured.iter().cloned());
        self
    }
}

/// An operation's expansion: a program of its inputs and of captured arrays.
type Expansion = (Program, Vec<Array>);

/// The expansion of each step whose device has no kernel for it; empty if there are none.
fn expansions(program: &Program, specs: &[ArraySpec]) -> Result<Vec<Option<Expansion>>> {
    if program.steps.iter().all(|step| step.stream.device == Device::CPU) {
        return Ok(Vec::new());
    }
    program.steps.iter().map(|step| expansion(step, specs)).collect()
}

fn expansion(step: &Step, specs: &[ArraySpec]) -> Result<Option<Expansion>> {
    let inputs = || step.inputs.iter().map(|operand| operand.spec(specs));
    if !decomposes(&step.op, step.stream, inputs())? {
        return Ok(None);
    }
    let tracing = tracing::enter();
    let placeholder =
        |spec: &ArraySpec| Array::placeholder(Leaf::Trace, spec.clone(), Some(tracing.trace_scope()));
    let placeholders: Vec<Array> = inputs().map(placeholder).collect();
    let _stream = on_stream(step.stream);
    let expanded = step.op.expand(&placeholders).transpose()?;
    Ok(expanded.map(|outputs| Program::close(&placeholders, &outputs)))
}

/// Whether a step is replaced by other steps.
fn is_inlined(op: &Op) -> bool {
    op.forwards() || matches!(op, Op::Fused(_))
}

/// Inline composite steps; `None` if there are none. `specs` are the specs of the slots.
pub(crate) fn inline(program: &Program, specs: &[ArraySpec]) -> Result<Option<InlinedProgram>> {
    let mut expansions = expansions(program, specs)?;
    if !program.steps.iter().any(|step| is_inlined(&step.op)) && expansions.iter().all(Option::is_none) {
        return Ok(None);
    }
    let arguments = program.arguments.len();
    let all_captured = expansions.iter().flatten().flat_map(|(_, captured)| captured);
    let captured: Vec<Array> = all_captured.cloned().collect();
    let arguments_and_captured: Vec<ArraySpec> =
        program.arguments.iter().chain(captured.iter().map(Array::spec)).cloned().collect();
    let mut slots: Vec<Option<u32>> = (0..arguments as u32).map(Some).collect();
    slots.resize(arguments_and_captured.len(), None);
    let mut next_captured = arguments as u32;
    let mut inliner = Inliner {
        result: InlinedProgram {
            program: Program {
                arguments: arguments_and_captured.clone(),
                steps: Vec::with_capacity(program.steps.len()),
                outputs: Vec::new(),
            },
            specs: arguments_and_captured,
            slots,
            roots: Vec::with_capacity(program.steps.len()),
            captured,
        },
        values: (0..arguments as u32).map(Operand::Slot).collect(),
    };
    for (root, step) in program.steps.iter().enumerate() {
        let inputs: SmallVec<[Operand; 3]> = step.inputs.iter().map(|input| inliner.value(input)).collect();
        let first = inliner.values.len();
        if let Some((expanded, captured)) = expansions.get_mut(root).and_then(Option::take) {
            let captured_slots = next_captured..next_captured + captured.len() as u32;
            next_captured = captured_slots.end;
            let inputs = inputs.into_iter().chain(captured_slots.map(Operand::Slot)).collect();
            let outputs = inliner.program(&expanded, inputs, step, root as u32)?;
            inliner.values.extend(outputs);
            inliner.record_slots(first);
            continue;
        }
        if let Op::Fused(fused) = &step.op {
            let outputs = inliner.region(&fused.0, &inputs, step, root as u32)?;
            inliner.values.extend(outputs);
        } else if step.op.forwards() {
            let forwarded = inputs.len() - step.outputs as usize;
            inliner.values.extend(inputs.into_iter().skip(forwarded));
        } else {
            let step = Step { inputs, ..step.clone() };
            let count = step.outputs;
            let slot = inliner.push(step, root as u32, &specs[first..]);
            inliner.values.extend((slot..slot + count).map(Operand::Slot));
        }
        inliner.record_slots(first);
    }
    let outputs = program.outputs.iter().map(|output| inliner.value(output)).collect();
    inliner.result.program.outputs = outputs;
    Ok(Some(inliner.result))
}

struct Inliner {
    result: InlinedProgram,
    /// The value of each slot of the original program.
    values: Vec<Operand>,
}

impl Inliner {
    fn value(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Slot(slot) => self.values[*slot as usize].clone(),
            Operand::Constant(_) => operand.clone(),
        }
    }

    /// Record which original slots the values of the slots from `first` on correspond to.
    fn record_slots(&mut self, first: usize) {
        for (original, value) in self.values.iter().enumerate().skip(first) {
            if let Operand::Slot(slot) = value {
                self.result.slots[*slot as usize].get_or_insert(original as u32);
            }
        }
    }

    /// Add the steps of a program, with the source line of `template`; returns its outputs.
    fn program(
        &mut self,
        program: &Program,
        mut values: Vec<Operand>,
        template: &Step,
        root: u32,
    ) -> Result<Vec<Operand>> {
        let substitute = |operand: &Operand, values: &[Operand]| match operand {
            Operand::Slot(slot) => values[*slot as usize].clone(),
            Operand::Constant(_) => operand.clone(),
        };
        for step in &program.steps {
            let inputs = step.inputs.iter().map(|operand| substitute(operand, &values)).collect();
            let step = Step { inputs, origin: template.origin.clone(), ..step.clone() };
            let specs = step.infer(&self.result.specs)?;
            let count = step.outputs;
            let slot = self.push(step, root, &specs);
            values.extend((slot..slot + count).map(Operand::Slot));
        }
        Ok(program.outputs.iter().map(|output| substitute(output, &values)).collect())
    }

    /// Add a step that writes values of these specs; returns its first slot.
    fn push(&mut self, step: Step, root: u32, specs: &[ArraySpec]) -> u32 {
        let first = self.result.specs.len() as u32;
        self.result.specs.extend_from_slice(&specs[..step.outputs as usize]);
        self.result.slots.resize(self.result.specs.len(), None);
        self.result.program.steps.push(step);
        self.result.roots.push(root);
        first
    }

    /// Add a step with one output, whose spec is inferred.
    fn push_one(
        &mut self,
        op: Op,
        inputs: SmallVec<[Operand; 3]>,
        template: &Step,
        root: u32,
    ) -> Result<Operand> {
        let step = Step { op, stream: template.stream, inputs, outputs: 1, origin: template.origin.clone() };
        let specs = step.infer(&self.result.specs)?;
        Ok(Operand::Slot(self.push(step, root, &specs)))
    }

    /// An operand broadcast to the shape of a region.
    fn broadcast_operand(
        &mut self,
        operand: &Operand,
        shape: &Shape,
        template: &Step,
        root: u32,
    ) -> Result<Operand> {
        let spec = operand.spec(&self.result.specs);
        if spec.shape == *shape {
            return Ok(operand.clone());
        }
        if let Operand::Constant(constant) = operand {
            let spec = ArraySpec { shape: shape.clone(), dtype: spec.dtype };
            return Ok(Operand::Constant(Box::new((spec, constant.1))));
        }
        let op = Broadcast { shape: shape.clone() }.into();
        self.push_one(op, smallvec![operand.clone()], template, root)
    }

    /// Add the operations of a region; returns its outputs.
    fn region(
        &mut self,
        region: &Region,
        inputs: &[Operand],
        template: &Step,
        root: u32,
    ) -> Result<SmallVec<[Operand; 2]>> {
        let shape = &region.shape;
        let (factors, elements) = inputs.split_at(region.factors());
        let mut values: Vec<Operand> = Vec::with_capacity(region.tape.inputs.len() + region.tape.steps.len());
        if !factors.is_empty() {
            let product = self.push_one(MatMul.into(), factors.into(), template, root)?;
            let has_shape = product.spec(&self.result.specs).shape == *shape;
            values.push(if has_shape {
                product
            } else {
                self.push_one(Reshape { shape: shape.clone() }.into(), smallvec![product], template, root)?
            });
        }
        for element in elements {
            let value = self.broadcast_operand(element, shape, template, root)?;
            values.push(value);
        }
        for step in &region.tape.steps {
            let at = |id: &u32| values[*id as usize].clone();
            let (op, operands): (Op, SmallVec<[Operand; 3]>) = match step {
                TapeStep::Constant { value, dtype } => {
                    let spec = ArraySpec { shape: shape.clone(), dtype: *dtype };
                    values.push(Operand::Constant(Box::new((spec, *value))));
                    continue;
                }
                TapeStep::Unary { kind, x } => (Unary(*kind).into(), smallvec![at(x)]),
                TapeStep::Binary { kind, a, b } => (Binary(*kind).into(), smallvec![at(a), at(b)]),
                TapeStep::Ternary { kind, a, b, c } => {
                    (Ternary(*kind).into(), smallvec![at(a), at(b), at(c)])
                }
                TapeStep::Select { condition, a, b } => {
                    (Select.into(), smallvec![at(condition), at(a), at(b)])
                }
                TapeStep::Cast { x, to } => (Cast(*to).into(), smallvec![at(x)]),
            };
            let value = self.push_one(op, operands, template, root)?;
            values.push(value);
        }
        let outputs = region.tape.outputs.iter().map(|&id| values[id as usize].clone());
        match &region.kind {
            RegionKind::Reduction(reduction) => outputs
                .collect::<SmallVec<[Operand; 2]>>()
                .into_iter()
                .map(|value| self.push_one(reduction.clone().into(), smallvec![value], template, root))
                .collect(),
            RegionKind::Elementwise | RegionKind::Product => Ok(outputs.collect()),
        }
    }
}
