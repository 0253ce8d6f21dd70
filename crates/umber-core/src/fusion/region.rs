//! A fused region and the tape it becomes.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use umber_kernels::tape::Program;
use umber_types::tape::{Step, Tape, ValueId};
use umber_types::{Result, Shape};

use super::partition::{Members, Role, role};
use crate::graph::walk::IdMap;
use crate::graph::{Array, ArraySpec, Node, Specs};
use crate::op::Op;
use crate::primitives::binary::Binary;
use crate::primitives::cast::Cast;
use crate::primitives::rules::broadcast;
use crate::primitives::select::Select;
use crate::primitives::unary::Unary;

/// Elementwise nodes as one program.
#[derive(Debug)]
pub struct Region {
    /// The program.
    pub tape: Tape,
    /// The shape of every value in it.
    pub shape: Shape,
    program: OnceLock<Program>,
}

impl Region {
    /// A region that computes `tape` at every index of `shape`.
    pub fn new(tape: Tape, shape: Shape) -> Region {
        Region { tape, shape, program: OnceLock::new() }
    }

    /// What the outputs are.
    pub fn specs(&self) -> Specs {
        let dtypes = self.tape.dtypes();
        let spec = |&value: &ValueId| ArraySpec { shape: self.shape.clone(), dtype: dtypes[value as usize] };
        self.tape.outputs.iter().map(spec).collect()
    }

    /// The program ready to run; made once.
    pub fn program(&self) -> Result<&Program> {
        if let Some(program) = self.program.get() {
            return Ok(program);
        }
        let program = Program::new(&self.tape)?;
        Ok(self.program.get_or_init(|| program))
    }

    /// The same computation as ordinary nodes on other inputs.
    pub fn replay(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let mut values: Vec<Array> =
            inputs.iter().map(|input| broadcast(input, &self.shape)).collect::<Result<_>>()?;
        for step in &self.tape.steps {
            let at = |id: &ValueId| &values[*id as usize];
            let value = match step {
                Step::Constant { value, dtype } => Array::full(self.shape.clone(), *value, *dtype),
                Step::Unary { kind, x } => Array::record_one(Unary(*kind), &[at(x)])?,
                Step::Binary { kind, a, b } => Array::record_one(Binary(*kind), &[at(a), at(b)])?,
                Step::Select { condition, a, b } => {
                    Array::record_one(Select, &[at(condition), at(a), at(b)])?
                }
                Step::Cast { x, to } => Array::record_one(Cast(*to), &[at(x)])?,
            };
            values.push(value);
        }
        Ok(self.tape.outputs.iter().map(|&id| values[id as usize].clone()).collect())
    }
}

/// A region with the arrays it reads.
#[derive(Debug)]
pub struct Built {
    /// The program.
    pub region: Region,
    /// Its inputs; their shapes broadcast to the region's.
    pub inputs: SmallVec<[Array; 4]>,
}

/// What an operand of a member is once constants, broadcasts and copies are folded in.
enum Operand {
    Member(u32),
    Constant(Step),
    Input(Array),
}

fn resolve(array: &Array, members: &[u32], index: &impl Fn(&Arc<Node>) -> Option<usize>) -> Operand {
    let mut array = array.clone();
    loop {
        if let Some(value) = array.constant() {
            return Operand::Constant(Step::Constant { value, dtype: array.dtype() });
        }
        if let Some(i) = index(array.node()) {
            match role(array.node().op()) {
                Role::Step if members.binary_search(&(i as u32)).is_ok() => return Operand::Member(i as u32),
                Role::Broadcast | Role::Alias if !array.is_evaluated() => {
                    let Some(input) = array.node().lock_inputs().first().cloned() else {
                        return Operand::Input(array);
                    };
                    array = input;
                    continue;
                }
                _ => {}
            }
        }
        return Operand::Input(array);
    }
}

/// The tape of a region found by `partition` among nodes that `node_at` finds by their place.
pub fn build<'a>(
    node_at: impl Fn(u32) -> &'a Arc<Node>,
    members: &Members,
    index: impl Fn(&Arc<Node>) -> Option<usize>,
) -> Built {
    let root = node_at(members.root() as u32);
    let shape = root.outputs[0].spec.shape.clone();
    // Values are numbered after all inputs are known: first count inputs, steps get numbers from there.
    let mut inputs: SmallVec<[Array; 4]> = SmallVec::new();
    let mut input_ids: IdMap<(usize, u32), u32> = IdMap::default();
    let mut operands: Vec<SmallVec<[Operand; 3]>> = Vec::with_capacity(members.nodes.len());
    for &member in &members.nodes {
        let list: SmallVec<[Operand; 3]> = node_at(member)
            .lock_inputs()
            .iter()
            .map(|input| resolve(input, &members.nodes, &index))
            .collect();
        for operand in &list {
            if let Operand::Input(array) = operand {
                input_ids.entry(array.id()).or_insert_with(|| {
                    inputs.push(array.clone());
                    inputs.len() as u32 - 1
                });
            }
        }
        operands.push(list);
    }
    let mut tape = Tape { inputs: inputs.iter().map(Array::dtype).collect(), ..Tape::default() };
    let first = inputs.len() as u32;
    let mut numbers: SmallVec<[ValueId; 8]> = SmallVec::new();
    for (&member, list) in members.nodes.iter().zip(operands) {
        let values: SmallVec<[ValueId; 3]> = list
            .into_iter()
            .map(|operand| match operand {
                Operand::Input(array) => input_ids[&array.id()],
                Operand::Member(i) => {
                    let place = members.nodes.binary_search(&i).expect("resolved as a member");
                    numbers[place]
                }
                Operand::Constant(step) => push_once(&mut tape, first, step),
            })
            .collect();
        let step = match node_at(member).op() {
            Op::Unary(Unary(kind)) => Step::Unary { kind: *kind, x: values[0] },
            Op::Binary(Binary(kind)) => Step::Binary { kind: *kind, a: values[0], b: values[1] },
            Op::Select(Select) => Step::Select { condition: values[0], a: values[1], b: values[2] },
            Op::Cast(Cast(to)) => Step::Cast { x: values[0], to: *to },
            other => unreachable!("{} is not a step of a region", other.name()),
        };
        tape.steps.push(step);
        numbers.push(first + tape.steps.len() as u32 - 1);
    }
    for output in &members.outputs {
        let place = members.nodes.binary_search(output).expect("outputs are members");
        tape.outputs.push(numbers[place]);
    }
    Built { region: Region::new(tape, shape), inputs }
}

/// The value of a constant step, added if the tape does not have it.
fn push_once(tape: &mut Tape, first: u32, step: Step) -> ValueId {
    if let Some(place) = tape.steps.iter().position(|other| *other == step) {
        return first + place as u32;
    }
    tape.steps.push(step);
    first + tape.steps.len() as u32 - 1
}
