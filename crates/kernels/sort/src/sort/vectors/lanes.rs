//! The vector operations that sorting needs.

use super::networks::BLOCK;
use crate::sort::order::Item;

/// Items of one type in the lanes of one kind of register.
///
/// # Safety
///
/// All functions need the instructions of their kind of register and must be inlined into loops compiled for these
/// ([`Lanes::compiled`]). Pointers must be valid for as many items as the counts say.
pub(in crate::sort) unsafe trait Lanes {
    type Item: Item + Default;
    type Vector: Copy;
    /// Items in a register.
    const COUNT: usize;
    /// Maximum registers for sorting networks, at least a block; for more items partitioning is faster.
    const NETWORK: usize;
    /// Registers per run that [`sort_runs`](Lanes::sort_runs) produces.
    const RUN: usize;

    /// Run `body`, which is inlined, compiled for the instructions.
    unsafe fn compiled<R>(body: impl FnOnce() -> R) -> R;
    /// The next greater value, or the maximum itself.
    fn next(item: Self::Item) -> Self::Item;
    /// Load a register of items.
    unsafe fn load(from: *const Self::Item) -> Self::Vector;
    /// The pivot in the form that [`partition`](Lanes::partition) expects.
    unsafe fn pivots(pivot: Self::Item) -> Self::Vector;
    /// Store the items of a register that are below the pivot from `low` on, the others before `high`. There must be space
    /// for a full register at either end. Returns the number of items below.
    unsafe fn partition(
        vector: Self::Vector,
        pivots: Self::Vector,
        low: *mut Self::Item,
        high: *mut Self::Item,
    ) -> usize;
    /// As [`partition`](Lanes::partition), for at most a register of items, writing no more than these; updates `low` and
    /// `high`.
    unsafe fn partition_partial(
        items: &[Self::Item],
        pivot: Self::Item,
        low: &mut *mut Self::Item,
        high: &mut *mut Self::Item,
    );
    /// Load `count` items, padded with the maximum value, in the representation of the networks.
    unsafe fn load_partial(from: *const Self::Item, count: usize) -> Self::Vector;
    /// Store the first `count` lanes, from the representation of the networks.
    unsafe fn store_partial(to: *mut Self::Item, count: usize, vector: Self::Vector);
    /// The minimum and the maximum of each lane.
    unsafe fn min_max(a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);
    /// Reverse the lanes.
    unsafe fn reverse(vector: Self::Vector) -> Self::Vector;
    /// Sort each run of [`RUN`](Lanes::RUN) registers.
    unsafe fn sort_runs(vectors: &mut [Self::Vector; BLOCK]);
    /// Sort the lanes.
    unsafe fn sort(vector: Self::Vector) -> Self::Vector;
    /// Sort lanes that form a bitonic sequence.
    unsafe fn merge(vector: Self::Vector) -> Self::Vector;
}

/// Mask of the lanes, out of `count`, that take the maximum of lanes `i` and `i ^ x`.
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
