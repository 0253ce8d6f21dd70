//! Loop nests over strided operands.

use std::ops::Range;

use smallvec::SmallVec;

use crate::arrays::array_of;

/// One loop: its length and the stride of each operand, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop<const N: usize> {
    /// Number of iterations.
    pub length: usize,
    /// Stride of each operand per iteration.
    pub strides: [isize; N],
}

/// Loops from outermost to innermost. Adjacent loops that are contiguous for all operands are merged, loops of length one
/// dropped.
#[derive(Clone, Debug, Default)]
pub struct StridedLoops<const N: usize> {
    loops: SmallVec<[Loop<N>; 4]>,
}

impl<const N: usize> Loop<N> {
    /// A loop of one iteration.
    pub const ONCE: Loop<N> = Loop { length: 1, strides: [0; N] };
}

impl<const N: usize> StridedLoops<N> {
    /// The loops over `shape` in row-major order.
    pub fn new(shape: &[usize], strides: [&[isize]; N]) -> StridedLoops<N> {
        let mut strided = StridedLoops { loops: SmallVec::new() };
        for (axis, &length) in shape.iter().enumerate() {
            strided.push(Loop { length, strides: array_of(|operand| strides[operand][axis]) });
        }
        strided
    }

    /// Add a loop inside all others.
    pub fn push(&mut self, inner: Loop<N>) {
        if inner.length == 1 {
            return;
        }
        if let Some(outer) = self.loops.last_mut() {
            let merges = (0..N).all(|i| outer.strides[i] == inner.strides[i] * inner.length as isize);
            if merges {
                *outer = Loop { length: outer.length * inner.length, strides: inner.strides };
                return;
            }
        }
        self.loops.push(inner);
    }

    /// The loops, outermost first.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// The innermost loop, or one of a single iteration.
    pub fn inner(&self) -> Loop<N> {
        self.loops.last().copied().unwrap_or(Loop::ONCE)
    }

    /// Remove a loop; the others keep their order.
    pub fn remove(&mut self, index: usize) -> Loop<N> {
        self.loops.remove(index)
    }

    /// Number of iterations of all loops together.
    pub fn count(&self) -> usize {
        self.loops.iter().map(|l| l.length).product()
    }

    /// Call `body` with the offsets of every iteration in `range`, in order.
    pub fn walk(&self, range: Range<usize>, mut body: impl FnMut([isize; N])) {
        let inner = self.inner();
        self.inner_runs(range, |mut offsets, length| {
            for _ in 0..length {
                body(offsets);
                advance(&mut offsets, 1, inner.strides);
            }
        });
    }

    /// Call `body` with the start offsets and the length of every run of the innermost loop in `range`.
    pub fn inner_runs(&self, range: Range<usize>, mut body: impl FnMut([isize; N], usize)) {
        self.for_each_run(range, &mut body);
    }

    // Not generic over `body`, so that all kernels share one instance; runs are long enough to hide the call.
    fn for_each_run(&self, range: Range<usize>, body: &mut dyn FnMut([isize; N], usize)) {
        if range.is_empty() {
            return;
        }
        let Some((inner, outer)) = self.loops.split_last() else {
            body([0; N], 1);
            return;
        };
        let mut counters: SmallVec<[usize; 8]> = SmallVec::from_elem(0, outer.len());
        let mut offsets = [0isize; N];
        let mut outer_index = range.start / inner.length;
        for (counter, l) in counters.iter_mut().zip(outer).rev() {
            *counter = outer_index % l.length;
            outer_index /= l.length;
            advance(&mut offsets, *counter as isize, l.strides);
        }
        let mut left = range.len();
        let mut begin = range.start % inner.length;
        loop {
            let length = left.min(inner.length - begin);
            let mut start = offsets;
            advance(&mut start, begin as isize, inner.strides);
            body(start, length);
            left -= length;
            if left == 0 {
                return;
            }
            begin = 0;
            for (counter, l) in counters.iter_mut().zip(outer).rev() {
                *counter += 1;
                if *counter < l.length {
                    advance(&mut offsets, 1, l.strides);
                    break;
                }
                *counter = 0;
                advance(&mut offsets, 1 - l.length as isize, l.strides);
            }
        }
    }
}

/// Advance the offsets of all operands by some iterations of a loop.
#[inline(always)]
fn advance<const N: usize>(offsets: &mut [isize; N], iterations: isize, strides: [isize; N]) {
    for (offset, stride) in offsets.iter_mut().zip(strides) {
        *offset += iterations * stride;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_every_range_in_row_major_order() {
        let shape = [2usize, 3, 1, 4];
        let strides = [-40isize, 7, 99, 2];
        let dense = [12isize, 4, 4, 1];
        let strided = StridedLoops::new(&shape, [&strides, &dense]);
        let mut expected = Vec::new();
        for i in 0..2 {
            for j in 0..3 {
                for l in 0..4 {
                    expected.push([-40 * i + 7 * j + 2 * l, 12 * i + 4 * j + l]);
                }
            }
        }
        for begin in 0..=24 {
            for end in begin..=24 {
                let mut actual = Vec::new();
                strided.walk(begin..end, |offsets| actual.push(offsets));
                assert_eq!(actual, expected[begin..end]);
            }
        }
    }

    #[test]
    fn dense_axes_merge() {
        let strided = StridedLoops::new(&[2, 3, 4], [&[12, 4, 1]]);
        assert_eq!(strided.loops(), [Loop { length: 24, strides: [1] }]);
        assert_eq!(StridedLoops::new(&[], [&[]]).count(), 1);
    }
}
