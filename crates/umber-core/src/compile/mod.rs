//! Compile: a function's graph recorded once, made smaller, and replayed on other arguments.
//!
//! A trace on placeholders, `simplify`, then [`crate::fusion::fuse`], which records what evaluation would fuse
//! anyway. A call then costs neither the user's function nor the search for regions, only the making of nodes.

pub mod cache;
mod simplify;

use std::sync::atomic::{AtomicU8, Ordering};

use umber_types::{Result, ensure};

use crate::fusion::fuse;
use crate::graph::{Array, ArraySpec, Program};
use crate::primitives::leaf::Leaf;
use crate::transforms::{Trace, bare};

/// A function for arguments of certain shapes and dtypes, ready to be called.
#[derive(Debug)]
pub struct CompiledGraph {
    specs: Vec<ArraySpec>,
    /// With regions fused.
    fused: Closure,
    /// As traced, for transforms that follow the call: fusion folds away what only matters to them.
    plain: Closure,
    /// Does it hold an array that another transform is following?
    captures_traced: bool,
}

/// A program with the arrays it captured.
#[derive(Debug)]
struct Closure {
    program: Program,
    captured: Vec<Array>,
}

impl Closure {
    fn new(placeholders: &[Array], outputs: &[Array]) -> Closure {
        let (program, captured) = Program::close(placeholders, outputs);
        Closure { program, captured }
    }

    fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let all: Vec<Array> = arguments.iter().chain(&self.captured).cloned().collect();
        self.program.replay(&all)
    }
}

/// Begin to trace a function that is to be compiled.
pub fn begin(arguments: &[Array]) -> Trace {
    Trace::placeholders(Leaf::Compile, arguments.iter().map(|argument| argument.spec().clone()))
}

impl CompiledGraph {
    /// The graph of a function that was run on the inputs of `trace` (from [`begin`]) and gave `outputs`.
    pub fn new(trace: Trace, outputs: &[Array]) -> Result<CompiledGraph> {
        let simple = simplify::simplify(&trace.inputs, outputs)?;
        let fused = simplify::simplify(&trace.inputs, &bare(&trace.inputs, &simple)?)?;
        let fused = fuse(&fused, |node| node.traced)?;
        let specs = trace.inputs.iter().map(|input| input.spec().clone()).collect();
        let plain = Closure::new(&trace.inputs, &simple);
        let fused = Closure::new(&trace.inputs, &fused);
        drop(trace);
        // An outer transform's own arrays are traced still.
        let captures_traced = plain.captured.iter().any(Array::is_traced);
        Ok(CompiledGraph { specs, fused, plain, captures_traced })
    }

    /// May it be kept for later calls? Not if it holds arrays that an outer transform is following.
    pub fn is_reusable(&self) -> bool {
        !self.captures_traced
    }

    /// The outputs for other arguments of the same shapes and dtypes.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        ensure!(
            arguments.len() == self.specs.len()
                && arguments.iter().zip(&self.specs).all(|(argument, spec)| argument.spec() == spec),
            Value,
            "[compile] got arguments of other shapes or dtypes than those the graph was traced with"
        );
        let is_followed = self.plain.captured.iter().chain(arguments).any(Array::is_traced);
        let closure = if is_followed { &self.plain } else { &self.fused };
        closure.call(arguments)
    }
}

/// A function that is traced once for every combination of shapes and dtypes of its arguments.
pub fn compile<F>(f: F) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let user = cache::User::new();
    move |arguments| {
        if !is_enabled() {
            return f(arguments);
        }
        if let Some(graph) = cache::find(user.key(), arguments, &[]) {
            return graph.call(arguments);
        }
        let trace = begin(arguments);
        let outputs = f(&trace.inputs)?;
        let graph = CompiledGraph::new(trace, &outputs)?;
        if !graph.is_reusable() {
            return graph.call(arguments);
        }
        cache::keep(user.key(), arguments, &[], graph).call(arguments)
    }
}

const UNKNOWN: u8 = 0;
const ENABLED: u8 = 1;
const DISABLED: u8 = 2;
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Do compiled functions replay graphs? If not, they run as written.
pub fn is_enabled() -> bool {
    let mode = MODE.load(Ordering::Relaxed);
    if mode != UNKNOWN {
        return mode == ENABLED;
    }
    let disabled =
        std::env::var_os("UMBER_DISABLE_COMPILE").is_some_and(|value| !value.is_empty() && value != "0");
    let mode = if disabled { DISABLED } else { ENABLED };
    // A choice made meanwhile stands.
    let _ = MODE.compare_exchange(UNKNOWN, mode, Ordering::Relaxed, Ordering::Relaxed);
    MODE.load(Ordering::Relaxed) == ENABLED
}

/// Let compiled functions replay graphs, whatever `UMBER_DISABLE_COMPILE` says.
pub fn enable() {
    MODE.store(ENABLED, Ordering::Relaxed);
}

/// Let compiled functions run as written.
pub fn disable() {
    MODE.store(DISABLED, Ordering::Relaxed);
}
