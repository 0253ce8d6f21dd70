//! Left rows as digits, in the order in which codes meet them.

use umber_kernels_base::scratch;

/// The left rows of a product, laid out.
pub(super) struct LaidRows<'a> {
    /// The digits of all places.
    pub(super) digits: &'a mut [i8],
    /// For each place, what sums of products with codes begin with, which are counted from their middle.
    pub(super) beginnings: &'a mut [i32],
    /// For each group, what 1 in the second place stands for.
    pub(super) units: &'a mut [f32],
    /// For each group, its sum.
    pub(super) sums: &'a mut [f32],
}

impl LaidRows<'_> {
    /// Call `body` with room for so many digits, beginnings and groups, which holds anything.
    pub(super) fn with<R>(
        digits: usize,
        beginnings: usize,
        groups: usize,
        body: impl FnOnce(LaidRows) -> R,
    ) -> R {
        scratch::with(digits, |digits: &mut [i8]| {
            scratch::with(beginnings, |beginnings: &mut [i32]| {
                scratch::with(2 * groups, |memory: &mut [f32]| {
                    let (units, sums) = memory.split_at_mut(groups);
                    body(LaidRows { digits, beginnings, units, sums })
                })
            })
        })
    }
}
