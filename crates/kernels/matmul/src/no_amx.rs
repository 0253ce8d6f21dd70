//! Replaces [`amx`](super::amx) on other architectures.

use umber_types::bf16;

use super::product::Product;

pub(super) fn speed() -> Option<f64> {
    None
}

pub(super) fn is_suitable(_: &Product<bf16, f32>) -> bool {
    false
}

pub(super) fn block(m: usize, n: usize) -> (usize, usize) {
    (m, n)
}

pub(super) fn product(_: &Product<bf16, f32>) {
    unreachable!("no product is suitable without a unit");
}
