//! Observer: what the user asked to be told about the steps of evaluations.
//!
//! The executor asks once per run of a plan whether there is an observer, and calls it before and after each step.
//! [`numbers`] searches results for NaN and infinity.

pub mod numbers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use smallvec::SmallVec;
use umber_types::Result;

use crate::backend::Task;
use crate::frontend::Interrupts;
use crate::graph::Storage;
use crate::op::Op;
use numbers::NumberCheck;

/// What is observed, as flags; zero in most programs.
static SWITCH: AtomicU8 = AtomicU8::new(0);

/// What is observed during a run of a plan.
#[derive(Debug)]
pub(crate) struct Observer {
    numbers: Option<NumberCheck>,
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

/// What an observer keeps from before a step until after it.
pub(crate) struct Before {
    /// The inputs, which the step then cannot overwrite; only if they are needed.
    inputs: SmallVec<[Storage; 3]>,
}

impl Observer {
    /// The observer of a run that begins now, if anything is observed.
    #[inline]
    pub(crate) fn current() -> Option<Observer> {
        let switch = SWITCH.load(Ordering::Relaxed);
        if switch == 0 { None } else { Some(Observer { numbers: NumberCheck::of(switch) }) }
    }

    /// Called before a step.
    pub(crate) fn before(&self, task: &Task<'_>) -> Before {
        Before { inputs: if self.numbers.is_some() { task.inputs.clone() } else { SmallVec::new() } }
    }

    /// Called after a step that succeeded. If it fails, the task has its inputs again.
    pub(crate) fn after(
        &self,
        before: Before,
        step: &ObservedStep<'_>,
        task: &mut Task<'_>,
        interrupts: &mut Interrupts,
    ) -> Result<()> {
        let Some(numbers) = self.numbers else { return Ok(()) };
        numbers.check(step, &before.inputs, task, interrupts).inspect_err(|_| task.inputs = before.inputs)
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
