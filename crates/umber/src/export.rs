//! Export of functions: the operations of a function and the arrays that it captured, without the program that defined it.
//!
//! A file is a safetensors file that contains the recorded operations and the captured arrays. Python reads and writes the same
//! files (`mx.export_function`, `mx.import_function`).

use std::path::Path;
use umber_types::error;

use umber_core::export::{Exported, Signature, begin, end};
use umber_core::graph::tracing::Lengths;
use umber_core::{Array, Error, Result};
use umber_io::functions;

/// The arguments that an exported function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// Arguments of the shapes that it was exported with.
    Fixed,
    /// Arguments of other lengths too, along each axis whose length the recorded operations do not depend on.
    Free,
}

/// Trace `f` with arguments of the given shapes and dtypes, and write the recorded operations to a file.
///
/// # Errors
/// If `f` fails or captures a traced array, or the file cannot be written.
pub fn save<F>(path: impl AsRef<Path>, f: F, arguments: &[Array], shapes: Shapes) -> Result<()>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let signature = Signature::of(arguments, &[]);
    let trace_with = |lengths| {
        let f = &f;
        move |signature: &Signature| {
            let tracing = begin(signature, lengths);
            let outputs = f(&tracing.trace.inputs)?;
            end(tracing, &outputs)
        }
    };
    let exported = match shapes {
        Shapes::Fixed => {
            let traced = trace_with(Lengths::Fixed)(&signature)?;
            Exported::new(signature, &traced)?
        }
        Shapes::Free => Exported::shapeless(signature, trace_with(Lengths::Free))?,
    };
    functions::save(path.as_ref(), &[exported], "")
}

/// A function from a file.
#[derive(Debug)]
pub struct Function {
    traces: Vec<Exported>,
}

/// Read a function. The contents are validated before any operation is recorded.
///
/// # Errors
/// If the file does not exist, or does not contain a function.
pub fn load(path: impl AsRef<Path>) -> Result<Function> {
    Ok(Function { traces: functions::load(path.as_ref())?.traces })
}

impl Function {
    /// Record the operations of the function on these arguments.
    ///
    /// # Errors
    /// If it was not exported for these shapes and dtypes.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let call = Signature::of(arguments, &[]);
        match self.traces.iter().find(|trace| trace.answers(&call)) {
            Some(trace) => trace.call(arguments),
            None => Err(self.refusal(&call).or_op("export.Function")),
        }
    }

    /// The reason why no trace accepts the arguments.
    fn refusal(&self, call: &Signature) -> Error {
        let candidate = self.traces.iter().find(|trace| trace.is_for(call));
        if let Some(reason) = candidate.and_then(|trace| trace.refusal(call)) {
            return reason;
        }
        let list =
            |signature: &Signature| signature.specs().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let accepted: Vec<String> = self.traces.iter().map(|trace| list(&trace.signature)).collect();
        error!(Value, "got ({}), expected ({})", list(call), accepted.join(") or ("))
    }
}
