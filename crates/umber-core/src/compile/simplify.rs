//! Simplify: the same outputs from fewer steps.
//!
//! Every rule preserves each bit of each value (except the payload of NaN) and the derivatives:
//!
//! - Common subexpressions: equal operations on equal inputs are merged, with all their outputs. Commutative operations are
//!   equal in either order of their inputs: addition, multiplication of real numbers, equality comparisons, logical and bitwise
//!   operations. Random bits drawn twice with one key are therefore drawn once.
//! - Constant folding: an operation on constants is a constant if `constants` can compute its value.
//! - Identities are removed: `x * 1`, `1 * x`, `x / 1` (except of complex numbers, where multiplication by one turns
//!   infinities into NaN), `x - 0`, `x + -0` (except `x + 0`, which turns -0 into 0), `x + 0` of integers, a selection
//!   between equal operands, casts to the same dtype, reshapes, broadcasts, transposes and slices to the same shape.
//! - Pairs of self-inverse operations are removed: negative, conjugate, bitwise and (of bool) logical not.
//! - Two views of one kind are merged: reshapes, broadcasts, transposes, slices; so is a broadcast of a reshape that only
//!   adds leading axes of length one. A transpose that moves only axes of length one becomes a reshape.
//! - Two casts are merged if the first is lossless.
//! - Dead code elimination: steps that no output needs are removed.

use std::collections::HashMap;

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, Result, Scalar, Shape, Stream, UnaryKind};

use super::constants::compute;
use crate::graph::program::{Operand, Step};
use crate::graph::{ArraySpec, Program, Specs};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::cast::Cast;
use crate::primitives::leaf::Leaf;
use crate::primitives::reshape::Reshape;
use crate::primitives::select::Select;
use crate::primitives::slice::{Slice, Window};
use crate::primitives::transpose::Transpose;
use crate::primitives::unary::Unary;

type Operands = SmallVec<[Operand; 3]>;

/// Simplify a program. Its arguments remain, even those that are no longer read.
pub fn simplify(program: &Program) -> Result<Program> {
    let mut simplifier = Simplifier::new(program);
    for step in &program.steps {
        simplifier.visit(step)?;
    }
    let outputs = program.outputs.iter().map(|operand| simplifier.replacement(operand)).collect();
    Ok(prune(Program { arguments: program.arguments.clone(), steps: simplifier.steps, outputs }))
}

/// The key of common subexpression elimination.
#[derive(PartialEq, Eq, Hash)]
struct Computation {
    op: Op,
    inputs: Operands,
    stream: Stream,
}

/// The result of rewriting an operation.
enum Rewrite {
    /// An existing value.
    Same(Operand),
    /// An operation to add.
    New(Op, Operands, Specs),
}

/// The simplified program under construction.
struct Simplifier {
    steps: Vec<Step>,
    /// Specs of the new slots, and the steps that compute them.
    specs: Vec<ArraySpec>,
    producers: Vec<Option<u32>>,
    /// The operand that replaces each slot of the original program.
    replacements: Vec<Operand>,
    /// The first output of each computation added so far.
    known: HashMap<Computation, u32>,
}

impl Simplifier {
    fn new(program: &Program) -> Simplifier {
        let count = program.arguments.len();
        let mut replacements = Vec::with_capacity(program.slots());
        replacements.extend((0..count as u32).map(Operand::Slot));
        Simplifier {
            steps: Vec::with_capacity(program.steps.len()),
            specs: program.arguments.clone(),
            producers: vec![None; count],
            replacements,
            known: HashMap::with_capacity(program.steps.len()),
        }
    }

    fn replacement(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Slot(slot) => self.replacements[*slot as usize].clone(),
            Operand::Constant(_) => operand.clone(),
        }
    }

    fn spec<'a>(&'a self, operand: &'a Operand) -> &'a ArraySpec {
        operand.spec(&self.specs)
    }

    /// The step that computes an operand as its only output.
    fn producer(&self, operand: &Operand) -> Option<&Step> {
        let Operand::Slot(slot) = operand else { return None };
        let step = &self.steps[self.producers[*slot as usize]? as usize];
        (step.outputs == 1).then_some(step)
    }

    fn infer(&self, op: &Op, inputs: &[Operand]) -> Result<Specs> {
        let specs: SmallVec<[&ArraySpec; 4]> = inputs.iter().map(|input| self.spec(input)).collect();
        op.infer(&specs)
    }

    fn visit(&mut self, step: &Step) -> Result<()> {
        let inputs: Operands = step.inputs.iter().map(|input| self.replacement(input)).collect();
        match self.find(step.op.clone(), inputs)? {
            Rewrite::Same(operand) => self.replacements.push(operand),
            Rewrite::New(op, inputs, specs) => {
                let first = self.record(op, inputs, specs, step);
                self.replacements.extend((first..first + step.outputs).map(Operand::Slot));
            }
        }
        Ok(())
    }

    /// Apply rules until none applies.
    fn find(&self, mut op: Op, mut inputs: Operands) -> Result<Rewrite> {
        loop {
            let specs = self.infer(&op, &inputs)?;
            if let Some(same) = self.same(&op, &inputs, &specs)? {
                return Ok(Rewrite::Same(same));
            }
            match self.rewrite(&op, &inputs) {
                Some((simpler, operands)) => (op, inputs) = (simpler, operands),
                None => return Ok(Rewrite::New(op, inputs, specs)),
            }
        }
    }

    /// The first slot of a step, which is added unless an equal one exists.
    fn record(&mut self, op: Op, inputs: Operands, specs: Specs, from: &Step) -> u32 {
        let stream = from.stream;
        let mut key = Computation { op, inputs: inputs.clone(), stream };
        if self.is_commutative(&key.op, &inputs) && sort_key(&key.inputs[0]) > sort_key(&key.inputs[1]) {
            key.inputs.swap(0, 1);
        }
        let next = self.specs.len() as u32;
        let op = key.op.clone();
        let first = *self.known.entry(key).or_insert(next);
        if first == next {
            let step = self.steps.len() as u32;
            self.producers.resize(self.producers.len() + specs.len(), Some(step));
            self.specs.extend(specs);
            self.steps.push(Step { op, stream, inputs, outputs: from.outputs, origin: from.origin.clone() });
        }
        first
    }

    /// The value of the only output, if it is an existing value or a constant.
    fn same(&self, op: &Op, inputs: &[Operand], specs: &[ArraySpec]) -> Result<Option<Operand>> {
        let (Some(input), [spec]) = (inputs.first(), specs) else { return Ok(None) };
        let mut constants: SmallVec<[(Scalar, DType); 3]> = SmallVec::new();
        for input in inputs {
            if let Operand::Constant(constant) = input {
                constants.push((constant.1, constant.0.dtype));
            }
        }
        if constants.len() == inputs.len() {
            let value =
                if op.is_view() { Some(constants[0].0) } else { compute(op, &constants, spec.dtype)? };
            if let Some(value) = value {
                return Ok(Some(Operand::Constant(Box::new((spec.clone(), value)))));
            }
        }
        let is_full = |window: &Window| window.is_whole(&self.spec(input).shape);
        let real_constant = |i: usize| match &inputs[i] {
            Operand::Constant(constant) if !constant.0.dtype.is_complex() => Some(constant.1),
            Operand::Constant(_) | Operand::Slot(_) => None,
        };
        let is = |i: usize, expected: f64| {
            real_constant(i).is_some_and(|value| value.as_complex().0.to_bits() == expected.to_bits())
        };
        let is_integer = spec.dtype.is_integer();
        let same = match (op, inputs) {
            (Op::Leaf(Leaf::Copy) | Op::Cast(_) | Op::Reshape(_) | Op::Broadcast(_) | Op::View(_), _) => {
                Some(input)
            }
            (Op::Transpose(Transpose { permutation }), _) => {
                permutation.iter().enumerate().all(|(i, &axis)| i == axis).then_some(input)
            }
            (Op::Slice(Slice { window, .. }), _) if is_full(window) => Some(input),
            (Op::Binary(Binary(BinaryKind::Multiply)), [_, b]) if is(0, 1.0) => Some(b),
            (Op::Binary(Binary(BinaryKind::Multiply | BinaryKind::Divide)), _) if is(1, 1.0) => Some(input),
            (Op::Binary(Binary(BinaryKind::Subtract)), _) if is(1, 0.0) => Some(input),
            (Op::Binary(Binary(BinaryKind::Add)), [_, b]) if is(0, -0.0) || (is_integer && is(0, 0.0)) => {
                Some(b)
            }
            (Op::Binary(Binary(BinaryKind::Add)), _) if is(1, -0.0) || (is_integer && is(1, 0.0)) => {
                Some(input)
            }
            (Op::Select(Select), [_, a, b]) if a == b => Some(a),
            (Op::Select(Select), [_, a, b]) => {
                real_constant(0).map(|value| if value.as_bool() { a } else { b })
            }
            (Op::Unary(Unary(kind)), _) if undoes_itself(*kind, spec.dtype) => {
                self.producer(input).filter(|step| step.op == *op).and_then(|step| step.inputs.first())
            }
            _ => None,
        };
        Ok(same.filter(|&same| self.spec(same) == spec).cloned())
    }

    /// A simpler operation on existing operands.
    fn rewrite(&self, op: &Op, inputs: &[Operand]) -> Option<(Op, Operands)> {
        let [input] = inputs else { return None };
        if let Op::Transpose(Transpose { permutation }) = op {
            let shape = &self.spec(input).shape;
            if permutation.iter().filter(|&&axis| shape[axis] != 1).is_sorted() {
                let shape: Shape = permutation.iter().map(|&axis| shape[axis]).collect();
                return Some((Reshape { shape }.into(), inputs.into()));
            }
        }
        let before = self.producer(input)?;
        let [source] = &before.inputs[..] else { return None };
        let from = self.spec(source);
        let merged: Op = match (op, &before.op) {
            (Op::Reshape(_), Op::Reshape(_)) | (Op::Broadcast(_), Op::Broadcast(_)) => op.clone(),
            (Op::Broadcast(broadcast), Op::Reshape(reshape))
                if adds_leading_ones(&reshape.shape, &from.shape)
                    && from.shape.broadcasts_to(&broadcast.shape) =>
            {
                op.clone()
            }
            (Op::Transpose(outer), Op::Transpose(inner)) => {
                let permutation =
                    outer.permutation.iter().map(|&axis| inner.permutation[axis]).collect::<Shape>();
                Transpose { permutation }.into()
            }
            (Op::Slice(outer), Op::Slice(inner)) if inner.window.lengths == inner.shape => {
                let window = Box::new(inner.window.then(&outer.window)?);
                Slice { window, shape: outer.shape.clone() }.into()
            }
            (Op::Cast(Cast(to)), Op::Cast(Cast(intermediate)))
                if is_one_cast(from.dtype, *intermediate, *to) =>
            {
                op.clone()
            }
            _ => return None,
        };
        Some((merged, SmallVec::from_elem(source.clone(), 1)))
    }

    fn is_commutative(&self, op: &Op, inputs: &[Operand]) -> bool {
        let Op::Binary(Binary(kind)) = op else { return false };
        let dtype = self.spec(&inputs[0]).dtype;
        match kind {
            BinaryKind::Multiply => !dtype.is_complex(),
            BinaryKind::Maximum | BinaryKind::Minimum => !dtype.is_inexact(),
            BinaryKind::Add
            | BinaryKind::Equal
            | BinaryKind::NotEqual
            | BinaryKind::LogicalAnd
            | BinaryKind::LogicalOr
            | BinaryKind::BitwiseAnd
            | BinaryKind::BitwiseOr
            | BinaryKind::BitwiseXor => true,
            BinaryKind::Subtract
            | BinaryKind::Divide
            | BinaryKind::FloorDivide
            | BinaryKind::Remainder
            | BinaryKind::Power
            | BinaryKind::LogAddExp
            | BinaryKind::Arctan2
            | BinaryKind::Less
            | BinaryKind::LessEqual
            | BinaryKind::Greater
            | BinaryKind::GreaterEqual
            | BinaryKind::LeftShift
            | BinaryKind::RightShift
            | BinaryKind::Hypot
            | BinaryKind::CopySign
            | BinaryKind::Fmod
            | BinaryKind::LogAddExp2
            | BinaryKind::Ldexp
            | BinaryKind::Gcd
            | BinaryKind::Zeta
            | BinaryKind::Polygamma
            | BinaryKind::GammaInc
            | BinaryKind::GammaIncC
            | BinaryKind::Beta
            | BinaryKind::BetaLn
            | BinaryKind::Expn
            | BinaryKind::RelEntr
            | BinaryKind::GammaIncInv
            | BinaryKind::GammaIncCInv
            | BinaryKind::GammaDensity
            | BinaryKind::GammaIncSlope
            | BinaryKind::ZetaSlope
            | BinaryKind::MultiplyAbsorbing => false,
        }
    }
}

/// A canonical order of operands; constants come last and keep their order.
fn sort_key(operand: &Operand) -> u32 {
    match operand {
        Operand::Slot(slot) => *slot,
        Operand::Constant(_) => u32::MAX,
    }
}

fn undoes_itself(kind: UnaryKind, dtype: DType) -> bool {
    matches!(
        (kind, dtype),
        (UnaryKind::Negative | UnaryKind::Conjugate, _)
            | (UnaryKind::BitwiseInvert | UnaryKind::LogicalNot, DType::Bool)
    ) || (kind == UnaryKind::BitwiseInvert && dtype.is_integer())
}

/// Whether `shape` is `other` with leading axes of length one.
fn adds_leading_ones(shape: &[usize], other: &[usize]) -> bool {
    shape.len() >= other.len() && {
        let (front, back) = shape.split_at(shape.len() - other.len());
        back == other && front.iter().all(|&length| length == 1)
    }
}

/// Whether casting from `from` to `between` and then to `to` equals casting directly.
fn is_one_cast(from: DType, between: DType, to: DType) -> bool {
    // Casts to float16 and bfloat16 may go through float32, which must then be lossless. Out-of-range conversions of floats to
    // integers differ between dtypes.
    keeps_values(from, between)
        && (!to.is_half() || keeps_values(from, DType::Float32))
        && (to.is_inexact() || (!from.is_inexact() && (!between.is_inexact() || keeps_values(from, to))))
}

/// Whether every value of `from` is a value of `to`.
fn keeps_values(from: DType, to: DType) -> bool {
    // Value bits of integers or significand bits of floats; then exponent bits of floats, and the sign.
    let precision = |dtype: DType| match dtype {
        DType::Bool => 1,
        DType::Int8 => 7,
        DType::UInt8 | DType::BFloat16 => 8,
        DType::Float16 => 11,
        DType::Int16 => 15,
        DType::UInt16 => 16,
        DType::Float32 | DType::Complex64 => 24,
        DType::Int32 => 31,
        DType::UInt32 => 32,
        DType::Float64 | DType::Complex128 => 53,
        DType::Int64 => 63,
        DType::UInt64 => 64,
        DType::Float8E3M4
        | DType::Float8E4M3
        | DType::Float8E4M3B11Fnuz
        | DType::Float8E4M3Fn
        | DType::Float8E4M3Fnuz
        | DType::Float8E5M2
        | DType::Float8E5M2Fnuz
        | DType::Float8E8M0Fnu => unreachable!("float8 has casts of its own"),
    };
    let range = |dtype: DType| {
        let double = if dtype.real() == DType::Float64 { 11 } else { 8 };
        if dtype == DType::Float16 { 5 } else { double }
    };
    let is_signed = |dtype: DType| {
        !matches!(dtype, DType::Bool | DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64)
    };
    if from == to {
        return true;
    }
    let fits = precision(from) <= precision(to) && (is_signed(to) || !is_signed(from));
    match (from.is_inexact(), to.is_inexact()) {
        (false, _) => fits && to != DType::Bool,
        (true, false) => false,
        (true, true) => fits && range(from) <= range(to) && (to.is_complex() || !from.is_complex()),
    }
}

/// Remove steps that no output needs.
fn prune(program: Program) -> Program {
    let argument_count = program.arguments.len();
    let mut needed = vec![false; program.slots()];
    let mark_needed = |operand: &Operand, needed: &mut [bool]| {
        if let Operand::Slot(slot) = operand {
            needed[*slot as usize] = true;
        }
    };
    for operand in &program.outputs {
        mark_needed(operand, &mut needed);
    }
    let mut end = needed.len();
    let mut is_kept = vec![false; program.steps.len()];
    for (step, kept) in program.steps.iter().zip(&mut is_kept).rev() {
        let first = end - step.outputs as usize;
        *kept = needed[first..end].contains(&true);
        if *kept {
            step.inputs.iter().for_each(|operand| mark_needed(operand, &mut needed));
        }
        end = first;
    }
    if !is_kept.contains(&false) {
        return program;
    }
    let mut new_slots: Vec<u32> = (0..argument_count as u32).collect();
    let mut next = argument_count as u32;
    for (step, &kept) in program.steps.iter().zip(&is_kept) {
        new_slots.extend(next..next + step.outputs);
        next += if kept { step.outputs } else { 0 };
    }
    let renumber = |operand: &Operand| match operand {
        Operand::Slot(slot) => Operand::Slot(new_slots[*slot as usize]),
        Operand::Constant(_) => operand.clone(),
    };
    let kept = program.steps.iter().zip(&is_kept).filter(|&(_, &kept)| kept);
    let steps = kept
        .map(|(step, _)| Step { inputs: step.inputs.iter().map(renumber).collect(), ..step.clone() })
        .collect();
    let outputs = program.outputs.iter().map(renumber).collect();
    Program { arguments: program.arguments, steps, outputs }
}
