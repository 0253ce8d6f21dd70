//! Leaf: the start of a graph. Data in memory, the placeholder of a traced argument, or a copy that starts a trace.

use umber_types::{Error, Layout, Result, bail, error};

use super::control_flow::Construct;
use super::rules::{batch_elementwise, linear_jvp, same_spec};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// The kind of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Leaf {
    /// Data in memory: the node is evaluated from the start.
    Data,
    /// The same value as the input.
    Copy,
    /// An argument of a function under `vmap`.
    Vmap,
    /// An argument of a function under `compile`.
    Compile,
    /// An argument of a function that is traced only for its graph.
    Trace,
    /// An argument of a function that control flow runs.
    Body(Construct),
}

impl Leaf {
    /// Is it an argument without a value?
    pub fn is_placeholder(self) -> bool {
        matches!(self, Leaf::Vmap | Leaf::Compile | Leaf::Trace | Leaf::Body(_))
    }

    /// The transformation whose functions have such arguments.
    fn transform(self) -> &'static str {
        match self {
            Leaf::Data | Leaf::Copy => "a transformation",
            Leaf::Vmap => "vmap or fast.kernel",
            Leaf::Compile => "compile",
            Leaf::Trace => "eval_shape, linearize, checkpoint or export_function",
            Leaf::Body(construct) => construct.name(),
        }
    }

    /// The error of an evaluation that needs the value of a placeholder.
    pub fn no_value(self) -> Error {
        if let Leaf::Body(construct) = self {
            return error!(
                NoValue("eval"),
                "this array has no value: it is traced by {0}. Printing, `.item()`, conversion to NumPy, `if` and \
                 `while` need a value: use mx.where, mx.cond or mx.while_loop, or return the array from {0} and read \
                 it afterwards",
                construct.name()
            );
        }
        error!(
            NoValue("eval"),
            "this array has no value: it is traced by {}. Printing, `.item()`, conversion to NumPy, `if` and `while` \
             need a value: use mx.where, or read the array outside the function",
            self.transform()
        )
    }

    /// The error of an evaluation of an array that depends on an argument of a traced function that has returned.
    pub fn escaped(self) -> Error {
        error!(
            Value("eval"),
            "this array escaped from {}: it depends on an argument of a traced function that has returned, so it has \
             no value; return it from the function",
            self.transform()
        )
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
            Leaf::Body(construct) => construct.name(),
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        if *self == Leaf::Copy { site.takes(1) } else { site.is_no_step() }
    }

    any_lengths!(along 0);

    fn vjp(&self, _at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(cotangents.iter().cloned().map(Some).collect()))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(*self, tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn fusion_role(&self) -> FusionRole {
        if *self == Leaf::Copy { FusionRole::Alias } else { FusionRole::Alone }
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn is_view(&self) -> bool {
        *self == Leaf::Copy
    }

    fn view(&self, input: &Layout) -> Option<Layout> {
        (*self == Leaf::Copy).then(|| input.clone())
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        match self {
            Leaf::Copy => {
                let storage = task.inputs[0].clone();
                task.answer(storage);
                Ok(())
            }
            Leaf::Data => bail!(Runtime("array"), "the data of this array was released"),
            Leaf::Vmap | Leaf::Compile | Leaf::Trace | Leaf::Body(_) => Err(self.no_value()),
        }
    }
}
