//! Leaf: where a graph begins. Data that exists, an argument that has none yet, or a copy that starts a trace.

use umber_types::{Error, Result, bail};

use super::rules::{batch_elementwise, linear_jvp, same_spec};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// How a graph begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// Elements that exist; the node is born evaluated.
    Data,
    /// The same value as the input.
    Copy,
    /// An argument of a function under `vmap`.
    Vmap,
    /// An argument of a function under `compile`.
    Compile,
    /// An argument of a function whose graph alone is wanted.
    Trace,
}

impl Leaf {
    /// Is it an argument without a value?
    pub fn is_placeholder(self) -> bool {
        matches!(self, Leaf::Vmap | Leaf::Compile | Leaf::Trace)
    }

    /// The transformation whose functions have such arguments.
    fn transform(self) -> &'static str {
        match self {
            Leaf::Data | Leaf::Copy => "a transformation",
            Leaf::Vmap => "vmap",
            Leaf::Compile => "compile",
            Leaf::Trace => "a transformation that asks for the graph alone",
        }
    }

    /// What is said to somebody who asks a placeholder for its value.
    pub fn no_value(self) -> Error {
        Error::Value(format!(
            "[eval] this array has no value: it stands for an argument of a function inside {}; printing it, \
             `.item()`, conversion to NumPy or control flow on it cannot work there, use mx.where or move the \
             read outside",
            self.transform()
        ))
    }

    /// What is said to somebody who kept an array of a function that has returned.
    pub fn escaped(self) -> Error {
        Error::Value(format!(
            "[eval] this array escaped from {}: it was computed from an argument of a function that has returned, \
             so it will never have a value; return it from the function instead of keeping it elsewhere",
            self.transform()
        ))
    }

    /// Did somebody ask a placeholder for its value?
    pub(crate) fn lacks_value(error: &Error) -> bool {
        matches!(error, Error::Value(text) if text.starts_with("[eval] this array has no value"))
    }
}

impl Primitive for Leaf {
    fn name(&self) -> &'static str {
        match self {
            Leaf::Data => "array",
            Leaf::Copy => "copy",
            Leaf::Vmap => "vmap",
            Leaf::Compile => "compile",
            Leaf::Trace => "trace",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn vjp(&self, _at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(cotangents.iter().cloned().map(Some).collect()))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(*self, tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        match self {
            Leaf::Copy => {
                let storage = task.inputs[0].clone();
                task.answer(storage);
                Ok(())
            }
            Leaf::Data => bail!(Runtime, "[array] the data of this array is gone"),
            Leaf::Vmap | Leaf::Compile | Leaf::Trace => Err(self.no_value()),
        }
    }
}
