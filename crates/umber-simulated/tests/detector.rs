//! The race detector, called directly: it reports the missing waits, which umber-core would have added.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::time::Duration;
use umber_types::ErrorKind;

use smallvec::smallvec;
use umber_core::backend::{Allocator, Backend, Task};
use umber_core::graph::{ArrayInternals, Storage};
use umber_core::op::Op;
use umber_core::primitives::scan::Scan;
use umber_core::types::{Layout, ScanKind, Shape};
use umber_core::{Array, ArraySpec, DType, Error, Stream, ops};
use umber_simulated::{Config, Simulated, open};

use common::{GPU, numbers};

/// A device of this test only.
fn device() -> Simulated {
    open(0, Config::default())
}

fn stream(index: u32) -> Stream {
    Stream { index, device: GPU }
}

fn spec() -> ArraySpec {
    ArraySpec::new([8], DType::Float32)
}

fn empty(device: &Simulated) -> Storage {
    Storage::new(device.allocate(32).unwrap(), Layout::contiguous(Shape::from([8])))
}

/// Leak a reference, so that the block is never released: unlike umber-core, the tests do not record work in the buffer.
fn leaked(storage: Storage) -> Storage {
    std::mem::forget(storage.clone());
    storage
}

/// Launch a cumulative sum on a stream.
fn run(device: &Simulated, input: &Storage, on: u32) -> Result<Storage, Error> {
    let sums = ops::cumsum(&numbers([8]), ops::ScanOrder::along(0), None)?;
    let Op::Scan(Scan { kind: ScanKind::Sum, .. }) = sums.node().op() else { unreachable!("{sums:?}") };
    let spec = spec();
    let inputs = smallvec![input.clone()];
    let mut task = Task::new(stream(on), inputs, smallvec![DType::Float32], smallvec![&spec]);
    // SAFETY: the task has the operation's own input and output.
    unsafe { device.launch(sums.node().op(), &mut task) }?;
    Ok(leaked(task.outputs[0].take().unwrap()))
}

/// Numbers on the device, written on a stream.
fn written(device: &Simulated, on: u32) -> Storage {
    leaked(written_unleaked(device, on))
}

fn written_unleaked(device: &Simulated, on: u32) -> Storage {
    let host = numbers([8]);
    let mut storage = empty(device);
    device.copy(host.storage().unwrap(), &mut storage, DType::Float32, stream(on)).unwrap();
    storage
}

fn read(device: &Simulated, from: &Storage, on: u32) -> Result<Vec<f32>, Error> {
    let mut host = Storage::allocate(&Shape::from([8]), DType::Float32)?;
    device.copy(from, &mut host, DType::Float32, stream(on))?;
    while !device.finish(device.record(stream(on)), Duration::from_millis(10))? {}
    Array::from_storage(host, DType::Float32)?.to_vec::<f32>()
}

/// Check the error of a missing wait, which the device records too.
fn assert_violation<T>(device: &Simulated, result: Result<T, Error>, fragments: &[&str]) {
    let Err(error) = result else { panic!("expected a violation") };
    let text = error.to_string();
    assert_eq!(device.violations(), std::slice::from_ref(&text));
    for fragment in fragments {
        assert!(text.contains(fragment), "{text}");
    }
    device.clear_violations();
}

#[test]
fn order_within_a_stream_needs_no_waits() {
    let device = device();
    let sums = run(&device, &written(&device, 1), 1).unwrap();
    let host = numbers([8]).to_vec::<f32>().unwrap();
    let expected: Vec<f32> = host
        .iter()
        .scan(0.0, |sum, v| {
            *sum += v;
            Some(*sum)
        })
        .collect();
    assert_eq!(read(&device, &sums, 1).unwrap(), expected);
}

#[test]
fn a_read_without_wait_is_a_violation() {
    let device = device();
    let x = written(&device, 1);
    // A wait of the host does not order the streams.
    assert!(device.synchronize(stream(1), Duration::from_mins(1)).unwrap());
    assert_violation(
        &device,
        run(&device, &x, 2),
        &["cumsum on stream 2 reads", "copy on stream 1 writes as its work 1"],
    );
    assert_violation(&device, read(&device, &x, 2), &["copy on stream 2 reads"]);
    device.wait(stream(2), device.record(stream(1))).unwrap();
    run(&device, &x, 2).unwrap();
    assert!(device.violations().is_empty());
}

#[test]
fn a_write_without_wait_is_a_violation() {
    let device = device();
    let host = numbers([8]);
    let mut x = written(&device, 1);
    device.wait(stream(2), device.record(stream(1))).unwrap();
    run(&device, &x, 2).unwrap();
    let overwritten = device.copy(host.storage().unwrap(), &mut x, DType::Float32, stream(1));
    assert_violation(&device, overwritten, &["copy on stream 1 overwrites", "cumsum on stream 2 reads"]);
    let overwritten = device.copy(host.storage().unwrap(), &mut x, DType::Float32, stream(3));
    assert_violation(&device, overwritten, &["copy on stream 3 overwrites", "copy on stream 1 writes"]);
    device.wait(stream(3), device.record(stream(2))).unwrap();
    // Waits are transitive: stream 2 waited for stream 1.
    device.copy(host.storage().unwrap(), &mut x, DType::Float32, stream(3)).unwrap();
    assert!(device.violations().is_empty());
}

#[test]
fn an_event_covers_no_later_work() {
    let device = device();
    written(&device, 1);
    let early = device.record(stream(1));
    let x = written(&device, 1);
    device.wait(stream(2), early).unwrap();
    assert_violation(&device, run(&device, &x, 2), &["as its work 2", "it waited for work 1"]);
}

#[test]
fn an_event_carries_the_clock_of_its_stream() {
    let device = device();
    let x = written(&device, 1);
    let y = written(&device, 2);
    let before = device.record(stream(2));
    device.wait(stream(2), device.record(stream(1))).unwrap();
    device.wait(stream(3), before).unwrap();
    run(&device, &y, 3).unwrap();
    assert_violation(&device, run(&device, &x, 3), &["cumsum on stream 3", "copy on stream 1"]);
}

#[test]
fn a_release_before_the_last_access_is_a_violation() {
    let device = device();
    drop(written_unleaked(&device, 1));
    let violations = device.violations();
    assert_eq!(violations.len(), 1);
    assert!(violations[0].contains("use after free") && violations[0].contains("stream 1"), "{violations:?}");
}

#[test]
fn waits_for_unstarted_work_are_errors() {
    let device = device();
    let event = umber_core::memory::Event { stream: stream(1), number: 3 };
    assert_violation(&device, device.wait(stream(2), event), &["wait for work 3"]);
    let other = Stream::CPU;
    assert!(matches!(device.wait(other, event), Err(error) if error.kind() == ErrorKind::Runtime));
    assert!(
        matches!(run(&open(1, Config::default()), &written(&device, 1), 1), Err(error) if error.kind() == ErrorKind::Runtime)
    );
}
