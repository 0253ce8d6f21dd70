//! Functions in files: what a function computes, and the arrays it captured, without the program that defined it.
//!
//! A file is a safetensors file with the recorded operations beside the captured arrays. Python reads and writes the same files
//! (`mx.export_function`, `mx.import_function`).

use std::path::Path;
use umber_types::error;

use umber_core::export::{Exported, Signature, begin, end};
use umber_core::graph::tracing::Lengths;
use umber_core::{Array, Error, Result};
use umber_io::functions;

/// Which arguments an exported function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// Those of the shapes it was exported with.
    Fixed,
    /// Those of other lengths, too, along each axis whose length the recorded operations do not depend on.
    Free,
}

/// Trace `f` with arguments of these shapes and dtypes, and write what it computes to a file.
///
/// # Errors
/// If `f` fails, captures an array that a transform is following, or the file cannot be written.
pub fn save<F>(path: impl AsRef<Path>, f: F, arguments: &[Array], shapes: Shapes) -> Result<()>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let signature = Signature::of(arguments, &[]);
    let follow = |lengths| {
        let f = &f;
        move |signature: &Signature| {
            let tracing = begin(signature, lengths);
            let outputs = f(&tracing.trace.inputs)?;
            end(tracing, &outputs)
        }
    };
    let exported = match shapes {
        Shapes::Fixed => {
            let traced = follow(Lengths::Fixed)(&signature)?;
            Exported::new(signature, &traced)?
        }
        Shapes::Free => Exported::shapeless(signature, follow(Lengths::Free))?,
    };
    functions::save(path.as_ref(), &[exported], "")
}

/// A function from a file.
#[derive(Debug)]
pub struct Function {
    traces: Vec<Exported>,
}

/// Read a function. What the file says is checked step by step before anything of it runs.
///
/// # Errors
/// If there is no such file, or it holds no function.
pub fn load(path: impl AsRef<Path>) -> Result<Function> {
    Ok(Function { traces: functions::load(path.as_ref())?.traces })
}

impl Function {
    /// Record what the function computes of these arguments.
    ///
    /// # Errors
    /// If it was exported for none of these shapes and dtypes.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let call = Signature::of(arguments, &[]);
        match self.traces.iter().find(|trace| trace.answers(&call)) {
            Some(trace) => trace.call(arguments),
            None => Err(self.refusal(&call).or_op("export.Function")),
        }
    }

    /// Why no trace takes the arguments.
    fn refusal(&self, call: &Signature) -> Error {
        let close = self.traces.iter().find(|trace| trace.is_for(call));
        if let Some(reason) = close.and_then(|trace| trace.refusal(call)) {
            return reason;
        }
        let list =
            |signature: &Signature| signature.specs().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let taken: Vec<String> = self.traces.iter().map(|trace| list(&trace.signature)).collect();
        error!(Value, "got ({}), expected ({})", list(call), taken.join(") or ("))
    }
}
