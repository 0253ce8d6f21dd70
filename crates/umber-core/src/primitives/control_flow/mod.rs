//! Control flow: operations that hold the functions they run.
//!
//! The functions are [`Program`]s, so what they captured is among the operation's inputs. The rules that need a
//! transform of a function are in `transforms::control_flow`, and `plan::control_flow` runs them: what is here only
//! says what the operations are.

mod branch;
mod counted_loop;
mod while_loop;

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use umber_types::{Error, Result, ensure, error};

pub use self::branch::{Branch, Choice};
pub(crate) use self::counted_loop::stacked;
pub use self::counted_loop::{Iteration, Loop, Order};
pub use self::while_loop::{Condition, While};
use crate::generalization::Change;
use crate::graph::{Array, ArraySpec, Inputs, Program};
use crate::op::Op;
use crate::validation::{self, Site};

/// The function that a user called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Construct {
    /// `scan`.
    Scan,
    /// `fori_loop`.
    ForiLoop,
    /// `map`.
    Map,
    /// `while_loop`.
    WhileLoop,
    /// `cond`.
    Cond,
    /// `switch`.
    Switch,
}

impl Construct {
    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Construct::Scan => "scan",
            Construct::ForiLoop => "fori_loop",
            Construct::Map => "map",
            Construct::WhileLoop => "while_loop",
            Construct::Cond => "cond",
            Construct::Switch => "switch",
        }
    }
}

/// The operations that run functions they hold.
#[derive(Clone, Copy, Debug)]
pub enum ControlFlow<'a> {
    /// A known number of times.
    Loop(&'a Loop),
    /// One of several.
    Branch(&'a Branch),
    /// For as long as a condition holds.
    While(&'a While),
}

impl<'a> ControlFlow<'a> {
    /// The functions.
    pub fn bodies(self) -> impl Iterator<Item = &'a Body> {
        let (all, rest): (&[Body], Option<&Body>) = match self {
            ControlFlow::Loop(repeated) => (std::slice::from_ref(&repeated.0.body), None),
            ControlFlow::Branch(choice) => (&choice.0.bodies, None),
            ControlFlow::While(condition) => {
                (std::slice::from_ref(&condition.0.condition), Some(&condition.0.body))
            }
        };
        all.iter().chain(rest)
    }
}

/// A function that an operation holds, and what it gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Body {
    /// The function.
    pub program: Program,
    /// What its outputs are.
    pub outputs: Vec<ArraySpec>,
}

impl Body {
    /// The function that made `outputs` of `placeholders`, and the arrays it captured: its last arguments.
    pub fn close(placeholders: &[Array], outputs: &[Array]) -> (Body, Vec<Array>) {
        let (program, captured) = Program::close(placeholders, outputs);
        let outputs = outputs.iter().map(|output| output.spec().clone()).collect();
        (Body { program, outputs }, captured)
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[ArraySpec] {
        &self.program.arguments
    }

    /// Does it answer what it says? For operations that somebody else wrote.
    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let outputs = validation::outputs(&self.program)?;
        site.must(outputs == self.outputs, "a function with the declared outputs")
    }

    /// The function for arguments of other lengths.
    fn refined(&self, change: &Change<'_>, given: &[ArraySpec]) -> Option<Body> {
        (change.refined)(&self.program, given)
    }

    /// Are these what it takes?
    fn check(&self, construct: Construct, given: &[&ArraySpec]) -> Result<()> {
        ensure!(
            self.arguments().iter().eq(given.iter().copied()),
            Value(construct.name()),
            "shapes or dtypes of the inputs differ from those the function was traced with"
        );
        Ok(())
    }
}

/// What evaluation makes of an operation's functions, once. It is no part of what the operation is.
#[derive(Default)]
pub(crate) struct LoweredCache(OnceLock<Arc<dyn Any + Send + Sync>>);

impl LoweredCache {
    /// What was made before, or `make` of it now.
    pub(crate) fn get_or_make<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let made = match self.0.get() {
            Some(made) => Arc::clone(made),
            None => {
                let made: Arc<dyn Any + Send + Sync> = Arc::new(make()?);
                Arc::clone(self.0.get_or_init(|| made))
            }
        };
        made.downcast()
            .map_err(|_| error!(Runtime("eval"), "the function was compiled for another construct"))
    }
}

impl Clone for LoweredCache {
    fn clone(&self) -> LoweredCache {
        LoweredCache::default()
    }
}
impl PartialEq for LoweredCache {
    fn eq(&self, _: &LoweredCache) -> bool {
        true
    }
}
impl Eq for LoweredCache {}
impl Hash for LoweredCache {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
impl fmt::Debug for LoweredCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prepared")
    }
}

/// Record an operation that was recorded before on other inputs; a loop may now keep residuals.
pub(crate) fn record_again(
    op: &Op,
    inputs: Inputs,
    stream: umber_types::Stream,
) -> Result<smallvec::SmallVec<[Array; 1]>> {
    if let Op::Loop(repeated) = op {
        return repeated.record_on(inputs, stream);
    }
    // Where lengths are known, a constant.
    if let Op::NumberOfElements(number) = op {
        return Ok(smallvec::smallvec![number.clone().record(&inputs[0])?]);
    }
    Array::record_on(op.clone(), inputs, stream)
}

/// The answer of `eval_cpu`: these operations run programs, which only the evaluator can.
fn needs_evaluator(construct: Construct) -> Error {
    error!(Runtime(construct.name()), "only the evaluator can run it")
}
