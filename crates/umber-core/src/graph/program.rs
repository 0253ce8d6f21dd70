//! Program: a function as data. Steps that make outputs from arguments, to be recorded on any arguments.
//!
//! What a function captured besides its arguments becomes arguments too, so that a program holds no arrays: it can be
//! compared, hashed and stored, and derivatives reach what was captured. Printed, it is a line a step.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, Scalar, Stream, bail, ensure};

use super::walk::IdMap;
use super::{Array, ArraySpec, Inputs, Specs, Tape};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::control_flow;
use crate::source_line::with_source_line;

/// Where a step finds an input, or a program an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Operand {
    /// An argument, or an output of an earlier step: arguments come first.
    Slot(u32),
    /// A constant; recorded anew each time, so that holding it does not make it be stored.
    Constant(Box<(ArraySpec, Scalar)>),
}

impl Operand {
    /// What it is, given what the slots are.
    pub fn spec<'a>(&'a self, slots: &'a [ArraySpec]) -> &'a ArraySpec {
        match self {
            Operand::Slot(slot) => &slots[*slot as usize],
            Operand::Constant(constant) => &constant.0,
        }
    }

    /// As [`Operand::spec`], where the slots may not be those it was written for.
    fn checked_spec<'a>(&'a self, slots: &'a [ArraySpec]) -> Result<&'a ArraySpec> {
        match self {
            Operand::Slot(slot) if *slot as usize >= slots.len() => {
                bail!(Value("program"), "slot {slot} is read before it is written")
            }
            Operand::Slot(_) | Operand::Constant(_) => Ok(self.spec(slots)),
        }
    }

    /// The array it stands for, given those in the slots.
    pub(crate) fn of(&self, slots: &[Array]) -> Array {
        match self {
            Operand::Slot(slot) => slots[*slot as usize].clone(),
            Operand::Constant(constant) => constant_of(constant),
        }
    }
}

/// The array that is the same everywhere.
pub(crate) fn constant_of((spec, value): &(ArraySpec, Scalar)) -> Array {
    Array::full(spec.shape.clone(), *value, spec.dtype)
}

/// A node to record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// Where it runs; files do not keep it.
    #[serde(skip, default = "default_stream")]
    pub stream: Stream,
    /// What it reads.
    pub inputs: SmallVec<[Operand; 3]>,
    /// How many outputs it has.
    pub outputs: u32,
    /// Which line of the user's program it stands for.
    #[serde(skip)]
    pub origin: SourceLine,
}

/// A line of the user's program, where lines are kept. It is no part of what a program computes.
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
    /// What its outputs are, given what the slots before it are.
    pub(crate) fn infer(&self, slots: &[ArraySpec]) -> Result<Specs> {
        let inputs: SmallVec<[&ArraySpec; 4]> =
            self.inputs.iter().map(|operand| operand.spec(slots)).collect();
        self.op.infer(&inputs)
    }
}

/// Steps that make outputs from arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Program {
    /// What the arguments are: first those of the function, then what it captured.
    pub arguments: Vec<ArraySpec>,
    /// What to record, inputs before users.
    pub steps: Vec<Step>,
    /// What the function returns.
    pub outputs: Vec<Operand>,
}

impl Program {
    /// The function that made `outputs` of `placeholders`, and the arrays it captured: the program's last arguments.
    ///
    /// The placeholders are those of one trace; what does not depend on them is captured, constants excepted.
    pub fn close(placeholders: &[Array], outputs: &[Array]) -> (Program, Vec<Array>) {
        let tape = Tape::traced(placeholders, outputs);
        let given = placeholders.len();
        let mut captured: Vec<Array> = Vec::new();
        let mut places: IdMap<(usize, u32), u32> = IdMap::default();
        for array in tape.nodes.iter().flat_map(|node| node.inputs()).chain(outputs.iter().cloned()) {
            if tape.slot(&array).is_none() && array.constant().is_none() {
                places.entry(array.id()).or_insert_with(|| {
                    captured.push(array);
                    (given + captured.len() - 1) as u32
                });
            }
        }
        // The tape numbers placeholders first and then its nodes' outputs in order.
        let slot = |on_tape: usize| (on_tape + if on_tape < given { 0 } else { captured.len() }) as u32;
        let operand = |array: &Array| match (tape.slot(array), array.constant()) {
            (Some(on_tape), _) => Operand::Slot(slot(on_tape)),
            (None, Some(value)) => Operand::Constant(Box::new((array.spec().clone(), value))),
            (None, None) => Operand::Slot(places[&array.id()]),
        };
        let steps = tape.nodes.iter().map(|node| Step {
            op: node.op().clone(),
            stream: node.stream(),
            inputs: node.inputs().iter().map(operand).collect(),
            outputs: node.outputs.len() as u32,
            origin: SourceLine(node.origin().cloned()),
        });
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

    /// What the outputs of each step are.
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

    /// What every slot holds: an error where a step reads what is not there, `check` refuses it with its inputs, or its
    /// operation does. For programs that somebody else wrote.
    pub fn checked_slots(&self, check: impl Fn(&Op, &[&ArraySpec]) -> Result<()>) -> Result<Vec<ArraySpec>> {
        let mut specs: Vec<ArraySpec> = self.arguments.clone();
        for step in &self.steps {
            let known = {
                let inputs = step.inputs.iter().map(|input| input.checked_spec(&specs));
                let inputs: SmallVec<[&ArraySpec; 4]> = inputs.collect::<Result<_>>()?;
                check(&step.op, &inputs)?;
                step.op.infer(&inputs)?
            };
            let (name, given, count) = (step.op.name(), step.outputs as usize, known.len());
            ensure!(given == count, Value("program"), "{name} has {given} outputs, expected {count}");
            specs.extend(known);
        }
        for output in &self.outputs {
            output.checked_spec(&specs)?;
        }
        Ok(specs)
    }

    /// Which outputs depend on the arguments for which `from` holds?
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

    /// The same function of more arguments: argument `i` is now the one at `places[i]`.
    pub(crate) fn among(mut self, arguments: Vec<ArraySpec>, places: &[usize]) -> Program {
        let given = self.arguments.len();
        let moved = |operand: &mut Operand| match operand {
            Operand::Slot(slot) if (*slot as usize) < given => *slot = places[*slot as usize] as u32,
            Operand::Slot(slot) => *slot = (*slot as usize - given + arguments.len()) as u32,
            Operand::Constant(_) => {}
        };
        self.steps.iter_mut().flat_map(|step| &mut step.inputs).for_each(moved);
        self.outputs.iter_mut().for_each(moved);
        self.arguments = arguments;
        self
    }

    /// Arguments and outputs of all steps.
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

/// `%3 = multiply %1 %2 : float32[4,5]`, and in front and behind what goes in and comes out.
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
