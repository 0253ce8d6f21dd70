//! An elementwise operation by itself: a program of one step, which is made once.

use std::cell::RefCell;
use std::rc::Rc;

use umber_kernels::tape::Program;
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, DType, Result, UnaryKind};

use super::launch;
use super::tape_cache::{Key, TapeCache};
use crate::primitive::CpuTask;

/// What an elementwise operation computes of the elements at one place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Unary(UnaryKind),
    Binary(BinaryKind),
    Select,
    Cast(DType),
}

/// What tells programs apart.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signature {
    function: Function,
    dtypes: [Option<DType>; 3],
}

thread_local! {
    static PROGRAMS: RefCell<TapeCache<Signature, Rc<Program>>> = const { RefCell::new(TapeCache::new()) };
}

/// Run an elementwise operation.
pub(crate) fn elementwise(function: Function, task: &mut CpuTask<'_>) -> Result<()> {
    let mut signature = Signature { function, dtypes: [None; 3] };
    for (place, dtype) in signature.dtypes.iter_mut().zip(&task.dtypes) {
        *place = Some(*dtype);
    }
    let program = PROGRAMS.with_borrow_mut(|programs| programs.get(&signature))?;
    launch::program(&program, task)
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
        let step = match self.function {
            Function::Unary(kind) => Step::Unary { kind, x: 0 },
            Function::Binary(kind) => Step::Binary { kind, a: 0, b: 1 },
            Function::Select => Step::Select { condition: 0, a: 1, b: 2 },
            Function::Cast(to) => Step::Cast { x: 0, to },
        };
        let result = inputs.len() as u32;
        Tape { inputs, steps: vec![step], outputs: vec![result] }
    }
}
