//! Devices that the environment variable requests.
#![allow(clippy::unwrap_used, reason = "tests read better so")]

mod common;

use std::process::Command;

use common::{GPU, assert_in_order, numbers};
use umber_core::backend::Allocator;
use umber_core::device;
use umber_simulated::{register_from_environment, registered};

const VARIABLE: &str = "UMBER_SIMULATED_GPU";

/// Runs itself in child processes with the variable set, because a process registers devices once.
#[test]
fn devices_are_registered() {
    let Ok(value) = std::env::var(VARIABLE) else {
        for value in ["1", "devices=2,seed=7,memory_mb=8,delay_us=50,decompose=0", "devices=none"] {
            let child = Command::new(std::env::current_exe().unwrap()).env(VARIABLE, value).output().unwrap();
            assert!(child.status.success(), "{value}: {}", String::from_utf8_lossy(&child.stdout));
        }
        register_from_environment().unwrap();
        assert!(registered().is_empty());
        return;
    };
    if value == "devices=none" {
        assert!(register_from_environment().unwrap_err().to_string().contains("\"devices=none\""));
        return;
    }
    register_from_environment().unwrap();
    let devices = registered();
    assert_eq!(devices.len(), if value == "1" { 1 } else { 2 });
    assert_eq!(devices[0].total(), if value == "1" { 1 << 30 } else { 8 << 20 });
    device::set_default_device(GPU).unwrap();
    let x = &numbers([8]) + 1.0;
    assert_eq!(x.to_vec::<f32>().unwrap().len(), 8);
    assert_eq!(x.device(), devices[0].device());
    devices.iter().for_each(assert_in_order);
}
