//! Left rows as digits, in the order in which codes meet them.

use umber_kernels_base::scratch;

/// The left rows of a product, laid out.
pub(super) struct PackedRows<'a> {
    /// The digits of all places.
    pub(super) limbs: &'a mut [i8],
    /// For each place, what sums of products with codes begin with, which are counted from their middle.
    pub(super) initial_sums: &'a mut [i32],
    /// For each group, what 1 in the second place stands for.
    pub(super) limb_scales: &'a mut [f32],
    /// For each group, its sum.
    pub(super) sums: &'a mut [f32],
}

impl PackedRows<'_> {
    /// Call `body` with space for so many digits, beginnings and groups, which holds anything.
    pub(super) fn with<R>(
        limbs: usize,
        initial_sums: usize,
        groups: usize,
        body: impl FnOnce(PackedRows) -> R,
    ) -> R {
        scratch::with(limbs, |limbs: &mut [i8]| {
            scratch::with(initial_sums, |initial_sums: &mut [i32]| {
                scratch::with(2 * groups, |memory: &mut [f32]| {
                    let (limb_scales, sums) = memory.split_at_mut(groups);
                    body(PackedRows { limbs, initial_sums, limb_scales, sums })
                })
            })
        })
    }
}
