//! The weight, vector after vector: for each tap `N` vectors, one for each sum.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_matmul::multiply::Multiply;

use super::Plan;

/// Elements that are worth a job of their own.
const GRAIN: usize = 1 << 14;

impl Plan<'_> {
    /// Call `body` with places in the weight and in the packed one, for every element; those that two vectors share
    /// are the earlier one's if `OWNED`.
    #[inline(always)]
    fn each_weight<const OWNED: bool>(&self, body: impl Fn(Option<isize>, usize) + Sync) {
        let (geometry, lanes, group) = (self.geometry, self.lanes, self.geometry.inputs);
        let (taps, channels, ends) = (geometry.taps(), self.channels(), geometry.weight);
        parallel_ranges(self.vectors * taps, GRAIN / (group * lanes), |range| {
            for index in range {
                let (vector, tap) = (index / taps, index % taps);
                let (start, place) = (self.start(vector), geometry.weight_of(tap));
                for rotation in 0..group {
                    for lane in 0..lanes {
                        if OWNED && start + lane < vector * lanes {
                            continue;
                        }
                        // Groups are powers of two, and vectors begin with one.
                        let i = lane & (group - 1);
                        let output = start + lane - i + ((i + group - rotation) & (group - 1));
                        let at = place + output as isize * ends.outer + i as isize * ends.channel;
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
            // SAFETY: a place in the weight, and one in the packed weight that nobody else writes.
            unsafe { *to.at(at as isize) = from.map_or(T::Acc::ZERO, |from| (*weight.at(from)).widen()) };
        });
    }

    /// Write the sums of packed weights where the weight has them.
    pub(super) fn store<T: Multiply>(&self, parts: &[T::Acc], target: Target<T>) {
        let size = self.vectors * self.terms();
        self.each_weight::<true>(|to, at| {
            let Some(to) = to else { return };
            let (mut sum, mut next) = (parts[at], at + size);
            while next < parts.len() {
                sum = T::Acc::plus(sum, parts[next]);
                next += size;
            }
            // SAFETY: inside the weight, a place that belongs to one vector alone.
            unsafe { *target.at(to) = T::narrow(sum) };
        });
    }
}
