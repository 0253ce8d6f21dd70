//! Compile: trace a function's graph once, optimise it, and replay it on other arguments.
//!
//! A trace on placeholders gives a [`Program`]; `constants` and `simplify` reduce it; `passes::fuse` fuses
//! elementwise regions, as evaluation would. A call then neither runs the user's function nor partitions the graph; it only
//! creates nodes.

pub mod cache;
mod constants;
mod input_free;
mod reference_trace;
mod replay_plan;
mod shape_guards;
mod shape_refinement;
mod shapeless;
mod simplify;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use umber_types::{Result, ensure};

pub use crate::generalization::{Axis, Hints};
use crate::graph::tracing::{self, Lengths, ReadingLengths};
use crate::graph::{Array, ArraySpec, Node, Program};
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

/// A function compiled for arguments of certain shapes and dtypes.
#[derive(Debug)]
pub struct CompiledGraph {
    /// Number of arguments, without captured arrays.
    argument_count: usize,
    /// The fused program.
    fused: ReplayPlan,
    /// The program without fusion, for calls under transforms: fusion removes operations that only matter to them.
    plain: ReplayPlan,
    /// Captured arrays: the last arguments of `plain`.
    captured: Vec<Array>,
    /// The last arguments of `fused`: captured arrays, and hoisted values computed from constants only.
    captured_and_hoisted: Vec<Array>,
    /// Whether a captured array is traced by another transform.
    captures_traced: bool,
    /// The lengths that the function read, on which an outer trace then depends, too.
    reads: ShapeGuards,
}

/// A trace of a function in progress: run the function on `trace.inputs`, then call [`Tracing::end`].
#[derive(Debug)]
pub struct Tracing {
    /// Its arguments: placeholders without values.
    pub trace: Trace,
    reading: ReadingLengths,
}

/// Begin to trace a function for compilation.
pub fn begin(arguments: &[Array], lengths: Lengths) -> Tracing {
    begin_with(arguments.iter().map(|argument| argument.spec().clone()), Leaf::Compile, lengths)
}

/// As [`begin`], for arguments of certain shapes and dtypes; `leaf` determines which transform is named in errors about missing
/// values.
pub fn begin_with(specs: impl IntoIterator<Item = ArraySpec>, leaf: Leaf, lengths: Lengths) -> Tracing {
    Tracing { trace: Trace::placeholders(leaf, specs), reading: tracing::read_lengths(lengths) }
}

impl Tracing {
    /// End the trace of a function that returned `outputs`.
    pub fn end(self, outputs: &[Array]) -> Traced {
        let (inputs, read) = (&self.trace.inputs, self.reading.take());
        let guards = shape_guards::on_tape(inputs, read);
        self.finish(outputs, &guards)
    }

    /// As [`Tracing::end`], with the operations for which `is_replaced` is true replaced by their expansions.
    pub fn end_expanded(self, outputs: &[Array], is_replaced: impl Fn(&Op) -> bool) -> Result<Traced> {
        let (inputs, read) = (&self.trace.inputs, self.reading.take());
        let mut guards = shape_guards::on_tape(inputs, read);
        let roots: Vec<Array> = outputs.iter().chain(&guards.arrays).cloned().collect();
        let mut roots = expanded(inputs, &roots, is_replaced)?;
        guards.arrays = roots.split_off(outputs.len());
        Ok(self.finish(&roots, &guards))
    }

    fn finish(self, outputs: &[Array], guards: &shape_guards::PendingGuards) -> Traced {
        let roots: Vec<Array> = outputs.iter().chain(&guards.arrays).cloned().collect();
        let (mut program, captured) = Program::close(&self.trace.inputs, &roots);
        let guarded = program.outputs.split_off(outputs.len());
        let argument_count = self.trace.inputs.len();
        drop(self.reading);
        guards.report_to_outer();
        let reads = guards.in_slots(&guarded);
        let input_free = input_free::nodes(&roots, &captured);
        Traced { program, argument_count, captured, input_free, reads }
    }
}

/// A traced function.
#[derive(Clone, Debug)]
pub struct Traced {
    program: Program,
    /// Number of arguments without captured arrays.
    argument_count: usize,
    captured: Vec<Array>,
    /// The nodes behind captured arrays that nothing but the function refers to.
    input_free: Vec<Arc<Node>>,
    /// The lengths that the function read itself, not through operations.
    reads: ShapeGuards,
}

impl Traced {
    /// Simplify and fuse the program.
    pub fn compile(&self) -> Result<CompiledGraph> {
        let (count, captured) = (self.argument_count, self.captured.clone());
        let program = fold(&self.program, count, &captured)?;
        if self.input_free.is_empty() {
            return CompiledGraph::of(&program, count, captured, self.reads.clone());
        }
        let (program, captured) = input_free::inline(&program, count, &captured, &self.input_free);
        let mut reads = self.reads.clone();
        // Slots of steps have other numbers now; nothing but that they are no arguments is asked of them.
        reads.renumber_slots(|slot| if (slot as usize) < count { slot } else { u32::MAX });
        CompiledGraph::of(&program, count, captured, reads)
    }

    /// The traced program; captured arrays are its last arguments.
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
    /// Compile a program whose last arguments, after `argument_count` others, are `captured`.
    fn of(
        program: &Program,
        argument_count: usize,
        captured: Vec<Array>,
        reads: ShapeGuards,
    ) -> Result<CompiledGraph> {
        // Arrays of an outer transform are still traced.
        let captures_traced = captured.iter().any(Array::is_traced);
        let plain = simplify(program)?;
        let (fused, hoisted) = fused(&plain)?;
        let (plain, fused) = (ReplayPlan::new(plain)?, ReplayPlan::new(fused)?);
        let captured_and_hoisted = captured.iter().cloned().chain(hoisted).collect();
        Ok(CompiledGraph {
            argument_count,
            fused,
            plain,
            captured,
            captured_and_hoisted,
            captures_traced,
            reads,
        })
    }

    /// Whether it may be cached for later calls: not if it holds arrays traced by an outer transform.
    pub fn is_reusable(&self) -> bool {
        !self.captures_traced
    }

    /// The program without fusion, as used by transforms; captured arrays are its last arguments.
    pub fn program(&self) -> &Program {
        self.plain.program()
    }

    /// The program as it runs: elementwise regions are fused, and values computed from constants only are hoisted to its last
    /// arguments.
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
            self.reads.record_again(&arguments, &self.captured);
            self.plain.record(arguments, &self.captured, TracedInputs::Yes)
        } else {
            self.fused.record(arguments, &self.captured_and_hoisted, TracedInputs::No)
        }
    }
}

/// Fuse the elementwise regions of a program, and return it with its last arguments: values computed from constants only are
/// hoisted.
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

/// Return a function that records the graph of another one on its first call and replays it on later calls.
///
/// The function is traced once for every combination of shapes and dtypes of its arguments. All else that it reads is a constant of
/// that trace: captured arrays, Rust values, and the keys of draws without a key. Give what changes between calls as arguments:
/// parameters, optimizer states, the number of the step as an array, random keys. The value of an argument cannot be read during
/// the trace ([`ErrorKind::NoValue`](umber_types::ErrorKind)).
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Result};
/// use umber::compile::compile;
/// use umber::transforms::value_and_grad;
///
/// let loss = |arguments: &[Array]| -> Result<Array> { (&arguments[0] - &arguments[1]).square()?.sum(..) };
/// let loss_and_gradients = value_and_grad(loss, &[0]);
/// // One step of gradient descent: (weights, target, learning rate) to (weights, loss).
/// let step = compile(|arguments| {
///     let (loss, gradients) = loss_and_gradients(&arguments[..2])?;
///     Ok(vec![&arguments[0] - &gradients[0] * &arguments[2], loss])
/// });
/// let (mut weights, target) = (Array::from([1.0f32, 2.0]), Array::from([0.0f32, 0.0]));
/// for rate in [0.25f32, 0.5] {
///     weights = step(&[weights, target.clone(), Array::from(rate)])?.remove(0);
/// }
/// assert_eq!(weights.to_vec::<f32>()?, [0.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
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
    // A setting made by another thread meanwhile takes precedence.
    let _ = MODE.compare_exchange(UNKNOWN, mode, Ordering::Relaxed, Ordering::Relaxed);
    MODE.load(Ordering::Relaxed) == ENABLED
}

/// Make compiled functions replay their graphs, regardless of `UMBER_DISABLE_COMPILE`.
pub fn enable() {
    MODE.store(ENABLED, Ordering::Relaxed);
}

/// Make compiled functions call their original function on every call.
pub fn disable() {
    MODE.store(DISABLED, Ordering::Relaxed);
}
