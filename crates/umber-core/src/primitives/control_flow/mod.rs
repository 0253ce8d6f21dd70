//! Control flow: operations that contain the functions they run.
//!
//! The functions are [`Program`]s; the arrays they capture are inputs of the operation. This module only defines the operations:
//! `transforms::control_flow` has the rules that transform the functions, `plan::control_flow` evaluates them.

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
pub use self::while_loop::{Condition, Limit, While};
use crate::generalization::Change;
use crate::graph::{Array, ArraySpec, Inputs, Program};
use crate::op::Op;
use crate::validation::{self, Site};

/// The public function that recorded an operation.
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
    /// The name of the public function.
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

/// The control-flow operations.
#[derive(Clone, Copy, Debug)]
pub enum ControlFlow<'a> {
    /// A function applied a known number of times.
    Loop(&'a Loop),
    /// One of several functions.
    Branch(&'a Branch),
    /// A function applied while a condition holds.
    While(&'a While),
}

impl<'a> ControlFlow<'a> {
    /// The functions of the operation.
    pub fn bodies(self) -> impl Iterator<Item = &'a Body> {
        let (bodies, loop_body): (&[Body], Option<&Body>) = match self {
            ControlFlow::Loop(repeated) => (std::slice::from_ref(&repeated.0.body), None),
            ControlFlow::Branch(choice) => (&choice.0.bodies, None),
            ControlFlow::While(condition) => {
                (std::slice::from_ref(&condition.0.condition), Some(&condition.0.body))
            }
        };
        bodies.iter().chain(loop_body)
    }
}

/// A function of a control-flow operation, and the specs of its outputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Body {
    /// The function.
    pub program: Program,
    /// Shapes and dtypes of its outputs.
    pub outputs: Vec<ArraySpec>,
}

impl Body {
    /// The function that computes `outputs` from `placeholders`, and the arrays it captures, which become its last arguments.
    pub fn close(placeholders: &[Array], outputs: &[Array]) -> (Body, Vec<Array>) {
        let (program, captured) = Program::close(placeholders, outputs);
        let outputs = outputs.iter().map(|output| output.spec().clone()).collect();
        (Body { program, outputs }, captured)
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[ArraySpec] {
        &self.program.arguments
    }

    /// Check the declared specs of the outputs of a loaded program.
    fn validate(&self, site: &Site<'_>) -> Result<()> {
        let outputs = validation::outputs(&self.program)?;
        site.must(outputs == self.outputs, "a function with the declared outputs")
    }

    /// The function generalised to arguments of these specs.
    fn refined(&self, change: &Change<'_>, specs: &[ArraySpec]) -> Option<Body> {
        (change.refined)(&self.program, specs)
    }

    /// Check that `specs` are those of the arguments.
    fn check(&self, construct: Construct, specs: &[&ArraySpec]) -> Result<()> {
        ensure!(
            self.arguments().iter().eq(specs.iter().copied()),
            Value(construct.name()),
            "shapes or dtypes of the inputs differ from those the function was traced with"
        );
        Ok(())
    }
}

/// The lowered functions of an operation, compiled at the first evaluation. Two operations are equal whatever their caches hold,
/// and a clone starts with an empty cache.
#[derive(Default)]
pub(crate) struct LoweredCache(OnceLock<Arc<dyn Any + Send + Sync>>);

impl LoweredCache {
    /// The cached value, or the value of `make`, which is then cached.
    pub(crate) fn get_or_make<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let cached = match self.0.get() {
            Some(cached) => Arc::clone(cached),
            None => {
                let lowered: Arc<dyn Any + Send + Sync> = Arc::new(make()?);
                Arc::clone(self.0.get_or_init(|| lowered))
            }
        };
        cached
            .downcast()
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

/// Record an operation of a program on new inputs. A loop adds residuals if the current trace needs them.
pub(crate) fn record_again(
    op: &Op,
    inputs: Inputs,
    stream: umber_types::Stream,
) -> Result<smallvec::SmallVec<[Array; 1]>> {
    if let Op::Loop(repeated) = op {
        return repeated.record_on(inputs, stream);
    }
    // A constant unless the current trace is shape-generic.
    if let Op::NumberOfElements(number) = op {
        return Ok(smallvec::smallvec![number.clone().record(&inputs[0])?]);
    }
    Array::record_on(op.clone(), inputs, stream)
}

/// The error of `eval_cpu`: only the evaluator can run the functions.
fn needs_evaluator(construct: Construct) -> Error {
    error!(Runtime(construct.name()), "only the evaluator can run it")
}
