//! Who is trusted with memory that is shared: one choice for the process.

use std::sync::atomic::{AtomicU8, Ordering};

/// How memory is shared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ViewPolicy {
    /// A view is writable exactly if nothing else can see the memory. Operations on memory that others can write run
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

    /// The policy now.
    #[inline]
    pub fn current() -> ViewPolicy {
        match POLICY.load(Ordering::Relaxed) {
            number if number == ViewPolicy::Writable as u8 => ViewPolicy::Writable,
            number if number == ViewPolicy::ReadOnly as u8 => ViewPolicy::ReadOnly,
            _ => ViewPolicy::Checked,
        }
    }

    /// Choose it from now on; answers the one before.
    pub fn choose(self) -> ViewPolicy {
        let before = ViewPolicy::current();
        POLICY.store(self as u8, Ordering::Relaxed);
        before
    }
}
