//! Left rows as int8 limbs, in the order in which the kernels read them.

use umber_kernels_base::scratch;

/// The packed left rows of a product.
pub(super) struct PackedRows<'a> {
    /// All limbs.
    pub(super) limbs: &'a mut [i8],
    /// Initial values of the sums of each limb: they subtract the zero point's part of the products.
    pub(super) initial_sums: &'a mut [i32],
    /// For each group, the value of 1 in the second limb.
    pub(super) limb_scales: &'a mut [f32],
    /// For each group, the sum of its elements.
    pub(super) sums: &'a mut [f32],
}

impl PackedRows<'_> {
    /// Call `body` with uninitialised space for this many limbs, initial sums and groups.
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
