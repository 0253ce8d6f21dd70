//! Compile: a function's graph recorded once, made smaller, and recorded again on other arguments.
//!
//! A trace on placeholders gives a [`Program`]; `constants` and `simplify` make it smaller; [`crate::passes::fuse`]
//! makes elementwise regions single steps, as evaluation would anyway. A call then costs neither the user's function
//! nor the search for regions, only the making of nodes.

pub mod cache;
mod constants;
mod reference_trace;
mod replay_plan;
mod shape_guards;
mod shape_refinement;
mod shapeless;
mod simplify;

use std::sync::atomic::{AtomicU8, Ordering};

use umber_types::{Result, ensure};

pub use crate::generalization::{Axis, Hints};
use crate::graph::tracing::{self, Lengths, ReadingLengths};
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;
use crate::passes::hoist::{HoistedProgram, hoist};
use crate::passes::{lower, specs_of};
use crate::primitives::leaf::Leaf;
use crate::transforms::{Trace, expanded};
pub use cache::Cache;
use constants::fold;
use replay_plan::{ReplayPlan, TracedInputs};
pub use shape_guards::{GuardKind, ShapeGuard, ShapeGuards};
pub(crate) use shapeless::changes;
pub use shapeless::{EqualAxes, FreeAxes, ShapeGenericTrace};
pub use simplify::simplify;

/// A function for arguments of certain shapes and dtypes, ready to be called.
#[derive(Debug)]
pub struct CompiledGraph {
    /// Of the arguments, without those it captured.
    argument_count: usize,
    /// With regions fused.
    fused: ReplayPlan,
    /// As traced, for transforms that follow the call: fusion folds away what only matters to them.
    plain: ReplayPlan,
    /// What the function saw besides its arguments: the last arguments of `plain`.
    captured: Vec<Array>,
    /// The last arguments of `fused`: besides what was captured, what its steps make of constants alone.
    fixed: Vec<Array>,
    /// Does it hold an array that another transform is following?
    captures_traced: bool,
    /// The lengths that the function read: a trace around a call depends on them, too.
    reads: ShapeGuards,
}

/// A function that is to be compiled is being followed: run it on `trace.inputs`, then [`Tracing::end`].
#[derive(Debug)]
pub struct Tracing {
    /// Its arguments, without values.
    pub trace: Trace,
    reading: ReadingLengths,
}

/// Begin to trace a function that is to be compiled.
pub fn begin(arguments: &[Array], lengths: Lengths) -> Tracing {
    begin_with(arguments.iter().map(|argument| argument.spec().clone()), Leaf::Compile, lengths)
}

/// As [`begin`], for arguments of certain shapes and dtypes; `leaf` says which transform is to be named when somebody asks
/// for a value.
pub fn begin_with(specs: impl IntoIterator<Item = ArraySpec>, leaf: Leaf, lengths: Lengths) -> Tracing {
    Tracing { trace: Trace::placeholders(leaf, specs), reading: tracing::read_lengths(lengths) }
}

impl Tracing {
    /// What was found when the function gave `outputs`.
    pub fn end(self, outputs: &[Array]) -> Traced {
        let (inputs, read) = (&self.trace.inputs, self.reading.take());
        let found = shape_guards::on_tape(inputs, read);
        self.finish(outputs, &found)
    }

    /// As [`Tracing::end`], without the operations for which `is_replaced` holds: what they stand for takes their place.
    pub fn end_expanded(self, outputs: &[Array], is_replaced: impl Fn(&Op) -> bool) -> Result<Traced> {
        let (inputs, read) = (&self.trace.inputs, self.reading.take());
        let mut found = shape_guards::on_tape(inputs, read);
        let all: Vec<Array> = outputs.iter().chain(&found.arrays).cloned().collect();
        let mut all = expanded(inputs, &all, is_replaced)?;
        found.arrays = all.split_off(outputs.len());
        Ok(self.finish(&all, &found))
    }

    fn finish(self, outputs: &[Array], found: &shape_guards::PendingGuards) -> Traced {
        let all: Vec<Array> = outputs.iter().chain(&found.arrays).cloned().collect();
        let (mut program, captured) = Program::close(&self.trace.inputs, &all);
        let places = program.outputs.split_off(outputs.len());
        let argument_count = self.trace.inputs.len();
        drop(self.reading);
        found.pass_on();
        let reads = found.in_slots(&places);
        Traced { program, argument_count, captured, reads }
    }
}

/// A function as it was recorded.
#[derive(Clone, Debug)]
pub struct Traced {
    program: Program,
    /// How many arguments it has besides what it captured.
    argument_count: usize,
    captured: Vec<Array>,
    /// The lengths that the function itself read, rather than its operations.
    reads: ShapeGuards,
}

impl Traced {
    /// The graph, made smaller and fused.
    pub fn compile(&self) -> Result<CompiledGraph> {
        CompiledGraph::of(&self.program, self.argument_count, self.captured.clone(), self.reads.clone())
    }

    /// The function as it was recorded; what it captured are its last arguments.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The arrays it captured.
    pub fn captured(&self) -> &[Array] {
        &self.captured
    }

    /// The lengths it read.
    pub fn reads(&self) -> &ShapeGuards {
        &self.reads
    }
}

impl CompiledGraph {
    /// The graph of a program whose last arguments are `captured`, behind `argument_count` others.
    fn of(
        program: &Program,
        argument_count: usize,
        captured: Vec<Array>,
        reads: ShapeGuards,
    ) -> Result<CompiledGraph> {
        // An outer transform's own arrays are traced still.
        let captures_traced = captured.iter().any(Array::is_traced);
        let plain = simplify(&fold(program, argument_count, &captured)?)?;
        let (fused, made_of_constants) = fused(&plain)?;
        let (plain, fused) = (ReplayPlan::new(plain)?, ReplayPlan::new(fused)?);
        let fixed = captured.iter().cloned().chain(made_of_constants).collect();
        Ok(CompiledGraph { argument_count, fused, plain, captured, fixed, captures_traced, reads })
    }

    /// May it be kept for later calls? Not if it holds arrays that an outer transform is following.
    pub fn is_reusable(&self) -> bool {
        !self.captures_traced
    }

    /// The function as transforms see it; what it captured are its last arguments.
    pub fn program(&self) -> &Program {
        self.plain.program()
    }

    /// The function as it runs: its elementwise regions are single steps, and what is made of constants alone is
    /// captured too.
    pub fn fused_program(&self) -> &Program {
        self.fused.program()
    }

    /// The outputs for other arguments of the same shapes and dtypes.
    pub fn call(&self, arguments: impl Into<Vec<Array>>) -> Result<Vec<Array>> {
        let arguments = arguments.into();
        let specs = &self.program().arguments[..self.argument_count];
        ensure!(
            arguments.len() == self.argument_count
                && arguments.iter().zip(specs).all(|(argument, spec)| argument.spec() == spec),
            Value("compile"),
            "shapes or dtypes of the arguments differ from those the graph was traced with"
        );
        let is_traced = self.captured.iter().chain(&arguments).any(Array::is_traced);
        if is_traced {
            self.reads.note_again(&arguments, &self.captured);
            self.plain.record(arguments, &self.captured, TracedInputs::Yes)
        } else {
            self.fused.record(arguments, &self.fixed, TracedInputs::No)
        }
    }
}

/// The program with its elementwise regions as single steps, and its last arguments: what it makes of constants alone is
/// computed once.
fn fused(program: &Program) -> Result<(Program, Vec<Array>)> {
    let HoistedProgram { program, mut arrays } = match hoist(program)? {
        Some(hoisted) => hoisted,
        None => HoistedProgram { program: program.clone(), arrays: Vec::new() },
    };
    let specs = specs_of(&program)?;
    let lowered = lower(&program, &specs)?;
    arrays.extend(lowered.captured);
    Ok((lowered.program, arrays))
}

/// Return a function that records the graph of another one on its first call and replays it later.
///
/// The function is traced once for every combination of shapes and dtypes of its arguments.
pub fn compile<F>(f: F) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let cache = Cache::<CompiledGraph>::default();
    move |arguments| {
        if !is_enabled() {
            return f(arguments);
        }
        if let Some(graph) = cache.find(arguments, &[]) {
            return graph.call(arguments);
        }
        let tracing = begin(arguments, Lengths::Fixed);
        let outputs = f(&tracing.trace.inputs)?;
        let graph = tracing.end(&outputs).compile()?;
        if !graph.is_reusable() {
            return graph.call(arguments);
        }
        cache.keep(arguments, &[], graph).call(arguments)
    }
}

const UNKNOWN: u8 = 0;
const ENABLED: u8 = 1;
const DISABLED: u8 = 2;
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether compiled functions replay graphs; otherwise they call their original function.
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

/// Make compiled functions replay their graphs, whatever `UMBER_DISABLE_COMPILE` says.
pub fn enable() {
    MODE.store(ENABLED, Ordering::Relaxed);
}

/// Make compiled functions call their original function on every call.
pub fn disable() {
    MODE.store(DISABLED, Ordering::Relaxed);
}
