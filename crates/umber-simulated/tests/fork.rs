//! A process that is forked after the device was used may not use it.
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
fn a_forked_process_is_refused() {
    let device = accelerator(Config::default());
    let x = &numbers([8]) + 1.0;
    eval(&[x.clone()]).unwrap();
    // SAFETY: the child calls nothing that another thread may have locked, and leaves without running what the parent registered.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = |text: &str| text.contains("forked; use the spawn");
        let allocated = device.allocate(8).is_err_and(|error| refused(&error.to_string()));
        let evaluated = eval(&[&x + 1.0]).is_err_and(|error| refused(&error.to_string()));
        let synchronized = device.synchronize(x.node().stream(), Duration::from_mins(1)).is_err();
        drop(x);
        let is_right = allocated && evaluated && synchronized && device.active() == 0;
        // SAFETY: ends the process.
        unsafe { libc::_exit(i32::from(!is_right)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!((&x + 1.0).to_vec::<f32>().unwrap().len(), 8);
}
