//! An elementwise operation that runs by itself on arrays that are there: its program is made once, not once a call.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::rc::Rc;

use smallvec::SmallVec;
use umber_kernels::tape::Program;
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, DType, Result, UnaryKind};

use crate::graph::Array;
use crate::op::Op;
use crate::plan::tape_cache::{Key, TapeCache};
use crate::primitives::binary::Binary;
use crate::primitives::cast::Cast;
use crate::primitives::select::Select;
use crate::primitives::unary::Unary;

/// An operation, and which operands it reads, each array once.
pub(super) struct Lone {
    pub(super) program: Rc<Program>,
    pub(super) operands: SmallVec<[usize; 4]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Unary(UnaryKind),
    Binary(BinaryKind),
    Select,
    Cast(DType),
}

/// What tells programs apart.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signature {
    function: Function,
    /// The number of each operand among the inputs.
    operands: [u32; 3],
    dtypes: [Option<DType>; 3],
}

thread_local! {
    static PROGRAMS: RefCell<TapeCache<Signature, Rc<Program>>> = const { RefCell::new(TapeCache::new()) };
}

/// How to run the operation by itself; `None` if it is not elementwise or an operand is still to be computed.
pub(super) fn lone(op: &Op, operands: &[Array]) -> Result<Option<Lone>> {
    if operands.iter().all(Array::is_evaluated) { lone_on(op, operands) } else { Ok(None) }
}

/// [`lone`] on operands that are there, or constants.
pub(super) fn lone_on(op: &Op, operands: &[impl Borrow<Array>]) -> Result<Option<Lone>> {
    let function = match op {
        Op::Unary(Unary(kind)) => Function::Unary(*kind),
        Op::Binary(Binary(kind)) => Function::Binary(*kind),
        Op::Select(Select) => Function::Select,
        Op::Cast(Cast(to)) => Function::Cast(*to),
        _ => return Ok(None),
    };
    let mut signature = Signature { function, operands: [0; 3], dtypes: [None; 3] };
    let mut read: SmallVec<[usize; 4]> = SmallVec::new();
    for (i, input) in operands.iter().map(Borrow::borrow).enumerate() {
        let known = read.iter().position(|&other| operands[other].borrow().is_same(input));
        let place = known.unwrap_or(read.len());
        if known.is_none() {
            signature.dtypes[place] = Some(input.dtype());
            read.push(i);
        }
        signature.operands[i] = place as u32;
    }
    let program = PROGRAMS.with_borrow_mut(|programs| programs.get(&signature))?;
    Ok(Some(Lone { program, operands: read }))
}

impl Key for Signature {
    fn number(&self) -> usize {
        let function = match self.function {
            Function::Unary(kind) => kind as usize,
            Function::Binary(kind) => kind as usize + 64,
            Function::Select => 3,
            Function::Cast(to) => to as usize + 32,
        };
        function + self.dtypes[0].map_or(0, |dtype| dtype as usize) * 29
    }

    fn program(&self) -> Result<Program> {
        Program::new(&self.tape())
    }
}

impl Signature {
    fn tape(&self) -> Tape {
        let inputs: Vec<DType> = self.dtypes.iter().flatten().copied().collect();
        let [a, b, c] = self.operands;
        let step = match self.function {
            Function::Unary(kind) => Step::Unary { kind, x: a },
            Function::Binary(kind) => Step::Binary { kind, a, b },
            Function::Select => Step::Select { condition: a, a: b, b: c },
            Function::Cast(to) => Step::Cast { x: a, to },
        };
        let result = inputs.len() as u32;
        Tape { inputs, steps: vec![step], outputs: vec![result] }
    }
}
