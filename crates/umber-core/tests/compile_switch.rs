//! `compile::disable`, with which compiled functions run eagerly. The switch is global, so that this test has its own process.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

use std::cell::Cell;

use umber_core::compile::{self, compile};
use umber_core::{Array, DType};

#[test]
fn compilation_can_be_switched_off_and_on() {
    let runs = Cell::new(0);
    let call = compile(|x| {
        runs.set(runs.get() + 1);
        Ok(vec![&x[0] * 2.0])
    });
    let x = Array::scalar(1.5, DType::Float32);
    let value = |call: &dyn Fn(&[Array]) -> umber_core::Result<Vec<Array>>| {
        call(std::slice::from_ref(&x)).unwrap()[0].to_vec::<f32>().unwrap()[0]
    };
    compile::disable();
    assert_eq!((value(&call), value(&call)), (3.0, 3.0));
    assert_eq!(runs.get(), 2);
    compile::enable();
    assert_eq!((value(&call), value(&call)), (3.0, 3.0));
    assert_eq!(runs.get(), 3);
}
