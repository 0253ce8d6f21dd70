//! Cache of the tapes compiled by a thread: a user's loop needs the same ones in every iteration.

use umber_kernels::tape::Program;
use umber_types::Result;

/// Number of slots of the direct-mapped cache.
const CACHE_SLOTS: usize = 128;

/// The key of a compiled tape, from which it can be compiled.
pub(crate) trait Key: Clone + PartialEq {
    /// A hash of the key; its low bits select the slot.
    fn number(&self) -> usize;

    /// Compile the tape.
    fn program(&self) -> Result<Program>;
}

/// Compiled tapes by key, as handles of the type `P`.
pub(crate) struct TapeCache<K, P> {
    slots: Vec<Option<(K, P)>>,
}

impl<K: Key, P: Clone + From<Program>> TapeCache<K, P> {
    pub(crate) const fn new() -> TapeCache<K, P> {
        TapeCache { slots: Vec::new() }
    }

    /// The tape of `key`, which is compiled if it is not cached.
    pub(crate) fn get(&mut self, key: &K) -> Result<P> {
        if self.slots.is_empty() {
            self.slots.resize(CACHE_SLOTS, None);
        }
        let slot = &mut self.slots[key.number() % CACHE_SLOTS];
        if let Some((cached_key, program)) = slot
            && cached_key == key
        {
            return Ok(program.clone());
        }
        let program = P::from(key.program()?);
        *slot = Some((key.clone(), program.clone()));
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use umber_types::tape::{Step, Tape};
    use umber_types::{DType, UnaryKind};

    use super::*;

    /// Keys that all map to one slot.
    #[derive(Clone, PartialEq)]
    struct SameSlot(UnaryKind);

    impl Key for SameSlot {
        fn number(&self) -> usize {
            0
        }

        fn program(&self) -> Result<Program> {
            let step = Step::Unary { kind: self.0, x: 0 };
            Program::new(&Tape { inputs: vec![DType::Float32], steps: vec![step], outputs: vec![1] })
        }
    }

    #[test]
    fn a_slot_returns_only_the_tape_of_its_key() {
        let mut programs: TapeCache<SameSlot, Rc<Program>> = TapeCache::new();
        let mut get = |kind| programs.get(&SameSlot(kind)).expect("the tape is valid");
        let first = get(UnaryKind::Exp);
        assert!(Rc::ptr_eq(&first, &get(UnaryKind::Exp)));
        assert!(!Rc::ptr_eq(&first, &get(UnaryKind::Sin)));
        assert!(!Rc::ptr_eq(&first, &get(UnaryKind::Exp)), "another key replaced it");
    }
}
