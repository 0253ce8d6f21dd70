//! From drafts of instructions to instructions: neighbours become chains, and values find their registers.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::isa::level;
use umber_types::DType;

use super::program::{Instruction, Location, Output, Program};
use crate::elementwise::Entry;
use crate::elementwise::chain::{self, Chain, Link, Op, Source};

/// A step before it is known how it will run.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    /// The block function, unless only chains do it.
    pub(super) entry: Option<Entry>,
    /// How a chain would do it.
    pub(super) form: LinkForm,
    /// The computing dtype of the operands.
    pub(super) dtype: DType,
    pub(super) value: u32,
    pub(super) arguments: [u32; 3],
}

/// What a step is to a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkForm {
    /// Nothing: it has a block function of its own.
    Call,
    Unary(Op),
    Binary(Op),
    /// `a b + c`, rounded twice.
    MultiplyAdd,
    /// 32-bit integers made float32, which is the dtype of such a draft.
    Convert,
    /// The value itself, which is stored as something else.
    Pass,
}

impl Draft {
    /// The arguments it has.
    fn operands(&self) -> &[u32] {
        match self.form {
            LinkForm::Unary(_) | LinkForm::Convert | LinkForm::Pass => &self.arguments[..1],
            LinkForm::Binary(_) => &self.arguments[..2],
            LinkForm::MultiplyAdd | LinkForm::Call => &self.arguments,
        }
    }

    /// The loop of chains that could have it as a link.
    fn chain(&self) -> Option<Chain> {
        if self.form == LinkForm::Call { None } else { chain::chain(self.dtype) }
    }

    /// Can it take a value from the accumulator, and need it nowhere else?
    fn takes_over(&self, value: u32) -> bool {
        let [a, b, c] = self.arguments;
        match self.form {
            LinkForm::Call | LinkForm::Convert => false,
            LinkForm::Unary(_) | LinkForm::Pass => a == value,
            LinkForm::Binary(_) => a == value || b == value,
            LinkForm::MultiplyAdd => (a == value || b == value) && c != value,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy)]
pub(super) struct Value {
    /// Lives in a register of its own for the whole run.
    pub(super) is_live_out: bool,
    /// Its bits, if it is a constant.
    pub(super) constant: Option<u64>,
    /// The 16-bit dtype of an input that chains widen.
    narrow: Option<DType>,
    /// The draft that makes it, if one does.
    maker: usize,
    /// Does any step read it but from the accumulator, right after it is made?
    is_stored: bool,
    /// Do only links of the chain that makes it read it?
    is_local: bool,
}

impl Value {
    pub(super) fn new(is_live_out: bool, constant: Option<u64>) -> Value {
        Value { is_live_out, constant, narrow: None, maker: usize::MAX, is_stored: false, is_local: false }
    }
}

/// Drafts that become one instruction.
struct Group {
    drafts: Range<usize>,
    chain: Option<Chain>,
}

/// What is known of all values, and the program so far.
pub(super) struct Linker {
    pub(super) drafts: SmallVec<[Draft; 8]>,
    pub(super) values: SmallVec<[Value; 8]>,
    pub(super) program: Program,
}

impl Linker {
    /// The program, with instructions for all drafts.
    pub(super) fn finish(mut self) -> Program {
        for output in &self.program.outputs {
            self.values[output.value as usize].is_live_out = true;
        }
        let groups = self.groups();
        self.classify(&groups);
        for group in &groups {
            self.emit(group);
        }
        self.drop_constants();
        self.allocate();
        self.program
    }

    /// Neighbours that one chain can compute, if that is worth it, and the others one by one.
    fn groups(&self) -> SmallVec<[Group; 8]> {
        let mut groups: SmallVec<[Group; 8]> = SmallVec::new();
        let mut begin = 0;
        while begin < self.drafts.len() {
            let first = &self.drafts[begin];
            let chain = first.chain();
            let follows = |draft: &&Draft| draft.form != LinkForm::Call && draft.dtype == first.dtype;
            let length = match chain {
                Some(_) => self.drafts[begin..].iter().take_while(follows).count(),
                None => 1,
            };
            let end = begin + length;
            let pays = length > 1 || self.uses_float16(first);
            groups.push(Group { drafts: begin..end, chain: chain.filter(|_| pays) });
            begin = end;
        }
        groups
    }

    /// Does a step read or make what is stored as 16-bit floats?
    fn uses_float16(&self, draft: &Draft) -> bool {
        let reads = |&value: &u32| self.float16_input(value).is_some();
        let makes = |output: &Output| output.value == draft.value && output.dtype.is_half();
        draft.operands().iter().any(reads) || self.program.outputs.iter().any(makes)
    }

    fn float16_input(&self, value: u32) -> Option<DType> {
        self.program.inputs.get(value as usize).copied().filter(|dtype| dtype.is_half())
    }

    /// Find out which inputs chains widen, and which values have to be stored where.
    fn classify(&mut self, groups: &[Group]) {
        for input in 0..self.program.inputs.len() {
            self.values[input].narrow = self.float16_input(input as u32);
        }
        for output in &self.program.outputs {
            self.values[output.value as usize].narrow = None;
        }
        for group in groups {
            for at in group.drafts.clone() {
                let draft = self.drafts[at];
                for &operand in draft.operands() {
                    let value = &mut self.values[operand as usize];
                    let is_made_here = (group.drafts.start..at).contains(&value.maker);
                    let is_held = is_made_here && value.maker + 1 == at && draft.takes_over(operand);
                    value.is_local &= is_made_here;
                    value.is_stored |= !is_held;
                    if group.chain.is_none() {
                        value.narrow = None;
                    }
                }
                let value = &mut self.values[draft.value as usize];
                value.maker = at;
                value.is_local = group.chain.is_some() && !value.is_live_out;
            }
        }
    }

    /// The instruction of a group.
    fn emit(&mut self, group: &Group) {
        let Some(run) = group.chain else {
            let Draft { entry, value, arguments, .. } = self.drafts[group.drafts.start];
            let entry = entry.expect("a step that no chain does has a block function");
            let kernel = entry.kernels[level()];
            self.program.instructions.push(Instruction::Call {
                kernel,
                exact: entry.exact,
                value,
                arguments,
            });
            if let ([draft], [output]) = (&self.drafts[..], &mut self.program.outputs[..]) {
                if let Some(kernels) = entry.nontemporal {
                    let kernel = kernels[level()];
                    output.streams = output.direct;
                    self.program.nontemporal =
                        Some(Instruction::Call { kernel, exact: entry.exact, value, arguments });
                } else {
                    self.program.nontemporal = draft.chain().map(|run| self.chain(group, run));
                }
            }
            return;
        };
        let chain = self.chain(group, run);
        self.program.instructions.push(chain);
    }

    /// A chain of a group's drafts.
    fn chain(&mut self, group: &Group, run: Chain) -> Instruction {
        let begin = self.program.links.len();
        let mut held = None;
        for at in group.drafts.clone() {
            let draft = self.drafts[at];
            let [a, b, c] = draft.arguments;
            match draft.form {
                LinkForm::Unary(op) => {
                    self.hold(a, &mut held);
                    self.link(op, Source::Accumulator, a);
                }
                LinkForm::Binary(op) if held == Some(b) && a != b => self.apply(op.swapped(), a, held),
                LinkForm::Binary(op) => {
                    self.hold(a, &mut held);
                    self.apply(op, b, held);
                }
                LinkForm::MultiplyAdd => {
                    let other = if held == Some(b) { a } else { b };
                    if held != Some(b) {
                        self.hold(a, &mut held);
                    }
                    self.apply(Op::Multiply, other, held);
                    self.apply(Op::Add, c, None);
                }
                LinkForm::Convert => self.link(Op::Load, Source::Integers, a),
                LinkForm::Pass => self.hold(a, &mut held),
                LinkForm::Call => unreachable!("chains have links only"),
            }
            held = Some(draft.value);
            self.keep(draft.value);
        }
        Instruction::Chain { run, links: begin..self.program.links.len() }
    }

    /// Have a value in the accumulator.
    fn hold(&mut self, value: u32, held: &mut Option<u32>) {
        if *held != Some(value) {
            self.apply(Op::Load, value, None);
            *held = Some(value);
        }
    }

    /// A link that reads an operand, which the accumulator may hold.
    fn apply(&mut self, op: Op, operand: u32, held: Option<u32>) {
        let value = self.values[operand as usize];
        let source = match (value.narrow, value.constant) {
            _ if held == Some(operand) => Source::Accumulator,
            (Some(DType::BFloat16), _) => Source::BFloat16,
            (Some(_), _) => Source::Float16,
            (None, Some(_)) => Source::Constant,
            (None, None) => Source::Elements,
        };
        self.link(op, source, operand);
    }

    fn link(&mut self, op: Op, source: Source, value: u32) {
        let Value { is_local, constant, .. } = self.values[value as usize];
        let constant = constant.unwrap_or(0);
        self.program.links.push(Link { op, source, is_local, value, constant });
    }

    /// Store what the accumulator holds, if anything will read it: as it is, and as 16-bit floats for outputs of such.
    fn keep(&mut self, value: u32) {
        let Value { is_live_out, is_stored, .. } = self.values[value as usize];
        if !is_live_out {
            if is_stored {
                self.link(Op::Store, Source::Elements, value);
            }
            return;
        }
        let mut is_whole = false;
        let mut rounded: Option<(DType, u32)> = None;
        for at in 0..self.program.outputs.len() {
            let Output { value: made, dtype, .. } = self.program.outputs[at];
            if made != value {
                continue;
            }
            if !dtype.is_half() {
                is_whole = true;
                // What is read again would have to come back from memory.
                self.program.outputs[at].streams = !is_stored;
                continue;
            }
            let again = rounded.filter(|&(before, _)| before == dtype);
            let narrow = again.map_or_else(|| self.round(dtype), |(_, narrow)| narrow);
            rounded = Some((dtype, narrow));
            let is_first = again.is_none();
            self.program.outputs[at] =
                Output { value: narrow, dtype, direct: is_first, streams: is_first, is_narrow: true };
        }
        self.values[value as usize].is_live_out = is_whole;
        if is_whole || is_stored {
            let op = if is_stored { Op::Store } else { Op::Output };
            self.link(op, Source::Elements, value);
        }
    }

    /// Store what the accumulator holds as 16-bit floats, which are a value of their own.
    fn round(&mut self, dtype: DType) -> u32 {
        let narrow = self.values.len() as u32;
        self.values.push(Value::new(true, None));
        let source = if dtype == DType::BFloat16 { Source::BFloat16 } else { Source::Float16 };
        self.link(Op::Output, source, narrow);
        narrow
    }

    /// Keep the constants that are read from registers, or stored.
    fn drop_constants(&mut self) {
        let mut is_kept: SmallVec<[bool; 16]> = SmallVec::from_elem(false, self.values.len());
        self.program.accesses(|read, _| read.iter().for_each(|&value| is_kept[value as usize] = true));
        self.program.outputs.iter().for_each(|output| is_kept[output.value as usize] = true);
        self.program.constants.retain(|constant| is_kept[constant.value as usize]);
    }

    /// Give each value that is kept in memory a register. No block function writes a register that it also reads; links may,
    /// since they go through the elements together.
    fn allocate(&mut self) {
        let inputs = self.program.inputs.len();
        for (input, value) in self.values[..inputs].iter().enumerate() {
            let is_widened = value.narrow.is_none() && self.program.inputs[input].is_half();
            self.program.widened.push(is_widened);
        }
        let mut last: SmallVec<[usize; 16]> = SmallVec::from_elem(0, self.values.len());
        let mut time = 0;
        self.program.accesses(|read, written| {
            time += 1;
            read.iter().chain(&written).for_each(|&value| last[value as usize] = time);
        });
        let mut locations: SmallVec<[Location; 8]> =
            SmallVec::from_elem(Location::Nowhere, self.values.len());
        let (mut registers, mut locals) = (RegisterAllocator::default(), RegisterAllocator::default());
        let constants = self.program.constants.iter().map(|constant| constant.value);
        let outputs = self.program.outputs.iter().map(|output| output.value);
        for value in (0..inputs as u32).chain(constants).chain(outputs) {
            let home = &mut locations[value as usize];
            if *home == Location::Nowhere {
                *home = Location::Register(registers.take());
            }
        }
        let passes = |value: u32| !self.values[value as usize].is_live_out;
        let mut time = 0;
        self.program.accesses(|read, written| {
            time += 1;
            if let Some(value) = written
                && passes(value)
            {
                let is_local = self.values[value as usize].is_local;
                locations[value as usize] = if is_local {
                    Location::Local(locals.take())
                } else {
                    Location::Register(registers.take())
                };
            }
            for (i, &value) in read.iter().chain(&written).enumerate() {
                debug_assert_ne!(locations[value as usize], Location::Nowhere, "what is read was stored");
                let is_over = last[value as usize] == time && passes(value);
                if !is_over || read[..i.min(read.len())].contains(&value) {
                    continue;
                }
                match locations[value as usize] {
                    Location::Register(register) => registers.release(register),
                    Location::Local(local) => locals.release(local),
                    Location::Nowhere => {}
                }
            }
        });
        self.program.locations = locations;
        self.program.register_count = registers.count as usize;
        self.program.local_count = locals.count as usize;
    }
}

/// Places to keep values in, and those that are free again.
#[derive(Default)]
struct RegisterAllocator {
    count: u32,
    free: SmallVec<[u32; 8]>,
}

impl RegisterAllocator {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn release(&mut self, place: u32) {
        self.free.push(place);
    }
}

impl Program {
    /// Call `body(what is read, what is written)` for each access to values in memory, in order.
    fn accesses(&self, mut body: impl FnMut(&[u32], Option<u32>)) {
        for instruction in &self.instructions {
            match instruction {
                Instruction::Call { arguments, value, .. } => body(arguments, Some(*value)),
                Instruction::Chain { links, .. } => {
                    for link in &self.links[links.clone()] {
                        match (link.op, link.source) {
                            (Op::Store | Op::Output, _) => body(&[], Some(link.value)),
                            (_, Source::Constant | Source::Accumulator) => {}
                            _ => body(&[link.value], None),
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
