//! View policy: whether shared memory may be written, a setting of the process.

use std::sync::atomic::{AtomicU8, Ordering};

/// How memory is shared with other libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ViewPolicy {
    /// A view is writable only if nothing else can see the memory. Operations on memory that others can write run
    /// eagerly.
    Checked,
    /// A view is writable whenever the memory is, and operations stay lazy: the program is responsible for its writes.
    Writable,
    /// As `Checked`, but no view is writable.
    ReadOnly,
}

static POLICY: AtomicU8 = AtomicU8::new(ViewPolicy::Checked as u8);

impl ViewPolicy {
    /// Every policy, in declaration order.
    pub const ALL: [ViewPolicy; 3] = [ViewPolicy::Checked, ViewPolicy::Writable, ViewPolicy::ReadOnly];

    /// The policy's name.
    pub const fn name(self) -> &'static str {
        match self {
            ViewPolicy::Checked => "checked",
            ViewPolicy::Writable => "writable",
            ViewPolicy::ReadOnly => "readonly",
        }
    }

    /// The current policy.
    #[inline]
    pub fn current() -> ViewPolicy {
        match POLICY.load(Ordering::Relaxed) {
            number if number == ViewPolicy::Writable as u8 => ViewPolicy::Writable,
            number if number == ViewPolicy::ReadOnly as u8 => ViewPolicy::ReadOnly,
            _ => ViewPolicy::Checked,
        }
    }

    /// Make it the current policy; returns the previous one.
    pub fn choose(self) -> ViewPolicy {
        let previous = ViewPolicy::current();
        POLICY.store(self as u8, Ordering::Relaxed);
        previous
    }
}
