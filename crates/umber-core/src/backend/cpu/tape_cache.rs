//! Tapes compiled by a thread: a loop of a user's needs the same ones again and again.

use umber_kernels::tape::Program;
use umber_types::Result;

/// How many; one takes the place of another.
const CACHE_SLOTS: usize = 128;

/// What tells programs apart, and what they are made of.
pub(crate) trait Key: Clone + PartialEq {
    /// A number that depends on all of it; its low bits choose the place.
    fn number(&self) -> usize;

    /// The program, made anew.
    fn program(&self) -> Result<Program>;
}

/// Programs by what tells them apart, as handles of the type `P`.
pub(crate) struct TapeCache<K, P> {
    kept: Vec<Option<(K, P)>>,
}

impl<K: Key, P: Clone + From<Program>> TapeCache<K, P> {
    pub(crate) const fn new() -> TapeCache<K, P> {
        TapeCache { kept: Vec::new() }
    }

    /// The program of `key`, which is made if it is not there.
    pub(crate) fn get(&mut self, key: &K) -> Result<P> {
        if self.kept.is_empty() {
            self.kept.resize(CACHE_SLOTS, None);
        }
        let place = &mut self.kept[key.number() % CACHE_SLOTS];
        if let Some((own, program)) = place
            && own == key
        {
            return Ok(program.clone());
        }
        let program = P::from(key.program()?);
        *place = Some((key.clone(), program.clone()));
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use umber_types::tape::{Step, Tape};
    use umber_types::{DType, UnaryKind};

    use super::*;

    /// All have one place.
    #[derive(Clone, PartialEq)]
    struct Alike(UnaryKind);

    impl Key for Alike {
        fn number(&self) -> usize {
            0
        }

        fn program(&self) -> Result<Program> {
            let step = Step::Unary { kind: self.0, x: 0 };
            Program::new(&Tape { inputs: vec![DType::Float32], steps: vec![step], outputs: vec![1] })
        }
    }

    #[test]
    fn a_place_answers_only_for_the_key_it_holds() {
        let mut programs: TapeCache<Alike, Rc<Program>> = TapeCache::new();
        let mut get = |kind| programs.get(&Alike(kind)).expect("the tape is valid");
        let first = get(UnaryKind::Exp);
        assert!(Rc::ptr_eq(&first, &get(UnaryKind::Exp)));
        assert!(!Rc::ptr_eq(&first, &get(UnaryKind::Sin)));
        assert!(!Rc::ptr_eq(&first, &get(UnaryKind::Exp)), "another took its place");
    }
}
