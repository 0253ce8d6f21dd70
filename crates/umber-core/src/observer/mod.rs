//! Observer: what the user asked to be told about the steps of evaluations.
//!
//! The executor asks once per run of a plan whether there is an observer, which then runs around each step.
//! [`numbers`] searches results for NaN and infinity, [`profile`] measures time, memory and arithmetic.

pub mod numbers;
pub mod profile;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use smallvec::SmallVec;
use umber_types::Result;

use crate::backend::Task;
use crate::frontend::Interrupts;
use crate::op::Op;
use numbers::NumberCheck;
use profile::{Profile, RunningStep};

/// What is observed, as flags; zero in most programs.
static SWITCH: AtomicU8 = AtomicU8::new(0);

/// What is observed during a run of a plan.
#[derive(Debug)]
pub(crate) struct Observer {
    numbers: Option<NumberCheck>,
    profiles: SmallVec<[Arc<Profile>; 1]>,
}

/// A step of a plan.
pub(crate) struct ObservedStep<'a> {
    /// The operation.
    pub(crate) op: &'a Op,
    /// The name users see.
    pub(crate) name: &'static str,
    /// The source line that recorded it.
    pub(crate) origin: &'a dyn Fn() -> Option<Arc<str>>,
}

impl Observer {
    /// The observer of a run that begins now, if anything is observed.
    #[inline]
    pub(crate) fn current() -> Option<Observer> {
        let switch = SWITCH.load(Ordering::Relaxed);
        if switch == 0 { None } else { Some(Observer::of(switch)) }
    }

    #[cold]
    fn of(switch: u8) -> Observer {
        let profiles = if switch & profile::IS_ACTIVE == 0 { SmallVec::new() } else { profile::active() };
        Observer { numbers: NumberCheck::of(switch), profiles }
    }

    /// Run a step by `launch`, and look at it. If it fails, the task has its inputs.
    pub(crate) fn around(
        &self,
        step: &ObservedStep<'_>,
        task: &mut Task<'_>,
        interrupts: &mut Interrupts,
        launch: impl FnOnce(&mut Task<'_>, &mut Interrupts) -> Result<()>,
    ) -> Result<()> {
        // Other handles to the inputs keep the step from overwriting them.
        let inputs = self.numbers.map(|_| task.inputs.clone());
        let running = (!self.profiles.is_empty()).then(|| RunningStep::of(step, task));
        let launched = launch(task, interrupts);
        match (running, &launched) {
            (Some(running), Ok(())) => running.end_task(&self.profiles, step, task),
            (Some(running), Err(_)) => {
                running.abandon();
            }
            (None, _) => {}
        }
        launched?;
        let Some((numbers, inputs)) = self.numbers.zip(inputs) else { return Ok(()) };
        numbers.check(step, &inputs, task, interrupts).inspect_err(|_| task.inputs = inputs)
    }
}

/// Whether anything is observed.
pub(crate) fn is_on() -> bool {
    SWITCH.load(Ordering::Relaxed) != 0
}

/// Whether steps of plans need the source lines of all operations fused into them.
pub(crate) fn needs_lines() -> bool {
    NumberCheck::of(SWITCH.load(Ordering::Relaxed)).is_some()
}
