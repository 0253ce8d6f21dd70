//! What sorting asks of a register's lanes.

use super::networks::BLOCK;
use crate::sort::order::Item;

/// Items of one type in the lanes of one kind of register.
///
/// # Safety
/// All functions need the instructions of the kind of register, into loops compiled for which they are inlined
/// ([`Lanes::compiled`]), and pointers good for as many items as counts say.
pub(in crate::sort) unsafe trait Lanes {
    type Item: Item + Default;
    type Vector: Copy;
    /// Items in a register.
    const COUNT: usize;
    /// Registers that networks sort, a block at least: to partition more is faster.
    const NETWORK: usize;
    /// Registers of a run that [`sort_runs`](Lanes::sort_runs) makes.
    const RUN: usize;

    /// Run `body`, which is inlined, compiled for the instructions.
    unsafe fn compiled<R>(body: impl FnOnce() -> R) -> R;
    /// The next greater; of the greatest itself.
    fn next(item: Self::Item) -> Self::Item;
    /// A register of items as they are.
    unsafe fn load(from: *const Self::Item) -> Self::Vector;
    /// What [`partition`](Lanes::partition) compares with.
    unsafe fn pivots(pivot: Self::Item) -> Self::Vector;
    /// Write those of a register's items that are below the pivot from `low` on, the others before `high`, where there is space
    /// for a whole register at either end; returns how many are below.
    unsafe fn partition(
        vector: Self::Vector,
        pivots: Self::Vector,
        low: *mut Self::Item,
        high: *mut Self::Item,
    ) -> usize;
    /// As [`partition`](Lanes::partition), of at most a register of items where there may be space for just these; moves the ends.
    unsafe fn partition_partial(
        items: &[Self::Item],
        pivot: Self::Item,
        low: &mut *mut Self::Item,
        high: &mut *mut Self::Item,
    );
    /// The first `count` items, then the greatest there is, as networks compare them.
    unsafe fn load_partial(from: *const Self::Item, count: usize) -> Self::Vector;
    /// Write the first `count` lanes that networks compared.
    unsafe fn store_partial(to: *mut Self::Item, count: usize, vector: Self::Vector);
    /// The lesser and the greater of each lane.
    unsafe fn min_max(a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);
    /// The lanes from last to first.
    unsafe fn reverse(vector: Self::Vector) -> Self::Vector;
    /// Sort each [`RUN`](Lanes::RUN) of registers.
    unsafe fn sort_runs(vectors: &mut [Self::Vector; BLOCK]);
    /// Sort the lanes.
    unsafe fn sort(vector: Self::Vector) -> Self::Vector;
    /// Sort lanes that rise, then fall.
    unsafe fn merge(vector: Self::Vector) -> Self::Vector;
}

/// The lanes of `count` that take the greater of lanes `i` and `i ^ x`.
pub(super) const fn upper(x: usize, count: usize) -> u32 {
    let (mut mask, mut i) = (0, 0);
    while i < count {
        if i & (1 << x.ilog2()) != 0 {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}
