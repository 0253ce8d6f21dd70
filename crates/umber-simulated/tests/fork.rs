//! A forked child of a process that has used the device cannot use it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::time::Duration;

use common::{accelerator, numbers};
use umber_core::backend::{Allocator, Backend};
use umber_core::eval;
use umber_core::graph::ArrayInternals;
use umber_simulated::Config;

#[test]
fn the_device_fails_in_a_forked_process() {
    let device = accelerator(Config::default());
    let x = &numbers([8]) + 1.0;
    eval(&[x.clone()]).unwrap();
    // SAFETY: the child takes no lock that another thread may have held, and `_exit` runs no exit handlers of the parent.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_fork_error = |text: &str| text.contains("forked; use the spawn");
        let allocate_fails = device.allocate(8).is_err_and(|error| is_fork_error(&error.to_string()));
        let eval_fails = eval(&[&x + 1.0]).is_err_and(|error| is_fork_error(&error.to_string()));
        let synchronize_fails = device.synchronize(x.node().stream(), Duration::from_mins(1)).is_err();
        drop(x);
        let is_as_expected = allocate_fails && eval_fails && synchronize_fails && device.active() == 0;
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(i32::from(!is_as_expected)) };
    }
    let mut status = 0;
    // SAFETY: `child` is the process forked above, and `status` is a valid pointer.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!((&x + 1.0).to_vec::<f32>().unwrap().len(), 8);
}
