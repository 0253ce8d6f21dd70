//! Fault injection: launches that fail, and kernels that fail while they run.

use std::sync::Mutex;

use crate::lock;

/// Number of calls before the next fault; `None` if no fault is planned.
struct Countdown(Mutex<Option<u64>>);

impl Countdown {
    fn is_due(&self) -> bool {
        let mut remaining = lock(&self.0);
        let is_due = *remaining == Some(0);
        *remaining = remaining.and_then(|remaining| remaining.checked_sub(1));
        is_due
    }
}

/// The planned faults.
pub(crate) struct Faults {
    launch: Countdown,
    kernel: Countdown,
}

impl Faults {
    pub(crate) fn new(launch: Option<u64>, kernel: Option<u64>) -> Faults {
        Faults { launch: Countdown(Mutex::new(launch)), kernel: Countdown(Mutex::new(kernel)) }
    }

    pub(crate) fn fail_launch(&self, after: u64) {
        *lock(&self.launch.0) = Some(after);
    }

    pub(crate) fn fail_kernel(&self, after: u64) {
        *lock(&self.kernel.0) = Some(after);
    }

    /// Does this launch fail? Counts the launch.
    pub(crate) fn refuses_launch(&self) -> bool {
        self.launch.is_due()
    }

    /// Does the kernel of this launch fail? Counts the kernel.
    pub(crate) fn fails_kernel(&self) -> bool {
        self.kernel.is_due()
    }
}
