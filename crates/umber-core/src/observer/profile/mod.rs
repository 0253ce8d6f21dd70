//! Profile: the time, memory traffic and arithmetic of the steps that run while it is active.
//!
//! Every active profile records every step of the process, with the time that nested steps took subtracted. Work of an asynchronous
//! device is waited for, so that its time is that until the event after it.

mod report;
mod trace;

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use smallvec::SmallVec;
use umber_kernels::allocator::{self, MemoryPeak, Owner, Tracking};
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{DType, Device, Result, ensure};

use super::{ObservedStep, SWITCH};
use crate::backend::{Task, asynchronous};
use crate::graph::{Array, ArraySpec, Storage};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::fused::Fused;
use crate::{eager, source_line};

/// The flag of [`SWITCH`] that is set while a profile is active.
pub(super) const IS_ACTIVE: u8 = 8;

/// Events beyond this number are counted, but not kept for a trace.
const MAX_EVENTS: usize = 1 << 20;

/// The profiles that are active.
static ACTIVE: ForkMutex<Vec<Arc<Profile>>> =
    ForkMutex::new(Vec::new, Vec::new(), Level::Last, InChild::Keep);

/// Source lines by the number under which the allocator knows them.
static LINES: ForkMutex<Lines> = ForkMutex::new(Lines::new, Lines::new(), Level::Last, InChild::Keep);

thread_local! {
    /// Time of the steps that ran on this thread inside the current one.
    static NESTED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// The number of this thread.
    static THREAD: u32 = {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Whether a profile records the lines that own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithMemory {
    /// It does.
    Yes,
    /// It records time only.
    No,
}

/// A record of the steps of evaluations.
#[derive(Debug)]
pub struct Profile {
    with_memory: WithMemory,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rows: Vec<Row>,
    indices: HashMap<Key, usize>,
    /// The lines of events, and their numbers.
    lines: Vec<Arc<str>>,
    line_numbers: HashMap<Arc<str>, u32>,
    events: Vec<Event>,
    events_omitted: usize,
    /// The names of threads that ran steps.
    threads: BTreeMap<u32, String>,
    /// When it was first started; events count from then.
    origin: Option<Instant>,
    /// When it was started, while it is active.
    started: Option<Instant>,
    /// How long it was active before.
    wall: Duration,
    tracking: Option<Tracking>,
    peak: Option<MemoryPeak>,
}

/// What the steps of a row have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    operation: &'static str,
    fused: Vec<&'static str>,
    device: Device,
}

/// The steps with one operation, or one sequence of fused operations.
#[derive(Clone, Debug)]
pub struct Row {
    /// The operation; of fused ones, the last.
    pub operation: &'static str,
    /// The operations that are fused into one kernel, in order; empty if there is one only.
    pub fused: Vec<&'static str>,
    /// The device it ran on.
    pub device: Device,
    /// Number of steps.
    pub calls: u64,
    /// Number of kernels: not of views, transfers and control flow.
    pub kernels: u64,
    /// Time including nested steps, such as those of the body of a loop.
    pub total: Duration,
    /// Time without nested steps.
    pub own: Duration,
    /// Bytes of the inputs.
    pub bytes_read: u64,
    /// Bytes of the results.
    pub bytes_written: u64,
    /// Number of arithmetic operations, if it is known.
    pub flops: Option<u64>,
    /// The lines of the user's program that recorded it, with their calls and own time; the longest time first.
    pub lines: Vec<LineTime>,
}

/// The steps of a row that one line recorded.
#[derive(Clone, Debug)]
pub struct LineTime {
    /// `file:line`.
    pub line: Arc<str>,
    /// Number of steps.
    pub calls: u64,
    /// Time without nested steps.
    pub own: Duration,
}

/// The memory in use at the peak.
#[derive(Clone, Debug)]
pub struct MemoryByLine {
    /// All bytes.
    pub bytes: usize,
    /// The bytes that each line allocated, the largest first.
    pub by_line: Vec<(Arc<str>, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    row: u32,
    line: Option<u32>,
    thread: u32,
    /// Since the profile began.
    start: Duration,
    total: Duration,
}

/// A step that is running.
pub(super) struct RunningStep {
    start: Instant,
    /// Time of the steps before it inside the step around it.
    nested_before: Duration,
    owner_before: Option<Owner>,
    bytes_read: u64,
    inputs: SmallVec<[ArraySpec; 3]>,
    /// Addresses of the buffers of the inputs.
    buffers: SmallVec<[usize; 3]>,
}

/// What a step did.
struct Measured {
    key: Key,
    kernels: u64,
    line: Option<Arc<str>>,
    start: Instant,
    total: Duration,
    own: Duration,
    bytes_read: u64,
    bytes_written: u64,
    flops: Option<u64>,
}

struct Lines {
    names: Vec<Arc<str>>,
    owners: Option<HashMap<Arc<str>, Owner>>,
}

impl Lines {
    const fn new() -> Lines {
        Lines { names: Vec::new(), owners: None }
    }

    fn owner(&mut self, line: &Arc<str>) -> Owner {
        let (names, owners) = (&mut self.names, self.owners.get_or_insert_default());
        *owners.entry(Arc::clone(line)).or_insert_with(|| {
            names.push(Arc::clone(line));
            Owner::line(names.len() - 1)
        })
    }
}

/// The profiles that are active.
pub(super) fn active() -> SmallVec<[Arc<Profile>; 1]> {
    ACTIVE.lock().iter().cloned().collect()
}

impl Profile {
    /// A profile that records nothing yet.
    pub fn new(with_memory: WithMemory) -> Profile {
        Profile { with_memory, state: Mutex::default() }
    }

    /// Record all steps that run from now on.
    ///
    /// # Errors
    /// If it is active.
    pub fn start(self: &Arc<Profile>) -> Result<()> {
        let mut state = self.lock();
        ensure!(
            state.started.is_none(),
            Runtime("profile"),
            "the profile is active already; make another one"
        );
        let now = Instant::now();
        state.origin.get_or_insert(now);
        state.started = Some(now);
        if self.with_memory == WithMemory::Yes {
            state.tracking = Some(allocator::track());
        }
        drop(state);
        source_line::keep();
        let mut active = ACTIVE.lock();
        active.push(Arc::clone(self));
        SWITCH.fetch_or(IS_ACTIVE, Ordering::Relaxed);
        eager::observe(true);
        Ok(())
    }

    /// Stop recording. Runs that began before may still add to it.
    pub fn stop(&self) {
        let removed = {
            let mut active = ACTIVE.lock();
            let index = active.iter().position(|profile| std::ptr::eq(Arc::as_ptr(profile), self));
            let removed = index.map(|index| active.swap_remove(index));
            if active.is_empty() {
                SWITCH.fetch_and(!IS_ACTIVE, Ordering::Relaxed);
                eager::observe(false);
            }
            removed
        };
        if removed.is_none() {
            return;
        }
        source_line::release();
        let mut state = self.lock();
        if let Some(started) = state.started.take() {
            state.wall += started.elapsed();
        }
        if let Some(tracking) = state.tracking.take() {
            state.peak = Some(allocator::untrack(tracking));
        }
    }

    /// The rows, the longest own time first.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = self.lock().rows.clone();
        for row in &mut rows {
            row.lines.sort_by_key(|line| Reverse(line.own));
        }
        rows.sort_by_key(|row| Reverse(row.own));
        rows
    }

    /// How long it was active.
    pub fn wall_time(&self) -> Duration {
        let state = self.lock();
        state.wall + state.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// The host memory in use when it was largest, while the profile was active. `None` without memory, or while it is active.
    pub fn memory_at_peak(&self) -> Option<MemoryByLine> {
        let state = self.lock();
        let peak = state.peak.as_ref()?;
        let lines = LINES.lock();
        let name = |owner: Owner| match owner {
            Owner::BEFORE => Arc::from("allocated before the profile"),
            Owner::NO_STEP => Arc::from("outside of operations"),
            _ => owner
                .index()
                .and_then(|index| lines.names.get(index).cloned())
                .unwrap_or_else(|| Arc::from("unknown line")),
        };
        let mut by_line: Vec<(Arc<str>, usize)> =
            peak.by_owner().map(|(owner, bytes)| (name(owner), bytes)).collect();
        by_line.sort_by_key(|(_, bytes)| Reverse(*bytes));
        Some(MemoryByLine { bytes: peak.bytes, by_line })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, step: &Measured) {
        let thread = THREAD.with(|thread| *thread);
        self.lock().add(step, thread);
    }
}

impl State {
    fn add(&mut self, step: &Measured, thread: u32) {
        let index = self.indices.get(&step.key).copied().unwrap_or_else(|| {
            self.rows.push(Row::new(&step.key, step.flops.map(|_| 0)));
            self.indices.insert(step.key.clone(), self.rows.len() - 1);
            self.rows.len() - 1
        });
        let line = step.line.as_ref().map(|line| {
            let lines = &mut self.lines;
            *self.line_numbers.entry(Arc::clone(line)).or_insert_with(|| {
                lines.push(Arc::clone(line));
                lines.len() as u32 - 1
            })
        });
        self.rows[index].add(step);
        self.threads.entry(thread).or_insert_with(|| match std::thread::current().name() {
            Some(name) => format!("{name} {thread}"),
            None => format!("thread {thread}"),
        });
        let Some(origin) = self.origin else { return };
        if self.events.len() == MAX_EVENTS {
            self.events_omitted += 1;
            return;
        }
        let start = step.start.saturating_duration_since(origin);
        self.events.push(Event { row: index as u32, line, thread, start, total: step.total });
    }
}

impl Row {
    fn new(key: &Key, flops: Option<u64>) -> Row {
        let Key { operation, fused, device } = key.clone();
        Row {
            operation,
            fused,
            device,
            calls: 0,
            kernels: 0,
            total: Duration::ZERO,
            own: Duration::ZERO,
            bytes_read: 0,
            bytes_written: 0,
            flops,
            lines: Vec::new(),
        }
    }

    fn add(&mut self, step: &Measured) {
        self.calls += 1;
        self.kernels += step.kernels;
        self.total += step.total;
        self.own += step.own;
        self.bytes_read += step.bytes_read;
        self.bytes_written += step.bytes_written;
        self.flops = self.flops.zip(step.flops).map(|(sum, flops)| sum + flops);
        let Some(line) = &step.line else { return };
        match self.lines.iter_mut().find(|known| known.line == *line) {
            Some(known) => {
                known.calls += 1;
                known.own += step.own;
            }
            None => self.lines.push(LineTime { line: Arc::clone(line), calls: 1, own: step.own }),
        }
    }
}

impl RunningStep {
    /// A step on these inputs, which begins now.
    fn begin(line: Option<Arc<str>>, bytes_read: u64, inputs: SmallVec<[ArraySpec; 3]>) -> RunningStep {
        let owner_before = allocator::is_tracked()
            .then(|| allocator::set_owner(line.map_or(Owner::NO_STEP, |line| LINES.lock().owner(&line))));
        let nested_before = NESTED.replace(Duration::ZERO);
        let buffers = SmallVec::new();
        RunningStep { start: Instant::now(), nested_before, owner_before, bytes_read, inputs, buffers }
    }

    /// The step of a task.
    pub(super) fn of(step: &ObservedStep<'_>, task: &Task<'_>) -> RunningStep {
        let inputs = task.inputs.iter().zip(&task.dtypes);
        let bytes = inputs.clone().map(|(input, &dtype)| bytes_of(input, dtype)).sum();
        let spec =
            |(input, &dtype): (&Storage, &DType)| ArraySpec { shape: input.layout.shape.clone(), dtype };
        let line = if allocator::is_tracked() { (step.origin)() } else { None };
        let buffers = inputs.clone().map(|(input, _)| address_of(input)).collect();
        RunningStep { buffers, ..RunningStep::begin(line, bytes, inputs.map(spec).collect()) }
    }

    /// End the step without a record of it; returns the time it took.
    pub(super) fn abandon(&self) -> Duration {
        let total = self.start.elapsed();
        NESTED.set(self.nested_before + total);
        self.owner_before.map(allocator::set_owner);
        total
    }

    /// Record the step, whose work has just finished. Views take no time and are not recorded.
    fn end<'s>(
        self,
        profiles: &[Arc<Profile>],
        op: &Op,
        operation: &'static str,
        line: impl FnOnce() -> Option<Arc<str>>,
        results: impl FnOnce(&RunningStep) -> Option<Results<'s>>,
    ) {
        let nested = NESTED.get();
        let total = self.abandon();
        let own = total.saturating_sub(nested);
        let (Some(to), line) = (results(&self), line()) else { return };
        let is_nested = op.control_flow().is_some();
        let is_kernel = !is_nested && !matches!(op, Op::Transfer(_));
        let (bytes_read, bytes_written) = if is_nested { (0, 0) } else { (self.bytes_read, to.bytes) };
        let inputs: SmallVec<[&ArraySpec; 3]> = self.inputs.iter().collect();
        let names = if let Op::Fused(Fused(region)) = op { region.names() } else { Vec::new() };
        let fused = if names.len() > 1 { names } else { Vec::new() };
        let measured = Measured {
            key: Key { operation, fused, device: to.device },
            kernels: u64::from(is_kernel),
            line,
            start: self.start,
            total,
            own,
            bytes_read,
            bytes_written,
            flops: op.flops(&inputs, &to.specs),
        };
        for profile in profiles {
            profile.record(&measured);
        }
    }

    /// Record a step of a plan after its work has finished.
    pub(super) fn end_task(self, profiles: &[Arc<Profile>], step: &ObservedStep<'_>, task: &Task<'_>) {
        for output in task.outputs.iter().flatten() {
            // A failure of the device is reported to those who read the result.
            let _ = asynchronous::wait_until_finished(&output.buffer);
        }
        let results = |running: &RunningStep| {
            let outputs = task.outputs.iter().flatten();
            if step.op.is_view()
                && outputs.clone().all(|output| running.buffers.contains(&address_of(output)))
            {
                return None;
            }
            let bytes = outputs.zip(&task.specs).map(|(output, spec)| bytes_of(output, spec.dtype)).sum();
            Some(Results { specs: task.specs.iter().copied().collect(), bytes, device: task.stream.device })
        };
        self.end(profiles, step.op, step.name, step.origin, results);
    }
}

/// The results of a step.
struct Results<'a> {
    specs: SmallVec<[&'a ArraySpec; 1]>,
    bytes: u64,
    device: Device,
}

/// Bytes of the different elements of a storage: those of a broadcast count once.
fn bytes_of(storage: &Storage, dtype: DType) -> u64 {
    let layout = &storage.layout;
    let lengths = layout.shape.iter().zip(&layout.strides);
    let elements: usize =
        lengths.map(|(&length, &stride)| if stride == 0 { length.min(1) } else { length }).product();
    (elements * dtype.size()) as u64
}

fn address_of(storage: &Storage) -> usize {
    Arc::as_ptr(&storage.buffer).addr()
}

/// Compute an operation eagerly, and record it; `compute` returns `None` if it has to be recorded as a node.
pub(crate) fn record_eager<T>(
    op: &Op,
    inputs: &[&Array],
    specs: &[ArraySpec],
    compute: impl FnOnce() -> Option<T>,
) -> Option<T> {
    if op.is_view() {
        return compute();
    }
    let line = source_line::current_source_line();
    let bytes = |spec: &ArraySpec| (spec.shape.size() * spec.dtype.size()) as u64;
    let read =
        inputs.iter().filter(|input| input.constant().is_none()).map(|input| bytes(input.spec())).sum();
    let specs_read = inputs.iter().map(|input| input.spec().clone()).collect();
    let running = RunningStep::begin(line.clone(), read, specs_read);
    let Some(result) = compute() else {
        running.abandon();
        return None;
    };
    let results = |_: &RunningStep| {
        let bytes = specs.iter().map(bytes).sum();
        Some(Results { specs: specs.iter().collect(), bytes, device: Device::CPU })
    };
    let name = if let Op::Fused(Fused(region)) = op { region.name() } else { op.name() };
    running.end(&active(), op, name, || line, results);
    Some(result)
}
