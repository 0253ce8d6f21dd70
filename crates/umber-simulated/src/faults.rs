//! Faults on purpose: launches that are refused, and kernels that fail while they run.

use std::sync::Mutex;

use crate::lock;

/// Counts down to a fault; `None` if there is none to come.
struct Countdown(Mutex<Option<u64>>);

impl Countdown {
    fn is_due(&self) -> bool {
        let mut left = lock(&self.0);
        let is_due = *left == Some(0);
        *left = left.and_then(|left| left.checked_sub(1));
        is_due
    }
}

/// The faults to come.
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

    /// Is this launch to be refused?
    pub(crate) fn refuses_launch(&self) -> bool {
        self.launch.is_due()
    }

    /// Is the kernel that is being launched to fail?
    pub(crate) fn fails_kernel(&self) -> bool {
        self.kernel.is_due()
    }
}
