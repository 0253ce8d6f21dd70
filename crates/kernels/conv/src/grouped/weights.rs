//! Packed weights: vector by vector, and for each tap `N` vectors, one for each rotation.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_matmul::multiply::Multiply;

use super::Plan;

/// Minimum number of elements for which another job pays.
const GRAIN: usize = 1 << 14;

impl Plan<'_> {
    /// Call `body` with the offset in the weight (none for padding) and in the packed weight, for every element. Channels
    /// that two vectors share are visited for both, or only for the earlier one if `OWNED`.
    #[inline(always)]
    fn each_weight<const OWNED: bool>(&self, body: impl Fn(Option<isize>, usize) + Sync) {
        let (geometry, lanes, group) = (self.geometry, self.lanes, self.geometry.inputs);
        let (taps, channels, strides) = (geometry.taps(), self.channels(), geometry.weight);
        parallel_ranges(self.vectors * taps, GRAIN / (group * lanes), |range| {
            for index in range {
                let (vector, tap) = (index / taps, index % taps);
                let (start, tap_offset) = (self.start(vector), geometry.weight_of(tap));
                for rotation in 0..group {
                    for lane in 0..lanes {
                        if OWNED && start + lane < vector * lanes {
                            continue;
                        }
                        // Groups are powers of two, and each vector begins with a whole group.
                        let i = lane & (group - 1);
                        let output = start + lane - i + ((i + group - rotation) & (group - 1));
                        let at = tap_offset + output as isize * strides.outer + i as isize * strides.channel;
                        let at = (start + lane < channels).then_some(at);
                        body(at, (index * group + rotation) * lanes + lane);
                    }
                }
            }
        });
    }

    /// Write the packed weight.
    pub(super) fn pack<T: Multiply>(&self, weight: Source<T>, to: &mut [T::Acc]) {
        let to = Target::over(to);
        self.each_weight::<false>(|from, at| {
            // SAFETY: an offset inside the weight, and one in the packed weight that no other thread writes.
            unsafe { *to.at(at as isize) = from.map_or(T::Acc::ZERO, |from| (*weight.at(from)).widen()) };
        });
    }

    /// Add the partial sums, which have the layout of packed weights, and store them to the weight.
    pub(super) fn store<T: Multiply>(&self, partials: &[T::Acc], target: Target<T>) {
        let size = self.vectors * self.terms();
        self.each_weight::<true>(|to, at| {
            let Some(to) = to else { return };
            let (mut sum, mut next) = (partials[at], at + size);
            while next < partials.len() {
                sum = T::Acc::plus(sum, partials[next]);
                next += size;
            }
            // SAFETY: inside the weight, at an offset that belongs to one vector only.
            unsafe { *target.at(to) = T::narrow(sum) };
        });
    }
}
