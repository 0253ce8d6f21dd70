//! A single elementwise operation: a tape of one step, compiled once per thread.

use std::cell::RefCell;
use std::rc::Rc;

use umber_kernels::tape::Program;
use umber_types::tape::Tape;
use umber_types::{DType, Result, UnaryKind};

use super::launch;
use super::tape_cache::{Key, TapeCache};
use crate::primitive::{CpuTask, ElementFunction};

/// The key of a compiled tape.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signature {
    function: ElementFunction,
    dtypes: [Option<DType>; 3],
}

thread_local! {
    static PROGRAMS: RefCell<TapeCache<Signature, Rc<Program>>> = const { RefCell::new(TapeCache::new()) };
}

/// Run an elementwise operation.
pub(crate) fn elementwise(function: ElementFunction, task: &mut CpuTask<'_>) -> Result<()> {
    let mut signature = Signature { function, dtypes: [None; 3] };
    for (slot, dtype) in signature.dtypes.iter_mut().zip(&task.dtypes) {
        *slot = Some(*dtype);
    }
    let program = PROGRAMS.with_borrow_mut(|programs| programs.get(&signature))?;
    launch::program(&program, task)
}

impl Key for Signature {
    fn number(&self) -> usize {
        let function = match self.function {
            ElementFunction::Unary(kind) => kind as usize,
            ElementFunction::Binary(kind) => kind as usize + UnaryKind::ALL.len(),
            ElementFunction::Ternary(kind) => kind as usize + 16,
            ElementFunction::Select => 3,
            ElementFunction::Cast(to) => to as usize + 32,
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
        let result = inputs.len() as u32;
        Tape { inputs, steps: vec![self.function.step([0, 1, 2])], outputs: vec![result] }
    }
}
