//! Lowers drafts to instructions: adjacent drafts are fused into chains, and values are assigned registers.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::isa::level;
use umber_types::DType;

use super::program::{Instruction, Location, Output, Program};
use crate::elementwise::Entry;
use crate::elementwise::chain::{self, Chain, Link, Op, Source};

/// A step before it is assigned to a block function or a chain.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    /// The block function; `None` if only chains implement the step.
    pub(super) entry: Option<Entry>,
    /// The step as a link of a chain.
    pub(super) form: LinkForm,
    /// The computing dtype of the operands.
    pub(super) dtype: DType,
    pub(super) value: u32,
    pub(super) arguments: [u32; 3],
}

/// The form of a step as a link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkForm {
    /// Not a link: the step calls a block function.
    Call,
    Unary(Op),
    Binary(Op),
    /// `a b + c`, rounded twice.
    MultiplyAdd,
    /// int32 to float32; the dtype of such a draft is float32.
    Convert,
    /// The identity, for a value that is stored in another format.
    Pass,
}

impl Draft {
    /// The arguments that the step reads.
    fn operands(&self) -> &[u32] {
        match self.form {
            LinkForm::Unary(_) | LinkForm::Convert | LinkForm::Pass => &self.arguments[..1],
            LinkForm::Binary(_) => &self.arguments[..2],
            LinkForm::MultiplyAdd | LinkForm::Call => &self.arguments,
        }
    }

    /// The loop of chains that supports this draft as a link.
    fn chain(&self) -> Option<Chain> {
        if self.form == LinkForm::Call { None } else { chain::chain(self.dtype) }
    }

    /// True if the draft can read `value` from the accumulator and reads it nowhere else.
    fn can_use_accumulator(&self, value: u32) -> bool {
        let [a, b, c] = self.arguments;
        match self.form {
            LinkForm::Call | LinkForm::Convert => false,
            LinkForm::Unary(_) | LinkForm::Pass => a == value,
            LinkForm::Binary(_) => a == value || b == value,
            LinkForm::MultiplyAdd => (a == value || b == value) && c != value,
        }
    }
}

/// Facts about a value.
#[derive(Clone, Copy)]
pub(super) struct Value {
    /// True if the value has its own register for the whole run.
    pub(super) is_live_out: bool,
    /// The bits of a constant.
    pub(super) constant: Option<u64>,
    /// float16 or bfloat16 for an input that chains widen.
    narrow: Option<DType>,
    /// The index of the draft that computes it, or `usize::MAX`.
    defined_by: usize,
    /// True if a step reads it other than from the accumulator directly after its definition.
    is_stored: bool,
    /// True if only links of the chain that computes it read it.
    is_local: bool,
}

impl Value {
    pub(super) fn new(is_live_out: bool, constant: Option<u64>) -> Value {
        Value {
            is_live_out,
            constant,
            narrow: None,
            defined_by: usize::MAX,
            is_stored: false,
            is_local: false,
        }
    }
}

/// Adjacent drafts that become one instruction.
struct Group {
    drafts: Range<usize>,
    chain: Option<Chain>,
}

/// The state of lowering: all drafts and values, and the program so far.
pub(super) struct Linker {
    pub(super) drafts: SmallVec<[Draft; 8]>,
    pub(super) values: SmallVec<[Value; 8]>,
    pub(super) program: Program,
}

impl Linker {
    /// Lower all drafts and return the program.
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

    /// Groups of adjacent drafts that one chain can compute, where that pays; all others one by one.
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

    /// True if the draft reads or computes a value that is stored as float16 or bfloat16.
    fn uses_float16(&self, draft: &Draft) -> bool {
        let reads = |&value: &u32| self.float16_input(value).is_some();
        let writes = |output: &Output| output.value == draft.value && output.dtype.is_half();
        draft.operands().iter().any(reads) || self.program.outputs.iter().any(writes)
    }

    fn float16_input(&self, value: u32) -> Option<DType> {
        self.program.inputs.get(value as usize).copied().filter(|dtype| dtype.is_half())
    }

    /// Determine which inputs chains widen, and which values must be stored.
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
                    let is_from_this_group = (group.drafts.start..at).contains(&value.defined_by);
                    let is_in_accumulator = is_from_this_group
                        && value.defined_by + 1 == at
                        && draft.can_use_accumulator(operand);
                    value.is_local &= is_from_this_group;
                    value.is_stored |= !is_in_accumulator;
                    if group.chain.is_none() {
                        value.narrow = None;
                    }
                }
                let value = &mut self.values[draft.value as usize];
                value.defined_by = at;
                value.is_local = group.chain.is_some() && !value.is_live_out;
            }
        }
    }

    /// Emit the instruction of a group.
    fn emit(&mut self, group: &Group) {
        let Some(run) = group.chain else {
            let Draft { entry, value, arguments, .. } = self.drafts[group.drafts.start];
            let entry = entry.expect("a step without a chain has a block function");
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

    /// Emit the links of a group's drafts as a chain.
    fn chain(&mut self, group: &Group, run: Chain) -> Instruction {
        let begin = self.program.links.len();
        let mut accumulator = None;
        for at in group.drafts.clone() {
            let draft = self.drafts[at];
            let [a, b, c] = draft.arguments;
            match draft.form {
                LinkForm::Unary(op) => {
                    self.load_accumulator(a, &mut accumulator);
                    self.link(op, Source::Accumulator, a);
                }
                LinkForm::Binary(op) if accumulator == Some(b) && a != b => {
                    self.apply(op.swapped(), a, accumulator);
                }
                LinkForm::Binary(op) => {
                    self.load_accumulator(a, &mut accumulator);
                    self.apply(op, b, accumulator);
                }
                LinkForm::MultiplyAdd => {
                    let other = if accumulator == Some(b) { a } else { b };
                    if accumulator != Some(b) {
                        self.load_accumulator(a, &mut accumulator);
                    }
                    self.apply(Op::Multiply, other, accumulator);
                    self.apply(Op::Add, c, None);
                }
                LinkForm::Convert => self.link(Op::Load, Source::Integers, a),
                LinkForm::Pass => self.load_accumulator(a, &mut accumulator),
                LinkForm::Call => unreachable!("groups with a chain consist of links"),
            }
            accumulator = Some(draft.value);
            self.store(draft.value);
        }
        Instruction::Chain { run, links: begin..self.program.links.len() }
    }

    /// Make sure that the accumulator holds a value.
    fn load_accumulator(&mut self, value: u32, accumulator: &mut Option<u32>) {
        if *accumulator != Some(value) {
            self.apply(Op::Load, value, None);
            *accumulator = Some(value);
        }
    }

    /// Emit a link that reads an operand, from the accumulator if it holds it.
    fn apply(&mut self, op: Op, operand: u32, accumulator: Option<u32>) {
        let value = self.values[operand as usize];
        let source = match (value.narrow, value.constant) {
            _ if accumulator == Some(operand) => Source::Accumulator,
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

    /// Store the accumulator if it is read later: in its own dtype, and as float16 or bfloat16 for such outputs.
    fn store(&mut self, value: u32) {
        let Value { is_live_out, is_stored, .. } = self.values[value as usize];
        if !is_live_out {
            if is_stored {
                self.link(Op::Store, Source::Elements, value);
            }
            return;
        }
        let mut has_wide_output = false;
        let mut rounded: Option<(DType, u32)> = None;
        for at in 0..self.program.outputs.len() {
            let Output { value: output, dtype, .. } = self.program.outputs[at];
            if output != value {
                continue;
            }
            if !dtype.is_half() {
                has_wide_output = true;
                // A value that is read again should not be evicted by a non-temporal store.
                self.program.outputs[at].streams = !is_stored;
                continue;
            }
            let existing = rounded.filter(|&(before, _)| before == dtype);
            let narrow = existing.map_or_else(|| self.round(dtype), |(_, narrow)| narrow);
            rounded = Some((dtype, narrow));
            let is_first = existing.is_none();
            self.program.outputs[at] =
                Output { value: narrow, dtype, direct: is_first, streams: is_first, is_narrow: true };
        }
        self.values[value as usize].is_live_out = has_wide_output;
        if has_wide_output || is_stored {
            let op = if is_stored { Op::Store } else { Op::Output };
            self.link(op, Source::Elements, value);
        }
    }

    /// Store the accumulator as float16 or bfloat16; returns the new value with these elements.
    fn round(&mut self, dtype: DType) -> u32 {
        let narrow = self.values.len() as u32;
        self.values.push(Value::new(true, None));
        let source = if dtype == DType::BFloat16 { Source::BFloat16 } else { Source::Float16 };
        self.link(Op::Output, source, narrow);
        narrow
    }

    /// Drop the constants that are neither read from registers nor stored.
    fn drop_constants(&mut self) {
        let mut is_kept: SmallVec<[bool; 16]> = SmallVec::from_elem(false, self.values.len());
        self.program.accesses(|read, _| read.iter().for_each(|&value| is_kept[value as usize] = true));
        self.program.outputs.iter().for_each(|output| is_kept[output.value as usize] = true);
        self.program.constants.retain(|constant| is_kept[constant.value as usize]);
    }

    /// Assign a register to each value that is stored. A block function never writes a register that it reads; links may, since a
    /// chain processes the elements tile by tile.
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
            let location = &mut locations[value as usize];
            if *location == Location::Nowhere {
                *location = Location::Register(registers.take());
            }
        }
        let is_temporary = |value: u32| !self.values[value as usize].is_live_out;
        let mut time = 0;
        self.program.accesses(|read, written| {
            time += 1;
            if let Some(value) = written
                && is_temporary(value)
            {
                let is_local = self.values[value as usize].is_local;
                locations[value as usize] = if is_local {
                    Location::Local(locals.take())
                } else {
                    Location::Register(registers.take())
                };
            }
            for (i, &value) in read.iter().chain(&written).enumerate() {
                debug_assert_ne!(
                    locations[value as usize],
                    Location::Nowhere,
                    "a value is stored before it is read"
                );
                let is_last_use = last[value as usize] == time && is_temporary(value);
                if !is_last_use || read[..i.min(read.len())].contains(&value) {
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

/// Allocates register numbers and reuses released ones.
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

    fn release(&mut self, register: u32) {
        self.free.push(register);
    }
}

impl Program {
    /// Call `body(values read, value written)` for each access to values in memory, in order.
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
