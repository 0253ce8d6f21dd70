//! A fused region and the tape it becomes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use umber_kernels::matmul::matmul_program;
use umber_kernels::reduce::reduce_tape;
use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, Tape, ValueId};
use umber_types::{DType, Layout, Result, Shape};

use super::partition::{Members, Role, role};
use super::programs::{Key, Programs};
use crate::graph::walk::AddressHasher;
use crate::graph::{Array, ArraySpec, Node, Specs};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::cast::Cast;
use crate::primitives::matmul::MatMul;
use crate::primitives::reduce::Reduce;
use crate::primitives::rules::{broadcast, reshape};
use crate::primitives::select::Select;
use crate::primitives::unary::Unary;

thread_local! {
    static PROGRAMS: RefCell<Programs<Tape, Arc<Program>>> = const { RefCell::new(Programs::new()) };
}

impl Key for Tape {
    fn number(&self) -> usize {
        let mut hasher = AddressHasher::default();
        self.hash(&mut hasher);
        // The high bits depend on all others.
        (hasher.finish() >> 32) as usize
    }

    fn program(&self) -> Result<Program> {
        Program::new(self)
    }
}

/// What one kernel does besides computing elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// It folds the one value that the elements lead to.
    Reduction(Reduce),
    /// It multiplies two matrices, the first two inputs: the product is the tape's first.
    Product,
}

/// Elementwise nodes as one program, perhaps with a reduction of the one value that it leads to, or with the product of
/// matrices that it begins with.
#[derive(Debug)]
pub struct Region {
    /// The program.
    pub tape: Tape,
    /// The shape of every value in it.
    pub shape: Shape,
    /// What is done besides.
    pub beside: Beside,
    program: OnceLock<Arc<Program>>,
}

impl Region {
    /// A region that computes `tape` at every index of `shape`, and what is asked for besides.
    pub fn new(tape: Tape, shape: Shape, beside: Beside) -> Region {
        Region { tape, shape, beside, program: OnceLock::new() }
    }

    /// How many inputs are factors of the product.
    pub fn factors(&self) -> usize {
        match self.beside {
            Beside::Product => 2,
            Beside::Nothing | Beside::Reduction(_) => 0,
        }
    }

    /// The dtypes of the inputs that are not factors.
    pub fn elements(&self) -> &[DType] {
        &self.tape.inputs[self.factors() / 2..]
    }

    /// The layout of an input as [`Region::run`] takes it.
    pub fn spread<'a>(&self, input: usize, layout: &'a Layout) -> Cow<'a, Layout> {
        if input < self.factors() { Cow::Borrowed(layout) } else { spread(layout, &self.shape) }
    }

    /// May outputs lie where inputs do? Not where inputs are read after outputs were written elsewhere.
    pub fn may_overwrite(&self) -> bool {
        self.beside == Beside::Nothing
    }

    /// What the outputs are.
    pub fn specs(&self) -> Result<Specs> {
        let dtypes = self.tape.dtypes();
        let spec = |&value: &ValueId| ArraySpec { shape: self.shape.clone(), dtype: dtypes[value as usize] };
        let specs: Specs = self.tape.outputs.iter().map(spec).collect();
        match &self.beside {
            Beside::Reduction(reduction) => reduction.infer(&[&specs[0]]),
            Beside::Nothing | Beside::Product => Ok(specs),
        }
    }

    /// Make the program, which fails if the tape is not well formed.
    pub fn prepare(&self) -> Result<&Program> {
        if let Some(program) = self.program.get() {
            return Ok(program);
        }
        let program = PROGRAMS.with_borrow_mut(|programs| programs.get(&self.tape))?;
        Ok(self.program.get_or_init(|| program))
    }

    /// Compute the outputs from inputs under the region's shape, of which factors have their own.
    pub fn run(&self, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<()> {
        let program = self.prepare()?;
        match &self.beside {
            Beside::Reduction(Reduce { kind, axes }) => {
                let both = (&self.tape, program);
                reduce_tape(*kind, both, inputs, &self.shape, axes, outputs[0].reborrow());
            }
            Beside::Product => matmul_program(inputs[0], inputs[1], program, &inputs[2..], outputs),
            Beside::Nothing => program.run(inputs, outputs),
        }
        Ok(())
    }

    /// The same computation as ordinary nodes on other inputs.
    pub fn replay(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let (factors, elements) = inputs.split_at(self.factors());
        let mut values: Vec<Array> = Vec::with_capacity(self.tape.inputs.len() + self.tape.steps.len());
        if let [a, b] = factors {
            values.push(reshape(&Array::record_one(MatMul, &[a, b])?, self.shape.clone())?);
        }
        for input in elements {
            values.push(broadcast(input, &self.shape)?);
        }
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
        let outputs = self.tape.outputs.iter().map(|&id| &values[id as usize]);
        match &self.beside {
            Beside::Reduction(reduction) => {
                outputs.map(|value| Array::record_one(reduction.clone(), &[value])).collect()
            }
            Beside::Nothing | Beside::Product => Ok(outputs.cloned().collect()),
        }
    }
}

/// The layout under a shape that its own broadcasts to.
pub(crate) fn spread<'a>(layout: &'a Layout, shape: &Shape) -> Cow<'a, Layout> {
    if layout.shape == *shape { Cow::Borrowed(layout) } else { Cow::Owned(layout.broadcast_to(shape)) }
}

/// A region with the arrays it reads.
#[derive(Debug)]
pub struct Built {
    /// The program.
    pub region: Region,
    /// Its inputs; the shapes of those that are not factors broadcast to the region's.
    pub inputs: SmallVec<[Array; 4]>,
}

/// What an operand of a member is once constants, broadcasts and copies are folded in.
enum Operand<'a> {
    /// One of the members, by its number among them.
    Member(usize),
    /// The product that the region begins with.
    Product,
    Constant(Step),
    Input(Cow<'a, Array>),
}

fn resolve<'a>(
    array: &'a Array,
    members: &Members,
    index: &impl Fn(&Arc<Node>) -> Option<usize>,
) -> Operand<'a> {
    let mut array = Cow::Borrowed(array);
    loop {
        if let Some(value) = array.constant() {
            return Operand::Constant(Step::Constant { value, dtype: array.dtype() });
        }
        let Some(i) = index(array.node()) else { return Operand::Input(array) };
        match (role(array.node().op()), members.position(i as u32)) {
            (Role::Step, Some(number)) => return Operand::Member(number),
            (Role::Product | Role::Reshape, Some(_)) => return Operand::Product,
            (Role::Broadcast | Role::Alias, _) if !array.is_evaluated() => {
                let Some(input) = array.node().lock_inputs().first().cloned() else {
                    return Operand::Input(array);
                };
                array = Cow::Owned(input);
            }
            _ => return Operand::Input(array),
        }
    }
}

/// The tape of a region found by `partition` among nodes that `node_at` finds by their place.
pub fn build<'a>(
    node_at: impl Fn(u32) -> &'a Arc<Node>,
    members: &Members,
    index: impl Fn(&Arc<Node>) -> Option<usize>,
) -> Built {
    let &root = members.nodes.last().expect("a region has a root");
    let is = |member: u32, wanted: Role| role(node_at(member).op()) == wanted;
    let product = members.nodes.iter().find(|&&member| is(member, Role::Product));
    let factors = product.map(|&product| node_at(product).inputs());
    let beside = match (node_at(root).op(), &factors) {
        (Op::Reduce(reduction), _) => Beside::Reduction(reduction.clone()),
        (_, Some(_)) => Beside::Product,
        (_, None) => Beside::Nothing,
    };
    let is_step = |member: &u32| is(*member, Role::Step);
    let last = members.nodes.iter().rposition(is_step).expect("a region has a step");
    let shape = node_at(members.nodes[last]).outputs[0].spec.shape.clone();
    let before = u32::from(factors.is_some());
    let mut inputs: SmallVec<[Array; 4]> = SmallVec::new();
    let mut tape = Tape { steps: Vec::with_capacity(members.nodes.len()), ..Tape::default() };
    // One a member; what is no step has none.
    let mut numbers: SmallVec<[ValueId; 8]> = SmallVec::from_elem(0, members.nodes.len());
    for (place, _) in members.nodes.iter().enumerate().filter(|(_, member)| is_step(member)) {
        let node = node_at(members.nodes[place]);
        let mut values = [0; 3];
        for (value, input) in values.iter_mut().zip(node.lock_inputs().iter()) {
            *value = match resolve(input, members, &index) {
                Operand::Input(array) => before + place_in(&mut inputs, array),
                Operand::Product => 0,
                Operand::Member(number) => numbers[number],
                Operand::Constant(step) => push_once(&mut tape, step),
            };
        }
        let step = match node.op() {
            Op::Unary(Unary(kind)) => Step::Unary { kind: *kind, x: values[0] },
            Op::Binary(Binary(kind)) => Step::Binary { kind: *kind, a: values[0], b: values[1] },
            Op::Select(Select) => Step::Select { condition: values[0], a: values[1], b: values[2] },
            Op::Cast(Cast(to)) => Step::Cast { x: values[0], to: *to },
            other => unreachable!("{} is not a step of a region", other.name()),
        };
        tape.steps.push(step);
        numbers[place] = MADE | (tape.steps.len() as u32 - 1);
    }
    let factor = factors.iter().map(|factors| factors[0].dtype());
    tape.inputs = factor.chain(inputs.iter().map(Array::dtype)).collect();
    let first = tape.inputs.len() as u32;
    tape.steps.iter_mut().for_each(|step| settle(step, first));
    numbers.iter_mut().for_each(|number| *number = settled(*number, first));
    // All steps lead to a reduction, so the last one leads there at once.
    match beside {
        Beside::Reduction(_) => tape.outputs.push(numbers[last]),
        Beside::Nothing | Beside::Product => {
            let number = |&output| numbers[members.position(output).expect("outputs are members")];
            tape.outputs.extend(members.outputs.iter().map(number));
        }
    }
    if let Some(factors) = factors {
        inputs.insert_many(0, factors);
    }
    Built { region: Region::new(tape, shape, beside), inputs }
}

/// Marks a value that a step makes, by the number of the step, until all inputs are known, which are numbered first.
const MADE: ValueId = 1 << 31;

fn settled(value: ValueId, first: u32) -> ValueId {
    if value & MADE == 0 { value } else { first + (value & !MADE) }
}

/// Give the operands of a step their numbers.
fn settle(step: &mut Step, first: u32) {
    let operands: [Option<&mut ValueId>; 3] = match step {
        Step::Constant { .. } => [None, None, None],
        Step::Unary { x, .. } | Step::Cast { x, .. } => [Some(x), None, None],
        Step::Binary { a, b, .. } => [Some(a), Some(b), None],
        Step::Select { condition, a, b } => [Some(condition), Some(a), Some(b)],
    };
    operands.into_iter().flatten().for_each(|value| *value = settled(*value, first));
}

/// The number of an array among the inputs, where it is added if it is not there. They are few.
fn place_in(inputs: &mut SmallVec<[Array; 4]>, array: Cow<'_, Array>) -> u32 {
    let place = inputs.iter().position(|input| input.is_same(&array)).unwrap_or_else(|| {
        inputs.push(array.into_owned());
        inputs.len() - 1
    });
    place as u32
}

/// The value of a constant step, added if the tape does not have it.
fn push_once(tape: &mut Tape, step: Step) -> ValueId {
    let place = tape.steps.iter().position(|other| *other == step).unwrap_or_else(|| {
        tape.steps.push(step);
        tape.steps.len() - 1
    });
    MADE | place as u32
}
