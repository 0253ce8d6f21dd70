//! In place of [`tiles`](super::tiles) where processors have none.

use umber_types::bf16;

use super::product::Product;

/// What a processor multiplies pairs of bfloat16 with.
pub(super) enum Kind {
    Vectors,
    Tiles,
}

pub(super) fn available() -> Option<Kind> {
    None
}

pub(super) fn suit(_: &Product<bf16, f32>) -> bool {
    false
}

pub(super) fn block(m: usize, n: usize) -> (usize, usize) {
    (m, n)
}

pub(super) fn product(_: &Product<bf16, f32>) {
    unreachable!("no product suits what there is not");
}
