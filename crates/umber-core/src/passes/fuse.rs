//! Fuse: replace elementwise steps that run in one kernel by one step, [`Fused`].

use smallvec::SmallVec;
use umber_types::DType;
use umber_types::tape::{Step as TapeStep, Tape, ValueId};

use super::Slots;
use super::partition::{RegionSteps, Unit, partition};
use crate::graph::program::{Operand, SourceLine, Step};
use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitive::{FusionRole, Primitive};
use crate::primitives::fused::Fused;
use crate::primitives::region::{Region, RegionKind};

/// A program in which elementwise steps are fused.
pub(crate) struct FusedProgram {
    pub(crate) program: Program,
    /// The spec of each slot.
    pub(crate) specs: Vec<ArraySpec>,
    /// The slot of the original program that each slot corresponds to.
    pub(crate) slots: Vec<u32>,
    /// The last original step that each step computes.
    pub(crate) roots: Vec<u32>,
}

/// Fuse elementwise regions into single steps; `specs` are the specs of the slots.
pub(crate) fn fuse(program: &Program, specs: &[ArraySpec]) -> FusedProgram {
    let slots = Slots::new(program, specs);
    let arguments = program.arguments.len();
    let units = partition(&slots);
    let mut fused = FusedProgram {
        program: Program {
            arguments: program.arguments.clone(),
            steps: Vec::with_capacity(units.len()),
            outputs: Vec::new(),
        },
        specs: program.arguments.clone(),
        slots: (0..arguments as u32).collect(),
        roots: Vec::with_capacity(units.len()),
    };
    // The new slot of each stored value; none for values inside a region.
    let mut new_slots: Vec<Option<u32>> = vec![None; specs.len()];
    (0..arguments).for_each(|slot| new_slots[slot] = Some(slot as u32));
    let renumber_operand = |operand: &Operand, new_slots: &[Option<u32>]| match operand {
        Operand::Slot(slot) => {
            Operand::Slot(new_slots[*slot as usize].expect("inputs of kernels are stored"))
        }
        Operand::Constant(_) => operand.clone(),
    };
    for unit in &units {
        let fill = |slot: u32, fused: &mut FusedProgram, new_slots: &mut [Option<u32>]| {
            new_slots[slot as usize] = Some(fused.specs.len() as u32);
            fused.specs.push(specs[slot as usize].clone());
            fused.slots.push(slot);
        };
        match unit {
            Unit::Step(i) => {
                let step = &program.steps[*i as usize];
                let inputs = step.inputs.iter().map(|input| renumber_operand(input, &new_slots)).collect();
                fused.program.steps.push(Step { inputs, ..step.clone() });
                fused.roots.push(*i);
                let first = slots.first(*i as usize);
                (first..first + step.outputs).for_each(|slot| fill(slot, &mut fused, &mut new_slots));
            }
            Unit::Region(members) => {
                let root = &program.steps[members.root()];
                let (region, inputs) = region_of(&slots, members);
                fused.program.steps.push(Step {
                    op: Fused(region.into()).into(),
                    stream: root.stream,
                    inputs: inputs.iter().map(|input| renumber_operand(input, &new_slots)).collect(),
                    outputs: members.outputs.len() as u32,
                    origin: root.origin.clone(),
                });
                fused.roots.push(members.root() as u32);
                for &output in &members.outputs {
                    fill(slots.first(output as usize), &mut fused, &mut new_slots);
                }
            }
        }
    }
    fused.program.outputs =
        program.outputs.iter().map(|output| renumber_operand(output, &new_slots)).collect();
    fused
}

/// An operand of a step of a region, after constants, broadcasts and copies are folded.
enum RegionOperand<'p> {
    /// The step of the region with this index.
    Member(usize),
    /// The product that the region begins with.
    Product,
    Constant(TapeStep),
    Input(&'p Operand),
}

fn resolve<'p>(mut operand: &'p Operand, members: &RegionSteps, slots: &Slots<'p>) -> RegionOperand<'p> {
    loop {
        if let Operand::Constant(constant) = operand {
            let (spec, value) = constant.as_ref();
            return RegionOperand::Constant(TapeStep::Constant { value: *value, dtype: spec.dtype });
        }
        let Some(i) = slots.writer(operand) else { return RegionOperand::Input(operand) };
        let step = &slots.steps()[i];
        match (step.op.fusion_role(), members.position(i as u32)) {
            (FusionRole::Step(_), Some(index)) => return RegionOperand::Member(index),
            (FusionRole::Product | FusionRole::Reshape, Some(_)) => return RegionOperand::Product,
            (FusionRole::Broadcast | FusionRole::Alias, _) => operand = &step.inputs[0],
            _ => return RegionOperand::Input(operand),
        }
    }
}

/// The region formed by some steps of a program, and its inputs.
fn region_of<'p>(slots: &Slots<'p>, members: &RegionSteps) -> (Region, SmallVec<[&'p Operand; 4]>) {
    let steps = slots.steps();
    let at = |member: u32| &steps[member as usize];
    let role = |member: u32| at(member).op.fusion_role();
    let product = members.steps.iter().copied().find(|&member| role(member) == FusionRole::Product);
    let kind = match (&at(members.root() as u32).op, product) {
        (Op::Reduce(reduction), _) => RegionKind::Reduction(reduction.clone()),
        (_, Some(_)) => RegionKind::Product,
        (_, None) => RegionKind::Elementwise,
    };
    let is_step = |member: &u32| matches!(role(*member), FusionRole::Step(_));
    let last = members.steps.iter().rposition(is_step).expect("a region has a step");
    let shape = slots.spec(members.steps[last] as usize).shape.clone();
    let product_count = u32::from(product.is_some());
    let mut inputs: SmallVec<[&Operand; 4]> = SmallVec::new();
    let mut tape = Tape { steps: Vec::with_capacity(members.steps.len()), ..Tape::default() };
    // The value of each step of the region; unused for products and reshapes.
    let mut value_ids: SmallVec<[ValueId; 8]> = SmallVec::from_elem(0, members.steps.len());
    for (index, &member) in members.steps.iter().enumerate() {
        let FusionRole::Step(function) = role(member) else { continue };
        let mut values = [0; 3];
        for (value, input) in values.iter_mut().zip(&at(member).inputs) {
            *value = match resolve(input, members, slots) {
                RegionOperand::Input(operand) => product_count + input_index(&mut inputs, operand),
                RegionOperand::Product => 0,
                RegionOperand::Member(member) => value_ids[member],
                RegionOperand::Constant(step) => push_once(&mut tape, step),
            };
        }
        tape.steps.push(function.step(values));
        value_ids[index] = UNNUMBERED | (tape.steps.len() as u32 - 1);
    }
    let dtype = |operand: &&Operand| operand.spec(slots.specs).dtype;
    let factors: SmallVec<[&Operand; 2]> = product.iter().flat_map(|&product| &at(product).inputs).collect();
    let product_dtype: Option<DType> = factors.first().map(dtype);
    tape.inputs = product_dtype.into_iter().chain(inputs.iter().map(dtype)).collect();
    let first = tape.inputs.len() as u32;
    tape.steps.iter_mut().for_each(|step| renumber(step, first));
    value_ids.iter_mut().for_each(|value_id| *value_id = renumbered(*value_id, first));
    // A reduction's own value is not on the tape: the output is the last elementwise step, its input.
    match kind {
        RegionKind::Reduction(_) => tape.outputs.push(value_ids[last]),
        RegionKind::Elementwise | RegionKind::Product => {
            let value_id = |&output| value_ids[members.position(output).expect("outputs are members")];
            tape.outputs.extend(members.outputs.iter().map(value_id));
        }
    }
    inputs.insert_many(0, factors);
    let lines = lines_of(members, &value_ids, &tape, slots);
    (Region::new(tape, shape, kind).with_lines(lines), inputs)
}

/// The source lines of the steps of a tape, given the value of each step of the region; empty if none is known.
fn lines_of(members: &RegionSteps, value_ids: &[ValueId], tape: &Tape, slots: &Slots<'_>) -> Vec<SourceLine> {
    let steps = members.steps.iter().map(|&member| &slots.steps()[member as usize]);
    if steps.clone().all(|step| step.origin.0.is_none()) {
        return Vec::new();
    }
    let mut lines = vec![SourceLine::default(); tape.steps.len()];
    for (step, &value_id) in steps.zip(value_ids) {
        if matches!(step.op.fusion_role(), FusionRole::Step(_)) {
            lines[value_id as usize - tape.inputs.len()] = step.origin.clone();
        }
    }
    lines
}

/// Marks the value of a tape step, by the index of the step, until the number of inputs, which have the lower ids, is known.
const UNNUMBERED: ValueId = 1 << 31;

fn renumbered(value: ValueId, first: u32) -> ValueId {
    if value & UNNUMBERED == 0 { value } else { first + (value & !UNNUMBERED) }
}

/// Replace marked operands of a step by their value ids.
fn renumber(step: &mut TapeStep, first: u32) {
    let operands: [Option<&mut ValueId>; 3] = match step {
        TapeStep::Constant { .. } => [None, None, None],
        TapeStep::Unary { x, .. } | TapeStep::Cast { x, .. } => [Some(x), None, None],
        TapeStep::Binary { a, b, .. } => [Some(a), Some(b), None],
        TapeStep::Ternary { a, b, c, .. } => [Some(a), Some(b), Some(c)],
        TapeStep::Select { condition, a, b } => [Some(condition), Some(a), Some(b)],
    };
    operands.into_iter().flatten().for_each(|value| *value = renumbered(*value, first));
}

/// The index of an operand among the inputs; it is added if missing. Linear search, since there are few.
fn input_index<'p>(inputs: &mut SmallVec<[&'p Operand; 4]>, operand: &'p Operand) -> u32 {
    let index = inputs.iter().position(|input| *input == operand).unwrap_or_else(|| {
        inputs.push(operand);
        inputs.len() - 1
    });
    index as u32
}

/// The value of a constant step, which is added if the tape does not contain it.
fn push_once(tape: &mut Tape, step: TapeStep) -> ValueId {
    let index = tape.steps.iter().position(|other| *other == step).unwrap_or_else(|| {
        tape.steps.push(step);
        tape.steps.len() - 1
    });
    UNNUMBERED | index as u32
}
