//! Program: a function as data. A list of steps that compute outputs from arguments and can be recorded on any arguments.
//!
//! Captured arrays become arguments too, so that a program holds no arrays: it can be compared, hashed and stored, and
//! derivatives reach what was captured. It is printed with a line for each step.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, Scalar, Stream, bail, ensure};

use super::walk::IdMap;
use super::{Array, ArraySpec, Inputs, Node, Specs, Tape};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::control_flow;
use crate::source_line::with_source_line;

/// The source of a step's input or of a program's output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Operand {
    /// An argument, or an output of an earlier step: arguments come first.
    Slot(u32),
    /// A constant, recorded again at each replay, so that a program keeps no memory alive for it.
    Constant(Box<(ArraySpec, Scalar)>),
}

impl Operand {
    /// Its spec, given the specs of the slots.
    pub fn spec<'a>(&'a self, slots: &'a [ArraySpec]) -> &'a ArraySpec {
        match self {
            Operand::Slot(slot) => &slots[*slot as usize],
            Operand::Constant(constant) => &constant.0,
        }
    }

    /// As [`Operand::spec`], for slots that may be fewer than the operand was written for.
    fn checked_spec<'a>(&'a self, slots: &'a [ArraySpec]) -> Result<&'a ArraySpec> {
        match self {
            Operand::Slot(slot) if *slot as usize >= slots.len() => {
                bail!(Value("program"), "slot {slot} is read before it is written")
            }
            Operand::Slot(_) | Operand::Constant(_) => Ok(self.spec(slots)),
        }
    }

    /// The array it refers to, given the arrays in the slots.
    pub(crate) fn of(&self, slots: &[Array]) -> Array {
        match self {
            Operand::Slot(slot) => slots[*slot as usize].clone(),
            Operand::Constant(constant) => constant_of(constant),
        }
    }
}

/// An array filled with the constant.
pub(crate) fn constant_of((spec, value): &(ArraySpec, Scalar)) -> Array {
    Array::full(spec.shape.clone(), *value, spec.dtype)
}

/// A node to record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// The stream it runs on; not saved in files.
    #[serde(skip, default = "default_stream")]
    pub stream: Stream,
    /// Its inputs.
    pub inputs: SmallVec<[Operand; 3]>,
    /// The number of outputs.
    pub outputs: u32,
    /// The line of the user's program that recorded it.
    #[serde(skip)]
    pub origin: SourceLine,
}

/// A line of the user's program, if source lines are recorded. It does not take part in comparisons and hashes.
#[derive(Clone, Debug, Default)]
pub struct SourceLine(pub Option<Arc<str>>);

impl PartialEq for SourceLine {
    fn eq(&self, _: &SourceLine) -> bool {
        true
    }
}
impl Eq for SourceLine {}
impl Hash for SourceLine {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

fn default_stream() -> Stream {
    Stream::CPU
}

impl Step {
    /// The step that records a node again; `operand` tells where an input is found.
    pub(crate) fn of(node: &Node, operand: impl Fn(&Array) -> Operand) -> Step {
        Step {
            op: node.op().clone(),
            stream: node.stream(),
            inputs: node.inputs().iter().map(operand).collect(),
            outputs: node.outputs.len() as u32,
            origin: SourceLine(node.origin().cloned()),
        }
    }

    /// Specs of its outputs, given the specs of the slots before it.
    pub(crate) fn infer(&self, slots: &[ArraySpec]) -> Result<Specs> {
        let inputs: SmallVec<[&ArraySpec; 4]> =
            self.inputs.iter().map(|operand| operand.spec(slots)).collect();
        self.op.infer(&inputs)
    }
}

/// A function as a list of steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Program {
    /// Specs of the arguments: first those of the function, then those it captured.
    pub arguments: Vec<ArraySpec>,
    /// The operations, inputs before users.
    pub steps: Vec<Step>,
    /// The values that the function returns.
    pub outputs: Vec<Operand>,
}

impl Program {
    /// The function that computed `outputs` from `placeholders`, and the arrays it captured: the program's last arguments.
    ///
    /// The placeholders are those of one trace. Arrays that do not depend on them are captured, except for constants.
    pub fn close(placeholders: &[Array], outputs: &[Array]) -> (Program, Vec<Array>) {
        let tape = Tape::traced(placeholders, outputs);
        let argument_count = placeholders.len();
        let mut captured: Vec<Array> = Vec::new();
        let mut captured_slots: IdMap<(usize, u32), u32> = IdMap::default();
        for array in tape.nodes.iter().flat_map(|node| node.inputs()).chain(outputs.iter().cloned()) {
            if tape.slot(&array).is_none() && array.constant().is_none() {
                captured_slots.entry(array.id()).or_insert_with(|| {
                    captured.push(array);
                    (argument_count + captured.len() - 1) as u32
                });
            }
        }
        // The tape numbers placeholders first and then its nodes' outputs in order.
        let slot =
            |on_tape: usize| (on_tape + if on_tape < argument_count { 0 } else { captured.len() }) as u32;
        let operand = |array: &Array| match (tape.slot(array), array.constant()) {
            (Some(on_tape), _) => Operand::Slot(slot(on_tape)),
            (None, Some(value)) => Operand::Constant(Box::new((array.spec().clone(), value))),
            (None, None) => Operand::Slot(captured_slots[&array.id()]),
        };
        let steps = tape.nodes.iter().map(|node| Step::of(node, operand));
        let program = Program {
            steps: steps.collect(),
            outputs: outputs.iter().map(operand).collect(),
            arguments: placeholders.iter().chain(&captured).map(|array| array.spec().clone()).collect(),
        };
        (program, captured)
    }

    /// Record the steps on `arguments`, the captured arrays last.
    pub fn replay(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        ensure!(
            arguments.len() == self.arguments.len(),
            Value("program"),
            "got {} arguments, expected {}",
            arguments.len(),
            self.arguments.len()
        );
        let mut slots: Vec<Array> = Vec::with_capacity(self.slots());
        slots.extend_from_slice(arguments);
        for step in &self.steps {
            let inputs: Inputs = step.inputs.iter().map(|operand| operand.of(&slots)).collect();
            let _origin = with_source_line(step.origin.0.clone());
            slots.extend(control_flow::record_again(&step.op, inputs, step.stream)?);
        }
        Ok(self.outputs.iter().map(|operand| operand.of(&slots)).collect())
    }

    /// Specs of the outputs of each step.
    pub fn specs(&self) -> Result<Vec<Specs>> {
        let mut slots: Vec<ArraySpec> = Vec::with_capacity(self.slots());
        slots.extend_from_slice(&self.arguments);
        self.steps
            .iter()
            .map(|step| {
                let specs = step.infer(&slots)?;
                slots.extend(specs.iter().cloned());
                Ok(specs)
            })
            .collect()
    }

    /// Specs of all slots. An error if a step reads a slot before it is written, if `check` refuses its inputs, or if its
    /// operation does. For programs from untrusted sources.
    pub fn checked_slots(&self, check: impl Fn(&Op, &[&ArraySpec]) -> Result<()>) -> Result<Vec<ArraySpec>> {
        let mut specs: Vec<ArraySpec> = self.arguments.clone();
        for step in &self.steps {
            let inferred = {
                let inputs = step.inputs.iter().map(|input| input.checked_spec(&specs));
                let inputs: SmallVec<[&ArraySpec; 4]> = inputs.collect::<Result<_>>()?;
                check(&step.op, &inputs)?;
                step.op.infer(&inputs)?
            };
            let (name, recorded, count) = (step.op.name(), step.outputs as usize, inferred.len());
            ensure!(recorded == count, Value("program"), "{name} has {recorded} outputs, expected {count}");
            specs.extend(inferred);
        }
        for output in &self.outputs {
            output.checked_spec(&specs)?;
        }
        Ok(specs)
    }

    /// Which outputs depend on an argument for which `from` is true.
    pub(crate) fn reached(&self, from: &[bool]) -> Vec<bool> {
        let mut slots = Vec::with_capacity(self.slots());
        slots.extend_from_slice(from);
        let holds = |operand: &Operand, slots: &[bool]| match operand {
            Operand::Slot(slot) => slots[*slot as usize],
            Operand::Constant(_) => false,
        };
        for step in &self.steps {
            let depends = step.inputs.iter().any(|operand| holds(operand, &slots));
            slots.extend(std::iter::repeat_n(depends, step.outputs as usize));
        }
        self.outputs.iter().map(|operand| holds(operand, &slots)).collect()
    }

    /// The same function with more arguments: argument `i` becomes argument `indices[i]`.
    pub(crate) fn among(mut self, arguments: Vec<ArraySpec>, indices: &[usize]) -> Program {
        let argument_count = self.arguments.len();
        let renumber = |operand: &mut Operand| match operand {
            Operand::Slot(slot) if (*slot as usize) < argument_count => {
                *slot = indices[*slot as usize] as u32;
            }
            Operand::Slot(slot) => *slot = (*slot as usize - argument_count + arguments.len()) as u32,
            Operand::Constant(_) => {}
        };
        self.steps.iter_mut().flat_map(|step| &mut step.inputs).for_each(renumber);
        self.outputs.iter_mut().for_each(renumber);
        self.arguments = arguments;
        self
    }

    /// Number of arguments and outputs of all steps.
    pub fn slots(&self) -> usize {
        self.arguments.len() + self.steps.iter().map(|step| step.outputs as usize).sum::<usize>()
    }
}

impl fmt::Display for ArraySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        write!(f, "{}[{}]", self.dtype, lengths.join(","))
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Slot(slot) => write!(f, "%{slot}"),
            Operand::Constant(constant) => write!(f, "{}", constant.1),
        }
    }
}

/// One line a step, such as `%3 = multiply %1 %2 : float32[4,5]`, after the arguments and before the returned values.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (slot, spec) in self.arguments.iter().enumerate() {
            writeln!(f, "%{slot} : {spec}")?;
        }
        let specs = self.specs().map_err(|_| fmt::Error)?;
        let mut next = self.arguments.len();
        for (step, specs) in self.steps.iter().zip(specs) {
            for output in 0..specs.len() {
                write!(f, "%{} ", next + output)?;
            }
            next += specs.len();
            write!(f, "= {}", step.op.name())?;
            if let Op::Fused(fused) = &step.op {
                let first = if fused.0.factors() > 0 { "matmul; " } else { "" };
                write!(f, "({first}{})", fused.0.tape)?;
            }
            for operand in &step.inputs {
                write!(f, " {operand}")?;
            }
            let specs: Vec<String> = specs.iter().map(ToString::to_string).collect();
            writeln!(f, " : {}", specs.join(" "))?;
        }
        write!(f, "return")?;
        self.outputs.iter().try_for_each(|operand| write!(f, " {operand}"))
    }
}
